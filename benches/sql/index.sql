-- Building a unique index on keys in random order.
\echo operation index_build :rows
CREATE UNIQUE INDEX built ON bench.:shuffled (id);
\timing off
DROP INDEX bench.built;
\timing on
