# Who may install the extension, what a hostile schema can do to the user who installs it, and what
# a strict database grants.
use strict;
use warnings FATAL => 'all';
use File::Glob ':bsd_glob';
use ULID;

my $HOSTILE = '-c client_min_messages=warning -c search_path=hostile,pg_catalog';
$ENV{PGOPTIONS} = '-c client_min_messages=warning';
my $node = new_server('rights', extension => 0);

# Run SQL as the superuser, or as another user.
sub run
{
    my ($database, $sql, $user) = @_;
    return $node->safe_psql($database, $sql, extra_params => [ $user ? ('-U', $user) : () ]);
}

# Check that SQL of a user fails with a message.
sub refused
{
    my ($database, $user, $sql, $message, $name) = @_;
    my (undef, undef, $error) = $node->psql($database, $sql, extra_params => [ '-U', $user ]);
    like($error, qr/ERROR:  (?:$message)$/m, $name);
    return;
}

run('postgres', q{
    CREATE ROLE owner LOGIN; CREATE ROLE guest LOGIN;
    CREATE DATABASE owned OWNER owner;
    CREATE DATABASE owned_hostile OWNER owner});

#
# The owner of a database installs, updates and drops; another user cannot, and can use it
#

run('owned', q{
    CREATE SCHEMA here;
    CREATE EXTENSION ulid; DROP EXTENSION ulid;
    CREATE EXTENSION ulid SCHEMA here;
    ALTER EXTENSION ulid UPDATE;
    GRANT USAGE ON SCHEMA here TO guest}, 'owner');
is( run('owned',
        "SELECT extowner::regrole, here.gen_ulid() IS NOT NULL FROM pg_extension
            WHERE extname = 'ulid'",
        'owner'),
    'owner|t',
    'the owner of a database installs, updates, drops and uses the extension');
refused(
    'owned',
    'guest',
    'DROP EXTENSION ulid',
    'must be owner of extension ulid',
    'another user cannot drop it');
refused(
    'owned_hostile', 'guest',
    'CREATE EXTENSION ulid',
    'permission denied to create extension "ulid"',
    'another user cannot install it');

# the member objects of a trusted extension belong to the superuser
refused(
    'owned',
    'owner',
    'ALTER FUNCTION here.ulid_in(cstring) VOLATILE',
    'must be owner of function here.ulid_in',
    'its owner cannot change its objects');
is( run('owned', 'SELECT here.max(id) = here.min(id) FROM (VALUES (here.gen_ulid())) AS v (id)',
        'guest'),
    't',
    'another user can use it');

# Nor can its owner revoke EXECUTE; but he can revoke USAGE on the schema, which a default of a
# table does not need.
run('owned', q{
    CREATE TABLE here.outbox (id here.ulid DEFAULT here.gen_ordered_ulid());
    GRANT INSERT ON here.outbox TO guest;
    SET client_min_messages = error;
    REVOKE EXECUTE ON FUNCTION here.gen_ordered_ulid() FROM PUBLIC, guest}, 'owner');
is(run('owned', 'SELECT here.gen_ordered_ulid() IS NOT NULL', 'guest'),
    't', 'its owner cannot revoke EXECUTE');
