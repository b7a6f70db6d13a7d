# Replication by what core does not have: pglogical, and a row as wal2json, decoderbufs and test_decoding show it.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

chomp(my $libraries = `pg_config --pkglibdir`);
my $pglogical = has_extension('pglogical');
my @conf = ('max_worker_processes = 20', 'max_replication_slots = 20', 'max_wal_senders = 20', 'max_connections = 50');
push @conf, "shared_preload_libraries = 'pglogical'" if $pglogical;

my $provider = new_server('provider', allows_streaming => 'logical', conf => \@conf);
# since the minor releases of 2026, a server loads only the output plugins that are named
if ($provider->safe_psql('postgres', "SELECT name FROM pg_settings WHERE name = 'output_plugin_libraries'")) {
    push @conf, "output_plugin_libraries = 'pgoutput, test_decoding, wal2json, decoderbufs, pglogical_output'";
    $provider->append_conf('postgresql.conf', $conf[-1]);
    $provider->restart;
}
$provider->safe_psql('postgres', 'CREATE TABLE decoded (id ulid PRIMARY KEY, previous ulid[], key uuid)');
for my $plugin (qw(test_decoding wal2json decoderbufs)) {
  SKIP: {
        skip("no $plugin", 1) if !-e "$libraries/$plugin.so";
        $provider->safe_psql('postgres', "SELECT FROM pg_create_logical_replication_slot('decoded', '$plugin')");
        $provider->safe_psql('postgres', $_) for
            "INSERT INTO decoded VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '{01ARYZ6S41TSV4RRFFQ69G5FAW,NULL}', '01563df3-6481-d676-4c61-efb99302bd5b')",
            "UPDATE decoded SET id = '01ARYZ6S41TSV4RRFFQ69G5FAX'", 'DELETE FROM decoded';
        # text, but for the protocol buffers of decoderbufs
        my $changes = $provider->safe_psql('postgres', "SELECT encode(data, 'escape') FROM pg_logical_slot_get_binary_changes('decoded', NULL, NULL)");
        $provider->safe_psql('postgres', "SELECT pg_drop_replication_slot('decoded')");
        note($changes);
        my $rows = grep { /01ARYZ6S41TSV4RRFFQ69G5FAV/ } split /\n/, $changes;
        cmp_ok($rows, '>=', 2, "$plugin shows an id as its text, when it is stored and when it is changed");
    }
}

SKIP: {
    skip('no pglogical', 1) if !$pglogical;
    my $subscriber = new_server('subscriber', allows_streaming => 'logical', conf => \@conf);
    my $same_rows = sub {
        my ($select, $name) = @_;
        is($subscriber->safe_psql('postgres', $select), $provider->safe_psql('postgres', $select), $name);
    };
    for my $node ($provider, $subscriber) {
        $node->safe_psql('postgres', sprintf q{
            CREATE EXTENSION pglogical;
            SELECT pglogical.create_node('%s', $$%s$$);
            SELECT pglogical.create_replication_set('into_uuid');
            CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ulid(), n int)}, $node->name, $node->connstr('postgres'));
    }
    $provider->safe_psql('postgres', q{
        CREATE TABLE from_uuid (id uuid PRIMARY KEY, n int);
        CREATE TABLE into_uuid (id ulid PRIMARY KEY, n int);
        INSERT INTO event (n) SELECT n FROM generate_series(1, 1000) AS n;
        INSERT INTO from_uuid SELECT * FROM event;
        SELECT pglogical.replication_set_add_table('default', t) FROM unnest('{event,from_uuid}'::regclass[]) AS t;
        SELECT pglogical.replication_set_add_table('into_uuid', 'into_uuid')});
    my $from_provider = '$$' . $provider->connstr('postgres') . '$$';
    $subscriber->safe_psql('postgres', qq{
        CREATE TABLE from_uuid (id ulid PRIMARY KEY, n int);
        CREATE TABLE into_uuid (id uuid PRIMARY KEY, n int);
        SELECT pglogical.create_subscription('working', $from_provider, '{default}', forward_origins => '{}');
        SELECT pglogical.wait_for_subscription_sync_complete('working')});
    for my $table (qw(event from_uuid)) {
        $provider->safe_psql('postgres', $_) for "UPDATE $table SET n = -n WHERE n <= 100", "DELETE FROM $table WHERE n > 900",
            "INSERT INTO $table SELECT gen_ulid(), n FROM generate_series(2001, 2500) AS n";
        my $sum = "SELECT count(*), sum(n) FROM $table";
        $subscriber->poll_query_until('postgres', $sum, $provider->safe_psql('postgres', $sum));
        $same_rows->("SELECT id::text::ulid, n FROM $table ORDER BY n", "pglogical brings changes of a " . ($table eq 'event' ? 'ulid' : 'uuid') . ' into a ulid');
    }
    is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM event'), 1400, 'pglogical brings every row');

    # and back: both servers insert, each its own ids
    $subscriber->safe_psql('postgres', "SELECT pglogical.replication_set_add_table('default', 'event')");
    my $from_subscriber = '$$' . $subscriber->connstr('postgres') . '$$';
    $provider->safe_psql('postgres', "SELECT pglogical.create_subscription('back', $from_subscriber, '{default}', synchronize_data => false, forward_origins => '{}')");
    $provider->poll_query_until('postgres', "SELECT status FROM pglogical.show_subscription_status('back')", 'replicating');
    my @sessions = map { $_->background_psql('postgres') } $provider, $subscriber;
    $_->{stdin} .= "INSERT INTO event (n) SELECT n FROM generate_series(3001, 4000) AS n;\n" for @sessions;
    $_->{run}->pump_nb for @sessions;
    $_->quit for @sessions;
    for my $node ($provider, $subscriber) {
        ok($node->poll_query_until('postgres', 'SELECT count(*), count(DISTINCT id) FROM event', '3400|3400'), $node->name . ' gets the ids that both servers make');
    }
    $same_rows->('TABLE event ORDER BY id', 'both servers have the same rows');

    # from ulid to uuid: changes come in binary, the copy of what was there is text, which uuid does not read
    $provider->safe_psql('postgres', "INSERT INTO into_uuid VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', 1)");
    $subscriber->safe_psql('postgres', "SELECT pglogical.create_subscription('changes', $from_provider, '{into_uuid}', synchronize_data => false)");
    $subscriber->poll_query_until('postgres', "SELECT status FROM pglogical.show_subscription_status('changes')", 'replicating');
    $provider->safe_psql('postgres', "INSERT INTO into_uuid VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAW', 2)");
    ok($subscriber->poll_query_until('postgres', 'TABLE into_uuid', '01563df3-6481-d676-4c61-efb99302bd5c|2'), 'pglogical brings changes of a ulid into a uuid');
    $subscriber->safe_psql('postgres', "SELECT pglogical.drop_subscription('changes')");
    my $before = -s $subscriber->logfile;
    $subscriber->safe_psql('postgres', "SELECT pglogical.create_subscription('copy', $from_provider, '{into_uuid}')");
    comes(sub { $subscriber->wait_for_log(qr/invalid input syntax for type uuid: "01ARYZ6S41TSV4RRFFQ69G5FAV"/, $before) }, 'it cannot copy a ulid into a uuid');
}

done_testing();
