-- After a failover or a restore: psql -X -d DATABASE -v owners=ROLE,ROLE -f after_failover.sql, as
-- a superuser, with the roles whose tables may be read.
SELECT format(CASE WHEN owner = ANY (string_to_array(:'owners', ',')) THEN
                  'SELECT %L AS "table", ulid_advance_ordered_time((SELECT %I FROM ONLY %1$s
                      WHERE %2$I <= ulid_upper_bound(now() + interval %L)
                          ORDER BY %2$I DESC LIMIT 1))'
                  ELSE 'SELECT %1$L AS "table", %4$L AS "not read, owner"' END, adrelid::regclass,
                  attname, '1 day', owner)
FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum JOIN pg_class
    ON pg_class.oid = adrelid,
     pg_get_userbyid(relowner) AS owner
WHERE pg_get_expr(adbin, adrelid) ~ 'gen_ordered_(ulid|uuid_v7)\(\)' AND relkind = 'r'
ORDER BY adrelid
\gexec
