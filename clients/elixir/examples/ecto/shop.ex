Postgrex.Types.define(Shop.RepoTypes, PgUlid.extensions() ++ Ecto.Adapters.Postgres.extensions())

defmodule Shop.Repo do
  use Ecto.Repo, otp_app: :shop, adapter: Ecto.Adapters.Postgres
end

defmodule Shop.CreateOrders do
  use Ecto.Migration

  def change do
    execute "CREATE EXTENSION IF NOT EXISTS ulid", "DROP EXTENSION ulid"

    create table(:orders, primary_key: false) do
      add :id, :ulid, primary_key: true, default: fragment("gen_ulid()")
      add :parent_id, references(:orders, type: :ulid)
      add :note, :text
      add :related, {:array, :ulid}
    end
  end
end

defmodule Shop.Order do
  use Ecto.Schema

  # the server generates the ids
  @primary_key {:id, PgUlid.Ecto.Ulid, read_after_writes: true}
  @foreign_key_type PgUlid.Ecto.Ulid

  schema "orders" do
    belongs_to :parent, Shop.Order
    field :note, :string
    field :related, {:array, PgUlid.Ecto.Ulid}
  end
end
