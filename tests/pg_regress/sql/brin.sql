-- BRIN: minmax for rows in order, minmax_multi for rows mostly in order, bloom for equality.

\pset format unaligned
\pset footer off
-- Run a query with an index and without, and say how many of the blocks were read with it.
\set ECHO none
CREATE FUNCTION plan_of(query text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON) '
        || query INTO plan;
    RETURN plan -> 0 -> 'Plan';
END $$;
CREATE FUNCTION compare(relation regclass, clause text, OUT rows bigint,
    OUT rows_of_seq_scan bigint, OUT index name, OUT share text)
LANGUAGE plpgsql AS $$
DECLARE
    query text := format('SELECT * FROM %s WHERE %s', relation, clause);
    plan jsonb;
    blocks_read numeric;
BEGIN
    SET LOCAL enable_seqscan = off;
    SET LOCAL enable_bitmapscan = on;
    plan := plan_of(query);
    rows := (plan ->> 'Actual Rows')::numeric;
    index := plan #>> '{Plans,0,Index Name}';
    blocks_read := coalesce((plan ->> 'Lossy Heap Blocks')::int, 0);
    share := CASE WHEN index IS NULL THEN 'no index'
             WHEN blocks_read = 0 THEN 'none'
             WHEN blocks_read < 0.05
                 * (pg_relation_size(relation) / current_setting('block_size')::int) THEN 'few'
             WHEN blocks_read > 0.5
                 * (pg_relation_size(relation) / current_setting('block_size')::int) THEN 'most'
             ELSE 'some' END;
    SET LOCAL enable_seqscan = on;
    SET LOCAL enable_bitmapscan = off;
    rows_of_seq_scan := (plan_of(query) ->> 'Actual Rows')::numeric;
END $$;
\set ECHO all

-- a millisecond for each row
CREATE TABLE event WITH (autovacuum_enabled = off) AS
SELECT i, decode(lpad(to_hex(1767225600000 + i), 12, '0') || left(md5(i::text), 20),
    'hex')::ulid AS id
FROM generate_series(1, 100000) AS i;
CREATE INDEX event_minmax ON event USING brin (id) WITH (pages_per_range = 4);
SELECT min(id) AS first, max(id) AS last FROM event \gset
SELECT id AS found, id::uuid AS found_uuid FROM event WHERE i = 77777 \gset
SELECT clause, c.* FROM (VALUES
    (1, format('id = %L', :'found')),
    (2, format('id = %L::uuid', :'found_uuid')),
    (3, format('id BETWEEN ulid_lower_bound(%L) AND ulid_upper_bound(%L)', '2026-01-01 00:00:10+00',
        '2026-01-01 00:00:10.999+00')),
    (4, format('id < ulid_lower_bound(%L)', '2026-01-01 00:00:01+00')),
    (5, format('id <= %L', :'first')),
    (6, format('id > %L', :'last')),
    (7, format('id >= %L', :'last')),
    (8, 'id IS NULL')
) AS v (n, clause), compare('event', clause) AS c ORDER BY n;

-- rows that come later are found before and after they are summarized
INSERT INTO event
    SELECT 100000 + i,
    decode(lpad(to_hex(1767225700000 + i), 12, '0') || left(md5(i::text), 20), 'hex')::ulid
FROM generate_series(1, 20000) AS i;
INSERT INTO event VALUES (0, NULL);
SELECT c.* FROM compare('event', 'id >= ulid_lower_bound(''2026-01-01 00:01:59.9+00'')') AS c;
SELECT brin_summarize_new_values('event_minmax') > 0 AS summarized;
SELECT c.* FROM compare('event', 'id >= ulid_lower_bound(''2026-01-01 00:01:59.9+00'')') AS c;
SELECT c.* FROM compare('event', 'id IS NULL') AS c;
DROP INDEX event_minmax;

-- one straggler in a hundred rows widens each range of minmax, and not those of minmax_multi
UPDATE event SET id = decode(md5(i::text), 'hex')::ulid WHERE i % 100 = 0;
CREATE TABLE mixed AS SELECT * FROM event WHERE id IS NOT NULL ORDER BY i;
DROP TABLE event;
CREATE INDEX mixed_index ON mixed USING brin (id ulid_minmax_multi_ops) WITH (pages_per_range = 4);
SELECT c.* FROM compare('mixed', format('id = %L', :'found')) AS c;
SELECT c.*
FROM compare('mixed',
    'id BETWEEN ulid_lower_bound(''2026-01-01 00:00:10+00'') '
    'AND ulid_upper_bound(''2026-01-01 00:00:10.999+00'')') AS c;
