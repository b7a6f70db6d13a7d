#!/usr/bin/env bash
# Who may install the extension, and what a hostile schema can do to the user who installs it.
set -euo pipefail
export PGOPTIONS="-c client_min_messages=warning"
run() {
  psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"
}

# Everything that belongs to the extension, without the name of its schema, which alone may differ.
describe() {
  run -d "$1" -v schema="$2" << 'SQL'
SET search_path = '';
CREATE TEMP VIEW member AS
SELECT classid, objid FROM pg_catalog.pg_depend WHERE refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass
AND deptype = 'e' AND refobjid = (SELECT oid FROM pg_catalog.pg_extension WHERE extname = 'ulid');
SELECT pg_catalog.replace(line, :'schema' || '.', '') FROM (
    SELECT pg_catalog.pg_describe_object(classid, objid, 0) || ' ' || pg_catalog.obj_description(objid, classid::pg_catalog.regclass::pg_catalog.name) AS line
    FROM member
    UNION ALL
    SELECT pg_catalog.pg_get_functiondef(oid) FROM member JOIN pg_catalog.pg_proc ON oid = objid AND prokind <> 'a'
    UNION ALL
    SELECT pg_catalog.concat_ws(' ', aggfnoid, aggtransfn, aggcombinefn, aggsortop::pg_catalog.regoperator)
    FROM member JOIN pg_catalog.pg_aggregate ON aggfnoid = objid
    UNION ALL
    SELECT pg_catalog.concat_ws(' ', oid::pg_catalog.regoperator, oprcode, oprrest, oprjoin, oprcom::pg_catalog.regoperator,
                                oprnegate::pg_catalog.regoperator, oprresult::pg_catalog.regtype, oprcanhash, oprcanmerge)
    FROM member JOIN pg_catalog.pg_operator ON oid = objid
    UNION ALL
    SELECT pg_catalog.concat_ws(' ', castsource::pg_catalog.regtype, casttarget::pg_catalog.regtype, castfunc::pg_catalog.regprocedure, castcontext, castmethod)
    FROM member JOIN pg_catalog.pg_cast ON oid = objid
    UNION ALL
    SELECT pg_catalog.pg_describe_object('pg_catalog.pg_amproc'::pg_catalog.regclass, p.oid, 0)
    FROM member JOIN pg_catalog.pg_amproc AS p ON amprocfamily = objid
    UNION ALL
    SELECT pg_catalog.pg_describe_object('pg_catalog.pg_amop'::pg_catalog.regclass, o.oid, 0)
    FROM member JOIN pg_catalog.pg_amop AS o ON amopfamily = objid
    UNION ALL
    SELECT pg_catalog.concat_ws(' ', typname, typlen, typbyval, typalign, typstorage, typinput, typoutput, typreceive, typsend)
    FROM member JOIN pg_catalog.pg_type ON oid = objid
) AS s ORDER BY 1;
SQL
}

run << 'SQL'
CREATE ROLE owner LOGIN;
CREATE ROLE guest LOGIN;
CREATE DATABASE owned OWNER owner;
CREATE DATABASE owned_hostile OWNER owner;
CREATE DATABASE owned_updated OWNER owner;
CREATE DATABASE owned_before OWNER owner;
SQL

