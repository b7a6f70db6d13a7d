#!/usr/bin/env bash
# The planner's hooks change no result of a fixed set of random queries. planner_fuzz.pl describes the method, and runs
# longer with `make planner-fuzz`.
set -euo pipefail
psql -X -q -v ON_ERROR_STOP=1 -c 'CREATE EXTENSION ulid'
perl "$ROOT/tests/server/planner_fuzz.pl" --seed=1 --queries=200 | tee report
grep -q ' 0 faults$' report
