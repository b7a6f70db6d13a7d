-- With the rows that insert_bulk.sql left: the first vacuum, 20000 rows by their key, 100000 by a
-- range of keys (for ids with a time, of times), the deletion of every twentieth row, and the
-- vacuum after it. It prints seconds; for rows by key, microseconds per row.
\timing off
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT 'measure huge_table 1 ' || pg_relation_size('bench.inserted') / :inserts.0;
SELECT clock_timestamp() AS start \gset
VACUUM ANALYZE bench.inserted;
SELECT 'measure huge_vacuum 1 ' || extract(epoch FROM clock_timestamp() - :'start');
SELECT pg_relation_size('bench.inserted') / current_setting('block_size')::int AS blocks \gset
CREATE TEMPORARY TABLE sample AS SELECT id FROM bench.inserted
    WHERE ctid = ANY (ARRAY(SELECT format('(%s,1)', floor(random() * :blocks))::tid
        FROM generate_series(1, 20000)));
ANALYZE sample;
SELECT 'measure huge_lookup 1 ' || ms * 1000 / (SELECT count(*) FROM sample)
FROM bench.measure('SELECT count(n) FROM sample JOIN bench.inserted USING (id)');
DROP TABLE sample;
SELECT id AS low FROM bench.inserted WHERE ctid = format('(%s,1)', :blocks / 3)::tid \gset
SELECT id AS high FROM bench.inserted
    WHERE ctid = format('(%s,1)', :blocks / 3 + (:blocks * 1e5 / :inserts)::int)::tid \gset
SELECT 'measure huge_range 1 ' || ms / 1000 FROM bench.measure(
    format('SELECT count(n) FROM bench.inserted WHERE id >= %L AND id < %L', :'low', :'high'));
SELECT clock_timestamp() AS start \gset
DELETE FROM bench.inserted WHERE n % 20 = 0;
SELECT 'measure huge_delete 1 ' || extract(epoch FROM clock_timestamp() - :'start');
SELECT clock_timestamp() AS start \gset
VACUUM bench.inserted;
SELECT 'measure huge_vacuum_deleted 1 ' || extract(epoch FROM clock_timestamp() - :'start');
DROP TABLE bench.inserted;
RESET enable_hashjoin;
RESET enable_mergejoin;
\timing on
