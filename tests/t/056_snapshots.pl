# ulid_ordered_horizon with snapshots that come from elsewhere (exported ones, pg_dump's, those of
# replication slots), with transactions that other software runs or ends (callbacks of other
# extensions, apply workers, two-phase commit), and for roles without rights.
use strict;
use warnings FATAL => 'all';
use ULID;

my %conf = (
    allows_streaming => 'logical',
    conf             => [
        'max_connections = 100',
        'max_prepared_transactions = 20',
        'autovacuum = off',
        'max_replication_slots = 10'
    ]);
my $node    = new_server('snapshots', %conf);
my $zero    = '0' x 26;
my $horizon = 'SELECT ulid_ordered_horizon()';
my $sql     = sub { return $node->safe_psql('postgres', @_) };
my $session = sub { return $node->background_psql('postgres', @_) };
my $insert  = sub { return $sql->("INSERT INTO event (kind) VALUES ('$_[0]') RETURNING id") };
$sql->(
    'CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), kind text);
    CREATE TABLE other (n int);
    CREATE DATABASE idle TEMPLATE postgres');

#
# Transactions that are older than all ordered ids
#

# Their xids, and those of their subtransactions, follow the last one that has ended. They have
# generated no ordered ids. No other transaction ends meanwhile.
my ($older, $prepares) = ($session->(), $node->background_psql('idle'));
my $nested = 'BEGIN; SELECT pg_current_xact_id(); SAVEPOINT a; CREATE TABLE nested (n int)';
$older->query($nested);
$prepares->query("$nested; PREPARE TRANSACTION 'nested'");
isnt($sql->($horizon), $zero, 'subtransactions from before the first ordered id hold nothing');
$older->query('COMMIT');
$node->safe_psql('idle', "ROLLBACK PREPARED 'nested'");
$_->quit for $older, $prepares;

# Wait until a horizon that nothing holds has passed an id. So no other one is less by chance.
sub await_horizon
{
    my ($server, $id) = @_;
    await("a horizon after $id", sub { $server->safe_psql('idle', $horizon) gt $id });
    return;
}

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
    await_horizon($node, $id);
    return;
}

#
# Snapshots from elsewhere
#

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
await_horizon($node, $own);
my $imported = $importer->query($horizon);
is_held($imported, $open, 'an imported snapshot sees the transaction as running');
is_held($imported, $own,  'and the one that exported it');
my @dumped = grep { $_ lt $imported } $dump =~ /^(\w{26})\t/mg;
is( "@dumped",
    join(' ', split /\n/, $sql->("SELECT id FROM event WHERE id < '$imported'")),
    'pg_dump --snapshot has all rows below it');
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

#
# Transactions that others run or end
#

# An extension whose callback inserts a row at PRE_PREPARE. It is registered before ours, so it is
# called after ours.
chomp(my $headers = `pg_config --includedir-server`);
SKIP:
{
    skip('no compiler, or no headers', 4) if !has_program('cc') || !-e "$headers/postgres.h";
    my $directory = PostgreSQL::Test::Utils::tempdir();
    append_to_file("$directory/preparing.c", <<'C');
#include "postgres.h"
#include "access/xact.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC;
void _PG_init(void);

static void callback(XactEvent event, void *argument) {
    if (event != XACT_EVENT_PRE_PREPARE) return;
    SPI_connect();
    PushActiveSnapshot(GetTransactionSnapshot());
    SPI_execute("INSERT INTO event (kind) VALUES ('callback')", false, 0);
    PopActiveSnapshot();
    SPI_finish();
}

void _PG_init(void) { RegisterXactCallback(callback, NULL); }
C
    system_or_bail('cc', '-shared', '-fPIC', "-I$headers", '-o', "$directory/preparing.so",
        "$directory/preparing.c");
    for my $first ('SELECT', 'SELECT gen_ordered_ulid()')
    {
        my $preparing = $session->();
        my $name      = $first eq 'SELECT' ? 'of the session' : 'of the transaction';
        $preparing->query("LOAD '$directory/preparing.so'; $first");
        $preparing->query("BEGIN; INSERT INTO other VALUES (1); PREPARE TRANSACTION 'callback'");
        await_horizon($node, $insert->('later'));
        my $held = $sql->($horizon);
        $sql->("COMMIT PREPARED 'callback'");
        is_held(
            $held,
            $sql->("SELECT max(id) FROM event WHERE kind = 'callback'"),
            "the first id $name is generated at PRE_PREPARE by another extension");
        $preparing->quit;
    }
}

