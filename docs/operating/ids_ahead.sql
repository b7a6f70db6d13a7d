-- When the clock jumped, or may have: psql -X -d DATABASE -v owners=ROLE,ROLE -f ids_ahead.sql,
-- with the roles whose tables may be read.
\set ON_ERROR_STOP on
SET search_path = pg_catalog, pg_temp;    -- no functions and operators of others
SELECT extnamespace::regnamespace AS ulid FROM pg_extension WHERE extname = 'ulid' \gset

SELECT :ulid.ulid_ordered_time() > clock_timestamp() + interval '1 minute' AS ordered_ids_are_ahead;
SELECT string_agg(format(CASE WHEN owner = ANY (string_to_array(:'owners', ','))
                              THEN 'SELECT %L AS "column", count(*)::text FROM ONLY %s '
                                  'WHERE %I > %6$s.ulid_upper_bound(now() + interval %4$L)'
                              ELSE 'SELECT %1$L AS "column", %5$L AS count' END,
                         attrelid::regclass || '.' || attname, attrelid::regclass, attname,
                             '1 minute', 'not read, owner: ' || owner, :'ulid'),
                  ' UNION ALL ' ORDER BY attrelid, attnum)
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid, pg_get_userbyid(relowner) AS owner
WHERE atttypid = (:'ulid' || '.ulid')::regtype AND attnum > 0 AND relkind = 'r'
\gexec
RESET search_path;
