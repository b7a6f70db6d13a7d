#!/usr/bin/env bash
# Many ids and many calls. Eight sessions generate ids at once: none comes twice, and those that promise an order have it.
# The memory of a session does not grow with its calls. EACH (100,000) says how many ids a session generates, CALLS
# (1,000,000) how many calls it makes; with KEYS, tables of so many rows are filled with several kinds of key, which
# BUFFERS (2GB) of shared memory should hold. `make flood` does it with large numbers.
set -euo pipefail
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"
each=${EACH:-100000} calls=${CALLS:-1000000} keys=${KEYS:-0}
run() {
  psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"
}
# With unlogged tables: what is tested is not the log.
start_server flood "shared_buffers = ${BUFFERS:-2GB}" "maintenance_work_mem = 2GB" "max_wal_size = 8GB" "checkpoint_timeout = 1h" "autovacuum = off"
run -c 'CREATE EXTENSION ulid'

echo "eight sessions generate $each ids each at once"
for generator in 'gen_ulid()' 'gen_monotonic_ulid()' 'gen_ordered_ulid()' 'gen_uuid_v7()'; do
  start=$SECONDS
  run -c 'CREATE UNLOGGED TABLE made (id ulid)'
  pids=()
  for session in {1..8}; do
    case $generator in
      gen_ulid*) order="SELECT 0" ;;
      *) order="SELECT count(*) FROM (SELECT id <= lag(id) OVER () AS disorder FROM (SELECT $generator AS id FROM (SELECT generate_series(1, $each)) AS s OFFSET 0) AS s) AS s WHERE disorder" ;;
    esac
    run -c "INSERT INTO made SELECT $generator FROM (SELECT generate_series(1, $each)) AS s" -c "$order" > "disorder.$session" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid"; done
  [ "$(cat disorder.* | uniq -c | tr -s ' ')" = ' 8 0' ]
  # refuses an id that is there twice
  run -c 'CREATE UNIQUE INDEX made_id ON made (id)'
  run -c "SELECT '$generator: ' || count(*) || ' distinct, in $((SECONDS - start)) s' FROM made" -c 'DROP TABLE made' | tee result
  grep -q ": $((8 * each)) distinct" result
done

# The calls of every_function.sql; each argument is one that the planner does not know.
run -f "$ROOT/tests/server/every_function.sql" |
  sed -n "s/E\?'[^']*'::[a-z_ ]*/CASE WHEN n > 0 THEN & END/g; s/^SELECT \(.*\);\$/\1/; s/^\([a-z.]*\(max\|min\)\)(\(.*\))\$/(SELECT \1(v) FROM (VALUES (\3)) AS v (v))/; p" > functions
count=$(wc -l < functions)
[ "$count" -gt 200 ]
echo "a session makes $calls calls, of $count kinds"
run << SQL | tee memory
CREATE TEMP TABLE call (n int GENERATED ALWAYS AS IDENTITY, expression text, fails bool);
\\copy call (expression) FROM functions (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')
CREATE FUNCTION pg_temp.fails(expression text) RETURNS boolean LANGUAGE plpgsql AS \$\$
BEGIN
    EXECUTE format('SELECT count(%s) FROM generate_series(1, 1) AS n', expression);
    RETURN false;
EXCEPTION
    WHEN syntax_error_or_access_rule_violation THEN RAISE;
    WHEN OTHERS THEN RETURN true;
END \$\$;
UPDATE call SET fails = pg_temp.fails(expression);
-- Those that fail are slower, so there are less of them.
CREATE PROCEDURE pg_temp.make(calls bigint) LANGUAGE plpgsql AS \$\$
DECLARE
    row record;
BEGIN
    FOR row IN SELECT expression, fails FROM call ORDER BY call.n LOOP
        IF row.fails THEN
            EXECUTE format('DO \$do\$ BEGIN FOR n IN 1 .. %s LOOP BEGIN PERFORM %s; EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END \$do\$', calls / 50, row.expression);
        ELSE
            EXECUTE format('SELECT count(%s) FROM (SELECT generate_series(1, %s) AS n OFFSET 0) AS s', row.expression, calls);
        END IF;
    END LOOP;
END \$\$;
SELECT pg_backend_pid() AS pid, $calls / count(*) FILTER (WHERE NOT fails) AS calls FROM call \\gset
\\setenv PID :pid
SELECT to_regclass('pg_backend_memory_contexts') IS NOT NULL AS contexts \\gset
CALL pg_temp.make(:calls / 100);
CALL pg_temp.make(:calls / 100);
\\! grep RssAnon /proc/\$PID/status
\\if :contexts
SELECT 'contexts: ' || (sum(total_bytes) / 1024)::bigint || ' kB' FROM pg_backend_memory_contexts;
\\endif
CALL pg_temp.make(:calls);
\\! grep RssAnon /proc/\$PID/status
\\if :contexts
SELECT 'contexts: ' || (sum(total_bytes) / 1024)::bigint || ' kB' FROM pg_backend_memory_contexts;
\\endif
SELECT count(*) FILTER (WHERE fails) || ' kinds of call fail, ' || count(*) FILTER (WHERE NOT fails) * :calls || ' calls succeeded' FROM call;
SQL
# in kB; what malloc keeps may differ
for kind in RssAnon contexts; do
  sed -n "s/^$kind:[^0-9]*\([0-9]*\) kB/\1/p" memory > measured
  awk -v kind="$kind" 'NR == 1 { first = $1 } END { if (NR && $1 > first + 1024) { print kind " has grown"; exit 1 } }' measured
done
grep -c RssAnon memory | grep -qx 2

# Print the processor time of the session that makes the rows, and how large the table and the index are.
fill() {
  local name=$1 type=$2 value=$3
  run << SQL
CREATE UNLOGGED TABLE keyed (id $type PRIMARY KEY);
SELECT pg_backend_pid() AS pid \\gset
\\setenv PID :pid
INSERT INTO keyed SELECT $value FROM (SELECT generate_series(1, $keys)) AS s;
SELECT '$name: ' || round(pg_relation_size('keyed') / $keys.0, 1) || ' bytes per row in the table, '
    || round(pg_relation_size('keyed_pkey') / $keys.0, 1) || ' in the index, seconds of processor time: ' AS filled \\gset
\\echo -n :filled
\\! awk -v ticks="\$(getconf CLK_TCK)" '{ print (\$14 + \$15) / ticks }' /proc/\$PID/stat
DROP TABLE keyed;
SQL
}
if [ "$keys" != 0 ]; then
  echo "$keys rows in an unlogged table with a primary key, one INSERT"
  fill 'ulid, gen_ordered_ulid()' ulid 'gen_ordered_ulid()'
  fill 'ulid, gen_monotonic_ulid()' ulid 'gen_monotonic_ulid()'
  fill 'ulid, gen_ulid()' ulid 'gen_ulid()'
  [ "$(run -c "SELECT to_regprocedure('uuidv7()') IS NULL")" = t ] || fill 'uuid, uuidv7()' uuid 'uuidv7()'
  fill 'uuid, gen_random_uuid()' uuid 'gen_random_uuid()'
fi
