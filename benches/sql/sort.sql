-- Sorting keys in random order: the second time minus the first, for this many rows.
\echo operation sort :rows
SELECT id FROM bench.:shuffled OFFSET :rows;
SELECT id FROM bench.:shuffled ORDER BY id OFFSET :rows;
