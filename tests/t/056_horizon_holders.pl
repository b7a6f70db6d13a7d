# What does not hold ulid_ordered_horizon back: transactions of other databases, and those that are
# older than all ordered ids. If it is zero, the query of docs/operating.md names the reason.
# tests/isolation has what holds it back in its own database.
use strict;
use warnings FATAL => 'all';
use ULID;

my $most = 2000;
my $node = new_server('holders',
    conf => [
        "max_prepared_transactions = $most",
        'max_locks_per_transaction = 10',
        'autovacuum = off'
    ]);
my $sql     = sub { return $node->safe_psql('postgres', @_) };
my $zero    = '0' x 26;
my $horizon = 'SELECT ulid_ordered_horizon()';
$sql->(
    'CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
    CREATE TABLE other (n int)');
# The OIDs of the two databases differ modulo 16: that of postgres is 5.
$sql->('CREATE DATABASE idle TEMPLATE postgres OID = 100000');
my ($session, $elsewhere) = map { $node->background_psql($_) } qw(postgres idle);

# Transactions that are older than all ordered ids. Their xids, and those of their subtransactions,
# follow the last one that has ended.
my $nested = 'BEGIN; SELECT pg_current_xact_id(); SAVEPOINT a; CREATE TABLE nested (n int)';
$session->query($nested);
$elsewhere->query("$nested; PREPARE TRANSACTION 'nested'");
isnt($sql->($horizon), $zero, 'subtransactions from before the first ordered id hold nothing');
$session->query('COMMIT');
$elsewhere->query("ROLLBACK PREPARED 'nested'");

# Transactions of another database that have generated ordered ids.
$elsewhere->query('BEGIN; INSERT INTO event DEFAULT VALUES');
my $passes = "SELECT ulid_ordered_horizon()::timestamptz > max(ulid_ordered_since(pid))
    FROM pg_stat_activity WHERE datname = 'idle'";
is($sql->($passes),                   't', 'a transaction of another database does not hold it');
is($node->safe_psql('idle', $passes), 'f', 'but that of its own');
my $xid = $elsewhere->query("SELECT pg_current_xact_id(); PREPARE TRANSACTION 'idle'");
$passes = "SELECT ulid_ordered_horizon()::timestamptz > ulid_ordered_since($xid\::text::xid)";
is($sql->($passes),                   't', 'nor does a prepared one');
is($node->safe_psql('idle', $passes), 'f', 'but that of its own');
$elsewhere->query("COMMIT PREPARED 'idle'");

# Reasons why it is zero.
my $why = (blocks_of('operating.md', 'sql', 'The horizon lags'))[-1];
my $pid = $session->query('SELECT pg_backend_pid()');
$session->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
my $commits = q{DO $$ BEGIN
    FOR n IN 1 .. 140 LOOP INSERT INTO event DEFAULT VALUES; COMMIT; END LOOP;
END $$};
$elsewhere->query($commits);
isnt($session->query($horizon), $zero, 'however much a session of another database writes');
$sql->($commits);
is($session->query($horizon), $zero, 'nothing is proven for a snapshot that is too old');
like($session->query($why), qr/^snapshot too old: .*\|$/, 'the page says so');
isnt($session->query("COMMIT; $horizon"), $zero, 'the next one is younger');
is($session->query($why), '', 'no reason is given if there is a horizon');
$session->query('BEGIN; SELECT gen_ordered_ulid()');
$sql->('SELECT ulid_reset_ordered_time()');
is($sql->($horizon), $zero, 'after a reset, there is none until older transactions have ended');
is($sql->($why),     "before a reset: end the session|$pid", 'the page says so');
isnt($session->query("COMMIT; $horizon"), $zero, 'then there is');
$_->quit for $session, $elsewhere;

# What it costs: no subtransaction is looked up.
my $old = $node->background_psql('postgres');
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
    { insert => 'INSERT INTO event DEFAULT VALUES;' });
my $asking = $node->background_psql('postgres');
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
$_->quit for $old, $asking;

# As many prepared transactions as there can be, by one session, which each has a place of its own.
$node->restart;
my $prepares = "BEGIN; INSERT INTO event DEFAULT VALUES; PREPARE TRANSACTION";
$sql->(join "\n", map { "$prepares '$_';" } 1 .. $most);
is($sql->('SELECT count(DISTINCT since) FROM ulid_horizon_holders'),
    $most, 'each prepared transaction is known');

done_testing();
