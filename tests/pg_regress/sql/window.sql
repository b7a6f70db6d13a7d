-- Windows of time: ulid <@ tstzrange and tstzrange @> ulid, by the index, with an estimate, pruning
-- partitions.

\pset format unaligned
\pset footer off
SET timezone = 'UTC';

-- the bounds that a window has
SELECT range, ulid_range_lower(range), ulid_range_upper(range)
FROM (VALUES ('[2016-07-30 22:36:16.385, 2016-07-30 22:36:16.387)'::tstzrange),
             ('(2016-07-30 22:36:16.385, 2016-07-30 22:36:16.387]'),
             ('[2016-07-30 22:36:16.385001, 2016-07-30 22:36:16.386999]'),
             ('[2016-07-30 22:36:16.385001, 2016-07-30 22:36:16.385999]'),
             ('empty'), ('(,)'), ('[-infinity, infinity]'), ('[1960-01-01, 1970-01-01)'),
             ('[1960-01-01, 1970-01-01]'),
             ('[10889-08-02 05:31:50.655, 294276-12-31]'), ('[10889-08-02 05:31:50.656,)'))
                 AS v (range);

-- the answer is that of the time, for each kind of bound around a millisecond
CREATE TABLE moment AS SELECT '2026-01-01 00:00'::timestamptz + i * interval '250 microseconds' AS t
    FROM generate_series(-4, 12) AS i;
SELECT count(*), count(*)
    FILTER (WHERE (id <@ range) IS DISTINCT FROM (id::timestamptz <@ range)) AS wrong,
       count(*) FILTER (WHERE (range @> id) IS DISTINCT FROM (range @> id::timestamptz))
           AS wrong_commuted