echo "- The owner of a database installs, updates and drops; another user cannot, and can use it."
run -d owned -U owner << 'SQL'
CREATE SCHEMA here;
CREATE SCHEMA there;
CREATE EXTENSION ulid SCHEMA here VERSION '1.0.0';
ALTER EXTENSION ulid UPDATE;
DROP EXTENSION ulid;
CREATE EXTENSION ulid SCHEMA here;
SELECT extversion AS version FROM pg_extension WHERE extname = 'ulid' \gset
SELECT :'version' || '-recheck' AS recheck \gset
ALTER EXTENSION ulid UPDATE TO :"recheck";
ALTER EXTENSION ulid UPDATE;
GRANT USAGE ON SCHEMA here TO guest;
SELECT extowner::regrole, here.gen_ulid() IS NOT NULL FROM pg_extension WHERE extname = 'ulid';
SQL
refused() {
  if psql -X -q -v ON_ERROR_STOP=1 "${@:2}" 2> error; then
    echo "not refused: ${*:2}"
    exit 1
  fi
  grep -x "ERROR:  $1" error || { cat error; exit 1; }
}
refused 'must be owner of extension ulid' -d owned -U guest -c 'DROP EXTENSION ulid'
refused 'must be owner of extension ulid' -d owned -U guest -c 'ALTER EXTENSION ulid UPDATE'
refused 'permission denied to create extension "ulid"' -d owned_hostile -U guest -c 'CREATE EXTENSION ulid'
# the member objects of a trusted extension belong to the superuser
refused 'must be owner of type here.ulid' -d owned -U owner -c 'ALTER EXTENSION ulid SET SCHEMA there'
refused 'must be owner of function here.ulid_in' -d owned -U owner -c 'ALTER FUNCTION here.ulid_in(cstring) VOLATILE'
run -d owned -U guest -c "SELECT here.max(id) OPERATOR(here.=) here.min(id) FROM (VALUES (here.gen_ulid())) AS v (id)"

echo "- A schema full of traps, installed into and first in the path: the same objects as in a clean database."
# Each trap would be hit if a name in the script were looked up in the path, or if a call there matched less exactly.
cat > traps.sql << 'SQL'
CREATE SCHEMA hostile;
GRANT ALL ON SCHEMA hostile TO owner;
CREATE TABLE hostile.sprung (by text);
GRANT ALL ON hostile.sprung TO PUBLIC;
CREATE FUNCTION hostile.spring(trap text) RETURNS void LANGUAGE sql AS $$ INSERT INTO hostile.sprung VALUES (trap) $$;
-- types
SELECT format('CREATE DOMAIN hostile.%I AS pg_catalog.int4', name)
FROM unnest('{uuid,text,varchar,bpchar,bytea,timestamptz,timestamp,tstzrange,bool,int4,int8,float8,internal,cstring,oid,regtype,name}'::text[]) AS name \gexec
-- core's functions that the script names
SELECT format('CREATE FUNCTION hostile.%I(%s) RETURNS %s LANGUAGE internal AS %L', proname,
              pg_get_function_identity_arguments(oid), format_type(prorettype, NULL),
              CASE prosrc WHEN 'eqsel' THEN 'neqsel' WHEN 'eqjoinsel' THEN 'neqjoinsel' ELSE prosrc END)
FROM pg_proc
WHERE pronamespace = 'pg_catalog'::regnamespace
AND (proname ~ '^(scalar(lt|le|gt|ge)|n?eq|cont)(join)?sel$' OR proname ~ '^brin_(minmax|bloom)' OR proname ~ '^uuid_' OR proname = 'btequalimage') \gexec
-- closer matches for what the DO block calls
CREATE FUNCTION hostile.to_regprocedure(varchar) RETURNS regprocedure LANGUAGE plpgsql AS
    $$ BEGIN PERFORM hostile.spring('to_regprocedure(varchar)'); RETURN NULL; END $$;
SELECT format('CREATE FUNCTION hostile.trap(%s, %s) RETURNS boolean LANGUAGE plpgsql AS %L', a, b,
              format('BEGIN PERFORM hostile.spring(%L); RETURN true; END', a || ' = ' || b)),
       format('CREATE OPERATOR hostile.= (LEFTARG = %s, RIGHTARG = %s, FUNCTION = hostile.trap)', a, b)
FROM unnest('{oid,regtype,name,text,smallint,int}'::regtype[]) AS a,
     unnest('{oid,regtype,name,text,smallint,int,varchar}'::regtype[]) AS b \gexec
