Postgrex.Types.define(Shop.Types, PgUlid.extensions())

{:ok, connection} = Postgrex.start_link(types: Shop.Types)

Postgrex.query!(
  connection,
  "CREATE TABLE orders (id ulid PRIMARY KEY DEFAULT gen_ulid(), note text, related ulid[])",
  []
)

%{rows: [[id]]} = Postgrex.query!(connection, "INSERT INTO orders (note) VALUES ('first') RETURNING id", [])
Postgrex.query!(connection, "UPDATE orders SET related = $1 WHERE id = $2", [[id], id])
Postgrex.query!(connection, "SELECT * FROM orders WHERE id = ANY ($1)", [[id]])
Postgrex.query!(connection, "SELECT * FROM orders WHERE id <@ tstzrange($1, $2)", [~U[2026-01-01 00:00:00Z], nil])
Postgrex.query!(connection, "SELECT * FROM orders WHERE ulid_starts_with(id, $1)", [String.slice(id, 0, 10)])
ids = ["01ARYZ6S41TSV4RRFFQ69G5FAV", "01aryz6s41tsv4rrffq69g5faw"]
Postgrex.query!(connection, "INSERT INTO orders (id, note) SELECT unnest($1::ulid[]), 'loaded'", [ids])
