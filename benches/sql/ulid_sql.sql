-- The functions of ulid_sql beside those of the type and gen_random_uuid(): psql -X -v
-- ulid_sql=sql/ulid_sql.sql -f benches/sql/ulid_sql.sql in an empty database. All are measured in
-- turn. The results are the medians of the rounds, in nanoseconds of a call, without the scan.
\set ON_ERROR_STOP 1
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
CREATE SCHEMA native;
CREATE EXTENSION ulid SCHEMA native;
CREATE SCHEMA twin;
SET search_path = twin;
\i :ulid_sql
SET search_path = public;
CREATE TABLE id AS SELECT u, native.ulid_to_text(u) AS t
    FROM (SELECT native.gen_ulid()::uuid AS u FROM generate_series(1, 40000)) AS g;
CREATE TABLE result (call text, ns float8);
CREATE PROCEDURE measure(call text) LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz := clock_timestamp();
BEGIN
    EXECUTE format('SELECT count(%s) FROM id', call);
    INSERT INTO result
        VALUES (call, extract(epoch FROM clock_timestamp() - start) / 40000 * 1e9);
END $$;
SELECT format('CALL measure(%L)', call)
FROM generate_series(1, 11), (
    VALUES ('u'), ('u::text'), ('gen_random_uuid()')
    UNION ALL
    SELECT schema || call FROM (VALUES ('twin.'), ('native.')) AS s (schema), (
        VALUES ('gen_ulid()'), ('gen_ulid(''2026-01-01'')'), ('ulid_to_text(u)'),
            ('ulid_from_text(t)'), ('ulid_is_valid(t)'), ('ulid_extract_timestamp(u)'),
            ('ulid_to_typeid(''user'', u)')) AS c (call)) AS v (call)
\gexec
SELECT call, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ns)
    - (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ns) FROM result WHERE call = 'u')) AS ns
FROM result WHERE call <> 'u' GROUP BY call ORDER BY split_part(call, '.', 2), ns;
