-- Eight clients insert one row at a time, each in its own transaction, for $BENCH_SECONDS.
\timing off
DROP TABLE IF EXISTS bench.one;
CREATE TABLE bench.one (id :column PRIMARY KEY, n bigint);
CHECKPOINT;
\! pgbench -n -c 8 -j 2 -T ${BENCH_SECONDS:-2} -f benches/sql/insert_one.pgbench 2> /dev/null | grep '^tps'
SELECT 'measure insert_one_index_bytes 1 '
    || round(pg_relation_size('bench.one_pkey')::numeric / count(*), 1) FROM bench.one;
\timing on
