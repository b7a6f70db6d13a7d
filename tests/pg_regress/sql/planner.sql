-- What the planner is told of windows must never crash it, change an answer or show what a role may
-- not see. The answer is always that of the time: range @> ulid_extract_timestamp(id).

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
ANALYZE;

-- a function of a window in FROM, in sub-selects that are pulled up: its expression is moved from
-- query to query
SELECT count(*), count(*) FILTER (WHERE f->>'a' = 'true') AS within
FROM (SELECT part.id, f
    FROM part, LATERAL jsonb_build_object('a', part.id <@ '[2025-01-10Z,2025-01-12Z)') AS f) AS q;
SELECT count(*), count(*) FILTER (WHERE f->>'a' = 'true') AS within
FROM two AS a,
    (SELECT * FROM two AS b, LATERAL (SELECT p.id, f FROM part AS p LEFT JOIN two AS c ON c.i = p.n,
                LATERAL jsonb_build_object('a', p.id <@ '[2025-01-10Z,2025-01-12Z)') AS f) AS q)
                    AS r;
-- the same where other tables come to stand in the place of the first
CREATE TABLE secret (id ulid, c int);
CREATE TABLE secret_big (c bigint);
INSERT INTO secret VALUES (ulid_lower_bound('2025-01-11Z'), 1);
INSERT INTO secret_big VALUES (1);
SELECT count(*) FROM generate_series(1, 2) AS g, (SELECT part.id FROM part,
    LATERAL generate_series(1, (part.id <@ tstzrange('2025-01-10Z', '2025-01-20Z'))::int) AS s)
        AS q,
    (SELECT k1.* FROM secret_big AS k0, secret AS k1) AS r;
-- so that a role learns nothing of a column that it may not read: the count is the same whatever is
-- in there
CREATE ROLE regress_planner_reader;
GRANT SELECT ON part, two, plain, secret_big TO regress_planner_reader;
GRANT SELECT (c) ON secret TO regress_planner_reader;
SET ROLE regress_planner_reader;
SELECT count(*) FROM generate_series(1, 2) AS g, (SELECT part.id FROM part,
    LATERAL generate_series(1, (part.id <@ tstzrange('2025-01-10Z', '2025-01-20Z'))::int) AS s)
        AS q,
    (SELECT k1.c FROM secret_big AS k0, secret AS k1) AS r;
SELECT id FROM secret;
RESET ROLE;
-- a window that is a parameter, moved the same way
PREPARE moved (tstzrange) AS
SELECT count(*), sum(s) FROM two AS a, (SELECT s FROM part AS p LEFT JOIN two AS b ON b.i = p.n,
    LATERAL generate_series(1, (p.id <@ $1)::int) AS s) AS q;
SET plan_cache_mode = force_generic_plan;
EXECUTE moved ('[2025-01-10Z,2025-01-20Z)');
SET plan_cache_mode = force_custom_plan;
EXECUTE moved ('[2025-01-10Z,2025-01-20Z)');
EXECUTE moved (NULL);
RESET plan_cache_mode;
DEALLOCATE moved;

-- a window from two queries further out: both levels are counted down where the sub-selects are
-- pulled up
CREATE TABLE period (p tstzrange);
INSERT INTO period VALUES ('[2025-01-10Z,2025-01-12Z)');
GRANT SELECT ON period TO regress_planner_reader;
SELECT count(*) FROM period, LATERAL (SELECT * FROM two, LATERAL (SELECT s FROM part,
    LATERAL generate_series(1, (part.id <@ p)::int) AS s) AS q) AS r;

-- an operator of somebody's own that names the estimator has the estimate where nothing is known
CREATE TABLE foreign_types (big bigint, t text, span interval, u uuid, id ulid);
INSERT INTO foreign_types SELECT n * 1000003, 'x' || n, n * interval '1 hour', md5(n::text)::uuid,
    ulid_lower_bound('2025-01-01Z'::timestamptz + n * interval '1 hour')
