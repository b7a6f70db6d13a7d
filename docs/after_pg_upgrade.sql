-- After pg_upgrade, in each database with the extension, as a superuser:
--
--   psql -X -d DATABASE -f after_pg_upgrade.sql
\set ON_ERROR_STOP on
SET search_path = pg_catalog, pg_temp;    -- no functions and operators of others
SELECT extnamespace::regnamespace AS ulid FROM pg_extension WHERE extname = 'ulid' \gset

DROP TYPE IF EXISTS "!".first;
DROP SCHEMA IF EXISTS "!";

-- What the server offers beyond the older one, for ulid and, if it is there, ulid_gist. The next
-- update of the extension does it too.
SELECT 'ALTER EXTENSION btree_gist UPDATE' FROM pg_extension WHERE extname = 'btree_gist' \gexec
SELECT format('ALTER OPERATOR FAMILY %s.ulid_ops USING %s ADD FUNCTION %s (%s, %4$s) %s',
    opfnamespace::regnamespace, amname, number, type, pg_proc.oid::regprocedure)
FROM (VALUES ('btree', 6, :'ulid' || '.ulid', 'uuid_skipsupport'),
             ('gist', 11, :'ulid' || '.ulid', 'gbt_uuid_sortsupport'),
             ('gist', 12, '"any"', 'gist_translate_cmptype_btree'))
                 AS f (access_method, number, type, function)
    JOIN pg_am ON amname = access_method JOIN pg_opfamily ON opfmethod = pg_am.oid
        AND opfname = 'ulid_ops'
    JOIN pg_proc ON proname = function
        -- not another's function: the owner of btree_gist can add his own to it, but none in C
        AND prolang IN (SELECT oid FROM pg_language WHERE lanname IN ('internal', 'c'))
        AND (pronamespace = 'pg_catalog'::regnamespace OR EXISTS (
            SELECT FROM pg_depend JOIN pg_extension AS e ON refclassid = e.tableoid
                AND refobjid = e.oid
            WHERE classid = pg_proc.tableoid AND objid = pg_proc.oid AND deptype = 'e'
            AND extname = 'btree_gist'))
WHERE NOT EXISTS (SELECT FROM pg_amproc WHERE amprocfamily = pg_opfamily.oid
      AND amprocnum = number) \gexec
RESET search_path;
