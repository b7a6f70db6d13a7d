-- What a role may execute and may see decides.

\set ECHO none
\getenv directory PG_ABS_SRCDIR
\set setup :directory /setup/planner.sql
\i :setup
\set ECHO all
CREATE ROLE regress_planner_reader;
GRANT SELECT ON part, plain, period TO regress_planner_reader;

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

RESET enable_seqscan;

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

-- the operators are leakproof, so that an index serves them and the policy at once, and so do the
-- bounds in their place; a condition that can raise an error comes after the policy
CREATE TABLE owned AS SELECT n % 10 AS tenant, id FROM plain;
ALTER TABLE owned ADD PRIMARY KEY (tenant, id);
ANALYZE owned;
ALTER TABLE owned ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON owned USING (tenant = current_setting('ulid.tenant')::int);
GRANT SELECT ON owned TO regress_planner_reader;
SET ulid.tenant = 7;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET plan_cache_mode = force_generic_plan;
SET ROLE regress_planner_reader;
EXPLAIN (COSTS OFF) SELECT id FROM owned WHERE id <@ '[2025-01-10Z,2025-01-12Z)';
EXPLAIN (COSTS OFF) SELECT id FROM owned WHERE '[2025-01-10Z,2025-01-12Z)' @> id;
SELECT count(*) FROM owned WHERE id <@ '[2025-01-10Z,2025-01-12Z)';
PREPARE in_owned (tstzrange) AS SELECT id FROM owned WHERE id <@ $1;
EXPLAIN (COSTS OFF) EXECUTE in_owned ('[2025-01-10Z,2025-01-12Z)');
EXPLAIN (COSTS OFF) SELECT id FROM owned WHERE ulid_starts_with(id, '01JH');
PREPARE bounds (text) AS SELECT id FROM owned
    WHERE id >= ulid_prefix_lower($1) AND id <= ulid_prefix_upper($1);
EXPLAIN (COSTS OFF) EXECUTE bounds ('01JH');
RESET ROLE;
RESET plan_cache_mode;
RESET enable_bitmapscan;
RESET enable_seqscan;
DEALLOCATE ALL;
-- no range and no id is an error: the bounds of time, of ids, none, and no bound
SELECT count(*) AS answers FROM
    (VALUES ('00000000000000000000000000'::ulid), ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ'),
        ('01ARYZ6S41TSV4RRFFQ69G5FAV')) AS i (id),
    (VALUES ('empty'::tstzrange), ('(,)'), ('(-infinity,infinity)'), ('[infinity,infinity]'),
        ('[-infinity,-infinity]'), ('(,4713-01-01 BC)'), ('[294276-12-31,)'),
        ('[1969-12-31,1970-01-01]'), ('(10889-08-02,10889-08-03)')) AS r (w)
WHERE id <@ w = w @> id AND ulid_range_lower(w) IS NOT NULL AND ulid_range_upper(w) IS NOT NULL;

DROP TABLE owned;
DROP FUNCTION tells;
:drop
DROP ROLE regress_planner_reader;
