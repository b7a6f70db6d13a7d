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
