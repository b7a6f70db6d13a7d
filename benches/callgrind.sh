#!/usr/bin/env bash
# How many instructions a call of each function takes, by callgrind: benches/callgrind.sh (PG=NN).
# It counts from the C symbol on, with all that it calls, in a server in single-user mode. Unlike
# times, the figures are the same on a busy machine. What a session does once is in them, divided by
# the number of calls.
# shellcheck source=scripts/lib/setup.sh
. "$(dirname "$0")/../scripts/lib/setup.sh"

calls=20000
# symbol, and a call of it; id and uuid are columns, n is a number
functions='gen_ulid gen_ulid()
gen_ulid_at gen_ulid(at)
gen_monotonic_ulid gen_monotonic_ulid()
gen_ordered_ulid gen_ordered_ulid()
gen_ordered_uuid_v7 gen_ordered_uuid_v7()
gen_uuid_v7 gen_uuid_v7()
gen_uuid_v7_at gen_uuid_v7(at)
ulid_in (text)::ulid
ulid_out id::text
ulid_from_text ulid_from_text(text)
ulid_to_text ulid_to_text(id)
ulid_is_valid ulid_is_valid(text)
ulid_smaller min(id)
ulid_larger max(id)
ulid_contained_by_range id <@ range
ulid_starts_with ulid_starts_with(id, prefix)
ulid_lower_bound ulid_lower_bound(at)
ulid_upper_bound ulid_upper_bound(at)
ulid_extract_timestamp ulid_extract_timestamp(id)
ulid_extract_unix_ms ulid_extract_unix_ms(id)
ulid_extract_randomness ulid_extract_randomness(id)
ulid_to_uuid_v7 ulid_to_uuid_v7(id)
ulid_to_typeid ulid_to_typeid(prefix_of_type, id)
ulid_from_typeid ulid_from_typeid(typeid)
ulid_from_snowflake ulid_from_snowflake(n, at)
ulid_ordered_time ulid_ordered_time()'

major=${PG:-$(default_major)}
offer_packages valgrind
prepare_rust
prepare_postgres "$major"
install_extension
open_servers
directory=$SERVERS/callgrind
server_directory "$directory"
as_postgres "$BIN/initdb" -D "$directory/data" -A trust --no-locale -E UTF8 > /dev/null
single=("$BIN/postgres" --single -D "$directory/data" -c fsync=off -c jit=off
  -c log_checkpoints=off postgres)
as_postgres "${single[@]}" > /dev/null << 'END'
CREATE EXTENSION ulid;
CREATE TABLE called AS SELECT n::bigint, now() AS at, gen_ulid(now()) AS id, gen_random_uuid() AS uuid, gen_ulid()::text AS text, ulid_to_typeid('user', gen_ulid()) AS typeid, '01'::text AS prefix, 'user'::text AS prefix_of_type, tstzrange(now() - interval '1 day', now()) AS range FROM generate_series(1, 100) AS n;
END
while read -r _ call; do
  echo "SELECT count($call) FROM called, generate_series(1, $calls / 100);"
done <<< "$functions" |
  sed 's/count(\(min\|max\)(id))/\1(id)/' |
  as_postgres valgrind --quiet --tool=callgrind --callgrind-out-file="$directory/out" "${single[@]}" > /dev/null
echo "instructions per call, PostgreSQL $major"
as_postgres callgrind_annotate --inclusive=yes --threshold=100 "$directory/out" |
  awk -v calls=$calls -v symbols="$(cut -d ' ' -f 1 <<< "$functions")" '
    BEGIN { split(symbols, list, "\n"); for (n in list) is_listed[list[n]] = 1 }
    { name = $0; sub(/ \[.*/, "", name); sub(/.*:/, "", name) }
    name in is_listed { gsub(/,/, "", $1); printf "%-24s %8.1f\n", name, $1 / calls }' | sort
