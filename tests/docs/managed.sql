CREATE SCHEMA ulid_sql;
SET search_path = ulid_sql;
\i sql/ulid_sql.sql
RESET search_path;
-- every function of the script is on the page
\set page `cat docs/managed.md`
SELECT 1 / (count(*) = 0)::int AS all_there FROM pg_proc
WHERE pronamespace = 'ulid_sql'::regnamespace AND proname !~ '^ulid_(sql|consumer)_'
    AND :'page' !~ ('`' || proname || '[`(]') \gset
