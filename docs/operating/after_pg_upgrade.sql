-- After pg_upgrade, in each database with the extension, as a superuser:
--
--   psql -X -d DATABASE -f after_pg_upgrade.sql

DROP SCHEMA "!" CASCADE;

-- What the server offers beyond the older one, for ulid and, if it is there, ulid_gist. The next
-- update of the extension does it too.
SELECT format('SET search_path = %s', string_agg(DISTINCT extnamespace::regnamespace::text, ', '))
FROM pg_extension WHERE extname IN ('ulid', 'ulid_gist', 'btree_gist') \gexec
SELECT 'ALTER EXTENSION btree_gist UPDATE' FROM pg_extension WHERE extname = 'btree_gist' \gexec
SELECT format('ALTER OPERATOR FAMILY ulid_ops USING %s ADD FUNCTION %s (%s) %s', access_method,
    number, types, function)
FROM (VALUES ('btree', 6, 'ulid, ulid', 'uuid_skipsupport(internal)'),
    ('gist', 11, 'ulid, ulid', 'gbt_uuid_sortsupport(internal)'),
             ('gist', 12, '"any", "any"', 'gist_translate_cmptype_btree(integer)')) AS f
                 (access_method, number, types, function)
    JOIN pg_am ON amname = access_method JOIN pg_opfamily ON opfmethod = pg_am.oid
        AND opfname = 'ulid_ops'
WHERE to_regprocedure(function) IS NOT NULL
  AND NOT EXISTS (SELECT FROM pg_amproc WHERE amprocfamily = pg_opfamily.oid
      AND amprocnum = number) \gexec
