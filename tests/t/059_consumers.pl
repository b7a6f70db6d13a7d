# Consumers of the extension and of ulid_sql read each committed row once and in order: while
# partitions are attached, detached, rewritten, moved and dropped, while backends and the server are
# killed, after a dump is restored, and on a subscriber that has a consumer of the same name. A loop
# without the horizon loses rows. FUZZ_SECONDS (3) says for how long the transactions go on.
use strict;
use warnings FATAL => 'all';
use Time::HiRes qw(time usleep);
use ULID;

my $seconds = $ENV{FUZZ_SECONDS} || 3;
$PostgreSQL::Test::Utils::timeout_default += 10 * $seconds;
my $directory = PostgreSQL::Test::Utils::tempdir();
my $none      = '00000000-0000-0000-0000-000000000000';

# What is written. `written` has the ids of committed rows; a row that is moved keeps its id.
my $tables = q{
    CREATE TABLE event (id TYPE NOT NULL DEFAULT gen_ordered_ulid(), kind int NOT NULL, n int)
        PARTITION BY LIST (kind);
    CREATE INDEX ON event (id);
    CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1);
    CREATE TABLE event_2 PARTITION OF event FOR VALUES IN (2);
    -- rows of the past move from the DEFAULT partition
    CREATE TABLE ranged (id TYPE PRIMARY KEY DEFAULT gen_ordered_ulid()) PARTITION BY RANGE (id);
    CREATE TABLE ranged_default PARTITION OF ranged DEFAULT;
    -- rows that change
    CREATE TABLE doc (key int PRIMARY KEY, changed TYPE NOT NULL DEFAULT gen_ordered_ulid());
    CREATE INDEX ON doc (changed);
    INSERT INTO doc SELECT generate_series(1, 20);

    CREATE TABLE written (id uuid PRIMARY KEY, of text, n int);
    CREATE FUNCTION write() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO written VALUES (NEW.id, TG_ARGV[0], (to_jsonb(NEW) ->> 'n')::int);
        RETURN NULL;
    END $$;
    CREATE TRIGGER write AFTER INSERT ON event FOR EACH ROW EXECUTE FUNCTION write('event');
    CREATE TRIGGER write AFTER INSERT ON ranged FOR EACH ROW EXECUTE FUNCTION write('ranged');

    CREATE TABLE seen (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, consumer text, id uuid);
    CREATE FUNCTION see(text, uuid[]) RETURNS bigint LANGUAGE sql AS
        'INSERT INTO seen (consumer, id) SELECT $1, unnest($2); SELECT cardinality($2)';
    CREATE TABLE batch (consumer text PRIMARY KEY, batch json);
    CREATE TABLE position (consumer text PRIMARY KEY, last uuid DEFAULT 'NONE');
    INSERT INTO position VALUES ('without'), ('loop');
    CREATE SEQUENCE number START 3;

    -- rows move to a partition that is attached; or a partition is rewritten, or attached again
    CREATE FUNCTION change_event() RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
        number CONSTANT int := nextval('number');
        part CONSTANT int := 1 + number % 2;
    BEGIN
        IF (SELECT count(*) FROM pg_inherits WHERE inhparent = 'event'::regclass) > 50 THEN
            RETURN;
        END IF;
        CASE number % 6
            WHEN 0 THEN
                EXECUTE format('CLUSTER event_%s USING event_%1$s_id_idx', part);
            WHEN 1 THEN
                EXECUTE format('ALTER TABLE event DETACH PARTITION event_%1$s;'
                    ' ALTER TABLE event ATTACH PARTITION event_%1$s FOR VALUES IN (%1$s)', part);
            ELSE
                EXECUTE format('CREATE TABLE event_%1$s (LIKE event INCLUDING DEFAULTS);'
                    ' WITH moved AS (DELETE FROM event_%2$s RETURNING *)'
                    ' INSERT INTO event_%1$s SELECT id, %1$s, n FROM moved;'
                    ' ALTER TABLE event ATTACH PARTITION event_%1$s FOR VALUES IN (%1$s)',
                    number, part);
        END CASE;
    END $$;
    CREATE FUNCTION change_ranged() RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
        bound TYPE := 'NONE';
        upper TYPE := ulid_current_horizon();
        name text := 'ranged_' || nextval('number');
    BEGIN
        LOCK TABLE ranged_default IN ACCESS EXCLUSIVE MODE;
        SELECT coalesce(
            max(substring(pg_get_expr(relpartbound, oid) FROM $r$TO \('(.*)'\)$r$)), 'NONE')
        INTO bound FROM pg_class
        WHERE relname LIKE 'ranged\_%' AND relispartition AND relkind = 'r';
        IF upper > bound THEN
            EXECUTE format('CREATE TABLE %s (LIKE ranged INCLUDING DEFAULTS); WITH moved AS'
                ' (DELETE FROM ranged_default WHERE id >= %L AND id < %L RETURNING *)'
                ' INSERT INTO %1$s SELECT * FROM moved; ALTER TABLE ranged ATTACH PARTITION %1$s'
                ' FOR VALUES FROM (%2$L) TO (%3$L)', name, bound, upper);
        END IF;
    END $$;
    -- drop what all have read
    CREATE FUNCTION drop_event() RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
        name text;
        is_read boolean;
    BEGIN
        FOR name IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'event'::regclass
            AND inhrelid::regclass::text !~ '_[12]$' ORDER BY inhrelid LIMIT 5
        LOOP
            EXECUTE format('SELECT NOT EXISTS (SELECT FROM %s WHERE id >= least('
                'ulid_read_by_all(''event''), (SELECT min(last::text)::uuid FROM position)))', name)
                INTO is_read;
            IF is_read THEN
                EXECUTE format('DROP TABLE %s', name);
            END IF;
        END LOOP;
    END $$;
};

