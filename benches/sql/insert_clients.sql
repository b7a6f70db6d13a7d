-- :inserts rows by eight clients at once, 10000 in each statement.
\timing off
DROP TABLE IF EXISTS bench.inserted;
CREATE TABLE bench.inserted (id :column PRIMARY KEY, n bigint);
CHECKPOINT;
SELECT :inserts / 80000 AS statements \gset
\setenv BENCH_STATEMENTS :statements
\! pgbench -n -c 8 -j 2 -t $BENCH_STATEMENTS -f benches/sql/insert_clients.pgbench 2> /dev/null | awk '/^tps/ { print "measure insert_clients_rate", ENVIRON["BENCH_STATEMENTS"] * 80000, $3 * 10000 }'
SELECT 'measure insert_clients_index_bytes ' || count(*) || ' '
    || pg_relation_size('bench.inserted_pkey') FROM bench.inserted;
\timing on
