-- Once, before everything else: psql -v rows=200000 -f begin.sql
CREATE SCHEMA bench;
CREATE EXTENSION IF NOT EXISTS ulid;

-- Runs a statement and reports its cost: milliseconds, bytes of WAL, and blocks that were not in
-- shared_buffers.
CREATE FUNCTION bench.measure(statement text, OUT ms float8, OUT wal_bytes numeric,
    OUT blocks_read bigint)
    LANGUAGE plpgsql AS $$
DECLARE
    start pg_lsn := pg_current_wal_insert_lsn();
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || statement INTO plan;
    ms := plan->0->>'Execution Time';
    wal_bytes := pg_current_wal_insert_lsn() - start;
    blocks_read := plan->0->'Plan'->>'Shared Read Blocks';
END
$$;

CREATE SEQUENCE bench.sequence;
CREATE UNLOGGED TABLE bench.scan AS SELECT generate_series(1, :rows)::bigint AS n;
VACUUM ANALYZE bench.scan;
