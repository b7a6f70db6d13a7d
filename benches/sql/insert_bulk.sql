-- :inserts rows in 20 statements. For each it prints, after the operation's name: rows so far,
-- milliseconds, bytes of WAL, blocks read, and the size of the index in bytes.
\timing off
DROP TABLE IF EXISTS bench.inserted;
CREATE TABLE bench.inserted (id :column PRIMARY KEY, n bigint);
CHECKPOINT;
SELECT format('SELECT ''batch %s %s '' || concat_ws('' '', ms, wal_bytes, blocks_read,
                   pg_relation_size(''bench.inserted_pkey''))
               FROM bench.measure(
                   ''INSERT INTO bench.inserted (n) SELECT generate_series(1, %s)'')',
              :'operation', batch * :inserts / 20, :inserts / 20)
FROM generate_series(1, 20) AS batch
\gexec
\timing on
