-- Ten tests of a window for each row, without an index: the second time minus the first. The window
-- contains all rows, so no test is skipped.
\timing off
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SELECT :rows * 10 AS tests,
       array_to_string(array_fill(
           format('%s <@ tstzrange(''2025-01-01'', ''2027-01-01'')', :'timed'), ARRAY[10]), ' AND ')
           AS testing \gset
\timing on
\echo operation filter :tests
SELECT count(*) FROM bench.:kind WHERE :timed IS NOT NULL;
SELECT count(*) FROM bench.:kind WHERE :timed IS NOT NULL AND :testing;
\timing off
RESET enable_indexscan;
RESET enable_indexonlyscan;
RESET enable_bitmapscan;
\timing on
