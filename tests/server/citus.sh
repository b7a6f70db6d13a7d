#!/usr/bin/env bash
# Citus, a coordinator and two workers: the extension on every node, distributed, co-located and reference tables, one
# key to one shard, windows of time, a shard moved while rows are inserted, time partitions, a uuid table migrated.
set -euo pipefail
[ -e "$(pg_config --sharedir)/extension/citus.control" ] || { echo "skipped: no citus"; exit 77; }
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"
run() {
  psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"
}
# Run the SQL in stdin and compare the output with file descriptor 3.
prints() {
  run | sed '/^$/d' > result            # what returns void
  cat result
  diff /dev/fd/3 result
}
# Check that a statement fails with exactly this message.
refused() {
  if run -c "$2" 2> error; then echo "not refused: $2"; return 1; fi
  grep -qxF "ERROR:  $1" error || { cat error; return 1; }
}
# Print the number of shards that a query goes to, and the scan of each.
plan() {
  run -c "EXPLAIN (COSTS OFF) $1" | sed -n 's/^ *Task Count: /tasks: /p; s/^ *\(->\)\? *\(\(Index\|Index Only\|Bitmap Heap\|Seq\) Scan\).*/\2/p' |
    sed 's/^\(Index\|Index Only\) Scan Backward/\1 Scan/'
}
# Compare that with what is expected.
planned() {
  local plan
  plan=$(plan "$1" | sort -u | paste -sd,)
  [ "$plan" = "$2" ] || { printf '%s\nplanned: %s\nexpected: %s\n' "$1" "$plan" "$2"; return 1; }
}

# Since the minor releases of 2026, a server loads only the output plugins that are named.
plugins=$(run -c "SELECT format('%s = %L', name, 'citus, ' || setting) FROM pg_settings WHERE name = 'output_plugin_libraries'")
for node in worker_2 worker_1 coordinator; do
  start_server "$node" "shared_preload_libraries = 'citus'" "wal_level = logical" "max_wal_senders = 10" \
    "max_prepared_transactions = 100" "citus.local_hostname = '$SERVERS/$node'" "citus.shard_count = 8" "$plugins"
  run -c "CREATE EXTENSION citus" 2> /dev/null
done
run -c "SELECT citus_version()"
run << SQL > /dev/null
SELECT citus_set_coordinator_host('$SERVERS/coordinator', 5432);
SELECT citus_add_node('$SERVERS/worker_1', 5432);
SQL

echo "- The extension reaches every node, one that is added later too, and so does its update."
released=$(cd "$ROOT/sql/install" && printf '%s\n' ulid--*.sql | sed 's/ulid--\(.*\)\.sql/\1/' | sort -V | tail -n 1)
run -c "CREATE EXTENSION ulid VERSION '$released'" -c "CREATE TABLE before (id ulid PRIMARY KEY, n int)" \
  -c "SELECT create_distributed_table('before', 'id')" -c "INSERT INTO before SELECT gen_ulid(), n FROM generate_series(1, 1000) AS n"
run -c "SELECT citus_add_node('$SERVERS/worker_2', 5432)"
run -c "ALTER EXTENSION ulid UPDATE"
run -c "SELECT count(*), count(DISTINCT result) FROM run_command_on_all_nodes('SELECT extversion FROM pg_extension WHERE extname = ''ulid''')" |
  tee result
[ "$(cat result)" = '3|1' ]
run -c "SELECT rebalance_table_shards()"
run -c "SELECT count(*), count(DISTINCT id) FROM before" | tee result
[ "$(cat result)" = '1000|1000' ]

echo "- Distributed by the key, with foreign keys to and from, a reference table; all ways to insert."
prints << 'SQL' 3<< 'END'
CREATE TABLE currency (id ulid PRIMARY KEY DEFAULT gen_ulid(), name text UNIQUE);
CREATE TABLE account (id ulid PRIMARY KEY DEFAULT gen_ulid(), name text, currency_id ulid, parent uuid);
CREATE TABLE posting (account_id ulid, id ulid DEFAULT gen_ulid(), amount int, PRIMARY KEY (account_id, id));
CREATE TABLE import (n int, account_id ulid, id ulid);
SELECT create_reference_table('currency');
SELECT create_distributed_table('account', 'id');
SELECT create_distributed_table('posting', 'account_id', colocate_with => 'account');
SELECT create_distributed_table('import', 'n', colocate_with => 'none');
ALTER TABLE account ADD CONSTRAINT account_currency FOREIGN KEY (currency_id) REFERENCES currency;
ALTER TABLE posting ADD CONSTRAINT posting_account FOREIGN KEY (account_id) REFERENCES account;
INSERT INTO currency (name) VALUES ('EUR'), ('USD');
INSERT INTO account (name, currency_id) SELECT 'account ' || n, (SELECT id FROM currency WHERE name = 'EUR') FROM generate_series(1, 5000) AS n;
INSERT INTO posting (account_id, amount) SELECT id, 1 FROM account;
INSERT INTO posting (account_id, amount) SELECT id, 2 FROM account;
INSERT INTO import SELECT row_number() OVER (), id FROM account;
INSERT INTO posting (account_id, amount) SELECT account_id, 3 FROM import;
SELECT count(*), count(DISTINCT posting.id), sum(amount) FROM posting JOIN account ON account_id = account.id;
SELECT count(DISTINCT result) FROM run_command_on_all_nodes('SELECT md5(string_agg(id::text, '','' ORDER BY id)) FROM currency');
SQL
15000|15000|30000
1
END
run -c "COPY account TO STDOUT (FORMAT binary)" > account.copy
run -c "CREATE TABLE copied (LIKE account)" -c "SELECT create_distributed_table('copied', 'id', colocate_with => 'account')" \
  -c "COPY copied FROM STDIN (FORMAT binary)" < account.copy
