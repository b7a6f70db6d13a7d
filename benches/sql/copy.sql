-- COPY of a column of keys to a file of the server and back, as text and as binary.
\timing off
CREATE UNLOGGED TABLE bench.copied (id :type);
\timing on
\echo operation copy_text_out :rows
COPY bench.:kind (id) TO :'file';
\echo operation copy_text_in :rows
COPY bench.copied FROM :'file';
\timing off
TRUNCATE bench.copied;
\timing on
\echo operation copy_binary_out :rows
COPY bench.:kind (id) TO :'file' (FORMAT binary);
\echo operation copy_binary_in :rows
COPY bench.copied FROM :'file' (FORMAT binary);
\timing off
DROP TABLE bench.copied;
\timing on
