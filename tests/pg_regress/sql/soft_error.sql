-- Soft errors: on PostgreSQL 16 and later, every failure of the input function can be caught
-- without an exception, and says what the exception says. Each query finds what is wrong, which is
-- nothing, so that older servers print the same.

\set ECHO none
\pset tuples_only on
\pset format unaligned
SELECT current_setting('server_version_num')::int >= 160000 AS server_has_soft_errors,
       current_setting('server_version_num')::int >= 170000 AS server_has_json_table \gset
SET client_min_messages = warning;
CREATE FUNCTION exception_of(text text, type text, OUT message text, OUT detail text, OUT code text)
    LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT %L::%s', text, type);
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
    code = RETURNED_SQLSTATE;
END $$;
CREATE DOMAIN id_of_2016 AS ulid
    CHECK (VALUE BETWEEN '01APX6B0000000000000000000' AND '01B5D11VZZZZZZZZZZZZZZZZZZ');
CREATE TYPE ids AS (a ulid, b ulid[]);

\if :server_has_soft_errors
SELECT type, text, soft, hard
FROM (VALUES ('ulid', '01ARYZ6S41TSV4RRFFQ69G5FAV', NULL),
    ('ulid', '01563df3-6481-d676-4c61-efb99302bd5b', NULL), ('ulid', '', '22P02'),
             ('ulid', '01ARYZ6S41TSV4RRFFQ69G5FAé', '22P02'),
             ('ulid', '01563df3-6481-d676-4c61+efb99302bd5b', '22P02'),
             ('ulid', '{01563df36481d6764c61efb99302bd5b}', NULL),
             ('ulid', '{01563df36481d6764c61efb99302bd5b', '22P02'),
             ('ulid', '01563df36481d6764c61efb99302bd5b ', '22P02'),
             ('ulid[]', '{01563df36481d6764c61efb99302bd5b}', NULL),
             ('ulid[]', '{"{0156-3df36481d6764c61efb99302bd5b}"}', NULL),
             ('ulid', '81ARYZ6S41TSV4RRFFQ69G5FAV', '22003'),
             ('ulid[]', '{01ARYZ6S41TSV4RRFFQ69G5FAV,NULL}', NULL), ('ulid[]', '{{x}}', '22P02'),
             ('ulid[]', '{8ZZZZZZZZZZZZZZZZZZZZZZZZZ}', '22003'),
             ('id_of_2016', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ', '23514'), ('id_of_2016', 'x', '22P02'),
             ('ids', '(01ARYZ6S41TSV4RRFFQ69G5FAV,"{01ARYZ6S41TSV4RRFFQ69G5FA}")', '22P02')) AS v
                 (type, text, code),
     pg_input_error_info(text, type) AS soft, exception_of(text, type) AS hard
WHERE (soft.message, soft.detail, soft.sql_error_code) IS DISTINCT FROM (hard.message,
    nullif(hard.detail, ''), hard.code)
OR v.code IS DISTINCT FROM soft.sql_error_code OR pg_input_is_valid(text, type) <> (v.code IS NULL);
\endif

\if :server_has_json_table
-- COPY goes on behind the lines that cannot be read
CREATE TABLE copied (n int, id ulid, ids ulid[]);
\copy copied FROM PROGRAM 'printf "1,01ARYZ6S41TSV4RRFFQ69G5FAV,\n2,01ARYZ6S41TSV4RRFFQ69G5FAU,\n3,81ARYZ6S41TSV4RRFFQ69G5FAV,\n4,,{x}\n5,,{}\n6,{01563df36481d6764c61efb99302bd5b},\n7,01563df36481d6764c61efb99302bd5,\n"' WITH (FORMAT csv, ON_ERROR ignore)
SELECT array_agg(n ORDER BY n) FROM copied HAVING array_agg(n ORDER BY n) <> '{1,5,6}';
DROP TABLE copied;
-- JSON
SELECT js, found
FROM (VALUES (jsonb '{"id": "01aryz6s41tsv4rrffq69g5fav"}', '01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid),
    ('{"id": "8ZZZZZZZZZZZZZZZZZZZZZZZZZ"}', NULL),
                              ('{"id": 26}', NULL)) AS v (js, id),
                              JSON_VALUE(js, '$.id' RETURNING ulid) AS found
WHERE found IS DISTINCT FROM id
    OR jsonb_populate_record_valid(NULL::ids, jsonb_build_object('a', js -> 'id'))
    <> (id IS NOT NULL);
SELECT * FROM JSON_TABLE(jsonb '[{"id": "x"}]',
    '$[*]' COLUMNS (id ulid PATH '$.id', d ulid PATH '$.id'
    DEFAULT '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'::ulid ON ERROR)) AS t
WHERE t IS DISTINCT FROM ROW(NULL::ulid, '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'::ulid);
\endif
DROP FUNCTION exception_of;
DROP TYPE ids;
DROP DOMAIN id_of_2016;
