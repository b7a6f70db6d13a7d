-- What is evaluated twice gives the same both times, and what belongs to a row or an outer query is
-- evaluated there.

\set ECHO none
\getenv directory PG_ABS_SRCDIR
\set setup :directory /setup/planner.sql
\i :setup
\set ECHO all

-- a sub-select runs once, and one that belongs to each row once for each row
SELECT t, r.* FROM unnest(ARRAY['plain', 'part']) AS t,
    runs_of(format('SELECT count(*) FROM %I WHERE id <@ (SELECT counted(p) FROM period LIMIT 1)',
        t)) AS r;
SELECT t, r.* FROM unnest(ARRAY['plain', 'part']) AS t,
    runs_of(format('SELECT count(*) FROM %I AS t '
        'WHERE n < 10 AND id <@ (SELECT counted(p) FROM period WHERE t.n >= 0 LIMIT 1)', t)) AS r;
SELECT t, r.* FROM unnest(ARRAY['plain', 'part']) AS t,
    runs_of(format('SELECT sum((SELECT count(*) FROM %I AS t '
        'WHERE n < 240 AND id <@ (SELECT counted(p) FROM period WHERE i > 0 LIMIT 1))) FROM two',
        t)) AS r;
-- also where an index would take the sub-select of another table's row as a constant
SELECT t, r.* FROM unnest(ARRAY['plain', 'part']) AS t,
    runs_of(format('SELECT count(*) FROM two, %I AS t '
        'WHERE n < 10 AND id <@ (SELECT counted(p) FROM period WHERE i > 0 LIMIT 1)', t)) AS r;

-- a range that is cheap and the same for all rows prunes partitions, others do not
CREATE FUNCTION cheap() RETURNS tstzrange
    LANGUAGE sql STABLE COST 1 AS $$ SELECT p FROM period LIMIT 1 $$;
CREATE FUNCTION dear() RETURNS tstzrange
    LANGUAGE sql STABLE COST 100 AS $$ SELECT p FROM period LIMIT 1 $$;
CREATE FUNCTION changing() RETURNS tstzrange
    LANGUAGE sql VOLATILE COST 1 AS $$ SELECT p FROM period LIMIT 1 $$;
SELECT condition, scanned('SELECT * FROM part WHERE ' || condition),
    (SELECT r.rows FROM runs_of('SELECT count(*) FROM part WHERE ' || condition) AS r)
FROM (VALUES ('id <@ cheap()'), ('id <@ dear()'), ('id <@ changing()')) AS v (condition);
DROP FUNCTION cheap, dear, changing;

-- an aggregate of an outer query, GROUPING and a window function are evaluated there, once
CREATE TABLE moments AS SELECT '2025-01-10Z'::timestamptz + n * interval '5 days' AS t
    FROM generate_series(0, 2) AS n;
SELECT t, (SELECT count(*) FROM part WHERE id <@ tstzrange(max(o.t), NULL)) AS part,
    (SELECT count(*) FROM plain WHERE id <@ tstzrange(max(o.t), NULL)) AS plain FROM moments AS o
        GROUP BY t ORDER BY t;
SELECT t, (SELECT count(*) FROM part
    WHERE id <@ tstzrange('2025-01-10Z'::timestamptz + GROUPING(o.t) * interval '1 day', NULL))
    AS part,
    (SELECT count(*) FROM plain
        WHERE id <@ tstzrange('2025-01-10Z'::timestamptz + GROUPING(o.t) * interval '1 day', NULL))
        AS plain
FROM moments AS o GROUP BY ROLLUP (t) ORDER BY t;
SELECT count(*) FROM (SELECT max(t) OVER () AS last FROM moments LIMIT 1) AS w, part
WHERE id <@ tstzrange(last, NULL);
SELECT count(*) FROM part GROUP BY n % 1
HAVING ulid_lower_bound('2025-01-10Z') <@ tstzrange(min(ulid_extract_timestamp(id)),
    max(ulid_extract_timestamp(id)));
DROP TABLE moments;

-- a window is remembered only where it is a constant
CREATE FUNCTION each_window() RETURNS TABLE (w tstzrange, within boolean, contains boolean)
    LANGUAGE plpgsql AS $$
BEGIN
    FOREACH w IN ARRAY ARRAY['[2025-01-10Z,2025-01-12Z)', 'empty', NULL, '[2025-01-11Z,)',
        '(,2025-01-11Z)']::tstzrange[] LOOP
        within := ulid_lower_bound('2025-01-11Z') <@ w;
        contains := w @> ulid_lower_bound('2025-01-11Z');
        RETURN NEXT;
    END LOOP;
END $$;
SELECT * FROM each_window();
SELECT count(*) FROM plain
WHERE id <@ ANY
    (ARRAY['[2025-01-10Z,2025-01-11Z)', 'empty', '[2025-01-20Z,2025-01-21Z)']::tstzrange[]);
SELECT count(*) FROM part
WHERE id <@ ANY ('{"[2025-01-10Z,2025-01-11Z)",empty,"[2025-01-20Z,2025-01-21Z)"}'::tstzrange[]);
SELECT count(*)
FROM plain,
    (VALUES ('[2025-01-10Z,2025-01-11Z)'::tstzrange), ('empty'), (NULL),
    ('[2025-01-20Z,2025-01-21Z)')) AS v (p) WHERE p @> id OR n IS NULL;
-- a constant in a function that has settings of its own, which PostgreSQL calls through another
CREATE FUNCTION in_january(ulid) RETURNS boolean LANGUAGE sql STABLE SET timezone = 'UTC' AS $$
    SELECT $1 <@ '[2025-01-01,2025-02-01)' $$;
SELECT count(*) FROM plain WHERE in_january(id);
-- and where the operand is a set, each of its ranges has its answer
SELECT id <@ unnest(ARRAY['[2025-01-01Z,2025-01-02Z)', 'empty']::tstzrange[]) AS within FROM part
WHERE n = 3 ORDER BY 1;

DROP FUNCTION each_window, in_january;
:drop
