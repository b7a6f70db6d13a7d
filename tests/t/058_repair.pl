# The repair of docs/what_can_go_wrong.md after the clock has jumped: a consumer that had read some
# of the rows before, from a table with a guard, reads every row.
use strict;
use warnings FATAL => 'all';
use ULID;

my $page = 'what_can_go_wrong.md';
my $node = new_server('primary');
my $sql  = sub { return $node->safe_psql('postgres', @_) };

# The rows of the page, of which a consumer has read five before the reset; the table has a guard.
# The rest is done in the order of the page.
$sql->(slurp_file("$root/tests/docs/what_can_go_wrong.sql"));
$sql->(
    q{CREATE TABLE consumed AS SELECT * FROM event WHERE false;
    ALTER TABLE consumed ADD PRIMARY KEY (what);
    SELECT ulid_create_consumer('events', 'event', start => '00000000000000000000000000')}
);
my $consume = q{
    BEGIN;
    CALL ulid_next_batch('events', max_rows => 5) \gset
    INSERT INTO consumed SELECT id, what FROM event
        WHERE id >= :'batch_start' AND id < :'batch_end' ON CONFLICT DO NOTHING;
    SELECT ulid_finish_batch('events');
    COMMIT};
await_horizon($node, $sql->('SELECT max(id) FROM event'));
$sql->($consume);
is($sql->('SELECT max(what) FROM consumed'), 'event 5', 'one row of the jump was read');
$sql->((blocks_of($page, 'sql', 'Stop it'))[0]);
my ($compute, $defer, $change) = blocks_of($page, 'sql', 'Repair the rows');
$sql->("$compute $defer");
like(
    ($node->psql('postgres', $change))[2],
    qr/ERROR:  consumers of relation "event_2026" may have passed ulid/,
    'a guard refuses the repair');
is($change =~ s/^-- (?=ALTER)//gm, 2, 'the page has two lines for a table with a guard');
$sql->($change);
$sql->(q{INSERT INTO event (what) VALUES ('after the repair')});

# refreshes, and moves the consumers back
my ($owners) = grep { /ulid_move_consumer/ } blocks_of($page, 'sh', 'Stop it');
my @commands = grep { defined } $owners =~ /-c (?:"([^"]*)"|'([^']*)')/g;
is(scalar @commands, 2, 'the owner has two commands');
$sql->($_) for @commands;
await_horizon($node, $sql->('SELECT max(id) FROM event'));
$sql->($consume) for 1 .. 3;
is($sql->('SELECT what FROM event EXCEPT SELECT what FROM consumed'),
    '', 'a consumer that starts after the repair reads every row');
is( $sql->(
        q{SELECT string_agg(DISTINCT tgenabled, '') FROM pg_trigger
            WHERE tgname = 'ulid_ordered_guard'}
    ),
    'O',
    'the guard is enabled again');

done_testing();
