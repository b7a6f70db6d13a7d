-- What equal() finds by the predicate itself is found: an index, a partition key, statistics, what
-- ON CONFLICT names, and grouping sets.

\set ECHO none
\getenv directory PG_ABS_SRCDIR
\set setup :directory /setup/planner.sql
\i :setup
\set ECHO all

-- the ways to the table that ON CONFLICT names
CREATE UNIQUE INDEX part_in_january ON part (id) WHERE id <@ '[2025-01-01Z,2025-02-01Z)';
CREATE UNIQUE INDEX part_expression ON part (id, (id <@ '[2025-01-01Z,2025-02-01Z)'));
INSERT INTO part SELECT * FROM part WHERE n = 1
    ON CONFLICT (id) WHERE id <@ '[2025-01-01Z,2025-02-01Z)' DO UPDATE SET n = -1
        WHERE part.id <@ '[2025-01-01Z,2025-02-01Z)'
        RETURNING n, id <@ '[2025-01-01Z,2025-02-01Z)' AS within;
INSERT INTO part SELECT * FROM part WHERE n = 2
    ON CONFLICT (id, (id <@ '[2025-01-01Z,2025-02-01Z)')) DO UPDATE SET n = -2 RETURNING n;
CREATE UNIQUE INDEX part_within ON part (id) WHERE n = 1000 OR id <@ '[2025-01-02Z,2025-02-01Z)';
INSERT INTO part SELECT * FROM part WHERE n = 30
    ON CONFLICT (id) WHERE n = 1000 OR id <@ '[2025-01-02Z,2025-02-01Z)' DO UPDATE SET n = -30
        RETURNING n;
DROP INDEX part_within;
DROP INDEX part_expression;
WITH u AS (UPDATE part SET n = -n WHERE n < 0 AND id <@ '[2025-01-01Z,2025-02-01Z)' RETURNING n)
    SELECT n FROM u ORDER BY n;

-- an index with a window as its condition serves queries with the same window, and no other
SET enable_seqscan = off;
SELECT query, scanned(query) FROM (VALUES
    ($$SELECT * FROM part WHERE id <@ '[2025-01-01Z,2025-02-01Z)'$$),
    ($$SELECT * FROM part WHERE id <@ '[2025-01-02Z,2025-01-03Z)'$$)) AS v (query);
RESET enable_seqscan;
DROP INDEX part_in_january;

-- whatever is found by the predicate itself is found: a condition or an expression of an index, at
-- any depth
SET enable_seqscan = off;
CREATE TABLE deep (id ulid, n int) PARTITION BY RANGE (id);
CREATE TABLE deep_1 PARTITION OF deep FOR VALUES FROM (ulid_lower_bound('2025-01-01Z'))
    TO (ulid_lower_bound('2025-01-15Z'));
CREATE TABLE deep_2 PARTITION OF deep DEFAULT;
CREATE INDEX deep_case ON deep ((CASE WHEN id <@ '[2025-01-01Z,2025-01-03Z)' THEN n END));
SELECT scanned($$SELECT n FROM deep
    WHERE CASE WHEN id <@ '[2025-01-01Z,2025-01-03Z)' THEN n END = 7$$);
CREATE INDEX deep_or ON deep (n) WHERE n > 990 OR id <@ '[2025-01-10Z,2025-01-12Z)';
CREATE INDEX deep_not ON deep (n) WHERE NOT id <@ '[2025-01-01Z,2025-02-01Z)';
SELECT query, scanned(query) FROM (VALUES
    ($$SELECT n FROM deep WHERE n > 990 OR id <@ '[2025-01-10Z,2025-01-12Z)'$$),
    ($$SELECT n FROM deep WHERE NOT id <@ '[2025-01-01Z,2025-02-01Z)'$$)) AS v (query);
DROP INDEX deep_or, deep_not, deep_case;
SELECT scanned($$SELECT FROM deep WHERE id <@ '[2025-01-10Z,2025-01-12Z)'$$);
RESET enable_seqscan;
-- a partition key
CREATE TABLE by_window (id ulid, n int)
    PARTITION BY RANGE ((id <@ '[2025-01-01Z,2025-01-03Z)'), id);
