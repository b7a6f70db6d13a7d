#!/usr/bin/env bash
# The programs of docs/drivers.md. A driver that is not installed is left out, and named at the end.
set -euo pipefail
psql -X -q -v ON_ERROR_STOP=1 -c "CREATE EXTENSION ulid"
python=/usr/bin/python3                  # Debian's, for which its packages are
[ -x "$python" ] || python=python3
export NODE_PATH=$ROOT/target/drivers/node_modules
ran=0 missing=()

# Run the block $2 of the language $1 by what the last words say, if that can load its driver by $3.
run() {
  local language=$1 number=$2 load=$3
  shift 3
  if ! "$@" <<< "$load" > /dev/null 2>&1; then
    missing+=("$load")
    return
  fi
  echo "== $load"
  awk -v fence="\`\`\`$language" -v number="$number" '
    $0 == "```" { inside = 0 }
    inside
    $0 == fence { inside = ++seen == number; found = found || inside }
    END { exit !found }' "$ROOT/docs/drivers.md" > program
  "$@" < program
  ran=$((ran + 1))
}

run python 1 "import psycopg" "$python" -
run python 2 "import psycopg2" "$python" -
run python 3 "import psycopg" "$python" -
run js 1 'require("pg")' node -

if [ ${#missing[@]} != 0 ]; then
  printf -v list ', %s' "${missing[@]}"
  echo "$ran programs ran, not those that say${list#,}"
  exit 77
fi
