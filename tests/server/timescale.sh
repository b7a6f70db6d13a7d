#!/usr/bin/env bash
# TimescaleDB: a hypertable by the time of a ulid key, and the conditions that exclude chunks.
set -euo pipefail
[ -e "$(pg_config --sharedir)/extension/timescaledb.control" ] || { echo "skipped: no timescaledb"; exit 77; }
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"
run() {
  psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"
}
# Check that a statement fails with exactly this message.
refused() {
  if run -c "$2" 2> error; then echo "not refused: $2"; return 1; fi
  grep -qxF "ERROR:  $1" error || { cat error; return 1; }
}
# Check the number of chunks in the plan of a query with a condition.
chunks() {
  run -c "EXPLAIN (COSTS OFF) SELECT * FROM event WHERE $2" > plan
  [ "$(grep -c ' on _hyper_' plan)" = "$1" ] || { cat plan; echo "not $1 chunks: $2"; return 1; }
}
start_server timescale "shared_preload_libraries = 'timescaledb'" "timescaledb.telemetry_level = off"
run -c "CREATE EXTENSION timescaledb" 2> /dev/null
run -c "SELECT 'timescaledb ' || extversion FROM pg_extension WHERE extname = 'timescaledb'"
run << 'SQL' | tee result
CREATE EXTENSION ulid;
CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ulid(), what text);
SELECT create_hypertable('event', by_range('id', interval '1 day', partition_func => 'ulid_extract_timestamp'));
INSERT INTO event SELECT gen_ulid('2026-01-01 00:00Z'::timestamptz + n * interval '1 minute'), n FROM generate_series(0, 14399) AS n;
INSERT INTO event (what) VALUES ('now');
ANALYZE event;
SELECT count(*) FROM show_chunks('event');
SELECT count(*) FROM event WHERE id <@ tstzrange('2026-01-03 00:00Z', '2026-01-04 00:00Z');
SELECT time_bucket('1 day', ulid_extract_timestamp(id)) AS day, count(*) FROM event GROUP BY day ORDER BY day LIMIT 1;
SELECT what FROM event ORDER BY id DESC LIMIT 1;
SELECT min(id)::timestamptz < '2026-01-01 00:01Z', max(id)::timestamptz > '2026-02-01 00:00Z' FROM event;
SQL
diff - result << 'END'
(1,t)
11
1440
2026-01-01 00:00:00+00|1440
now
t|t
END

echo "- Bounds, keys and the time itself exclude chunks; a window does not, and scans the index of each."
chunks 1 "id = '01KE0JER000000000000000000'"
chunks 1 "id >= ulid_lower_bound('2026-01-03 00:00Z') AND id < ulid_lower_bound('2026-01-04 00:00Z')"
chunks 1 "ulid_extract_timestamp(id) >= '2026-01-03 00:00Z' AND ulid_extract_timestamp(id) < '2026-01-04 00:00Z'"
chunks 11 "id <@ tstzrange('2026-01-03 00:00Z', '2026-01-04 00:00Z')"
[ "$(grep -c 'Index Cond' plan)" -ge 9 ]

echo "- Old chunks are dropped by a time."
run -c "SELECT count(*) FROM drop_chunks('event', older_than => '2026-01-05 00:00Z'::timestamptz)" \
  -c "SELECT min(id)::timestamptz >= '2026-01-05 00:00Z' FROM event" | tee result
diff - result << 'END'
4
t
END

echo "- What does not work: the type without its function, and a generated column."
run << 'SQL'
CREATE TABLE plain (id ulid PRIMARY KEY);
CREATE TABLE generated (id ulid, at timestamptz GENERATED ALWAYS AS (ulid_extract_timestamp(id)) STORED);
CREATE TABLE as_uuid (id uuid PRIMARY KEY DEFAULT gen_uuid_v7());
SQL
refused 'invalid type for dimension "id"' "SELECT create_hypertable('plain', by_range('id'))"
refused 'invalid partitioning column' "SELECT create_hypertable('generated', by_range('at'))"

if run -c "SELECT FROM create_hypertable('as_uuid', by_range('id'))" 2> error; then
  echo "- A uuid of version 7 can be the dimension itself; a ulid as uuid is not of version 7."
  run -c "INSERT INTO as_uuid SELECT FROM generate_series(1, 10)"
  [ "$(run -c "SELECT count(*) FROM as_uuid")" = 10 ]
  refused '019b76da-a800-0000-0000-000000000000 is not a version 7 UUID' \
    "INSERT INTO as_uuid VALUES (ulid_lower_bound('2026-01-01 00:00Z'))"
else
  grep -x 'ERROR:  invalid type for dimension "id"' error
fi
