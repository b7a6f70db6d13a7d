# A server that is killed while eight clients write. After each recovery every acknowledged row is
# there, no id comes twice, and gen_ordered_ulid goes on, and the indexes have every row. That they
# survive is core's work; that ids follow their order is ours. ROUNDS (4) is how often the server is
# killed.
use strict;
use warnings FATAL => 'all';
use ULID;

my $rounds = $ENV{ROUNDS} || 4;
my $notes  = PostgreSQL::Test::Utils::tempdir();
my $node   = new_server('crash',
    conf => [ 'max_wal_size = 64MB', 'checkpoint_timeout = 30s', 'restart_after_crash = on' ]);
my $sql = sub { return $node->safe_psql('postgres', @_) };
$sql->(
    'CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ulid(), writer text);
    CREATE INDEX ON event (writer, id DESC)'
);
my $amcheck = has_extension('amcheck');
$sql->('CREATE EXTENSION amcheck') if $amcheck;

# What each client repeats. A row that psql prints is acknowledged, as the end of a result is sent
# after the commit.
my %generator = (
    random     => 'gen_ulid()',
    monotonic  => 'gen_monotonic_ulid()',
    uuid_v7    => 'gen_uuid_v7()',
    random_too => 'gen_ulid()',
    ordered_1  => 'gen_ordered_ulid()',
    ordered_2  => 'gen_ordered_ulid()',
    ordered_3  => 'gen_ordered_uuid_v7()',
    ordered_4  => 'gen_ordered_uuid_v7()');
my %acknowledged;    # how often each id was
my %last;            # id of the clients that promise an order

# The ids that a client has noted. The last may be half written as long as the client runs.
sub noted { my ($writer) = @_; return slurp_file("$notes/$writer") =~ /^([0-9A-Z]{26})\n/mg }

# Start the clients, strike as soon as each has noted some ids, and check what they noted. Each ends
# with its connection.
sub strike
{
    my ($what, $strike) = @_;
    my @clients;
    for my $writer (sort keys %generator)
    {
        my $insert =
          "INSERT INTO event SELECT $generator{$writer}, '$writer' FROM generate_series(1, 3)
              RETURNING id";
        append_to_file("$notes/$writer.sql", "$insert\n\\watch 0.001\n")
          if !-e "$notes/$writer.sql";
        push @clients,
          IPC::Run::start(
            [
                'psql', '-XAtq', '-d', $node->connstr('postgres') . ' application_name=writer',
                '-f',   "$notes/$writer.sql"
            ],
            '>',
            "$notes/$writer",
            '2>',
            "$notes/error.$writer");
    }
    await(
        '20 ids of each client',
        sub {
            !grep { !-e "$notes/$_" || 20 > (() = noted($_)) } keys %generator;
        });
    $strike->();
    $_->finish for @clients;
    for my $writer (sort keys %generator)
    {
        my @ids = noted($writer);
        $acknowledged{$_}++ for @ids;

        # that of the ordered ones from round to round, that of a session's own within it
        unshift @ids, $last{$writer} // () if $writer =~ /ordered/;
        $last{$writer} = $ids[-1];
        is((grep { $ids[ $_ - 1 ] ge $ids[$_] } 1 .. $#ids),
            0, "$what: the ids of $writer are in order")
          if $writer !~ /random/;
    }
    return;
}

# Start a server that was killed. It refuses as long as a process of the killed one is left; the
# framework then takes the old postmaster for a running one.
sub start_killed
{
    await(
        'the start',
        sub {
            $node->start(fail_ok => 1) or do { $node->kill9; 0 }
        });
    return;
}

my $backend =
  q{SELECT pid FROM pg_stat_activity WHERE application_name = 'writer' ORDER BY random() LIMIT 1};
my @kinds = (
    [ 'the postmaster is killed', sub { $node->kill9 }, \&start_killed ],

    # the postmaster ends the other sessions, and recovers
    [
        'a backend is killed',
        sub { kill 'KILL', $sql->($backend) },
        sub { $node->poll_query_until('postgres', undef, '') or die 'no recovery' }
    ],
    [ 'stopped immediately', sub { $node->stop('immediate') }, sub { $node->start } ]);
for my $round (1 .. $rounds)
{
    my ($kind, $strike, $recover) = @{ $kinds[ $round % @kinds ] };
    my $what = "round $round, $kind";
    strike($what, $strike);
    $recover->();
    my %stored = map { $_ => 1 } split /\n/, $sql->('SELECT id FROM event');
    is((grep { !$stored{$_} } keys %acknowledged), 0, "$what: every acknowledged row is there");
    is((grep { $_ > 1 } values %acknowledged),     0, "$what: no id was acknowledged twice");
    is($sql->(q{SELECT gen_ordered_ulid() > max(id) FROM event WHERE writer ~ 'ordered'}),
        't', "$what: gen_ordered_ulid goes on");
    is( $sql->(
            q{SELECT count(bt_index_check(indexrelid, true)) FROM pg_index
                WHERE indrelid = 'event'::regclass}
        ),
        2,
        "$what: amcheck finds the indexes consistent and complete") if $amcheck;
}
my @crashes =
  slurp_file($node->logfile) =~ /^.*(?:TRAP:|PANIC:|terminated by signal (?:[0-8]|1[0-9])\b).*$/mg;
is(join("\n", @crashes), '', 'the server did not crash by itself');

done_testing();
