-- The companion ulid_gist: a GiST operator class for ulid, by btree_gist. gist_1.out is for a
-- server without contrib modules.

\pset format unaligned
\pset footer off
SELECT count(*) > 0 AS has_btree_gist FROM pg_available_extensions WHERE name = 'btree_gist' \gset
\if :has_btree_gist
\else
\echo skipped: no btree_gist
\quit
\endif
SET client_min_messages = warning;

-- without it, there is no class
CREATE TABLE booking (room ulid, period tstzrange,
    EXCLUDE USING gist (room WITH =, period WITH &&));
\echo :LAST_ERROR_SQLSTATE

-- what it needs comes by CASCADE; each extension may live in a schema of its own, and a look-alike
-- in the schema of this one is not taken for the type
CREATE SCHEMA parts;
CREATE SCHEMA apart;
CREATE TYPE apart.ulid AS (n int);
CREATE EXTENSION btree_gist SCHEMA parts;
CREATE EXTENSION ulid_gist SCHEMA apart;
SELECT opcintype = 'ulid'::regtype AS of_ulid, opcdefault, opckeytype::regtype FROM pg_opclass
WHERE opcname = 'ulid_ops' AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'gist');
DROP EXTENSION btree_gist;
DROP EXTENSION ulid_gist, btree_gist;
DROP SCHEMA apart CASCADE;
-- the longest name that needs quotes
SELECT quote_ident(repeat('A', 63)) AS longest \gset
BEGIN;
ALTER SCHEMA public RENAME TO :longest;
CREATE SCHEMA apart;
CREATE EXTENSION btree_gist SCHEMA apart;
CREATE EXTENSION ulid_gist SCHEMA apart;
ROLLBACK;
CREATE EXTENSION ulid_gist CASCADE;

-- the class is the one that btree_gist has for uuid, whatever its version, in a family of its own
SELECT opcname, opcdefault, amvalidate(oid) FROM pg_opclass WHERE opcname = 'ulid_ops'
    AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'gist');
CREATE TEMP VIEW entry AS
SELECT c.opcintype::regtype AS type, kind, number, lefttype::regtype = c.opcintype AS own_type,
    replace(f.proname, 'ulid', 'uuid') AS name,
       f.prosrc, f.probin, f.proisstrict, f.provolatile, f.proparallel, c.opckeytype::regtype,
       c.opcdefault
FROM pg_opclass AS c
JOIN (SELECT amprocfamily AS family, 'function' AS kind, amprocnum AS number,
    amproclefttype AS lefttype, amproc AS code FROM pg_amproc
      UNION ALL SELECT amopfamily, 'operator', amopstrategy, amoplefttype, oprcode
          FROM pg_amop JOIN pg_operator AS o ON o.oid = amopopr) AS e
ON family = c.opcfamily AND lefttype IN (c.opcintype, '"any"'::regtype)
JOIN pg_proc AS f ON f.oid = code
WHERE c.opcmethod = (SELECT oid FROM pg_am WHERE amname = 'gist');
SELECT kind, number, name FROM entry WHERE type = 'uuid'::regtype
EXCEPT SELECT kind, number, name FROM entry WHERE type = 'ulid'::regtype ORDER BY 1, 2;
SELECT kind, number, name FROM entry WHERE type = 'ulid'::regtype
EXCEPT SELECT kind, number, name FROM entry WHERE type = 'uuid'::regtype ORDER BY 1, 2;
SELECT u.kind, u.number FROM entry AS u JOIN entry AS o USING (kind, number)
WHERE u.type = 'uuid'::regtype AND o.type = 'ulid'::regtype
AND (u.own_type, u.prosrc, u.probin, u.proisstrict, u.provolatile, u.opckeytype, u.opcdefault) <>
    (o.own_type, o.prosrc, o.probin, o.proisstrict, o.provolatile, o.opckeytype, o.opcdefault);
-- every member has a comment, and the function for ulid is safe in parallel scans
SELECT pg_describe_object(classid, objid, 0) AS object,
    obj_description(objid, classid::regclass::name) AS comment FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'ulid_gist')
ORDER BY pg_describe_object(classid, objid, 0) COLLATE "C";
SELECT proparallel FROM pg_proc WHERE proname = 'gbt_ulid_consistent';

-- an exclusion constraint
CREATE TABLE booking (room ulid, period tstzrange,
    EXCLUDE USING gist (room WITH =, period WITH &&));
INSERT INTO booking VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-01-01, 2026-01-03)');
INSERT INTO booking VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAW', '[2026-01-02, 2026-01-04)');
INSERT INTO booking VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-01-02, 2026-01-04)');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO booking VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-01-03, 2026-01-04)'),
    (NULL, '[2026-01-01, 2026-01-04)'), (NULL, '[2026-01-01, 2026-01-04)');
SELECT count(*) FROM booking;
-- also for one room only, whatever the type of the others
CREATE TABLE one (room ulid, EXCLUDE USING gist (room WITH <>));
INSERT INTO one VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV'), ('01ARYZ6S41TSV4RRFFQ69G5FAV');
INSERT INTO one VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAW');
\echo :LAST_ERROR_SQLSTATE

