#!/usr/bin/env bash
# Exclusion constraints and GIN on ulid columns, by btree_gist and btree_gin through the cast to uuid, which costs
# nothing.
set -euo pipefail
[ -e "$(pg_config --sharedir)/extension/btree_gist.control" ] || { echo "skipped: no btree_gist"; exit 77; }
psql -A -t << 'SQL' > result 2>&1
CREATE EXTENSION ulid;
CREATE EXTENSION btree_gist;
CREATE EXTENSION btree_gin;
CREATE TABLE booking (room ulid, period tstzrange, EXCLUDE USING gist ((room::uuid) WITH =, period WITH &&));
INSERT INTO booking VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-01-01, 2026-01-03)');
INSERT INTO booking VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAW', '[2026-01-02, 2026-01-04)');
INSERT INTO booking VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-01-02, 2026-01-04)');
CREATE INDEX ON booking USING gin ((room::uuid), (ARRAY[1]));
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM booking WHERE room::uuid = '01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid::uuid AND period && '[2026-01-02, 2026-01-03)';
SQL
cat result
grep -q 'conflicting key value violates exclusion constraint' result
grep -q 'Index Scan using booking_room_period_excl' result
[ "$(grep -c '^INSERT 0 1' result)" = 2 ]
