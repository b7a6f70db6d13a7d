# sql/ulid_sql.sql is run over an older script, and over itself: as a whole, and statement by
# statement as in an editor, also if one of them fails or the rest is missing. The id clock never
# decreases, the row of the horizon stays, and what is there works or raises an error.
use strict;
use warnings FATAL => 'all';
use ULID;

my $script = slurp_file("$root/sql/ulid_sql.sql");
my $node   = new_server('ulid_sql_update',
    extension => 0,
    conf      => ['max_prepared_transactions = 2']);
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE owner LOGIN CREATEDB;
CREATE ROLE app LOGIN;
ALTER ROLE owner SET search_path = public, ulid_sql;
ALTER ROLE app SET search_path = public, ulid_sql;
SQL

# Run commands as a role that is no superuser; return what they print. Those of `psql` may fail:
# returns the status, the output and the errors.
sub by
{
    my ($role, $database, $sql) = @_;
    return $node->safe_psql($database, $sql, extra_params => [ '-U', $role ]);
}

sub psql
{
    my ($role, $database, $sql) = @_;
    return $node->psql($database, $sql, on_error_stop => 0, extra_params => [ '-U', $role ]);
}

# Run the script in one transaction. Returns whether it succeeds, and its messages.
sub update
{
    my ($role, $database) = @_;
    my @command = (
        qw(psql -X -q -1 -v ON_ERROR_STOP=1 -d),
        $node->connstr($database), '-U', $role, '-c', 'SET search_path = ulid_sql', '-f',
        "$root/sql/ulid_sql.sql");
    my $result = IPC::Run::run(\@command, '>', \my $out, '2>', \my $messages);
    return ($result, $messages);
}

# Everything in a database, as a dump.
sub dump_of
{
    my ($database, @options) = @_;
    my ($dump) = run_command([ 'pg_dump', @options, '-d', $node->connstr($database) ]);
    return $dump =~ s/^\\(un)?restrict .*\n//gmr;
}

#
# Databases with the older script, or a fresh one, in which the id clock is an hour ahead.
#

sub new_database
{
    my ($name, $file, $refresh) = @_;
    by('owner', 'postgres', "CREATE DATABASE $name");
    $node->command_ok(
        [
            qw(psql -X -q -1 -v ON_ERROR_STOP=1 -U owner -d), $node->connstr($name),
            '-c', 'CREATE SCHEMA ulid_sql',
            '-c', 'SET search_path = ulid_sql',
            '-f', $file
        ],
        "$name: installed");
    by( 'owner', $name,
        "GRANT USAGE ON SCHEMA ulid_sql TO app;
        GRANT EXECUTE ON FUNCTION $refresh() TO app;
        GRANT EXECUTE ON FUNCTION ulid_advance_ordered_time(uuid, boolean) TO PUBLIC");
    return;
}
my $older = "$root/tests/t/data/ulid_sql--older.sql";
new_database('older', $older,                    'ulid_publish');
new_database('fresh', "$root/sql/ulid_sql.sql", 'ulid_refresh');
by('owner', 'older', <<'SQL');
CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT gen_ordered_ulid(), n integer);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE OF id ON outbox
    FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('id');
CREATE VIEW monitor AS SELECT horizon, published_at FROM ulid_horizon;
SELECT ulid_advance_ordered_time(ulid_lower_bound(clock_timestamp() + interval '1 hour'));
INSERT INTO outbox VALUES (DEFAULT, 1);
CALL ulid_publish_horizon();
INSERT INTO outbox VALUES (DEFAULT, 2);
CALL ulid_publish_horizon();
CREATE TABLE consumer AS
    SELECT id AS position FROM outbox WHERE n = 2 AND id < ulid_published_horizon();
GRANT ALL ON outbox, consumer, monitor TO app;
SQL
by('owner', 'older', 'VACUUM FREEZE');
my $before = by('owner', 'older', 'SELECT last_value FROM ulid_clock');

