#!/usr/bin/env bash
# Eight backends at once generate 800,000 ids of each kind, and all are distinct.
set -euo pipefail
psql -q -c 'CREATE EXTENSION ulid'
for backend in {1..8}; do
  psql -q -c "CREATE TABLE made_$backend AS
    SELECT n, gen_ulid() AS random, gen_monotonic_ulid() AS monotonic FROM generate_series(1, 100000) AS n" &
done
wait
for backend in {1..8}; do
  made+="${made:+ UNION ALL }SELECT $backend AS backend, * FROM made_$backend"
done
psql -A -t -v ON_ERROR_STOP=1 << SQL | tee result
CREATE TABLE made AS $made;
SELECT count(*), count(DISTINCT random), count(DISTINCT monotonic) FROM made;
SELECT count(*) FROM (SELECT monotonic <= lag(monotonic) OVER (PARTITION BY backend ORDER BY n) AS disorder FROM made) AS s
WHERE disorder;
SQL
diff - result << 'END'
SELECT 800000
800000|800000|800000
0
END
