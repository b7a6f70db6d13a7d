#!/usr/bin/env bash
# No action at a distance: 70,000 queries over core's types have the same plan and the same result, or fail in the same
# way, with and without the extension, except for those listed below, which begin to resolve.
set -euo pipefail
for database in without with; do
  createdb "$database"
done
psql -X -q -d with -c 'CREATE EXTENSION ulid'
for database in without with; do
  psql -X -q -A -t -v ON_ERROR_STOP=1 -d "$database" -f "$ROOT/tests/server/distance.sql" > "$database.out" &
  pids+=($!)
done
for pid in "${pids[@]}"; do
  wait "$pid"
done
[ "$(grep -c ' => ' without.out)" -gt 50000 ]
[ "$(grep -c ' gives ' without.out)" -gt 3000 ]

diff without.out with.out > differences || true
# On 13, which has no multiranges, an untyped operand next to a uuid fails with another message than before.
if [ "$(pg_config --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')" = 13 ]; then
  sed -i '/^<.* => \(42804 \/ could not determine\|42804 could not determine\)/d; /^>.* => \(42725 \/ operator is not unique\|42725 operator is not unique\)/d' differences
fi
sed -n 's/^[<>] \(.*\) => .*/\1/p' differences | sort -u > differ
diff - differ << 'END' || { cat differences; exit 1; }
SELECT max(u) FROM few
SELECT min(u) FROM few
SELECT r @> u FROM few
SELECT u <@ r FROM few
END
# these failed before, because there was no such function or operator
if grep '^<' differences | grep -v '=> 42883'; then
  exit 1
fi