my $writer = q{
\set ms random(0, 5)
\set n random(0, 9)
\set key random(1, 20)
\set how random(1, 10)
BEGIN;
INSERT INTO event (kind, n) VALUES (1, :n), (2, :n);
SAVEPOINT a;
INSERT INTO event (kind, n) VALUES (2, :n);
INSERT INTO ranged DEFAULT VALUES;
ROLLBACK TO a;
INSERT INTO ranged SELECT FROM generate_series(1, 2);
\sleep :ms ms
UPDATE doc SET changed = gen_ordered_ulid() WHERE key = :key;
INSERT INTO event (kind, n) VALUES (1, :n);
};
my %writers = (
    commit   => [ 3, "${writer}COMMIT;\n" ],
    rollback => [ 1, "${writer}ROLLBACK;\n" ],
    prepared =>
      [ 1, "${writer}\\set name random(1, 1000000000000)\nPREPARE TRANSACTION ':name';\n" ]
);
my $finisher = q{
    SELECT format('%s PREPARED %L',
        CASE WHEN random() < 0.2 THEN 'ROLLBACK' ELSE 'COMMIT' END, gid)
    FROM pg_prepared_xacts WHERE database = current_database() \gexec} . "\n\\! sleep 0.01\n";
my %movers = (
    change_event  => "SELECT change_event();\n\\sleep 20 ms\n",
    change_ranged => "SELECT change_ranged();\n\\sleep 50 ms\n",
    drop_event    => "SELECT drop_event();\n\\sleep 30 ms\n");

# The consumers: the table, its column, a condition, the sessions, and what pgbench is told.
my %consumers = (
    one      => { table => 'event' },
    prepared => { table => 'event',  options  => [ '-M', 'prepared' ] },
    three    => { table => 'event',  sessions => 3, options => [ '-M', 'prepared' ] },
    filter   => { table => 'event',  options  => [ '-M', 'prepared' ], where => 'n = 7' },
    twice    => { table => 'event',  options  => [ '-M', 'prepared' ], batches => 2 },
    deferred => { table => 'event',  options  => [ '-M', 'prepared' ] },
    ranged   => { table => 'ranged', options  => [ '-M', 'prepared' ] },
    together => { table => 'ranged', sessions => 3, options => [ '-M', 'prepared' ] },
    changed  => { table => 'doc',    key      => 'changed', options => [ '-M', 'prepared' ] });
my @names = sort keys %consumers;

