-- Operator classes: complete, used by the planner, and fit for partitions and deduplication.

\pset format unaligned
\pset footer off
CREATE TABLE keyed (id ulid PRIMARY KEY, n int);
INSERT INTO keyed SELECT decode(md5(i::text), 'hex')::ulid, i FROM generate_series(1, 10000) AS i;
ANALYZE keyed;
EXPLAIN (COSTS OFF) SELECT * FROM keyed WHERE id = '01ARYZ6S41TSV4RRFFQ69G5FAV';
EXPLAIN (COSTS OFF) SELECT * FROM keyed
    WHERE id = ANY ('{01ARYZ6S41TSV4RRFFQ69G5FAV,01ARYZ6S41TSV4RRFFQ69G5FAW}');
EXPLAIN (COSTS OFF) SELECT * FROM keyed WHERE id > '01ARYZ6S41TSV4RRFFQ69G5FAV'
    ORDER BY id LIMIT 10;
INSERT INTO keyed SELECT * FROM keyed LIMIT 1;
\echo :LAST_ERROR_SQLSTATE

-- a hash index
CREATE TABLE hashed AS SELECT id AS h FROM keyed;
CREATE INDEX ON hashed USING hash (h);
ANALYZE hashed;
EXPLAIN (COSTS OFF) SELECT * FROM hashed WHERE h = '01ARYZ6S41TSV4RRFFQ69G5FAV';
SELECT count(*) FROM hashed AS a WHERE h = (SELECT id FROM keyed WHERE n = 17);
DROP TABLE hashed;

-- GIN on an array, by core's array_ops: each operator finds by the index what a scan of the table
-- finds
CREATE TABLE many AS SELECT n,
    ARRAY[id, lead(id) OVER (ORDER BY n), CASE WHEN n % 2 = 0 THEN id END] AS ids FROM keyed;
INSERT INTO many VALUES (0, '{}'), (-1, NULL);
CREATE INDEX ON many USING gin (ids);
ANALYZE many;
SELECT count(*) FILTER (WHERE ids @> ARRAY[k.id]) AS contains, count(*)
    FILTER (WHERE ids && ARRAY[k.id, k.id]) AS overlaps,
       count(*) FILTER (WHERE ids <@ ARRAY[k.id, k.next]) AS contained, count(*)
           FILTER (WHERE ids = ARRAY[k.id, k.next, NULL]) AS equal
FROM many, (SELECT id, (SELECT id FROM keyed WHERE n = 18) AS next FROM keyed WHERE n = 17) AS k;
SET enable_seqscan = off;
SELECT (SELECT count(*) FROM many WHERE ids @> ARRAY[k.id]) AS contains,
    (SELECT count(*) FROM many WHERE ids && ARRAY[k.id, k.id]) AS overlaps,
       (SELECT count(*) FROM many WHERE ids <@ ARRAY[k.id, k.next]) AS contained,
       (SELECT count(*) FROM many WHERE ids = ARRAY[k.id, k.next, NULL]) AS equal
FROM (SELECT id, (SELECT id FROM keyed WHERE n = 18) AS next FROM keyed WHERE n = 17) AS k;
EXPLAIN (COSTS OFF) SELECT * FROM many WHERE ids @> ARRAY['01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid];
RESET enable_seqscan;
DROP TABLE many;

-- deduplication: 1,000 copies of each of 100 values take a fraction of the space that they take
-- without
CREATE TABLE copies AS SELECT k.id FROM (SELECT id FROM keyed LIMIT 100) AS k,
    generate_series(1, 1000);
CREATE INDEX copies_deduplicated ON copies (id);
CREATE INDEX copies_plain ON copies (id) WITH (deduplicate_items = off);
SELECT pg_relation_size('copies_deduplicated') < 0.4 * pg_relation_size('copies_plain')
    AS deduplicated;
DROP TABLE copies;

-- hash partitions
CREATE TABLE by_hash (id ulid PRIMARY KEY) PARTITION BY HASH (id);
CREATE TABLE by_hash_0 PARTITION OF by_hash FOR VALUES WITH (MODULUS 4, REMAINDER 0);
CREATE TABLE by_hash_1 PARTITION OF by_hash FOR VALUES WITH (MODULUS 4, REMAINDER 1);
CREATE TABLE by_hash_2 PARTITION OF by_hash FOR VALUES WITH (MODULUS 4, REMAINDER 2);
CREATE TABLE by_hash_3 PARTITION OF by_hash FOR VALUES WITH (MODULUS 4, REMAINDER 3);
INSERT INTO by_hash SELECT id FROM keyed;
SELECT count(*) AS rows, min(n) > 2000 AS even
FROM (SELECT count(*) AS n FROM by_hash GROUP BY tableoid) AS s;
EXPLAIN (COSTS OFF) SELECT * FROM by_hash WHERE id = '01ARYZ6S41TSV4RRFFQ69G5FAV';
DROP TABLE by_hash;

DROP TABLE keyed;
