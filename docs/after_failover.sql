-- After a failover or a restore: psql -X -d DATABASE -v owners=ROLE,ROLE -f after_failover.sql, as
-- a superuser, with the roles whose tables may be read.
\set ON_ERROR_STOP on
SET search_path = pg_catalog, pg_temp;    -- no functions and operators of others
SELECT extnamespace::regnamespace AS ulid FROM pg_extension WHERE extname = 'ulid' \gset

-- Each column whose default generates ordered ids. The call has the exact types of the arguments:
-- whoever owns the schema can make overloads with other ones. Temporary tables of other sessions
-- cannot be read, and nobody polls them.
-- A table that cannot be read does not stop the others.
\set ON_ERROR_STOP off
\set LAST_ERROR_SQLSTATE 00000
WITH RECURSIVE type (oid) AS (    -- with their domains
    VALUES ((:'ulid' || '.ulid')::regtype::oid), ('uuid'::regtype)
    UNION ALL
    SELECT pg_type.oid FROM type JOIN pg_type ON typbasetype = type.oid
)
SELECT format(CASE WHEN owner <> ALL (string_to_array(:'owners', ','))
                  THEN 'SELECT %1$L AS "table", %4$L AS "not read, owner"'
                  WHEN type.oid IS NULL THEN 'DO %6$L'
                  ELSE 'SELECT %L AS "table", %5$s.ulid_advance_ordered_time((
                      SELECT %2$I FROM ONLY %1$s
                      WHERE %2$I <= %5$s.ulid_upper_bound(now() + interval %3$L)
                          ORDER BY %2$I DESC LIMIT 1)::%5$s.ulid, false)' END, attrelid::regclass,
                  attname, '1 day', owner, :'ulid',
                  format('BEGIN RAISE EXCEPTION USING MESSAGE = %L; END',
                      format('column %I of %s has the type %s', attname, attrelid::regclass,
                          atttypid::regtype)))
FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid JOIN pg_class ON pg_class.oid = attrelid
    LEFT JOIN type ON type.oid = atttypid
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum,
     pg_get_userbyid(relowner) AS owner
WHERE coalesce(pg_get_expr(adbin, adrelid), pg_get_expr(typdefaultbin, 0))
    ~ '\mgen_ordered_(ulid|uuid_v7)"?\(\)'
AND attnum > 0 AND NOT attisdropped AND relkind = 'r' AND relpersistence <> 't'
ORDER BY attrelid, attnum
\gexec
\set ON_ERROR_STOP on
SELECT :'LAST_ERROR_SQLSTATE' <> '00000' AS failed \gset
\if :failed
DO 'BEGIN RAISE EXCEPTION ''not all tables were read''; END';
\endif
RESET search_path;
