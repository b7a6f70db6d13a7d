-- After a failover or a restore: psql -X -d DATABASE -v owners=ROLE,ROLE -f after_failover.sql, as
-- a superuser, with the roles whose tables may be read.
\set ON_ERROR_STOP on
SET search_path = pg_catalog, pg_temp;    -- no functions and operators of others
SELECT extnamespace::regnamespace AS ulid FROM pg_extension WHERE extname = 'ulid' \gset

-- A table that cannot be read does not stop the others.
\set ON_ERROR_STOP off
\set LAST_ERROR_SQLSTATE 00000
SELECT format(CASE WHEN owner = ANY (string_to_array(:'owners', ',')) THEN
                  'SELECT %L AS "table", %5$s.ulid_advance_ordered_time((SELECT %2$I FROM ONLY %1$s
                      WHERE %2$I <= %5$s.ulid_upper_bound(now() + interval %3$L)
                          ORDER BY %2$I DESC LIMIT 1))'
                  ELSE 'SELECT %1$L AS "table", %4$L AS "not read, owner"' END, adrelid::regclass,
                  attname, '1 day', owner, :'ulid')
FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum JOIN pg_class
    ON pg_class.oid = adrelid,
     pg_get_userbyid(relowner) AS owner
WHERE pg_get_expr(adbin, adrelid) ~ 'gen_ordered_(ulid|uuid_v7)\(\)' AND relkind = 'r'
ORDER BY adrelid
\gexec
\set ON_ERROR_STOP on
SELECT :'LAST_ERROR_SQLSTATE' <> '00000' AS failed \gset
\if :failed
DO 'BEGIN RAISE EXCEPTION ''not all tables were read''; END';
\endif
RESET search_path;
