#!/usr/bin/env bash
# pg_upgrade, and dump and restore, from an older server: rows, all kinds of index, partitions, generated columns, views
# and arrays are kept, and nothing has to be indexed again. FROM names the older one; without it, it is the newest
# that is available. `make test-upgrade` runs every pair.
set -euo pipefail
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"
run() {
  psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"
}
new=$BIN
major=$("$new/postgres" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
old="" upgrade=yes databases=(postgres restored) left_out=()
for candidate in ${FROM:-18 17 16 15 15-main 13}; do
  # with the extension
  [ "${candidate%-main}" -lt "$major" ] && [ -e "$WORK/$candidate/bin/postgres" ] || continue
  candidate=$(readlink -f "$WORK/$candidate/bin")
  [ -e "$("$candidate/pg_config" --pkglibdir)/ulid.so" ] || continue
  BIN=$candidate start_server old
  # Debian's 15.20 gives every column of every table an option that no other server can read, so it cannot be upgraded
  # (but its 15.18 can, which is 15-main), and its dump is restored without the option
  options=$(run -c 'CREATE TEMP TABLE plain (n int); SELECT attoptions FROM pg_attribute WHERE attrelid = $$plain$$::regclass AND attnum = 1')
  if [ -z "$options" ] || [ -n "${FROM:-}" ]; then
    old=$candidate
    [ -z "$options" ] || { upgrade="" databases=(restored) left_out=("pg_upgrade: it gives a plain column the option $options"); }
    break
  fi
  BIN=$candidate stop_server old
  rm -rf "$SERVERS/old"
done
[ -n "$old" ] || { echo "skipped: no older server that can be upgraded${options:+: it gives a plain column the option $options}"; exit 77; }
"$old/postgres" --version
"$new/postgres" --version

run << 'SQL'
CREATE EXTENSION ulid;
CREATE TABLE key (
    id ulid PRIMARY KEY DEFAULT gen_ulid(),
    ids ulid[],
    n int,
    made timestamptz GENERATED ALWAYS AS (ulid_extract_timestamp(id)) STORED
);
CREATE INDEX key_hash ON key USING hash (id);
CREATE INDEX key_brin ON key USING brin (id);
CREATE INDEX key_gin ON key USING gin (ids);
CREATE INDEX key_n_id ON key (n, id DESC);
CREATE INDEX key_made ON key (made);
CREATE INDEX key_day ON key ((date_trunc('day', ulid_extract_timestamp(id) AT TIME ZONE 'UTC')));
CREATE INDEX key_window ON key (id) WHERE id <@ tstzrange('2025-03-01 00:00+00', '2025-06-01 00:00+00');
CREATE UNIQUE INDEX key_window_n ON key (n, made) WHERE id <@ tstzrange('2025-03-01 00:00+00', NULL);
SELECT format('CREATE INDEX key_brin_%s ON key USING brin (id %s)', opcname, opcname) FROM pg_opclass
WHERE opcname IN ('ulid_minmax_multi_ops', 'ulid_bloom_ops') \gexec
CREATE TABLE child (id uuid REFERENCES key (id), PRIMARY KEY (id));
CREATE TABLE part (id ulid PRIMARY KEY, CHECK (id <@ tstzrange('2025-01-01 00:00+00', NULL))) PARTITION BY RANGE (id);
CREATE TABLE part_2026 PARTITION OF part FOR VALUES FROM (ulid_lower_bound('2026-01-01')) TO (ulid_lower_bound('2027-01-01'));
CREATE TABLE part_rest PARTITION OF part DEFAULT;
CREATE TABLE shared (id ulid PRIMARY KEY) PARTITION BY HASH (id);
SELECT format('CREATE TABLE shared_%s PARTITION OF shared FOR VALUES WITH (MODULUS 4, REMAINDER %s)', n, n) FROM generate_series(0, 3) AS n \gexec
CREATE TYPE pair AS (a ulid, w ulid_window);
CREATE TABLE composed (p pair, d tstzrange);
CREATE VIEW recent AS SELECT id, n FROM key WHERE id <@ tstzrange('2025-03-01 00:00+00', '2025-06-01 00:00+00');
CREATE MATERIALIZED VIEW days AS SELECT made::date AS day, count(*), min(id), max(id) FROM key GROUP BY 1;
INSERT INTO key (id, ids, n) SELECT id, ARRAY[id, NULL], n FROM (
    SELECT gen_ulid('2025-01-01 00:00+00'::timestamptz + n * interval '1 hour') AS id, n FROM generate_series(1, 10000) AS n) AS s;
INSERT INTO child SELECT id FROM key WHERE n <= 1000;
INSERT INTO part SELECT gen_ulid('2025-07-01 00:00+00'::timestamptz + n * interval '1 hour') FROM generate_series(1, 10000) AS n;
INSERT INTO shared SELECT id FROM key;
INSERT INTO composed SELECT ROW(id, tstzrange(made, NULL))::pair, tstzrange(NULL, made) FROM key WHERE n <= 100;
REFRESH MATERIALIZED VIEW days;
ANALYZE;
SQL
# a database that stays at the first release, without later additions
createdb first
run -d first -c "CREATE EXTENSION ulid VERSION '1.0.0'" -c 'CREATE TABLE key AS SELECT gen_ulid() AS id'
rows="SELECT id, ids, n, made FROM key ORDER BY id; SELECT * FROM child ORDER BY id; SELECT tableoid::regclass, id FROM part ORDER BY id;
  SELECT tableoid::regclass, id FROM shared ORDER BY id; SELECT * FROM composed ORDER BY (p).a; SELECT * FROM recent ORDER BY id; SELECT * FROM days ORDER BY day"
run -c "$rows" > before
[ "$(wc -l < before)" -gt 33000 ]
"$new/pg_dump" -Fc -f dump
checksums=$(run -c 'SHOW data_checksums')
BIN=$old stop_server old

if [ -n "$upgrade" ]; then
  # an empty cluster of the new version: with checksums, the default since 18, if the old one has them
  start_server new
  stop_server new
  rm -rf "$SERVERS/new/data"
  case $major-$checksums in
    1[3-7]-*) checksums="" ;;                # the default of both
    *-on) checksums=--data-checksums ;;
    *) checksums=--no-data-checksums ;;
  esac
  as_postgres "$new/initdb" -D "$SERVERS/new/data" -U postgres -A trust -E UTF8 --no-locale --no-sync $checksums > /dev/null
  sed -n '/^listen_addresses = /,$p' "$SERVERS/old/data/postgresql.conf" | sed "s#$SERVERS/old#$SERVERS/new#" >> "$SERVERS/new/data/postgresql.conf"
  server_directory "$SERVERS/work"
  (
    cd "$SERVERS/work"
    unset PGHOST PGPORT PGUSER PGDATABASE
    SERVERS=$SERVERS/work as_postgres "$new/pg_upgrade" -b "$old" -B "$new" -d "${SERVERS%/work}/old/data" -D "${SERVERS%/work}/new/data" \
      -U postgres -s "$SERVERS/work" > log
  ) || { find "$SERVERS" -name '*.log' -exec tail -n 20 {} +; exit 1; }
