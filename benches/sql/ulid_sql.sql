-- Compares ulid_sql with the type and with gen_random_uuid(): psql -v ulid_sql=sql/ulid_sql.sql -f
-- benches/sql/ulid_sql.sql
--
-- Run it in a database of its own, as a superuser, on Linux: the times are nanoseconds of CPU time,
-- from /proc/self/schedstat. Each round measures everything in turn. The results are medians of the
-- rounds, and of the ratios to gen_random_uuid(). The time of a call excludes the scan of 40,000
-- rows. A statement is parsed, planned and run 5,000 times by EXECUTE.
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
CREATE UNLOGGED TABLE of_v4 (id uuid PRIMARY KEY DEFAULT gen_random_uuid());
CREATE UNLOGGED TABLE of_twin (id uuid PRIMARY KEY DEFAULT twin.gen_ulid());
CREATE UNLOGGED TABLE of_native (id native.ulid PRIMARY KEY DEFAULT native.gen_ulid());
CREATE TABLE measured (n int, kind text, what text, core text, twin text, native text);
INSERT INTO measured VALUES
    (1, 'call', 'generate', 'gen_random_uuid()', 'twin.gen_ulid()', 'native.gen_ulid()'),
    (2, 'call', 'generate for a time', NULL, 'twin.gen_ulid(''2026-01-01'')',
        'native.gen_ulid(''2026-01-01'')'),
    (3, 'call', 'to text', 'u::text', 'twin.ulid_to_text(u)', 'native.ulid_to_text(u)'),
    (4, 'call', 'from text', NULL, 'twin.ulid_from_text(t)', 'native.ulid_from_text(t)'),
    (5, 'call', 'is valid', NULL, 'twin.ulid_is_valid(t)', 'native.ulid_is_valid(t)'),
    (6, 'call', 'extract the time', NULL, 'twin.ulid_extract_timestamp(u)',
        'native.ulid_extract_timestamp(u)'),
    (7, 'call', 'to TypeID', NULL, 'twin.ulid_to_typeid(''user'', u)',
        'native.ulid_to_typeid(''user'', u)'),
    (8, 'statement', 'INSERT of a row', 'INSERT INTO of_v4 DEFAULT VALUES',
        'INSERT INTO of_twin DEFAULT VALUES', 'INSERT INTO of_native DEFAULT VALUES'),
    (9, 'statement', 'SELECT of a text', 'SELECT u::text FROM id LIMIT 1',
        'SELECT twin.ulid_to_text(u) FROM id LIMIT 1',
        'SELECT native.ulid_to_text(u) FROM id LIMIT 1'),
    (10, 'statement', 'SELECT of a window', NULL,
        'SELECT FROM of_twin WHERE twin.ulid_contained_by_range(id, ''[2020-01-01,2020-01-02)'')',
        'SELECT FROM of_native '
            'WHERE native.ulid_contained_by_range(id, ''[2020-01-01,2020-01-02)'')');
CREATE TABLE result (round int, n int, who text, ns float8);

CREATE FUNCTION cpu() RETURNS float8
    LANGUAGE sql VOLATILE
    AS $$ SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 $$;
CREATE FUNCTION cost(kind text, expression text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    start float8 := cpu();
    statement CONSTANT text := format('SELECT count(%s) FROM id', expression);
BEGIN
    IF kind = 'call' THEN
        EXECUTE statement;
        RETURN (cpu() - start) / 40000;
    END IF;
    FOR i IN 1 .. 5000 LOOP
        EXECUTE expression;
    END LOOP;
    RETURN (cpu() - start) / 5000;
END $$;
DO $$
DECLARE
    m record;
    scan float8;
BEGIN
    FOR round IN 0 .. 9 LOOP
        scan := least(cost('call', 'u'), cost('call', 'u'));
        FOR m IN SELECT n, kind, who, expression
            FROM measured, LATERAL (VALUES ('core', core), ('twin', twin), ('native', native)) AS v
            (who, expression)
            WHERE expression IS NOT NULL ORDER BY n LOOP
            -- take the lesser of two times, because other programs use the machine too
            INSERT INTO result SELECT round, m.n, m.who,
                least(cost(m.kind, m.expression), cost(m.kind, m.expression)) - CASE m.kind
                    WHEN 'call' THEN scan ELSE 0 END;
        END LOOP;
        DELETE FROM result WHERE result.round = 0;  -- only warms up
    END LOOP;
END $$;

SELECT kind, what,
    round(percentile_cont(0.5) WITHIN GROUP (ORDER BY c.ns)) AS uuid,
    round(percentile_cont(0.5) WITHIN GROUP (ORDER BY t.ns)) AS ulid_sql,
    round(percentile_cont(0.5) WITHIN GROUP (ORDER BY a.ns)) AS ulid,
    round((percentile_cont(0.5) WITHIN GROUP (ORDER BY t.ns / nullif(c.ns, 0)))::numeric, 2)
        AS ulid_sql_to_uuid
FROM measured JOIN result AS t ON t.n = measured.n JOIN result AS a ON a.n = t.n
    AND a.round = t.round
LEFT JOIN result AS c ON c.n = t.n AND c.round = t.round AND c.who = 'core'
WHERE t.who = 'twin' AND a.who = 'native' GROUP BY measured.n, kind, what ORDER BY measured.n;
