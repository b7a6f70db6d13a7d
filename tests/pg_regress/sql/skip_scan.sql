-- Skip scan (PostgreSQL 18): a condition on the second column alone finds its rows by one descent
-- of the index for each value of the first. With skip support the next value is known without
-- looking for it. skip_scan_1.out is for servers that have none.

\pset format unaligned
\pset footer off
SELECT current_setting('server_version_num')::int >= 180000 AS server_has_skip_scan \gset
\if :server_has_skip_scan
\else
\echo skipped: skip scan, which this server has not
\quit
\endif
SELECT amproc FROM pg_amproc JOIN pg_opfamily AS f ON f.oid = amprocfamily
WHERE amproclefttype = 'ulid'::regtype AND amprocnum = 6 AND opfname = 'ulid_ops';
-- 100 neighbours, each with 1,000 numbers
CREATE TABLE skipped AS
SELECT decode('01563df36481d6764c61efb993' || lpad(to_hex(key), 6, '0'), 'hex')::ulid AS id, n
FROM generate_series(1, 100) AS key, generate_series(1, 1000) AS n;
CREATE INDEX ON skipped (id, n);
CREATE TABLE skipped_uuid AS SELECT id::uuid, n FROM skipped;
CREATE INDEX ON skipped_uuid (id, n);
VACUUM (ANALYZE) skipped, skipped_uuid;
CREATE FUNCTION searches(query text, OUT rows int, OUT node text, OUT searches int)
    LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
    plan := plan -> 0 -> 'Plan';
    rows := (plan ->> 'Actual Rows')::numeric;
    node := plan ->> 'Node Type';
    searches := plan ->> 'Index Searches';
END $$;
SELECT * FROM searches('SELECT * FROM skipped WHERE n = 777');
SELECT * FROM searches('SELECT * FROM skipped_uuid WHERE n = 777');
SELECT * FROM searches('SELECT * FROM skipped WHERE n = 777 ORDER BY id DESC');
SELECT id AS twentieth FROM skipped WHERE n = 1 ORDER BY id OFFSET 19 LIMIT 1 \gset
SELECT * FROM searches(format('SELECT * FROM skipped WHERE id < %L AND n = 777', :'twentieth'));
SELECT * FROM searches(format('SELECT * FROM skipped_uuid WHERE id < %L AND n = 777',
    :'twentieth'::ulid::uuid));
-- without skip support it takes about twice as many
BEGIN;
ALTER OPERATOR FAMILY ulid_ops USING btree DROP FUNCTION 6 (ulid, ulid);
SELECT rows, node, searches > 150 AS many FROM searches('SELECT * FROM skipped WHERE n = 777');
ROLLBACK;
DROP FUNCTION searches;
DROP TABLE skipped, skipped_uuid;
