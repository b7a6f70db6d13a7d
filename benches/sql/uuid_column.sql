-- The cost of the planner support for comparisons where it is not needed, and its benefit where it
-- is: run psql -X -f benches/sql/uuid_column.sql in an empty database, as a superuser. Both
-- variants run in turn in one session. The results are the medians of the rounds and their ratio.
-- The support is removed from the functions in the catalog, and restored.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS ulid;
CREATE SCHEMA bench_uuid;
SET search_path = bench_uuid, public;
CREATE TABLE native (id ulid PRIMARY KEY, n int);
CREATE TABLE parent (id ulid PRIMARY KEY);
CREATE TABLE child (parent uuid REFERENCES parent ON DELETE CASCADE, n int);
INSERT INTO native SELECT gen_ordered_ulid(), n FROM generate_series(1, 10000) AS n;
INSERT INTO parent SELECT gen_ordered_ulid() FROM generate_series(1, 2000);
INSERT INTO child SELECT id, n FROM parent, generate_series(1, 100) AS n;
CREATE INDEX child_parent ON child (parent);
VACUUM ANALYZE native, parent, child;
CREATE TABLE result (what text, supported boolean, ms float8);

CREATE FUNCTION support(wanted boolean) RETURNS void LANGUAGE sql AS $$
    UPDATE pg_proc SET prosupport = CASE WHEN wanted THEN 'ulid_comparison_support'::regproc
        ELSE 0::oid::regproc END
    WHERE oid IN ('ulid_eq(ulid,ulid)'::regprocedure, 'ulid_lt(ulid,ulid)'::regprocedure,
                  'ulid_le(ulid,ulid)'::regprocedure, 'ulid_ge(ulid,ulid)'::regprocedure,
                  'ulid_gt(ulid,ulid)'::regprocedure)
$$;
-- planned 2000 times: one comparison, and a join with four
CREATE PROCEDURE plan(name text, query text, with_support boolean) LANGUAGE plpgsql AS $$
DECLARE start timestamptz := clock_timestamp();
BEGIN
    FOR n IN 1 .. 2000 LOOP EXECUTE 'EXPLAIN ' || query; END LOOP;
    INSERT INTO result
        VALUES (name, with_support, extract(epoch FROM clock_timestamp() - start) / 2000 * 1000);
END $$;
SELECT format($$SELECT support(%1$L);
    CALL plan('plan id = constant',
        'SELECT n FROM native WHERE id = ''01JH6R5E000000000000000000''', %1$L);
    CALL plan('plan a join with four',
        'SELECT a.n FROM native AS a JOIN native AS b USING (id) '
        'WHERE a.id >= ''01JH6R5E000000000000000000'' AND b.id < ''7ZZZZZZZZZZZZZZZZZZZZZZZZZ'' '
        'AND a.id <= b.id', %1$L);
    $$, n % 2 = 0)
FROM generate_series(1, 14) AS n \gexec
CREATE PROCEDURE delete_parents(with_support boolean) LANGUAGE plpgsql AS $$
DECLARE start timestamptz;
BEGIN
    FOR n IN 1 .. 5 LOOP
        start := clock_timestamp();
        DELETE FROM parent WHERE id IN (SELECT id FROM parent ORDER BY id LIMIT 20);
        INSERT INTO result
            VALUES ('delete of 20 parents of 200,000 children', with_support,
            extract(epoch FROM clock_timestamp() - start) * 1000);
    END LOOP;
END $$;
-- the plans of the triggers belong to a session: a new one for each side
SELECT support(false);
\connect -
SET search_path = bench_uuid, public;
CALL delete_parents(false);
SELECT support(true);
\connect -
SET search_path = bench_uuid, public;
CALL delete_parents(true);
SELECT what, round(without::numeric, 4) AS "ms without", round(with_it::numeric, 4) AS "ms with",
    round((with_it / without)::numeric, 3) AS ratio
FROM (SELECT what,
          percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE NOT supported) AS without,
          percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE supported) AS with_it
      FROM result GROUP BY what) AS s
ORDER BY what;
DROP SCHEMA bench_uuid CASCADE;
