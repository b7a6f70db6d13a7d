# sql/ulid_sql.sql is run over itself, beside an open transaction: as a whole, and statement by
# statement as in an editor. It changes nothing, and ids go on. If a statement has failed, also in a
# new database, it is run again.
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

# Run commands as a role that is no superuser; return what they print.
sub by
{
    my ($role, $database, $sql) = @_;
    return $node->safe_psql($database, $sql, extra_params => [ '-U', $role ]);
}

# Run the script in one transaction, and statement by statement. Returns whether it succeeds, and
# its messages.
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

sub each_statement
{
    my ($database, @statements) = @_;
    my ($status, $out, $messages) = $node->psql(
        $database, join("\n", 'SET search_path = ulid_sql;', @statements),
        on_error_stop => 0,
        extra_params  => [ '-U', 'owner' ]);
    return ($messages !~ /ERROR/, $messages);
}

# Everything in a database, as a dump.
sub dump_of
{
    my ($database, @options) = @_;
    my ($dump) = run_command([ 'pg_dump', @options, '-d', $node->connstr($database) ]);
    return [ sort split /\n/, $dump =~ s/^\\(un)?restrict .*\n//gmr ];
}

# A new database with an empty schema for the script.
sub new_database
{
    my ($database) = @_;
    by('owner', 'postgres', "DROP DATABASE IF EXISTS $database");
    by('owner', 'postgres', "CREATE DATABASE $database");
    by('owner', $database,  'CREATE SCHEMA ulid_sql');
    return;
}

#
# Over itself. The id clock is an hour ahead, so that one that begins again is seen.
#

new_database('app');
my ($succeeds, $messages) = update('owner', 'app');
ok($succeeds, 'it is installed');
my $fresh = dump_of('app', qw(-s -n ulid_sql));
by('owner', 'app', q{
    GRANT USAGE ON SCHEMA ulid_sql TO app;
    GRANT EXECUTE ON FUNCTION ulid_refresh() TO PUBLIC;
    GRANT EXECUTE ON FUNCTION ulid_advance_ordered_time(uuid, boolean) TO app;
    GRANT INSERT, UPDATE, DELETE ON ulid_consumer TO PUBLIC;
    CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT gen_ordered_ulid(), n integer);
    SELECT ulid_advance_ordered_time(ulid_lower_bound(clock_timestamp() + interval '1 hour'));
    CALL ulid_refresh_horizon();
    SELECT ulid_create_consumer('mail', 'outbox');
    INSERT INTO outbox VALUES (DEFAULT, 1);
    CREATE VIEW monitor AS SELECT ulid_current_horizon(), refreshed_at FROM ulid_horizon});

