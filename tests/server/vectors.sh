#!/usr/bin/env bash
# The conformance vectors, through COPY: values, texts to be read, texts to be refused with their SQLSTATE.
set -euo pipefail
data=$ROOT/tests/data
# The rows of a vector file.
rows() {
  grep -v '^#' "$data/$1.tsv"
}
psql -q -v ON_ERROR_STOP=1 << 'SQL'
CREATE EXTENSION ulid;
CREATE TABLE valid (id ulid, bytes uuid, ms bigint);
CREATE TABLE lenient (input text, canonical text);
CREATE TABLE invalid (input text, fault text, at text);
SQL
rows valid | psql -q -c 'COPY valid FROM STDIN'
rows lenient | psql -q -c 'COPY lenient FROM STDIN'
rows invalid | sed 's/\\u00e9/é/g' | psql -q -c 'COPY invalid FROM STDIN'
psql -A -t -v ON_ERROR_STOP=1 << 'SQL' | tee result
SELECT count(*) > 100 AND bool_and(id = bytes AND bytes::ulid::text = id::text AND ulid_extract_unix_ms(id) = ms) FROM valid;
SELECT bool_and(input::ulid::text = canonical AND ulid_is_valid(input)) FROM lenient;
CREATE FUNCTION fault(input text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
BEGIN
    PERFORM input::ulid;
    RETURN 'none';
EXCEPTION WHEN numeric_value_out_of_range THEN
    RETURN 'overflow 1';
WHEN invalid_text_representation THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN coalesce('character ' || substring(detail FROM 'at position (\d+) is not'), 'length ');
END $$;
SELECT count(*) > 25, count(*) FILTER (WHERE ulid_is_valid(input)) FROM invalid;
SELECT input, fault, at, fault(input) FROM invalid WHERE fault(input) <> fault || ' ' || at AND fault <> 'any' OR fault(input) = 'none';
SQL
diff - result << 'END'
t
t
CREATE FUNCTION
t|0
END
