-- Generating an id: the second time less the first, for so many rows.
\echo operation generate :rows
SELECT count(n) FROM bench.scan;
SELECT count(:generator) FROM bench.scan;
