-- The rows of one day out of thirty: by the key if it contains the time, otherwise by an index on
-- another column.
\echo operation window 1
SELECT count(id), count(created_at) FROM bench.:kind WHERE :window;
