#!/usr/bin/env bash
# pg_upgrade from the newest older server that is available: keys, indexes, arrays, partitions and data are all kept.
set -euo pipefail
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"
new=$BIN
major=$("$new/postgres" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
old=""
for candidate in 18 17 16 15 14 13; do
  # with the extension, and with the contrib module that the checks need
  [ "$candidate" -lt "$major" ] && [ -e "$WORK/$candidate/bin/postgres" ] || continue
  candidate=$(readlink -f "$WORK/$candidate/bin")
  [ -e "$("$candidate/pg_config" --pkglibdir)/ulid.so" ] && [ -e "$("$candidate/pg_config" --pkglibdir)/amcheck.so" ] || continue
  BIN=$candidate start_server old
  # Debian's 15.20 gives every column of every table an option that no other server can read, so nothing can be upgraded
  options=$(psql -A -t -q -c 'CREATE TEMP TABLE plain (n int); SELECT attoptions FROM pg_attribute WHERE attrelid = $$plain$$::regclass AND attnum = 1')
  if [ -z "$options" ]; then
    old=$candidate
    break
  fi
  "$candidate/postgres" --version
  echo "cannot be upgraded: it gives a plain column the option $options"
  BIN=$candidate stop_server old
  rm -rf "$SERVERS/old"
done
[ -n "$old" ] && [ -e "$("$new/pg_config" --pkglibdir)/amcheck.so" ] || { echo "skipped: no older server that can be upgraded"; exit 77; }
"$old/postgres" --version
"$new/postgres" --version

psql -q -v ON_ERROR_STOP=1 << 'SQL'
CREATE EXTENSION ulid;
CREATE EXTENSION amcheck;
CREATE TABLE key (id ulid PRIMARY KEY DEFAULT gen_ulid(), ids ulid[], n int);
CREATE INDEX key_hash ON key USING hash (id);
CREATE INDEX key_n_id ON key (n, id);
CREATE TABLE part (id ulid PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE part_2026 PARTITION OF part FOR VALUES FROM (ulid_lower_bound('2026-01-01')) TO (ulid_lower_bound('2027-01-01'));
CREATE TABLE part_rest PARTITION OF part DEFAULT;
INSERT INTO key (ids, n) SELECT ARRAY[gen_ulid(), NULL], n % 10 FROM generate_series(1, 10000) AS n;
INSERT INTO part SELECT gen_ulid('2025-07-01'::timestamptz + n * interval '1 hour') FROM generate_series(1, 10000) AS n;
SQL
# a database that stays at the first release, without later additions
createdb first
psql -q -d first -v ON_ERROR_STOP=1 -c "CREATE EXTENSION ulid VERSION '1.0.0'" -c 'CREATE TABLE key AS SELECT gen_ulid() AS id'
rows="SELECT id, ids FROM key ORDER BY id; SELECT tableoid::regclass, id FROM part ORDER BY id"
psql -A -t -c "$rows" > before
checksums=$(psql -A -t -c 'SHOW data_checksums')
BIN=$old stop_server old

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
cat "$SERVERS/old/data/postgresql.conf" | sed -n '/^listen_addresses = /,$p' | sed "s#$SERVERS/old#$SERVERS/new#" >> "$SERVERS/new/data/postgresql.conf"
server_directory "$SERVERS/work"
(
  cd "$SERVERS/work"
  unset PGHOST PGPORT PGUSER PGDATABASE
  SERVERS=$SERVERS/work as_postgres "$new/pg_upgrade" -b "$old" -B "$new" -d "${SERVERS%/work}/old/data" -D "${SERVERS%/work}/new/data" \
    -U postgres -s "$SERVERS/work"
) || { find "$SERVERS" -name '*.log' -exec tail -n 20 {} +; exit 1; }

start_server new
psql -A -t -c "$rows" > after
diff before after
psql -q -v ON_ERROR_STOP=1 -c 'ALTER EXTENSION amcheck UPDATE'

# what the new server offers for uuid is added for ulid: by the next version, or through the recheck version
gained="SELECT string_agg(format('%s %s', amname, amprocnum), ', ' ORDER BY amname, amprocnum) FROM pg_amproc
  JOIN pg_opfamily AS f ON f.oid = amprocfamily JOIN pg_am AS am ON am.oid = opfmethod WHERE amproclefttype = "
psql -q -d first -v ON_ERROR_STOP=1 -c 'ALTER EXTENSION ulid UPDATE'
version=$(psql -A -t -c "SELECT extversion FROM pg_extension WHERE extname = 'ulid'")
psql -q -v ON_ERROR_STOP=1 -c "ALTER EXTENSION ulid UPDATE TO '$version-recheck'" -c 'ALTER EXTENSION ulid UPDATE'
for database in first postgres; do
  [ "$(psql -A -t -d "$database" -c "$gained 'ulid'::regtype" | tee gained)" = "$(psql -A -t -c "$gained 'uuid'::regtype")" ]
done
cat gained
psql -A -t -v ON_ERROR_STOP=1 << 'SQL' | tee result
SELECT count(bt_index_parent_check(c.oid, true)) FROM pg_class AS c JOIN pg_index ON indexrelid = c.oid
WHERE relam = (SELECT oid FROM pg_am WHERE amname = 'btree') AND relkind = 'i' AND c.relnamespace = 'public'::regnamespace;
SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_seqscan = on;
SELECT id AS some FROM key LIMIT 1 OFFSET 77 \gset
SET enable_indexscan = on; SET enable_bitmapscan = on; SET enable_seqscan = off;
SELECT count(*) FROM key WHERE id = :'some';
DROP INDEX key_n_id;
ALTER TABLE key DROP CONSTRAINT key_pkey;
SELECT count(*) FROM key WHERE id = :'some';
INSERT INTO key DEFAULT VALUES;
SQL
grep -qx 4 result
[ "$(grep -cx 1 result)" = 2 ]
