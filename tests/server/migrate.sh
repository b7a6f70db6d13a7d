#!/usr/bin/env bash
# uuid to ulid without a rebuild, using the blocks of docs/migrating/uuid.md: while a step holds its locks, other sessions
# read and write. They wait only for the last transaction, and continue when it has ended. No step is judged by its
# duration: each is stopped while it holds its locks, and a session that cannot continue then would wait until
# lock_timeout expires.
set -euo pipefail

# Print SQL block number $2 below the heading $1 of the guide, counting those that readers do not see.
block() {
  awk -v heading="$1" -v number="$2" '
    /^#/ { here = $0 == heading }
    /^(```|-->$)/ && inside { inside = 0; next }
    here && /^(```|<!-- )sql$/ { n++; inside = 1; next }
    inside && n == number' "$ROOT/docs/migrating/uuid.md"
}

# Start a session $1 that runs the commands sent to it.
declare -A input
session() {
  local fd
  mkfifo "$1.in"
  PGAPPNAME=$1 psql -X -q -A -t -v ON_ERROR_STOP=1 -f "$1.in" > "$1.out" 2>&1 &
  exec {fd}> "$1.in"
  input[$1]=$fd
}
tell() {
  printf '%s\n' "$2" >&"${input[$1]}"
}
# Check again in a moment. The limit of five minutes asserts nothing, but a test that hangs reports nothing.
again() {
  sleep 0.02
  ((++tries < 15000)) || { echo "nothing happens: $*"; tail ./*.out; exit 1; }
}
# Wait until the session has finished its commands.
done_by() {
  local mark tries=0
  mark=$PWD/$1.$((++marks))
  tell "$1" "\\! touch $mark"
  until [ -e "$mark" ]; do
    if grep -q '^psql:.*ERROR' "$1.out"; then
      cat "$1.out"
      return 1
    fi
    again "$1"
  done
}
# Wait until a query returns true.
await() {
  local tries=0
  until [ "$(psql -X -A -t -c "$1")" = t ]; do again "$1"; done
}
await_phase() {
  await "SELECT EXISTS (SELECT FROM pg_stat_progress_create_index WHERE phase = '$1')"
  echo "step stopped: $1"
}
# Read and write both tables in every way.
others_work() {
  PGOPTIONS='-c lock_timeout=10s' psql -X -q -A -t -v ON_ERROR_STOP=1 << 'SQL'
SELECT count(*) FROM posting JOIN account ON account_id = account.id WHERE name = 'account 1';
BEGIN;
INSERT INTO account (name) VALUES ('new') RETURNING id AS new_id
\gset
INSERT INTO posting (id, account_id, amount) VALUES (gen_random_uuid(), :'new_id', 1);
UPDATE posting SET amount = 2 WHERE account_id = :'new_id';
SELECT name FROM account WHERE id = :'new_id' FOR UPDATE;
DELETE FROM posting WHERE account_id = :'new_id';
DELETE FROM account WHERE id = :'new_id';
COMMIT;
SQL
}

marks=0
session migration
tell migration "$(block '# From uuid' 1 | sed "/watch/d; s/^\\\\set rows .*/\\\\set rows ${ROWS:-1000000}/")"
done_by migration
others_work

# The indexes: stopped by other transactions at each of the points where a build waits for them.
for other in before_build before_validation snapshot prepared; do session "$other"; done
tell before_build "BEGIN; UPDATE account SET name = name WHERE name = 'account 2';"
done_by before_build
tell migration "$(block '### 1. Build the indexes' 1)"
await_phase 'waiting for writers before build'
others_work
tell before_validation "BEGIN; UPDATE account SET name = name WHERE name = 'account 3';"
done_by before_validation
tell before_build 'COMMIT;'
await_phase 'waiting for writers before validation'
others_work
tell snapshot 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM account WHERE false;'
done_by snapshot
tell before_validation 'COMMIT;'
await_phase 'waiting for old snapshots'
others_work
tell snapshot 'COMMIT;'
done_by migration
[ "$(psql -X -A -t -c "SELECT count(*) FROM pg_index WHERE indisvalid AND indexrelid::regclass::text LIKE '%\_ulid'")" = 3 ]
kept="SELECT string_agg(relname || pg_relation_filenode(oid), ' ' ORDER BY pg_relation_filenode(oid))
  FROM pg_class WHERE relname IN ('account', 'posting', 'account_id_ulid', 'account_name_id_ulid', 'posting_account_id_ulid')"
psql -X -A -t -c "$kept" > files

# The last transaction gives up if it does not get its locks, and nothing is changed.
tell before_build "BEGIN; UPDATE account SET name = name WHERE name = 'account 2';"
done_by before_build
if block '### 2. Convert the columns' 1 | psql -X -q -v ON_ERROR_STOP=1 2> refused; then exit 1; fi
cat refused
grep -q 'canceling statement due to lock timeout' refused
others_work
tell before_build 'COMMIT;'
done_by before_build

# It gets them, and stops before its COMMIT: readers and writers wait for it, and for nobody else.
tell prepared "PREPARE ids AS SELECT id FROM account LIMIT 1; EXECUTE ids;"
done_by prepared
tell migration "$(block '### 2. Convert the columns' 1 | sed '/^COMMIT/d')"
done_by migration
for other in reader writer; do session "$other"; done
tell reader "SELECT 'read', name FROM account WHERE name = 'account 1';"
tell writer "INSERT INTO account (name) VALUES ('written') RETURNING name, pg_typeof(id);"
await "SELECT count(*) = 2 AND bool_and(pg_blocking_pids(pid) = ARRAY(SELECT pid FROM pg_stat_activity WHERE application_name = 'migration'))
  FROM pg_stat_activity WHERE application_name IN ('reader', 'writer') AND wait_event_type = 'Lock'"
echo 'step stopped: before COMMIT; a reader and a writer wait for it'
tell migration 'COMMIT;'
done_by migration
done_by reader
done_by writer
cat reader.out writer.out | tee waited
diff - waited << 'END'
read|account 1
written|ulid
END
# a statement prepared before
tell prepared '\set ON_ERROR_STOP 0'
tell prepared 'EXECUTE ids;'
tell prepared 'DEALLOCATE ids; PREPARE ids AS SELECT count(id) > 0 FROM account; EXECUTE ids;'
tell prepared '\! touch prepared.again'
tries=0
until [ -e prepared.again ]; do again prepared; done
tail -n 1 prepared.out | grep -qx t
grep 'cached plan must not change result type' prepared.out

# The foreign key, before the COMMIT of its validation.
tell migration "$(block '### 3. Validate the foreign keys' 1 | sed '/^COMMIT/d')"
done_by migration
others_work
tell migration 'COMMIT;'
done_by migration
psql -X -A -t -v ON_ERROR_STOP=1 << SQL | tee result
SELECT convalidated FROM pg_constraint WHERE conname = 'posting_account_id_fkey';
SELECT count(DISTINCT account_id) = ${ROWS:-1000000} FROM posting JOIN account ON account_id = account.id;
SELECT string_agg(relname || pg_relation_filenode(oid), ' ' ORDER BY pg_relation_filenode(oid)) = replace(replace(replace('$(cat files)',
  'account_id_ulid', 'account_pkey'), 'posting_account_pkey', 'posting_account_id_idx'), 'name_id_ulid', 'name_id_idx')
FROM pg_class WHERE relname IN ('account', 'posting', 'account_pkey', 'account_name_id_idx', 'posting_account_id_idx');
SQL
diff - result << 'END'
t
t
t
END
for other in "${!input[@]}"; do
  fd=${input[$other]}
  exec {fd}>&-
done
wait
