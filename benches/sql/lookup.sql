-- Rows by their key, one after another and in random order, through the index of the primary key.
\timing off
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_memoize = off;
\timing on
\echo operation lookup 20000
SELECT count(created_at)
FROM (SELECT id FROM bench.:shuffled LIMIT 20000) AS s JOIN bench.:kind USING (id);
\timing off
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_memoize;
\timing on