FROM generate_series(1, 1000) AS n;
ANALYZE foreign_types;
CREATE FUNCTION always(anyelement, tstzrange) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
    AS 'BEGIN RETURN true; END';
CREATE FUNCTION always(bigint, tstzrange) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
    AS 'BEGIN RETURN true; END';
CREATE FUNCTION always(bigint, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
    AS 'BEGIN RETURN true; END';
CREATE FUNCTION always(ulid, bigint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
    AS 'BEGIN RETURN true; END';
CREATE OPERATOR === (LEFTARG = anyelement, RIGHTARG = tstzrange, FUNCTION = always,
    RESTRICT = ulid_range_sel);
CREATE OPERATOR === (LEFTARG = bigint, RIGHTARG = tstzrange, FUNCTION = always,
    RESTRICT = ulid_range_sel);
CREATE OPERATOR === (LEFTARG = bigint, RIGHTARG = text, FUNCTION = always,
    RESTRICT = ulid_range_sel);
CREATE OPERATOR === (LEFTARG = ulid, RIGHTARG = bigint, FUNCTION = always,
    RESTRICT = ulid_range_sel);
CREATE FUNCTION estimate(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
    RETURN plan #>> '{0,Plan,Plan Rows}';
END $$;
SELECT condition, estimate('SELECT FROM foreign_types WHERE ' || condition) FROM (VALUES
    ($$big === '[2025-01-01,2025-01-02)'::tstzrange$$),
    ($$t === '[2025-01-01,2025-01-02)'::tstzrange$$),
    ($$big === '2025-01-01'::text$$),
    ($$id === 1::bigint$$)) AS v (condition);
-- 16 bytes of another kind, in another order, are read without harm
SELECT condition, estimate('SELECT FROM foreign_types WHERE ' || condition) BETWEEN 1
    AND 1000 AS any_estimate FROM (VALUES
    ($$span === '[2025-01-01,2025-01-02)'::tstzrange$$),
    ($$u === '[2025-01-01,2025-01-02)'::tstzrange$$)) AS v (condition);
-- statistics that no ANALYZE would write, as the owner of a table can restore them from 18 on:
-- estimates are of 1 to all rows
CREATE TABLE measured (id ulid);
INSERT INTO measured SELECT gen_ulid() FROM generate_series(1, 1000);
ANALYZE measured;
DO $$
DECLARE
    damaged record;
    condition text;
    plan json;
BEGIN
    IF current_setting('server_version_num')::int < 180000 THEN RETURN; END IF;
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
        PERFORM pg_restore_attribute_stats('schemaname', 'public', 'relname', 'measured', 'attname',
            'id', 'inherited', false,
            'version', 180000, 'null_frac', damaged.nulls, 'avg_width', 16, 'n_distinct',
            '-1'::real, 'most_common_vals', damaged.common,
            'most_common_freqs', damaged.frequencies::real[], 'histogram_bounds',
                damaged.histogram);
        FOREACH condition IN ARRAY ARRAY['id <@ tstzrange(''2016-01-01'', ''2017-01-01'')',
            'id <@ tstzrange(NULL, NULL)', 'id <@ ''empty''',
            'ulid_starts_with(id, ''01'')'] LOOP
            EXECUTE 'EXPLAIN (FORMAT json) SELECT FROM measured WHERE ' || condition INTO plan;
            ASSERT (plan #>> '{0,Plan,Plan Rows}')::float8 BETWEEN 1
                AND 1000, format('%s of %s with %s', plan, condition, damaged);
        END LOOP;
    END LOOP;
END $$;
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
DROP OPERATOR === (anyelement, tstzrange);
DROP OPERATOR === (bigint, tstzrange);
DROP OPERATOR === (bigint, text);
DROP OPERATOR === (ulid, bigint);
DROP FUNCTION always(anyelement, tstzrange), always(bigint, tstzrange), always(bigint, text),
    always(ulid, bigint);
DROP TABLE foreign_types;

-- a sub-select runs once, and one that belongs to each row once for each row
CREATE SEQUENCE runs;
CREATE FUNCTION counted(range tstzrange) RETURNS tstzrange
    LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM nextval('runs'); RETURN range; END $$;
CREATE FUNCTION runs_of(query text) RETURNS TABLE (rows bigint, runs bigint) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setval('runs', 1);
    EXECUTE query INTO rows;
    RETURN QUERY SELECT rows, nextval('runs') - 2;
END $$;
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
CREATE FUNCTION scanned(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
    RETURN (SELECT string_agg(DISTINCT name[1], ', ' ORDER BY name[1])
            FROM regexp_matches(plan::text, '"(?:Index|Relation) Name": "(\w+)"', 'g') AS m (name));
END $$;
SELECT query, scanned(query) FROM (VALUES
    ($$SELECT * FROM part WHERE id <@ '[2025-01-01Z,2025-02-01Z)'$$),
    ($$SELECT * FROM part WHERE id <@ '[2025-01-02Z,2025-01-03Z)'$$)) AS v (query);
RESET enable_seqscan;
DROP INDEX part_in_january;
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

-- who may not execute a function gets no answer from it, and needs no right to one that was not
-- called
REVOKE EXECUTE ON FUNCTION ulid_range_lower(tstzrange), ulid_range_upper(tstzrange) FROM PUBLIC;
SET ROLE regress_planner_reader;
SET plan_cache_mode = force_generic_plan;
PREPARE in_plain (tstzrange) AS SELECT count(*) FROM plain WHERE id <@ $1;
PREPARE in_part (tstzrange) AS SELECT count(*) FROM part WHERE id <@ $1;
EXECUTE in_plain ('[2025-01-10Z,2025-01-12Z)');
EXECUTE in_part ('[2025-01-10Z,2025-01-12Z)');
RESET plan_cache_mode;
RESET ROLE;
GRANT EXECUTE ON FUNCTION ulid_range_lower(tstzrange), ulid_range_upper(tstzrange) TO PUBLIC;
REVOKE EXECUTE ON FUNCTION ulid_contained_by_range(ulid, ulid_window) FROM PUBLIC;
DEALLOCATE ALL;
SET ROLE regress_planner_reader;
SELECT count(*) FROM plain WHERE id <@ '[2025-01-10Z,2025-01-12Z)';
SELECT count(*) FROM part WHERE id <@ '[2025-01-10Z,2025-01-12Z)';
RESET ROLE;
GRANT EXECUTE ON FUNCTION ulid_contained_by_range(ulid, ulid_window) TO PUBLIC;

-- under row security a function that tells what it sees is shown only the role's rows
CREATE FUNCTION tells(ulid) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN
    IF NOT $1 <@ '[2025-01-10Z,2025-01-11Z)' THEN RAISE NOTICE 'saw %', $1; END IF;
    RETURN true;
END $$;
ALTER TABLE part ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_day ON part USING (id <@ '[2025-01-10Z,2025-01-11Z)');
SET ROLE regress_planner_reader;
SELECT count(*) FROM part WHERE tells(id);
SELECT count(*) FROM part WHERE tells(id) AND id <@ '[2025-01-10 12:00Z,2025-01-12Z)';
SELECT count(*) FROM part, period WHERE tells(id) AND id <@ p;
RESET ROLE;

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
-- where none calls it, partitions are pruned
SELECT condition, scanned('SELECT n FROM part WHERE ' || condition) FROM (VALUES
    ($$id <@ '[2025-01-10Z,2025-01-12Z)' GROUP BY ROLLUP (n)$$),
    ($$id <@ '[2025-01-10Z,2025-01-12Z)' GROUP BY ROLLUP (n, lpad(n::text, 3))$$),
    ($$id <@ '[2025-01-10Z,2025-01-12Z)'
        GROUP BY n, CUBE (n % 7, lower('[2025-01-10Z,2025-01-12Z)'::tstzrange))$$)) AS v
        (condition);

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

-- what the role may execute decides, also where a plan was made by another role
REVOKE EXECUTE ON FUNCTION ulid_ge(ulid, ulid), ulid_le(ulid, ulid) FROM PUBLIC;
SET ROLE regress_planner_reader;
SELECT count(*) FROM plain WHERE id <@ '[2025-01-10Z,2025-01-12Z)';
SELECT count(*) FROM part WHERE id <@ '[2025-01-10Z,2025-01-12Z)';
RESET ROLE;
SET plan_cache_mode = force_generic_plan;
PREPARE in_part (tstzrange) AS SELECT count(*) FROM part WHERE id <@ $1;
EXECUTE in_part ('[2025-01-10Z,2025-01-12Z)');
SET ROLE regress_planner_reader;
EXECUTE in_part ('[2025-01-10Z,2025-01-12Z)');
RESET ROLE;
GRANT EXECUTE ON FUNCTION ulid_ge(ulid, ulid), ulid_le(ulid, ulid) TO PUBLIC;
REVOKE EXECUTE ON FUNCTION ulid_contained_by_range(ulid, ulid_window) FROM PUBLIC;
SET enable_seqscan = off;
PREPARE in_plain (tstzrange) AS SELECT count(*) FROM plain WHERE id <@ $1;
EXECUTE in_plain ('[2025-01-10Z,2025-01-12Z)');
SET ROLE regress_planner_reader;
EXECUTE in_plain ('[2025-01-10Z,2025-01-12Z)');
RESET ROLE;
GRANT EXECUTE ON FUNCTION ulid_contained_by_range(ulid, ulid_window) TO PUBLIC;
DEALLOCATE ALL;
-- also when it is changed later, and the plan does not name the function
CREATE TABLE days (id ulid) PARTITION BY RANGE (id);
CREATE TABLE days_1 PARTITION OF days FOR VALUES FROM (ulid_lower_bound('2025-01-10Z'))
    TO (ulid_lower_bound('2025-01-12Z'));
INSERT INTO days SELECT ulid_lower_bound('2025-01-11Z');
GRANT SELECT ON days TO regress_planner_reader;
CREATE FUNCTION in_days(ulid) RETURNS boolean LANGUAGE sql AS $$
    SELECT $1 <@ '[2025-01-10Z,2025-01-12Z)'::tstzrange $$;
PREPARE in_days AS SELECT count(*) FROM days WHERE in_days(id);
SET ROLE regress_planner_reader;
EXECUTE in_days;
RESET ROLE;
REVOKE EXECUTE ON FUNCTION ulid_contained_by_range(ulid, ulid_window) FROM PUBLIC;
SET ROLE regress_planner_reader;
EXECUTE in_days;
RESET ROLE;
GRANT EXECUTE ON FUNCTION ulid_contained_by_range(ulid, ulid_window) TO PUBLIC;
DEALLOCATE ALL;
DROP FUNCTION in_days;
DROP TABLE days;
RESET plan_cache_mode;

-- another function under the name of ours is not called
ALTER FUNCTION ulid_range_lower(tstzrange) RENAME TO ulid_range_lower_of_ours;
CREATE FUNCTION ulid_range_lower(tstzrange) RETURNS ulid
    LANGUAGE sql STABLE AS $$ SELECT '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'::ulid $$;
SELECT count(*) FROM period, plain WHERE id <@ p;
DROP FUNCTION ulid_range_lower(tstzrange);
ALTER FUNCTION ulid_range_lower_of_ours(tstzrange) RENAME TO ulid_range_lower;
SELECT count(*) FROM period, plain WHERE id <@ p;
RESET enable_seqscan;

DROP TABLE part, plain, two, secret, secret_big, period;
DROP SEQUENCE runs;
DROP FUNCTION estimate, scanned, counted, runs_of, raises, caught, tells, each_window, in_january;
DROP ROLE regress_planner_reader;
