#!/usr/bin/env bash
# The extension in a separate schema, not in the search_path, and moved to another one.
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

# Expressions that look an operator up by name fail, and never get another meaning; those that use the type's own
# operators work.
for expression in 'id = id' "id < '01ARYZ6S41TSV4RRFFQ69G5FAV'" 'id = u' 'id = ANY (ARRAY[u])' 'id IN (SELECT id FROM key)' \
  'nullif(id, id) IS NULL' 'id IS DISTINCT FROM id' '(CASE id WHEN id THEN true END)' 'id BETWEEN u AND u' 'max(id) IS NULL' \
  "id <@ tstzrange(now(), now())" '(SELECT count(*) FROM key AS k JOIN key AS l USING (id)) > 0'; do
  answer=$(psql -A -t -v VERBOSITY=sqlstate -c "SELECT $expression FROM key LIMIT 1" 2>&1) || true
  [ "$answer" = 'ERROR:  42883' ] || {
    echo "$expression is not refused, but says: $answer"
    exit 1
  }
done
psql -A -t -v ON_ERROR_STOP=1 << 'SQL' > result
SELECT count(*) FROM (SELECT DISTINCT id FROM key UNION SELECT u FROM key) AS s;
SELECT count(*) FROM (SELECT id FROM key GROUP BY id ORDER BY id) AS s;
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY id ORDER BY id) FROM key) AS s;
INSERT INTO key SELECT * FROM key ON CONFLICT (id) DO NOTHING;
SELECT bool_and(greatest(id, u) IS NOT NULL AND key = key AND ARRAY[id] = ARRAY[id]) FROM key;
SELECT count(u::elsewhere.ulid), count(id::timestamptz) FROM key;
SQL
diff - result << 'END'
1002
1001
1001
INSERT 0 0
t
1000|1001
END
