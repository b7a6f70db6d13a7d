# ulid_ordered_horizon for snapshots that come from elsewhere: exported ones, pg_dump's, and those
# of replication slots. It waits for each transaction that the snapshot sees as running.
use strict;
use warnings FATAL => 'all';
use ULID;

my $node = new_server(
    'snapshots',
    allows_streaming => 'logical',
    conf             => [ 'autovacuum = off', 'max_replication_slots = 10' ]);
my $zero    = '0' x 26;
my $horizon = 'SELECT ulid_ordered_horizon()';
my $sql     = sub { return $node->safe_psql('postgres', @_) };
my $session = sub { return $node->background_psql('postgres', @_) };
$sql->(
    'CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), kind text);
    CREATE DATABASE idle TEMPLATE postgres'
);
my $before = $sql->("INSERT INTO event (kind) VALUES ('before') RETURNING id");

# Check that what a query returns is less than an id, and not zero.
sub is_held
{
    my ($held, $id, $name) = @_;
    isnt($held, $zero, "there is a horizon: $name");
    cmp_ok($held, 'lt', $id, $name);
    return;
}

# A transaction inserts a row, a snapshot is taken, and the transaction commits. The horizon of that
# snapshot is less than the row.
my $writer = $session->();

sub begin { return $writer->query("BEGIN; INSERT INTO event (kind) VALUES ('open') RETURNING id") }

sub commit
{
    my ($id) = @_;
    $writer->query('COMMIT');
    await_horizon($node, $id, 'idle');
    return;
}

# An exported snapshot, and pg_dump with it.
my ($exporter, $importer) = ($session->(), $session->());
my $repeatable = 'BEGIN ISOLATION LEVEL REPEATABLE READ';
my $open       = begin();
my ($own, $snapshot) = split /\n/, $exporter->query(
    "$repeatable; INSERT INTO event (kind) VALUES ('exporter') RETURNING id;
    SELECT pg_export_snapshot()"
);
$importer->query("$repeatable; SET TRANSACTION SNAPSHOT '$snapshot'");
my @command = ('pg_dump', '-a', '-t', 'event', "--snapshot=$snapshot", $node->connstr('postgres'));
IPC::Run::run(\@command, '>', \my $dump) or die 'pg_dump failed';
commit($open);
$exporter->query('COMMIT');
await_horizon($node, $own, 'idle');
my $imported = $importer->query($horizon);
is_held($imported, $open, 'an imported snapshot sees the transaction as running');
is_held($imported, $own,  'and the one that exported it');
my $below = "SELECT id FROM event WHERE id < '$imported'";
is($sql->($below), $before, 'only the row from before is below it');
is(join(' ', grep { $_ lt $imported } $dump =~ /^(\w{26})\t/mg),
    $before, 'pg_dump --snapshot has all rows below it');
$importer->query('COMMIT');

# A slot needs two rounds of waiting for transactions until it has a snapshot. What begins in the
# second one is running for it.
my @blocking  = map { $session->() } 1 .. 2;
my $slot      = $session->(replication => 'database');
my $waits_for = sub {
    my ($pid) = @_;
    await(
        'the slot',
        sub {
            $sql->(
                "SELECT count(*) FROM pg_locks AS w JOIN pg_locks AS h USING (transactionid)
            WHERE NOT w.granted AND h.granted AND h.pid = $pid");
        });
};
my $take_xid = 'SELECT pg_backend_pid() WHERE pg_current_xact_id() IS NOT NULL';
my ($pid) = $blocking[0]->query("BEGIN; $take_xid");
$slot->query("$repeatable READ ONLY");
$slot->query_until(qr/^$/, "CREATE_REPLICATION_SLOT slot LOGICAL pgoutput (SNAPSHOT 'use');\n");
$waits_for->($pid);
($pid) = $blocking[1]->query("BEGIN; $take_xid");
$blocking[0]->query('COMMIT');
$waits_for->($pid);
$open = begin();
$blocking[1]->query('COMMIT');
$slot->query('SELECT');
commit($open);
is_held(scalar $slot->query($horizon), $open, 'the snapshot of a replication slot');
$slot->query('COMMIT');
$sql->("SELECT pg_drop_replication_slot('slot')");

# A position of after the snapshot is no error.
my $old = $session->();
$old->query("$repeatable; $horizon");
my $next = $sql->("INSERT INTO event (kind) VALUES ('next') RETURNING id");
await_horizon($node, $next, 'idle');
is($old->query("SELECT ulid_ordered_horizon('$next') < '$next'"),
    't', 'a position of after the snapshot is no error');

done_testing();
