#!/usr/bin/env bash
# Databases that are not UTF-8: an invalid ULID is rejected as in any other, quoted unchanged, and nothing breaks.
set -euo pipefail
# Compare the error report in a database with encoding $1, for a text of the bytes $2 (printf), with $3. The text is
# read as a ulid, or passed to the function $4.
refused() {
  local encoding=$1 text=$2 expected=$3 function=${4:-ulid} database=encoding_${1,,}
  createdb -E "$encoding" -l C -T template0 "$database" 2> created || grep -q 'already exists' created
  psql -q -d "$database" -c 'CREATE EXTENSION IF NOT EXISTS ulid' 2> created
  # shellcheck disable=SC2059
  printf "\\\\set VERBOSITY verbose\nSELECT $function('$text');\nSELECT ulid_is_valid('$text');\n" > query
  PGCLIENTENCODING=$encoding psql -A -t -d "$database" -f query > result 2>&1 || true
  # shellcheck disable=SC2059
  printf "$expected" > expected
  grep -a -v "^ERROR" result | tail -n 1 | grep -qx f
  if ! LC_ALL=C grep -q -a -F -f expected result; then
    cat -v result
    return 1
  fi
}
refused LATIN1 '01ARYZ6S41TSV4RRFFQ69G5FA\xe9' 'DETAIL:  Character "\xe9" at position 26 is not in Crockford'
refused LATIN1 '01ARYZ6S41TSV4RRFFQ69G5FA\xe9' 'ERROR:  22P02: invalid input syntax for type ulid: "01ARYZ6S41TSV4RRFFQ69G5FA\xe9"'
refused SQL_ASCII '\xff\xfe' 'DETAIL:  Character "\xff" at position 1 is not in Crockford'
refused SQL_ASCII '01ARYZ6S41TSV4RRFFQ69G5F\xc3\xa9' 'DETAIL:  Character "\xc3" at position 25 is not in Crockford'
refused EUC_JP '01ARYZ6S41TSV4RRFFQ69G5F\xa4\xa2' 'DETAIL:  Character "\xa4\xa2" at position 25 is not in Crockford'
refused UTF8 '01ARYZ6S41TSV4RRFFQ69G5\xe2\x82\xac' 'DETAIL:  Character "\xe2\x82\xac" at position 24 is not in Crockford'
# the uuid format, and a text that is too long
refused LATIN1 '01563df3-6481-d676-4c61-efb99302bd5\xe9' 'DETAIL:  Character "\xe9" at position 36 is not a hexadecimal digit'
refused UTF8 '\xe2\x82\xac01ARYZ6S41TSV4RRFFQ69G5FAV' 'DETAIL:  Character "\xe2\x82\xac" at position 1 is not in Crockford'
# a prefix, and a TypeID
refused EUC_JP '01ARYZ6S4\xa4\xa2' 'DETAIL:  Character "\xa4\xa2" at position 10 is not in Crockford' ulid_prefix_lower
refused LATIN1 '01\xe9' 'ERROR:  22P02: invalid prefix of a ulid: "01\xe9"' ulid_prefix_upper
refused LATIN1 'us\xe9r_01h455vb4pex5vsknk084sn02q' 'ERROR:  22P02: invalid TypeID: "us\xe9r_01h455vb4pex5vsknk084sn02q"' ulid_from_typeid
refused LATIN1 'us\xe9r_01h455vb4pex5vsknk084sn02q' 'DETAIL:  Character "\xe9" at position 3 is not a lower-case letter' ulid_from_typeid
refused EUC_JP 'user_01h455vb4pex5vsknk084sn02\xa4\xa2' 'DETAIL:  Character "\xa4\xa2" at position 31 is not in Crockford' typeid_prefix

# an error that a function raises while the planner evaluates a window is reported unchanged
raised() {
  local encoding=$1 text=$2
  # shellcheck disable=SC2059
  printf "CREATE FUNCTION window_of() RETURNS tstzrange LANGUAGE plpgsql STABLE AS \$\$ BEGIN RAISE EXCEPTION '%b'; END \$\$;
EXPLAIN SELECT FROM (VALUES (gen_ulid())) AS v (id) WHERE id <@ window_of();
EXPLAIN SELECT FROM kept WHERE id <@ window_of();\n" "$text" > query
  psql -q -d "encoding_${encoding,,}" -c 'CREATE TABLE kept (id ulid)'
  PGCLIENTENCODING=$encoding psql -A -t -d "encoding_${encoding,,}" -f query > result 2>&1 || true
  printf 'ERROR:  %b\n' "$text" > expected
  if ! LC_ALL=C grep -q -a -F -f expected result || LC_ALL=C grep -q -a 'Filter' result; then
    cat -v result
    return 1
  fi
}
raised LATIN1 'caf\xe9'
raised SQL_ASCII '\xff\xfe'
raised EUC_JP '\xa4\xa2'
