-- One comparison: the second time less the first, for so many rows.
\echo operation compare :rows
SELECT count(*) FROM bench.:shuffled WHERE id IS NOT NULL;
SELECT count(*) FROM bench.:shuffled WHERE id IS NOT NULL AND id > :least;