fi

start_server new
createdb restored
if [ -n "$upgrade" ]; then
  pg_restore --exit-on-error -d restored dump
else
  pg_restore -f - dump | sed '/ ALTER COLUMN .* SET (pg_attver=[0-9]*);$/d' | run -d restored > restored.log
fi
for database in "${databases[@]}"; do
  run -d "$database" -c "$rows" > after
  diff before after
done
echo "the rows are those that were there before ${upgrade:+pg_upgrade, and before }dump and restore"

# what the new server offers for uuid is added for ulid: by the next version, or through the recheck version
gained="SELECT string_agg(format('%s %s', amname, amprocnum), ', ' ORDER BY amname, amprocnum) FROM pg_amproc
  JOIN pg_opfamily AS f ON f.oid = amprocfamily JOIN pg_am AS am ON am.oid = opfmethod WHERE amproclefttype = "
if [ -n "$upgrade" ]; then
  run -d first -c 'ALTER EXTENSION ulid UPDATE'
  version=$(run -c "SELECT extversion FROM pg_extension WHERE extname = 'ulid'")
  run -c "ALTER EXTENSION ulid UPDATE TO '$version-recheck'" -c 'ALTER EXTENSION ulid UPDATE'
  databases+=(first)
fi
for database in "${databases[@]}"; do
  [ "$(run -d "$database" -c "$gained 'ulid'::regtype" | tee gained)" = "$(run -c "$gained 'uuid'::regtype")" ]
