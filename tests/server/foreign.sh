#!/usr/bin/env bash
# postgres_fdw with the extension in its options pushes conditions, sorts and limits down; a table sharded by hash over
# two servers.
set -euo pipefail
[ -e "$(pg_config --sharedir)/extension/postgres_fdw.control" ] || { echo "skipped: no postgres_fdw"; exit 77; }
for shard in 0 1; do
  createdb "shard_$shard"
  psql -q -d "shard_$shard" -c 'CREATE EXTENSION ulid' -c 'CREATE TABLE event (id ulid PRIMARY KEY, n int)'
done
psql -q -v ON_ERROR_STOP=1 << SQL
CREATE EXTENSION ulid;
CREATE EXTENSION postgres_fdw;
CREATE TABLE event (id ulid, n int) PARTITION BY HASH (id);
CREATE SERVER shard_0 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$PGHOST', dbname 'shard_0', extensions 'ulid');
CREATE SERVER shard_1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$PGHOST', dbname 'shard_1', extensions 'ulid');
CREATE USER MAPPING FOR CURRENT_USER SERVER shard_0 OPTIONS (user 'postgres');
CREATE USER MAPPING FOR CURRENT_USER SERVER shard_1 OPTIONS (user 'postgres');
CREATE FOREIGN TABLE event_0 PARTITION OF event FOR VALUES WITH (MODULUS 2, REMAINDER 0) SERVER shard_0 OPTIONS (table_name 'event');
CREATE FOREIGN TABLE event_1 PARTITION OF event FOR VALUES WITH (MODULUS 2, REMAINDER 1) SERVER shard_1 OPTIONS (table_name 'event');
INSERT INTO event SELECT gen_ulid('2026-01-01 00:00+00'::timestamptz + n * interval '1 minute'), n FROM generate_series(1, 2000) AS n;
SQL
# Print the remote SQL of a query.
remote() {
  psql -A -t -c "EXPLAIN (VERBOSE, COSTS OFF) $1" | tee -a plans | sed -n 's/^ *Remote SQL: //p'
}
# Compare the remote SQL of a query with what is expected.
sent() {
  local remote
  remote=$(remote "$1" | sed "s/'::public.ulid\b/'/g")  # PostgreSQL 13 and 14 print the type of a constant
  [ "$remote" = "$2" ] || { printf 'sent as: %s\nexpected: %s\n' "$remote" "$2"; return 1; }
}
sent "SELECT n FROM event_0 WHERE id > '01KDY021000000000000000000'" \
  "SELECT n FROM public.event WHERE ((id OPERATOR(public.>) '01KDY021000000000000000000'))"
sent "SELECT id FROM event_0 ORDER BY id LIMIT 3" "SELECT id FROM public.event ORDER BY id ASC NULLS LAST LIMIT 3::bigint"
sent "SELECT n FROM event_1 WHERE id <@ tstzrange('2026-01-01 01:00+00', '2026-01-01 02:00+00')" \
  "SELECT n FROM public.event WHERE ((id OPERATOR(public.<@) '[\"2026-01-01 01:00:00+00\",\"2026-01-01 02:00:00+00\")'::public.ulid_window))"

# one key goes to one shard, and both shards together contain every row once
psql -A -t -c 'SELECT id FROM event ORDER BY id LIMIT 1' > first
[ "$(psql -A -t -c "EXPLAIN SELECT * FROM event WHERE id = '$(cat first)'" | grep -c 'Foreign Scan')" = 1 ]
psql -A -t -v ON_ERROR_STOP=1 << 'SQL' | tee result
SELECT count(*), count(DISTINCT id), min(n), max(n) FROM event;
SELECT count(*) FROM event WHERE id <@ tstzrange('2026-01-01 01:00+00', '2026-01-01 02:00+00');
SELECT bool_and(n BETWEEN 900 AND 1100) FROM (SELECT count(*) AS n FROM event GROUP BY tableoid) AS s;
SQL
diff - result << 'END'
2000|2000|1|2000
60
t
END