run('owned', 'CREATE SCHEMA tables; ALTER TABLE here.outbox SET SCHEMA tables;
    GRANT USAGE ON SCHEMA tables TO guest; REVOKE USAGE ON SCHEMA here FROM guest', 'owner');
refused(
    'owned', 'guest',
    'SELECT here.gen_ordered_ulid()',
    'permission denied for schema here',
    'without USAGE on the schema, nobody calls the functions');
run('owned', 'INSERT INTO tables.outbox DEFAULT VALUES', 'guest');
run('owned', 'DROP SCHEMA tables CASCADE; GRANT USAGE ON SCHEMA here TO guest', 'owner');

#
# A schema full of traps, installed into and first in the path: the same objects as in a clean
# database
#

# CREATE EXTENSION looks names up in pg_catalog first, then in the schema, whatever the path of the
# session is. So the types here are traps only for the scripts of the pages below, in whose path the
# schema comes first. A closer match is a trap here, too: of all functions and operators that fit a
# call, the one whose arguments match best is taken, wherever it is.
my $traps = <<'SQL';
CREATE SCHEMA hostile; GRANT ALL ON SCHEMA hostile TO owner;
CREATE TABLE hostile.sprung (by text); GRANT ALL ON hostile.sprung TO PUBLIC;
CREATE FUNCTION hostile.spring(trap text) RETURNS void LANGUAGE sql AS $$ INSERT INTO hostile.sprung
    VALUES (trap) $$;
CREATE FUNCTION hostile.springs(trap text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
    PERFORM hostile.spring(trap); RETURN true; END $$;
-- types, which every value suits
SELECT format('CREATE DOMAIN hostile.%1$I AS pg_catalog.%1$I CHECK (hostile.springs(%1$L))', name)
FROM unnest('{uuid,text,varchar,bpchar,bytea,timestamptz,timestamp,tstzrange,bool,int4,int8,float8,
    oid,regclass,regtype,regproc,regprocedure,regnamespace,name}'::text[]) AS name \gexec
SELECT format('CREATE DOMAIN hostile.%I AS pg_catalog.int4', name)
FROM unnest('{internal,cstring}'::text[]) AS name \gexec
-- closer matches for what the scripts call
SELECT format('CREATE FUNCTION hostile.%s RETURNS %s LANGUAGE plpgsql AS %L', f, result,
    format('BEGIN PERFORM hostile.spring(%L); RETURN NULL; END', f))
FROM (VALUES ('to_regprocedure(varchar)', 'regprocedure'), ('format(text, regprocedure)', 'text'),
    ('format(text, oid)', 'text'), ('ulid_sql_at(timestamptz, text)', 'uuid'),
    ('setval(text, integer)', 'bigint'), ('setval(regclass, integer)', 'bigint'),
    ('pg_extension_config_dump(text, text)', 'integer'),
    ('ulid_sql_parse(varchar, text, text, boolean)', 'uuid'),
    ('ulid_sql_horizon_error(text, text)', 'uuid'),
    ('ulid_current_horizon_error(text, text)', 'uuid')) AS v (f, result) \gexec
SELECT '{oid,oid[],regtype,regclass,regprocedure,regprocedure[],name,text,varchar,smallint,int,
    bigint,float8,numeric,bytea,bit,timestamptz,interval,uuid}' AS types \gset
\set types :'types'::regtype[]
SELECT format('CREATE FUNCTION hostile.step(bigint, %s) RETURNS bigint LANGUAGE plpgsql AS %L', t,
    'BEGIN PERFORM hostile.spring($$aggregate$$); RETURN 1; END')
FROM unnest(:types) AS t \gexec
SELECT format('CREATE AGGREGATE hostile.%s(%s) (SFUNC = hostile.step, STYPE = bigint)', name, t)
FROM unnest(:types) AS t, unnest('{count,array_agg,min,max,bool_and,bool_or}'::text[]) AS name
\gexec
SELECT format('CREATE FUNCTION hostile.%s(%s) RETURNS integer LANGUAGE plpgsql AS %L', name, t,
    'BEGIN PERFORM hostile.spring($$function$$); RETURN 1; END')
FROM unnest(:types) AS t, unnest('{cardinality,to_json,to_jsonb,unnest}'::text[]) AS name \gexec
SELECT format('CREATE FUNCTION hostile.trap(%s, %s) RETURNS boolean LANGUAGE plpgsql AS %L', a, b,
    'BEGIN PERFORM hostile.spring($$operator$$); RETURN true; END')
FROM unnest(:types) AS a, unnest(:types) AS b \gexec
SELECT format('CREATE OPERATOR hostile.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = hostile.trap)',
    operator, a, b)
FROM unnest(:types) AS a, unnest(:types) AS b,
    unnest('{=,<,>,<=,>=,<>,&,|,#,<<,>>,+,-,*,/,%,||}'::text[]) AS operator \gexec
SQL
run('owned_hostile', $traps);
for my $extension ('ulid_sql', 'ulid')
{
    run('owned_hostile',
        "DROP EXTENSION IF EXISTS ulid_sql; SET search_path = hostile, pg_catalog;
        CREATE EXTENSION $extension",
        'owner');
    is(run('owned_hostile', 'SELECT count(*), by FROM hostile.sprung GROUP BY by'),
        '', "no trap springs on installing $extension");
    is( run('owned_hostile', q{
        WITH object AS (SELECT classid, objid FROM pg_depend
            WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass AND refobjid >= 16384),
        member AS (TABLE object UNION    -- from 17 on, types of rows are members, too
            SELECT 'pg_type'::regclass::oid, reltype FROM pg_class
            WHERE ('pg_class'::regclass::oid, oid) IN (TABLE object))
        SELECT pg_describe_object(classid, objid, 0)
            || ' uses ' || pg_describe_object(refclassid, refobjid, 0)
        FROM pg_depend WHERE (classid, objid) IN (TABLE member)
            AND refclassid NOT IN ('pg_namespace'::regclass, 'pg_extension'::regclass)
        AND (refclassid, refobjid) NOT IN (TABLE member) AND refobjid >= 16384}),
        '',
        "no object of $extension uses a trap");
}

SKIP:
{
    skip 'no btree_gist', 1 if !has_extension('btree_gist');
    run('owned_hostile',
        q{CREATE SCHEMA "con'tr ""ib$$"; CREATE EXTENSION btree_gist SCHEMA "con'tr ""ib$$"} . (
            $major < 19
              && q{ VERSION '1.7';
        CREATE FUNCTION "con'tr ""ib$$".gist_translate_cmptype_btree(integer) RETURNS smallint
            LANGUAGE sql AS 'SELECT 1'}
        ));
    local $ENV{PGOPTIONS} = $HOSTILE;
    run('owned_hostile', 'CREATE EXTENSION ulid_gist SCHEMA hostile', 'owner');
    is( run('owned_hostile',
            q{SET search_path = ''; SELECT by FROM hostile.sprung;
                SELECT amproc FROM pg_amproc
                WHERE amprocnum = 12
                AND NOT EXISTS (SELECT FROM pg_depend WHERE deptype = 'e' AND objid = amproc)
        AND amprocfamily IN (SELECT oid FROM pg_opfamily WHERE opfname = 'ulid_ops')}),
        '',
        'no trap springs on installing ulid_gist');

    # whoever owns btree_gist can make a function of his own a part of it
    if ($major < 19)
    {
        my $takes_none = sub {
            my ($what) = @_;
            is( run('owned_hostile', q{SET search_path = '';
                SELECT count(*) FROM pg_amproc WHERE amprocnum = 12
                AND amprocfamily IN (SELECT oid FROM pg_opfamily WHERE opfname = 'ulid_ops')}),
                0,
                "nor does $what take it");
        };
        run('owned_hostile',
            q{DROP EXTENSION ulid_gist; ALTER EXTENSION btree_gist
                ADD FUNCTION "con'tr ""ib$$".gist_translate_cmptype_btree(integer)});
        run('owned_hostile', 'CREATE EXTENSION ulid_gist SCHEMA hostile', 'owner');
        $takes_none->('the script of ulid_gist');

        # which updates btree_gist, if the server has a newer one
        if ($major < 18)
        {
            run('owned_hostile', "\\i $root/docs/after_pg_upgrade.sql");
            $takes_none->('after_pg_upgrade.sql');
        }
    }
    run('owned_hostile', q{DROP SCHEMA "con'tr ""ib$$" CASCADE});
}

#
# The same schema, in the path of the superuser who runs the scripts of the pages there
#

my ($grants) = blocks_of('reference.md', 'sql', 'Schema and rights', 'If `EXECUTE` was revoked');
my @scripts = (
    (
        map { [ $_, slurp_file("$root/docs/$_.sql") ] }
          qw(ids_ahead before_pg_upgrade before_pg_upgrade after_pg_upgrade)
    ),
    [ 'the block with grants', $grants ]);

# All functions that they call. Only internal functions can have "any": these give nonsense.
my %called = map { $_ => 1 } map { $_->[1] =~ /(\w+)\(/g } @scripts;
my $called = join ',', sort keys %called;
run('owned_hostile', <<"SQL");
SELECT format('CREATE FUNCTION hostile.%I(%s) RETURNS %s LANGUAGE %s', proname,
    pg_get_function_identity_arguments(oid), pg_get_function_result(oid),
    CASE WHEN provariadic <> '"any"'::regtype THEN
            format('plpgsql AS %L', format('BEGIN PERFORM hostile.spring(%L); RETURN%s; END',
                proname, CASE WHEN NOT proretset THEN ' NULL' END))
        WHEN proname = 'concat' THEN 'internal AS ''json_build_array'''
        ELSE 'internal AS ''text_concat''' END)
FROM pg_proc AS f
WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY ('{$called}')
    AND prokind IN ('f', 'a') AND proallargtypes IS NULL AND prorettype <> 'void'::regtype
    AND (provariadic <> 0 OR '"any"'::regtype <> ALL (proargtypes))
    AND 'internal'::regtype <> ALL (proargtypes)
    AND NOT EXISTS (SELECT FROM pg_proc WHERE pronamespace = 'hostile'::regnamespace
        AND proname = f.proname AND proargtypes = f.proargtypes) \\gexec
CREATE TABLE public.key (id hostile.ulid PRIMARY KEY DEFAULT hostile.gen_ordered_ulid());
INSERT INTO public.key DEFAULT VALUES;
SQL
{
    local $ENV{PGOPTIONS} = $HOSTILE;
    my $call = sub {
        my ($sql) = @_;
        return $node->psql('owned_hostile',
            "\\set owners :USER\n\\set table public.key\n\\set to uuid\n$sql");
    };
    for my $script (@scripts)
    {
        my ($name,   $sql) = @$script;
        my ($status, undef, $error) = $call->($sql);
        is("$status $error", '0 ', "$name runs beside traps");
    }
    is( run('owned_hostile',
            "SET search_path = ''; SELECT count(*), by FROM hostile.sprung GROUP BY by"),
        '',
        'no trap springs in the scripts of the pages');

    run('owned_hostile', 'CREATE SCHEMA "!" CREATE TABLE t ()');
    like(
        join(' ', $call->($scripts[2][1])),
        qr/\A3 .*cannot drop schema !/,
        'before_pg_upgrade.sql keeps tables');
}

#
# Operators and functions of a hostile schema, first in the path, take no part in plans, indexes and
# maintenance
#

run('owned', q{
    CREATE TABLE here.event (id here.ulid PRIMARY KEY DEFAULT here.gen_ulid(), n int);
    INSERT INTO here.event (n) SELECT n FROM generate_series(1, 1000) AS n;
    CREATE INDEX event_window ON here.event (id)
        WHERE id OPERATOR(here.<@) tstzrange('2020-01-01', '2100-01-01');
    CREATE TABLE here.part (id here.ulid) PARTITION BY RANGE (id);
    CREATE TABLE here.part_1 PARTITION OF here.part FOR VALUES FROM (MINVALUE)
        TO (here.ulid_lower_bound('2026-01-01 00:00+00'));
    CREATE TABLE here.part_2 PARTITION OF here.part
        FOR VALUES FROM (here.ulid_lower_bound('2026-01-01 00:00+00')) TO (MAXVALUE);
    INSERT INTO here.part
        SELECT here.gen_ulid('2025-12-31 12:00+00'::timestamptz + n * interval '1 minute')
        FROM generate_series(1, 1000) AS n;
    CREATE SCHEMA hostile AUTHORIZATION guest;
    CREATE TABLE hostile.sprung (by text); GRANT ALL ON hostile.sprung TO PUBLIC});
run('owned', <<'SQL', 'guest');
CREATE FUNCTION hostile.spring(trap text) RETURNS void LANGUAGE sql AS $$ INSERT INTO hostile.sprung
    VALUES (trap) $$;
CREATE TEMP TABLE pair AS
SELECT a, b FROM unnest('{here.ulid,uuid,timestamptz}'::regtype[]) AS a,
    unnest('{here.ulid,uuid,timestamptz}'::regtype[]) AS b
WHERE 'here.ulid'::regtype IN (a, b);
SELECT format('CREATE FUNCTION hostile.trap(%s, %s) RETURNS boolean LANGUAGE plpgsql AS %L', a, b,
              format('BEGIN PERFORM hostile.spring(%L); RETURN false; END', a || ' ' || b))
                  FROM pair \gexec
SELECT format('CREATE OPERATOR hostile.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = hostile.trap)',
    name, a, b)
FROM pair, unnest('{<,<=,=,>=,>,<>}'::text[]) AS name \gexec
SELECT format('CREATE FUNCTION hostile.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', proname,
    pg_get_function_identity_arguments(oid), prorettype::regtype,
    format('BEGIN PERFORM hostile.spring(%L); RETURN%s; END', proname,
        CASE WHEN prorettype <> 'void'::regtype THEN ' NULL' END))
FROM pg_proc WHERE pronamespace = 'here'::regnamespace AND prokind = 'f'
    AND 'internal'::regtype <> ALL (proargtypes)
AND 'cstring'::regtype <> ALL (proargtypes)
    AND prorettype NOT IN ('internal'::regtype, 'cstring'::regtype, 'record'::regtype) \gexec
SQL
{
    local $ENV{PGOPTIONS} = '-c client_min_messages=warning -c enable_seqscan=off
        -c search_path=hostile,here,pg_catalog';
    my $is = sub {
        my ($sql, $expected, $name) = @_;
        is(run('owned', $sql), $expected, "with traps in the path, $name");
    };
    $is->(
        "SELECT count(*) FROM event WHERE id OPERATOR(here.<@) tstzrange('2020-01-01', NULL)",
        1000, 'a window finds its rows');
    $is->(
        "SELECT count(*) FROM part
            WHERE id OPERATOR(here.<@) tstzrange('2026-01-01 00:00+00', NULL)",
        281,
        'a window finds its rows in partitions');
    $is->(
        "SELECT count(*) FROM part WHERE here.ulid_starts_with(id, '01')",
        1000,
        'a prefix finds its rows in partitions');
    $is->(
        'SELECT count(*) FROM event AS a JOIN event AS b ON a.id OPERATOR(pg_catalog.=) b.id',
        1000,
        'a join finds its rows');
    $is->(
        'SELECT here.max(id) IS NOT NULL FROM event',
        't', 'the largest id is found');
    run('owned', q{
        ANALYZE event, part;
        CREATE INDEX event_other ON event USING brin (id)
            WHERE id OPERATOR(here.<@) tstzrange('2020-01-01', NULL);
        REINDEX TABLE event;
        CLUSTER event USING event_pkey;
        VACUUM (FULL, ANALYZE) event;
        ALTER TABLE event ADD CHECK (id OPERATOR(here.<@) tstzrange('2020-01-01', NULL));
        INSERT INTO event (n) VALUES (0) ON CONFLICT DO NOTHING});
    $is->(
        'SELECT count(*) FROM hostile.sprung',
        0, 'no trap springs in plans, indexes and maintenance');
    $is->(
        'SELECT gen_ulid(); SELECT count(*) FROM hostile.sprung',
        "\n1", 'a trap called by its name springs');
}

#
# In a strict database, the block of the page gives the roles what the type needs, and not the
# administrator's functions
#

$grants =~ s/^\\set roles \K.*/guest,owner/m or die;
for my $install (
    'CREATE EXTENSION ulid; REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC',
    'ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
        CREATE SCHEMA types; GRANT USAGE ON SCHEMA types TO PUBLIC;
        CREATE EXTENSION ulid SCHEMA types'
  )
{
    local $ENV{PGOPTIONS} = '-c client_min_messages=warning -c search_path=public,types';
    run('postgres', $_) for 'DROP DATABASE IF EXISTS strict', 'CREATE DATABASE strict';
    run('strict', "$install; " . q{
        CREATE TABLE key (id ulid PRIMARY KEY DEFAULT gen_ulid(), n int);
        INSERT INTO key SELECT gen_ulid(), n FROM generate_series(1, 9) AS n;
        CREATE TABLE child (id uuid REFERENCES key);
        ALTER TABLE key OWNER TO owner; ALTER TABLE child OWNER TO owner;
        GRANT ALL ON key, child TO guest}
    );
    my @operations = (
        'SELECT FROM key JOIN child USING (id)',
        'SELECT DISTINCT id FROM key',
        'SELECT id::ulid FROM child GROUP BY 1',
        "SELECT FROM key WHERE id = '01ARYZ6S41TSV4RRFFQ69G5FAV'",
        'SELECT FROM key WHERE id <@ tstzrange(now(), NULL)',
        'SELECT max(id) FROM child',
        'INSERT INTO key DEFAULT VALUES',
        'INSERT INTO child SELECT id FROM key WHERE n = 1',
        'DELETE FROM key WHERE n = 2',
        "SELECT ulid_in('01ARYZ6S41TSV4RRFFQ69G5FAV'), ulid_out(id), id::bytea,
            id::timestamptz FROM key"
    );
    refused(
        'strict', 'guest', $_,
        '.*(?:permission denied for|does not exist).*',
        "strict, before the block: $_") for @operations;
    run('strict', $grants);
    is(($node->psql('strict', $_, extra_params => [ '-U', 'guest' ]))[2],
        '', "strict, after it: $_")
      for @operations;
    refused(
        'strict', 'guest', "SELECT $_",
        'permission denied for function ulid_\w+_ordered_time',
        "strict, after it: not $_"
    ) for 'ulid_advance_ordered_time(gen_ulid())', 'ulid_reset_ordered_time()';
}

#
# Times of other roles' transactions are for those who may see them in pg_stat_activity, too
#

run('owned', 'CREATE ROLE monitor LOGIN IN ROLE pg_monitor; GRANT USAGE ON SCHEMA here TO monitor');
for my $call ('ulid_ordered_since(pg_backend_pid())', q{ulid_ordered_since('3'::xid)})
{
    for my $role (qw(guest owner))
    {
        refused(
            'owned', $role,
            "SELECT here.$call",
            'permission denied for function ulid_ordered_since',
            "not for $role: $call");
    }
    is(run('owned', "SELECT here.$call IS NULL", 'monitor'),
        't', "for a member of pg_monitor: $call");
}

# No script has the words that would take over an object that is there, or bring a name into it.
# ulid_sql.sql, which is run again, looks first at what is there: 035_ulid_sql_update.pl. What runs
# with the owner's rights finds its objects by OID, and all else in pg_catalog.
for my $script (bsd_glob("$root/sql/*.sql"))
{
    my $path  = qr/ +SET search_path = pg_catalog, pg_temp/;
    my $bound = qr/SECURITY DEFINER\n$path\n(?: +RETURN|BEGIN ATOMIC)/;
    unlike(
        slurp_file($script) =~ s/$bound//gr =~ s/^ *--.*//gmr,
        $script =~ /ulid_sql/
        ? qr/\@ext|SECURITY DEFINER/
        : qr/OR REPLACE|CREATE .*IF NOT EXISTS|\@ext|SECURITY DEFINER/,
        substr($script, 1 + length $root) . ' takes nothing over');
}
done_testing();
