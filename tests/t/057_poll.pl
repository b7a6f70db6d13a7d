# docs/poll.md and docs/incremental-loads.md beyond 055_horizon.pl: updated rows, views for tools,
# and what the pages say of the cases in which a condition of a query cannot hold. Of each case, the
# loss is shown, and that the remedy on the page prevents it. tests/isolation has the other cases.
# FUZZ_SECONDS (4) says for how long the
# floods last.
use strict;
use warnings FATAL => 'all';
use ULID;

my $seconds = $ENV{FUZZ_SECONDS} || 4;
$PostgreSQL::Test::Utils::timeout_default += 10 * $seconds;
my $node = new_server(
    'primary',
    allows_streaming => 1,
    conf => [ 'max_prepared_transactions = 10', 'max_connections = 50', 'autovacuum = off' ]);
my $sql       = sub { return $node->safe_psql('postgres', @_) };
my $directory = PostgreSQL::Test::Utils::tempdir();
local @ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, 'postgres');
my $zero = '0' x 26;

# The tables of the page.
$sql->(join "\n", blocks_of('poll.md', 'sql', 'Tables'));
my ($changed_table, $copy) = blocks_of('poll.md', 'sql', 'Updated and deleted rows');

# A session in the background, which is expected to wait for a lock.
my @sessions;

sub session
{
    push @sessions, $node->background_psql('postgres', on_error_stop => 0);
    return $sessions[-1];
}

# Start statements in a session, wait until they wait for a lock, and return what returns their
# output.
sub begin_waiting
{
    my ($session, $statements) = @_;
    my $pid = $session->query('SELECT pg_backend_pid()');
    $session->query_until(qr/begun/, "\\echo begun\n$statements\n");
    await('a session that waits for a lock',
        sub { $sql->("SELECT wait_event_type FROM pg_stat_activity WHERE pid = $pid") eq 'Lock' });
    return sub { return $session->query('SELECT') };
}

# Wait until all rows of a table are below the horizon.
sub settle
{
    my ($table) = @_;
    await('the horizon',
        sub { $sql->("SELECT max(id) < ulid_ordered_horizon() FROM $table") eq 't' });
    return;
}

# Run pgbench with these options until it ends.
sub clients
{
    my ($name, @options) = @_;
    return IPC::Run::start([ 'pgbench', '-n', @options ], '>', '/dev/null', '2>',
        "$directory/$name.log");
}

sub script
{
    my ($name, $text) = @_;
    append_to_file("$directory/$name", $text);
    return ('-f', "$directory/$name");
}

#
# Updated and deleted rows
#

# Eight clients update, insert and mark 500 rows, in transactions that last, fail and use
# savepoints. Three others copy the changes: by the statement of the page, by the same without the
# horizon, and as Airbyte does by a time in a view, up to the maximum of an earlier statement.
$sql->($changed_table);
$sql->($copy);
$sql->(
    q{
    CREATE TABLE naive_copy (LIKE customer_copy INCLUDING INDEXES);
    INSERT INTO consumer (name) VALUES ('naive_copy');
    CREATE TABLE copy_by_time (LIKE customer_copy INCLUDING INDEXES);
    CREATE VIEW customer_settled_at AS SELECT ulid_extract_timestamp(changed) AS settled_at, *
        FROM customer WHERE changed < ulid_ordered_horizon();
    CREATE TABLE position (last timestamptz, until timestamptz);
    INSERT INTO position VALUES ('-infinity');
    INSERT INTO customer (name) SELECT 'customer ' || n FROM generate_series(1, 500) AS n;
    CREATE TABLE went_back (id ulid);
    CREATE FUNCTION check_order() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN INSERT INTO went_back VALUES (NEW.id); RETURN NULL; END';
    CREATE TRIGGER check_order AFTER UPDATE ON customer_copy FOR EACH ROW
        WHEN (NEW.changed <= OLD.changed) EXECUTE FUNCTION check_order()});
