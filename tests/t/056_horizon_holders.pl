# What does not hold the horizon: transactions of other databases, and those that are older than all
# ordered ids. The view ulid_horizon_holders names what does: also who has refreshed it in a
# transaction that goes on. tests/isolation has what holds it back in its own database.
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
my $sql = sub { return $node->safe_psql('postgres', @_) };
$sql->(
    'CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
    CREATE TABLE other (n int)');
$sql->('CREATE DATABASE idle TEMPLATE postgres');
my ($session, $elsewhere) = map { $node->background_psql($_) } qw(postgres idle);

# Transactions that are older than all ordered ids. Their xids, and those of their subtransactions,
# follow the last one that has ended.
my $refresh = 'CALL ulid_refresh_horizon()';
my $nested = 'BEGIN; SELECT pg_current_xact_id(); SAVEPOINT a; CREATE TABLE nested (n int)';
$session->query($nested);
$elsewhere->query("$nested; PREPARE TRANSACTION 'nested'");
is( $sql->("INSERT INTO event DEFAULT VALUES; $refresh;
        SELECT max(id) < ulid_current_horizon() FROM event"),
    't', 'subtransactions from before the first ordered id hold nothing');
$session->query('COMMIT');
$elsewhere->query("ROLLBACK PREPARED 'nested'");

# Transactions of another database that have generated ordered ids.
$elsewhere->query('BEGIN; INSERT INTO event DEFAULT VALUES');
my $passes = "$refresh; SELECT ulid_current_horizon()::timestamptz > max(ulid_ordered_since(pid))
    FROM pg_stat_activity WHERE datname = 'idle'";
is($sql->($passes),                   't', 'a transaction of another database does not hold it');
is($node->safe_psql('idle', $passes), 'f', 'but that of its own');
my $named = 'SELECT coalesce(prepared, state) FROM ulid_horizon_holders';
is($sql->($named),                   '',                    'nor is it named there');
is($node->safe_psql('idle', $named), 'idle in transaction', 'but in its own');
my $xid = $elsewhere->query("SELECT pg_current_xact_id(); PREPARE TRANSACTION 'idle'");
$passes =
  "$refresh; SELECT ulid_current_horizon()::timestamptz > ulid_ordered_since($xid\::text::xid)";
is($sql->($passes),                   't', 'nor does a prepared one');
is($node->safe_psql('idle', $passes), 'f', 'but that of its own');
is($sql->($named),                   '',     'nor is that named');
is($node->safe_psql('idle', $named), 'idle', 'but in its own');
$elsewhere->query("COMMIT PREPARED 'idle'");

# Who has refreshed holds the row until the transaction ends, and others leave the work to it.
my $pid     = $session->query('SELECT pg_backend_pid()');
my $holders = 'SELECT pid, prepared, refreshes, since IS NOT NULL FROM ulid_horizon_holders';
for (
    [ 'SELECT ulid_refresh()',                       'a transaction' ],
    [ 'SAVEPOINT a; SELECT ulid_refresh()',            'a savepoint' ],
    [ 'SAVEPOINT a; SELECT ulid_refresh(); RELEASE a', 'a savepoint that is released' ])
{
    my ($refreshes, $where) = @$_;
    $sql->('INSERT INTO event DEFAULT VALUES');
    $session->query("BEGIN; $refreshes");
    is($sql->($holders), "$pid||t|t", "who has refreshed in $where is named");
    is($sql->('SELECT ulid_refresh()'), 'f', "$where: others do not wait");
    $session->query('COMMIT');
    is($sql->($holders), '', "$where: until it has ended");
    my (undef, undef, $error) = $node->psql('postgres',
        "INSERT INTO event DEFAULT VALUES; BEGIN; $refreshes; PREPARE TRANSACTION 'refreshed'");
    like($error, qr/cannot PREPARE a transaction that has refreshed/, "$where: it is not prepared");
}
$session->query('BEGIN; SELECT gen_ordered_ulid()');
is($sql->($holders), "$pid||f|t", 'a transaction that has generated an id has not refreshed');
$session->query('COMMIT');
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
my $nil    = '0' x 26;
my $asks   = $looked->(
    qq{DO \$\$ BEGIN FOR n IN 1 .. 1000 LOOP PERFORM ulid_next_horizon('$nil'); END LOOP; END \$\$}
);
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
