if Code.ensure_loaded?(Ecto.Type) do
  defmodule PgUlid.Ecto.Ulid do
    @moduledoc """
    The type of a field over a column of the type `ulid`. It needs `PgUlid.extensions/0` in the types of the repository.

        @primary_key {:id, PgUlid.Ecto.Ulid, read_after_writes: true}

    Ids are converted to the text that the server returns; what the server would not accept is an error of the cast.
    """

    use Ecto.Type

    @impl true
    def type, do: :ulid

    @impl true
    def cast(value), do: PgUlid.cast(value)

    @impl true
    def dump(value), do: PgUlid.cast(value)

    @impl true
    def load(text), do: {:ok, text}
  end

  defmodule PgUlid.Ecto.UuidColumn do
    @moduledoc """
    As `PgUlid.Ecto.Ulid`, but over a column of the type `uuid`, with the functions of ulid_sql. It needs no extension of
    Postgrex.
    """

    use Ecto.Type

    @impl true
    def type, do: :uuid

    @impl true
    def cast(value), do: PgUlid.cast(value)

    @impl true
    def dump(value), do: PgUlid.dump(value)

    @impl true
    def load(<<_::128>> = id), do: {:ok, PgUlid.load(id)}
    def load(_value), do: :error
  end
end
