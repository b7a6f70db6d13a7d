#!/usr/bin/env bash
# Measure the Rust code, then compare kinds of ids in a private server: a short run, or a long one
# with FULL=1. With arguments, only benches/sql.pl runs, with these; FSYNC=on lets commits wait for
# the disk. With POLLING=1, only benches/polling.py runs, which FULL=1 runs, too: what people pick
# to read an outbox, with fsync on (POLLING="--seconds 30 --rounds 5": 70 minutes).
# shellcheck source=scripts/lib/setup.sh
. "$(dirname "$0")/lib/setup.sh"

major=${PG:-$(default_major)}
results=target/bench

# Compare ways to read an outbox, in a server of their own.
polling() {
  local venv=$results/venv options=""
  prepare_tools python3-venv
  [ -x $venv/bin/python ] || { python3 -m venv $venv && $venv/bin/pip --quiet install psycopg==3.3.9 psycopg-binary==3.3.9; }
  [[ ${POLLING:-1} = 1 ]] || options=$POLLING
  if is_own "$major" && offer_packages "postgresql-$major-pgq3" && are_installed "postgresql-$major-pgq3"; then
    offer_packages pgqd
    cp "/usr/share/postgresql/$major/extension/pgq"* "$("$BIN/pg_config" --sharedir)/extension"
    cp "/usr/lib/postgresql/$major/lib/pgq_"*.so "$("$BIN/pg_config" --pkglibdir)"
  fi
  start_server polling "fsync = on" "wal_level = logical" "max_replication_slots = 30" "max_wal_senders = 30"
  # shellcheck disable=SC2086
  $venv/bin/python benches/polling.py $options --picture "$results/polling$major.svg" \
    > "$results/polling$major.tsv" 2> "$results/polling$major.medians"
  cat "$results/polling$major.medians"
}
[ -n "${FULL:-}${POLLING:-}" ] || [ $# != 0 ] || say "the short form; FULL=1 measures 10 and 100 million rows as well: two hours, 25 GB"
offer_packages gnuplot-nox
prepare_rust
[ $# != 0 ] || [ -n "${POLLING:-}" ] || cargo bench --package pg_ulid --bench pg_ulid
mkdir -p $results
prepare_postgres "$major"
install_extension
open_servers
PATH=$BIN:$PATH
if [ -n "${POLLING:-}" ]; then
  polling
  exit
fi
# The default settings, except for fsync, since the disk is not to be measured, and for settings
# that would interfere.
start_server bench "shared_buffers = 128MB" "autovacuum = off" "max_wal_size = 1GB" "checkpoint_timeout = 30min" \
  "fsync = ${FSYNC:-off}"
perl benches/sql.pl ${FULL:+--full} "$@" "$results/pg$major.tsv"
if [ $# = 0 ]; then
  start_server ulid_sql "max_prepared_transactions = 200" "autovacuum = off"
  psql -X -q -v ulid_sql=sql/ulid_sql.sql -f benches/sql/ulid_sql.sql
  ulimit -n "$(ulimit -H -n)"
  for sessions in 100 2000; do
    start_server "$sessions" "max_connections = $((sessions + 10))" "max_files_per_process = 7000"
    psql -XAtq -F $'\t' -v sessions=$sessions -f benches/sql/backends.sql >> "$results/pg$major.tsv"
  done
  perl benches/sql.pl --report "$results/pg$major.tsv"
  [ -z "${FULL:-}" ] || polling
fi
say "the results are in $results/pg$major.tsv, their medians in pg$major.medians, and with gnuplot a picture in pg$major.svg"
