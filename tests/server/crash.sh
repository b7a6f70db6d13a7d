#!/usr/bin/env bash
# A server that is killed while eight clients write. After each recovery every acknowledged row is there, no id comes
# twice, the indexes agree with the table, and gen_ordered_ulid goes on. In the end a streaming standby and a logical
# subscriber are equal to the server, and the standby takes over. ROUNDS (5) is how often the server is killed; `make
# crash` does it more often.
set -euo pipefail
# shellcheck source=scripts/server.sh
. "$ROOT/scripts/server.sh"
rounds=${ROUNDS:-5}
left_out=()

run() {
  psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"
}

# Fail with the expectation as message unless a query returns t.
holds() {
  [ "$(run -c "$2")" = t ] || { echo "does not hold: $1"; exit 1; }
}

# Run a command until it succeeds.
await() {
  local tries=0
  until "$@"; do
    ((++tries < 2400)) || { echo "never came: $*"; exit 1; }
    read -r -t 0.05 <> <(:) || true          # between two looks, not instead of one
  done
}

query_gives() {
  [ "$(run -c "$1" 2> /dev/null)" = "$2" ]
}

# The server that the commands after this one are for.
at() {
  export PGHOST=$SERVERS/$1
}

kill_postmaster() {
  kill -KILL "$(head -n 1 "$SERVERS/$1/data/postmaster.pid")"
}

# Start a server that was killed. It refuses as long as a process of the killed one is left.
start_killed() {
  await start_server "$1" > /dev/null 2>&1
}

#
# Eight clients
#

# An endless script for psql. A row that psql prints is acknowledged, as the end of a result is sent after the commit.
statements() {
  local new="INSERT INTO event (writer, id) SELECT '$1',"
  case $1 in
    ulid)        yes "INSERT INTO event (writer) VALUES ('$1') RETURNING id;" ;;
    monotonic)   yes "$new gen_monotonic_ulid() FROM generate_series(1, 3) RETURNING id;" ;;
    ordered)     yes "$new gen_ordered_ulid() RETURNING id;" ;;
    ordered_too) yes "$new gen_ordered_ulid() FROM generate_series(1, 5) RETURNING id;" ;;
    uuid_v7)     yes "$new gen_uuid_v7() RETURNING id;" ;;
    updated)     # one transaction: an older row is changed, with new entries in all indexes, and one is added
      yes "UPDATE event SET changes = changes + 1 WHERE id = (SELECT max(id) FROM event WHERE writer = '$1') \\; $new gen_ulid() RETURNING id;" ;;
    given | copied)
      perl -MTime::HiRes=time -e '
        my @digits = (0 .. 9, grep { !/[ILOU]/ } "A" .. "Z");
        sub id {
            my ($ms, $id) = (int(time * 1000), "");
            for (1 .. 10) { $id = $digits[$ms & 31] . $id; $ms >>= 5 }
            return $id . join "", map { $digits[rand 32] } 1 .. 16;
        }
        while (1) {
            if ($ARGV[0] eq "given") { printf "INSERT INTO event (writer, id) VALUES (\x27given\x27, \x27%s\x27) RETURNING id;\n", id(); next }
            my @ids = map { id() } 1 .. 20;
            print "COPY event (writer, id) FROM stdin;\n", map({ "copied\t$_\n" } @ids), "\\.\n\\echo @ids\n";
        }' "$1" ;;
  esac
}
writers=(ulid monotonic ordered ordered_too uuid_v7 updated given copied)

# Start the writers. Each ends with its connection.
start_writers() {
  local writer
  pids=()
  for writer in "${writers[@]}"; do
    : > "noted.$writer"
    (statements "$writer" 2> /dev/null | PGAPPNAME=writer run > "noted.$writer" 2> "error.$writer") &
    pids+=($!)
  done
}

# Whether every writer has noted $1 ids.
all_noted() {
  local writer
  for writer in "${writers[@]}"; do
    [ "$(wc -w < "noted.$writer")" -ge "$1" ] || return 1
  done
}

# Wait until the writers have ended, and add what they noted to the file "acknowledged". An error other than $1 is one.
end_writers() {
  local writer
  wait "${pids[@]}" || true
  if grep 'ERROR:' "${writers[@]/#/error.}" | grep -v "${1:-none is expected}"; then exit 1; fi
  for writer in "${writers[@]}"; do
    tr ' ' '\n' < "noted.$writer" > "round.$writer"
    case $writer in
      ordered*)                              # increasing, also from round to round
        cat "round.$writer" >> "all.$writer"
        sort -c "all.$writer"
        ;;
      monotonic) sort -c "round.$writer" ;;
    esac
  done
  sort "${writers[@]/#/round.}" | sort -m -o acknowledged acknowledged -
}

