#!/usr/bin/env bash
# pgbouncer in transaction mode, with each generator, and plproxy, which sends a call to the server of its key's hash.
# What is not installed is left out, and named at the end.
set -euo pipefail
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"
run() {
  psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"
}
missing=()
run -c "CREATE EXTENSION ulid"

if pgbouncer=$(command -v pgbouncer); then
  "$pgbouncer" --version | head -n 1
  pooler=$SERVERS/pooler
  server_directory "$pooler"
  printf '%s\n' '[databases]' "* = host=$PGHOST port=$PGPORT user=$PGUSER" '[pgbouncer]' 'listen_addr =' "unix_socket_dir = $pooler" \
    'listen_port = 6432' 'auth_type = any' 'pool_mode = transaction' 'default_pool_size = 2' \
    "pidfile = $pooler/pid" "logfile = $pooler/log" > pgbouncer.ini
  run << 'SQL'
CREATE TABLE made (n bigserial PRIMARY KEY, client int, backend int DEFAULT pg_backend_pid(), random ulid DEFAULT gen_ulid(),
                   monotonic ulid DEFAULT gen_monotonic_ulid(), v7 ulid DEFAULT gen_uuid_v7(),
                   ordered ulid DEFAULT gen_ordered_ulid());
SQL
  as_postgres "$pgbouncer" -q -d "$PWD/pgbouncer.ini" > /dev/null
  trap 'kill "$(cat "$pooler/pid")"' EXIT
  # it goes to the background before it listens
  for _ in {1..100}; do
    ! run -h "$pooler" -p 6432 -c "SELECT" 2> refused || break
    sleep 0.1
  done
  cat refused
  [ ! -s refused ]
  echo 'INSERT INTO made (client) VALUES (:client_id);' > insert.sql
  for protocol in simple extended; do
    pgbench -h "$pooler" -p 6432 -n -M "$protocol" -c 8 -t 250 -f insert.sql > pgbench.log 2>&1 || { cat pgbench.log; exit 1; }
  done
  echo "- All ids differ. A sequence is in order on each server connection, and a client changes these from one transaction"
  echo "  to the next; gen_ordered_ulid is in order for each client."
  run << 'SQL' | tee result
SELECT count(*), count(DISTINCT random), count(DISTINCT monotonic), count(DISTINCT v7), count(DISTINCT ordered) FROM made;
SELECT max(backends) > 1 FROM (SELECT count(DISTINCT backend) AS backends FROM made GROUP BY client) AS s;
SELECT bool_and(monotonic > before), bool_and(v7 > v7_before)
FROM (SELECT monotonic, lag(monotonic) OVER w AS before, v7, lag(v7) OVER w AS v7_before FROM made WINDOW w AS (PARTITION BY backend ORDER BY n)) AS s;
SELECT bool_and(ordered > before) FROM (SELECT ordered, lag(ordered) OVER (PARTITION BY client ORDER BY n) AS before FROM made) AS s;
SQL
  diff - result << 'END'
4000|4000|4000|4000|4000
t
t|t
t
END
  run -c "SELECT count(*) || ' of 4000 ids of gen_monotonic_ulid are smaller than the one before of the same client' FROM
    (SELECT monotonic < lag(monotonic) OVER (PARTITION BY client ORDER BY n) AS smaller FROM made) AS s WHERE smaller"
else
  missing+=(pgbouncer)
fi

if [ -e "$(pg_config --sharedir)/extension/plproxy.control" ]; then
  echo "- plproxy finds each row by the hash of its key."
  for shard in 0 1; do
    createdb "proxied_$shard"
    run -d "proxied_$shard" << 'SQL'
CREATE EXTENSION ulid;
CREATE TABLE event (id ulid PRIMARY KEY, n int);
CREATE FUNCTION put(id ulid, n int) RETURNS void LANGUAGE sql AS 'INSERT INTO event VALUES (id, n)';
CREATE FUNCTION get(id ulid) RETURNS int LANGUAGE sql AS 'SELECT n FROM event WHERE event.id = get.id';
SQL
  done
  run << SQL > /dev/null
CREATE EXTENSION plproxy;
CREATE SERVER shards FOREIGN DATA WRAPPER plproxy OPTIONS (p0 'host=$PGHOST dbname=proxied_0', p1 'host=$PGHOST dbname=proxied_1');
CREATE USER MAPPING FOR CURRENT_USER SERVER shards OPTIONS (user 'postgres');
CREATE FUNCTION put(id ulid, n int) RETURNS void LANGUAGE plproxy AS \$\$ CLUSTER 'shards'; RUN ON ulid_hash(id); \$\$;
CREATE FUNCTION get(id ulid) RETURNS int LANGUAGE plproxy AS \$\$ CLUSTER 'shards'; RUN ON ulid_hash(id); \$\$;
CREATE TABLE event AS SELECT gen_ulid() AS id, n FROM generate_series(1, 1000) AS n;
SELECT put(id, n) FROM event;
SQL
  run -c "SELECT count(*), count(*) FILTER (WHERE get(id) = n), count(*) FILTER (WHERE get(id::uuid) = n) FROM event" | tee result
  [ "$(cat result)" = '1000|1000|1000' ]
  for shard in 0 1; do
    run -d "proxied_$shard" -c "SELECT count(*) BETWEEN 400 AND 600 FROM event"
  done | tee result
  [ "$(sort -u result)" = t ]
else
  missing+=(plproxy)
fi

if [ ${#missing[@]} != 0 ]; then
  printf -v list ', %s' "${missing[@]}"
  echo "ran without${list#,}"
  exit 77
fi
