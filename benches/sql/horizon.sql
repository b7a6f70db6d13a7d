-- The time of a call of ulid_ordered_horizon(), in microseconds, beside sessions that are idle, and
-- beside the same sessions in transactions that have generated an id: psql -X -v sessions=2000 -f
-- benches/sql/horizon.sql in an empty database. Both are measured in turn. The results are the
-- medians of the rounds, beside a call of gen_ulid().
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION ulid;
CREATE EXTENSION dblink;
CREATE TABLE result (sessions text, us float8);
CREATE PROCEDURE in_each(statement text, sessions int) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM dblink_exec('s' || n, statement) FROM generate_series(1, sessions) AS n;
END $$;
-- Each assignment has a snapshot of its own, as each query of a consumer has.
CREATE FUNCTION us(expression text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz := clock_timestamp();
BEGIN
    EXECUTE format('DO ''DECLARE v text; BEGIN FOR n IN 1 .. 20000 LOOP v := %s; END LOOP; END''',
        expression);
    RETURN extract(epoch FROM clock_timestamp() - start) / 20000 * 1e6;
END $$;
SELECT count(dblink_connect('s' || n,
    format('host=%s port=%s user=%s dbname=%s', :'HOST', :'PORT', :'USER', :'DBNAME')))
FROM generate_series(1, :sessions) AS n \g /dev/null
SELECT format($f$
    CALL in_each('BEGIN; DO ''BEGIN PERFORM gen_ordered_ulid(); END''', %1$s);
    INSERT INTO result SELECT 'in transactions', us('ulid_ordered_horizon()') - us('gen_ulid()');
    CALL in_each('COMMIT', %1$s);
    INSERT INTO result SELECT 'idle', us('ulid_ordered_horizon()') - us('gen_ulid()');
    $f$, :sessions)
FROM generate_series(1, 7) \gexec
SELECT :sessions || ' ' || sessions AS sessions,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY us)::numeric(10, 2) AS us
FROM result GROUP BY sessions;
SELECT dblink_disconnect('s' || n) FROM generate_series(1, :sessions) AS n \g /dev/null
