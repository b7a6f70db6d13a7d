# ulid_ordered_horizon through a crash, a promotion and a restart. It is zero while a transaction is
# prepared that may have generated ids before, in each database of its own. Then no row can still
# appear below it, and consumers miss none, also if the clock of the server is behind by 30 s.
use strict;
use warnings FATAL => 'all';
use ULID;

my ($library, $wrong) = wrong_clock(-30);
my $start = sub {
    local $ENV{LD_PRELOAD} = $library if $library;
    $_[0]->start;
};
my $set_clock_back = sub { append_to_file($wrong, '') if $wrong };
my $zero           = '0' x 26;
my $horizon        = 'SELECT ulid_ordered_horizon()';
my $node           = do
{
    local $ENV{LD_PRELOAD} = $library if $library;
    new_server(
        'crashed',
        allows_streaming => 1,
        conf             => [ 'max_prepared_transactions = 10', 'restart_after_crash = on' ]);
};
my $sql = sub { return $node->safe_psql('postgres', @_) };
$sql->(
    q{CREATE TABLE event (
        id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), kind text, xid xid8
            DEFAULT pg_current_xact_id());
    CREATE TABLE asked (horizon ulid, snapshot pg_snapshot)});
$sql->('CREATE DATABASE b TEMPLATE postgres');
$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$start->($standby);

# Ask for the horizon, and remember for which snapshot.
my $ask = sub {
    my ($server) = @_;
    return $server->safe_psql('postgres',
        'INSERT INTO asked SELECT ulid_ordered_horizon(), pg_current_snapshot() RETURNING horizon');
};
my $prepare = sub {
    my ($name, $database) = (@_, 'postgres');
    $node->safe_psql($database,
        "BEGIN; INSERT INTO event (kind) VALUES ('$name'); PREPARE TRANSACTION '$name'");
};

# A crash. A transaction of another database has an xid from before the first ordered id, and is
# prepared after the session has listed the prepared transactions.
$prepare->('left');
$prepare->('in b', 'b');
my $killed = $node->background_psql('postgres', on_error_stop => 0);
my $pid    = $killed->query('SELECT pg_backend_pid()');
$killed->query("BEGIN; INSERT INTO event (kind) VALUES ('killed')");
kill(KILL => $pid);
await('the end of the session', sub { !kill(0 => $pid) });
$node->poll_query_until('postgres', 'SELECT true') or die 'it does not recover';
my ($later, $lists) = map { $node->background_psql($_) } qw(b postgres);
$later->query('BEGIN; CREATE TABLE later (n int)');
is($ask->($node), $zero, 'after a crash, prepared transactions may have generated any ids');
is($lists->query($horizon), $zero, 'in every session');
$later->query("PREPARE TRANSACTION 'later'");
$prepare->('new');
$sql->("COMMIT PREPARED 'left'");
isnt($ask->($node), $zero, 'until they have ended');
isnt($lists->query($horizon), $zero, 'one of another database does not matter');
$node->safe_psql('b', "ROLLBACK PREPARED 'later'");
is($node->safe_psql('b', $horizon), $zero, 'there it does');
$_->quit for $later, $lists;

# A promotion.
$node->wait_for_catchup($standby);
$set_clock_back->();
my $old = $standby->background_psql('postgres');
$old->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT gen_ordered_ulid()');
$node->stop('immediate');
$standby->promote;
is($ask->($standby), $zero, 'after a promotion, too');
is($standby->safe_psql('b', $horizon), $zero, 'in each database');
is($old->query($horizon), $zero, 'also for a snapshot from before it');
$standby->safe_psql('postgres', "COMMIT PREPARED 'new'");
is($old->query($horizon), $zero, 'which does not see that they have ended');
isnt($ask->($standby), $zero, 'until they have ended');
is($standby->safe_psql('b', $horizon), $zero, 'until those of the database have');
$standby->safe_psql('b', "ROLLBACK PREPARED 'in b'");
isnt($standby->safe_psql('b', $horizon), $zero, 'then there is one, too');
$old->query('COMMIT');
$old->quit;

# Consumers, without any script that sets the id clock.
$sql = sub { return $standby->safe_psql('postgres', @_) };
my $polls_new_row = sub {
    my ($when)  = @_;
    my $last    = $sql->('SELECT max(id) FROM event');
    my $id      = $sql->("INSERT INTO event (kind) VALUES ('new') RETURNING id");
    my $between = "id > '$last' AND id < ulid_ordered_horizon('$last')";
    cmp_ok($id, 'gt', $last, "ids continue after those of before, $when");
    await("the row, $when", sub { $sql->("SELECT id FROM event WHERE $between") eq $id });
};
$polls_new_row->('after a promotion with a clock that is behind');
is($sql->('SELECT max(id) >= ulid_lower_bound(pg_last_xact_replay_timestamp()) FROM event'),
    't', 'ids continue after the last transaction that was replayed');
is( $sql->(
        'SELECT count(*) FROM asked JOIN event ON id < horizon
            WHERE NOT pg_visible_in_snapshot(xid, snapshot)'
    ),
    0,
    'no row could still appear below a horizon');

# A checkpoint does not tell that the id clock is ahead.
unlink($wrong) if $wrong;
await('the clock', sub { $sql->('SELECT ulid_ordered_time() <= clock_timestamp()') eq 't' });
$sql->("INSERT INTO event (kind) VALUES ('on time')");
$standby->stop('fast');
$set_clock_back->();
$start->($standby);
$polls_new_row->('after a restart with a clock that is behind');

my ($back) = blocks_of('failover.md', 'sql', 'If the step came too late');
$back =~ s/'2026-[^']*'/NULL::timestamptz/ or die 'the page has no time';
my (undef, undef, $refused) = $standby->psql(
    'postgres', "CREATE TEMP TABLE consumer (last_id ulid NOT NULL);
    INSERT INTO consumer VALUES ('$zero'); $back");
like($refused, qr/null value in column "last_id"/, 'a position is not set back to an unknown time');

done_testing();