FROM (SELECT tstzrange(a.t, b.t, bounds) AS range
      FROM moment AS a, moment AS b, unnest(ARRAY['[]', '[)', '(]', '()']) AS bounds
          WHERE a.t <= b.t) AS r,
     (SELECT unnest(ARRAY[ulid_lower_bound(t), gen_ulid(t), ulid_upper_bound(t)]) AS id
      FROM (SELECT '2026-01-01 00:00'::timestamptz + i * interval '1 millisecond' AS t
          FROM generate_series(-2, 4) AS i) AS s
      UNION ALL VALUES ('00000000000000000000000000'::ulid), ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ')) AS u;
SELECT NULL::ulid <@ tstzrange(now(), now()) AS strict,
    gen_ulid() <@ NULL::tstzrange AS strict_range;
DROP TABLE moment;

-- only a tstzrange has an answer, and what PostgreSQL makes of other operands is as it was
\set VERBOSITY terse
SELECT '01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid <@ int4range(1, 2);
\set VERBOSITY default
\echo :LAST_ERROR_SQLSTATE
SELECT '[2026-01-01, 2026-02-01)' <@ tstzrange('2025-01-01', '2027-01-01') AS range_in_range;
SELECT tstzrange('2025-01-01', '2027-01-01') @> '2026-01-01';
PREPARE untyped AS SELECT $1 <@ tstzrange('2025-01-01', '2027-01-01');
PREPARE untyped_commuted AS SELECT int8range(1, 4) @> $1;
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY 1;
DEALLOCATE ALL;

-- a million ids in order of time, one a second from 2026-01-01, and the same times as bigint
CREATE TABLE window_1m WITH (autovacuum_enabled = off) AS
SELECT ulid_lower_bound('2026-01-01 00:00'::timestamptz + i * interval '1 second') AS id, i
FROM generate_series(0::bigint, 999999) AS i;
CREATE INDEX window_1m_id ON window_1m (id);
CREATE INDEX window_1m_i ON window_1m (i);
-- the window of n seconds from second f
\set ECHO none
CREATE FUNCTION seconds(f int, n int) RETURNS tstzrange LANGUAGE sql IMMUTABLE AS
    $$ SELECT tstzrange('2026-01-01 00:00+00'::timestamptz + f * interval '1 second',
        '2026-01-01 00:00+00'::timestamptz + (f + n) * interval '1 second') $$;
-- the number of rows that the planner expects
CREATE FUNCTION estimate(condition text, VARIADIC arguments text[]) RETURNS numeric
    LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE format('EXPLAIN (FORMAT JSON) SELECT FROM window_1m WHERE ' || condition,
        VARIADIC arguments) INTO plan;
    RETURN plan #>> '{0,Plan,Plan Rows}';
END $$;
\set ECHO all

-- never analysed: core's default for ranges, of the million rows that the planner takes from the
-- size of the table
SELECT estimate('id <@ %L::tstzrange', seconds(0, 1)::text) BETWEEN 4000
    AND 6000 AS default_selectivity,
       estimate('id <@ %L::tstzrange', 'empty') AS no_rows;
-- the sample is as large as the column that wants most: with all rows in it, no estimate depends on
-- chance
ALTER TABLE window_1m ALTER COLUMN i SET STATISTICS 10000;
ANALYZE window_1m;

-- estimates within 20 % of the rows, for windows of each size anywhere, as good as those of bigint
SELECT n, count(*),
    max(abs(estimate('id <@ %L::tstzrange', seconds(f, n)::text) / n - 1)) < 0.2 AS ulid,
       max(abs(estimate('%L::tstzrange @> id', seconds(f, n)::text) / n - 1)) < 0.2 AS commuted,
       max(abs(estimate('i >= %s AND i < %s', f::text, (f + n)::text) / n - 1)) < 0.2 AS bigint,
       min(abs(estimate('id >= %L AND id < %L', ulid_range_lower(seconds(f, n))::text,
           ulid_range_lower(seconds(f + n, 1))::text))) FILTER (WHERE n <= 1000) AS plain_comparison
FROM unnest(ARRAY[100, 1000, 5000, 15000, 200000]) AS n, unnest(ARRAY[12345, 333333, 777777]) AS f
GROUP BY n ORDER BY n;
-- open at one end, everything, nothing
SELECT abs(estimate('id <@ %L::tstzrange', tstzrange('2026-01-08 00:00+00', NULL)::text) / 395200
    - 1) < 0.1 AS from_week_2,
       abs(estimate('id <@ %L::tstzrange', tstzrange(NULL, '2026-01-08 00:00+00')::text) / 604800
           - 1) < 0.1 AS week_1,
       estimate('id <@ %L::tstzrange', '(,)') AS all_rows,
       estimate('id <@ %L::tstzrange', 'empty') AS no_rows,
       estimate('id <@ %L::tstzrange', '[2020-01-01, 2021-01-01)') AS before_all,
       estimate('id <@ %L::tstzrange', '[1960-01-01, 1961-01-01)') AS before_1970,
       estimate('id <@ current_setting(%L, true)::tstzrange', 'ulid.unset') AS null_range;

-- statistics with common values and nulls
CREATE TABLE common AS SELECT CASE WHEN i % 4 = 0 THEN NULL
    WHEN i % 4 = 1 THEN ulid_lower_bound('2026-06-01 00:00')
    ELSE ulid_lower_bound('2026-01-01 00:00'::timestamptz + i * interval '1 second') END AS id
        FROM generate_series(1, 100000) AS i;
ANALYZE common;
CREATE FUNCTION common_estimate(range tstzrange) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE format('EXPLAIN (FORMAT JSON) SELECT FROM common WHERE id <@ %L::tstzrange',
        range) INTO plan;
    RETURN plan #>> '{0,Plan,Plan Rows}';
END $$;
SELECT abs(common_estimate('[2026-06-01, 2026-06-02)') / 25000 - 1) < 0.1 AS common_value,
       abs(common_estimate('[2026-01-01, 2026-01-01 13:53:20)') / 25000 - 1) < 0.1
           AS half_of_the_rest,
       abs(common_estimate('(,)') / 75000 - 1) < 0.1 AS not_null;
-- with common values alone, which have no histogram beside them
UPDATE common SET id = ulid_lower_bound('2026-06-01 00:00')
    WHERE id < ulid_lower_bound('2026-06-01 00:00');
ANALYZE common;
SELECT abs(common_estimate('[2026-06-01, 2026-06-02)') / 75000 - 1) < 0.1 AS common_value,
       common_estimate('[2026-01-01, 2026-06-01)') < 1000 AS no_value;
DROP FUNCTION common_estimate;
DROP TABLE common;

-- the index
EXPLAIN (COSTS OFF) SELECT * FROM window_1m
    WHERE id <@ tstzrange('2026-01-03 00:00', '2026-01-03 00:01');
EXPLAIN (COSTS OFF) SELECT * FROM window_1m
    WHERE tstzrange('2026-01-03 00:00', '2026-01-03 00:01', '(]') @> id;
EXPLAIN (COSTS OFF) SELECT * FROM window_1m WHERE id <@ 'empty'::tstzrange;
SELECT count(*) FROM window_1m WHERE id <@ tstzrange('2026-01-03 00:00', '2026-01-03 00:01');
SELECT count(*) FROM window_1m WHERE tstzrange('2026-01-03 00:00', '2026-01-03 00:01', '(]') @> id;
SELECT count(*) FROM window_1m WHERE id <@ 'empty'::tstzrange;
-- also for the functions of the operators
EXPLAIN (COSTS OFF) SELECT * FROM window_1m
    WHERE ulid_contained_by_range(id, tstzrange('2026-01-03 00:00', '2026-01-03 00:01'));
EXPLAIN (COSTS OFF) SELECT * FROM window_1m
    WHERE range_contains_ulid(tstzrange('2026-01-03 00:00', '2026-01-03 00:01'), id);
-- not with a range that differs from row to row, or from call to call: of a function, only its
-- support function asks
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT * FROM window_1m WHERE id <@ tstzrange(to_timestamp(i), NULL);
EXPLAIN (COSTS OFF) SELECT * FROM window_1m
    WHERE ulid_contained_by_range(id, tstzrange(to_timestamp(i), NULL));
EXPLAIN (COSTS OFF) SELECT * FROM window_1m
    WHERE range_contains_ulid(tstzrange(clock_timestamp(), NULL), id);
RESET max_parallel_workers_per_gather;
-- a parameter, with a plan made for all values
SET plan_cache_mode = force_generic_plan;
PREPARE by_window (tstzrange) AS SELECT count(*) FROM window_1m WHERE id <@ $1;
EXPLAIN (COSTS OFF) EXECUTE by_window ('empty');
EXECUTE by_window ('[2026-01-03 00:00, 2026-01-03 00:01)');
EXECUTE by_window ('(,2026-01-01 00:01]');
EXECUTE by_window ('empty');
EXECUTE by_window (NULL);
-- the window of another table's row, by the index for each of them
CREATE TABLE shift (period tstzrange);
INSERT INTO shift VALUES ('[2026-01-03 00:00, 2026-01-03 00:01)'),
    ('[2026-01-04 00:00, 2026-01-04 00:01)'), (NULL), ('empty');
EXPLAIN (COSTS OFF) SELECT period, count(id) FROM shift
    LEFT JOIN window_1m ON id <@ period GROUP BY 1;
SELECT period, count(id) FROM shift LEFT JOIN window_1m ON id <@ period GROUP BY 1 ORDER BY 1;
DROP TABLE shift;

-- under row security, the operators are leakproof and may use the statistics; others are for those
-- who may read all rows, and the user gets the default instead
CREATE ROLE regress_window_reader;
GRANT SELECT ON window_1m TO regress_window_reader;
ALTER TABLE window_1m ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_rows ON window_1m USING (true);
SELECT abs(estimate('id <@ %L::tstzrange', '[2026-01-03 00:00+00, 2026-01-04 00:00+00)') / 86400
    - 1) < 0.1 AS owner_sees_statistics, estimate('ulid_starts_with(id, %L)', '0') AS prefix;
SET ROLE regress_window_reader;
SELECT abs(estimate('id <@ %L::tstzrange', '[2026-01-03 00:00+00, 2026-01-04 00:00+00)') / 86400
    - 1) < 0.1 AS leakproof_sees_them, estimate('ulid_starts_with(id, %L)', '0') AS prefix;
RESET ROLE;
DEALLOCATE ALL;
DROP TABLE window_1m;
DROP FUNCTION seconds, estimate;
DROP ROLE regress_window_reader;

-- partitions by time are pruned: when planned by a constant, when run by a parameter
CREATE TABLE part (id ulid, n int) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (ulid_lower_bound('2026-01-01 00:00+00'))
    TO (ulid_lower_bound('2026-02-01 00:00+00'));
CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM (ulid_lower_bound('2026-02-01 00:00+00'))
    TO (ulid_lower_bound('2026-03-01 00:00+00'));
CREATE TABLE part_3 PARTITION OF part FOR VALUES FROM (ulid_lower_bound('2026-03-01 00:00+00'))
    TO (ulid_lower_bound('2026-04-01 00:00+00'));
EXPLAIN (COSTS OFF) SELECT * FROM part
    WHERE id <@ tstzrange('2026-02-03 00:00+00', '2026-02-04 00:00+00');
EXPLAIN (COSTS OFF) SELECT * FROM part AS p
    WHERE tstzrange('2026-02-03 00:00+00', '2026-02-04 00:00+00') @> p.id AND n = 1;
PREPARE by_window (tstzrange) AS SELECT * FROM part WHERE id <@ $1;
EXPLAIN (COSTS OFF) EXECUTE by_window ('[2026-02-03 00:00+00, 2026-02-04 00:00+00)');
-- so are lists
CREATE TABLE listed (id ulid) PARTITION BY LIST (id);
CREATE TABLE listed_1 PARTITION OF listed FOR VALUES IN (ulid_lower_bound('2026-02-01 00:00+00'));
EXPLAIN (COSTS OFF) SELECT * FROM listed
    WHERE id <@ tstzrange('2026-02-01 00:00+00', '2026-02-04 00:00+00');
-- a column that the table is not partitioned by, or by hash, keeps the operator, and its estimate
CREATE TABLE numbered (id ulid, n int) PARTITION BY RANGE (n);
CREATE TABLE numbered_1 PARTITION OF numbered FOR VALUES FROM (1) TO (2);
EXPLAIN (COSTS OFF) SELECT * FROM numbered
    WHERE id <@ tstzrange('2026-02-03 00:00+00', '2026-02-04 00:00+00');
CREATE TABLE hashed (id ulid) PARTITION BY HASH (id);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 1, REMAINDER 0);
EXPLAIN (COSTS OFF) SELECT * FROM hashed
    WHERE id <@ tstzrange('2026-02-03 00:00+00', '2026-02-04 00:00+00');
