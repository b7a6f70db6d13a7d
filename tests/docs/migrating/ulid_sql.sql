\i tests/docs/no_rewrite.sql
CREATE SCHEMA ulid_sql;
SET search_path = ulid_sql;
\i sql/ulid_sql.sql