my $row     = "(SELECT id FROM customer WHERE NOT deleted OFFSET :n LIMIT 1)";
my $update  = "UPDATE customer SET name = :n || ' ' || clock_timestamp() WHERE id = $row;\n";
my $begin   = "\\set n random(0, 400)\n\\set ms random(0, 10)\nBEGIN;\n";
my @writers = (
    script(update   => "$begin$update\\sleep :ms ms\nCOMMIT;\n"),
    script(rollback => "$begin$update\\sleep :ms ms\nROLLBACK;\n"),
    script(
        savepoint =>
          "$begin${update}SAVEPOINT a;\n${update}ROLLBACK TO a;\n\\sleep :ms ms\nCOMMIT;\n"),
    script(
        upsert =>
          "${begin}INSERT INTO customer (id, name) SELECT id, 'again' FROM customer OFFSET :n"
          . " LIMIT 1 ON CONFLICT (id) DO UPDATE SET name = excluded.name || clock_timestamp();\n"
          . "\\sleep :ms ms\nCOMMIT;\n"),
    script(
        insert => "${begin}INSERT INTO customer (name) VALUES ('new');\n\\sleep :ms ms\nCOMMIT;\n"),
    script(
        mark =>
          "${begin}UPDATE customer SET deleted = true WHERE id = $row;\n\\sleep :ms ms\nCOMMIT;\n")
);
(my $naive = $copy) =~ s/^.*?(?=^CALL)//ms;
my $careful = $naive;
$naive =~ s/CALL.*?;\nSELECT ulid_published_horizon.*?\n// or die 'it asks for no horizon';
$naive =~ s/AND changed < \(SELECT ulid_published_horizon\(\)\)//
  or die 'the statement has no horizon';
$naive =~ s/customer_copy/naive_copy/g;
$naive =~ s/'copy'/'naive_copy'/g;
my $by_time = q{
    UPDATE position SET until = (SELECT max(settled_at) FROM customer_settled_at);
    WITH changes AS (
        SELECT v.* FROM customer_settled_at AS v, position
        WHERE settled_at > last AND settled_at <= until
    ), copied AS (
        INSERT INTO copy_by_time SELECT id, name, deleted, changed FROM changes
        ON CONFLICT (id) DO UPDATE
        SET (name, deleted, changed) = (excluded.name, excluded.deleted, excluded.changed)
    )
    UPDATE position SET last = until;
};
my %copiers = (careful => $careful, naive => $naive, by_time => $by_time);
my @running = (
    clients('writers', '-c', 8, '-T', $seconds, @writers),
    map { clients($_, '-T', $seconds, script($_, "$copiers{$_}\\sleep 5 ms\n")) } keys %copiers);
$_->finish or die 'a client failed' for @running;
settle('(SELECT changed AS id FROM customer) AS c');
$sql->($_) for (values %copiers) x 20;    # each copies at most 1,000 rows
my $differ = sub {
    return $sql->(
        "SELECT count(*) FROM customer AS t FULL JOIN $_[0] AS c USING (id)
         WHERE (t.*) IS DISTINCT FROM (c.*)"
    );
};
is($differ->('customer_copy'), 0, 'the copy equals the table');
is($differ->('copy_by_time'),  0, 'the copy by the time of a view, too');
cmp_ok($differ->('naive_copy'), '>', 0, 'without the horizon it does not');
is($sql->('SELECT count(*) FROM went_back'), 0, 'no row of the copy goes back');
note(   $differ->('naive_copy') . ' of '
      . $sql->('SELECT count(*) FROM customer')
      . ' rows differ without the horizon');

#
# Views for tools
#