-- so does a range that differs from call to call or from row to row, and an id that comes from an
-- outer query
CREATE TABLE whole (id ulid, period tstzrange) PARTITION BY RANGE (id);
CREATE TABLE whole_1 PARTITION OF whole DEFAULT;
EXPLAIN (COSTS OFF) SELECT * FROM whole WHERE id <@ tstzrange(clock_timestamp(), NULL);
EXPLAIN (COSTS OFF) SELECT * FROM whole WHERE id <@ period;
EXPLAIN (COSTS OFF)
    SELECT * FROM numbered,
    LATERAL (SELECT count(*) FROM whole
    WHERE numbered.id <@ tstzrange('2026-02-03 00:00+00', NULL)) AS s;
RESET plan_cache_mode;
DEALLOCATE ALL;
DROP TABLE part, numbered, hashed, listed, whole;

-- whether a window can become comparisons is decided for each of many, and leaves nothing in the
-- planner's memory
CREATE TABLE many (id ulid, n int) PARTITION BY RANGE (id);
CREATE TABLE many_all PARTITION OF many FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
DO $$ BEGIN FOR i IN 1..20 LOOP
    EXECUTE format('CREATE INDEX ON many ((n + %s)) WHERE n > %1$s; '
        'CREATE STATISTICS many_%1$s ON (n + %1$s) FROM many', i);
