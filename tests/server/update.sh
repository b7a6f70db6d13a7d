#!/usr/bin/env bash
# From each released version to the newest: stored data is kept, and the objects are those of a fresh install. The
# extension of the same name that other software installs is left alone.
set -euo pipefail
# Print every object of the extension with all its properties, except for its oid, which differs in each database.
objects() {
  psql -A -t -v ON_ERROR_STOP=1 -d "$1" << 'SQL'
SET search_path = pg_catalog;
WITH member AS (
    SELECT classid, objid, pg_describe_object(classid, objid, 0) AS object, obj_description(objid, classid::regclass::name) AS comment
    FROM pg_depend WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'ulid') AND deptype = 'e'
)
SELECT 'version ' || extversion FROM pg_extension WHERE extname = 'ulid'
UNION ALL SELECT object || ': ' || comment FROM member
UNION ALL SELECT object || ': ' || (to_jsonb(p) - '{oid,proowner,proargdefaults,proallargtypes,prosupport,proargtypes,prorettype,pronamespace}'::text[])::text
    || pg_get_function_identity_arguments(p.oid) || pg_get_function_result(p.oid) || prosupport::regproc
    || coalesce(pg_get_expr(proargdefaults, 0), '')
    FROM member JOIN pg_proc AS p ON p.oid = objid AND classid = 'pg_proc'::regclass
UNION ALL SELECT object || ': ' || concat_ws(' ', aggkind, aggtransfn, aggcombinefn, aggsortop::regoperator, aggtranstype::regtype)
    FROM member JOIN pg_aggregate ON aggfnoid = objid AND classid = 'pg_proc'::regclass
UNION ALL SELECT object || ': ' || concat_ws(' ', oprcanmerge, oprcanhash, oprcom::regoperator, oprnegate::regoperator, oprcode, oprrest, oprjoin)
    FROM member JOIN pg_operator AS o ON o.oid = objid AND classid = 'pg_operator'::regclass
UNION ALL SELECT object || ': ' || concat_ws(' ', castcontext, castmethod, castfunc::regprocedure)
    FROM member JOIN pg_cast AS c ON c.oid = objid AND classid = 'pg_cast'::regclass
UNION ALL SELECT object || ': ' || concat_ws(' ', typlen, typbyval, typalign, typstorage, typinput, typoutput, typreceive, typsend, typcategory,
                                            nullif(typbasetype, 0)::regtype, typnotnull)
    FROM member JOIN pg_type AS t ON t.oid = objid AND classid = 'pg_type'::regclass
UNION ALL SELECT object || ': ' || concat_ws(' ', opcdefault, opcintype::regtype, opckeytype::regtype)
    FROM member JOIN pg_opclass AS c ON c.oid = objid AND classid = 'pg_opclass'::regclass
UNION ALL SELECT object || ': ' || concat_ws(' ', amopstrategy, amopopr::regoperator)
    FROM member JOIN pg_amop ON amopfamily = objid AND classid = 'pg_opfamily'::regclass
UNION ALL SELECT object || ': ' || concat_ws(' ', amprocnum, amproc::regprocedure)
    FROM member JOIN pg_amproc ON amprocfamily = objid AND classid = 'pg_opfamily'::regclass
ORDER BY 1;
SQL
}
createdb fresh
psql -q -d fresh -c 'CREATE EXTENSION ulid'
objects fresh > fresh.objects
[ "$(wc -l < fresh.objects)" -gt 150 ]
# everything has a comment
[ "$(psql -A -t -d fresh -c "SELECT count(*) FROM pg_depend WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'ulid')
  AND deptype = 'e' AND obj_description(objid, classid::regclass::name) IS NULL AND classid <> 'pg_type'::regclass")" = 0 ]

