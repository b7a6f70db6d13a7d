-- Text input and output, and their errors.

\pset format unaligned
\pset footer off
-- canonical text, either case, aliases, the form of a uuid
SELECT '01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid,
       '01aryz6s41tsv4rrffq69g5fav'::ulid AS lower_case,
       'OIARYZ6S4iTSV4RRFFQ69G5FAV'::ulid AS aliases_upper,
       'olARYZ6S4LTSV4RRFFQ69G5FAV'::ulid AS aliases_lower;
SELECT '01563df3-6481-d676-4c61-efb99302bd5b'::ulid AS uuid_form,
       '01563DF3-6481-D676-4C61-EFB99302BD5B'::ulid AS uuid_form_upper;
SELECT '00000000000000000000000000'::ulid AS nil, '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'::ulid AS max;

-- wrong length (22P02)
SELECT ''::ulid;
\echo :LAST_ERROR_SQLSTATE
SELECT '01ARYZ6S41TSV4RRFFQ69G5FA'::ulid;
SELECT '{01ARYZ6S41TSV4RRFFQ69G5FAV}'::ulid;
SELECT '01563df36481d6764c61efb99302bd5b'::ulid;

-- a character that cannot stand there (22P02)
SELECT '01ARYZ6S41TSV4RRFFQ69G5FAU'::ulid;
\echo :LAST_ERROR_SQLSTATE
SELECT '01563df3-6481-d676-4c61-efb99302bd5g'::ulid;
SELECT '01563df3-6481-d676-4c61+efb99302bd5b'::ulid;

-- more than 128 bits (22003)
SELECT '80000000000000000000000000'::ulid;
\echo :LAST_ERROR_SQLSTATE

-- ulid_is_valid says what the input function would
SELECT text, ulid_is_valid(text)
FROM (VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV'), ('01aryz6s41tsv4rrffq69g5fav'),
             ('01563df3-6481-d676-4c61-efb99302bd5b'), ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ'),
             ('80000000000000000000000000'), ('01ARYZ6S41TSV4RRFFQ69G5FAU'),
             ('01ARYZ6S41TSV4RRFFQ69G5FA'), (''), (NULL)) AS v (text);
-- also of a text long enough to be stored compressed
SELECT ulid_is_valid(repeat('0', 100000));

-- the casts as functions: the same results and errors, for a uuid too, and with an index
SELECT ulid_to_text('01aryz6s41tsv4rrffq69g5fav'),
    ulid_to_text('01563df3-6481-d676-4c61-efb99302bd5b'::uuid) AS of_uuid,
       pg_typeof(ulid_to_text('01aryz6s41tsv4rrffq69g5fav')), ulid_to_text(NULL) IS NULL AS null;
SELECT ulid_from_text('01aryz6s41tsv4rrffq69g5fav'),
    ulid_from_text('01563df3-6481-d676-4c61-efb99302bd5b') AS uuid_form,
       pg_typeof(ulid_from_text('7ZZZZZZZZZZZZZZZZZZZZZZZZZ')),
       ulid_from_text(NULL) IS NULL AS null;
SELECT ulid_from_text('01ARYZ6S41TSV4RRFFQ69G5FA');
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_from_text('01ARYZ6S41TSV4RRFFQ69G5FAU');
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_from_text('80000000000000000000000000');
\echo :LAST_ERROR_SQLSTATE
CREATE TABLE io (id uuid, text text);
INSERT INTO io SELECT id, id::ulid
    FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 100)) AS s;
-- stored compressed
INSERT INTO io SELECT gen_random_uuid(), repeat('0', 10000) || n FROM generate_series(1, 10) AS n;
SELECT count(*) FROM io WHERE ulid_to_text(id) = text AND ulid_from_text(text) = id
    AND length(text) = 26;
\set VERBOSITY sqlstate
SELECT ulid_from_text(text) FROM io WHERE length(text) > 26;
\set VERBOSITY default
CREATE INDEX ON io (ulid_to_text(id));
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT FROM io WHERE ulid_to_text(id) = '01ARYZ6S41TSV4RRFFQ69G5FAV';
RESET enable_seqscan;
DROP TABLE io;

-- a table, an array, a composite, json, a domain
CREATE TABLE io (id ulid PRIMARY KEY, ids ulid[]);
INSERT INTO io VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '{01ARYZ6S41TSV4RRFFQ69G5FAV,NULL}');
SELECT * FROM io;
SELECT to_json(io), row(id) FROM io;
SELECT (json_populate_record(NULL::io, '{"id": "01aryz6s41tsv4rrffq69g5fav"}')).id;
SELECT pg_column_size(id), id FROM io;
INSERT INTO io VALUES ('01ARYZ6S41TSV4RRFFQ69G5FA!');
COPY io (id) FROM stdin;
01ARYZ6S41TSV4RRFFQ69G5FA0
01ARYZ6S41TSV4RRFFQ69G5F
\.
DROP TABLE io;
CREATE DOMAIN recent AS ulid CHECK (VALUE >= '01ARYZ6S41TSV4RRFFQ69G5FAV');
SELECT '01aryz6s41tsv4rrffq69g5fav'::recent;
SELECT '01ARYZ6S41TSV4RRFFQ69G5FA0'::recent;
DROP DOMAIN recent;