CREATE TABLE by_window_0 PARTITION OF by_window FOR VALUES FROM (false, MINVALUE)
    TO (true, MINVALUE);
CREATE TABLE by_window_1 PARTITION OF by_window FOR VALUES FROM (true, MINVALUE)
    TO (MAXVALUE, MAXVALUE);
SELECT scanned($$SELECT FROM by_window WHERE id <@ '[2025-01-01Z,2025-01-03Z)'$$);
DROP TABLE by_window;
-- and statistics
INSERT INTO deep SELECT id, n FROM part;
CREATE STATISTICS deep_statistics ON (CASE WHEN id <@ '[2025-01-10Z,2025-01-12Z)' THEN n END)
    FROM deep;
ANALYZE deep;
SELECT estimate($$SELECT FROM deep
    GROUP BY CASE WHEN id <@ '[2025-01-10Z,2025-01-12Z)' THEN n END$$) < 100 AS estimated;
DROP TABLE deep;

-- grouping sets null whatever equals a grouping expression, so the predicate stays what was written
-- if one of them calls it
SELECT id <@ '[2025-01-10Z,2025-01-12Z)' AS within, count(*) FROM part
GROUP BY ROLLUP ((id <@ '[2025-01-10Z,2025-01-12Z)')) HAVING id <@ '[2025-01-10Z,2025-01-12Z)';
SELECT (id <@ '[2025-01-10Z,2025-01-12Z)') AND count(*) > 0 AS within, count(*) FROM part
GROUP BY ROLLUP ((id <@ '[2025-01-10Z,2025-01-12Z)')) ORDER BY 1, 2;
SELECT id <@ '[2025-01-10Z,2025-01-12Z)' AS within, '[2025-01-10Z,2025-01-12Z)' @> id AS contained,
    count(*) FROM part
GROUP BY CUBE (id <@ '[2025-01-10Z,2025-01-12Z)', '[2025-01-10Z,2025-01-12Z)' @> id)
ORDER BY 1, 2, 3;
SELECT ulid_starts_with(id, '01J') AND count(*) > 0 AS starts, count(*) FROM part
GROUP BY ROLLUP (ulid_starts_with(id, '01J')) ORDER BY 1, 2;
-- also where the call is in a function that the planner expands, or in a sub-select that it pulls
-- up
CREATE FUNCTION is_within(ulid) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT $1 <@ '[2025-01-10Z,2025-01-12Z)'::tstzrange $$;
CREATE FUNCTION contained(ulid) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT '[2025-01-10Z,2025-01-12Z)'::tstzrange @> $1 $$;
SELECT is_within(id) AND count(*) > 0 AS within, contained(id), count(*) FROM part
GROUP BY CUBE (is_within(id), contained(id)) ORDER BY 1, 2, 3;
SELECT within AND count(*) > 0 AS within, count(*)
FROM (SELECT id <@ '[2025-01-10Z,2025-01-12Z)' AS within FROM part) AS q
GROUP BY GROUPING SETS ((within), ()) ORDER BY 1, 2;
DROP FUNCTION is_within, contained;
-- or if one of them is the cast of a uuid column
CREATE TABLE part_by_uuid (id uuid) PARTITION BY RANGE (id);
CREATE TABLE part_by_uuid_1 PARTITION OF part_by_uuid FOR VALUES FROM (MINVALUE)
    TO ('01942f04-0000-0000-0000-000000000000');
CREATE TABLE part_by_uuid_default PARTITION OF part_by_uuid DEFAULT;
INSERT INTO part_by_uuid VALUES (ulid_lower_bound('2025-01-11Z'));
SELECT id::ulid <@ '[2025-01-10Z,2025-01-12Z)' AS within, count(*) FROM part_by_uuid
GROUP BY ROLLUP (id::ulid) ORDER BY GROUPING(id::ulid);
SELECT id::ulid, count(*) FROM part_by_uuid
GROUP BY ROLLUP (id::ulid) HAVING ulid_starts_with(id, '01J');
-- in WHERE, which is below them, it prunes
SELECT scanned($$SELECT FROM part_by_uuid WHERE id::ulid <@ '[2025-01-10Z,2025-01-12Z)'
    GROUP BY ROLLUP (id::ulid)$$);
