-- What a function raises arrives as it was raised.

\set ECHO none
\getenv directory PG_ABS_SRCDIR
\set setup :directory /setup/planner.sql
\i :setup
\set ECHO all

-- what a function raises arrives as it was raised: while planned, as an index condition, as a
-- filter
CREATE FUNCTION raises(boolean) RETURNS tstzrange LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF $1 THEN
        RAISE EXCEPTION 'what it says' USING ERRCODE = 'P0042', DETAIL = 'where', HINT = 'how',
        CONSTRAINT = 'which';
    END IF;
    RETURN '[2025-01-10Z,2025-01-12Z)';
END $$;
CREATE FUNCTION caught(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text; detail text; hint text; constraint_ text; context text;
BEGIN
    EXECUTE query;
    RETURN 'nothing raised';
EXCEPTION WHEN SQLSTATE 'P0042' THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
    hint = PG_EXCEPTION_HINT,
        constraint_ = CONSTRAINT_NAME, context = PG_EXCEPTION_CONTEXT;
    RETURN concat_ws(', ', message, detail, hint, constraint_, split_part(context, E'\n', 1));
END $$;
SELECT query, caught(query) FROM (VALUES
    ('EXPLAIN SELECT FROM plain WHERE id <@ raises(true)'),
    ('EXPLAIN SELECT FROM plain WHERE raises(true) @> id'),
    ('EXPLAIN SELECT FROM plain WHERE ulid_contained_by_range(id, raises(true))'),
    ('EXPLAIN SELECT FROM part WHERE id <@ raises(true)')) AS v (query);
CREATE TABLE switch AS SELECT true AS raise;
SELECT query, caught(query) FROM (VALUES
    ('SELECT FROM switch, plain WHERE id <@ raises(raise)'),
    ('SELECT FROM switch LEFT JOIN part ON id <@ raises(raise)'),
    ('SELECT id <@ raises(raise) FROM switch, plain'),
    ('SELECT ulid_range_lower(raises(raise)) FROM switch')) AS v (query);
DROP TABLE switch;
-- and so does what core's own cast raises
DO $$ BEGIN
    PERFORM ('294276-12-31 23:59:59'::timestamp)::ulid;
EXCEPTION WHEN datetime_field_overflow THEN RAISE NOTICE '%', SQLERRM; END $$;
SET timezone = 'America/New_York';
DO $$ BEGIN
    PERFORM ('294276-12-31 23:59:59'::timestamp)::ulid;
EXCEPTION WHEN datetime_field_overflow THEN RAISE NOTICE '%', SQLERRM; END $$;
SET timezone = 'UTC';

-- an expression that is nearly as deep as PostgreSQL can plan is no error
CREATE TABLE deep (k int, u uuid, l ulid);
SELECT format('SELECT count(*) FROM part WHERE id <@ tstzrange(now()%s, NULL)',
    repeat(' + ''1s''', 1500)) AS range,
    format('SELECT k%s FROM deep WHERE u = l GROUP BY GROUPING SETS ((k), ())',
    repeat(' + 1', 1500)) AS sets \gset
:range;
:sets;
DROP TABLE deep;

DROP FUNCTION raises, caught;
:drop
