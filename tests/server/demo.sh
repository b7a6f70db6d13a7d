#!/usr/bin/env bash
# The output of `make run` is correct: all vectors agree, the altered table is not rewritten, and a minute has its 60
# rows.
set -euo pipefail
(cd "$ROOT" && psql -X -A -t -q -v ON_ERROR_STOP=1 -f scripts/demo.sql) | tee shown
vectors=$(grep -vc '^#' "$ROOT/tests/data/valid.tsv")
grep -qx "$vectors|$vectors|$vectors" shown
[ "$(grep -E '^[0-9]+\|[0-9A-Za-z-]+$' shown | cut -d '|' -f 1 | uniq -c | awk '{ print $1 }')" = 2 ]
grep -q '^60|2026-01-02 12:00:00+00|2026-01-02 12:00:59+00$' shown
