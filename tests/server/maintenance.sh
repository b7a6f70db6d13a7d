#!/usr/bin/env bash
# pg_repack of a table that is written to, and the hypothetical indexes of hypopg. What is not installed is left out,
# and named at the end.
set -euo pipefail
run() {
  psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"
}
missing=()
has() {
  [ -e "$(pg_config --sharedir)/extension/$1.control" ] || { missing+=("$1"); return 1; }
}
run << 'SQL'
CREATE EXTENSION ulid;
CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ulid(), n int);
INSERT INTO event (n) SELECT n FROM generate_series(1, 50000) AS n;
DELETE FROM event WHERE n % 2 = 0;
SQL

if has pg_repack; then
  pg_repack --version
  run -c "CREATE EXTENSION pg_repack" -c "SELECT pg_relation_filenode('event'), pg_relation_filenode('event_pkey')" > files
  # Insert rows, and change the keys of rows that are there.
  writer() {
    local n
    for ((n = 100000 * $1; ; n += 3)); do
      run << SQL >> "written.$1"
INSERT INTO event (n) VALUES ($n), ($n + 1), ($n + 2) RETURNING id;
UPDATE event SET id = gen_ulid() WHERE n = ($n - 100000 * $1) / 3 * 4 + 2 * $1 - 1;
SQL
      [ ! -e stop ] || return 0
    done
  }
  writer 1 &
  writer 2 &
  until [ -s written.1 ] && [ -s written.2 ]; do sleep 0.05; done
  pg_repack -d "$PGDATABASE" -t event 2>&1
  touch stop
  wait
  rows=$(cat written.* | wc -l)
  echo "$rows rows written meanwhile"
  [ "$(run -c "SELECT count(*), count(DISTINCT id) FROM event")" = "$((25000 + rows))|$((25000 + rows))" ]
  [ "$(run -c "SELECT count(*) FROM event WHERE n >= 100000")" = "$rows" ]
  run -c "SELECT id FROM event" | LC_ALL=C sort > stored
  [ "$(cat written.* | LC_ALL=C sort | comm -23 - stored | wc -l)" = 0 ]
  if run -c "SELECT pg_relation_filenode('event'), pg_relation_filenode('event_pkey')" | cmp files -; then exit 1; fi
  run -c "DROP EXTENSION pg_repack"
fi

if has hypopg; then
  run << 'SQL' | tee result
CREATE EXTENSION hypopg;
CREATE TABLE old (id uuid, n int);
INSERT INTO old SELECT id, n FROM event;
ANALYZE old;
SELECT count(*) FROM hypopg_create_index('CREATE INDEX ON old (id ulid_ops)');
EXPLAIN (COSTS OFF) SELECT * FROM old WHERE id::ulid <@ tstzrange('2026-01-01', '2026-01-02');
EXPLAIN (COSTS OFF) SELECT * FROM old WHERE id = '01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid;
SQL
  [ "$(grep -c '^Index Scan using "<[0-9]*>btree_old_id" on old' result)" = 2 ]
fi

if [ ${#missing[@]} != 0 ]; then
  printf -v list ', %s' "${missing[@]}"
  echo "ran without${list#,}"
  exit 77
fi
