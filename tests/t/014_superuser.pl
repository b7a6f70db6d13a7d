# What the pages give to a superuser, in a database whose owner wants to become one: he owns the
# schema of the extension, sets the path of all sessions, and makes overloads of each function that
# a statement calls, with each other type of each argument. Nothing of his is executed.
use strict;
use warnings FATAL => 'all';
use File::Find 'find';
use ULID;

my $node = new_server('superuser', extension => 0);
$node->safe_psql('postgres', 'CREATE ROLE app LOGIN; CREATE DATABASE app OWNER app');
my @as_owner = (extra_params => [ '-U', 'app' ]);
$node->safe_psql('app', 'CREATE EXTENSION ulid', @as_owner);

# The statements: those that psql is given in a shell, and not as the owner; and blocks.
sub commands
{
    my ($page, $language, @section) = @_;
    my @commands;
    for my $block (blocks_of($page, $language, @section))
    {
        for my $call (grep { !/ -U app / } $block =~ /^(.*\bpsql .*(?:\\\n.*)*)/mg)
        {
            push @commands, grep { defined } $call =~ /-c (?:"([^"]*)"|'([^']*)')/g;
        }
    }
    @commands or die "$page has no command for a superuser in @section";
    return map { [ $page, $_ ] } @commands;
}
my $events     = 'what_can_go_wrong.md';
my ($stop)     = blocks_of($events, 'sql', 'Stop it');
my @statements = (
    (map { commands($events, 'sh', $_) } 'Restore to an earlier time', 'Stop it'),
    commands('consumers.md',  'sh', 'A table that has rows already'),
    commands('monitoring.md', 'sh', 'Full /dev/shm'),
    [ $events, $stop =~ s/^\\set repaired \K.*/'2000-01-01Z'/mr ],
    (
        map { [ 'reference.md', $_ ] }
          blocks_of('reference.md', 'sql', 'Schema and rights', 'If `EXECUTE` was revoked')
    ),
    (map { [ 'installing.md', $_ ] } blocks_of('installing.md', 'sql', 'pg_upgrade')));

