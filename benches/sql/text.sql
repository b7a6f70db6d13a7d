-- Text output, and text input: the second time minus the first, for this many rows.
\echo operation text_out :rows
SELECT count(id) FROM bench.:kind;
SELECT count(:output(id)) FROM bench.:kind;
\echo operation text_in :rows
SELECT count(:output(id)) FROM bench.:kind;
SELECT count(:input(:output(id))) FROM bench.:kind;
