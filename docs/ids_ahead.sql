-- When the clock jumped, or may have: psql -X -d DATABASE -v owners=ROLE,ROLE -f ids_ahead.sql,
-- with the roles whose tables may be read.
\set ON_ERROR_STOP on
SET search_path = pg_catalog, pg_temp;    -- no functions and operators of others
SELECT extnamespace::regnamespace AS ulid FROM pg_extension WHERE extname = 'ulid' \gset

SELECT :ulid.ulid_ordered_time() > clock_timestamp() + interval '1 minute' AS ordered_ids_are_ahead;

-- Each column of type ulid, and each uuid column whose default generates ids in the order of time.
-- Temporary tables of other sessions cannot be read, nor unlogged ones on a standby.
WITH RECURSIVE type (oid, base) AS (    -- with their domains
    SELECT oid, oid FROM pg_type
    WHERE oid IN ((:'ulid' || '.ulid')::regtype, 'uuid'::regtype)
    UNION ALL
    SELECT pg_type.oid, base FROM type JOIN pg_type ON typbasetype = type.oid
)
SELECT string_agg(format(CASE WHEN owner = ANY (string_to_array(:'owners', ','))
                              THEN 'SELECT %L AS "column", count(*)::text FROM ONLY %s '
                                  'WHERE %I > %6$s.ulid_upper_bound(now() + interval %4$L)'
                              ELSE 'SELECT %1$L AS "column", %5$L AS count' END,
                         attrelid::regclass || '.' || attname, attrelid::regclass, attname,
                             '1 minute', 'not read, owner: ' || owner, :'ulid'),
                  ' UNION ALL ' ORDER BY attrelid, attnum)
FROM pg_attribute JOIN type ON type.oid = atttypid JOIN pg_type ON pg_type.oid = atttypid
    JOIN pg_class ON pg_class.oid = attrelid
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum,
     pg_get_userbyid(relowner) AS owner
WHERE attnum > 0 AND NOT attisdropped AND relkind = 'r'
-- a reset empties the extension's own table
AND attrelid <> (:'ulid' || '.ulid_horizon')::regclass
AND (relpersistence = 'p' OR relpersistence = 'u' AND NOT pg_is_in_recovery())
AND (base <> 'uuid'::regtype OR coalesce(pg_get_expr(adbin, adrelid), pg_get_expr(typdefaultbin, 0))
    ~ '\m(gen_((ordered_)?uuid_v7|((monotonic|ordered)_)?ulid)|uuidv7)"?\(')
\gexec
RESET search_path;
