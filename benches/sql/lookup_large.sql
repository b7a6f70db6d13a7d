-- 20000 rows by their key, in random order, of the table that insert_bulk.sql left: from the newest
-- hundredth of the rows, then from all. It prints milliseconds, and blocks read of index and table
-- together.
\timing off
SELECT format('(%s,1)',
    pg_relation_size('bench.inserted') / current_setting('block_size')::int * 99 / 100)
    AS newest \gset
CREATE TEMPORARY TABLE newest AS SELECT id FROM bench.inserted WHERE ctid >= :'newest'
    ORDER BY random() LIMIT 20000;
CREATE TEMPORARY TABLE sample AS SELECT id FROM bench.inserted ORDER BY random() LIMIT 20000;
ANALYZE newest, sample;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_memoize = off;
SELECT * FROM bench.measure('SELECT count(n) FROM newest JOIN bench.inserted USING (id)') \gset
\echo measure lookup_newest_ms 20000 :ms
\echo measure lookup_newest_blocks_read 20000 :blocks_read
SELECT * FROM bench.measure('SELECT count(n) FROM sample JOIN bench.inserted USING (id)') \gset
\echo measure lookup_sample_ms 20000 :ms
\echo measure lookup_sample_blocks_read 20000 :blocks_read
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_memoize;
DROP TABLE newest, sample;
\timing on