# Start the writers, do to the server what the arguments say as soon as each has noted some ids, and wait until they
# have ended.
while_writing() {
  start_writers
  await all_noted $((20 + RANDOM % 100))
  "$@"
  end_writers
}

#
# Checks
#

create_table() {
  run << 'SQL'
CREATE EXTENSION ulid;
CREATE TABLE event (
    id ulid PRIMARY KEY DEFAULT gen_ulid(),
    writer text,
    changes int DEFAULT 0,
    made timestamptz GENERATED ALWAYS AS (ulid_extract_timestamp(id)) STORED
);
CREATE INDEX event_writer ON event (writer, id, changes);
CREATE INDEX event_made ON event (made);
CREATE INDEX event_window ON event (id) WHERE id <@ tstzrange('2020-01-01 00:00+00', '2100-01-01 00:00+00');
CREATE INDEX event_hash ON event USING hash (id);
CREATE INDEX event_brin ON event USING brin (id);
SQL
}

# Compare the acknowledged ids with the stored ones, and the btree indexes with the table, by the function $1 of amcheck.
check() {
  run -c "COPY (SELECT id FROM event) TO STDOUT" | sort > stored
  uniq -d stored > twice
  uniq -d acknowledged >> twice
  comm -23 acknowledged stored > missing
  diff /dev/null twice
  diff /dev/null missing
  if [ -n "$amcheck" ]; then
    run -c "SELECT $1(indexrelid, true) FROM pg_index JOIN pg_class ON oid = indexrelid
            WHERE indrelid = 'event'::regclass AND relam = (SELECT oid FROM pg_am WHERE amname = 'btree')" > checked
    [ "$(wc -l < checked)" = 4 ]
  fi
  if [ -n "$verify_heapam" ]; then run -c "SELECT * FROM verify_heapam('event')" | diff /dev/null -; fi
  holds "gen_ordered_ulid goes on" "SELECT gen_ordered_ulid() > max(id) FROM event WHERE writer LIKE 'ordered%'"
}

# Compare the hash and the BRIN index with the table: without the others the planner takes them.
check_other_indexes() {
  run << 'SQL' > other
SELECT count(*) FROM event;
BEGIN;
CREATE TEMP TABLE sample ON COMMIT DROP AS SELECT id FROM event ORDER BY random() LIMIT 2000;
ALTER TABLE event DROP CONSTRAINT event_pkey;
DROP INDEX event_writer, event_made, event_window;
SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
SELECT count(*) FROM event WHERE id <@ tstzrange('2020-01-01', NULL);
SELECT (SELECT count(*) FROM sample) - count(*) FROM sample JOIN event USING (id);
EXPLAIN SELECT FROM event WHERE id <@ tstzrange('2020-01-01', NULL);
EXPLAIN SELECT FROM sample JOIN event USING (id);
ROLLBACK;
SQL
  mapfile -t counts < other
  if [ "${counts[0]}" != "${counts[1]}" ] || [ "${counts[2]}" != 0 ] || ! grep -q event_hash other || ! grep -q event_brin other; then
    cat other
    exit 1
  fi
}

# The table as bytes.
content() {
  run -c "COPY (SELECT * FROM event ORDER BY id) TO STDOUT (FORMAT binary)"
}

# Whether the server crashed by itself.
check_log() {
  if grep -E 'TRAP:|PANIC:|terminated by signal ([0-8]|1[0-9])\b' "$SERVERS/$1/log"; then exit 1; fi
}

#
# The server, its standby and its subscriber
#

start_server primary "wal_level = logical" "max_wal_size = 64MB" "checkpoint_timeout = 30s"
create_table
amcheck="" verify_heapam=""
if [ -e "$("$BIN/pg_config" --sharedir)/extension/amcheck.control" ]; then
  run -c "CREATE EXTENSION amcheck"
  amcheck=yes
  [ "$(run -c "SHOW server_version_num")" -lt 140000 ] || verify_heapam=yes
else
  left_out+=(amcheck)
