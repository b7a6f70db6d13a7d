-- What the tests of the planner's hooks share. They include this, and end with :drop.
\pset format unaligned
\pset footer off
SET timezone = 'UTC';

-- one id an hour, 42 days of them: partitioned by their time, and the same rows in a plain table
CREATE TABLE part (id ulid, n int) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (ulid_lower_bound('2025-01-01Z'))
    TO (ulid_lower_bound('2025-01-15Z'));
CREATE TABLE part_2 PARTITION OF part DEFAULT;
INSERT INTO part SELECT ulid_lower_bound('2025-01-01Z'::timestamptz + n * interval '1 hour'), n
    FROM generate_series(0, 999) AS n;
CREATE TABLE plain AS SELECT * FROM part;
CREATE INDEX ON plain (id);
CREATE TABLE two (i int);
INSERT INTO two VALUES (1), (2);
CREATE TABLE period (p tstzrange);
INSERT INTO period VALUES ('[2025-01-10Z,2025-01-12Z)');
ANALYZE;

-- the indexes and tables that the plan of a query reads
CREATE FUNCTION scanned(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
    RETURN (SELECT string_agg(DISTINCT name[1], ', ' ORDER BY name[1])
            FROM regexp_matches(plan::text, '"(?:Index|Relation) Name": "(\w+)"', 'g') AS m (name));
END $$;
\ir estimate.sql
-- the rows of a query that counts, and how often it has called counted()
CREATE SEQUENCE runs;
CREATE FUNCTION counted(range tstzrange) RETURNS tstzrange
    LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM nextval('runs'); RETURN range; END $$;
CREATE FUNCTION runs_of(query text) RETURNS TABLE (rows bigint, runs bigint) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setval('runs', 1);
    EXECUTE query INTO rows;
    RETURN QUERY SELECT rows, nextval('runs') - 2;
END $$;
\set drop 'DROP TABLE part, plain, two, period; DROP SEQUENCE runs; DROP FUNCTION scanned, estimate, counted, runs_of;'
