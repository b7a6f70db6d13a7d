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
SELECT text, text::ulid, text::ulid = text::uuid::ulid AS same
FROM (VALUES ('01563df36481d6764c61efb99302bd5b'), ('{01563DF36481D6764C61EFB99302BD5B}'),
             ('{01563df3-6481-d676-4c61-efb99302bd5b}'), ('{01563df3-6481d676-4c61efb9-9302bd5b}'),
             ('0156-3df3-6481-d676-4c61-efb9-9302-bd5b')) AS v (text);
SELECT '00000000000000000000000000'::ulid AS nil, '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'::ulid AS max;

-- wrong length (22P02)
SELECT '01ARYZ6S41TSV4RRFFQ69G5FA'::ulid;
\echo :LAST_ERROR_SQLSTATE

-- a character that cannot stand there (22P02)
SELECT '01ARYZ6S41TSV4RRFFQ69G5FAU'::ulid;
\echo :LAST_ERROR_SQLSTATE
SELECT '01563df3-6481-d676-4c61-efb99302bd5g'::ulid;
-- or that is missing (22P02)
SELECT '{01563df36481d6764c61efb99302bd5b'::ulid;
\echo :LAST_ERROR_SQLSTATE

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

-- ulid reads what uuid reads, and the same id: random spellings, most of them with a fault or two
\set ECHO none
CREATE FUNCTION read_as(type regtype, text text, OUT id text, OUT detail text) LANGUAGE plpgsql
AS $$ BEGIN
    EXECUTE format('SELECT ($1::%s)::uuid::text', type) INTO id USING text;
EXCEPTION WHEN invalid_text_representation THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
END $$;
\set ECHO all
SELECT setseed(0.5);
CREATE TABLE spelling AS SELECT n, CASE WHEN braces THEN '{' || text || '}' ELSE text END AS text
FROM generate_series(1, 50000) AS n,
    LATERAL (SELECT random() < 0.4 AS braces, random() < 0.5 AS upper, random() AS hyphens,
                    md5(n::text) AS digits) AS a,
    LATERAL (SELECT string_agg(CASE WHEN upper THEN upper(part) ELSE part END, '' ORDER BY i)
                 AS text
             FROM generate_series(0, 7) AS i, LATERAL (SELECT substr(digits, 4 * i + 1, 4)
                 || CASE WHEN i < 7 AND random() < hyphens THEN '-' ELSE '' END AS part) AS p) AS b;
-- a fourth each: as it is; one character more, less or another; two of these; the beginning
CREATE FUNCTION damaged(text) RETURNS text LANGUAGE sql
    RETURN overlay($1 PLACING substr('0aF-{} gé', 1 + (random() * 8)::int, (random() * 1.5)::int)
                   FROM 1 + (random() * 40)::int FOR (random() * 1.5)::int);
UPDATE spelling SET text = damaged(text) WHERE n % 4 IN (1, 2);
UPDATE spelling SET text = damaged(text) WHERE n % 4 = 2;
UPDATE spelling SET text = left(text, (random() * 41)::int) WHERE n % 4 = 3;
CREATE TABLE read AS
SELECT text, u.id AS uuid, v.id AS ulid, substring(detail FROM 'position (\d+)')::int AS position
FROM spelling, LATERAL read_as('ulid', text) AS v,
    LATERAL (SELECT id FROM read_as('uuid', text)) AS u WHERE length(text) <> 26;
SELECT count(*) > 49000 AND count(uuid) BETWEEN 15000 AND 30000 AS tried FROM read;
SELECT * FROM read
WHERE uuid IS DISTINCT FROM ulid OR ulid_is_valid(text) <> (uuid IS NOT NULL) LIMIT 5;
-- a fault is where no uuid begins so any more
CREATE FUNCTION begins_a_uuid(text) RETURNS boolean LANGUAGE sql
    RETURN (read_as('uuid', $1
        || repeat('0', 32 - length(regexp_replace($1, '[^0-9A-Fa-f]', '', 'g')))
        || CASE WHEN $1 ~ '^\{[^}]*$' THEN '}' ELSE '' END)).id IS NOT NULL;
SELECT count(position) > 10000 AS tried FROM read;
SELECT * FROM read WHERE uuid IS NULL AND octet_length(text) >= 32
AND (position IS NULL OR NOT begins_a_uuid(left(text, position - 1))
     OR position <= length(text) AND begins_a_uuid(left(text, position))) LIMIT 5;
DROP TABLE spelling, read;
DROP FUNCTION read_as, damaged, begins_a_uuid;

-- the casts as functions: the same results and errors, for a uuid too, and with an index
SELECT ulid_to_text('01aryz6s41tsv4rrffq69g5fav'),
    ulid_to_text('01563df3-6481-d676-4c61-efb99302bd5b'::uuid) AS of_uuid,
       pg_typeof(ulid_to_text('01aryz6s41tsv4rrffq69g5fav')), ulid_to_text(NULL) IS NULL AS null;
SELECT ulid_from_text('01aryz6s41tsv4rrffq69g5fav'),
    ulid_from_text('01563df3-6481-d676-4c61-efb99302bd5b') AS uuid_form,
       pg_typeof(ulid_from_text('7ZZZZZZZZZZZZZZZZZZZZZZZZZ')),
       ulid_from_text(NULL) IS NULL AS null;
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
COPY io (id) FROM stdin;
01563df36481d6764c61efb99302bd5c
{01563df3-6481-d676-4c61-efb99302bd5d}
\.
SELECT id FROM io;
COPY io (id) FROM stdin;
{01563df3-6481-d676-4c61-efb99302bd5e
\.
DROP TABLE io;
CREATE DOMAIN recent AS ulid CHECK (VALUE >= '01ARYZ6S41TSV4RRFFQ69G5FAV');
SELECT '01aryz6s41tsv4rrffq69g5fav'::recent;
SELECT '01ARYZ6S41TSV4RRFFQ69G5FA0'::recent;
DROP DOMAIN recent;
