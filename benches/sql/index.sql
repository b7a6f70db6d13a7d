-- Building a unique index of keys that are in no order.
\echo operation index_build :rows
CREATE UNIQUE INDEX built ON bench.:shuffled (id);
\timing off
DROP INDEX bench.built;
\timing on