# Apply workers generate the ids, as the published table has none.
my $subscriber = new_server('subscriber', %conf);
my $apply      = sub { return $subscriber->safe_psql('postgres', @_) };
my $connection = $node->connstr . ' dbname=postgres';
$sql->("CREATE TABLE change (n int PRIMARY KEY); CREATE PUBLICATION change FOR TABLE change");
$sql->('INSERT INTO change SELECT generate_series(-100, 0)');
$apply->(
    "CREATE DATABASE idle TEMPLATE postgres;
    CREATE TABLE change (n int PRIMARY KEY, id ulid UNIQUE DEFAULT gen_ordered_ulid());
    CREATE FUNCTION waits() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NEW; END';
    CREATE TRIGGER waits AFTER INSERT ON change FOR EACH ROW WHEN (NEW.n > 0)
        EXECUTE FUNCTION waits();
    ALTER TABLE change ENABLE REPLICA TRIGGER waits;
    CREATE SUBSCRIPTION change CONNECTION '$connection' PUBLICATION change
        WITH (two_phase = true)"
);
$subscriber->wait_for_subscription_sync($node, 'change');
my $last = $apply->('SELECT max(id) FROM change');
my $poll = sub {
    return $apply->(
        "SELECT string_agg(n::text, ' ' ORDER BY id) FROM change
        WHERE id > '$last' AND id < ulid_ordered_horizon('$last')");
};
my $local = sub {
    my ($n) = @_;
    await_horizon($subscriber, $apply->("INSERT INTO change VALUES ($n) RETURNING id"));
};
my $lock = $subscriber->background_psql('postgres');
$lock->query('SELECT pg_advisory_lock(1)');
$sql->('INSERT INTO change VALUES (1)');
await('the apply worker',
    sub { $apply->("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") });
$local->(-1001);
is($poll->(), '', 'an apply worker holds the horizon');
$lock->query('SELECT pg_advisory_unlock(1)');
await('the rows', sub { $poll->() eq '1 -1001' });
$sql->("BEGIN; INSERT INTO change VALUES (2); PREPARE TRANSACTION 'published'");
await('the prepared transaction', sub { $apply->('SELECT count(*) FROM pg_prepared_xacts') });
$local->(-1002);
is($poll->(), '1 -1001', 'a transaction that it has prepared holds the horizon');
$sql->("COMMIT PREPARED 'published'");
await('its row', sub { $poll->() eq '1 -1001 2 -1002' });
$apply->('DROP SUBSCRIPTION change');

#
# What it costs, and who may ask
#

# No subtransaction is looked up.
my $old = $session->();
$old->query(
    q{BEGIN; DO $$ BEGIN
    FOR n IN 1 .. 100 LOOP
        BEGIN INSERT INTO other VALUES (n); EXCEPTION WHEN data_exception THEN NULL; END;
    END LOOP;
END $$});
$node->pgbench(
    '-n -c 50 -t 10',
    0, [qr{processed: 500/500}], [],
    'other sessions have written',
    { insert => "INSERT INTO event (kind) VALUES ('written');" });
my $asking = $session->();
my $looked = sub {
    $asking->query("$_[0]; SELECT pg_stat_force_next_flush()");
    return $asking->query(
        "SELECT blks_zeroed + blks_hit + blks_read FROM pg_stat_slru
        WHERE name ILIKE 'subtrans%'");
};
my $before = $looked->('SELECT');
my $asks =
  $looked->(q{DO 'BEGIN FOR n IN 1 .. 1000 LOOP PERFORM ulid_ordered_horizon(); END LOOP; END'});
is($asks, $before, 'no subtransaction is looked up');
cmp_ok($looked->('SELECT count(*) FROM other'),
    '>', $before, 'as they are where rows of subtransactions are read');
$old->query('COMMIT');

# A role that may read the table may poll it.
$sql->('CREATE ROLE poller LOGIN; GRANT SELECT ON event TO poller');
my $poller = sub { return $node->psql('postgres', $_[0], extra_params => [ '-U', 'poller' ]) };
my ($status, $count) =
  $poller->("SELECT count(*) FROM event WHERE id > '$zero' AND id < ulid_ordered_horizon('$zero')");
is("$status $count", '0 ' . $sql->('SELECT count(*) FROM event'), 'a role that may read may poll');

#
# A position that the order has not reached
#

# The transaction has asked before; since then another session has inserted this row.
$old->query("$repeatable; $horizon");
my $next = $insert->('next');
await_horizon($node, $next);
is($old->query("SELECT ulid_ordered_horizon('$next') < '$next'"),
    't', 'a position of after the snapshot is no error');
$old->query('COMMIT');

# The last UUID of a millisecond that has not ended looks like a ULID of its middle.
$sql->(
    q{DO $$
    DECLARE
        position uuid;
    BEGIN
        FOR n IN 1 .. 1000 LOOP
            position := (left(ulid_lower_bound(clock_timestamp())::uuid::text, 14)
                || '7fff-bfff-ffffffffffff')::uuid;
            PERFORM ulid_ordered_horizon(position);
            ASSERT gen_ordered_uuid_v7() > position;
        END LOOP;
    END $$}
);
pass('ids continue after a position in the present millisecond, of either kind');

my $position = $sql->("SELECT ulid_upper_bound(now() + interval '1 minute')");
my $error    = qr/ERROR:  55000: position "$position" is ahead of the id clock, which is at /;
for my $explain ('', 'EXPLAIN ')
{
    my (undef, undef, $stderr) = $node->psql(
        'postgres', "\\set VERBOSITY verbose
        ${explain}SELECT FROM event WHERE id < ulid_ordered_horizon('$position')");
    like($stderr, $error, "${explain}a position that the order has not reached is an error");
    my ($hint) =
      $stderr =~ /HINT:  If the position is right, (\w+)\(ulid, boolean\) sets the id clock/;
    $sql->("SELECT public.$hint('$position'::public.ulid, false)") if $explain;
}
is($sql->("SELECT ulid_ordered_horizon('$position') IS NOT NULL"), 't', 'the hint says what helps');
cmp_ok($insert->('later'), 'gt', $position, 'new ids are greater');
my (undef, undef, $stderr) = $node->psql(
    'postgres', "\\set VERBOSITY verbose
    SELECT ulid_ordered_horizon(NULL)");
like(
    $stderr,
    qr/ERROR:  22004: position of a consumer must not be null\nHINT:  The position before/,
    'null is an error');

done_testing();
