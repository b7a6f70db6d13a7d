-- When the clock jumped, or may have: psql -X -d DATABASE -v owners=ROLE,ROLE -f ids_ahead.sql,
-- with the roles whose tables may be read.
SELECT ulid_ordered_time() > clock_timestamp() + interval '1 minute' AS ordered_ids_are_ahead;
SELECT string_agg(format(CASE WHEN owner = ANY (string_to_array(:'owners', ','))
                              THEN 'SELECT %L AS "column", count(*)::text FROM ONLY %s '
                                  'WHERE %I > ulid_upper_bound(now() + interval %L)'
                              ELSE 'SELECT %1$L AS "column", %5$L AS count' END,
                         attrelid::regclass || '.' || attname, attrelid::regclass, attname,
                             '1 minute', 'not read, owner: ' || owner),
                  ' UNION ALL ' ORDER BY attrelid, attnum)
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid, pg_get_userbyid(relowner) AS owner
WHERE atttypid = 'ulid'::regtype AND attnum > 0 AND relkind = 'r'
\gexec