# and those within the text of any page
my @pages;
find({ no_chdir => 1, wanted => sub { push @pages, $_ if /\.md$/ } }, "$root/docs");
for my $page (sort @pages)
{
    my $name = substr($page, 1 + length "$root/docs");
    my $text = slurp_file($page);
    while (
        $text =~ /`(SELECT\s(?!ulid_sql\.)[^`]*
            (?:(?:advance|reset)_ordered_time|pg_terminate_backend)\([^`]*|REVOKE
            \ EXECUTE\ [^`]*\([^`]*)`/gx)
    {
        push @statements, [ $name, $1 =~ s/\bpid\b/0/r ];
    }

    # A superuser is needed for these, so each call in any page is one of his. Those of ulid_sql are
    # for its owner.
    while (
        $text =~ /\b(?<![`.])(?!ulid_sql\.)((?:\w+\.)?ulid_(?:advance|reset)_ordered_time)
            \(([^`]*?)\)(?=[;`"'])/gsx)
    {
        my ($function, $arguments) = ($1, $2);
        like(
            "$function($arguments)",
            qr/\Apublic\.ulid_(?:reset_ordered_time\(\)
                |advance_ordered_time\(\s*(?:'[^']*'::public\.ulid|public\.ulid_upper_bound\(
                    timestamp\ with\ time\ zone\ '[^']*'\)),\ (?:true|false)\))\z/x,
            "$name: a qualified name and exact types in $function");
    }
}

# The traps. Whoever calls one is named in a warning, which no error takes back.
my %called = map { $_ => 1 } map { $_->[1] =~ /(\w+)\(/g } @statements;
my $called = join ',', sort keys %called;
$node->safe_psql('app', <<"SQL", @as_owner);
SET client_min_messages = error;
SET search_path = pg_catalog;
CREATE SCHEMA hostile; GRANT ALL ON SCHEMA hostile TO PUBLIC;
CREATE FUNCTION hostile.springs(trap text) RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN
    RAISE WARNING 'sprung: %', trap;
    IF current_setting('is_superuser')::boolean THEN ALTER ROLE app SUPERUSER; END IF;
    RETURN true; END \$\$;
SELECT format('CREATE DOMAIN hostile.%1\$I AS pg_catalog.%1\$I CHECK (hostile.springs(%1\$L))',
    name)
FROM unnest('{uuid,text,varchar,timestamptz,bool,int4,int8,oid,regclass,regtype,name}'::text[])
    AS name \\gexec
CREATE TABLE hostile.signature AS
WITH type (type) AS (
    SELECT unnest('{public.ulid,uuid,text,varchar,"char",name,bytea,json,jsonb,oid,regclass,xid,
        smallint,integer,bigint,numeric,float8,boolean,timestamptz,timestamp,date,time,interval,
        tstzrange,bit,xml,inet,anyelement,anyarray,text[]}'::regtype[])
), called AS (
    SELECT pg_proc.oid, proname, pronargs - n AS n,
        ARRAY(SELECT CASE WHEN typtype = 'p' THEN 'text'::regtype ELSE pg_type.oid::regtype END
            FROM unnest(proargtypes) WITH ORDINALITY AS a (oid, place) JOIN pg_type USING (oid)
            WHERE place <= pronargs - n ORDER BY place) AS args
    FROM pg_proc, generate_series(0, pronargdefaults) AS n
    WHERE pronamespace IN ('pg_catalog'::regnamespace, 'public'::regnamespace)
        AND proname = ANY ('{$called}')
)
SELECT DISTINCT proname, array_to_string(list, ', ') AS args
FROM called CROSS JOIN LATERAL (
    SELECT args AS list
    UNION ALL SELECT args[:place - 1] || type || args[place + 1:]
    FROM generate_series(1, n) AS place, type
    UNION ALL SELECT array_fill(type, ARRAY[count]) FROM generate_series(1, 5) AS count, type
    UNION ALL SELECT args || array_fill(type, ARRAY[count])
    FROM generate_series(1, 5) AS count, type
) AS lists WHERE list IS NOT NULL;
DO \$do\$ DECLARE s record; made integer := 0; BEGIN
    FOR s IN SELECT signature.*, schema
        FROM hostile.signature, unnest('{public,hostile}'::text[]) AS schema LOOP
        BEGIN
            EXECUTE format('CREATE FUNCTION %I.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', s.schema,
                s.proname, s.args, 'text', format('BEGIN PERFORM hostile.springs(%L); RETURN NULL;
                    END', s.schema || '.' || s.proname || '(' || s.args || ')'));
            made := made + 1;
        EXCEPTION WHEN duplicate_function OR invalid_function_definition THEN NULL;
        END;
    END LOOP;
    IF made < 1000 THEN RAISE 'only % traps', made; END IF;
END \$do\$;
SELECT '{oid,name,text,integer,bigint,boolean,timestamptz,interval,regclass,"char"}' AS types \\gset
SELECT format('CREATE FUNCTION hostile.trap(%s, %s) RETURNS boolean LANGUAGE plpgsql AS %L', a, b,
    'BEGIN RETURN hostile.springs(''operator''); END')
FROM unnest(:'types'::regtype[]) AS a, unnest(:'types'::regtype[]) AS b \\gexec
SELECT format('CREATE OPERATOR hostile.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = hostile.trap)',
    operator, a, b)
FROM unnest(:'types'::regtype[]) AS a, unnest(:'types'::regtype[]) AS b,
    unnest('{=,<,>,<=,>=,<>,+,-,||}'::text[]) AS operator \\gexec
CREATE TABLE public.event (id public.ulid PRIMARY KEY);
ALTER DATABASE app SET search_path = hostile, public, pg_catalog;
SQL

my $taken = sub {
    return $node->safe_psql('postgres',
        q{SELECT rolsuper FROM pg_roles WHERE rolname = 'app'; ALTER ROLE app NOSUPERUSER});
};
for my $statement (@statements)
{
    my ($page, $text) = @$statement;
    my (undef, undef, $errors) = $node->psql('app', $text, on_error_stop => 0);
    $errors =~ s/^.*is more than a day ahead of the system clock.*$//m;
    $errors =~ s/^.*recovery is not in progress.*$//m;
    unlike($errors, qr/sprung|ERROR/, "$page: " . join ' ', split ' ', $text);
    is($taken->(), 'f', 'the rights are not taken');
}

# The traps work: these are what the pages had.
for my $text (
    q{SELECT ulid_advance_ordered_time('01M87E1GDBQZPCD73KGA5J0XKT')},
    q{SET search_path = ''; SELECT public.ulid_advance_ordered_time('01M87E1GDBQZPCD73KGA5J0XKT')},
    'SELECT ulid_reset_ordered_time()',
    'SELECT pg_reload_conf()')
{
    $node->psql('app', $text);
    is($taken->(), 't', "a trap takes the rights of a superuser who calls $text");
}

done_testing();
