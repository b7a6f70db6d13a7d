-- Generating an id: the second time minus the first, for this many rows.
\echo operation generate :rows
SELECT count(n) FROM bench.scan;
SELECT count(:generator) FROM bench.scan;