SQL
run -d owned_hostile -f traps.sql
export PGOPTIONS="-c client_min_messages=warning -c search_path=hostile,pg_catalog"
run -d owned_hostile -U owner -c "CREATE EXTENSION ulid"
PGOPTIONS=
run -d owned_hostile -c "SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'ulid'" | grep -x hostile
run -d owned_hostile -c 'SELECT count(*), by FROM hostile.sprung GROUP BY by' > sprung
diff /dev/null sprung
describe owned here > clean
describe owned_hostile hostile > hostile
diff clean hostile
[ "$(wc -l < clean)" -gt 300 ]

echo "- The same for an update, where traps can also be made of the type itself."
run -d owned_updated -f traps.sql
export PGOPTIONS="-c client_min_messages=warning -c search_path=hostile,pg_catalog"
run -d owned_updated -U owner -c "CREATE EXTENSION ulid VERSION '1.0.0'"
PGOPTIONS="-c client_min_messages=warning"
run -d owned_updated << 'SQL'
CREATE FUNCTION hostile.ulid_hash(uuid) RETURNS integer LANGUAGE internal IMMUTABLE AS 'uuid_hash';
CREATE FUNCTION hostile.trap(hostile.ulid, uuid) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR hostile.< (LEFTARG = hostile.ulid, RIGHTARG = uuid, FUNCTION = hostile.trap);
CREATE OPERATOR hostile.= (LEFTARG = hostile.ulid, RIGHTARG = uuid, FUNCTION = hostile.trap);
SQL
PGOPTIONS="-c client_min_messages=warning -c search_path=hostile,pg_catalog"
run -d owned_updated -U owner -c "ALTER EXTENSION ulid UPDATE"
PGOPTIONS=
run -d owned_updated -c 'SELECT count(*), by FROM hostile.sprung GROUP BY by' > sprung
diff /dev/null sprung
describe owned_updated hostile > updated
diff clean updated

echo "- Operators and functions of a hostile schema, first in the path, take no part in plans, indexes and maintenance."
PGOPTIONS="-c client_min_messages=warning"
run -d owned << 'SQL'
CREATE TABLE here.event (id here.ulid PRIMARY KEY DEFAULT here.gen_ulid(), n int);
INSERT INTO here.event (n) SELECT n FROM generate_series(1, 1000) AS n;
CREATE INDEX event_window ON here.event (id) WHERE id OPERATOR(here.<@) tstzrange('2020-01-01', '2100-01-01');
CREATE TABLE here.part (id here.ulid) PARTITION BY RANGE (id);
CREATE TABLE here.part_1 PARTITION OF here.part FOR VALUES FROM (MINVALUE) TO (here.ulid_lower_bound('2026-01-01'));
CREATE TABLE here.part_2 PARTITION OF here.part FOR VALUES FROM (here.ulid_lower_bound('2026-01-01')) TO (MAXVALUE);
INSERT INTO here.part SELECT here.gen_ulid('2025-12-31 12:00+00'::timestamptz + n * interval '1 minute') FROM generate_series(1, 1000) AS n;
CREATE SCHEMA hostile AUTHORIZATION guest;
CREATE TABLE hostile.sprung (by text);
GRANT ALL ON hostile.sprung TO PUBLIC;
SQL
run -d owned -U guest << 'SQL'
CREATE FUNCTION hostile.spring(trap text) RETURNS void LANGUAGE sql AS $$ INSERT INTO hostile.sprung VALUES (trap) $$;
CREATE TEMP TABLE pair AS
SELECT a, b FROM unnest('{here.ulid,uuid,timestamptz}'::regtype[]) AS a, unnest('{here.ulid,uuid,timestamptz}'::regtype[]) AS b
WHERE 'here.ulid'::regtype IN (a, b);
SELECT format('CREATE FUNCTION hostile.trap(%s, %s) RETURNS boolean LANGUAGE plpgsql AS %L', a, b,
              format('BEGIN PERFORM hostile.spring(%L); RETURN false; END', a || ' ' || b)) FROM pair \gexec