# Which columns of a view use an index, for both statements of such a tool.
my ($settled)  = blocks_of('incremental-loads.md', 'sql', 'The view');
my ($at)       = blocks_of('incremental-loads.md', 'sql', 'Which column');
my ($to_views) = $settled =~ /^(CREATE VIEW.*)/ms or die 'the page has no view';
$sql->(
    "$to_views; $at; INSERT INTO outbox (message) SELECT n FROM generate_series(1, 10000) AS n;
    CREATE TABLE event (id uuid PRIMARY KEY DEFAULT gen_ordered_uuid_v7());
    INSERT INTO event SELECT FROM generate_series(1, 10000);
    CREATE VIEW event_settled AS SELECT * FROM event WHERE id < ulid_ordered_horizon();
    CREATE VIEW cast_settled AS SELECT id::uuid, message FROM outbox_settled");
$sql->('VACUUM ANALYZE outbox, event');
my $plan = sub { return $sql->('EXPLAIN (COSTS OFF) ' . $_[0]) };
for my $case (
    [ 'outbox_settled',    'id',         $zero,               'Index Cond: .*horizon' ],
    [ 'event_settled',     'id',         '0' x 32,            'Index Cond: .*horizon' ],
    [ 'outbox_settled_at', 'settled_at', '2026-01-01 00:00Z', 'Index Cond' ],
    [ 'outbox_settled_at', 'id',         '0',                 'Sort\n.*Seq Scan' ],
    [ 'cast_settled',      'id',         '0' x 32,            'Sort\n.*Seq Scan' ])
{
    my ($view, $column, $last, $how) = @$case;
    like($plan->("SELECT * FROM $view WHERE $column > '$last' ORDER BY $column"),
        qr/$how/s, "the rows of $view, by $column");
}
like(
    $plan->("SELECT max($_->[1]) FROM $_->[0]"),
    qr/Index.* Scan Backward/,
    "the maximum of $_->[0]") for [qw(outbox_settled id)], [qw(outbox_settled_at settled_at)];

# The privileges that reading a view needs.
my $granted = sub {
    my ($statements) = @_;
    my ($status, undef, $error) =
      $node->psql('postgres', $statements . 'SET ROLE loader; TABLE outbox_settled');
    return $status ? $error =~ /(permission .*)/ && $1 : 'read';
};
is($granted->('CREATE ROLE loader; GRANT SELECT ON outbox_settled TO loader;'),
    'read', 'SELECT on the view is enough');
is( $granted->('ALTER VIEW outbox_settled SET (security_invoker);'),
    'permission denied for table outbox',
    'with security_invoker it is not');
is( $granted->(
        'ALTER VIEW outbox_settled RESET (security_invoker);
         REVOKE EXECUTE ON FUNCTION ulid_ordered_horizon() FROM PUBLIC;'),
    'permission denied for function ulid_ordered_horizon',
    'the function is executed by the role that reads');
$sql->(
    'GRANT EXECUTE ON FUNCTION ulid_ordered_horizon() TO PUBLIC;
     DROP TABLE event CASCADE; DROP VIEW cast_settled, outbox_settled, outbox_settled_at');

#
# The guard
#

# Eight clients bring ids of their own, from 20 ms before to 5 ms after the present, into a table
# with the guard of the page and one without it, beside the ids of the default.
my ($guard) = (blocks_of('poll.md', 'sql', 'Guard'))[0] =~ /^(CREATE TRIGGER.*?;)/ms
  or die 'the page creates no trigger';
$guard =~ s/outbox/guarded/;
$sql->(
    qq{
    CREATE TABLE guarded (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), given boolean);
    CREATE TABLE unguarded (LIKE guarded INCLUDING ALL);
    CREATE TABLE refused (id ulid);
    CREATE TABLE seen (kind text, id ulid);
    INSERT INTO seen VALUES ('guarded', '$zero'), ('unguarded', '$zero');
    CREATE FUNCTION given() RETURNS ulid LANGUAGE sql VOLATILE AS
        'SELECT gen_ulid(clock_timestamp() + (random() * 25 - 20) * interval ''1 ms'')';
    CREATE FUNCTION bring(given ulid) RETURNS void LANGUAGE plpgsql AS \$\$
    BEGIN
        INSERT INTO guarded VALUES (given, true);
    EXCEPTION WHEN check_violation THEN
        INSERT INTO refused VALUES (given);
    END \$\$;
    $guard});
my $bring = "SELECT bring(given());\nINSERT INTO unguarded SELECT given(), true;\n";
my $own   = join '', map { "INSERT INTO $_ DEFAULT VALUES;\n" } qw(guarded unguarded);
my $open  = "\\set ms random(0, 10)\nBEGIN;\n";
my $wait  = "\\sleep :ms ms\n";
my $see   = join '', map {
        "INSERT INTO seen SELECT '$_', id FROM $_ WHERE id < ulid_ordered_horizon()"
      . " AND id > (SELECT max(id) FROM seen WHERE kind = '$_');\n"
} qw(guarded unguarded);
@running = (
    clients(
        'bringers', '-c', 8, '-T', $seconds,
        script(alone  => "$open$bring${wait}COMMIT;\n"),
        script(beside => "$open$own$wait$bring$bring${wait}COMMIT;\n")),
    clients('seeing', '-T', $seconds, script(see => "$see\\sleep 5 ms\n")));
$_->finish or die 'a client failed' for @running;
settle($_) for qw(guarded unguarded);
$sql->($see);
my $missed = sub {
    return $sql->(
        "SELECT count(*) FROM $_[0]
         WHERE NOT EXISTS (SELECT FROM seen WHERE kind = '$_[0]' AND seen.id = $_[0].id)");
};
is($missed->('guarded'), 0, 'with the guard, no row is missed');
cmp_ok($missed->('unguarded'),                             '>', 0, 'without it, rows are');
cmp_ok($sql->('SELECT count(*) FROM refused'),             '>', 0, 'it refuses ids');
cmp_ok($sql->('SELECT count(*) FROM guarded WHERE given'), '>', 0, 'and accepts others');
note($missed->('unguarded') . ' of ' . $sql->('SELECT count(*) FROM unguarded') . ' rows missed');
note(   $sql->('SELECT count(*) FROM refused')
      . ' ids refused, '
      . $sql->('SELECT count(*) FROM guarded WHERE given')
      . ' accepted');

#
# Partitions
#

# The tables and procedures of the page, with a partition of now and rows of the past in the DEFAULT
# partition.
my ($table, $list) = blocks_of('partitioning.md', 'sql', 'Create a table and its partitions');
my ($create, undef) = blocks_of('partitioning.md', 'sql', 'Creating partitions automatically');
$list =~ s{docs/}{$root/docs/}                                    or die 'the page reads no file';
my $partitions = $table . $list . $create;
$partitions =~ s/^INSERT INTO event .*\n//m                       or die 'the page inserts no row';
$partitions =~ s/DEFAULT gen_ulid\(\)/DEFAULT gen_ordered_ulid()/ or die 'the page has no default';
my $recipe = (blocks_of('partitioning.md', 'sql', 'The DEFAULT partition'))[1];
$recipe =~ s/2036/2025/g;
(my $unlocked = $recipe) =~ s/^(?:LOCK|ALTER) TABLE [^;]*;\n//gm
  or die 'the page locks no table';
$partitions .= q{CREATE TABLE event_default PARTITION OF event DEFAULT;
    CREATE TABLE remark (event ulid CONSTRAINT remark_event_fkey REFERENCES event);};
my $poll = "SELECT count(*) FROM event WHERE id > '$zero' AND id < ulid_ordered_horizon();";

# Poll while a transaction that moves rows waits to commit, by a plain query and by a plan that a
# session has kept.
sub poll_beside
{
    my ($moves) = @_;
    my ($mover, @readers) = map { session() } 1 .. 3;
    $moves =~ s/^COMMIT;\n//m or die 'nothing to stop at';
    $readers[1]
      ->query("SET plan_cache_mode = force_generic_plan; PREPARE poll AS $poll EXECUTE poll");
    $mover->query($moves);
    my @waiting = (begin_waiting($readers[0], $poll), begin_waiting($readers[1], 'EXECUTE poll;'));
    $mover->query('COMMIT');
    my @counts = map { scalar $_->() } @waiting;
    return join ' ', @counts;
}

for my $case ([ $unlocked, '1 2', 'a poll that was planned before loses rows that are moved' ],
    [ $recipe, '2 2', 'with the lock of the page it does not' ])
{
    my ($moves, $counts, $what) = @$case;
    $sql->('DROP TABLE IF EXISTS event, remark CASCADE');
    $sql->(
        "$partitions CALL make_partitions('event', current_date, 2);
        INSERT INTO event (what) VALUES ('of now');
        INSERT INTO event (id, what) VALUES (gen_ulid('2025-06-01 00:00+00'), 'of the past')");
    settle('event');
    is(poll_beside($moves), $counts, $what);
}

# A filled table becomes a partition. Whoever waits meanwhile reads the new parent.
$sql->('DROP TABLE IF EXISTS message, reply');
my ($filled) = blocks_of('partitioning.md', 'sql', 'Partitioning a filled table');
my ($tables, $conversion) = $filled =~ /\A(.*)^(BEGIN;\n.*^COMMIT;\n)/ms;
$sql->(
    "$tables; INSERT INTO message (id, what) VALUES (gen_ulid('2025-06-01 00:00+00'), 'filled')");
$poll = "SELECT count(*) FROM message WHERE id > '$zero' AND id < ulid_ordered_horizon();";
is(poll_beside($conversion), '1 1', 'nobody loses rows while a filled table becomes a partition');

#
# Foreign partitions
#

SKIP:
{
    skip('no extension postgres_fdw', 3) if !has_extension('postgres_fdw');
    my ($host, $port) = ($node->host, $node->port);
    $node->safe_psql('postgres', 'CREATE DATABASE shard');
    $node->safe_psql('shard',
        'CREATE EXTENSION ulid; CREATE TABLE outbox (id ulid PRIMARY KEY, message text NOT NULL)');
    $sql->(
        qq{
        CREATE EXTENSION postgres_fdw;
        CREATE SERVER shard FOREIGN DATA WRAPPER postgres_fdw
            OPTIONS (host '$host', port '$port', dbname 'shard', extensions 'ulid');
        SELECT format('CREATE USER MAPPING FOR CURRENT_USER SERVER shard OPTIONS (user %L)',
            current_user) \\gexec
        DROP TABLE outbox;
        CREATE TABLE outbox (id ulid DEFAULT gen_ordered_ulid(), message text NOT NULL)
            PARTITION BY RANGE (id);
        CREATE FOREIGN TABLE outbox_all PARTITION OF outbox
            FOR VALUES FROM (MINVALUE) TO (MAXVALUE) SERVER shard OPTIONS (table_name 'outbox');
        -- Cheaper than the horizon, so it is called first. While it waits, the query has its
        -- snapshot on the other server.
        CREATE FUNCTION pause() RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS
            'BEGIN PERFORM pg_advisory_lock(2); PERFORM pg_advisory_unlock(2); RETURN true; END'});
    my ($late, $locker, $reader) = map { session() } 1 .. 3;
    my $rows = sub {
        return
          "SELECT string_agg(message, ' ' ORDER BY id) FROM outbox WHERE pause() AND id < $_[0];";
    };
    my $insert = sub {
        $sql->("DELETE FROM outbox; $_[0]");
        $late->query("BEGIN; INSERT INTO outbox (message) VALUES ('first')");
        $sql->("INSERT INTO outbox (message) VALUES ('second')");
    };
    $insert->('');
    $locker->query('SELECT pg_advisory_lock(2)');
    my $found = begin_waiting($reader, $rows->('ulid_ordered_horizon()'));
    $late->query('COMMIT');
    settle('outbox');
    $locker->query('SELECT pg_advisory_unlock(2)');
    is(scalar $found->(),
        'second', 'one statement passes the row of a transaction that commits during it');
    # the row is of before the snapshot on the other server
    my $published = "(SELECT ulid_published_horizon('00000000000000000000000000'))";
    $insert->(q{INSERT INTO outbox (message) VALUES ('earlier')});
    $sql->('CALL ulid_publish_horizon()');
    $locker->query('SELECT pg_advisory_lock(2)');
    $found = begin_waiting($reader, $rows->($published));
    $late->query('COMMIT');
    $sql->('CALL ulid_publish_horizon()');
    $locker->query('SELECT pg_advisory_unlock(2)');
    is(scalar $found->(), 'earlier', 'with the published horizon, it passes nothing');
    is($reader->query($rows->($published)),
        'earlier first second', 'and both rows come in their order');
}

#
# On a standby
#

$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
$sql->(
    'DROP TABLE outbox;
     CREATE TABLE outbox (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), message text NOT NULL)'
);
my $writer = session();
$writer->query("BEGIN; INSERT INTO outbox (message) VALUES ('first')");
$sql->("INSERT INTO outbox (message) VALUES ('second')");
my ($page) = blocks_of('poll.md', 'sql', 'In short');
$page =~ s/\$1/'00000000000000000000000000'/g;
$page =~ s/(SELECT ulid_published_horizon.*);/$1 AS horizon \\gset/;
$page =~ s/\$2/:'horizon'/;
my $reads = sub {
    $sql->('CALL ulid_publish_horizon()');
    $node->wait_for_catchup($standby);
    return $standby->safe_psql('postgres', $page);
};
is($reads->(), '', 'on a standby, the page stops below a transaction of the primary');
$writer->query('COMMIT');
like($reads->(), qr/^\w{26}\|first\n\w{26}\|second$/, 'and reads its row when it has ended');
$writer->quit;

done_testing();
