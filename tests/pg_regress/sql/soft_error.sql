-- Soft errors: on PostgreSQL 16 and later, every failure of the input function can be caught without an exception.
-- soft_error_1.out is for 16, which has fewer callers of soft errors; soft_error_2.out for older servers.

\pset format unaligned
\pset footer off
SELECT current_setting('server_version_num')::int >= 160000 AS server_has_soft_errors,
       current_setting('server_version_num')::int >= 170000 AS server_has_json_table \gset
CREATE TABLE given (n int GENERATED ALWAYS AS IDENTITY, text text);
INSERT INTO given (text) VALUES
    ('01ARYZ6S41TSV4RRFFQ69G5FAV'),
    ('01563df3-6481-d676-4c61-efb99302bd5b'),
    (''),
    ('01ARYZ6S41TSV4RRFFQ69G5FA'),
    ('01ARYZ6S41TSV4RRFFQ69G5FAVV'),
    ('01ARYZ6S41TSV4RRFFQ69G5FAU'),
    ('01ARYZ6S41TSV4RRFFQ69G5FAé'),
    ('01563df3-6481-d676-4c61-efb99302bd5g'),
    ('01563df3-6481-d676-4c61+efb99302bd5b'),
    ('81ARYZ6S41TSV4RRFFQ69G5FAV');

\if :server_has_soft_errors
SELECT n, pg_input_is_valid(text, 'ulid') AS valid, (pg_input_error_info(text, 'ulid')).* FROM given ORDER BY n;

-- what is caught softly is what the exception says; and every character in every place ends in one of the two
CREATE FUNCTION exception_of(text text, OUT message text, OUT detail text, OUT code text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM text::ulid;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, code = RETURNED_SQLSTATE;
END $$;
INSERT INTO given (text)
SELECT overlay(valid PLACING chr(code) FROM position)
FROM (VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV'), ('01563df3-6481-d676-4c61-efb99302bd5b')) AS v (valid),
     generate_series(1, length(valid)) AS position, generate_series(1, 255) AS code;
SELECT count(*) AS texts, count(*) FILTER (WHERE pg_input_is_valid(text, 'ulid')) AS valid,
       count(*) FILTER (WHERE pg_input_is_valid(text, 'ulid') <> ulid_is_valid(text)) AS disagree
FROM given;
SELECT count(*) AS differ
FROM given, pg_input_error_info(text, 'ulid') AS soft, exception_of(text) AS hard
WHERE (soft.message, soft.detail, soft.sql_error_code) IS DISTINCT FROM (hard.message, nullif(hard.detail, ''), hard.code);
DROP FUNCTION exception_of;

-- in arrays, domains, composite types and ranges
CREATE DOMAIN id_of_2016 AS ulid CHECK (VALUE BETWEEN '01APX6B0000000000000000000' AND '01B5D11VZZZZZZZZZZZZZZZZZZ');
CREATE TYPE ids AS (a ulid, b ulid[]);
CREATE TYPE ulidrange AS RANGE (subtype = ulid);
SELECT type, text, pg_input_is_valid(text, type) AS valid, soft.message, soft.sql_error_code
FROM (VALUES
    (1, 'ulid[]', '{01ARYZ6S41TSV4RRFFQ69G5FAV,NULL,7ZZZZZZZZZZZZZZZZZZZZZZZZZ}'),
    (2, 'ulid[]', '{01ARYZ6S41TSV4RRFFQ69G5FAV,8ZZZZZZZZZZZZZZZZZZZZZZZZZ}'),
    (3, 'ulid[]', '{{x}}'),
    (4, 'id_of_2016', '01ARYZ6S41TSV4RRFFQ69G5FAV'),
    (5, 'id_of_2016', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'),
    (6, 'id_of_2016', 'x'),
    (7, 'ids', '(01ARYZ6S41TSV4RRFFQ69G5FAV,"{01ARYZ6S41TSV4RRFFQ69G5FAV}")'),
    (8, 'ids', '(01ARYZ6S41TSV4RRFFQ69G5FAV,"{01ARYZ6S41TSV4RRFFQ69G5FA}")'),
    (9, 'ulidrange', '[01ARYZ6S41TSV4RRFFQ69G5FAV,)'),
    (10, 'ulidrange', '[01ARYZ6S41TSV4RRFFQ69G5FAV,x]')
) AS v (n, type, text), pg_input_error_info(text, type) AS soft ORDER BY n;
DROP TYPE ulidrange, ids;
DROP DOMAIN id_of_2016;
\else
\echo skipped: pg_input_is_valid and pg_input_error_info, which this server has not
\endif

\if :server_has_json_table
-- COPY goes on behind the lines that cannot be read
CREATE TABLE copied (n int, id ulid, ids ulid[]);
\copy copied FROM PROGRAM 'printf "1,01ARYZ6S41TSV4RRFFQ69G5FAV,\n2,01ARYZ6S41TSV4RRFFQ69G5FAU,\n3,81ARYZ6S41TSV4RRFFQ69G5FAV,\n4,x,\n5,,{}\n6,,{x}\n7,01563df3-6481-d676-4c61-efb99302bd5b,{01ARYZ6S41TSV4RRFFQ69G5FAV}\n"' WITH (FORMAT csv, ON_ERROR ignore)
SELECT * FROM copied ORDER BY n;
DROP TABLE copied;

-- JSON
SELECT JSON_VALUE(js, '$.id' RETURNING ulid) AS null_on_error,
       JSON_VALUE(js, '$.id' RETURNING ulid DEFAULT '00000000000000000000000000'::ulid ON ERROR) AS default_on_error
FROM (VALUES (1, jsonb '{"id": "01aryz6s41tsv4rrffq69g5fav"}'), (2, '{"id": "01aryz6s41tsv4rrffq69g5fa"}'), (3, '{"id": "8ZZZZZZZZZZZZZZZZZZZZZZZZZ"}'),
             (4, '{"id": 26}'), (5, '{}')) AS v (n, js) ORDER BY n;
SELECT JSON_VALUE(jsonb '{"id": "8ZZZZZZZZZZZZZZZZZZZZZZZZZ"}', '$.id' RETURNING ulid ERROR ON ERROR);
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM JSON_TABLE(jsonb '[{"id": "01ARYZ6S41TSV4RRFFQ69G5FAV"}, {"id": "x"}, {"id": null}]', '$[*]'
    COLUMNS (n FOR ORDINALITY, id ulid PATH '$.id', otherwise ulid PATH '$.id' DEFAULT '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'::ulid ON ERROR));
SELECT JSON_QUERY(jsonb '["01ARYZ6S41TSV4RRFFQ69G5FAV", "x"]', '$' RETURNING ulid[]) AS null_on_error,
       JSON_QUERY(jsonb '["01ARYZ6S41TSV4RRFFQ69G5FAV"]', '$' RETURNING ulid[]) AS read;
CREATE TYPE ids AS (a ulid, b ulid[]);
SELECT js, jsonb_populate_record_valid(NULL::ids, js) AS valid
FROM (VALUES (1, jsonb '{"a": "01ARYZ6S41TSV4RRFFQ69G5FAV", "b": []}'), (2, '{"a": "01ARYZ6S41TSV4RRFFQ69G5FAU"}'),
             (3, '{"b": ["01ARYZ6S41TSV4RRFFQ69G5FAV"]}'), (4, '{"b": ["x"]}')) AS v (n, js) ORDER BY n;
DROP TYPE ids;
\else
\echo skipped: COPY with ON_ERROR, JSON_VALUE, JSON_TABLE and jsonb_populate_record_valid, which this server has not
\endif
DROP TABLE given;
