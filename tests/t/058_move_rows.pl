# The recipes of docs/partitioning.md for rows that move between partitions, while two sessions
# poll: by a plain query, and by a plan that the session has kept. Without the lock of the page, the
# first loses rows.
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

# The DEFAULT partition has a row of the past.
my ($table, $list) = blocks_of('partitioning.md', 'sql', 'Create a table and its partitions');
my ($create) = blocks_of('partitioning.md', 'sql', 'Creating partitions automatically');
$list =~ s{docs/}{$root/docs/}                                    or die 'the page reads no file';
my $partitions = $table . $list . $create;
$partitions =~ s/^INSERT INTO event .*\n//m                       or die 'the page inserts no row';
$partitions =~ s/DEFAULT gen_ulid\(\)/DEFAULT gen_ordered_ulid()/ or die 'the page has no default';
my $recipe = (blocks_of('partitioning.md', 'sql', 'The DEFAULT partition'))[1];
$recipe =~ s/2036/2025/g;
(my $unlocked = $recipe) =~ s/^(?:LOCK|ALTER) TABLE [^;]*;\n//gm
  or die 'the page locks no table';
for my $case ([ $unlocked, '1 2', 'a poll that was planned before loses rows that are moved' ],
    [ $recipe, '2 2', 'with the lock of the page it does not' ])
{
    my ($moves, $counts, $what) = @$case;
    $sql->('DROP TABLE IF EXISTS event, remark CASCADE');
    $sql->(
        "$partitions CREATE TABLE event_default PARTITION OF event DEFAULT;
        CREATE TABLE remark (event ulid CONSTRAINT remark_event_fkey REFERENCES event);
        CALL make_partitions('event', current_date, 2);
        INSERT INTO event (what) VALUES ('of now');
        INSERT INTO event (id, what) VALUES (gen_ulid('2025-06-01 00:00+00'), 'of the past')");
    is(read_beside('event', $moves), $counts, $what);
}

# A filled table becomes a partition. Whoever waits meanwhile reads the new parent.
my ($filled) = blocks_of('partitioning.md', 'sql', 'Partitioning a filled table');
my ($tables, $conversion) = $filled =~ /\A(.*)^(BEGIN;\n.*^COMMIT;\n)/ms;
$sql->(
    "$tables; INSERT INTO message (id, what) VALUES (gen_ulid('2025-06-01 00:00+00'), 'filled')");
is(read_beside('message', $conversion),
    '1 1', 'nobody loses rows while a filled table becomes a partition');

done_testing();
