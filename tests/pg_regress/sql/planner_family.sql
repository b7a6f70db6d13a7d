-- Only our operators, those of uuid, and our functions are used.

\set ECHO none
\getenv directory PG_ABS_SRCDIR
\set setup :directory /setup/planner.sql
\i :setup
\set ECHO all

-- a class of somebody's own, with other operators behind the strategies' numbers, is no index for a
-- window
CREATE FUNCTION ulid_cmp_reversed(ulid, ulid) RETURNS int LANGUAGE sql IMMUTABLE STRICT
    AS 'SELECT public.ulid_cmp($2, $1)';
CREATE OPERATOR CLASS ulid_reversed_ops FOR TYPE ulid USING btree AS
    OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <,
    FUNCTION 1 ulid_cmp_reversed(ulid, ulid);
CREATE TABLE reversed AS SELECT * FROM plain;
CREATE INDEX reversed_id ON reversed (id ulid_reversed_ops);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM reversed WHERE id <@ '[2025-01-10Z,2025-01-12Z)';
SELECT count(*) FROM reversed WHERE '[2025-01-10Z,2025-01-12Z)' @> id;
SELECT count(*) FROM period, reversed WHERE id <@ p;
CREATE TABLE part_reversed (id ulid) PARTITION BY RANGE (id ulid_reversed_ops);
CREATE TABLE part_reversed_1 PARTITION OF part_reversed
    FOR VALUES FROM (ulid_lower_bound('2025-01-11Z')) TO (ulid_lower_bound('2025-01-01Z'));
CREATE TABLE part_reversed_2 PARTITION OF part_reversed DEFAULT;
INSERT INTO part_reversed SELECT id FROM plain;
SELECT count(*) FROM part_reversed WHERE id <@ '[2025-01-10Z,2025-01-12Z)';
DROP TABLE reversed, part_reversed;
DROP OPERATOR FAMILY ulid_reversed_ops USING btree;
DROP FUNCTION ulid_cmp_reversed;
-- an index in descending order of our class is one
CREATE INDEX plain_desc ON plain (id DESC);
SELECT count(*) FROM plain WHERE id <@ '[2025-01-10Z,2025-01-12Z)';
DROP INDEX plain_desc;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- a column whose type is a domain prunes as well
CREATE DOMAIN ulid_key AS ulid CHECK (VALUE IS NOT NULL);
CREATE TABLE by_domain (id ulid_key) PARTITION BY RANGE (id);
CREATE TABLE by_domain_1 PARTITION OF by_domain FOR VALUES FROM (ulid_lower_bound('2025-01-01Z'))
    TO (ulid_lower_bound('2025-01-15Z'));
CREATE TABLE by_domain_2 PARTITION OF by_domain DEFAULT;
CREATE INDEX by_domain_id ON by_domain (id);
INSERT INTO by_domain SELECT id FROM plain;
SELECT condition, scanned('SELECT * FROM by_domain WHERE ' || condition),
    (SELECT r.rows FROM runs_of('SELECT count(*) FROM by_domain WHERE ' || condition) AS r)
FROM (VALUES ($$id <@ '[2025-01-10Z,2025-01-12Z)'$$), ($$'[2025-01-10Z,2025-01-12Z)' @> id$$)) AS v
    (condition);
DROP TABLE by_domain;
DROP DOMAIN ulid_key;

SET enable_seqscan = off;
-- another function under the name of ours is not called
ALTER FUNCTION ulid_range_lower(tstzrange) RENAME TO ulid_range_lower_of_ours;
CREATE FUNCTION ulid_range_lower(tstzrange) RETURNS ulid
    LANGUAGE sql STABLE AS $$ SELECT '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'::ulid $$;
SELECT count(*) FROM period, plain WHERE id <@ p;
DROP FUNCTION ulid_range_lower(tstzrange);
ALTER FUNCTION ulid_range_lower_of_ours(tstzrange) RENAME TO ulid_range_lower;
SELECT count(*) FROM period, plain WHERE id <@ p;
RESET enable_seqscan;

:drop