DROP INDEX mixed_index;
CREATE INDEX mixed_index ON mixed USING brin (id ulid_minmax_multi_ops (values_per_range = 64))
    WITH (pages_per_range = 4);
SELECT c.* FROM compare('mixed', format('id = %L::uuid', :'found_uuid')) AS c;
DROP INDEX mixed_index;
CREATE INDEX mixed_index ON mixed USING brin (id) WITH (pages_per_range = 4);
SELECT c.* FROM compare('mixed', format('id = %L', :'found')) AS c;
DROP INDEX mixed_index;

-- rows in any order: bloom knows equality, and nothing else; by default it has room for a tenth of
-- distinct values
UPDATE mixed SET id = decode(md5(i::text), 'hex')::ulid;
CREATE TABLE random AS SELECT * FROM mixed ORDER BY i;
DROP TABLE mixed;
CREATE INDEX random_bloom ON random USING brin (id ulid_bloom_ops (n_distinct_per_range = 2000))
    WITH (pages_per_range = 8);
SELECT c.* FROM compare('random', format('id = %L', (SELECT id FROM random WHERE i = 77777))) AS c;
SELECT c.*
FROM compare('random', format('id = %L::uuid', (SELECT id::uuid FROM random WHERE i = 77777))) AS c;
SELECT c.* FROM compare('random', 'id > ''7ZZ00000000000000000000000''') AS c;
DROP INDEX random_bloom;
CREATE INDEX random_minmax ON random USING brin (id) WITH (pages_per_range = 8);
SELECT c.* FROM compare('random', format('id = %L', (SELECT id FROM random WHERE i = 77777))) AS c;
DROP TABLE random;
DROP FUNCTION compare, plan_of;

-- the minmax classes look for operators of the type of the column, so they accept no other type
-- than ulid
CREATE DOMAIN domain_of_ulid AS ulid;
CREATE DOMAIN domain_of_uuid AS uuid;
CREATE TABLE of_domain (id domain_of_ulid, u uuid, d domain_of_uuid);
CREATE INDEX of_domain_index ON of_domain USING brin (u ulid_minmax_ops);
CREATE INDEX of_domain_index ON of_domain USING brin (u ulid_minmax_multi_ops);
\set VERBOSITY sqlstate
CREATE INDEX of_domain_index ON of_domain USING brin (id);
CREATE INDEX of_domain_index ON of_domain USING brin (id ulid_minmax_multi_ops);
CREATE INDEX of_domain_index ON of_domain USING brin (d ulid_minmax_ops);
CREATE INDEX of_domain_index ON of_domain USING brin (d ulid_minmax_multi_ops);
CREATE INDEX CONCURRENTLY of_domain_invalid ON of_domain USING brin (id);
DROP INDEX of_domain_invalid;
-- the index of a partitioned table is not built; those of its partitions are
CREATE TABLE parted (id domain_of_ulid) PARTITION BY HASH (id);
CREATE INDEX ON parted USING brin (id);
CREATE TABLE part PARTITION OF parted FOR VALUES WITH (MODULUS 1, REMAINDER 0);
DROP TABLE parted;
\set VERBOSITY default
-- an index that is kept when the type of its column changes is not built: it is a write that is
-- refused
CREATE TABLE changed (id ulid);
CREATE INDEX changed_id ON changed USING brin (id);
INSERT INTO changed VALUES (ulid_from_parts('2026-01-01Z', 0));
ALTER TABLE changed ALTER COLUMN id TYPE domain_of_ulid;
INSERT INTO changed VALUES (ulid_from_parts('2026-01-01Z', 1));
DROP INDEX changed_id;
INSERT INTO changed VALUES (ulid_from_parts('2026-01-01Z', 1));
ALTER TABLE changed ALTER COLUMN id TYPE ulid;
CREATE INDEX changed_id ON changed USING brin (id ulid_minmax_multi_ops);
ALTER TABLE changed ALTER COLUMN id TYPE uuid;
INSERT INTO changed VALUES (ulid_from_parts('2026-01-01Z', 2));
DROP TABLE changed;
-- all of them have the cast
CREATE INDEX of_domain_index ON of_domain USING brin ((id::ulid));
INSERT INTO of_domain (id) SELECT ulid_from_parts('2026-01-01Z', n)
    FROM generate_series(1, 1000) AS n;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT FROM of_domain WHERE id <= ulid_from_parts('2026-01-01Z', 10);
SELECT count(*) FROM of_domain WHERE id <= ulid_from_parts('2026-01-01Z', 10);
RESET enable_seqscan;
DROP TABLE of_domain;
DROP DOMAIN domain_of_ulid, domain_of_uuid;
