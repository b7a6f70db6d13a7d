#!/usr/bin/env bash
# Replication by what core does not have: pglogical, and a row as wal2json, decoderbufs and test_decoding show it.
# What is not installed is left out, and named at the end.
set -euo pipefail
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"
run() {
  psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"
}
missing=()
has() {
  [ -e "$(pg_config --pkglibdir)/$1.so" ] || { missing+=("$1"); return 1; }
}
# Wait until a query gives what is expected.
await() {
  local tries=0
  until [ "$(run -c "$1")" = "$2" ]; do
    ((++tries < 600)) || { echo "never came to $2: $1"; tail -n 20 "$PGHOST/log"; return 1; }
    sleep 0.1
  done
}
# Since the minor releases of 2026, a server loads only the output plugins that are named.
settings=("wal_level = logical")
[ -z "$(run -c "SELECT name FROM pg_settings WHERE name = 'output_plugin_libraries'")" ] ||
  settings+=("output_plugin_libraries = 'pgoutput, test_decoding, wal2json, decoderbufs, pglogical_output'")
! has pglogical || settings+=("shared_preload_libraries = 'pglogical'")
start_server provider "${settings[@]}"
provider=$PGHOST
run -c "CREATE EXTENSION ulid" -c "CREATE TABLE decoded (id ulid PRIMARY KEY, previous ulid[], key uuid)"

for plugin in test_decoding wal2json decoderbufs; do
  has "$plugin" || continue
  echo "- $plugin"
  run -c "SELECT FROM pg_create_logical_replication_slot('decoded', '$plugin')"
  run -c "INSERT INTO decoded VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '{01ARYZ6S41TSV4RRFFQ69G5FAW,NULL}', '01563df3-6481-d676-4c61-efb99302bd5b')"
  run -c "UPDATE decoded SET id = '01ARYZ6S41TSV4RRFFQ69G5FAX'" -c "DELETE FROM decoded"
  # text, but for the protocol buffers of decoderbufs
  run -c "SELECT encode(data, 'escape') FROM pg_logical_slot_get_binary_changes('decoded', NULL, NULL)" 2> /dev/null | tee "$plugin"
  run -c "SELECT pg_drop_replication_slot('decoded')"
  [ "$(grep -c 01ARYZ6S41TSV4RRFFQ69G5FAV "$plugin")" -ge 2 ]
done

if [[ " ${missing[*]} " != *" pglogical "* ]]; then
  echo "- pglogical: from ulid to ulid and from uuid to ulid"
  start_server subscriber "${settings[@]}"
  run -c "CREATE EXTENSION ulid"
  for node in provider subscriber; do
    run -h "$SERVERS/$node" << SQL > /dev/null
CREATE EXTENSION pglogical;
SELECT pglogical.create_node('$node', 'host=$SERVERS/$node user=postgres dbname=postgres');
SELECT pglogical.create_replication_set('into_uuid');
CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ulid(), n int);
SQL
  done
  run -h "$provider" << 'SQL' > /dev/null
CREATE TABLE from_uuid (id uuid PRIMARY KEY, n int);
CREATE TABLE into_uuid (id ulid PRIMARY KEY, n int);
INSERT INTO event (n) SELECT n FROM generate_series(1, 1000) AS n;
INSERT INTO from_uuid SELECT * FROM event;
SELECT pglogical.replication_set_add_table('default', t) FROM unnest('{event,from_uuid}'::regclass[]) AS t;
SELECT pglogical.replication_set_add_table('into_uuid', 'into_uuid');
SQL
  run << SQL > /dev/null
CREATE TABLE from_uuid (id ulid PRIMARY KEY, n int);
CREATE TABLE into_uuid (id uuid PRIMARY KEY, n int);
SELECT pglogical.create_subscription('working', 'host=$provider user=postgres dbname=postgres', '{default}', forward_origins => '{}');
SELECT pglogical.wait_for_subscription_sync_complete('working');
SQL
  for table in event from_uuid; do
    run -h "$provider" -c "UPDATE $table SET n = -n WHERE n <= 100" -c "DELETE FROM $table WHERE n > 900" \
      -c "INSERT INTO $table SELECT gen_ulid(), n FROM generate_series(2001, 2500) AS n"
    await "SELECT count(*), sum(n) FROM $table" "$(run -h "$provider" -c "SELECT count(*), sum(n) FROM $table")"
    diff <(run -h "$provider" -c "SELECT id::text::ulid, n FROM $table ORDER BY n") <(run -c "SELECT id, n FROM $table ORDER BY n")
  done
  [ "$(run -c "SELECT count(*) FROM event")" = 1400 ]

  echo "- and back: both servers insert, each its own ids"
  run << 'SQL' > /dev/null
SELECT pglogical.replication_set_add_table('default', 'event');
SQL
  run -h "$provider" -c "SELECT pglogical.create_subscription('back', 'host=$SERVERS/subscriber user=postgres dbname=postgres', '{default}',
    synchronize_data => false, forward_origins => '{}')" > /dev/null
  PGHOST=$provider await "SELECT status FROM pglogical.show_subscription_status('back')" replicating
  for node in provider subscriber; do
    run -h "$SERVERS/$node" -c "INSERT INTO event (n) SELECT n FROM generate_series(3001, 4000) AS n" &
  done
  wait
  for node in provider subscriber; do
    PGHOST=$SERVERS/$node await "SELECT count(*), count(DISTINCT id) FROM event" '3400|3400'
  done
  diff <(run -h "$provider" -c "TABLE event ORDER BY id") <(run -c "TABLE event ORDER BY id")

  echo "- from ulid to uuid: changes come in binary, the copy of what was there is text, which uuid does not read"
  run -h "$provider" -c "INSERT INTO into_uuid VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', 1)"
  run -c "SELECT pglogical.create_subscription('changes', 'host=$provider user=postgres dbname=postgres', '{into_uuid}',
    synchronize_data => false)" > /dev/null
  await "SELECT status FROM pglogical.show_subscription_status('changes')" replicating
  run -h "$provider" -c "INSERT INTO into_uuid VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAW', 2)"
  await "TABLE into_uuid" '01563df3-6481-d676-4c61-efb99302bd5c|2'
  run -c "SELECT pglogical.drop_subscription('changes')" -c "SELECT pglogical.create_subscription('copy',
    'host=$provider user=postgres dbname=postgres', '{into_uuid}')" > /dev/null
  tries=0
  until grep 'invalid input syntax for type uuid: "01ARYZ6S41TSV4RRFFQ69G5FAV"' "$SERVERS/subscriber/log"; do
    ((++tries < 600)) || { tail "$SERVERS/subscriber/log"; exit 1; }
    sleep 0.1
  done
fi

if [ ${#missing[@]} != 0 ]; then
  printf -v list ', %s' "${missing[@]}"
  echo "ran without${list#,}"
  exit 77
fi
