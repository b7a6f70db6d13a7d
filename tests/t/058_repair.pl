# The repair of docs/failover.md after the clock has jumped: a consumer that had read some of the
# rows before, from a table with a guard, reads every row.
use strict;
use warnings FATAL => 'all';
use ULID;

my $node = new_server('primary');
my $sql  = sub { return $node->safe_psql('postgres', @_) };
$sql->(join "\n", blocks_of('poll.md', 'sql', 'Tables'));

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
            AND id < (SELECT ulid_current_horizon(last_id) FROM position) ORDER BY id LIMIT 5
    ), processed AS (INSERT INTO consumed SELECT * FROM new ON CONFLICT DO NOTHING)
    UPDATE consumer SET last_id = (SELECT max(id) FROM new)
    WHERE name = 'events' AND EXISTS (SELECT FROM new)};
await_horizon($node, $sql->('SELECT max(id) FROM event'));
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
await_horizon($node, $sql->('SELECT max(id) FROM event'));
$sql->($consume) for 1 .. 3;
is($sql->('SELECT what FROM event EXCEPT SELECT what FROM consumed'),
    '', 'a consumer that starts after the repair reads every row');
is($sql->(q{SELECT string_agg(DISTINCT tgenabled, '') FROM pg_trigger WHERE tgname = 'guard'}),
    'O', 'the guard is enabled again');

done_testing();