sub script_of
{
    my ($name, $max_rows) = @_;
    my %of = (key => 'id', where => 'true', batches => 1, %{ $consumers{$name} });
    my ($from, $to) = map { $of{options} ? $_ : "'$_'" } ':batch_start', ':batch_end';
    my $finish = "SELECT ulid_finish_batch('$name');\n";
    if ($name eq 'deferred')
    {
        $finish = "INSERT INTO batch VALUES ('$name', ulid_defer_batch('$name'))\n"
          . "    ON CONFLICT (consumer) DO UPDATE SET batch = excluded.batch;\nCOMMIT;\n"
          . "SELECT ulid_finish_batch('$name', batch) FROM batch WHERE consumer = '$name';\n";
    }
    my $batch = "CALL ulid_next_batch('$name', $max_rows) \\gset\n"
      . "SELECT see('$name', array_agg($of{key}::uuid ORDER BY $of{key})) FROM $of{table}\n"
      . "WHERE $of{key} >= $from AND $of{key} < $to AND $of{where};\n"
      . $finish;
    return "CALL ulid_refresh_horizon();\nBEGIN;\n" . $batch x $of{batches}
      . ($name eq 'deferred' ? '' : "COMMIT;\n");
}

# The same queries without a comparison, and a loop without the horizon.
my $without = q{BEGIN;
SELECT last FROM position WHERE consumer = 'NAME' FOR UPDATE \gset
SELECT HORIZON AS horizon \gset
SELECT see('NAME', array_agg(id::uuid ORDER BY id)) FROM event WHERE id > :last AND id < :horizon;
UPDATE position SET last = coalesce((SELECT id FROM seen WHERE consumer = 'NAME'
    ORDER BY n DESC LIMIT 1), last) WHERE consumer = 'NAME';
COMMIT;
};
my %controls = (
    without => $without =~ s/NAME/without/gr =~ s/HORIZON/'ffffffff-ffff-ffff-ffff-ffffffffffff'/r,
    loop    => "CALL ulid_refresh_horizon();\n"
      . ($without =~ s/NAME/loop/gr =~ s/HORIZON/ulid_current_horizon()/r));

sub write_scripts
{
    my %scripts = (
        %movers, %controls, finisher => $finisher x 20,
        (map { $_ => $writers{$_}[1] } keys %writers),
        (map { ("consumer_$_" => script_of($_, 30), "last_$_" => script_of($_, 1000000)) } @names));
    for my $name (keys %scripts)
    {
        append_to_file("$directory/$name", $scripts{$name});
    }
    return;
}

sub pgbench
{
    my ($name, $what, @options) = @_;
    return IPC::Run::start([ 'pgbench', '-n', @options, '-f', "$directory/$name" ],
        '>', "$directory/$what.out", '2>', "$directory/$what.log");
}

# Let all run for some seconds while something is done, and end all transactions.
sub flood
{
    my ($node, %of) =
      (shift, database => 'postgres', seconds => $seconds, meanwhile => sub { }, @_);
    local @ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, $of{database});
    my @time = ('--max-tries=0', '-T', $of{seconds});
    my %running;
    $running{$_} = pgbench($_, $_, @time, '-c', $writers{$_}[0]) for keys %writers;
    $running{$_} = pgbench($_, $_, @time) for keys %movers;
    $running{$_} = pgbench($_, $_, @time, '-M', 'prepared') for keys %controls;
    for my $name (@names)
    {
        # a thread for each, since pgbench prepares a statement without looking at other sessions
        my %one = (sessions => 1, options => [], %{ $consumers{$name} });
        $running{"consumer_$name"} = pgbench("consumer_$name", "consumer_$name", @time,
            '-c', $one{sessions}, '-j', $one{sessions}, @{ $one{options} });
    }
    append_to_file("$directory/goes_on", '');
    my $finishes = IPC::Run::start(
        [ 'sh', '-c', "while [ -e $directory/goes_on ]; do psql -Xqf $directory/finisher; done" ],
        '>', '/dev/null', '2>', '/dev/null');
    $of{meanwhile}->();
    my @failed = grep { !$running{$_}->finish } sort keys %running;
    unlink("$directory/goes_on");
    $finishes->finish;
    if (!$of{fails})
    {
        is("@failed", '', "$of{what}: no client failed")
          or diag(map { "$_: " . slurp_file("$directory/$_.log") } @failed);
    }
    await('the end of recovery', sub { run_log([ 'psql', '-Xqc', 'SELECT' ]) });
    my $left = $node->safe_psql($of{database},
        'SELECT gid FROM pg_prepared_xacts WHERE database = current_database()');
    $node->safe_psql($of{database}, "COMMIT PREPARED '$_'") for split /\n/, $left;
    my $retried = 0;
    /retried: (\d+)/ and $retried += $1
      for map { slurp_file("$directory/consumer_$_.out") } @names;
    note("$of{what}: $retried batches were read again");
    return;
}

