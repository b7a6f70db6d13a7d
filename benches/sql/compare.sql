-- Ten comparisons of each key: the second time minus the first.
\timing off
SELECT :rows * 10 AS comparisons,
       array_to_string(array_fill(format('id > %s', :'least'), ARRAY[10]), ' AND ')
           AS comparing \gset
\timing on
\echo operation compare :comparisons
SELECT count(*) FROM bench.:shuffled WHERE id IS NOT NULL;
SELECT count(*) FROM bench.:shuffled WHERE id IS NOT NULL AND :comparing;
