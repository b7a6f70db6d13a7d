-- Install the type and its functions in this database.
CREATE EXTENSION ulid;

-- A table whose key has a default: sorted by the key, rows are in the order of their creation.
CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ulid(), what text NOT NULL);
INSERT INTO event (what) VALUES ('ordered');
SELECT pg_sleep(0.002);
INSERT INTO event (what) VALUES ('paid');
SELECT pg_sleep(0.002);
INSERT INTO event (what) VALUES ('delivered');
SELECT id, what, ulid_extract_timestamp(id) AS created FROM event ORDER BY id;

-- The conformance vectors: text, the same bytes as a uuid, milliseconds since 1970.
CREATE TABLE vector (id ulid, bytes uuid, ms bigint);
\copy vector FROM PROGRAM 'grep -v "^#" pg_ulid/tests/data/valid.tsv'
SELECT count(*) AS vectors,
       count(*) FILTER (WHERE id = bytes) AS same_bytes,
       count(*) FILTER (WHERE ulid_extract_unix_ms(id) = ms) AS same_time
FROM vector;

-- A million rows keyed by uuid become ulid in place: the table keeps its file, nothing is
-- rewritten.
CREATE TABLE item AS
SELECT gen_ulid(timestamptz '2026-01-01 00:00:00+00' + n * interval '1 second')::uuid AS id, n
FROM generate_series(1, 1000000) AS n;
SELECT pg_relation_filenode('item') AS filenode, min(id::text) AS first_id FROM item;
\timing on
ALTER TABLE item ALTER COLUMN id TYPE ulid;
\timing off
SELECT pg_relation_filenode('item') AS filenode, min(id::text) AS first_id FROM item;

-- The key contains its time: one minute of the million rows, directly from the index.
CREATE INDEX ON item (id);
ANALYZE item;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
SELECT count(*) FROM item
WHERE id <@ tstzrange('2026-01-02 12:00:00+00', '2026-01-02 12:01:00+00');
SELECT count(*), min(ulid_extract_timestamp(id)), max(ulid_extract_timestamp(id)) FROM item
WHERE id <@ tstzrange('2026-01-02 12:00:00+00', '2026-01-02 12:01:00+00');
