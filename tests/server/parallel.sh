#!/usr/bin/env bash
# A parallel query: workers generate distinct random ids, sort and aggregate ulids; monotonic generators stay in the
# leader.
set -euo pipefail
psql -q -v ON_ERROR_STOP=1 << 'SQL'
CREATE EXTENSION ulid;
CREATE TABLE number AS SELECT n FROM generate_series(1, 200000) AS n;
CREATE TABLE made AS SELECT gen_ulid() AS id FROM number;
ANALYZE number, made;
ALTER DATABASE parallel SET parallel_setup_cost = 0;
ALTER DATABASE parallel SET parallel_tuple_cost = 0;
ALTER DATABASE parallel SET min_parallel_table_scan_size = 0;
ALTER DATABASE parallel SET max_parallel_workers_per_gather = 4;
-- the leader must not do the work alone
ALTER DATABASE parallel SET parallel_leader_participation = off;
SQL
# Print a plan without the details that depend on the machine.
plan() {
  psql -A -t -c "EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) $1"
}
plan 'SELECT gen_ulid() FROM number' | tee random
grep -q 'Workers Launched: [1-9]' random
# the generator runs below the Gather node, in the workers
sed -n '/Gather/,$p' random | grep -q 'Parallel Seq Scan'
[ "$(psql -A -t -c 'SELECT count(DISTINCT id) FROM (SELECT gen_ulid() AS id FROM number OFFSET 0) AS s')" = 200000 ]

plan 'SELECT gen_monotonic_ulid() FROM number' | tee monotonic
sed -n '1,/Gather/p' monotonic | grep -q 'Output: (*gen_monotonic_ulid'

plan 'SELECT gen_uuid_v7() FROM number' | tee uuid_v7
sed -n '1,/Gather/p' uuid_v7 | grep -q 'Output: (*gen_uuid_v7'

plan 'SELECT min(id), max(id) FROM made' | tee aggregate
grep -q 'Partial Aggregate' aggregate
grep -q 'Workers Launched: [1-9]' aggregate
[ "$(psql -A -t -c 'SELECT min(id) = (SELECT id FROM made ORDER BY id LIMIT 1) AND
                           max(id) = (SELECT id FROM made ORDER BY id DESC LIMIT 1) FROM made')" = t ]
