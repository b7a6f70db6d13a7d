-- What the library costs a backend, beside built-in functions: psql -XAtq -F "$(printf '\t')" -v
-- sessions=100 -f benches/sql/backends.sql in an empty database. It prints lines as sql.pl does:
-- kB of private memory in each of so many sessions that have called the function once (on Linux);
-- µs to connect, call it and disconnect; µs of a transaction that calls it and has an xid.
\set ON_ERROR_STOP on
\o /dev/null
SET client_min_messages = warning;
SET synchronous_commit = off;
CREATE EXTENSION ulid;
CREATE EXTENSION dblink;
CREATE TABLE result (measure text, kind text, round serial, sessions int DEFAULT :sessions,
    value float8);
CREATE TABLE call AS SELECT * FROM (VALUES ('clock', 'clock_timestamp()'),
    ('uuid_v4', 'gen_random_uuid()'),
    ('uuid_v7', coalesce(to_regprocedure('uuidv7()'), to_regprocedure('gen_uuid_v7()'))::text),
    ('ulid', 'gen_ulid()'), ('ulid_ordered', 'gen_ordered_ulid()')) AS c (kind, call);
SELECT format('host=%s port=%s user=%s dbname=%s', :'HOST', :'PORT', :'USER', :'DBNAME') AS server
\gset
CREATE PROCEDURE connect(server text, sessions int) LANGUAGE sql AS $$
    SELECT dblink_connect('s' || n, server || ' application_name=measured')
    FROM generate_series(1, sessions) AS n
$$;
CREATE PROCEDURE in_each(statement text, sessions int) LANGUAGE sql AS $$
    SELECT (SELECT v FROM dblink('s' || n, statement) AS d (v text))
    FROM generate_series(1, sessions) AS n
$$;
CREATE PROCEDURE disconnect(sessions int) LANGUAGE sql AS $$
    SELECT dblink_disconnect('s' || n) FROM generate_series(1, sessions) AS n
$$;
CREATE PROCEDURE memory(kind text) LANGUAGE sql AS $$
    INSERT INTO result (measure, kind, value) SELECT 'memory', kind, sum(kb[1]::float8)
    FROM pg_stat_activity, regexp_matches(
        pg_read_file(format('/proc/%s/smaps_rollup', pid)), 'Private_\w+: +(\d+)', 'g') AS kb
    WHERE application_name = 'measured' GROUP BY pid
$$;
CREATE PROCEDURE transactions(kind text, call text) LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz := clock_timestamp();
BEGIN
    FOR n IN 1 .. 2000 LOOP
        EXECUTE 'SELECT pg_current_xact_id(), ' || call;
        COMMIT;
    END LOOP;
    INSERT INTO result (measure, kind, value)
        VALUES ('transaction', kind, extract(epoch FROM clock_timestamp() - start) / 2000 * 1e6);
END $$;
SELECT format('CALL connect(%L, %s)', :'server', :sessions),
    format('CALL in_each(%L, %s)', 'SELECT ' || call, :sessions),
    format('CALL memory(%L)', kind), format('CALL disconnect(%s)', :sessions)
FROM call
\gexec
SELECT format('CALL transactions(%L, %L)', kind, call),
    format('COPY result (measure, kind, value) FROM PROGRAM %L CSV', format(
        'echo "SELECT %s" | pgbench -n -C -t 200 -f /dev/stdin "%s" '
        '| sed -n "s/^tps = \([0-9.]*\).*/connect,%s,\1/p"', call, :'server', kind))
FROM generate_series(1, 7), call
\gexec
UPDATE result SET value = 1e6 / value WHERE measure = 'connect';
\o
TABLE result;