[ "$(run -c "SELECT count(*) FROM copied JOIN account USING (id, name)")" = 5000 ]

echo "- One key goes to one shard, by its index, also as uuid; a window goes to all, by the index of each."
id=$(run -c "SELECT id FROM account ORDER BY id LIMIT 1 OFFSET 2500") uuid=$(run -c "SELECT '$id'::ulid::uuid")
run -c "SELECT run_command_on_shards(t, 'ANALYZE %s') FROM unnest('{account,posting,before}'::text[]) AS t" > /dev/null
planned "SELECT * FROM account WHERE id = '$id'" 'Index Scan,tasks: 1'
planned "SELECT * FROM account WHERE id = '$uuid'::uuid" 'Index Scan,tasks: 1'
planned "UPDATE account SET name = 'changed' WHERE id = '$uuid'::uuid" 'Index Scan,tasks: 1'
planned "DELETE FROM posting WHERE account_id = '$uuid'::uuid" 'Bitmap Heap Scan,tasks: 1'
planned "SELECT * FROM account JOIN posting ON account.id = account_id WHERE account.id = '$id'" 'Bitmap Heap Scan,Index Scan,tasks: 1'
for type in ulid uuid; do
  run -c "PREPARE key ($type) AS SELECT count(*) FROM account WHERE id = \$1" \
    -c "PREPARE keys (${type}[]) AS SELECT count(*) FROM account WHERE id = ANY (\$1)" \
    -c "SELECT id::$type AS id FROM account ORDER BY id LIMIT 1" -c "EXECUTE key ('$uuid')" -c "EXECUTE keys ('{$uuid}')" > result
  [ "$(tail -n 2 result | paste -sd' ')" = '1 1' ]
done
planned "SELECT * FROM account WHERE id <@ tstzrange('2026-01-01 00:00Z', '2026-01-01 00:01Z')" 'Index Scan,tasks: 8'
planned "SELECT * FROM account WHERE id >= ulid_lower_bound('2026-01-01 00:00Z') AND id < ulid_lower_bound('2026-01-01 00:01Z')" 'Index Scan,tasks: 8'
[ "$(run -c "SELECT count(*) FROM account WHERE id <@ tstzrange(ulid_extract_timestamp('$id'), NULL)")" = \
  "$(run -c "SELECT count(*) FROM account WHERE ulid_extract_timestamp(id) >= ulid_extract_timestamp('$id')")" ]

echo "- The newest key: max reads each shard, ORDER BY takes the indexes."
planned "SELECT max(id) FROM account" 'Seq Scan,tasks: 8'
planned "SELECT id FROM account ORDER BY id DESC LIMIT 1" 'Index Only Scan,tasks: 8'
[ "$(run -c "SELECT max(id) FROM account")" = "$(run -c "SELECT id FROM account ORDER BY id DESC LIMIT 1")" ]

echo "- What Citus refuses."
run << 'SQL'
CREATE TABLE old (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), n int, other uuid);
SELECT create_distributed_table('old', 'id', colocate_with => 'none');
INSERT INTO old (n, other) SELECT n, gen_random_uuid() FROM generate_series(1, 1000) AS n;
CREATE TABLE new (id ulid PRIMARY KEY);
SQL
refused "cannot colocate tables old and new" "SELECT create_distributed_table('new', 'id', colocate_with => 'old')"
grep -qx 'DETAIL:  Distribution column types don.t match for old and new.' error
refused "cannot execute ALTER TABLE command involving partition column" "ALTER TABLE old ALTER COLUMN id TYPE ulid"
refused "operator does not exist: integer public.= integer" "SELECT * FROM before WHERE (id, n) IN (SELECT id, n FROM import)"
refused "operator does not exist: integer public.> integer" "SELECT * FROM before WHERE (id, n) > ('$id', 1)"
refused "complex joins are only supported when all distributed tables are joined on their distribution columns with equal operator" \
  "SELECT count(*) FROM old JOIN account USING (id)"
refused "functions used in UPDATE queries on distributed tables must not be VOLATILE" "UPDATE account SET parent = gen_ulid()"
run -c "WITH made AS MATERIALIZED (SELECT id, gen_ulid() AS parent FROM account)
  UPDATE account SET parent = made.parent FROM made WHERE account.id = made.id"
