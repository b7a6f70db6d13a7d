-- The functions of ulid_sql beside those of the type and gen_random_uuid(): psql -X -v
-- ulid_sql=sql/ulid_sql.sql -f benches/sql/ulid_sql.sql in an empty database. All are measured in
-- turn. The results are the medians of the rounds, in nanoseconds of a call, without the scan. Then
-- transactions and refreshes are measured. The server needs max_prepared_transactions = 200.
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
        VALUES ('gen_ulid()'), ('gen_ordered_ulid()'), ('gen_ordered_uuid_v7()'),
            ('gen_ulid(''2026-01-01'')'), ('ulid_to_text(u)'),
            ('ulid_from_text(t)'), ('ulid_is_valid(t)'), ('ulid_extract_timestamp(u)'),
            ('ulid_to_typeid(''user'', u)')) AS c (call)) AS v (call)
\gexec
SELECT call, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ns)
    - (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ns) FROM result WHERE call = 'u')) AS ns
FROM result WHERE call <> 'u' GROUP BY call ORDER BY split_part(call, '.', 2), ns;

-- Transactions without and with an ordered id, in microseconds.
TRUNCATE result;
CREATE PROCEDURE measure_transactions(call text) LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz := clock_timestamp();
BEGIN
    FOR n IN 1 .. 2000 LOOP
        EXECUTE call;
        COMMIT;
    END LOOP;
    INSERT INTO result
        VALUES (call, extract(epoch FROM clock_timestamp() - start) / 2000 * 1e6);
END $$;
SET synchronous_commit = off;
SELECT format('CALL measure_transactions(%L)', call)
FROM generate_series(1, 11), (VALUES ('SELECT pg_current_xact_id()'),
    ('SELECT native.gen_ordered_ulid()'), ('SELECT twin.gen_ordered_ulid()')) AS v (call)
\gexec
RESET synchronous_commit;
SELECT call AS transaction, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ns)::numeric, 1) AS us
FROM result GROUP BY call ORDER BY us;

-- Refreshes after a transaction with an id, in microseconds. The transactions that hold the
-- horizon are prepared. While they hold it, a call only looks whether they have ended.
TRUNCATE result;
CREATE PROCEDURE measure_refreshes(beside text) LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz;
BEGIN
    FOR n IN 1 .. 200 LOOP
        PERFORM twin.gen_ordered_ulid(), pg_sleep(0.002);
        COMMIT;
        start := clock_timestamp();
        CALL twin.ulid_refresh_horizon();
        INSERT INTO result
            VALUES (beside, extract(epoch FROM clock_timestamp() - start) * 1e6);
        COMMIT;
    END LOOP;
END $$;
CALL measure_refreshes('no open transaction');
SELECT pg_advisory_lock(n) FROM generate_series(1, 5000) AS n \g /dev/null
CALL measure_refreshes('no open transaction, 5000 other locks');
SELECT pg_advisory_unlock_all() \g /dev/null
SELECT 'BEGIN', 'DO ''BEGIN PERFORM twin.gen_ordered_ulid(); END''',
    format('PREPARE TRANSACTION %L', n)
FROM generate_series(1, 10) AS n \gexec
CALL measure_refreshes('10 open transactions');
SELECT 'BEGIN', 'DO ''BEGIN PERFORM twin.gen_ordered_ulid(); END''',
    format('PREPARE TRANSACTION %L', n)
FROM generate_series(11, 200) AS n \gexec
CALL measure_refreshes('200 open transactions');
SELECT pg_advisory_lock(n) FROM generate_series(1, 5000) AS n \g /dev/null
CALL measure_refreshes('200 open transactions, 5000 other locks');
SELECT pg_advisory_unlock_all() \g /dev/null
SELECT format('ROLLBACK PREPARED %L', n) FROM generate_series(1, 200) AS n \gexec
SELECT call AS refresh, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ns)) AS us
FROM result GROUP BY call ORDER BY us;
