-- Before pg_upgrade, in each database with the extension, as a superuser:
--
--   psql -X -d DATABASE -f before_pg_upgrade.sql
--
-- It lists what has to be dropped, and created again after pg_upgrade and after_pg_upgrade.sql.
\set ON_ERROR_STOP on
SET search_path = pg_catalog, pg_temp;    -- no functions and operators of others
SELECT extnamespace::regnamespace AS ulid FROM pg_extension WHERE extname = 'ulid' \gset

-- pg_upgrade creates functions before operator classes, in which what sorts by a ulid finds its
-- order. A range brings the class with it, and in this schema it comes before all other types.
DROP TYPE IF EXISTS "!".first;
DROP SCHEMA IF EXISTS "!";
CREATE SCHEMA "!";
CREATE TYPE "!".first AS RANGE (subtype = :ulid.ulid);

-- Types come before casts: expressions that cast to or from a ulid and belong to types, or to what
-- types need.
WITH RECURSIVE expression (classid, objid, tree, part_of) AS (
    SELECT 'pg_type'::regclass, oid, typdefaultbin, oid FROM pg_type
    UNION ALL SELECT 'pg_constraint'::regclass, oid, conbin, greatest(conrelid, contypid)
    FROM pg_constraint WHERE contype = 'c'
    UNION ALL SELECT 'pg_attrdef'::regclass, oid, adbin, adrelid FROM pg_attrdef
    UNION ALL SELECT 'pg_rewrite'::regclass, oid, ev_action, ev_class FROM pg_rewrite
    WHERE rulename = '_RETURN'
    UNION ALL SELECT 'pg_proc'::regclass, oid, prosqlbody, oid FROM pg_proc
), early (objid) AS (    -- types, and what they need
    SELECT oid FROM pg_type WHERE typtype IN ('d', 'r') UNION SELECT oid FROM pg_class
    WHERE relkind = 'c'
    UNION
    SELECT needed
    FROM early JOIN (SELECT objid, refobjid FROM pg_depend UNION ALL SELECT part_of, objid
        FROM expression) AS edge (objid, needed)
        USING (objid)
)
SELECT type, identity FROM early JOIN expression
    USING (objid), pg_identify_object(classid, objid, 0)
WHERE tree::text ~ (    -- a cast, by relabelling or by a function
    SELECT format(':resulttype (%s|%s) \S+ \S+ \S+ \S+ :relabelformat|:funcid (%s) '
        '[^{}]*:funcformat [12]',
                  'uuid'::regtype::oid, ulid::oid, string_agg(castfunc::oid::text, '|'))
    FROM pg_cast, CAST(:'ulid' || '.ulid' AS regtype) AS ulid
    WHERE ulid IN (castsource, casttarget) AND castfunc <> 0 GROUP BY ulid)
ORDER BY type, identity;
RESET search_path;