[ "$(run -c "SELECT count(DISTINCT parent) FROM account")" = 5000 ]
planned "SELECT * FROM old WHERE id = '$id'::ulid" 'Seq Scan,tasks: 1'
planned "SELECT * FROM old WHERE id = '$id'::ulid::uuid" 'Index Scan,tasks: 1'

echo "- A distributed uuid table becomes one of ulid; another column does in place."
run << 'SQL' > /dev/null
CREATE TABLE rows_before AS SELECT id, n FROM old;
ALTER TABLE old ALTER COLUMN other TYPE ulid;
SELECT undistribute_table('old');
ALTER TABLE old ALTER COLUMN id DROP DEFAULT;
ALTER TABLE old ALTER COLUMN id TYPE ulid;
ALTER TABLE old ALTER COLUMN id SET DEFAULT gen_ulid();
SELECT create_distributed_table('old', 'id', colocate_with => 'account');
INSERT INTO old (n) VALUES (0);
SQL
[ "$(run -c "SELECT count(*) FROM old JOIN rows_before USING (id, n)")" = 1000 ]
planned "SELECT * FROM old JOIN account USING (id) WHERE id = '$id'" 'Index Scan,tasks: 1'

echo "- A shard moves while rows are inserted; none is lost."
writer() {
  local n
  for ((n = 0; ; n++)); do
    run -c "INSERT INTO before (id, n) SELECT gen_ulid(), $n FROM generate_series(1, 5) RETURNING id" >> "written.$1"
    [ ! -e stop ] || return 0
  done
}
writer 1 &
writer 2 &
until [ -s written.1 ] && [ -s written.2 ]; do sleep 0.05; done
shard="FROM citus_shards WHERE table_name = 'before'::regclass AND citus_table_type = 'distributed' ORDER BY shardid LIMIT 1"
from=$(run -c "SELECT nodename $shard") moved=$(run -c "SELECT shardid $shard")
to=$SERVERS/worker_1
[ "$from" != "$to" ] || to=$SERVERS/worker_2
run -c "SELECT citus_move_shard_placement($moved, '$from', 5432, '$to', 5432, 'force_logical')"
lines=$(cat written.* | wc -l)
until [ "$(cat written.* | wc -l)" -gt $((lines + 20)) ]; do sleep 0.05; done
touch stop
wait
[ "$(run -c "SELECT nodename $shard")" = "$to" ]
echo "$(cat written.* | wc -l) rows inserted meanwhile"
diff <(cat written.* | LC_ALL=C sort) <(run -c "SELECT id FROM before ORDER BY id" | grep -Fxf <(cat written.*))
[ "$(run -c "SELECT count(*) FROM before")" = $((1000 + $(cat written.* | wc -l))) ]

echo "- A key gets a shard of its own."
run -c "SELECT isolate_tenant_to_new_shard('before', id, 'CASCADE', shard_transfer_mode => 'force_logical') IS NOT NULL FROM
  (SELECT '$(head -n 1 written.1)'::ulid AS id) AS s" 2> /dev/null
[ "$(run -c "SELECT count(*) FROM before")" = $((1000 + $(cat written.* | wc -l))) ]

echo "- Partitions by the time of the key, in shards."
prints << 'SQL' 3<< 'END'
CREATE TABLE event (id ulid, tenant int, what text, PRIMARY KEY (tenant, id)) PARTITION BY RANGE (id);
SELECT create_distributed_table('event', 'tenant', colocate_with => 'none');
SELECT create_time_partitions('event', '1 month', '2026-07-01 00:00Z', '2026-01-01 00:00Z');
INSERT INTO event SELECT gen_ulid('2026-01-01 00:00Z'::timestamptz + n * interval '1 hour'), n % 10, n FROM generate_series(0, 4000) AS n;
SELECT count(*), min(from_value::ulid)::timestamptz, max(to_value::ulid)::timestamptz FROM time_partitions WHERE parent_table = 'event'::regclass;
SELECT count(*) FROM event WHERE id <@ tstzrange('2026-02-01 00:00Z', '2026-03-01 00:00Z');
CALL drop_old_time_partitions('event', '2026-04-01 00:00Z');
SELECT count(*), min(ulid_extract_timestamp(id)) FROM event;
SQL
t
6|2026-01-01 00:00:00+00|2026-07-01 00:00:00+00
672
1841|2026-04-01 00:00:00+00
END
planned "SELECT * FROM event WHERE tenant = 1 AND id <@ tstzrange('2026-05-01 00:00Z', '2026-05-02 00:00Z')" 'Index Scan,tasks: 1'

echo "- Connected to a worker, ids are made there."
PGHOST=$SERVERS/worker_1 run -c "INSERT INTO account (name) SELECT 'from worker ' || n FROM generate_series(1, 100) AS n"
[ "$(run -c "SELECT count(*), count(DISTINCT id) FROM account")" = '5100|5100' ]
