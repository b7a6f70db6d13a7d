-- A hash join of keys with themselves.
\timing off
SET enable_mergejoin = off;
SET enable_nestloop = off;
\timing on
\echo operation hash_join :rows
SELECT count(*) FROM bench.:kind JOIN bench.:shuffled USING (id);
\timing off
RESET enable_mergejoin;
RESET enable_nestloop;
\timing on
