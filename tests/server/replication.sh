#!/usr/bin/env bash
# Logical replication: ulid to ulid as text and in binary, uuid to ulid as text, inserts, updates and deletes.
set -euo pipefail
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"
start_server publisher "wal_level = logical"
publisher=$PGHOST
psql -q -v ON_ERROR_STOP=1 << 'SQL'
CREATE EXTENSION ulid;
CREATE TABLE as_text (id ulid PRIMARY KEY, n int);
CREATE TABLE as_binary (id ulid PRIMARY KEY, n int);
CREATE TABLE from_uuid (id uuid PRIMARY KEY, n int);
INSERT INTO as_text SELECT gen_ulid(), n FROM generate_series(1, 1000) AS n;
INSERT INTO as_binary SELECT * FROM as_text;
INSERT INTO from_uuid SELECT * FROM as_text;
CREATE PUBLICATION as_text FOR TABLE as_text, from_uuid;
CREATE PUBLICATION as_binary FOR TABLE as_binary;
SQL
start_server subscriber
psql -q -v ON_ERROR_STOP=1 << 'SQL'
CREATE EXTENSION ulid;
CREATE TABLE as_text (id ulid PRIMARY KEY, n int);
CREATE TABLE as_binary (id ulid PRIMARY KEY, n int);
CREATE TABLE from_uuid (id ulid PRIMARY KEY, n int);
SQL
# a subscription can ask for binary since PostgreSQL 14
binary="WITH (binary = true)"
[ "$(psql -A -t -c 'SHOW server_version_num')" -ge 140000 ] || binary=""
echo "binary: ${binary:-not before PostgreSQL 14, as text}"
psql -q -v ON_ERROR_STOP=1 << SQL
CREATE SUBSCRIPTION as_text CONNECTION 'host=$publisher user=postgres dbname=postgres' PUBLICATION as_text;
CREATE SUBSCRIPTION as_binary CONNECTION 'host=$publisher user=postgres dbname=postgres' PUBLICATION as_binary $binary;
SQL
# Wait until a query of the subscriber gives what is expected.
await() {
  local _
  for _ in {1..600}; do
    [ "$(psql -A -t -c "$1")" != "$2" ] || return 0
    read -r -t 0.1 <> <(:) || true           # between two looks, not instead of one
  done
  echo "never came to $2: $1"
  cat "$SERVERS/subscriber/log"
  return 1
}
count='SELECT (SELECT count(*) FROM as_text), (SELECT count(*) FROM as_binary), (SELECT count(*) FROM from_uuid)'
await "$count" '1000|1000|1000'
await "SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'" 0
for table in as_text as_binary from_uuid; do
  psql -q -h "$publisher" -v ON_ERROR_STOP=1 -c "UPDATE $table SET n = -n WHERE n <= 100" -c "DELETE FROM $table WHERE n > 900" \
    -c "INSERT INTO $table SELECT gen_ulid(), n FROM generate_series(2001, 2500) AS n"
done
await "$count" '1400|1400|1400'
for table in as_text as_binary from_uuid; do
  await "SELECT count(*) FROM $table WHERE n < 0" 100
  diff <(psql -A -t -h "$publisher" -c "SELECT id::text::ulid, n FROM $table ORDER BY n") <(psql -A -t -c "SELECT id, n FROM $table ORDER BY n")
done

# Back to uuid: its input function does not read the text of a ulid, but the 16 bytes are the same.
psql -q -h "$publisher" -v ON_ERROR_STOP=1 -c "CREATE TABLE into_uuid (id ulid PRIMARY KEY, n int)" \
  -c "CREATE PUBLICATION into_uuid FOR TABLE into_uuid"
psql -q -v ON_ERROR_STOP=1 -c "CREATE TABLE into_uuid (id uuid PRIMARY KEY, n int)" \
  -c "CREATE SUBSCRIPTION into_uuid CONNECTION 'host=$publisher user=postgres dbname=postgres' PUBLICATION into_uuid WITH (copy_data = false)"
psql -q -h "$publisher" -c "INSERT INTO into_uuid VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', 1)"
tries=0
until grep 'invalid input syntax for type uuid: "01ARYZ6S41TSV4RRFFQ69G5FAV"' "$SERVERS/subscriber/log" | head -n 1; do
  ((++tries < 600)) || { cat "$SERVERS/subscriber/log"; exit 1; }
  sleep 0.1
done
if [ -n "$binary" ]; then
  psql -q -v ON_ERROR_STOP=1 -c "ALTER SUBSCRIPTION into_uuid SET (binary = true)"
  await "TABLE into_uuid" '01563df3-6481-d676-4c61-efb99302bd5b|1'
fi
psql -q -c 'DROP SUBSCRIPTION into_uuid' -c 'DROP SUBSCRIPTION as_text' -c 'DROP SUBSCRIPTION as_binary' 2> /dev/null