for script in "$ROOT"/sql/install/ulid--*.sql; do
  version=${script##*--} version=${version%.sql} database=from_${version//./_}
  echo "from $version"
  createdb "$database"
  psql -q -d "$database" -v ON_ERROR_STOP=1 -v version="$version" << 'SQL'
CREATE EXTENSION ulid VERSION :'version';
CREATE TABLE key (id ulid PRIMARY KEY DEFAULT gen_ulid(), ids ulid[], made timestamptz GENERATED ALWAYS AS (ulid_extract_timestamp(id)) STORED);
CREATE INDEX ON key USING hash (id);
INSERT INTO key (ids) SELECT ARRAY[gen_ulid(), gen_monotonic_ulid()] FROM generate_series(1, 10000);
CREATE TABLE before AS SELECT id::text, ids::text, made FROM key;
ALTER EXTENSION ulid UPDATE;
INSERT INTO key DEFAULT VALUES;
SQL
  objects "$database" > "$database.objects"
  diff fresh.objects "$database.objects"
  [ "$(psql -A -t -d "$database" -c 'SELECT count(*) FROM before JOIN key ON key.id = before.id::ulid AND key.ids::text = before.ids AND key.made = before.made')" = 10000 ]
done

echo "A type that is another one is refused by every update script."
# The section is the same in each of them.
for script in "$ROOT"/sql/ulid--*--*.sql; do
  sed -n '/^\\echo/d; 1,/^END \$\$;$/p' "$script" > "section.$(basename "$script")"
  diff section.ulid--1.0.0--1.1.0.sql "section.$(basename "$script")"
  route=${script##*/ulid--} from=${route%%--*} to=${route#*--} to=${to%.sql} database=foreign_${from//[.-]/_}
  createdb "$database"
  # in an extension of the same name and version, instead of our type: one of variable length
  psql -q -d "$database" -v ON_ERROR_STOP=1 -v from="$from" << 'SQL'
SET client_min_messages = error;
CREATE EXTENSION ulid;
ALTER EXTENSION ulid DROP TYPE ulid;
CREATE SCHEMA aside;
ALTER TYPE ulid SET SCHEMA aside;
CREATE TYPE ulid;
CREATE FUNCTION foreign_in(cstring) RETURNS ulid LANGUAGE internal IMMUTABLE STRICT AS 'byteain';
CREATE FUNCTION foreign_out(ulid) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'byteaout';
CREATE FUNCTION foreign_recv(internal) RETURNS ulid LANGUAGE internal IMMUTABLE STRICT AS 'uuid_recv';
CREATE TYPE ulid (INPUT = foreign_in, OUTPUT = foreign_out, RECEIVE = foreign_recv, LIKE = bytea);
ALTER EXTENSION ulid ADD TYPE ulid;
UPDATE pg_extension SET extversion = :'from' WHERE extname = 'ulid';
SQL
  for type in 'of variable length' 'with another receive function'; do
    echo "$from to $to, a type $type"
    psql -X -q -d "$database" -v VERBOSITY=verbose -c "ALTER EXTENSION ulid UPDATE TO '$to'" > refused 2>&1 && { echo "not refused"; exit 1; }
    grep '^ERROR:  55000: extension "ulid" in this database is not the one that this script updates$' refused
    grep '^HINT:  .*docs/migrating\.md' refused
    # the next: one of 16 bytes with another receive function
    psql -q -d "$database" -v ON_ERROR_STOP=1 << 'SQL'
SET client_min_messages = error;
ALTER EXTENSION ulid DROP TYPE ulid;
DROP TYPE ulid CASCADE;
CREATE TYPE ulid;
CREATE FUNCTION foreign_in(cstring) RETURNS ulid LANGUAGE internal IMMUTABLE STRICT AS 'uuid_in';
CREATE FUNCTION foreign_out(ulid) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'uuid_out';
CREATE FUNCTION foreign_recv(internal) RETURNS ulid LANGUAGE internal IMMUTABLE STRICT AS 'bytearecv';
CREATE TYPE ulid (INPUT = foreign_in, OUTPUT = foreign_out, RECEIVE = foreign_recv, LIKE = uuid);
ALTER EXTENSION ulid ADD TYPE ulid;
SQL
  done
  [ "$(psql -A -t -d "$database" -c "SELECT extversion FROM pg_extension WHERE extname = 'ulid'")" = "$from" ]
done
