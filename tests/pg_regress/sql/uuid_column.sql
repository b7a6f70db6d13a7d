-- A column of type uuid has, by its own index and its own partitions, what a ulid column has. The
-- answer is always that of the time, or of the cast.

\pset format unaligned
\pset footer off
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;

-- one id each 100 seconds, in a table of uuid and one of ulid
CREATE TABLE held (id uuid PRIMARY KEY, n int);
INSERT INTO held
    SELECT ulid_lower_bound('2025-01-01Z'::timestamptz + n * interval '100 seconds')::uuid, n
    FROM generate_series(0, 19999) AS n;
CREATE TABLE native (id ulid PRIMARY KEY, n int);
INSERT INTO native SELECT id, n FROM held;
ANALYZE held, native;

-- what the table needs is chosen without any setting: the index of the primary key
\set ECHO none
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        RETURN NEXT line;
    END LOOP;
END $$;
\getenv directory PG_ABS_SRCDIR
\set setup :directory /setup/estimate.sql
\i :setup
\set ECHO all
-- min and max are those of uuid, by the index, as ORDER BY and LIMIT are
SELECT pg_typeof(min(id)), pg_typeof(max(id)), min(id), max(id),
    min(id) = (SELECT id FROM held ORDER BY id LIMIT 1) AS first,
    max(id) = (SELECT id FROM held ORDER BY id DESC LIMIT 1) AS last FROM held;
SELECT trim(line, ' ->') AS scan FROM plan('SELECT min(id), max(id) FROM held') AS p (line)
WHERE line LIKE '%Scan%';
SELECT max(id) FROM held WHERE id < (SELECT max(id) FROM held WHERE n < 10);
SELECT min(id), max(id) FROM held WHERE false;
SELECT min(id), max(id), pg_typeof(max(id)) FROM (VALUES (NULL::uuid),
    ('019c4670-c3b7-7a71-b427-000000000002'), ('019c4670-c3b7-7a71-b427-000000000001')) AS v (id);
-- without an index, and combined of workers
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT plan('SELECT max(id) FROM held') LIKE '%Finalize Aggregate%' AS combined LIMIT 1;
SELECT n % 2 AS odd, min(id) = min(id::ulid)::uuid AS min, max(id) = max(id::ulid)::uuid AS max
FROM held GROUP BY 1 ORDER BY 1;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET enable_indexscan;
RESET enable_indexonlyscan;
SET max_parallel_workers_per_gather = 0;
-- a column of ulid has those of ulid, and so has a domain over each
CREATE DOMAIN held_key AS uuid;
SELECT pg_typeof(max(id)), pg_typeof(max(id::uuid::held_key)) FROM native;
DROP DOMAIN held_key;
-- a database's own aggregate in another schema: the first schema in the path that has one
CREATE SCHEMA own;
CREATE FUNCTION own.always(text, uuid) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'own' $$;
CREATE AGGREGATE own.max(uuid) (SFUNC = own.always, STYPE = text);
SET search_path = own, public;
SELECT max(id) FROM held;
SET search_path = public, own;
SELECT pg_typeof(max(id)) FROM held;
RESET search_path;
DROP AGGREGATE own.max(uuid);
DROP FUNCTION own.always(text, uuid);
DROP SCHEMA own;

-- an untyped literal has two candidates, as core's ranges are some
\set VERBOSITY terse
SELECT plan($$SELECT n FROM held WHERE id <@ '[2025-01-10Z,2025-01-11Z)'$$);
\set VERBOSITY default
SELECT plan($$SELECT n FROM held WHERE id <@ tstzrange('2025-01-10Z', '2025-01-10 01:00Z')$$);
SELECT plan($$SELECT n FROM held WHERE id = '01JH6R5E000000000000000000'::ulid$$);
SELECT plan($$SELECT n FROM held WHERE ulid_starts_with(id, '01JH6R5')$$);
-- parameters, in a plan for all of them
SET plan_cache_mode = force_generic_plan;
PREPARE equal (ulid) AS SELECT n FROM held WHERE id = $1;
EXPLAIN (COSTS OFF) EXECUTE equal ('01JH6R5E000000000000000000');
EXECUTE equal (ulid_lower_bound('2025-01-10Z'));
PREPARE within (tstzrange) AS SELECT count(*), min(n), max(n) FROM held WHERE id <@ $1;
EXPLAIN (COSTS OFF) EXECUTE within ('[2025-01-10Z,2025-01-11Z)');
EXECUTE within ('[2025-01-10Z,2025-01-11Z)');
EXECUTE within (NULL);
RESET plan_cache_mode;
DEALLOCATE ALL;