fi
run -c "CREATE PUBLICATION event FOR TABLE event"
as_postgres "$BIN/pg_basebackup" -h "$PGHOST" -U postgres -D "$SERVERS/standby_data" -R -C -S standby --no-sync -c fast
server_directory "$SERVERS/standby"
as_postgres mv "$SERVERS/standby_data" "$SERVERS/standby/data"
start_server standby "unix_socket_directories = '$SERVERS/standby'"
start_server subscriber
create_table
run -c "CREATE SUBSCRIPTION event CONNECTION 'host=$SERVERS/primary user=postgres dbname=postgres' PUBLICATION event" 2> /dev/null
# before its first copy is complete it stores nothing else, and each kill would interrupt that copy
await query_gives "SELECT srsubstate FROM pg_subscription_rel" r

: > acknowledged
for ((round = 1; round <= rounds; round++)); do
  at primary
  kind=$((round % 4))
  case $kind in
    1)
      while_writing kill_postmaster primary
      start_killed primary
      ;;
    2)                                       # the postmaster ends the other sessions, and recovers
      kill_backend() { kill -KILL "$(run -c "SELECT pid FROM pg_stat_activity WHERE application_name = 'writer' ORDER BY random() LIMIT 1")"; }
      while_writing kill_backend
      await query_gives "SELECT 1" 1
      ;;
    3)
      while_writing stop_server primary immediate
      start_server primary
      ;;
    0)                                       # all three servers
      kill_all() { kill_postmaster standby; kill_postmaster subscriber; kill_postmaster primary; }
      while_writing kill_all
      start_killed subscriber
      start_killed standby
      start_killed primary
      ;;
  esac
  check bt_index_parent_check
  check_other_indexes
  kinds=("all servers killed" "postmaster killed" "backend killed" "stopped immediately")
  echo "round $round, ${kinds[kind]}: $(wc -l < acknowledged) rows acknowledged, $(wc -l < stored) stored"
done

echo "the standby and the subscriber are equal"
at primary
content > primary.content
written=$(run -c "SELECT pg_current_wal_lsn()")
await query_gives "SELECT bool_and(confirmed_flush_lsn >= '$written') FROM pg_replication_slots WHERE slot_type = 'logical'" t
at subscriber
content | cmp - primary.content
check_other_indexes
at standby
await query_gives "SELECT pg_last_wal_replay_lsn() >= '$written'" t
content | cmp - primary.content
check bt_index_check

echo "the server is killed and the standby, which is synchronous now, takes over"
at primary
stop_server primary
start_server primary "synchronous_standby_names = 'walreceiver'"
await query_gives "SELECT sync_state FROM pg_stat_replication WHERE application_name = 'walreceiver'" sync
while_writing kill_postmaster primary
at standby
[ "$(run -c "SELECT pg_promote()")" = t ]
check_log primary
rm -rf "$SERVERS/primary"
check bt_index_parent_check
check_other_indexes
stop_server subscriber
while_writing stop_server standby            # which is a server like another
start_server standby
check bt_index_parent_check
check_log standby
check_log subscriber
stop_server standby
echo "$rounds rounds: $(wc -l < acknowledged) rows acknowledged, none missing; $(wc -l < stored) stored, none twice"

#
# A full disk
#

volume=$SERVERS/volume
mkdir "$volume"
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=200m,mode=777 ulid_test "$volume" 2> error; then
  trap '(SERVERS=$volume; stop_server full immediate > /dev/null 2>&1); umount "$volume" || umount -l "$volume"' EXIT
  echo "a server whose disk is full"
  rm -f all.* && : > acknowledged
  SERVERS=$volume start_server full "max_wal_size = 64MB"
  create_table
  [ -z "$amcheck" ] || run -c "CREATE EXTENSION amcheck"
  # all but a few megabytes
  head -c "$(($(df --output=avail -k "$volume" | tail -n 1) - 16384))K" /dev/zero > "$volume/ballast"
  start_writers
  end_writers 'No space left on device'
  cat error.* | grep -o '[^:]*: No space left on device' | sort | uniq -c
  rm "$volume/ballast"
  SERVERS=$volume stop_server full immediate 2> /dev/null || true  # as far as it did not end by itself
  SERVERS=$volume start_killed full
  check bt_index_parent_check
  check_other_indexes
  echo "$(wc -l < acknowledged) rows acknowledged, none missing"
else
  left_out+=("a full disk, as no file system can be mounted")
fi

if [ ${#left_out[@]} != 0 ]; then
  printf -v list ', %s' "${left_out[@]}"
  echo "ran without${list#,}"
  exit 77
fi
