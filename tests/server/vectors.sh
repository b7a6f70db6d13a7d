#!/usr/bin/env bash
# The conformance vectors, through COPY: values, texts to be accepted, texts to be rejected with their SQLSTATE.
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
CREATE TABLE v1_v6 (v1 uuid, v6 uuid, ticks bigint, clock_seq int, node text, ms bigint, id ulid);
CREATE TABLE v7 (id ulid, v7 uuid);
CREATE TABLE typeid (typeid text, prefix text, uuid uuid);
CREATE TABLE typeid_invalid (input text, fault text);
CREATE TABLE snowflake (snowflake bigint, epoch_ms bigint, ms bigint, datacenter int, worker int, sequence int, id ulid);
SQL
rows valid | psql -q -c 'COPY valid FROM STDIN'
rows lenient | psql -q -c 'COPY lenient FROM STDIN'
rows uuid_v1_v6 | psql -q -c 'COPY v1_v6 FROM STDIN'
rows uuid_v7 | psql -q -c 'COPY v7 FROM STDIN'
rows snowflake | psql -q -c 'COPY snowflake FROM STDIN'
rows typeid | psql -q -c 'COPY typeid FROM STDIN'
rows typeid_invalid | sed 's/\\u00e9/é/g' | psql -q -c 'COPY typeid_invalid FROM STDIN'
rows invalid | sed 's/\\u00e9/é/g' | psql -q -c 'COPY invalid FROM STDIN'
psql -A -t -v ON_ERROR_STOP=1 << 'SQL' | tee result
SELECT count(*) > 100 AND bool_and(id = bytes AND bytes::ulid::text = id::text AND ulid_extract_unix_ms(id) = ms) FROM valid;
SELECT bool_and(input::ulid::text = canonical AND ulid_is_valid(input)) FROM lenient;
SELECT bool_and(ulid_from_uuid_v1(v1) = id AND ulid_from_uuid_v6(v6) = id AND ulid_to_uuid_v1(id) = v1
                AND ulid_to_uuid_v6(id) = v6 AND ulid_extract_unix_ms(id) = ms) FROM v1_v6;
SELECT bool_and(ulid_to_uuid_v7(id) = v7) FROM v7;
SELECT bool_and(ulid_from_snowflake(snowflake, epoch) = id AND ulid_to_snowflake(id, epoch) = snowflake
                AND parts = (id::timestamptz, datacenter, worker, sequence) AND ulid_extract_unix_ms(id) = ms)
FROM (SELECT *, 'epoch'::timestamptz + epoch_ms / 1000 * interval '1 second' + epoch_ms % 1000 * interval '1 millisecond' AS epoch,
             ulid_snowflake_parts(id) AS parts FROM snowflake) AS s;
SELECT count(*) > 60 AND bool_and(ulid_from_typeid(typeid) = uuid AND ulid_from_typeid(typeid, prefix) = uuid AND typeid_prefix(typeid) = prefix
                                  AND ulid_to_typeid(prefix, uuid) = typeid) FROM typeid;
CREATE FUNCTION typeid_fault(input text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
BEGIN
    PERFORM ulid_from_typeid(input);
    RETURN 'none';
EXCEPTION WHEN numeric_value_out_of_range THEN
    RETURN 'overflow';
WHEN invalid_text_representation THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN CASE WHEN detail ~ '^Without a prefix' THEN 'separator' WHEN detail ~ '^The suffix has' THEN 'length'
                WHEN detail ~ 'alphabet' THEN 'suffix' WHEN detail ~ 'prefix|underscore' THEN 'prefix' END;
END $$;
SELECT count(*) > 40 AND bool_and(typeid_fault(input) = fault) FROM typeid_invalid;
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
t
t
t
t
CREATE FUNCTION
t
CREATE FUNCTION
t|0
END
