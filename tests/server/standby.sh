#!/usr/bin/env bash
# A hot standby: it reads by key and by window, generates ids in queries, and goes on with larger ones when promoted.
set -euo pipefail
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"
run() {
  psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"
}
start_server primary
primary=$PGHOST
run -c "CREATE EXTENSION ulid" -c "CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_monotonic_ulid(), n int)" \
  -c "INSERT INTO event (n) SELECT n FROM generate_series(1, 10000) AS n"
server_directory "$SERVERS/standby"
as_postgres "$BIN/pg_basebackup" -h "$primary" -U postgres -D "$SERVERS/standby/data" -R -X stream --no-sync --checkpoint=fast
start_server standby "unix_socket_directories = '$SERVERS/standby'"
run -h "$primary" -c "INSERT INTO event (n) SELECT n FROM generate_series(10001, 20000) AS n"
written=$(run -h "$primary" -c "SELECT pg_current_wal_lsn()")
tries=0
until [ "$(run -c "SELECT pg_last_wal_replay_lsn() >= '$written'")" = t ]; do
  ((++tries < 600)) || { cat "$SERVERS/standby/log"; exit 1; }
  sleep 0.1
done

echo "- The standby has every row and reads it by the index; it makes ids, but cannot store them."
newest=$(run -c "SELECT max(id) FROM event")
[ "$newest" = "$(run -h "$primary" -c "SELECT max(id) FROM event")" ]
run << SQL | tee result
SELECT pg_is_in_recovery();
SELECT count(*), count(DISTINCT id), max(n) FROM event;
SELECT count(*) FROM event WHERE id <@ tstzrange(ulid_extract_timestamp('$newest'), NULL) AND id = '$newest';
SELECT gen_ulid() > '$newest', gen_monotonic_ulid() > '$newest', gen_uuid_v7() > '$newest'::ulid::uuid, gen_ordered_ulid() > '$newest';
SQL
diff - result << 'END'
t
20000|20000|20000
1
t|t|t|t
END
run -c "EXPLAIN SELECT * FROM event WHERE id <@ tstzrange(now(), NULL)" | grep -q 'Scan .*event_pkey'
if run -c "INSERT INTO event (n) VALUES (0)" 2> error; then exit 1; fi
grep -x 'ERROR:  cannot execute INSERT in a read-only transaction' error

echo "- Promoted, it goes on."
stop_server primary immediate
[ "$(run -c "SELECT pg_promote()")" = t ]
run -c "INSERT INTO event (n) SELECT n FROM generate_series(20001, 30000) AS n"
run -c "SELECT count(*), count(DISTINCT id), min(id) FILTER (WHERE n > 20000) > '$newest' FROM event" | tee result
[ "$(cat result)" = '30000|30000|t' ]
