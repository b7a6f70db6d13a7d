# Recipes of docs/poll.md and docs/failover.md whose loss only several sessions see: rows that are
# updated all the time, prepared transactions, and the repair of rows that consumers have not read.
use strict;
use warnings FATAL => 'all';
use ULID;

my $node = new_server('primary', conf => ['max_prepared_transactions = 10']);
my $sql  = sub { return $node->safe_psql('postgres', @_) };

#
# Updated rows: an update before other ordered ids
#

$sql->(join "\n", blocks_of('poll.md', 'sql', 'Tables'));
$sql->((blocks_of('poll.md', 'sql', 'Updated and deleted rows'))[0]);
$sql->(q{INSERT INTO customer (name) VALUES ('')});
my ($update, $insert) = (
    q{UPDATE customer SET name = name || 'x';},
    q{INSERT INTO outbox (message) VALUES ('of the update');});

# Two transactions change the row, one after the other, after these statements. Returns whether the
# version of the first is below the horizon while the second is open.
sub first_version_is_read
{
    my ($before) = @_;
    my ($first, $second) = map { $node->background_psql('postgres') } 1, 2;
    $_->query("BEGIN; $before") for $first, $second;
    my $changed = $first->query("$update SELECT changed FROM customer");
    my $pid     = $second->query('SELECT pg_backend_pid()');
    $second->query_until(qr/begun/, "\\echo begun\n$update $insert\n");
    await('the second transaction waits',
        sub { $sql->("SELECT wait_event_type FROM pg_stat_activity WHERE pid = $pid") eq 'Lock' });
    await('another millisecond',
        sub { $sql->("SELECT clock_timestamp() > '$changed'::ulid::timestamptz + '2 ms'") eq 't' });
    $first->query("$insert COMMIT");
    $second->query('SELECT');
    my $read = $sql->(
        "SELECT changed = '$changed', changed < ulid_ordered_horizon() FROM customer");
    $second->query('COMMIT');
    $_->quit for $first, $second;
    return $read;
}

is(first_version_is_read($insert),
    't|f', 'a transaction that waits for the row after an ordered id hides its version');
is(first_version_is_read(''), 't|t', 'one that updates first does not');

#
# Prepared transactions
#

my $prepare = "BEGIN; $insert PREPARE TRANSACTION 'of_a_manager'";
like(
    ($node->psql('postgres', $prepare))[2],
    qr/ERROR:  cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY/,
    'a transaction that wakes consumers cannot be prepared');
$sql->("DROP TRIGGER wake_consumers ON outbox; $prepare");
$sql->(q{COMMIT PREPARED 'of_a_manager'});

#
# When the clock jumped: the repair
#

# The rows of the page, of which a consumer has read five before the reset; the table has a guard.
# The rest is done in the order of the page.
$sql->(slurp_file("$root/tests/docs/failover.sql"));
$sql->(
    q{CREATE TRIGGER guard BEFORE INSERT OR UPDATE OF id ON event
        FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('id');
    CREATE TABLE consumed AS SELECT * FROM event WHERE false;
    ALTER TABLE consumed ADD PRIMARY KEY (what);
    INSERT INTO consumer (name) VALUES ('events')}
);
my $consume = q{WITH position AS (SELECT last_id FROM consumer WHERE name = 'events'), new AS (
        SELECT id, what FROM event WHERE id > (SELECT last_id FROM position)
            AND id < ulid_ordered_horizon((SELECT last_id FROM position)) ORDER BY id LIMIT 5
    ), processed AS (INSERT INTO consumed SELECT * FROM new ON CONFLICT DO NOTHING)
    UPDATE consumer SET last_id = (SELECT max(id) FROM new)
    WHERE name = 'events' AND EXISTS (SELECT FROM new)};
await('the horizon', sub { $sql->('SELECT max(id) < ulid_ordered_horizon() FROM event') eq 't' });
$sql->($consume);
$sql->((blocks_of('failover.md', 'sql', 'Stop it'))[0]);
my ($compute, $defer, $change) = blocks_of('failover.md', 'sql', 'Repair the rows');
$sql->("$compute $defer");
like(
    ($node->psql('postgres', $change))[2],
    qr/ERROR:  consumers of relation "event_default" may have passed ulid/,
    'a guard refuses the repair');
is($change =~ s/^-- (?=ALTER)//gm, 2, 'the page has two lines for a table with a guard');
$sql->($change);
$sql->(q{INSERT INTO event (what) VALUES ('after the repair');
    UPDATE consumer SET last_id = (SELECT id FROM event WHERE what = 'event 4')
    WHERE name = 'events'});
await('the horizon', sub { $sql->('SELECT max(id) < ulid_ordered_horizon() FROM event') eq 't' });
$sql->($consume) for 1 .. 3;
is($sql->('SELECT what FROM event EXCEPT SELECT what FROM consumed'),
    '', 'a consumer that starts after the repair reads every row');
is($sql->(q{SELECT string_agg(DISTINCT tgenabled, '') FROM pg_trigger WHERE tgname = 'guard'}),
    'O', 'the guard is enabled again');
$node->stop;
done_testing();