DROP TABLE part_by_uuid;
-- nor is anything put there that equals a grouping expression: the column is in each set, so each
-- row counts twice
CREATE FUNCTION groups(expression text, condition text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    result bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM (SELECT FROM part '
        'GROUP BY GROUPING SETS ((id, (%s)), (id)) HAVING %s) AS q', expression, condition)
        INTO result;
    RETURN result;
END $$;
SELECT expression, condition, groups(expression, condition) FROM (VALUES
    ($$id >= ulid_range_lower('[2025-01-10Z,2025-01-12Z)')$$),
    ($$id <= ulid_range_upper('[2025-01-10Z,2025-01-12Z)')$$)) AS e (expression),
    (VALUES ($$id <@ '[2025-01-10Z,2025-01-12Z)'$$),
        ($$bool_or(id <@ '[2025-01-10Z,2025-01-12Z)')$$),
        ($$'[2025-01-10Z,2025-01-12Z)' @> id$$)) AS c (condition)
ORDER BY expression COLLATE "C", condition COLLATE "C";
SELECT expression, groups(expression, $$ulid_starts_with(id, '01J')$$) FROM (VALUES
    ($$id >= ulid_prefix_lower('01J')$$), ($$id <= ulid_prefix_upper('01J')$$)) AS e (expression)
ORDER BY expression COLLATE "C";
DROP FUNCTION groups;
SET plan_cache_mode = force_generic_plan;
PREPARE lower_bound (tstzrange) AS SELECT count(*)
    FROM (SELECT FROM part GROUP BY GROUPING SETS ((id, ulid_range_lower($1)), (id))
        HAVING id <@ $1) AS q;
EXECUTE lower_bound ('[2025-01-10Z,2025-01-12Z)');
PREPARE first_characters (text) AS SELECT count(*)
    FROM (SELECT FROM part GROUP BY GROUPING SETS ((id, ulid_starts_with_lower($1)), (id))
        HAVING ulid_starts_with(id, $1)) AS q;
EXECUTE first_characters ('01J');
RESET plan_cache_mode;
-- what a parameter leaves out is not evaluated
PREPARE left_out (boolean) AS SELECT count(*)
    FROM (SELECT count(*) FROM part WHERE id <@ '[2025-01-10Z,2025-01-12Z)'
    GROUP BY GROUPING SETS ((CASE WHEN $1 THEN 1 / 0 END), ())) AS q;
EXECUTE left_out (false);
PREPARE left_out_too (boolean) AS SELECT count(*) FILTER (WHERE id <@ '[2025-01-10Z,2025-01-12Z)')
    FROM part
    GROUP BY GROUPING SETS ((CASE WHEN $1 THEN 1 / 0 END), ());
EXECUTE left_out_too (false);
DEALLOCATE ALL;
-- where none of these calls it outside of aggregates, partitions are pruned
SELECT condition, scanned('SELECT n FROM part WHERE ' || condition) FROM (VALUES
    ($$id <@ '[2025-01-10Z,2025-01-12Z)' GROUP BY ROLLUP (n)$$),
    ($$id <@ '[2025-01-10Z,2025-01-12Z)' GROUP BY ROLLUP (n, lpad(n::text, 3))$$),
    ($$id <@ '[2025-01-10Z,2025-01-12Z)'
        GROUP BY n, CUBE (n % 7, lower('[2025-01-10Z,2025-01-12Z)'::tstzrange))$$),
    ($$id <@ '[2025-01-10Z,2025-01-12Z)'
        GROUP BY ROLLUP (n, (id >= ulid_range_lower('[2025-01-10Z,2025-01-12Z)')))$$),
    ($$id <@ '[2025-01-10Z,2025-01-12Z)'
        GROUP BY ROLLUP (n) HAVING bool_or(id <@ '[2025-01-10Z,2025-01-11Z)')$$)) AS v
        (condition);

:drop