END LOOP; END $$;
-- the last condition sees the memory while the others have been planned
CREATE SEQUENCE memory;
\set ECHO none
CREATE FUNCTION measured() RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM setval('memory', sum(used_bytes)::bigint) FROM pg_backend_memory_contexts;
    RETURN false;
END $$;
CREATE FUNCTION planning_memory(condition text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    plan json;
    before bigint;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) SELECT FROM many WHERE measured()' INTO plan;
    before := currval('memory');
    EXECUTE 'EXPLAIN (FORMAT json) SELECT FROM many WHERE ' || condition || ' OR measured()'
        INTO plan;
    RETURN currval('memory') - before;
END $$;
\set ECHO all
SELECT planning_memory(string_agg(format('id <@ %L::tstzrange', during), ' OR '))
       <= 2 * planning_memory(string_agg(format('id BETWEEN %L AND %L', ulid_range_lower(during),
           ulid_range_upper(during)), ' OR ')) AS bounded
FROM generate_series(1, 200) AS i,
    tstzrange(timestamptz '2026-01-01' + i * interval '1 hour',
    timestamptz '2026-01-01' + i * interval '2 hours') AS during;
-- each of these decisions hears an interrupt: here that of a constant before the window. What
-- follows it is not reached.
CREATE FUNCTION cancelled(pid int) RETURNS boolean LANGUAGE internal IMMUTABLE
    AS 'pg_cancel_backend';
SELECT pg_backend_pid() AS pid \gset
SELECT FROM many WHERE cancelled(:pid) AND id <@ '[2026-01-01, 2026-02-01)' AND n = 1 / 0;
\echo :LAST_ERROR_SQLSTATE
DROP TABLE many;
DROP SEQUENCE memory;
DROP FUNCTION planning_memory(text), measured(), cancelled(int);