done
cat gained
[ -z "$upgrade" ] || unset 'databases[2]'    # first has no indexes

# Every index gives what the table has. The others are dropped, so that the planner takes it.
by_index() {
  run -d "$1" -v name="$2" << SQL > counts
SELECT format('SELECT count(*), bit_xor(hashtextextended(s::text, 0)) FROM (%s) AS s', \$\$$3\$\$) AS query \\gset
:query;
BEGIN;
ALTER TABLE child DROP CONSTRAINT child_id_fkey;
ALTER TABLE key DROP CONSTRAINT key_pkey;
SELECT format('DROP INDEX %s', indexrelid::regclass) FROM pg_index WHERE indrelid = 'key'::regclass AND indexrelid <> :'name'::regclass \\gexec
SET LOCAL enable_seqscan = off;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
:query;
EXPLAIN :query;
SQL
  if [ "$(sed -n 1p counts)" != "$(sed -n 2p counts)" ] || ! grep -q "$2" counts || [ "$(sed 's/|.*//; 1q' counts)" -lt 20 ]; then
    echo "the index $2 of the database $1:"
    cat counts
    exit 1
  fi
}
for database in "${databases[@]}"; do
  by_index "$database" key_hash "SELECT key.id FROM child JOIN key USING (id)"
  by_index "$database" key_brin "SELECT id FROM key WHERE id <@ tstzrange('2025-03-01 00:00+00', '2025-04-01 00:00+00')"
  by_index "$database" key_gin "SELECT k.id FROM child JOIN key AS k ON k.ids @> ARRAY[child.id::ulid]"
  by_index "$database" key_n_id "SELECT id FROM key WHERE n < 100"
  by_index "$database" key_made "SELECT id FROM key WHERE made < '2025-02-01 00:00+00'"
  by_index "$database" key_day "SELECT id FROM key WHERE date_trunc('day', ulid_extract_timestamp(id) AT TIME ZONE 'UTC') < '2025-02-01'"
  by_index "$database" key_window "SELECT id FROM key WHERE id <@ tstzrange('2025-03-01 00:00+00', '2025-06-01 00:00+00')"
  for index in $(run -d "$database" -c "SELECT relname FROM pg_class WHERE relname LIKE 'key_brin_%'"); do
    by_index "$database" "$index" "SELECT k.id FROM child JOIN key AS k ON k.id = child.id::ulid WHERE child.id::ulid <@ tstzrange('2025-01-01 00:00+00', '2025-01-03 00:00+00')"
  done
  # what is there already is found, and what is new goes where it belongs
  [ "$(run -d "$database" -c "INSERT INTO shared SELECT id FROM key ON CONFLICT DO NOTHING" -c "INSERT INTO key SELECT id FROM shared ON CONFLICT DO NOTHING" \
    -c "INSERT INTO part SELECT gen_ulid('2026-05-05')" -c "SELECT (SELECT count(*) FROM shared) + (SELECT count(*) FROM key), (SELECT count(*) FROM part)")" = '20000|10001' ]
  run -d "$database" -c "INSERT INTO key (n) VALUES (0)" -c "REFRESH MATERIALIZED VIEW days"
done

[ -e "$("$new/pg_config" --sharedir)/extension/amcheck.control" ] || { databases=() left_out+=(amcheck); }
for database in "${databases[@]}"; do
  run -d "$database" -c "CREATE EXTENSION amcheck"
  run -d "$database" << 'SQL' | tee checked
SELECT count(bt_index_parent_check(c.oid, true)) FROM pg_class AS c
WHERE relam = (SELECT oid FROM pg_am WHERE amname = 'btree') AND relkind = 'i' AND c.relnamespace = 'public'::regnamespace;
SELECT format('SELECT * FROM verify_heapam(%L)', oid::regclass) FROM pg_class
WHERE relkind IN ('r', 'm') AND relnamespace = 'public'::regnamespace AND to_regproc('verify_heapam') IS NOT NULL \gexec
SQL
  [ "$(cat checked)" = 13 ]
done

if [ ${#left_out[@]} != 0 ]; then
  printf -v list ', %s' "${left_out[@]}"
  echo "ran without${list#,}"
  exit 77
fi
