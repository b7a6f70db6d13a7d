# A filled table becomes a partition, as docs/partitioning.md says, while two sessions poll: by a
# plain query, and by a plan that the session has kept.
use strict;
use warnings FATAL => 'all';
use ULID;

my $node = new_server('partitions', conf => ['autovacuum = off']);
my $sql  = sub { return $node->safe_psql('postgres', @_) };

# What both sessions read of a table while a transaction waits to commit.
sub read_beside
{
    my ($table, $moves) = @_;
    my $poll  = "SELECT count(*) FROM $table WHERE id < (SELECT ulid_current_horizon());";
    my ($mover, @readers) = map { $node->background_psql('postgres') } 1 .. 3;
    $moves =~ s/^COMMIT;\n//m or die 'nothing to stop at';
    await_horizon($node, $sql->("SELECT max(id) FROM $table"));
    $readers[1]
      ->query("SET plan_cache_mode = force_generic_plan; PREPARE poll AS $poll EXECUTE poll");
    $mover->query($moves);
    my @waiting = (
        start_until_lock($node, $readers[0], $poll),
        start_until_lock($node, $readers[1], 'EXECUTE poll;'));
    $mover->query('COMMIT');
    my @counts = map { scalar $_->() } @waiting;
    $_->quit for $mover, @readers;
    return "@counts";
}

# Whoever waits meanwhile reads the new parent.
my (undef, $procedures) = blocks_of('partitioning.md', 'sql', 'Create a table and its partitions');
$procedures =~ s{docs/}{$root/docs/} or die 'the page reads no file';
my ($filled) = blocks_of('partitioning.md', 'sql', 'Partitioning a filled table');
my ($tables, $conversion) = $filled =~ /\A(.*)^(BEGIN;\n.*^COMMIT;\n)/ms;
$sql->(
    "$procedures $tables;
    INSERT INTO message (id, what) VALUES (gen_ulid('2025-06-01 00:00+00'), 'filled')");
is(read_beside('message', $conversion),
    '1 1', 'nobody loses rows while a filled table becomes a partition');

done_testing();
