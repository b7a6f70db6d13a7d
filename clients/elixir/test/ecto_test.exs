Postgrex.Types.define(PgUlid.EctoTest.Types, PgUlid.extensions() ++ Ecto.Adapters.Postgres.extensions())

defmodule PgUlid.EctoTest do
  use ExUnit.Case

  import Ecto.Query
  import PgUlid.Ecto.Query

  defmodule Repo do
    use Ecto.Repo, otp_app: :pg_ulid, adapter: Ecto.Adapters.Postgres
  end

  # The same application over columns of the type ulid, and of the type uuid with ulid_sql.
  for {name, type, column, extension} <- [
        {Native, PgUlid.Ecto.Ulid, :ulid, "ulid"},
        {Uuid, PgUlid.Ecto.UuidColumn, :uuid, "ulid_sql"}
      ] do
    defmodule Module.concat([__MODULE__, name, Migration]) do
      use Ecto.Migration

      def change do
        execute unquote("CREATE EXTENSION #{extension}"), unquote("DROP EXTENSION #{extension}")

        create table(:customer, primary_key: false) do
          add :id, unquote(column), primary_key: true, default: fragment("gen_ulid()")
          add :name, :text
        end

        create table(:orders, primary_key: false) do
          add :id, unquote(column), primary_key: true, default: fragment("gen_ulid()")
          add :customer_id, references(:customer, type: unquote(column))
          add :note, :text
          add :related, {:array, unquote(column)}
        end
      end
    end

    defmodule Module.concat([__MODULE__, name, Customer]) do
      use Ecto.Schema
      @primary_key {:id, type, read_after_writes: true}
      schema "customer" do
        field :name, :string
        has_many(:orders, Module.concat([PgUlid.EctoTest, name, Order]))
      end
    end

    defmodule Module.concat([__MODULE__, name, Order]) do
      use Ecto.Schema
      @primary_key {:id, type, read_after_writes: true}
      @foreign_key_type type
      schema "orders" do
        belongs_to :customer, Module.concat([PgUlid.EctoTest, name, Customer])
        field :note, :string
        field :related, {:array, type}
      end
    end
  end

  defmodule Guess do
    use Ecto.Schema
    @primary_key {:id, Ecto.UUID, read_after_writes: true}
    schema "orders" do
      field :note, :string
    end
  end

  for name <- [Native, Uuid] do
    describe inspect(name) do
      setup do
        name = unquote(name)
        options = Database.create!("ecto_#{name |> inspect() |> String.downcase()}")
        start_supervised!({Repo, options ++ [types: PgUlid.EctoTest.Types, log: false]})
        migration = Module.concat([__MODULE__, name, Migration])
        [1] = Ecto.Migrator.run(Repo, [{1, migration}], :up, all: true, log: false)
        [order, customer] = for module <- [Order, Customer], do: Module.concat([__MODULE__, name, module])
        %{options: options, migration: migration, order: order, customer: customer}
      end

      test "inserts, gets, lists, preloads, updates and deletes", %{order: order, customer: customer} do
        ada = Repo.insert!(struct!(customer, name: "Ada"))
        assert ada.id =~ ~r/\A[0-7][0-9A-HJKMNP-TV-Z]{25}\z/
        first = Repo.insert!(struct!(order, note: "first", customer_id: ada.id))
        second = Repo.insert!(struct!(order, note: "second", customer_id: String.downcase(ada.id)))
        assert Repo.get!(order, first.id).note == "first"
        assert Repo.get!(order, String.downcase(first.id)).id == first.id
        {:ok, uuid} = PgUlid.to_uuid(first.id)
        assert Repo.get!(order, uuid).id == first.id
        ids = [first.id, String.downcase(second.id)]

        assert order |> where([o], o.id in ^ids) |> order_by(:note) |> Repo.all() |> Enum.map(& &1.note) == [
                 "first",
                 "second"
               ]

        assert Repo.preload(ada, :orders).orders |> Enum.map(& &1.id) |> Enum.sort() == Enum.sort([first.id, second.id])
        assert Repo.preload(Repo.get!(order, second.id), :customer).customer == Repo.get!(customer, ada.id)
        assert Repo.one!(from o in order, join: c in assoc(o, :customer), where: c.id == ^ada.id, select: count()) == 2
        assert Repo.update!(Ecto.Changeset.change(first, customer_id: nil)).customer_id == nil
        assert Repo.get!(order, first.id).customer_id == nil
        Repo.delete!(second)
        assert Repo.all(from o in order, select: o.id) == [first.id]
      end

      test "stores and reads arrays", %{order: order} do
        [one, two] = for note <- ["one", "two"], do: Repo.insert!(struct!(order, note: note))
        changeset = Ecto.Changeset.cast(one, %{related: [String.downcase(two.id)]}, [:related])
        assert Repo.update!(changeset).related == [two.id]
        assert Repo.one!(from o in order, where: ^two.id in o.related, select: {o.id, o.related}) == {one.id, [two.id]}
      end

      test "finds windows of time and prefixes", %{order: order} do
        now = Repo.insert!(struct!(order, note: "now"))
        Repo.insert!(struct!(order, note: "old", id: "01ARYZ6S41TSV4RRFFQ69G5FAV"))
        hour_ago = DateTime.add(DateTime.utc_now(), -3600)
        assert notes(window(order, hour_ago, DateTime.add(hour_ago, 7200))) == ["now"]
        assert notes(window(order, nil, hour_ago)) == ["old"]
        assert notes(from o in order, where: starts_with(o.id, ^String.slice(now.id, 0, 9))) == ["now"]
      end

      test "loads by insert_all", %{order: order} do
        rows = for id <- ["01aryz6s41tsv4rrffq69g5fav", "01ARYZ6S41TSV4RRFFQ69G5FAW"], do: [id: id, note: "loaded"]
        assert {2, [%{id: "01ARYZ6S41TSV4RRFFQ69G5FAV"}, _]} = Repo.insert_all(order, rows, returning: [:id])
      end

      test "stores what the server accepts, and refuses the rest", %{order: order, options: options} do
        Database.load_sample!(options)

        for [note, given] <- Repo.query!("SELECT note, given FROM sample.given").rows do
          field = if given, do: :id, else: :customer_id
          changes = %{:note => note, field => given}
          changeset = Ecto.Changeset.cast(struct!(order), changes, [:note, field], empty_values: [])

          case Repo.insert(changeset) do
            {:ok, _} -> :stored
            {:error, %{errors: errors}} -> assert [{:id, {"is invalid", _}}] = errors
          end
        end

        assert Repo.query!("SELECT sample.compare()").rows == [["equal"]]
        assert_raise Ecto.Query.CastError, fn -> Repo.get(order, "nonsense") end
        assert_raise Ecto.ChangeError, fn -> Repo.insert(struct!(order, id: "nonsense")) end
      end

      test "the server generates an id for an empty string, unless it is refused", %{order: order} do
        assert Repo.insert!(Ecto.Changeset.cast(struct!(order), %{id: ""}, [:id])).id
        refute Ecto.Changeset.cast(struct!(order), %{id: ""}, [:id], empty_values: []).valid?
      end

      test "a dump of the schema can be loaded", %{options: options, order: order, migration: migration} do
        [pg_dump] = Regex.run(~r/ (\d+)/, elem(System.cmd("pg_dump", ["--version"]), 0), capture: :all_but_first)

        # a dump of a newer pg_dump may have settings that the server does not know
        if Database.psql!(options[:database], ["-c", "SHOW server_version"]) =~ ~r/^#{pg_dump}\b/ do
          folder = Path.join(System.tmp_dir!(), "pg_ulid-#{System.unique_integer([:positive])}")
          on_exit(fn -> File.rm_rf!(folder) end)
          loaded = Database.create!("ecto_loaded")
          {:ok, _} = Ecto.Adapters.Postgres.structure_dump(folder, options)
          {:ok, _} = Ecto.Adapters.Postgres.structure_load(folder, loaded)
          stop_supervised!(Repo)
          start_supervised!({Repo, loaded ++ [types: PgUlid.EctoTest.Types, log: false]})
          assert Ecto.Migrator.run(Repo, [{1, migration}], :up, all: true, log: false) == []
          ids = for note <- ["one", "two"], do: Repo.insert!(struct!(order, note: note)).id
          assert Repo.update!(Ecto.Changeset.change(Repo.get!(order, hd(ids)), related: ids)).related == ids
        else
          IO.puts("skipped: dump and load, as pg_dump has another version than the server")
        end
      end
    end
  end

  test "a migration can be reverted, and the repository's options name the type of keys" do
    defmodule Default do
      use Ecto.Migration
      def change, do: create(table(:orders))
    end

    options = Database.create!("ecto_default", "CREATE EXTENSION ulid")

    keys = [
      migration_primary_key: [type: :ulid, default: {:fragment, "gen_ulid()"}],
      migration_foreign_key: [type: :ulid]
    ]

    Application.put_env(:pg_ulid, Repo, keys)
    on_exit(fn -> Application.delete_env(:pg_ulid, Repo) end)
    start_supervised!({Repo, options ++ [types: PgUlid.EctoTest.Types, log: false]})
    assert Ecto.Migrator.run(Repo, [{1, Default}], :up, all: true, log: false) == [1]
    column = "SELECT format_type(atttypid, -1) FROM pg_attribute WHERE attrelid = 'orders'::regclass AND attname = 'id'"
    assert Repo.query!(column).rows == [["ulid"]]
    assert Repo.query!("INSERT INTO orders DEFAULT VALUES RETURNING id").num_rows == 1
    assert Ecto.Migrator.run(Repo, [{1, Default}], :down, all: true, log: false) == [1]
    assert Repo.query!("SELECT to_regclass('orders')").rows == [[nil]]
  end

  test "fields of Ecto.UUID fail" do
    options =
      Database.create!(
        "ecto_guess",
        "CREATE EXTENSION ulid; CREATE TABLE orders (id ulid DEFAULT gen_ulid(), note text)"
      )

    start_supervised!({Repo, options ++ [types: PgUlid.EctoTest.Types, log: false]})
    assert_raise DBConnection.EncodeError, fn -> Repo.get(Guess, "01563df3-6481-d676-4c61-efb99302bd5b") end
    assert {:ok, _} = Ecto.UUID.cast("warehouse worker")
    assert PgUlid.Ecto.Ulid.cast("warehouse worker") == :error
  end

  defp window(order, start, stop) do
    if order.__schema__(:type, :id) == PgUlid.Ecto.Ulid,
      do: from(o in order, where: within(o.id, ^start, ^stop)),
      else: from(o in order, where: uuid_within(o.id, ^start, ^stop))
  end

  defp notes(query), do: Repo.all(from o in query, select: o.note)
end
