# The clock of a server is set back by an hour while it is down: after kill -9, and after a restart,
# so that its ids are an hour ahead of the clock. Consumers keep their positions, nobody runs a
# script, and no row is lost, with the extension and with ulid_sql. A row whose id is that of the
# clock is lost.
use strict;
use warnings FATAL => 'all';
use ULID;

needs_program('cc');
my ($library, $wrong) = wrong_clock(-3600);
my $directory = PostgreSQL::Test::Utils::tempdir();
my $writer    = outbox_writer($directory);

my %type_of = (ulid => 'ulid', ulid_sql => 'uuid');
for my $extension (sort keys %type_of)
{
    local $ENV{LD_PRELOAD} = $library;
    my $node = new_server($extension, extension => 0);
    my $sql  = sub { return $node->safe_psql('postgres', @_) };
    $sql->("CREATE EXTENSION $extension; " . outbox($type_of{$extension}));

    # Clients that end with their connection.
    my @server = ('-h', $node->host, '-p', $node->port);
    my %command = (
        writers  => [ qw(pgbench -n -c 4 -T 600), @server, '-f', $writer, 'postgres' ],
        consumer => [ 'psql', '-Xq', @server, '-d', 'postgres', '-c', 'CALL consume()' ]);
    my %running;
    my $start = sub {
        $running{$_} = IPC::Run::start($command{$_}, '>', '/dev/null', '2>', "$directory/$_.log")
          for @_;
    };
    my $ended = sub { (delete $running{$_})->finish for keys %running };
    my $more = sub {
        my $enough = $sql->('SELECT count(*) FROM seen') + 300;
        $node->poll_query_until('postgres', "SELECT count(*) >= $enough FROM seen")
          or die 'the consumer reads nothing';
    };
    my %strike = (
        'kill -9' => sub { $node->kill9 },
        'restart' => sub { $node->stop('fast') });

    for my $strike (sort keys %strike)
    {
        $start->(keys %command);
        $more->();
        $strike{$strike}->();
        append_to_file($wrong, '');
        $ended->();

        # it refuses as long as a process of the killed one is left
        await('the start', sub { $node->start(fail_ok => 1) or do { $node->kill9; 0 } });
        is( $sql->("SELECT ulid_extract_timestamp(position) > now() + interval '59 minutes'
                FROM ulid_consumer"),
            't',
            "$extension, $strike: the clock is an hour behind the position");

        # before anybody refreshes the horizon
        $sql->("INSERT INTO outbox (message) VALUES ('first')");
        $start->(keys %command);
        $more->();
        $running{writers}->signal('TERM');
        (delete $running{writers})->finish;

        # rows that were not below the horizon before are read after an id that is generated when
        # the clock has passed theirs
        unlink($wrong);
        $sql->("INSERT INTO outbox (message) VALUES ('later')");
        check_outbox($node, 'postgres', "$extension, $strike");
        $node->stop('fast');
        $ended->();
        $node->start;
    }

    # a row with an id of the clock is below the position, which is what the guard is for
    $start->('consumer');
    append_to_file($wrong, '');
    my $of_the_clock = q{INSERT INTO outbox (id, message) VALUES (gen_ulid(), 'of the clock')};
    like(
        ($node->psql('postgres', $of_the_clock))[2],
        qr/ERROR:  consumers of relation "outbox" may have passed/,
        "$extension: the guard refuses an id of the clock");
    $sql->("ALTER TABLE outbox DISABLE TRIGGER ulid_ordered_guard; $of_the_clock;
        INSERT INTO outbox (message) VALUES ('last')");
    check_outbox($node, 'postgres', "$extension, an id of the clock", 1);
    unlink($wrong);
    $node->stop('immediate');
    $ended->();
}

done_testing();
