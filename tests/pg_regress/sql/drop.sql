-- DROP EXTENSION takes everything along, and nothing else.

\pset format unaligned
\pset footer off
CREATE TABLE holds (id ulid, n int);
DROP EXTENSION ulid;
\echo :LAST_ERROR_SQLSTATE
DROP EXTENSION ulid CASCADE;
SELECT attname FROM pg_attribute WHERE attrelid = 'holds'::regclass AND attnum > 0
    AND NOT attisdropped;
DROP TABLE holds;
SELECT count(*) AS left FROM pg_proc WHERE proname LIKE '%ulid%' OR probin LIKE '%ulid%';
-- (19 has casts of its own for uuid; user-defined objects have oids from 16384)
SELECT to_regtype('ulid') AS type, count(*) AS casts FROM pg_cast WHERE oid >= 16384;
-- and it can come back, into a schema of its own
CREATE SCHEMA apart;
CREATE EXTENSION ulid SCHEMA apart;
SELECT apart.gen_ulid() IS NOT NULL AS works;
DROP SCHEMA apart CASCADE;
CREATE EXTENSION ulid;
