-- Sorting keys that are in no order: the second time less the first, for so many rows.
\echo operation sort :rows
SELECT id FROM bench.:shuffled OFFSET :rows;
SELECT id FROM bench.:shuffled ORDER BY id OFFSET :rows;
