-- Search by the first characters of the text: ulid_starts_with and its bounds.

\pset format unaligned
\pset footer off
SELECT prefix, ulid_prefix_lower(prefix), ulid_prefix_upper(prefix)
FROM unnest(ARRAY['', '0', '7', '01ARYZ6S', '01aryz6s41', 'oIaRyZ6s4L',
    '01ARYZ6S41TSV4RRFFQ69G5FAV', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ']) AS prefix;

-- a prefix of each length of each of a thousand ids, in either case: what starts with it, and what
-- is next to that
SELECT count(*), count(*) FILTER (WHERE NOT ulid_starts_with(id, prefix)) AS missed,
       count(*) FILTER (WHERE id NOT BETWEEN ulid_prefix_lower(prefix)
           AND ulid_prefix_upper(prefix)) AS outside,
       count(*) FILTER
           (WHERE ulid_starts_with(other, prefix) <> starts_with(other::text, upper(prefix)))
           AS wrong
FROM (SELECT id, lag(id) OVER (ORDER BY id) AS other, CASE WHEN n % 2 = 0 THEN left(id::text, n)
    ELSE lower(left(id::text, n)) END AS prefix
      FROM (SELECT gen_ulid('2026-01-01 00:00+00'::timestamptz + i * interval '1 hour') AS id
          FROM generate_series(1, 1000) AS i) AS s,
           generate_series(0, 26) AS n) AS s;
SELECT ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', 'ol') AS aliases,
    ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', '') AS empty,
       ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', '02') AS another,
       ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', '1') AS not_the_first;
-- the type of the text does not matter
SELECT ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', '01A'::varchar) AS varchar,
    ulid_starts_with('01563df3-6481-d676-4c61-efb99302bd5b'::uuid, '01A') AS uuid;

-- what no ulid starts with (22P02)
SELECT ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', 'U');
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', '01A%');
SELECT ulid_prefix_lower('01é');
SELECT ulid_prefix_upper('01ARYZ6S41TSV4RRFFQ69G5FAV0');
SELECT ulid_prefix_lower('01563df3-6481-d676-4c61-efb99302bd5b');
-- more than 128 bits (22003)
SELECT ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', '8');
\echo :LAST_ERROR_SQLSTATE
-- null gives null
SELECT ulid_starts_with(NULL, '0'), ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', NULL),
    ulid_prefix_lower(NULL), ulid_prefix_upper(NULL);
-- an untyped literal is not ambiguous
SELECT ulid_prefix_lower('01A') < ulid_lower_bound('2026-01-01 00:00+00') AS literal;

--
-- What the planner knows: the bounds, which are exact
--

-- an id each minute from 2026-01-01, of random bits that are the same in each run: in the order of
-- time, and in none
CREATE TABLE call AS SELECT n,
    ulid_from_parts('2026-01-01 00:00+00'::timestamptz + n * interval '1 minute',
    decode(substr(md5(n::text), 1, 20), 'hex')) AS id
FROM generate_series(0, 19999) AS n;
CREATE INDEX call_id ON call (id);
CREATE TABLE call_log AS SELECT * FROM call ORDER BY n;
CREATE INDEX call_log_id ON call_log USING brin (id) WITH (pages_per_range = 4);
VACUUM ANALYZE call, call_log;
EXPLAIN (COSTS OFF) SELECT n FROM call WHERE ulid_starts_with(id, '01KdVh35');
SELECT n FROM call WHERE ulid_starts_with(id, '01KdVh35');
EXPLAIN (COSTS OFF) SELECT count(*) FROM call_log WHERE ulid_starts_with(id, '01KDVH');
SELECT count(*) FROM call_log WHERE ulid_starts_with(id, '01KDVH');
-- prefixes of each length of some ids: the rows that their texts say, by the index, by BRIN and by
-- neither
CREATE FUNCTION rows_of(query text, prefix text) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    rows bigint[];
BEGIN
    EXECUTE format(query, prefix) INTO rows;
    RETURN rows;
END $$;
SELECT count(*), count(DISTINCT prefix) > 100 AS prefixes, count(*)
    FILTER (WHERE by_btree IS DISTINCT FROM expected) AS btree,
       count(*) FILTER (WHERE by_brin IS DISTINCT FROM expected) AS brin, count(*)
           FILTER (WHERE by_filter IS DISTINCT FROM expected) AS filter
FROM (SELECT prefix,
    rows_of('SELECT array_agg(n ORDER BY n) FROM call WHERE ulid_starts_with(id, %L)', prefix)
    AS by_btree,
             rows_of('SELECT array_agg(n ORDER BY n) FROM call_log WHERE ulid_starts_with(id, %L)',
                 prefix) AS by_brin,
             (SELECT array_agg(n::bigint ORDER BY n)
                 FROM (SELECT n, ulid_starts_with(id, prefix) AS starts FROM call) AS c
                 WHERE starts) AS by_filter,
             (SELECT array_agg(n::bigint ORDER BY n) FROM call
                 WHERE starts_with(id::text, upper(prefix))) AS expected
      FROM (SELECT CASE WHEN length % 2 = 0 THEN left(id::text, length)
          ELSE lower(left(id::text, length)) END AS prefix
            FROM call, generate_series(6, 26) AS length WHERE n % 1999 = 7) AS p) AS q;

-- estimates: within a fifth of the rows, for prefixes of hours to weeks; all rows, and none
\set ECHO none
\getenv directory PG_ABS_SRCDIR
\set setup :directory /setup/estimate.sql
\i :setup
\set ECHO all
SELECT prefix, rows,
    abs(estimate(format('SELECT FROM call WHERE ulid_starts_with(id, %L)', prefix)) / rows - 1)
    < 0.2 AS near
FROM (SELECT left(id::text, length) AS prefix, count(*) AS rows
    FROM call, generate_series(4, 6) AS length GROUP BY 1
    HAVING count(*) > 500 AND max(n) < 19000) AS p
ORDER BY 1 LIMIT 8;
SELECT estimate($$SELECT FROM call WHERE ulid_starts_with(id, '')$$) AS all_rows,
    estimate($$SELECT FROM call WHERE ulid_starts_with(id, '7')$$) AS none,
       estimate($$SELECT FROM call WHERE NOT ulid_starts_with(id, '01')$$) AS all_but;
-- a join has core's estimate for containment, one in a thousand pairs
SELECT estimate($$SELECT FROM (VALUES ('01KDVH'), ('01KDVJ')) AS v (prefix), call
    WHERE ulid_starts_with(id, prefix)$$) AS pairs;

-- a prefix that comes at run time: a parameter, another table's column, a function, a sub-select,
-- another type of text
SET plan_cache_mode = force_generic_plan;
PREPARE by_prefix (text) AS SELECT count(*) FROM call WHERE ulid_starts_with(id, $1);
EXPLAIN (COSTS OFF) EXECUTE by_prefix ('01KDVH');
EXECUTE by_prefix ('01kdvh');
EXECUTE by_prefix ('');
EXECUTE by_prefix (NULL);
EXECUTE by_prefix ('01KDVU');
PREPARE by_varchar (varchar) AS SELECT count(*) FROM call WHERE ulid_starts_with(id, $1);
EXECUTE by_varchar ('01KDVH');
RESET plan_cache_mode;
DEALLOCATE ALL;
CREATE TABLE spoken (prefix text, short varchar(10));
INSERT INTO spoken VALUES ('01KDVH', '01KDVH'), ('01kdvh35', '01kdvh35'), (NULL, NULL), ('7', '7');
EXPLAIN (COSTS OFF) SELECT prefix, count(id) FROM spoken
    LEFT JOIN call ON ulid_starts_with(id, prefix) GROUP BY prefix;
SELECT prefix, count(id) FROM spoken LEFT JOIN call ON ulid_starts_with(id, prefix) GROUP BY prefix
ORDER BY prefix;
SELECT short, count(id) FROM spoken LEFT JOIN call ON ulid_starts_with(id, short) GROUP BY short
ORDER BY short;
SELECT count(*) FROM call WHERE ulid_starts_with(id, (SELECT min(prefix) FROM spoken));
SELECT count(*) FROM call WHERE ulid_starts_with(id, concat('01', 'KDVH'));
-- not where it differs from row to row, or from call to call
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT * FROM call WHERE ulid_starts_with(id, n::text);
EXPLAIN (COSTS OFF) SELECT * FROM call WHERE ulid_starts_with(id, random()::text);
RESET max_parallel_workers_per_gather;

-- what is no prefix is an error where it is looked for, and only there
CREATE TABLE nothing (id ulid PRIMARY KEY);
SELECT count(*) FROM nothing WHERE ulid_starts_with(id, 'U');
SELECT count(*) FROM call WHERE ulid_starts_with(id, 'U') AND false;
SELECT count(*) FROM call WHERE ulid_starts_with(id, 'U');
SELECT count(*) FROM spoken, call WHERE short = '7' AND ulid_starts_with(id, prefix || '-');
-- also in a plan for any prefix: an index and partitions have bounds then, which raise nothing
CREATE TABLE nothing_in_parts (id ulid) PARTITION BY RANGE (id);
CREATE TABLE nothing_in_part PARTITION OF nothing_in_parts DEFAULT;
SET plan_cache_mode = force_generic_plan;
PREPARE in_parts (text) AS SELECT count(*) FROM nothing_in_parts WHERE ulid_starts_with(id, $1);
EXPLAIN (COSTS OFF) EXECUTE in_parts ('U');
SET enable_seqscan = off;
PREPARE in_nothing (text) AS SELECT count(*) FROM nothing WHERE ulid_starts_with(id, $1);
PREPARE in_call (text) AS SELECT count(*) FROM call WHERE ulid_starts_with(id, $1);
EXECUTE in_nothing ('U');
EXECUTE in_parts ('8');
EXECUTE in_call ('U');
INSERT INTO nothing_in_parts SELECT id FROM call;
EXECUTE in_parts ('8');
EXECUTE in_parts ('01KDVH');
SELECT ulid_starts_with_lower('8'), ulid_starts_with_upper('01A%'),
    ulid_starts_with_lower('01') = ulid_prefix_lower('01')
        AND ulid_starts_with_upper('01') = ulid_prefix_upper('01') AS same;
DEALLOCATE ALL;
DROP TABLE nothing_in_parts;
RESET enable_seqscan;
RESET plan_cache_mode;
-- also if the planner could find out, for an estimate
SET ulid.prefix = 'U';
EXPLAIN (COSTS OFF) SELECT * FROM nothing WHERE ulid_starts_with(id, concat('0', 'U'));
SELECT count(*) FROM call WHERE current_setting('ulid.prefix') <> 'U'
    AND ulid_starts_with(id, current_setting('ulid.prefix'));
DROP TABLE nothing, call_log;

-- partitions are pruned: when planned by a constant, when run by a parameter
CREATE TABLE part (id ulid, n int) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (ulid_prefix_lower('01KD'))
    TO (ulid_prefix_lower('01KE'));
CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM (ulid_prefix_lower('01KE'))
    TO (ulid_prefix_lower('01KF'));
CREATE TABLE part_3 PARTITION OF part DEFAULT;
INSERT INTO part SELECT id, n FROM call;
ANALYZE part;
EXPLAIN (COSTS OFF) SELECT * FROM part WHERE ulid_starts_with(id, '01KE8');
SELECT prefix, (SELECT count(*) FROM part WHERE ulid_starts_with(id, prefix)) = (SELECT count(*)
    FROM call WHERE ulid_starts_with(id, prefix)) AS same
FROM unnest(ARRAY['', '01', '01KD', '01KE8', '01KDVH35', '7']) AS prefix;
SELECT count(*) FROM part WHERE ulid_starts_with(id, '01KE8');
SET plan_cache_mode = force_generic_plan;
PREPARE by_prefix (text) AS SELECT count(*) FROM part WHERE ulid_starts_with(id, $1);
EXPLAIN (COSTS OFF) EXECUTE by_prefix ('01KE8');
EXECUTE by_prefix ('01KE8');
EXECUTE by_prefix (NULL);
EXECUTE by_prefix ('8');
RESET plan_cache_mode;
DEALLOCATE ALL;
-- a prefix that has an error keeps the function
EXPLAIN (COSTS OFF) SELECT * FROM part WHERE ulid_starts_with(id, 'U');
-- in FROM, in sub-selects that are pulled up
SELECT count(*), count(*) FILTER (WHERE f->>'a' = 'true') AS starts
FROM (SELECT a.n AS m, q.* FROM spoken AS s LEFT JOIN call AS a ON a.n < 2,
      (SELECT p.id, f FROM part AS p LEFT JOIN call AS c ON c.n = p.n + 200000,
          LATERAL jsonb_build_object('a', ulid_starts_with(p.id, '01KE8')) AS f
          WHERE p.n % 100 = 0) AS q) AS r;
-- an index that has the function as its condition, which ON CONFLICT names too
CREATE UNIQUE INDEX part_starts ON part (id) WHERE ulid_starts_with(id, '01KE8');
INSERT INTO part SELECT * FROM part WHERE ulid_starts_with(id, '01KE8') LIMIT 1
    ON CONFLICT (id) WHERE ulid_starts_with(id, '01KE8') DO UPDATE SET n = -1 RETURNING n;

-- who may not execute the functions of the bounds needs no right to them
CREATE ROLE regress_prefix_reader;
GRANT SELECT ON call, part TO regress_prefix_reader;
REVOKE EXECUTE ON FUNCTION ulid_starts_with_lower(text), ulid_starts_with_check(ulid, text)
    FROM PUBLIC;
SET ROLE regress_prefix_reader;
SET plan_cache_mode = force_generic_plan;
PREPARE by_prefix (text) AS SELECT count(*) FROM call WHERE ulid_starts_with(id, $1);
EXECUTE by_prefix ('01KDVH');
RESET ROLE;
GRANT EXECUTE ON FUNCTION ulid_starts_with_lower(text) TO PUBLIC;
SET ROLE regress_prefix_reader;
PREPARE in_part (text) AS SELECT count(*) FROM part WHERE ulid_starts_with(id, $1);
EXPLAIN (COSTS OFF) EXECUTE in_part ('01KDVH');
EXECUTE in_part ('01KDVH');
RESET plan_cache_mode;
RESET ROLE;
GRANT EXECUTE ON FUNCTION ulid_starts_with_check(ulid, text) TO PUBLIC;
DEALLOCATE ALL;

DROP TABLE call, part, spoken;
DROP FUNCTION rows_of, estimate;
DROP ROLE regress_prefix_reader;