SELECT format('CREATE OPERATOR hostile.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = hostile.trap)', name, a, b)
FROM pair, unnest('{<,<=,=,>=,>,<>}'::text[]) AS name \gexec
SELECT format('CREATE FUNCTION hostile.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', proname, pg_get_function_identity_arguments(oid),
              prorettype::regtype, format('BEGIN PERFORM hostile.spring(%L); RETURN NULL; END', proname))
FROM pg_proc WHERE pronamespace = 'here'::regnamespace AND prokind = 'f' AND 'internal'::regtype <> ALL (proargtypes)
AND 'cstring'::regtype <> ALL (proargtypes) AND prorettype NOT IN ('internal'::regtype, 'cstring'::regtype, 'record'::regtype) \gexec
SQL
[ "$(run -d owned -c "SELECT count(*) FROM pg_operator WHERE oprnamespace = 'hostile'::regnamespace")" -ge 30 ]
[ "$(run -d owned -c "SELECT count(*) FROM pg_proc WHERE pronamespace = 'hostile'::regnamespace")" -ge 40 ]
PGOPTIONS="-c client_min_messages=warning -c search_path=hostile,here,pg_catalog"
run -d owned << 'SQL' > result
SELECT count(*) FROM event WHERE id OPERATOR(here.<@) tstzrange('2020-01-01', NULL);
SET enable_seqscan = off;
SELECT count(*) FROM event WHERE id OPERATOR(here.<@) tstzrange('2020-01-01', '2100-01-01');
SELECT count(*) FROM part WHERE id OPERATOR(here.<@) tstzrange('2026-01-01 00:00+00', NULL);
SELECT count(*) FROM part WHERE here.ulid_starts_with(id, '01');
SELECT count(*) FROM event AS a JOIN event AS b ON a.id OPERATOR(here.=) b.id;
SELECT here.max(id) IS NOT NULL FROM event;
ANALYZE event, part;
CREATE INDEX event_other ON event USING brin (id) WHERE id OPERATOR(here.<@) tstzrange('2020-01-01', NULL);
REINDEX TABLE event;
CLUSTER event USING event_pkey;
VACUUM (FULL, ANALYZE) event;
ALTER TABLE event ADD CHECK (id OPERATOR(here.<@) tstzrange('2020-01-01', NULL));
INSERT INTO event (n) VALUES (0) ON CONFLICT DO NOTHING;
SELECT count(*) FROM hostile.sprung;
-- a trap that is called by its name springs
SELECT gen_ulid() IS NULL;
SELECT count(*) FROM hostile.sprung;
SQL
diff - result << 'END'
1000
1000
281
1000
1000
t
0
t
1
END
PGOPTIONS=

