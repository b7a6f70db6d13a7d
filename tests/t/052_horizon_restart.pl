# After a crash and after a promotion, the horizon of a database stands still until the transactions
# have ended that were prepared before. Their rows are not below it. A prepared transaction of
# another database does not matter. What lets ids continue after a position lasts.
use strict;
use warnings FATAL => 'all';
use ULID;

my $node = new_server(
    'crashed',
    allows_streaming => 1,
    conf             => [ 'max_prepared_transactions = 10', 'restart_after_crash = on' ]);
$node->safe_psql('postgres',
    'CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), kind text)');
$node->safe_psql('postgres', 'CREATE DATABASE b TEMPLATE postgres');
$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;

# Insert a row, refresh the horizon, and return which rows are below it.
my $insert = sub { return "INSERT INTO event (kind) VALUES ('$_[0]')" };
my $below  = sub {
    my ($server, $kind, $database) = (@_, 'postgres');
    return $server->safe_psql(
        $database,
        $insert->($kind) . ";
        CALL ulid_refresh_horizon();
        SELECT string_agg(kind, ' ' ORDER BY id) FROM event WHERE id < ulid_current_horizon()");
};
my $prepare = sub {
    my ($name, $database) = (@_, 'postgres');
    $node->safe_psql($database, 'BEGIN; ' . $insert->($name) . "; PREPARE TRANSACTION '$name'");
};
is($below->($node, 'first'),      'first', 'there is a horizon');
is($below->($node, 'first', 'b'), 'first', 'also in the other database');

# A crash
$prepare->('left');
$prepare->('in b', 'b');
my $killed = $node->background_psql('postgres', on_error_stop => 0);
my $pid    = $killed->query('SELECT pg_backend_pid()');
$killed->query('BEGIN; ' . $insert->('killed'));
kill(KILL => $pid);
await('the end of the session', sub { !kill(0 => $pid) });
$node->poll_query_until('postgres', 'SELECT true') or die 'it does not recover';
is($below->($node, 'second'), 'first', 'after a crash, a prepared transaction holds the horizon');
is($node->safe_psql('postgres', 'SELECT prepared, refreshes, since FROM ulid_horizon_holders'),
    'left|f|-infinity', 'the view names it');
is($below->($node, 'second', 'b'), 'first', 'in each database');
$node->safe_psql('postgres', "COMMIT PREPARED 'left'");
is($below->($node, 'third'),      'first left second third', 'until it has ended');
is($below->($node, 'third', 'b'), 'first',                   'there, another one holds it');

# A promotion
$prepare->('new');
$node->wait_for_catchup($standby);
$node->stop('immediate');
$standby->promote;
is($below->($standby, 'fourth'), 'first left second third', 'after a promotion, too');
$standby->safe_psql('postgres', "COMMIT PREPARED 'new'");
is($below->($standby, 'fifth'), 'first left second third new fourth fifth', 'until it has ended');
is($below->($standby, 'fourth', 'b'), 'first', 'there, the other one still holds it');
$standby->safe_psql('b', "ROLLBACK PREPARED 'in b'");
is($below->($standby, 'fifth', 'b'), 'first second third fourth fifth', 'then nothing does');

# What what_can_go_wrong.md says after a restore: ids continue after a position, and after a restart
my ($block) = blocks_of('what_can_go_wrong.md', 'sh', 'Restore to an earlier time');
my $position =
  $standby->safe_psql('postgres', "SELECT ulid_lower_bound(now() + interval '1 hour')");
$standby->safe_psql('postgres', $1 =~ s/'\w{26}'/'$position'/r) while $block =~ /-c "(.*?)"/g;
$standby->stop('immediate');
$standby->start;
is($standby->safe_psql('postgres', "SELECT gen_ordered_ulid() > '$position'"),
    't', 'after the statements of the page, and a restart, ids continue after the position');

done_testing();
