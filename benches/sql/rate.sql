-- How large the index of 300000 ids by gen_ulid becomes where so many are made in each millisecond.
\timing off
CREATE UNLOGGED TABLE bench.rated (id ulid PRIMARY KEY);
SELECT 'TRUNCATE bench.rated',
       format('INSERT INTO bench.rated SELECT gen_ulid(timestamptz ''2026-01-01 00:00+00'' + n / %s * interval ''1 ms'')
               FROM generate_series(1, 300000) AS n', rate),
       format('SELECT ''measure index_bytes_by_rate %s '' || pg_relation_size(''bench.rated_pkey'') / 300000.0', rate)
FROM unnest(ARRAY[1, 10, 50, 100, 150, 200, 300, 500, 1000, 2000]) AS rate
\gexec
DROP TABLE bench.rated;
\timing on
