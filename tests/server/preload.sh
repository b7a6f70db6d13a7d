#!/usr/bin/env bash
# The library preloaded into the postmaster: no generator is seeded there and copied by fork, so no id occurs twice.
set -euo pipefail
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"
start_server preloaded "shared_preload_libraries = 'ulid'"
psql -q -c 'CREATE EXTENSION ulid'
psql -A -t -c 'SHOW shared_preload_libraries'
for _ in {1..50}; do
  # The same time for all, so that the ids differ only in the randomness.
  psql -A -t -c "SELECT gen_ulid('2026-01-01 00:00+00') FROM generate_series(1, 20)"
done > ids
[ "$(sort -u ids | wc -l)" = 1000 ]
