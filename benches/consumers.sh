#!/usr/bin/env bash
# How long a row waits from its commit until a consumer reads it: benches/consumers.sh SECONDS, in
# the empty database that PG* variables name, with track_commit_timestamp = on.
#
# 1,000 transactions per second insert a row each. Each of 1, 5 and 20 consumers reads all rows. It
# polls 10 ms after its last poll. The first second does not count. Then one consumer reads 1,000
# rows in each poll, without a pause. Prints lines as benches/sql.pl does, with ms, and rows per
# second.
set -euo pipefail
seconds=$1
export PGOPTIONS='-c client_min_messages=warning'
query() { psql -XAtq -F $'\t' -v ON_ERROR_STOP=1 "$@"; }

# Print the transaction of a consumer, with a pause of $1 ms.
consumer() {
  cat << END
CALL ulid_refresh_horizon();
BEGIN;
SELECT last_id AS last, ulid_current_horizon(last_id) AS horizon
FROM consumer WHERE n = :client_id \\gset
WITH new AS (
    SELECT id, message, xmin AS xact FROM outbox
    WHERE id > :last AND id < :horizon ORDER BY id LIMIT 1000
), delays AS (
    INSERT INTO delay SELECT pg_xact_commit_timestamp(xact), clock_timestamp() FROM new
), stored AS (
    UPDATE consumer SET last_id = (SELECT max(id) FROM new)
    WHERE n = :client_id AND EXISTS (SELECT FROM new)
)
SELECT id, message FROM new;
COMMIT;
\\sleep $1 ms
END
}

query << 'END'
CREATE EXTENSION ulid;
CREATE TABLE outbox (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), message text NOT NULL);
CREATE TABLE consumer (n int PRIMARY KEY, last_id ulid NOT NULL);
CREATE UNLOGGED TABLE delay (committed timestamptz, read timestamptz);
END
reset="TRUNCATE outbox, consumer, delay;
  INSERT INTO consumer SELECT n, '00000000000000000000000000' FROM generate_series(0, 19) AS n"
insert="INSERT INTO outbox (message) SELECT repeat('x', 200)"
for round in 1 2 3; do
  for consumers in 1 5 20; do
    query -c "$reset"
    pgbench -n -M prepared -c 8 -R 1000 -T "$seconds" -f <(echo "$insert;") > /dev/null &
    pgbench -n -M prepared -c $consumers -T "$seconds" -f <(consumer 10) > /dev/null
    wait
    query -c "SELECT 'delay_' || p, 'horizon', $round, $consumers,
        extract(epoch FROM percentile_cont(p / 100.0) WITHIN GROUP (ORDER BY read - committed)) * 1000
        FROM delay, unnest(ARRAY[50, 99]) AS p
        WHERE committed > (SELECT min(committed) + interval '1 s' FROM delay) GROUP BY p"
  done
  query -c "$reset; $insert FROM generate_series(1, 300000)" -c "VACUUM ANALYZE outbox"
  pgbench -n -M prepared -t 300 -f <(consumer 0) |
    awk -v OFS='\t' "/^tps/ { print \"consumer_rows\", \"horizon\", $round, 1, \$3 * 1000 }"
done