# A copy of the database of the older script, in which commands are run.
sub copy_of_older
{
    my ($name, $sql) = @_;
    by('owner', 'postgres', "DROP DATABASE IF EXISTS $name");
    by('owner', 'postgres', "CREATE DATABASE $name TEMPLATE older");
    my ($status, $out, $error) = psql('owner', $name, $sql // '');
    return $error;
}

# Check what holds whatever has been run. The horizon is refreshed while a transaction is open,
# which is prepared, and after its end, as a role that may do so. Returns the procedure that does
# it, or an empty string if none can.
sub check
{
    my ($database, $what) = @_;
    my ($called, $errors) = ('', '');
    my $held = by('app', $database,
        "BEGIN; INSERT INTO outbox VALUES (DEFAULT, 3) RETURNING id; PREPARE TRANSACTION 'held'");
    for my $call ('ulid_refresh_horizon', 'ulid_publish_horizon')
    {
        my ($status, $out, $error) = psql('app', $database, "CALL $call(); CALL $call()");
        $called ||= $call if $error eq '';
        $errors .= $error;
    }
    my $during = by('app', $database, "SELECT horizon <= '$held' FROM ulid_horizon;
        COMMIT PREPARED 'held'");
    psql('app', $database, "CALL $called()") if $called;
    my $after = by(
        'owner', $database, qq{
        WITH new AS (INSERT INTO outbox VALUES (DEFAULT, 4) RETURNING id)
        SELECT concat_ws(' ',
            CASE WHEN (SELECT last_value FROM ulid_clock) < $before
                THEN 'the id clock decreased' END,
            CASE WHEN (SELECT count(*) FROM ulid_horizon) <> 1 THEN 'the row is lost' END,
            CASE WHEN horizon <= position THEN 'the horizon decreased' END,
            CASE WHEN id < horizon THEN 'an id is below the horizon' END,
            CASE WHEN id <= position THEN 'an id is below the position' END,
            CASE WHEN id > ulid_lower_bound(clock_timestamp() + interval '2 hours')
                THEN 'an id is far ahead' END,
            CASE WHEN '$called' <> '' AND horizon <= '$held' THEN 'the horizon stays' END)
        FROM ulid_horizon, new, consumer});
    is("$during $after", 't ', "$what: no row is missed");
    unlike(
        $errors,
        qr/ERROR:  (?!procedure \S+ does not exist|record "\w+" has no field|permission denied)/,
        "$what: refreshed, or an error says why not");
    return $called;
}


# The statements of the script.
my @statements = grep { /^[^\s-]/m } $script =~ /
    ( (?: --[^\n]*\n | '[^']*' | \$\$ .*? \$\$ | BEGIN[ ]ATOMIC\n .*? \nEND(?=;) | [^;] )+ ; ) /gsx;
is(join('', @statements) =~ s/\s+\z//r, $script =~ s/\s+\z//r, 'the script is made of statements');

# The functions, and all else in their schema, are those of a fresh installation.
sub is_fresh
{
    my ($database, $what) = @_;
    my ($is, $should) = map {
        join "\n", sort split /\n/, dump_of($_, qw(-s -n ulid_sql))
    } $database, 'fresh';
    is($is, $should, "$what: like a fresh installation");
    return;
}

#
# As a whole
#

copy_of_older('whole');
my $session = $node->background_psql('whole', extra_params => [ '-U', 'owner' ]);
my $first   = $session->query_safe('BEGIN; INSERT INTO outbox VALUES (DEFAULT, 5) RETURNING id');
my ($succeeds, $messages) = update('owner', 'whole');
ok($succeeds, 'an older script is replaced');
unlike($messages, qr/WARNING|ERROR/, 'without a warning');
my $second = $session->query_safe('INSERT INTO outbox VALUES (DEFAULT, 6) RETURNING id');
is( by( 'owner', 'whole', "SELECT '$second' > '$first'::uuid
    AND ulid_extract_timestamp('$second') < clock_timestamp() + interval '2 hours'"),
    't',
    'ids of an open transaction increase, and are not far ahead');
$session->query_safe('COMMIT');
$session->quit;
is(check('whole', 'replaced'), 'ulid_refresh_horizon', 'the role still refreshes the horizon');
is_fresh('whole', 'replaced');
is( by('app', 'whole',
        'SELECT horizon > position, published_at <= now() FROM monitor, consumer'),
    't|t',
    'a view on the table goes on');

# over itself
by( 'owner', 'whole', q{
    GRANT EXECUTE ON FUNCTION ulid_refresh() TO PUBLIC;
    GRANT INSERT, UPDATE, DELETE ON ulid_consumer TO PUBLIC;
    CALL ulid_refresh_horizon();
    SELECT ulid_create_consumer('mail', 'outbox')});
my @dump = sort split /\n/, dump_of('whole');
($succeeds, $messages) = update('owner', 'whole');
ok($succeeds, 'the script runs over itself');
unlike($messages, qr/WARNING|ERROR/, 'without a warning');
is_deeply([ sort split /\n/, dump_of('whole') ], \@dump, 'and changes nothing');
my ($status, $out, $error) = psql('owner', 'whole', "SET search_path = ulid_sql;\n$script");
unlike($error, qr/WARNING|ERROR/, 'statement by statement, too');
is_deeply([ sort split /\n/, dump_of('whole') ], \@dump, 'and changes nothing');
check('whole', 'over itself');

# and away
by('owner', 'whole', 'DROP SCHEMA ulid_sql CASCADE');
is(by('owner', 'whole', 'SELECT count(*) > 6 FROM outbox'), 't', 'it can be removed');

#
# Statement by statement
#

# What a statement does, and those that the id clock and the horizon depend on.
sub name_of { return $_[0] =~ /^([^\s-].{0,50})/m ? $1 : $_[0] }
my @chosen = grep {
    my $name = name_of($statements[$_]);
    $name =~ /^DO|^CREATE.*(clock|horizon|ordered|refresh|ulid_sql_)/
      && $name !~ /consumer|parse|window|_at\b/
} 0 .. $#statements;
cmp_ok(@chosen, '>', 20, @chosen . ' statements of ' . @statements);

# The rest is missing: what is checked in one database after each of them.
copy_of_older('stopped');
my ($done, @called) = 0;
for my $i (@chosen)
{
    my $sql = join '', @statements[ $done .. $i ];
    ($status, $out, $error) = psql('owner', 'stopped', "SET search_path = ulid_sql;\n$sql");
    unlike($error, qr/WARNING|ERROR/, 'no error up to ' . name_of($statements[$i]));
    push @called, check('stopped', 'up to ' . name_of($statements[$i]));
    $done = $i + 1;
}
like(
    join(' ', @called),
    qr/^(ulid_publish_horizon ){9} {4}(ulid_refresh_horizon ?){5,}$/,
    'the older functions are at work until the new ones are');
is_fresh('stopped', 'statement by statement');

# One statement fails, and the others go on.
for my $i (@chosen)
{
    my $what   = 'without ' . name_of($statements[$i]);
    my $others = join '', map { $_ == $i ? "\nSELECT 1/0;" : $statements[$_] } 0 .. $#statements;
    copy_of_older('failed', "SET search_path = ulid_sql;\n$others");
    check('failed', $what);
    ($succeeds, $messages) = update('owner', 'failed');
    ok($succeeds, "$what: the script runs again") or diag($messages);
    is_fresh('failed', "$what, and again");
}

#
# Who is waited for, what depends on the older functions, and what is not taken over
#

copy_of_older('locked');
$session = $node->background_psql('locked', extra_params => [ '-U', 'owner' ]);
$session->query_safe('BEGIN; SELECT ulid_published_horizon()');
($succeeds, $messages) = update('owner', 'locked');
ok(!$succeeds, 'a transaction that has read the horizon');
like($messages, qr/ERROR: .*lock timeout/, 'is not waited for');
($status, $out, $error) = psql('owner', 'locked', "SET search_path = ulid_sql;\n$script");
like($error, qr/ERROR: .*lock timeout/, 'nor statement by statement');
$session->query_safe('COMMIT');
$session->quit;
is(check('locked', 'locked'), 'ulid_publish_horizon', 'the older functions are at work');
ok((update('owner', 'locked'))[0], 'later it succeeds');
is_fresh('locked', 'later');

copy_of_older('depends', 'CREATE VIEW horizon AS SELECT ulid_published_horizon()');
($succeeds, $messages) = update('owner', 'depends');
ok($succeeds, 'an object uses a function that is dropped');
like(
    $messages,
    qr/WARNING:  cannot drop function .*ulid_published_horizon.*\n.*view \S*horizon depends/,
    'it is not dropped');
is(check('depends', 'depends'), 'ulid_refresh_horizon', 'all else is replaced');
by('app', 'depends', 'SELECT ulid_published_horizon()');
by('owner', 'depends', 'DROP VIEW horizon');
ok((update('owner', 'depends'))[0], 'without it');
is_fresh('depends', 'without it');

my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
copy_of_older('refused');
($succeeds, $messages) = update($superuser, 'refused');
ok(!$succeeds, 'another role');
like($messages, qr/ERROR:  must be the owner of function \S+\n/, 'is refused');
is(check('refused', 'refused'), 'ulid_publish_horizon', 'the older functions are at work');
by('owner', 'refused', 'GRANT CREATE ON SCHEMA public TO app; DROP SCHEMA ulid_sql CASCADE;
    CREATE SCHEMA ulid_sql; GRANT ALL ON SCHEMA ulid_sql TO app');
by('app', 'refused',
    q{CREATE FUNCTION ulid_sql.gen_ulid() RETURNS uuid LANGUAGE sql AS 'SELECT NULL::uuid'});
like(
    (update($_, 'refused'))[1],
    qr/ERROR:  must be (the )?owner of function gen_ulid/,
    "$_ takes nothing over") for 'owner', $superuser;

SKIP:
{
    skip('no extension ulid_sql', 1) if !has_extension('ulid_sql');
    by('owner', 'refused', 'DROP SCHEMA ulid_sql CASCADE; CREATE SCHEMA ulid_sql;
        CREATE EXTENSION ulid_sql SCHEMA ulid_sql');
    like((update('owner', 'refused'))[1],
        qr/ERROR:  function \S+ belongs to extension "ulid_sql"/, 'nor of an extension');
}

done_testing();
