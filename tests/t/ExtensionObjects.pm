# What an extension consists of, to compare an update or a hostile database with a clean installation.
package ExtensionObjects;
use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(extension_objects);

# The description of every object of the extension ulid with all its properties, a line each, without the
# objects' oids and the name of the extension's schema, which differ between databases.
sub extension_objects {
    my ($node, $database) = @_;
    return [split /\n/, $node->safe_psql($database, <<'SQL')];
SET search_path = pg_catalog;
WITH extension AS (
    SELECT oid, extversion, extnamespace::regnamespace || '.' AS schema FROM pg_extension WHERE extname = 'ulid'
), member AS (
    SELECT classid, objid, pg_describe_object(classid, objid, 0) AS object, obj_description(objid, classid::regclass::name) AS comment
    FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM extension) AND deptype = 'e'
), property (line) AS (
    SELECT 'version ' || extversion FROM extension
    UNION ALL SELECT object || ': ' || comment FROM member
    UNION ALL SELECT object || ': ' || (to_jsonb(p) - '{oid,proowner,proargdefaults,proallargtypes,prosupport,proargtypes,prorettype,pronamespace}'::text[])::text
        || pg_get_function_identity_arguments(p.oid) || pg_get_function_result(p.oid) || prosupport::regproc
        || coalesce(pg_get_expr(proargdefaults, 0), '')
        FROM member JOIN pg_proc AS p ON p.oid = objid AND classid = 'pg_proc'::regclass
    UNION ALL SELECT object || ': ' || concat_ws(' ', aggkind, aggtransfn, aggcombinefn, aggsortop::regoperator, aggtranstype::regtype)
        FROM member JOIN pg_aggregate ON aggfnoid = objid AND classid = 'pg_proc'::regclass
    UNION ALL SELECT object || ': ' || concat_ws(' ', oprresult::regtype, oprcanmerge, oprcanhash, oprcom::regoperator, oprnegate::regoperator,
                                                oprcode, oprrest, oprjoin)
        FROM member JOIN pg_operator AS o ON o.oid = objid AND classid = 'pg_operator'::regclass
    UNION ALL SELECT object || ': ' || concat_ws(' ', castsource::regtype, casttarget::regtype, castcontext, castmethod, castfunc::regprocedure)
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
)
SELECT replace(line, schema, '') FROM property, extension ORDER BY 1;
SQL
}

1;