# Let each consumer take the rest, and check what it has read. One that was killed between its two
# transactions may read a batch twice.
sub check
{
    my ($node, $what, %of) = (shift, shift, database => 'postgres', @_);
    local @ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, $of{database});
    for my $name (@names, $of{control} ? 'without' : ())
    {
        my $script = $controls{$name} ? $name : "last_$name";
        my @options = $controls{$name} ? ('-M', 'prepared') : @{ $consumers{$name}{options} // [] };
        pgbench($script, "last_$name", '--max-tries=100', '-t', 3, @options)->finish
          or fail("$what: last steps of $name: " . slurp_file("$directory/last_$name.log"));
    }
    my $faults = $node->safe_psql(
        $of{database}, q{
        WITH due (consumer, id) AS (
            SELECT c, id FROM written, unnest(ARRAY['one', 'prepared', 'three', 'twice', 'deferred',
                'without', 'loop']) AS c WHERE of = 'event'
            UNION ALL SELECT 'filter', id FROM written WHERE of = 'event' AND n = 7
            UNION ALL SELECT c, id FROM written, unnest(ARRAY['ranged', 'together']) AS c
            WHERE of = 'ranged'
            UNION ALL SELECT 'changed', changed::uuid FROM doc
        ), lost AS (
            SELECT consumer, count(*) FILTER (WHERE s.id IS NULL) AS lost, count(*) AS rows
            FROM due LEFT JOIN (SELECT DISTINCT consumer, id FROM seen) AS s USING (consumer, id)
            GROUP BY consumer
        ), again AS (
            SELECT consumer, count(*) FILTER (WHERE id <= before) AS again,
                -- a row that was changed is gone
                count(*) FILTER (WHERE consumer <> 'changed' AND id NOT IN (SELECT id FROM written))
                    AS never
            FROM (SELECT consumer, id, lag(id) OVER (PARTITION BY consumer ORDER BY n) AS before
                FROM seen) AS s
            GROUP BY consumer
        )
        SELECT format('%s %s %s %s of %s', consumer, lost, again, never, rows)
        FROM lost LEFT JOIN again USING (consumer) ORDER BY consumer});
    my %faults = map { /(\w+) (.*)/ ? ($1 => $2) : () } split /\n/, $faults;
    for my $name (@names)
    {
        my $again = $of{again} && $name eq 'deferred' ? qr/\d+/ : 0;
        like($faults{$name}, qr/^0 $again 0 of [1-9]/,
            "$what: lost, again or not in order, never committed: $name $faults{$name}");
    }
    if ($of{control})
    {
        my ($lost) = $faults{without} =~ /^(\d+)/;
        cmp_ok($lost, '>', 0, "$what: a loop without the horizon loses rows: $faults{without}");
        note("$what: a loop without the comparison: $faults{loop}");
    }
    return;
}

