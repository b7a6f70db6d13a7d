-- The size of the index of 300000 ids by gen_ulid if this many are generated in each millisecond,
-- for several fill factors.
\timing off
SELECT format('CREATE UNLOGGED TABLE bench.rated (id ulid PRIMARY KEY WITH (fillfactor = %s))',
              fillfactor),
       format('INSERT INTO bench.rated
               SELECT gen_ulid(timestamptz ''2026-01-01 00:00+00'' + n / %s * interval ''1 ms'')
               FROM generate_series(1, 300000) AS n', rate),
       format('SELECT ''measure index_bytes_filled_to_%s %s '' || '
              'pg_relation_size(''bench.rated_pkey'') / 300000.0',
              fillfactor, rate),
       'DROP TABLE bench.rated'
FROM unnest(ARRAY[90, 80, 70]) AS fillfactor,
    unnest(ARRAY[1, 10, 50, 100, 150, 200, 300, 500, 1000, 2000]) AS rate
\gexec
\timing on
