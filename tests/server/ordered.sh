#!/usr/bin/env bash
# gen_ordered_ulid: one order for all sessions, workers and databases of a server, preloaded or not, through restarts and
# on a standby.
set -euo pipefail
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"
# The number of ids that each of eight sessions generates.
each=${EACH:-100000}

# Print the one value that a query returns.
value() {
  psql -X -A -t -q -v ON_ERROR_STOP=1 "${@:2}" -c "$1"
}

# Fail with the expectation as message unless a query returns t.
holds() {
  [ "$(value "$2" "${@:3}")" = t ] || { echo "does not hold: $1"; exit 1; }
}

psql -q -v ON_ERROR_STOP=1 << 'SQL'
CREATE EXTENSION ulid;
CREATE TABLE handover (n bigint GENERATED ALWAYS AS IDENTITY, session int, id ulid);
SQL

echo "eight sessions hand over ten thousand times: who has seen an id makes a greater one"
cat > handover.pgbench << 'SQL'
SELECT pg_advisory_lock(1);
INSERT INTO handover (session, id) VALUES (pg_backend_pid(), gen_ordered_ulid());
SELECT pg_advisory_unlock(1);
SQL
"$BIN/pgbench" -n -c 8 -j 2 -t 2000 -f handover.pgbench > handover.log 2>&1 || { cat handover.log; exit 1; }
value "SELECT count(*) FILTER (WHERE session <> before), count(*) FILTER (WHERE id <= id_before)
       FROM (SELECT *, lag(session) OVER w AS before, lag(id) OVER w AS id_before FROM handover WINDOW w AS (ORDER BY n)) AS s" | tee handovers
IFS='|' read -r handovers disorder < handovers
[ "$handovers" -ge 10000 ] && [ "$disorder" = 0 ]

echo "eight sessions make $each ids each at once: none twice, each session's in order"
for session in {1..8}; do
  value "CREATE TABLE made_$session AS SELECT n, gen_ordered_ulid() AS id FROM generate_series(1, $each) AS n" &
done
wait
made=$(printf 'UNION ALL SELECT %s AS session, * FROM made_%s ' 1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8)
value "CREATE TABLE made AS ${made#UNION ALL }"
value "SELECT count(*), count(DISTINCT substr(id::bytea, 1, 8)), count(DISTINCT substr(id::bytea, 9)) FROM made" | tee counts
[ "$(cat counts)" = "$((8 * each))|$((8 * each))|$((8 * each))" ]
holds "each session's increase" "SELECT NOT bool_or(disorder) FROM (SELECT id <= lag(id) OVER (PARTITION BY session ORDER BY n) AS disorder FROM made) AS s"
# they ran at the same time
holds "sessions interleave" "SELECT count(*) > 8 FROM (SELECT session <> lag(session) OVER (ORDER BY id) AS changes FROM made) AS s WHERE changes"

echo "parallel workers make them"
psql -q -v ON_ERROR_STOP=1 << 'SQL'
ANALYZE made;
ALTER DATABASE ordered SET parallel_setup_cost = 0;
ALTER DATABASE ordered SET parallel_tuple_cost = 0;
ALTER DATABASE ordered SET min_parallel_table_scan_size = 0;
ALTER DATABASE ordered SET max_parallel_workers_per_gather = 4;
ALTER DATABASE ordered SET parallel_leader_participation = off;
SQL
value 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT gen_ordered_ulid() FROM made' > parallel
grep 'Workers Launched: [1-9]' parallel
sed -n '/Gather/,$p' parallel | grep 'Output: gen_ordered_ulid'
holds "no id of a worker comes twice, and all are greater than those before" \
  "SELECT count(DISTINCT id) = 8 * $each AND min(id) > (SELECT max(id) FROM made) FROM (SELECT gen_ordered_ulid() AS id FROM made OFFSET 0) AS s"

echo "two databases have one order"
createdb ordered_2
value 'CREATE EXTENSION ulid' -d ordered_2
last=00000000000000000000000000
for database in ordered ordered_2 ordered ordered_2; do
  id=$(value 'SELECT gen_ordered_ulid()' -d "$database")
  [[ $id > $last ]]
  last=$id
done

# Several sessions make the first call after a start at the same moment: none of them creates a separate word.
race() {
  local session
  for session in {1..8}; do
    value 'SELECT gen_ordered_ulid()::uuid FROM generate_series(1, 500)' > "race_$session" &
  done
  wait
  # the first 16 digits are the time, which differs in all ids of one order
  [ "$(cut -c 1-18 race_* | sort -u | wc -l)" = 4000 ]
  for session in {1..8}; do sort -c "race_$session"; done
  cat race_* > raced
}

for preloaded in '' ulid; do
  server=${preloaded:-lazy}_server
  echo "a server with shared_preload_libraries = '$preloaded', restarted and crashed"
  start_server "$server" "shared_preload_libraries = '$preloaded'"
  value 'CREATE EXTENSION ulid'
  for mode in fast immediate fast immediate; do
    race
    # the order continues, also through a restart if the clock goes on
    last=$(sort raced | tail -n 1)
    [[ $(value 'SELECT gen_ordered_ulid()::uuid') > $last ]]
    stop_server "$server" "$mode"
    start_server "$server"
    [[ $(value 'SELECT gen_ordered_ulid()::uuid') > $last ]]
    holds "not ahead of the clock" "SELECT gen_ordered_ulid()::timestamptz <= clock_timestamp()"
    race
  done
done

echo "a hot standby, which has an order of its own"
primary=$PGHOST
as_postgres "$BIN/pg_basebackup" -h "$primary" -U postgres -D "$SERVERS/standby_data" -R -c fast
server_directory "$SERVERS/standby"
as_postgres mv "$SERVERS/standby_data" "$SERVERS/standby/data"
start_server standby "unix_socket_directories = '$SERVERS/standby'"
holds "it is a standby" 'SELECT pg_is_in_recovery()'
race
