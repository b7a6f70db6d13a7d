-- No node is linked twice, where expressions are moved from query to query: otherwise the planner
-- crashes, changes an answer or shows what a role may not see. The answer is always that of the
-- time: range @> ulid_extract_timestamp(id).

\set ECHO none
\getenv directory PG_ABS_SRCDIR
\set setup :directory /setup/planner.sql
\i :setup
\set ECHO all

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
SELECT count(*) FROM period, LATERAL (SELECT * FROM two, LATERAL (SELECT s FROM part,
    LATERAL generate_series(1, (part.id <@ p)::int) AS s) AS q) AS r;

DROP TABLE secret, secret_big;
:drop
DROP ROLE regress_planner_reader;
