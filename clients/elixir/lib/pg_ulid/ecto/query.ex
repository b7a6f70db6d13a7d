if Code.ensure_loaded?(Ecto.Query) do
  defmodule PgUlid.Ecto.Query do
    @moduledoc """
    Conditions for `Ecto.Query`, which an index on the ids serves: `import PgUlid.Ecto.Query`.
    """

    @doc """
    The ids made from `start` until before `stop`, each a `DateTime`; `nil`: no bound.

        from order in Order, where: within(order.id, ^start, nil)
    """
    defmacro within(id, start, stop) do
      quote do: fragment("? <@ tstzrange(?, ?)", unquote(id), unquote(start), unquote(stop))
    end

    @doc """
    As `within/3`, for a column of the type `uuid`, by a function of ulid_sql.
    """
    defmacro uuid_within(id, start, stop) do
      quote do: fragment("ulid_contained_by_range(?, tstzrange(?, ?))", unquote(id), unquote(start), unquote(stop))
    end

    @doc """
    The ids whose text starts with these characters.

        from order in Order, where: starts_with(order.id, ^"01ARYZ6S")
    """
    defmacro starts_with(id, prefix) do
      quote do: fragment("ulid_starts_with(?, ?)", unquote(id), unquote(prefix))
    end
  end
end