-- and is estimated as on a ulid column
SELECT condition,
    abs(estimate('SELECT FROM held WHERE ' || condition)
    / estimate('SELECT FROM native WHERE ' || condition) - 1) < 0.2 AS near FROM (VALUES
    ($$id <@ '[2025-01-10Z,2025-01-11Z)'::tstzrange$$),
    ($$ulid_starts_with(id, '01JH6')$$),
    ($$id = '01JH6R5E000000000000000000'::ulid$$),
    ($$id < '01JH6R5E000000000000000000'::ulid$$)) AS v (condition);

-- the answers, by each kind of index: those of the ulid column, on either side of the bounds
\set ECHO none
CREATE FUNCTION answers(query text, variants text[]) RETURNS TABLE (variant text, same boolean)
    LANGUAGE plpgsql AS $$
DECLARE
    expected text;
    found text;
BEGIN
    EXECUTE format(query, 'native') INTO expected;
    FOREACH variant IN ARRAY variants LOOP
        EXECUTE format(query, variant) INTO found;
        same := found IS NOT DISTINCT FROM expected;
        RETURN NEXT;
    END LOOP;
END $$;
\set ECHO all
CREATE TABLE by_hash AS SELECT * FROM held;
CREATE INDEX by_hash_id ON by_hash USING hash (id);
CREATE TABLE by_brin AS SELECT * FROM held;
CREATE INDEX by_brin_id ON by_brin USING brin (id uuid_minmax_ops) WITH (pages_per_range = 4);
CREATE TABLE by_desc AS SELECT * FROM held;
CREATE INDEX by_desc_id ON by_desc (n, id DESC);
CREATE DOMAIN uuid_key AS uuid;
CREATE TABLE by_domain (id uuid_key, n int);
INSERT INTO by_domain SELECT * FROM held;
CREATE INDEX by_domain_id ON by_domain (id);
ANALYZE by_hash, by_brin, by_desc, by_domain;
SET enable_seqscan = off;
SELECT operator, bound, bool_and(same) AS same
FROM unnest(ARRAY['<', '<=', '=', '>=', '>', '<>']) AS operator,
    unnest(ARRAY[ulid_lower_bound('2025-01-10Z'), ulid_upper_bound('2025-01-10Z'),
        '00000000000000000000000000', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ']) AS bound,
    answers(format('SELECT array[count(*), sum(n)] FROM %%1$I WHERE id %s %2$L::ulid UNION ALL '
        'SELECT array[count(*), sum(n)] FROM %%1$I WHERE %2$L::ulid %1$s id', operator, bound),
            ARRAY['held', 'by_hash', 'by_brin', 'by_desc', 'by_domain'])
GROUP BY 1, 2 ORDER BY 1, 2;
SELECT plan
FROM unnest(ARRAY['id < %L::ulid', 'id <= %L::ulid', 'id >= %L::ulid', 'id > %L::ulid',
    '%L::ulid > id', '%L::ulid = id']) AS condition,
    plan(format('SELECT n FROM held WHERE ' || condition, '01JGFJJZ000000000000000000'))
        WHERE plan LIKE '%Cond%';
SELECT plan($$SELECT n FROM by_hash WHERE id = '01JH6R5E000000000000000000'::ulid$$);
SELECT plan($$SELECT n FROM by_brin WHERE id <@ '[2025-01-10Z,2025-01-11Z)'::tstzrange$$);
SELECT plan($$SELECT n FROM by_domain WHERE id <@ '[2025-01-10Z,2025-01-11Z)'::tstzrange$$);
RESET enable_seqscan;
-- grouping sets null a comparison that is written as a call
SELECT NOT ulid_eq(id, '01JGFJJZ000000000000000000') AS differs, count(*) FROM held
GROUP BY ROLLUP (ulid_eq(id, '01JGFJJZ000000000000000000')) ORDER BY 2;
SELECT count(*) FROM (SELECT FROM held WHERE n < 3
    GROUP BY GROUPING SETS ((id, (id >= '01JGFJJZ000000000000000000'::ulid)), (id))
    HAVING NOT ulid_lt(id, '01JGFJJZ000000000000000000')) AS q;
-- what has no hook scans the table: an array, and the inner side of a join; an index of ulid's
-- class serves these
SELECT plan($$SELECT n FROM held WHERE id = ANY ('{01JH6R5E000000000000000000}'::ulid[])$$);
CREATE INDEX held_id_ulid ON held (id ulid_ops);
SELECT plan($$SELECT n FROM held WHERE id = ANY ('{01JH6R5E000000000000000000}'::ulid[])$$);
DROP INDEX held_id_ulid;
DROP TABLE by_hash, by_brin, by_desc, by_domain;
DROP DOMAIN uuid_key;

-- a class of somebody's own over uuid is used as it says; a family without our operators is not
-- used
CREATE FUNCTION uuid_cmp_reversed(uuid, uuid) RETURNS int LANGUAGE sql IMMUTABLE STRICT
    AS 'SELECT pg_catalog.uuid_cmp($2, $1)';
CREATE OPERATOR CLASS uuid_reversed_ops FOR TYPE uuid USING btree AS
    OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <,
    FUNCTION 1 uuid_cmp_reversed(uuid, uuid);
CREATE TABLE reversed AS SELECT * FROM held;
CREATE INDEX reversed_id ON reversed (id uuid_reversed_ops);
SET enable_seqscan = off;
SELECT count(*), min(n), max(n) FROM reversed WHERE id <@ '[2025-01-10Z,2025-01-11Z)'::tstzrange;
SELECT count(*), min(n), max(n) FROM reversed WHERE id <= ulid_lower_bound('2025-01-10Z');
RESET enable_seqscan;
DROP TABLE reversed;
DROP OPERATOR FAMILY uuid_reversed_ops USING btree;
DROP FUNCTION uuid_cmp_reversed;

-- partitions by ranges of uuid are pruned, also by what is known only when the query runs
CREATE TABLE part (id uuid, n int) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (MINVALUE)
    TO ('01942f04-0000-0000-0000-000000000000');
CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM ('01942f04-0000-0000-0000-000000000000')
    TO (MAXVALUE);
INSERT INTO part SELECT * FROM held;
ANALYZE part;
SELECT plan($$SELECT n FROM part WHERE id <@ '[2025-01-02Z,2025-01-03Z)'::tstzrange$$);
SELECT plan($$SELECT n FROM part WHERE ulid_starts_with(id, '01JGGG')$$);
SET plan_cache_mode = force_generic_plan;
PREPARE within (tstzrange) AS SELECT n FROM part WHERE id <@ $1;
EXPLAIN (COSTS OFF) EXECUTE within ('[2025-01-02Z,2025-01-03Z)');
RESET plan_cache_mode;
DEALLOCATE ALL;
SELECT condition, bool_and(same) AS same FROM (VALUES
    ($$id <@ '[2025-01-02Z,2025-01-03Z)'::tstzrange$$), ($$id <@ '[2025-01-02Z,)'::tstzrange$$),
    ($$id <@ 'empty'::tstzrange$$), ($$'(,2025-01-20Z)'::tstzrange @> id$$),
    ($$ulid_starts_with(id, '01JG')$$), ($$NOT id <@ '[2025-01-02Z,2025-01-03Z)'::tstzrange$$)) AS v
        (condition),
    answers('SELECT array[count(*), sum(n)] FROM %I WHERE ' || condition, ARRAY['held', 'part'])
GROUP BY 1 ORDER BY 1;
DROP TABLE part;

-- foreign keys: what the triggers run finds the index of the uuid column
CREATE TABLE parent (id ulid PRIMARY KEY);
CREATE TABLE child (parent uuid REFERENCES parent ON DELETE CASCADE ON UPDATE CASCADE, n int);
CREATE INDEX child_parent ON child (parent);
INSERT INTO parent SELECT id FROM native WHERE n < 1000;
INSERT INTO child SELECT id, n FROM held WHERE n < 1000;
ANALYZE parent, child;
SET enable_seqscan = off;
-- the query of the trigger
PREPARE cascade (ulid) AS DELETE FROM ONLY child WHERE $1 = parent::ulid;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE cascade (NULL);
RESET plan_cache_mode;
DEALLOCATE ALL;
RESET enable_seqscan;
DELETE FROM parent WHERE id < ulid_lower_bound('2025-01-01 00:10Z');
UPDATE parent SET id = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'
    WHERE id = ulid_lower_bound('2025-01-01 00:10Z');
SELECT count(*), min(n), max(parent::ulid) FROM child;
INSERT INTO child VALUES (ulid_lower_bound('2025-01-01Z')::uuid, 0);
-- the other way round there is no foreign key: of a column of type uuid only a uuid is the equal
\set VERBOSITY terse
CREATE TABLE child_ulid (parent ulid REFERENCES held);
\set VERBOSITY default
DROP TABLE parent, child;

-- what the role may not execute, the planner does not put in place of what it wrote
CREATE ROLE regress_uuid_reader;
GRANT SELECT ON held TO regress_uuid_reader;
ALTER TABLE held ENABLE ROW LEVEL SECURITY;
CREATE POLICY first_ones ON held USING (n < 10000);
SET enable_seqscan = off;
REVOKE EXECUTE ON FUNCTION pg_catalog.uuid_ge(uuid, uuid) FROM PUBLIC;
SET ROLE regress_uuid_reader;
SELECT count(*), max(n) FROM held WHERE id <@ '[2025-01-10Z,2025-01-20Z)'::tstzrange;
SELECT count(*), max(n) FROM held WHERE id >= ulid_lower_bound('2025-01-10Z');
RESET ROLE;
GRANT EXECUTE ON FUNCTION pg_catalog.uuid_ge(uuid, uuid) TO PUBLIC;
SET ROLE regress_uuid_reader;
SELECT count(*), max(n) FROM held WHERE id <@ '[2025-01-10Z,2025-01-20Z)'::tstzrange;
SELECT count(*), max(n) FROM held WHERE id >= ulid_lower_bound('2025-01-10Z');
RESET ROLE;
-- nor does it put anything in place of what the role may not execute
CREATE TABLE open (id uuid PRIMARY KEY);
GRANT SELECT ON open TO regress_uuid_reader;
REVOKE EXECUTE ON FUNCTION ulid_eq(ulid, ulid), ulid_range_lower(tstzrange) FROM PUBLIC;
SET ROLE regress_uuid_reader;
SELECT count(*) FROM open WHERE id = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'::ulid;
RESET ROLE;
RESET enable_seqscan;
-- until it may, or another role executes the statement
SET plan_cache_mode = force_generic_plan;
PREPARE within (tstzrange) AS SELECT FROM open WHERE id <@ $1;
SELECT role, plan FROM unnest(ARRAY['regress_uuid_reader', 'none', 'regress_uuid_reader']) AS role,
    plan('EXECUTE within (NULL)' || left(set_config('role', role, false), 0))
        WHERE plan LIKE '%Scan%open';
RESET ROLE;
GRANT EXECUTE ON FUNCTION ulid_eq(ulid, ulid), ulid_range_lower(tstzrange) TO PUBLIC;
SELECT plan('EXECUTE within (NULL)' || left(set_config('role', 'regress_uuid_reader', false), 0))
    LIMIT 1;
RESET ROLE;
DROP TABLE open;

DROP TABLE held, native;
DROP FUNCTION plan, estimate, answers;
DROP ROLE regress_uuid_reader;
