# From ulid_sql to the type, by the steps of docs/managed.md, with the id clock of ulid_sql an hour
# ahead: writers go on, and the consumer keeps its position. It reads each row once. If the id clock
# is advanced after the columns are converted, the consumer loses the rows in between.
use strict;
use warnings FATAL => 'all';
use ULID;

my $node = new_server('to_type', extension => 0);
$node->safe_psql('postgres', 'CREATE ROLE app LOGIN');
my $directory = PostgreSQL::Test::Utils::tempdir();
my $writer    = outbox_writer($directory);

# Run what the page has for a shell, with this id in place of its own; return what is printed.
sub shell
{
    my ($command, $id) = @_;
    $command =~ s/'[0-9A-Z]{26}'/'$id'/ if $id;
    local @ENV{qw(PGHOST PGPORT)} = ($node->host, $node->port);
    my ($out, $error) = run_command([ 'sh', '-ec', "cd '$root'; $command" ]);
    is($error =~ s/^NOTICE.*\n?//mgr, '', $command =~ s/\n.*//sr);
    return $out;
}
my ($create, $path) = blocks_of('managed.md', 'sh', 'As a script');
my @example   = map { blocks_of('managed.md', 'sql', $_) } 'Use', 'From ulid_sql to the type';
my ($install) = blocks_of('managed.md', 'sql', '2. Let ids continue after the old ones');
my ($read, $advance) = blocks_of('managed.md', 'sh', '2. Let ids continue after the old ones');
my ($convert) = blocks_of('managed.md', 'sql', '3. Convert the columns');
my ($move)    = blocks_of('managed.md', 'sh', '4. Refresh, and move the consumers');
$convert =~ s/^COMMIT;$/ALTER TABLE mail ALTER id TYPE ulid;\nCOMMIT;/m
  or die 'the page has no transaction';

for my $advanced (qw(before after))
{
    $node->safe_psql('postgres', 'CREATE DATABASE app OWNER app');
    my $app = sub { return $node->safe_psql('app', @_, extra_params => [ '-U', 'app' ]) };
    {
        local @ENV{qw(PGUSER PGDATABASE)} = qw(app app);
        shell($create);
        shell($path);
    }
    $app->(join "\n", @example, outbox('uuid'));
    $app->("SELECT ulid_advance_ordered_time(ulid_upper_bound(now() + interval '1 hour'))");

    my @app     = ('-U', 'app', '-h', $node->host, '-p', $node->port);
    my $consume = sub {
        return IPC::Run::start([ 'psql', '-Xq', @app, '-d', 'app', '-c', 'CALL consume()' ],
            '2>', "$directory/consumer.log");
    };
    my $ends = sub {
        $app->("SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE query = 'CALL consume()'");
        $_[0]->finish;
    };
    my $count = sub { return $app->('SELECT count(*) FROM outbox') };
    my $more  = sub {
        my $enough = $count->() + 300;
        await('300 rows more', sub { $count->() > $enough });
    };
    my @writers = map {
        IPC::Run::start(
            [ qw(pgbench -n -c 2 -T 600 -M), $_, @app, '-f', $writer, 'app' ],
            '>', '/dev/null', '2>', "$directory/$_.log")
    } qw(simple prepared);
    my $consumer = $consume->();
    $more->();
    $node->poll_query_until('app', 'SELECT count(*) > 100 FROM seen') or die 'nothing is read';
    $ends->($consumer);

    $app->($install);
    my ($clock) = shell($read) =~ /([0-9A-Z]{26})/;
    shell($advance, $clock) if $advanced eq 'before';
    $more->();
    $app->($convert);
    $more->();
    my $between = $app->("SELECT count(*) FROM outbox
        WHERE id < (SELECT position FROM ulid_sql.ulid_consumer)
        AND id::uuid NOT IN (SELECT id FROM seen)");
    shell($advance, $clock) if $advanced eq 'after';
    shell($move);
    $consumer = $consume->();
    $more->();

    $_->signal('TERM') for @writers;
    $_->finish        for @writers;
    unlike(slurp_file("$directory/$_.log"), qr/ERROR|FATAL|aborted/, "no writer fails: $_")
      for qw(simple prepared);
    if ($advanced eq 'before') { is($between, 0, 'no row is below the position') }
    else { cmp_ok($between, '>', 200, 'rows are below it, if the id clock is advanced too late') }
    check_outbox($node, 'app', "advanced $advanced the conversion", $between);
    $ends->($consumer);
    unlink(map { "$directory/$_.log" } qw(simple prepared));
    is($app->("SELECT pg_typeof(id) FROM outbox LIMIT 1"), 'ulid', 'the column has the type');
    $node->safe_psql('postgres', 'DROP DATABASE app WITH (FORCE)');

    # the id clock is that of the server
    $node->restart;
}

done_testing();
