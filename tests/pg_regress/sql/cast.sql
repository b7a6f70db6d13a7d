-- Casts in each context, and what the implicit cast from uuid lets PostgreSQL resolve.

\pset format unaligned
\pset footer off
SELECT castsource::regtype AS source, casttarget::regtype AS target, castcontext, castmethod,
    castfunc::regprocedure
FROM pg_cast WHERE 'ulid'::regtype IN (castsource, casttarget) ORDER BY 1, 2;

-- uuid: same bytes both ways
SELECT '01563df3-6481-d676-4c61-efb99302bd5b'::uuid::ulid, '01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid::uuid;

-- bytea: exactly 16 bytes (22P03)
SELECT '\x01563df36481d6764c61efb99302bd5b'::bytea::ulid, '01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid::bytea;
SELECT '\x01563df36481d6764c61efb99302bd'::bytea::ulid;
\echo :LAST_ERROR_SQLSTATE
SELECT '\x01563df36481d6764c61efb99302bd5b5b'::bytea::ulid;
SELECT ''::bytea::ulid;

-- text: explicit, and on assignment
SELECT '01aryz6s41tsv4rrffq69g5fav'::text::ulid, '01aryz6s41tsv4rrffq69g5fav'::varchar::ulid,
    '01aryz6s41tsv4rrffq69g5fav'::char(26)::ulid;
SELECT '01ARYZ6S41TSV4RRFFQ69G5FAU'::text::ulid;
\echo :LAST_ERROR_SQLSTATE
CREATE TABLE target (id ulid, u uuid, t text, b bytea, ts timestamptz);
INSERT INTO target (id) VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV'::text),
    ('01ARYZ6S41TSV4RRFFQ69G5FAV'::varchar),
    ('01ARYZ6S41TSV4RRFFQ69G5FAV'::char(26)), ('01563df3-6481-d676-4c61-efb99302bd5b'::uuid),
    ('\x01563df36481d6764c61efb99302bd5b'::bytea);
INSERT INTO target (u, t)
    VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid, '01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid);
SELECT id, u, t FROM target;
-- explicit only
INSERT INTO target (b) VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid);
INSERT INTO target (ts) VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid);
INSERT INTO target (id) VALUES (now());

-- text is never taken for a ulid or a ulid for text where types must agree
-- (terse, as 19 has a DETAIL where the others have a HINT)
\set VERBOSITY terse
SELECT '01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid = '01ARYZ6S41TSV4RRFFQ69G5FAV'::text;
SELECT '01563df3-6481-d676-4c61-efb99302bd5b'::uuid = '01563df3-6481-d676-4c61-efb99302bd5b'::text;
SELECT length('01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid);
\set VERBOSITY default
-- an untyped literal takes the type of the other side
SELECT id = '01aryz6s41tsv4rrffq69g5fav' FROM target LIMIT 1;

-- uuid is taken for a ulid, in either place
SELECT id = u AS ulid_uuid, u = id AS uuid_ulid, id IN (u) AS in_uuid,
    id = ANY (ARRAY[u]) AS any_uuid, u < id AS less
FROM (VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid, '01563df3-6481-d676-4c61-efb99302bd5b'::uuid))
    AS v (id, u);
SELECT pg_typeof(coalesce(u, id)) AS coalesce, pg_typeof(greatest(id, u)) AS greatest,
       pg_typeof(CASE WHEN true THEN u ELSE id END) AS case, pg_typeof(ARRAY[u, id]) AS array
FROM target LIMIT 1;
SELECT id FROM target UNION SELECT u FROM target ORDER BY 1;
-- nothing that worked for uuid alone changes
SELECT pg_typeof(coalesce(u, '01563df3-6481-d676-4c61-efb99302bd5b')), pg_typeof(array_agg(u))
FROM target GROUP BY u LIMIT 1;
-- but for these, which begin to resolve, to those of uuid
SELECT pg_typeof(max(u)), max(u) FROM target;
DROP TABLE target;

-- a foreign key from uuid to a ulid key, JOIN USING, and ANY(uuid[]) use the index
CREATE TABLE parent (id ulid PRIMARY KEY);
CREATE TABLE child (id uuid REFERENCES parent);
INSERT INTO parent SELECT decode(md5(i::text), 'hex')::ulid FROM generate_series(1, 10000) AS i;
INSERT INTO child SELECT id FROM parent;
INSERT INTO child VALUES ('01563df3-6481-d676-4c61-efb99302bd5b');
\echo :LAST_ERROR_SQLSTATE
ANALYZE parent, child;
SELECT count(*), pg_typeof(min(id)) FROM parent JOIN child USING (id);
PREPARE by_uuid (uuid) AS SELECT * FROM parent WHERE id = $1;
EXPLAIN (COSTS OFF) EXECUTE by_uuid ('01563df3-6481-d676-4c61-efb99302bd5b');
SET enable_bitmapscan = off;  -- which 19 finds dearer here, and the others cheaper
PREPARE by_uuids (uuid[]) AS SELECT * FROM parent WHERE id = ANY ($1);
EXPLAIN (COSTS OFF)
    EXECUTE by_uuids
    ('{01563df3-6481-d676-4c61-efb99302bd5b,01563df3-6481-d676-4c61-efb99302bd5c}');
RESET enable_bitmapscan;
EXPLAIN (COSTS OFF) SELECT * FROM parent
    WHERE id BETWEEN '01563df3-6481-d676-4c61-efb99302bd5b'::uuid
        AND '01563df3-6481-d676-4c61-efb99302bd5c'::uuid;
EXPLAIN (COSTS OFF) SELECT * FROM child JOIN parent USING (id)
    WHERE child.id = '01563df3-6481-d676-4c61-efb99302bd5b';
DEALLOCATE ALL;
DROP TABLE child, parent;

-- a column of uuid becomes one of ulid: the heap is never rewritten; the index is not rebuilt where
-- it was made for it
CREATE TABLE keys (id uuid NOT NULL DEFAULT gen_random_uuid(), n int);
INSERT INTO keys (n) SELECT i FROM generate_series(1, 1000) AS i;
ALTER TABLE keys ADD PRIMARY KEY (id);
CREATE UNIQUE INDEX CONCURRENTLY keys_id_ulid ON keys (id ulid_ops);
CREATE TEMP TABLE before AS
    SELECT relname, pg_relation_filenode(oid) AS filenode FROM pg_class
    WHERE relname IN ('keys', 'keys_pkey', 'keys_id_ulid');
BEGIN;
ALTER TABLE keys ALTER COLUMN id DROP DEFAULT, DROP CONSTRAINT keys_pkey;
ALTER TABLE keys ALTER COLUMN id TYPE ulid;
ALTER TABLE keys ALTER COLUMN id SET DEFAULT gen_ulid(), ADD PRIMARY KEY USING INDEX keys_id_ulid;
COMMIT;
SELECT relname, filenode = pg_relation_filenode(relname::regclass) AS kept FROM before
WHERE relname <> 'keys_pkey' ORDER BY 1;
SELECT count(*), count(DISTINCT id) FROM keys WHERE pg_typeof(id) = 'ulid'::regtype;
-- and back
ALTER TABLE keys ALTER COLUMN id DROP DEFAULT;
ALTER TABLE keys ALTER COLUMN id TYPE uuid;
SELECT relname, filenode = pg_relation_filenode('keys') AS kept FROM before WHERE relname = 'keys';
DROP TABLE keys, before;
