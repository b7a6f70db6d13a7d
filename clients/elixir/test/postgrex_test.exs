defmodule PgUlid.PostgrexTest do
  use ExUnit.Case, async: true

  @tables """
  CREATE EXTENSION ulid;
  CREATE TABLE customer (id ulid PRIMARY KEY DEFAULT gen_ulid(), name text NOT NULL);
  CREATE TABLE orders (
      id ulid PRIMARY KEY DEFAULT gen_ulid(),
      customer_id ulid REFERENCES customer,
      note text,
      related ulid[]
  );
  """

  setup_all do
    %{options: Database.create!("postgrex", @tables)}
  end

  setup %{options: options} do
    {:ok, connection} = Postgrex.start_link(options ++ [types: PgUlid.TestTypes])
    Postgrex.query!(connection, "TRUNCATE customer, orders", [])
    %{connection: connection}
  end

  defp values(connection, sql, parameters \\ []) do
    for [value] <- Postgrex.query!(connection, sql, parameters).rows, do: value
  end

  defp insert(connection, note),
    do: connection |> values("INSERT INTO orders (note) VALUES ($1) RETURNING id", [note]) |> hd()

  test "inserts, reads and lists", %{connection: connection} do
    [customer] = values(connection, "INSERT INTO customer (name) VALUES ('Ada') RETURNING id")
    assert customer =~ ~r/\A[0-7][0-9A-HJKMNP-TV-Z]{25}\z/
    insert = "INSERT INTO orders (customer_id, note) VALUES ($1, $2) RETURNING id"
    [first] = values(connection, insert, [customer, "first"])
    [second] = values(connection, insert, [String.downcase(customer), "second"])
    [nobody] = values(connection, insert, [nil, "nobody"])
    assert values(connection, "SELECT note FROM orders WHERE id = $1", [first]) == ["first"]

    assert values(connection, "SELECT note FROM orders WHERE id = ANY ($1) ORDER BY 1", [[first, second]]) == [
             "first",
             "second"
           ]

    assert values(connection, "SELECT customer_id FROM orders WHERE id = $1", [nobody]) == [nil]
    assert values(connection, "SELECT id::text FROM orders WHERE id = $1", [first]) == [first]
    {:ok, uuid} = PgUlid.to_uuid(first)
    assert values(connection, "SELECT note FROM orders WHERE id = $1", [uuid]) == ["first"]
    assert values(connection, "SELECT note FROM orders WHERE id = $1::text::ulid", [first]) == ["first"]
  end

  test "finds a window of time and a prefix", %{connection: connection} do
    id = insert(connection, "now")
    Postgrex.query!(connection, "INSERT INTO orders (id, note) VALUES ($1, 'old')", ["01ARYZ6S41TSV4RRFFQ69G5FAV"])
    within = "SELECT note FROM orders WHERE id <@ tstzrange($1, $2)"
    now = DateTime.utc_now()
    assert values(connection, within, [DateTime.add(now, -3600), DateTime.add(now, 3600)]) == ["now"]
    assert values(connection, within, [nil, DateTime.add(now, -3600)]) == ["old"]

    assert values(connection, "SELECT note FROM orders WHERE ulid_starts_with(id, $1)", [String.slice(id, 0, 9)]) == [
             "now"
           ]
  end

  test "stores and reads arrays", %{connection: connection} do
    [first, second] = for note <- ["first", "second"], do: insert(connection, note)
    related = [second, nil, first]

    assert values(connection, "UPDATE orders SET related = $1 WHERE id = $2 RETURNING related", [related, first]) == [
             related
           ]

    assert values(connection, "UPDATE orders SET related = $1 WHERE id = $2 RETURNING related", [[], second]) == [[]]
  end

  test "loads by unnest, and by COPY", %{connection: connection} do
    ids = ["01ARYZ6S41TSV4RRFFQ69G5FAV", "01ARYZ6S41TSV4RRFFQ69G5FAW"]

    Postgrex.query!(connection, "INSERT INTO orders (id, note) SELECT * FROM unnest($1::ulid[], $2::text[])", [
      ids,
      ["a", "b"]
    ])

    {:ok, _} =
      Postgrex.transaction(connection, fn connection ->
        copy = Postgrex.stream(connection, "COPY orders (id, note) FROM STDIN", [])
        Enum.into(["01aryz6s41tsv4rrffq69g5fax\tc\n"], copy)
      end)

    assert values(connection, "SELECT id FROM orders ORDER BY id") == ids ++ ["01ARYZ6S41TSV4RRFFQ69G5FAX"]
  end

  test "stores what the server accepts, and refuses the rest", %{connection: connection, options: options} do
    Database.load_sample!(options)

    refused =
      for [note, given] <- Postgrex.query!(connection, "SELECT note, given FROM sample.given", []).rows do
        column = if given, do: "id", else: "customer_id"

        try do
          Postgrex.query!(connection, "INSERT INTO orders (note, #{column}) VALUES ($1, $2)", [note, given])
          nil
        rescue
          error in DBConnection.EncodeError -> Exception.message(error)
        end
      end

    assert values(connection, "SELECT sample.compare()") == ["equal"]
    assert ~s(Postgrex expected a ulid, got "nonsense".) in Enum.map(refused, &String.slice(&1 || "", 0, 41))
  end

  @tag :capture_log
  test "without the extension, Postgrex does not know the type", %{options: options} do
    {:ok, connection} = Postgrex.start_link(options)

    assert_raise Postgrex.QueryError, ~r/type `ulid` can not be handled by the types module/, fn ->
      Postgrex.query!(connection, "SELECT gen_ulid()", [])
    end
  end
end