-- each operator, and a window, finds by the index what a scan of the table finds; a filled table is
-- indexed, an indexed one filled
CREATE TABLE key (id ulid, n int);
CREATE INDEX key_gist ON key USING gist (id);
INSERT INTO key
    SELECT ulid_lower_bound('2026-01-01 00:00Z'::timestamptz + n % 1000 * interval '1 minute'), n
    FROM generate_series(1, 5000) AS n;
CREATE TABLE filled AS TABLE key;
CREATE INDEX filled_gist ON filled USING gist (id);
INSERT INTO key VALUES (NULL, 0), ('00000000000000000000000000', 1),
    ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 2);
INSERT INTO filled VALUES (NULL, 0), ('00000000000000000000000000', 1),
    ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 2);
VACUUM ANALYZE key, filled;
CREATE TABLE found (condition text, by_scan bigint, by_key bigint, by_filled bigint);
INSERT INTO found (condition) VALUES
    ('id < ulid_lower_bound(''2026-01-01 04:00Z'')'),
    ('id <= ulid_lower_bound(''2026-01-01 04:00Z'')'),
    ('id = ulid_lower_bound(''2026-01-01 04:00Z'')'),
    ('id >= ulid_lower_bound(''2026-01-01 04:00Z'')'),
    ('id > ulid_lower_bound(''2026-01-01 04:00Z'')'),
    ('id <> ulid_lower_bound(''2026-01-01 04:00Z'')'),
    ('id <@ tstzrange(''2026-01-01 04:00Z'', ''2026-01-01 05:00Z'')'), ('id IS NULL'),
    ('id <= ''00000000000000000000000000'''), ('id >= ''7ZZZZZZZZZZZZZZZZZZZZZZZZZ''');
DO $$
DECLARE
    given record;
    plan text;
BEGIN
    FOR given IN SELECT * FROM found LOOP
        SET enable_indexscan = off;
        SET enable_indexonlyscan = off;
        SET enable_bitmapscan = off;
        SET enable_seqscan = on;
        EXECUTE 'UPDATE found SET by_scan = (SELECT count(*) FROM key WHERE ' || given.condition
            || ') WHERE condition = $1' USING given.condition;
        RESET enable_indexscan;
        RESET enable_indexonlyscan;
        SET enable_seqscan = off;
        EXECUTE 'EXPLAIN SELECT id FROM key WHERE ' || given.condition INTO plan;
        ASSERT plan LIKE 'Index Only Scan using key_gist%', plan;
        EXECUTE 'UPDATE found SET by_key = (SELECT count(id::text) + count(*) - count(id) FROM key
            WHERE ' || given.condition || '),
            by_filled = (SELECT count(id::text) + count(*) - count(id) FROM filled
                WHERE ' || given.condition || ') WHERE condition = $1' USING given.condition;
        RESET enable_bitmapscan;
        RESET enable_seqscan;
    END LOOP;
END $$;
TABLE found;
-- the values come out of the index as they went in
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM key WHERE id = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ';
SELECT id FROM key WHERE id = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ';
EXPLAIN (COSTS OFF) SELECT id FROM key
    WHERE id <@ tstzrange('2026-01-01 04:00Z', '2026-01-01 05:00Z');
-- a uuid is found through the implicit cast, and a uuid column can be indexed with the class
SELECT count(*) FROM key WHERE id = '019b76da-a800-0000-0000-000000000000'::uuid;
CREATE TABLE other (id uuid);
CREATE INDEX ON other USING gist (id ulid_ops);
INSERT INTO other SELECT id FROM key;
EXPLAIN (COSTS OFF) SELECT count(*) FROM other WHERE id = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'::ulid;
SELECT count(*) FROM other WHERE id = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'::ulid;
RESET enable_seqscan;
RESET enable_bitmapscan;

DROP VIEW entry;
DROP TABLE booking, filled, found, key, one, other;
DROP EXTENSION ulid_gist;

-- without the class, and for GIN, the cast to uuid serves, which costs nothing
CREATE EXTENSION btree_gin;
CREATE TABLE by_cast (room ulid, period tstzrange,
    EXCLUDE USING gist ((room::uuid) WITH =, period WITH &&));
INSERT INTO by_cast VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-01-01, 2026-01-03)'),
    ('01ARYZ6S41TSV4RRFFQ69G5FAW', '[2026-01-01, 2026-01-03)');
INSERT INTO by_cast VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-01-02, 2026-01-04)');
CREATE TABLE by_gin (room ulid);
CREATE INDEX ON by_gin USING gin ((room::uuid));
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT FROM by_gin WHERE room::uuid = '01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid::uuid;
RESET enable_seqscan;
DROP TABLE by_cast, by_gin;
DROP EXTENSION btree_gin;

-- an extension ulid whose type is another one is not extended
\set SHOW_CONTEXT never
BEGIN;
UPDATE pg_type SET typreceive = 'bytearecv'::regproc WHERE oid = 'ulid'::regtype;
CREATE EXTENSION ulid_gist;
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
DROP EXTENSION btree_gist;
DROP SCHEMA parts;
RESET client_min_messages;
