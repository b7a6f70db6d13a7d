-- The cost of the guard of a polled table, per row: run psql -X -f benches/sql/guard.sql in an
-- empty database. Tables with the guard, with a trigger in PL/pgSQL that does nothing, and without
-- a trigger get the same rows in turn. The results are the medians of the rounds, in nanoseconds.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS ulid;
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TABLE result (trigger text, ns float8);
CREATE PROCEDURE measure(name text, definition text) LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz;
BEGIN
    CREATE UNLOGGED TABLE inserted (id ulid DEFAULT gen_ordered_ulid(), n int);
    EXECUTE definition;
    start := clock_timestamp();
    INSERT INTO inserted (n) SELECT generate_series(1, 300000);
    INSERT INTO result
        VALUES (name, extract(epoch FROM clock_timestamp() - start) / 300000 * 1e9);
    DROP TABLE inserted;
END $$;
SELECT format('CALL measure(%L, %L)', name, definition)
FROM generate_series(1, 11), (VALUES ('none', 'SELECT'),
    ('guard', 'CREATE TRIGGER t BEFORE INSERT OR UPDATE OF id ON inserted
               FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard(''id'')'),
    ('in PL/pgSQL', 'CREATE TRIGGER t BEFORE INSERT OR UPDATE OF id ON inserted
                     FOR EACH ROW EXECUTE FUNCTION nothing()')) AS v (name, definition)
\gexec
SELECT trigger, percentile_cont(0.5) WITHIN GROUP (ORDER BY ns)::int AS ns_per_row,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY ns)::int
        - (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ns)::int FROM result
           WHERE trigger = 'none') AS more
FROM result GROUP BY trigger ORDER BY 2;
