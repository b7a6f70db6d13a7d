# The horizon of a subscriber whose apply workers generate the ids, since the table of the publisher
# has none: it waits for what they apply and prepare.
use strict;
use warnings FATAL => 'all';
use ULID;

my $node = new_server(
    'publisher',
    allows_streaming => 'logical',
    conf             => ['max_prepared_transactions = 1']);
my $sql        = sub { return $node->safe_psql('postgres', @_) };
my $subscriber = new_server('subscriber', conf => ['max_prepared_transactions = 1']);
my $apply      = sub { return $subscriber->safe_psql('postgres', @_) };
my $connection = $node->connstr . ' dbname=postgres';
$sql->("CREATE TABLE change (n int PRIMARY KEY); CREATE PUBLICATION change FOR TABLE change");
$sql->('INSERT INTO change SELECT generate_series(-100, 0)');
$apply->(
    "CREATE TABLE change (n int PRIMARY KEY, id ulid UNIQUE DEFAULT gen_ordered_ulid());
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
        "CALL ulid_refresh_horizon();
        SELECT string_agg(n::text, ' ' ORDER BY id) FROM change
        WHERE id > '$last' AND id < (SELECT ulid_current_horizon('$last'))");
};
await_horizon($subscriber, $last);
my $lock = $subscriber->background_psql('postgres');
$lock->query('SELECT pg_advisory_lock(1)');
$sql->('INSERT INTO change VALUES (1)');
await('the apply worker',
    sub { $apply->("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") });
$apply->('INSERT INTO change VALUES (-1001)');
is($poll->(), '', 'an apply worker holds the horizon');
$lock->query('SELECT pg_advisory_unlock(1)');
await('the rows', sub { $poll->() eq '1 -1001' });
$sql->("BEGIN; INSERT INTO change VALUES (2); PREPARE TRANSACTION 'applied'");
await('the prepared transaction', sub { $apply->('SELECT count(*) FROM pg_prepared_xacts') });
$apply->('INSERT INTO change VALUES (-1002)');
is($poll->(), '1 -1001', 'a transaction that it has prepared holds the horizon');
$sql->("COMMIT PREPARED 'applied'");
await('its row', sub { $poll->() eq '1 -1001 2 -1002' });
$apply->('DROP SUBSCRIPTION change');

done_testing();
