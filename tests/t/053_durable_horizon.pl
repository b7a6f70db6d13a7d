# Writers do not wait for their commits, and the refresh waits until the standby has it: what a
# consumer has read is there after the promotion. If the refresh waits for the primary alone, rows
# that were read are missing.
use strict;
use warnings FATAL => 'all';
use ULID;

my $directory = PostgreSQL::Test::Utils::tempdir();
append_to_file("$directory/write",   "INSERT INTO event DEFAULT VALUES;\n\\sleep 1 ms\n");
append_to_file("$directory/refresh", "CALL ulid_refresh_horizon();\n\\sleep 2 ms\n");

for my $waits_for (qw(remote_apply local))
{
    my $node = new_server("primary_$waits_for", allows_streaming => 1);
    my $sql  = sub { return $node->safe_psql('postgres', @_) };
    $sql->(
        "CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
        CREATE ROLE writer LOGIN; ALTER ROLE writer SET synchronous_commit = off;
        GRANT INSERT ON event TO writer;
        CREATE ROLE refresher LOGIN; ALTER ROLE refresher SET synchronous_commit = $waits_for;
        GRANT EXECUTE ON FUNCTION ulid_refresh() TO refresher;
        CALL ulid_refresh_horizon()");
    $node->backup('copy');
    my $standby = PostgreSQL::Test::Cluster->new("standby_$waits_for");
    $standby->init_from_backup($node, 'copy', has_streaming => 1);
    $standby->start;
    $sql->("ALTER SYSTEM SET synchronous_standby_names = 'standby_$waits_for'");
    $node->reload;
    $node->poll_query_until('postgres',
        "SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'")
      or die 'the standby is not synchronous';

    my %clients = (write => [ '-c', 4, '-U', 'writer' ], refresh => [ '-U', 'refresher' ]);
    my @running = map {
        IPC::Run::start(
            [
                qw(pgbench -n -T 600 -h), $node->host, '-p', $node->port, @{ $clients{$_} }, '-f',
                "$directory/$_",          'postgres'
            ],
            '>', '/dev/null', '2>', "$directory/log")
    } sort keys %clients;

    # The consumer, which keeps what it has read elsewhere
    my @read = ('0' x 26);
    my $read = sub {
        push @read, split /\n/, $sql->(
            "SELECT id FROM event WHERE id > '$read[-1]'
                AND id < (SELECT ulid_current_horizon()) ORDER BY id");
        return scalar @read;
    };
    await('rows', sub { $read->() > 200 });

    # The standby receives no more
    $standby->safe_psql('postgres', "ALTER SYSTEM SET primary_conninfo = ''");
    $standby->reload;
    $standby->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_stat_wal_receiver')
      or die 'it still receives';
    my ($before, $count) = ($read->(), $sql->('SELECT count(*) FROM event'));
    await('more rows', sub {
        $read->();
        return $sql->("SELECT count(*) > $count + 500 FROM event") eq 't'
          && ($waits_for ne 'local' || @read > $before + 200);
    });
    $node->kill9;
    $_->finish for @running;
    $standby->promote;
    shift @read;
    my $missing = $standby->safe_psql('postgres',
        "SELECT count(*) FROM unnest('{" . join(',', @read) . "}'::ulid[]) AS read (id)
        WHERE id NOT IN (SELECT id FROM event)");
    my $what = scalar(@read) . " rows were read, and $missing of them are missing";
    if ($waits_for eq 'local')
    {
        cmp_ok($missing, '>=', 200, "the refresh waits for the primary: $what");
    }
    else
    {
        is($missing, 0, "the refresh waits for the standby: $what");
        is( $standby->safe_psql(
                'postgres', "INSERT INTO event DEFAULT VALUES RETURNING id > '$read[-1]'"),
            't', 'ids continue after them');
    }
    $standby->stop('immediate');
}

done_testing();