for my $run ([ 'as a whole', sub { update('owner', 'app') } ],
    [ 'statement by statement', sub { each_statement('app', $script) } ])
{
    my ($how, $update) = @$run;
    by('owner', 'app', 'CALL ulid_refresh_horizon()');
    my $session = $node->background_psql('app', extra_params => [ '-U', 'owner' ]);
    my $first = $session->query_safe('BEGIN; SELECT ulid_current_horizon();
        INSERT INTO outbox VALUES (DEFAULT, 2) RETURNING id') =~ s/.*\n//sr;
    my $before = dump_of('app');
    ($succeeds, $messages) = $update->();
    ok($succeeds, "$how: it runs over itself, beside a transaction");
    unlike($messages, qr/WARNING|ERROR/, "$how: without a warning");
    is_deeply(dump_of('app'), $before, "$how: it changes nothing");
    my $second = $session->query_safe('INSERT INTO outbox VALUES (DEFAULT, 3) RETURNING id');
    by('app', 'app', 'CALL ulid_refresh_horizon()');
    is( by('owner', 'app', "SELECT '$second' > '$first'::uuid, horizon <= '$first',
            ulid_extract_timestamp('$second') BETWEEN clock_timestamp() + interval '59 minutes'
                AND clock_timestamp() + interval '61 minutes' FROM ulid_horizon"),
        't|t|t',
        "$how: ids of the transaction increase, and hold the horizon back");
    $session->query_safe('COMMIT');
    $session->quit;
    by('app', 'app', 'CALL ulid_refresh_horizon()');
    is(by('owner', 'app', "SELECT horizon > '$second' FROM ulid_horizon"),
        't', "$how: a role that could refresh the horizon still can");
}

# Ids of another copy are of another clock, which does not hold this horizon back.
by('owner', 'app', 'CREATE SCHEMA other');
run_command([
        qw(psql -X -q -1 -v ON_ERROR_STOP=1 -d),
        $node->connstr('app'), '-U', 'owner', '-c', 'SET search_path = other', '-f',
        "$root/sql/ulid_sql.sql" ]);
my (undef, undef, $refused) = $node->psql('app',
    'BEGIN; INSERT INTO outbox VALUES (other.gen_ordered_ulid(), 4)',
    extra_params => [ '-U', 'owner' ]);
like($refused, qr/consumers of relation "outbox" may have passed/, 'nor is an id of another copy');
by('owner', 'app', 'DROP SCHEMA other CASCADE; INSERT INTO outbox VALUES (DEFAULT, 4);
    DELETE FROM outbox WHERE n = 4');

my $behind = 'SELECT behind IS NOT NULL FROM ulid_sql.ulid_consumer_lag';
is(by('owner', 'app', $behind), 't', 'the owner of a table sees how far its consumer is behind');
is($node->safe_psql('app', $behind),
    'f', 'for a superuser, the table of another role is not looked at');

# Without the sequence, no id is generated before the next refresh.
by('owner', 'app', 'ALTER TABLE outbox ALTER id DROP DEFAULT; DROP SEQUENCE ulid_clock CASCADE');
($succeeds, $messages) = update('owner', 'app');
ok($succeeds, 'it creates the sequence again') or diag($messages);
my (undef, undef, $unknown) =
    $node->psql('app', 'SELECT gen_ordered_ulid()', extra_params => [ '-U', 'owner' ]);
like($unknown, qr/the id clock has no value/, 'which has no value beside a horizon');
by('owner', 'app', 'CALL ulid_refresh_horizon()');
is(by('owner', 'app', 'SELECT gen_ordered_ulid() >= horizon FROM ulid_horizon'),
    't', 'ids go on above the horizon');

by('owner', 'app', 'DROP SCHEMA ulid_sql CASCADE');
is(by('owner', 'app', 'SELECT count(*) FROM outbox'), '5', 'it can be removed');

#
# A statement fails, and the others go on
#

my @statements = grep { /^[^\s-]/m } $script =~ /
    ( (?: --[^\n]*\n | '[^']*' | \$\$ .*? \$\$ | BEGIN[ ]ATOMIC\n .*? \nEND(?=;) | [^;] )+ ; ) /gsx;
is(join('', @statements) =~ s/\s+\z//r, $script =~ s/\s+\z//r, 'the script is made of statements');
sub name_of { return $_[0] =~ /^([^\s-].{0,50})/m ? $1 : $_[0] }
my @chosen = grep {
    name_of($statements[$_]) =~ /^DO|^CREATE.*(TABLE|TRIGGER|VIEW|_refresh|_ordered)/
} 0 .. $#statements;
cmp_ok(@chosen, '>', 20, @chosen . ' statements of ' . @statements);
for my $i (@chosen)
{
    my $what = 'without ' . name_of($statements[$i]);
    new_database('failed');
    each_statement('failed', map { $_ == $i ? 'SELECT 1/0;' : $statements[$_] } 0 .. $#statements);
    ($succeeds, $messages) = update('owner', 'failed');
    ok($succeeds, "$what: the script runs again") or diag($messages);
    is_deeply(dump_of('failed', qw(-s -n ulid_sql)), $fresh, "$what: as if it had not failed");
}

#
# What is not taken over
#

my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
like(
    (update($superuser, 'failed'))[1],
    qr/ERROR:  must be the owner of function \S+\n/,
    'another role is refused');
by('owner', 'failed', 'DROP SCHEMA ulid_sql CASCADE;
    CREATE SCHEMA ulid_sql; GRANT ALL ON SCHEMA ulid_sql TO app');
by('app', 'failed',
    q{CREATE FUNCTION ulid_sql.gen_ulid() RETURNS uuid LANGUAGE sql AS 'SELECT NULL::uuid'});
like(
    (update($_, 'failed'))[1],
    qr/ERROR:  must be (the )?owner of function gen_ulid/,
    "$_ takes nothing over") for 'owner', $superuser;

SKIP:
{
    skip('no extension ulid_sql', 1) if !has_extension('ulid_sql');
    by('owner', 'failed', 'DROP SCHEMA ulid_sql CASCADE; CREATE SCHEMA ulid_sql;
        CREATE EXTENSION ulid_sql SCHEMA ulid_sql');
    like((update('owner', 'failed'))[1],
        qr/ERROR:  function \S+ belongs to extension "ulid_sql"/, 'nor of an extension');
}

done_testing();
