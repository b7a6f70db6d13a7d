#!/usr/bin/env bash
# The extension in a schema of its own, off the search_path, and moved to another one.
set -euo pipefail
psql -q -v ON_ERROR_STOP=1 << 'SQL'
CREATE SCHEMA types;
CREATE EXTENSION ulid SCHEMA types;
CREATE TABLE key (id types.ulid PRIMARY KEY DEFAULT types.gen_ulid(), u uuid);
INSERT INTO key SELECT FROM generate_series(1, 1000);
UPDATE key SET u = id;
CREATE SCHEMA elsewhere;
ALTER EXTENSION ulid SET SCHEMA elsewhere;
INSERT INTO key DEFAULT VALUES;
SQL
psql -A -t -v ON_ERROR_STOP=1 << 'SQL' | tee result
SELECT count(*), count(DISTINCT id), pg_typeof(min(id::uuid::text)) FROM key;
SELECT count(*) FROM key WHERE id OPERATOR(elsewhere.=) u;
SELECT elsewhere.max(id) OPERATOR(elsewhere.=) (SELECT id FROM key ORDER BY id DESC LIMIT 1) AS max FROM key;
SET search_path = elsewhere, public;
SELECT count(*) FROM key WHERE id = u AND ulid_extract_timestamp(id) > '2026-01-01';
SELECT pg_catalog.count(DISTINCT nspname) FROM pg_depend JOIN pg_proc AS p ON p.oid = objid JOIN pg_namespace AS n ON n.oid = pronamespace
WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'ulid') AND classid = 'pg_proc'::regclass;
SQL
diff - result << 'END'
1001|1001|text
1000
t
SET
1000
1
END