echo "- Objects of the extension's names that are there before: it is not installed, or not updated, rather than take them over."
# The words that would take them over, and those that bring a name or another's rights into the script.
if grep -nE 'OR REPLACE|CREATE .*IF NOT EXISTS|@ext|SECURITY DEFINER' "$ROOT"/sql/*.sql "$ROOT"/sql/install/*.sql; then exit 1; fi
run -d owned_before -c "CREATE SCHEMA place" -c "GRANT ALL ON SCHEMA place TO owner, guest"
# The functions that a user can make: none with an argument of type internal.
signatures() {
  run -d "$1" -c "SELECT proname || '(' || replace(oidvectortypes(proargtypes), 'here.', 'place.') || ')' FROM pg_proc
                  WHERE pronamespace = '$2'::regnamespace AND 'internal'::regtype <> ALL (proargtypes) AND 'cstring'::regtype <> ALL (proargtypes)" | sort -u
}
# As guest make an object, expect that a command of the owner is refused, and remove the object again.
taken() {
  local object=$1 message=$2 command=$3 name=${1%% RETURNS *}
  run -d owned_before -U guest -c "CREATE $object"
  refused "$message" -d owned_before -U owner -c "$command"
  run -d owned_before -U guest -c "DROP ${name%% AS *}"
}
signatures owned here > functions
run -d owned_before -U owner -c "CREATE EXTENSION ulid SCHEMA place VERSION '1.0.0'"
signatures owned_before place | comm -13 - functions > functions.added
while read -r function; do
  taken "FUNCTION place.$function RETURNS text LANGUAGE sql AS 'SELECT NULL::text'" 'function "[a-z0-9_]*" already exists with same argument types' "ALTER EXTENSION ulid UPDATE"
done < functions.added
[ "$(wc -l < functions.added)" -ge 8 ]
[ "$(run -d owned_before -c "SELECT extversion FROM pg_extension WHERE extname = 'ulid'")" = 1.0.0 ]
run -d owned_before -U owner -c "DROP EXTENSION ulid"
# those that do not take a type of the extension
grep -vE 'ulid_window|place\.' functions > functions.free
while read -r function; do
  taken "FUNCTION place.$function RETURNS text LANGUAGE sql AS 'SELECT NULL::text'" 'function "[a-z0-9_]*" already exists with same argument types' "CREATE EXTENSION ulid SCHEMA place"
done < functions.free
[ "$(wc -l < functions.free)" -ge 15 ]
taken "TYPE place.ulid AS ENUM ('a')" 'type "ulid" already exists' "CREATE EXTENSION ulid SCHEMA place"
taken 'TYPE place.ulid AS (n int)' 'type "ulid" already exists' "CREATE EXTENSION ulid SCHEMA place"
taken 'DOMAIN place.ulid_window AS text' 'type "ulid_window" already exists' "CREATE EXTENSION ulid SCHEMA place"

echo "- Event triggers see each command of the scripts, and one that refuses leaves nothing behind."
run -d owned_before << 'SQL'
CREATE TABLE seen (event text, tag text, inside boolean);
CREATE FUNCTION see() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    IF tg_event = 'ddl_command_end' THEN
        INSERT INTO public.seen SELECT tg_event, command_tag, in_extension FROM pg_event_trigger_ddl_commands();
    ELSE
        INSERT INTO public.seen SELECT tg_event, object_type FROM pg_event_trigger_dropped_objects();
    END IF;
    IF tg_tag = 'CREATE EXTENSION' AND EXISTS (SELECT FROM public.seen WHERE tag = 'refuse') THEN
        RAISE EXCEPTION 'refused';
    END IF;
END $$;
GRANT ALL ON seen TO PUBLIC;
CREATE EVENT TRIGGER see_commands ON ddl_command_end EXECUTE FUNCTION see();
CREATE EVENT TRIGGER see_drops ON sql_drop EXECUTE FUNCTION see();
SQL
run -d owned_before -U owner -c "CREATE EXTENSION ulid SCHEMA place VERSION '1.0.0'" -c "ALTER EXTENSION ulid UPDATE"
run -d owned_before -c "SELECT count(*) > 150 FROM seen WHERE inside" | grep -qx t
describe owned_before place > watched
diff clean watched
run -d owned_before -U owner -c "DROP EXTENSION ulid"
run -d owned_before -c "SELECT count(*) > 80 FROM seen WHERE event = 'sql_drop'" -c "INSERT INTO seen VALUES ('', 'refuse')" | grep -qx t
refused 'refused' -d owned_before -U owner -c "CREATE EXTENSION ulid SCHEMA place"
[ "$(run -d owned_before -c "SELECT (SELECT count(*) FROM pg_extension WHERE extname = 'ulid') + (SELECT count(*) FROM pg_type WHERE typnamespace = 'place'::regnamespace)
                             + (SELECT count(*) FROM pg_proc WHERE pronamespace = 'place'::regnamespace)")" = 0 ]
