defmodule PgUlidTest do
  use ExUnit.Case, async: true
  doctest PgUlid

  test "accepts what the server accepts, and nothing else" do
    options = Database.create!("codec", "CREATE EXTENSION ulid")
    Database.load_sample!(options)
    {:ok, connection} = Postgrex.start_link(options)
    %{rows: rows} = Postgrex.query!(connection, "SELECT given, verdict FROM sample.given WHERE given IS NOT NULL", [])
    assert length(rows) > 30

    for [given, verdict] <- rows do
      assert PgUlid.cast(given) == if(verdict, do: {:ok, verdict}, else: :error), inspect(given)
    end
  end

  test "converts the smallest and the largest id" do
    for {text, byte} <- [{"00000000000000000000000000", 0}, {"7ZZZZZZZZZZZZZZZZZZZZZZZZZ", 255}] do
      bytes = :binary.copy(<<byte>>, 16)
      assert PgUlid.dump(text) == {:ok, bytes}
      assert PgUlid.load(bytes) == text
    end
  end

  test "refuses other values" do
    for value <- [nil, 1, :id, ~c"01ARYZ6S41TSV4RRFFQ69G5FAV", <<0::128>>] do
      assert PgUlid.cast(value) == :error
      assert PgUlid.to_uuid(value) == :error
    end
  end
end
