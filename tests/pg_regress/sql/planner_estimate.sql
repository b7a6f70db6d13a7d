-- Estimates are for ids and windows alone, whatever names the estimator and whatever the statistics
-- say. The functions of the operators have them, too.

\set ECHO none
\getenv directory PG_ABS_SRCDIR
\set setup :directory /setup/planner.sql
\i :setup
\set ECHO all

-- an operator of somebody's own that names the estimator has the estimate where nothing is known
CREATE TABLE foreign_types (big bigint, t text, u uuid, id ulid);
INSERT INTO foreign_types SELECT n * 1000003, 'x' || n, md5(n::text)::uuid,
    ulid_lower_bound('2025-01-01Z'::timestamptz + n * interval '1 hour')
FROM generate_series(1, 1000) AS n;
ANALYZE foreign_types;
CREATE SCHEMA somebody;
SET search_path = public, somebody;
DO $$
DECLARE
    l text;
    r text;
BEGIN
    FOR l, r IN VALUES ('anyelement', 'tstzrange'), ('bigint', 'tstzrange'), ('bigint', 'text'),
        ('ulid', 'bigint') LOOP
        EXECUTE format('CREATE FUNCTION somebody.always(%s, %s) RETURNS boolean IMMUTABLE '
            'LANGUAGE plpgsql AS ''BEGIN RETURN true; END'';
            CREATE OPERATOR somebody.=== (LEFTARG = %1$s, RIGHTARG = %2$s, FUNCTION = always,
                RESTRICT = ulid_range_sel)', l, r);
    END LOOP;
END $$;
SELECT condition, estimate('SELECT FROM foreign_types WHERE ' || condition) FROM (VALUES
    ($$big === '[2025-01-01,2025-01-02)'::tstzrange$$),
    ($$t === '[2025-01-01,2025-01-02)'::tstzrange$$),
    ($$big === '2025-01-01'::text$$),
    ($$id === 1::bigint$$)) AS v (condition);
-- a uuid is read as a ulid: half of those that are random are before the middle of the times
SELECT estimate('SELECT FROM foreign_types WHERE u === ''(,6429-10-17)''::tstzrange')
    BETWEEN 400 AND 600 AS half;
-- statistics that no ANALYZE would write, as the owner of a table can restore them from 18 on:
-- estimates are of 1 to all rows
CREATE TABLE measured (id ulid);
INSERT INTO measured SELECT gen_ulid() FROM generate_series(1, 1000);
ANALYZE measured;
SET allow_system_table_mods = on;
DO $$
DECLARE
    damaged record;
    condition text;
    rows numeric;
BEGIN
    FOR damaged IN SELECT * FROM (VALUES
        (0::real, NULL, NULL, '{01ARYZ6S41TSV4RRFFQ69G5FAV}'),
        (0, NULL, NULL,
            '{7ZZZZZZZZZZZZZZZZZZZZZZZZZ,01ARYZ6S41TSV4RRFFQ69G5FAV,00000000000000000000000000}'),
        ('NaN', '{01ARYZ6S41TSV4RRFFQ69G5FAV}', '{NaN}', NULL),
        (2, '{01ARYZ6S41TSV4RRFFQ69G5FAV}', '{5}',
            '{01ARYZ6S41TSV4RRFFQ69G5FAV,01ARYZ6S41TSV4RRFFQ69G5FAV}'),
        (-1, '{01ARYZ6S41TSV4RRFFQ69G5FAV}', '{Infinity}',
            '{00000000000000000000000000,00000000000000000000000000}')
    ) AS v (nulls, common, frequencies, histogram) LOOP
        UPDATE pg_statistic SET stanullfrac = damaged.nulls,
            stakind1 = CASE WHEN damaged.common IS NULL THEN 0 ELSE 1 END,
            stanumbers1 = damaged.frequencies::real[],
            stavalues1 = array_in(damaged.common::cstring, 'ulid'::regtype, -1),
            stakind2 = CASE WHEN damaged.histogram IS NULL THEN 0 ELSE 2 END,
            stanumbers2 = NULL,
            stavalues2 = array_in(damaged.histogram::cstring, 'ulid'::regtype, -1)
        WHERE starelid = 'measured'::regclass;
        FOREACH condition IN ARRAY ARRAY['id <@ tstzrange(''2016-01-01'', ''2017-01-01'')',
            'id <@ tstzrange(NULL, NULL)', 'id <@ ''empty''', 'ulid_starts_with(id, ''01'')'] LOOP
            rows := estimate('SELECT FROM measured WHERE ' || condition);
            ASSERT rows BETWEEN 1 AND 1000, format('%s of %s with %s', rows, condition, damaged);
        END LOOP;
    END LOOP;
END $$;
RESET allow_system_table_mods;
DROP TABLE measured;

-- our own operator, where the id is the constant and the window the column
CREATE TABLE windows (w tstzrange);
INSERT INTO windows SELECT tstzrange('2025-01-01Z'::timestamptz + n * interval '1 hour', NULL)
    FROM generate_series(1, 1000) AS n;
ANALYZE windows;
SELECT condition, estimate('SELECT FROM windows WHERE ' || condition) FROM (VALUES
    ($$'01JH6R5E000000000000000000'::ulid <@ w$$),
    ($$w @> '01JH6R5E000000000000000000'::ulid$$),
    ($$ulid_contained_by_range('01JH6R5E000000000000000000', w)$$)) AS v (condition);
DROP TABLE windows;
SET client_min_messages = warning;
DROP SCHEMA somebody CASCADE;
RESET client_min_messages;
RESET search_path;
DROP TABLE foreign_types;

-- the functions of the operators have their estimate
SELECT condition, abs(estimate('SELECT FROM plain WHERE ' || condition) / 240 - 1) < 0.2 AS near
FROM (VALUES
    ($$id <@ '[2025-01-10Z,2025-01-20Z)'$$),
    ($$ulid_contained_by_range(id, '[2025-01-10Z,2025-01-20Z)')$$),
    ($$range_contains_ulid('[2025-01-10Z,2025-01-20Z)', id)$$)) AS v (condition);
-- joins on windows have core's estimate for containment, one in a thousand pairs
SELECT condition, estimate('SELECT FROM two, plain WHERE ' || condition) FROM (VALUES
    ('id <@ tstzrange(to_timestamp(i), NULL)'),
    ('ulid_contained_by_range(id, tstzrange(to_timestamp(i), NULL))')) AS v (condition);

:drop
