# Replication by what core does not have: pglogical, and a row as wal2json, decoderbufs and test_decoding show it.
use strict;
use warnings;
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
    for my $node ($provider, $subscriber) {
        $node->safe_psql('postgres', sprintf q{CREATE EXTENSION pglogical; SELECT pglogical.create_node('%s', $$%s$$)}, $node->name, $node->connstr('postgres'));
    }
    $provider->safe_psql('postgres', q{
        CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ulid(), n int);
        CREATE TABLE from_uuid (id uuid PRIMARY KEY, n int);
        INSERT INTO event (n) SELECT n FROM generate_series(1, 1000) AS n;
        INSERT INTO from_uuid SELECT * FROM event;
        SELECT pglogical.replication_set_add_table('default', t) FROM unnest('{event,from_uuid}'::regclass[]) AS t});
    $subscriber->safe_psql('postgres', sprintf q{
        CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ulid(), n int);
        CREATE TABLE from_uuid (id ulid PRIMARY KEY, n int);
        SELECT pglogical.create_subscription('working', $$%s$$, '{default}', forward_origins => '{}');
        SELECT pglogical.wait_for_subscription_sync_complete('working')}, $provider->connstr('postgres'));
    for my $table (qw(event from_uuid)) {
        $provider->safe_psql('postgres', $_) for "UPDATE $table SET n = -n WHERE n <= 100", "DELETE FROM $table WHERE n > 900",
            "INSERT INTO $table SELECT gen_ulid(), 2001";
        my $sum = "SELECT count(*), sum(n), sum(hashtext(id::ulid::text)) FROM $table";
        ok($subscriber->poll_query_until('postgres', $sum, $provider->safe_psql('postgres', $sum)), "pglogical brings the rows of $table into a ulid");
    }
}

done_testing();