write_scripts();
for my $extension ('ulid', 'ulid_sql')
{
    my $type = $extension eq 'ulid' ? 'ulid' : 'uuid';
    my $node = new_server(
        $extension,
        extension        => 0,
        allows_streaming => 'logical',
        conf             => [
            'fsync = off', 'max_prepared_transactions = 20', 'max_connections = 60',
            'restart_after_crash = on', 'deadlock_timeout = 100ms',
            # a scan in order pins a buffer in each partition
            'shared_buffers = 32MB'
        ]);
    my $sql = sub { return $node->safe_psql('postgres', @_) };
    $sql->("CREATE EXTENSION $extension;"
          . $tables =~ s/\bTYPE\b/$type/gr =~ s/NONE/$none/gr);
    $sql->('CALL ulid_refresh_horizon()');
    for my $name (@names)
    {
        my %of = (key => 'id', %{ $consumers{$name} });
        $sql->("SELECT ulid_create_consumer('$name', '$of{table}', '$of{key}', '$none')");
    }

    flood($node, what => $extension);
    check($node, $extension, control => 1);

    # a backend is killed, and the server
    flood(
        $node,
        what      => "$extension, killed",
        fails     => 1,
        meanwhile => sub {
            usleep(1_000_000);
            my $pid = $sql->(q{SELECT pid FROM pg_stat_activity
                WHERE backend_type = 'client backend' AND query LIKE '%finish_batch%'
                    AND pid <> pg_backend_pid() LIMIT 1});
            kill(KILL => $pid) if $pid;
        });
    check($node, "$extension, a backend killed", again => 1);
    flood(
        $node,
        what      => "$extension, killed",
        fails     => 1,
        meanwhile => sub {
            usleep(1_000_000);
            $node->stop('immediate');
            $node->start;
        });
    check($node, "$extension, the server killed", again => 1);

    # A dump has the positions; so has one of data alone, which is restored without triggers.
    my $positions = 'SELECT name, owner, relation, relation_name, key, position
        FROM ulid_consumer ORDER BY name';
    my $before = $sql->($positions);
    $node->command_ok([ 'pg_dump', '-Fc', '-f', "$directory/$extension.dump", 'postgres' ], 'dump');
    $sql->('CREATE DATABASE restored TEMPLATE template0');
    $node->command_ok(
        [ 'pg_restore', '--exit-on-error', '-d', 'restored', "$directory/$extension.dump" ],
        'restore');
    is($node->safe_psql('restored', $positions), $before, "$extension: positions are restored");
    flood($node, what => "$extension, restored", database => 'restored');
    check($node, "$extension, restored", database => 'restored', again => 1);
    $sql->('CREATE DATABASE data_only TEMPLATE template0');
    $node->command_ok(
        [ 'pg_restore', '--exit-on-error', '--section=pre-data', '-d', 'data_only',
            "$directory/$extension.dump" ],
        'restore the tables');
    $node->safe_psql('data_only', 'DELETE FROM ulid_horizon');
    $node->command_ok(
        [ 'pg_restore', '--exit-on-error', '--data-only', '--disable-triggers', '-d', 'data_only',
            "$directory/$extension.dump" ],
        'restore the data');
    is($node->safe_psql('data_only', $positions),
        $before, "$extension: positions are restored without triggers");

    # A subscription brings no positions: its consumer of the same name reads all rows that come.
    my $subscriber = new_server("${extension}_subscriber", extension => 0);
    my $there      = sub { return $subscriber->safe_psql('postgres', @_) };
    my $plain      = "CREATE TABLE plain (id $type PRIMARY KEY DEFAULT gen_ordered_ulid());
        CREATE TABLE seen (id uuid)";
    $sql->('CREATE DATABASE published TEMPLATE template0');
    my $here = sub { return $node->safe_psql('published', @_) };
    $_->("CREATE EXTENSION $extension; $plain") for $here, $there;
    # only the subscription says that the ids of the subscriber's table are ordered
    $there->('ALTER TABLE plain ALTER id DROP DEFAULT');
    # from 16 on, the worker has the rights of the owner, and does not see itself in a view
    $there->('CREATE ROLE owner; GRANT USAGE, CREATE ON SCHEMA public TO owner;
        ALTER TABLE ulid_consumer OWNER TO owner');
    $here->('ALTER TABLE seen REPLICA IDENTITY FULL; CREATE PUBLICATION everything FOR ALL TABLES');
    my $create = "SELECT ulid_create_consumer('mail', 'plain', start => '$none')";
    $here->('CALL ulid_refresh_horizon()');
    $here->($create);
    my $insert = 'INSERT INTO plain SELECT FROM generate_series(1, 10)';
    $here->($insert);
    $there->("CREATE SUBSCRIPTION everything CONNECTION '" . $node->connstr . " dbname=published'
        PUBLICATION everything");
    await_copy($subscriber);
    is($there->('SELECT count(*) FROM ulid_consumer'), 0, "$extension: no position comes");
    $there->($create);
    my $step = q{BEGIN;
        CALL ulid_next_batch('mail') \gset
        INSERT INTO seen (id) SELECT id FROM plain
            WHERE id >= :'batch_start' AND id < :'batch_end' ORDER BY id;
        SELECT ulid_finish_batch('mail');
        COMMIT;};
    for (1 .. 3)
    {
        $here->($insert);
        $here->('CALL ulid_refresh_horizon()');
        $here->($step);
        $node->wait_for_catchup('everything');
    }
    $there->($step);
    # what the publisher has seen comes, too
    is($there->('SELECT count(*), count(DISTINCT id) FROM seen'),
        '80|40', "$extension: the subscriber's consumer has read all rows that have come");
    $_->stop('immediate') for $node, $subscriber;
}

done_testing();
