# The horizon, of the extension and of ulid_sql: a consumer that polls a table sees every row once
# and in order, on the primary server, a standby and a subscriber, through a crash, a restart, a
# promotion and a restored dump, and whatever the clock says. A consumer without the horizon loses
# rows in each place. FUZZ_SECONDS (2) says for how long the transactions go on.
use strict;
use warnings FATAL => 'all';
use Time::HiRes qw(time usleep);
use ULID;

my $seconds = $ENV{FUZZ_SECONDS} || 2;
my $brief   = 1 + int($seconds / 20);    # after a restart, a promotion and so on
$PostgreSQL::Test::Utils::timeout_default += 10 * $seconds;
my ($library, $wrong) = wrong_clock(-30);
my $directory = PostgreSQL::Test::Utils::tempdir();

# The type of ids that each extension has.
my %type_of = (ulid => 'ulid', ulid_sql => 'uuid');

#
# What writers do
#

my $begin  = "\\set ms random(0, 10)\nBEGIN;\n";
my $sleep  = "\\sleep :ms ms\n";
my $insert = "INSERT INTO event (kind) VALUES ('one');\n";
my %writers = (
    commit    => "$begin$insert$sleep$insert${sleep}COMMIT;\n",
    rollback  => "$begin$insert${sleep}ROLLBACK;\n",
    statement => "INSERT INTO event (kind) SELECT 'many' FROM generate_series(1, 20);\n",
    copy      => "${begin}COPY event (kind) FROM '$directory/rows';\n${sleep}COMMIT;\n",
    chain     => "$begin${insert}COMMIT AND CHAIN;\n$insert${sleep}ROLLBACK AND CHAIN;\n"
      . "$insert${sleep}COMMIT AND CHAIN;\n${insert}COMMIT;\n",

    # the id is generated in a savepoint, or by a cursor, that is gone when the row is inserted
    savepoint => "${begin}SAVEPOINT a;\nSELECT gen_ordered_ulid() AS id \\gset\n"
      . "ROLLBACK TO a;\n"
      . "${sleep}INSERT INTO event (id, kind) VALUES (':id', 'savepoint');\nCOMMIT;\n",
    fetched => "${begin}SAVEPOINT a;\n"
      . "DECLARE c CURSOR FOR SELECT gen_ordered_ulid() AS id FROM generate_series(1, 2);\n"
      . "FETCH c \\gset\nCLOSE c;\nROLLBACK TO a;\n"
      . "${sleep}INSERT INTO event (id, kind) VALUES (':id', 'fetched');\nCOMMIT;\n",
    early => "${begin}SELECT gen_ordered_ulid() AS id, gen_ordered_uuid_v7() AS uuid \\gset\n"
      . "${sleep}INSERT INTO event VALUES (':id', ':uuid', 'early');\nCOMMIT;\n",
    merge => "${begin}MERGE INTO event USING (VALUES ('merged')) AS v (kind) ON false\n"
      . "WHEN NOT MATCHED THEN INSERT (kind) VALUES (v.kind);\n${sleep}COMMIT;\n",
    # an xid that is old when the first id is generated
    late => "${begin}SELECT pg_current_xact_id();\n$sleep$insert${sleep}COMMIT;\n",
    repeatable => "\\set ms random(0, 10)\nBEGIN ISOLATION LEVEL REPEATABLE READ;\n"
      . "SELECT;\n$sleep$insert${sleep}COMMIT;\n",
    exception => "CALL nested();\n",
    deferred  => "${begin}INSERT INTO event (kind) VALUES ('deferred');\n${sleep}COMMIT;\n",
    prepared  => "\\set name random(1, 1000000000000)\n$begin$insert$sleep"
      . "PREPARE TRANSACTION ':name';\n\\sleep 20 ms\n");

# What ends prepared transactions, sessions that are killed, and transactions that cannot be
# prepared, again and again.
my %loops = (
    finisher => q{
        SELECT format('%s PREPARED %L',
            CASE WHEN random() < 0.2 THEN 'ROLLBACK' ELSE 'COMMIT' END, gid)
        FROM pg_prepared_xacts WHERE database = current_database() \gexec}
      . "\n\\! sleep 0.01\n",
    victim => "BEGIN;\n${insert}SELECT pg_sleep(random() * 0.05);\nCOMMIT;\n",
    killer => "SELECT pg_terminate_backend(pid) FROM pg_stat_activity\n"
      . "WHERE application_name = 'victim' AND random() < 0.5;\n\\! sleep 0.05\n",
    failing => "BEGIN;\n${insert}PREPARE TRANSACTION 'taken';\n\\! sleep 0.01\n");

#
# What consumers do
#

sub rows
{
    my %of = (
        key     => 'id',
        table   => 'event',
        last    => "':last'",
        horizon => '(SELECT ulid_current_horizon())',
        @_);
    return "SELECT $of{key} AS id FROM $of{table} "
      . "WHERE $of{key} > $of{last} AND $of{key} < $of{horizon}";
}
my @by_scan = (
    before => 'BEGIN; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; '
      . 'SET LOCAL enable_bitmapscan = off;',
    after => 'COMMIT;');
my $all = "'ffffffff-ffff-ffff-ffff-ffffffffffff'";

sub in_one_snapshot
{
    my ($level) = @_;
    return {
        before => "BEGIN ISOLATION LEVEL $level;\nSELECT;\n\\sleep 10 ms",
        rows   => rows(),
        after  => 'COMMIT;'
    };
}
my %consumers = (
    without            => { rows => rows(horizon => $all) },
    index              => { rows => rows() },
    generic            => { rows => rows(last => ':last'), options => [ '-M', 'prepared' ] },
    position           => { rows => rows(horizon => "(SELECT ulid_current_horizon(':last'))") },
    scan               => { rows => rows(), @by_scan },
    called             => { rows => rows(horizon => 'ulid_current_horizon()'), @by_scan },
    partitions         => { rows => rows(table => 'parted') },
    scanned_partitions => { rows => rows(table => 'parted'), @by_scan },
    uuid               => { rows => rows(key => 'uuid', last => "':last'::TYPE") },
    repeatable         => in_one_snapshot('REPEATABLE READ'),
    serializable       => in_one_snapshot('SERIALIZABLE'),
    locked             => { rows => rows() . ' ORDER BY id FOR UPDATE SKIP LOCKED' },
    cursor             => { rows => "SELECT id FROM fetched(':last') AS id" },
    stable             => { rows => "SELECT id FROM new_stable(':last') AS id" },
    volatile           => { rows => "SELECT id FROM new_volatile(':last') AS id" },
    two                => {
        before => 'SELECT ulid_current_horizon() AS horizon \gset',
        rows   => rows(horizon => "':horizon'")
    },
    execute => {
        before => 'PREPARE step (TYPE) AS',
        rows   => rows(last => '$1'),
        after  => "EXECUTE step (':last'); DEALLOCATE step;"
    });

my $refresh = "CALL ulid_refresh_horizon();\n";

# The refresh comes before the step, in a transaction of its own.
sub step_of
{
    my ($name, %of) = (shift, before => '', after => '', @_);
    return
        "SELECT id AS last FROM seen WHERE consumer = '$name' ORDER BY n DESC LIMIT 1 \\gset\n"
      . "$refresh$of{before}\n"
      . "SELECT see('$name', array_agg(id ORDER BY id)) FROM ($of{rows}) AS s;\n$of{after}\n";
}

my $again   = "\\sleep 10 ms\n";

# The clients on the primary server, and the files of all.
append_to_file("$directory/rows", "copied\n" x 10);
my %scripts = (
    %writers,
    connection => $insert,
    refresher  => "$refresh\\sleep 3 ms\n",

    # refreshes in transactions that go on, and that have generated ids
    refreshing => "${begin}SELECT ulid_refresh();\n$sleep${insert}COMMIT;\n\\sleep 50 ms\n",
    refreshed  => "$begin${insert}SAVEPOINT a;\nSELECT ulid_refresh();\nROLLBACK TO a;\n"
      . "${sleep}SELECT ulid_refresh();\nCOMMIT;\n\\sleep 50 ms\n");
my @files   = map { ('-f', "$directory/$_") } grep { $_ ne 'prepared' } sort keys %writers;
my %clients = (
    writers    => [ '-c', 8,    @files ],
    connection => [ '-C', '-f', "$directory/connection" ],
    map { $_ => [ '-f', "$directory/$_" ] } qw(prepared refresher refreshing refreshed));
append_to_file("$directory/$_", $scripts{$_}) for keys %scripts;
append_to_file("$directory/$_", $loops{$_} x 20) for keys %loops;

sub write_consumers
{
    my ($type) = @_;
    for my $name (keys %consumers)
    {
        my $step = step_of($name, %{ $consumers{$name} }) =~ s/\bTYPE\b/$type/gr;
        unlink("$directory/consumer_$name");
        append_to_file("$directory/consumer_$name", $step . $again);
    }
    return;
}

# Let clients run on a server while something is done, and end all transactions.
sub flood
{
    my ($node, %of) = (shift, database => 'postgres', seconds => $seconds, meanwhile => sub { },
        consumers => [ sort keys %consumers ], writers => [ sort keys %clients ], @_);
    local @ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, $of{database});
    my %of_client = map { $_ => $clients{$_} } @{ $of{writers} };
    $of_client{"consumer_$_"} =
      [ @{ $consumers{$_}{options} // [] }, '-f', "$directory/consumer_$_" ]
      for @{ $of{consumers} };
    my $end = time + $of{seconds};
    my %running;
    for my $name (sort keys %of_client)
    {
        my @time    = $of{steps} ? ('-t', $of{steps}) : ('-T', $of{seconds});
        my @command = ('pgbench', '-n', @time, @{ $of_client{$name} });
        $running{$name} =
          IPC::Run::start(\@command, '>', '/dev/null', '2>', "$directory/$name.log");
    }
    append_to_file("$directory/goes_on", '');
    my @loops = map {
        my $psql = "PGAPPNAME=$_ psql -Xqf $directory/$_";
        IPC::Run::start([ 'sh', '-c', "while [ -e $directory/goes_on ]; do $psql; done" ],
            '>', '/dev/null', '2>', '/dev/null')
    } @{ $of{writers} } ? sort keys %loops : 'finisher';
    $of{meanwhile}->($end);
    my @failed = grep { !$running{$_}->finish } sort keys %running;
    unlink("$directory/goes_on");
    $_->finish for @loops;
    if (!$of{fails})
    {
        is("@failed", '', "$of{what}: no client failed")
          or diag(map { slurp_file("$directory/$_.log") } @failed);
    }
    await('the end of recovery', sub { run_log([ 'psql', '-Xqc', 'SELECT' ]) });
    my $left = $node->safe_psql($of{database},
        'SELECT gid FROM pg_prepared_xacts WHERE database = current_database()');
    $node->safe_psql($of{database}, "COMMIT PREPARED '$_'") for split /\n/, $left;
    return;
}

# Let each consumer take its last steps, and check what it has read.
sub check
{
    my ($node, $what, %of) =
      (shift, shift, database => 'postgres', consumers => [ sort keys %consumers ], @_);
    flood(
        $node, %of,
        what      => "$what, at last",
        steps     => 2,
        consumers => [ grep { $consumers{$_} } @{ $of{consumers} } ],
        writers   => []);
    my $lost = $node->safe_psql(
        $of{database}, q{
        SELECT consumer, (SELECT count(*) FROM event) + 1 - count(DISTINCT id),
            count(*) FILTER (WHERE id <= before)
        FROM (SELECT consumer, id, lag(id) OVER (PARTITION BY consumer ORDER BY n) AS before
              FROM seen) AS s
        GROUP BY consumer});
    my %lost;
    $lost{$1} = $2 while $lost =~ /^(\w+)\|(.*)$/mg;
    note("$what: " . $node->safe_psql($of{database}, 'SELECT count(*) FROM event') . ' rows');
    my ($missed) = split /\|/, delete($lost{without}) // '0';
    cmp_ok($missed, '>', 0, "$what: a consumer without the horizon loses rows: $missed")
      if grep { $_ eq 'without' } @{ $of{consumers} };
    is($lost{$_}, '0|0', "$what: no row is lost, none comes twice, and all come in order: $_")
      for grep { $_ ne 'without' } sort @{ $of{consumers} };
    return;
}

# When ulid_sql refreshes what.
sub refreshes
{
    my ($node) = @_;
    my $sql     = sub { return $node->safe_psql('postgres', @_) };
    my $written = sub {
        return $sql->('SELECT ulid_horizon.xmin, last_value, pg_snapshot_xmax(pg_current_snapshot())
            FROM ulid_horizon, ulid_clock');
    };
    my $below = sub {
        return $sql->(
            "$refresh;
            SELECT string_agg(kind, ' ' ORDER BY id) FROM event WHERE id < ulid_current_horizon()"
        );
    };
    my ($one, $two) = map { $node->background_psql('postgres') } 1 .. 2;
    my $insert = sub { return "INSERT INTO event (kind) VALUES ('$_[0]')" };
    $sql->($insert->('first'));
    is($below->(), 'first', 'what has been committed is below the horizon');
    my $before = $written->();
    $sql->($refresh x 10);
    is($written->(), $before, 'if no transaction has ended since, nothing is written, nor an xid');

    # it does not change the xmax of snapshots when it ends
    $one->query('BEGIN; SELECT pg_current_xact_id()');
    $sql->($insert->('older') . "; $refresh; DELETE FROM event WHERE kind = 'older'; $refresh");
    $one->query($insert->('first'));
    $one->query("DELETE FROM event WHERE kind = 'first' AND id < ulid_current_horizon(); COMMIT");
    is($below->(), 'first', 'one whose xid is older than the refresh is noticed');

    $one->query('BEGIN; ' . $insert->('one'));
    $sql->($insert->('second'));
    is($below->(), 'first', 'an open transaction holds the horizon');
    $before = $written->();
    is($below->() . $written->(), "first$before", 'while it does, nothing is written');
    $sql->("UPDATE ulid_horizon SET refreshed_at = refreshed_at - interval '2 minutes'");
    is($sql->('SELECT ulid_refresh()'), 't', 'but once a minute');

    # one that is newer does not matter for what is older
    $two->query('BEGIN; ' . $insert->('two'));
    $one->query('COMMIT');
    $sql->($insert->('third'));
    is($below->(), 'first one second', 'what older ones have held is below it beside newer ones');
    $two->query("PREPARE TRANSACTION 'two'");
    $_->quit for $one, $two;
    is($below->(), 'first one second', 'a prepared transaction holds the horizon');
    is($sql->('SELECT prepared FROM ulid_horizon_holders'), 'two', 'the view names it');
    $node->restart;
    is($below->(), 'first one second', 'after a restart, too');
    is($sql->('SELECT prepared FROM ulid_horizon_holders'), 'two', 'the view still names it');

    # the row of another server, restored
    $sql->(q{UPDATE ulid_horizon SET next_xid = 1000000000000, server_started_at = 'epoch'});
    $sql->($refresh);
    is($sql->('SELECT next_xid < 1000000000000 FROM ulid_horizon'),
        't', 'xids of another server do not count');
    $sql->("COMMIT PREPARED 'two'");
    is($below->(), 'first one second two third', 'then it holds nothing');

    # a sequence of the same OID, in a copy of the database, whose holder is older
    $sql->('CREATE DATABASE copy TEMPLATE postgres');
    ($one, $two) = map { $node->background_psql($_) } qw(postgres copy);
    $two->query('BEGIN; ' . $insert->('elsewhere'));
    $one->query('BEGIN; ' . $insert->('fourth'));
    $sql->($refresh);
    $one->query('COMMIT');
    is($below->(), 'first one second two third fourth', 'another database holds nothing');
    $_->quit for $one, $two;
    $node->safe_psql('postgres', 'DROP DATABASE copy');
    $sql->('DELETE FROM event; DELETE FROM parted');
    return;
}

for my $extension (sort keys %type_of)
{
    my $type = $type_of{$extension};
    my $with = $extension eq 'ulid' ? '' : "CREATE EXTENSION $extension;";
    write_consumers($type);
    my @conf = (
        'max_prepared_transactions = 500', 'restart_after_crash = on',
        'max_connections = 100',           'shared_buffers = 256MB',
        'wal_keep_size = 4GB',             'max_locks_per_transaction = 1000',
        'wal_level = logical',             'hot_standby_feedback = on',
        'max_wal_size = 8GB',              'checkpoint_timeout = 1h',
        'autovacuum = off');
    my $start = sub {
        local $ENV{LD_PRELOAD} = $library if $library;
        $_[0]->start;
    };
    my $node = do
    {
        local $ENV{LD_PRELOAD} = $library if $library;
        new_server(
            "${extension}_primary",
            extension        => $extension eq 'ulid',
            allows_streaming => 'logical',
            conf             => \@conf);
    };
    my $sql = sub { return $node->safe_psql('postgres', @_) };

    my $tables = qq{
        $with
        CREATE TABLE event (
            id $type PRIMARY KEY DEFAULT gen_ordered_ulid(),
            uuid uuid UNIQUE DEFAULT gen_ordered_uuid_v7(),
            kind text NOT NULL);
        CREATE TABLE seen (consumer text, n bigint GENERATED ALWAYS AS IDENTITY, id $type,
            PRIMARY KEY (consumer, n));
        INSERT INTO seen (consumer, id)
            SELECT unnest('{standby,repeatable_standby,@{[ join ',', sort keys %consumers ]}}'
                ::text[]), '00000000-0000-0000-0000-000000000000';
        CREATE FUNCTION see(text, $type\[]) RETURNS void LANGUAGE sql AS
            'INSERT INTO seen (consumer, id) SELECT \$1, id FROM unnest(\$2)
                WITH ORDINALITY AS i (id, place) ORDER BY place';
    };

    # The ids are also in a table with a partition for each 100 ms, from now and from an hour ahead.
    my $partitions = 30 + 4 * $seconds;
    $sql->(
        $tables . qq{
        CREATE TABLE parted (id $type PRIMARY KEY) PARTITION BY RANGE (id);
        SELECT format('CREATE TABLE parted_%s PARTITION OF parted FOR VALUES FROM (%s) TO (%s)',
            row_number() OVER bounds,
            coalesce(quote_literal(lag(bound) OVER bounds), 'MINVALUE'),
            coalesce(quote_literal(bound), 'MAXVALUE'))
        FROM (SELECT ulid_lower_bound(now() + hour * interval '1 hour' + n * interval '100 ms')
                AS bound
              FROM generate_series(0, 1) AS hour, generate_series(0, $partitions) AS n
              UNION ALL SELECT NULL) AS s
        WINDOW bounds AS (ORDER BY bound) \\gexec
        CREATE FUNCTION inserted() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN INSERT INTO parted SELECT id FROM new; RETURN NULL; END';
        CREATE TRIGGER inserted AFTER INSERT ON event REFERENCING NEW TABLE AS new
            EXECUTE FUNCTION inserted();
        CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS
            \$\$ BEGIN INSERT INTO event (kind) VALUES ('at commit'); RETURN NULL; END \$\$;
        CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON event
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
            WHEN (NEW.kind = 'deferred') EXECUTE FUNCTION at_commit();
        CREATE PROCEDURE nested() LANGUAGE plpgsql AS \$\$
        DECLARE
            last $type;
        BEGIN
            FOR n IN 1 .. 10 LOOP
                BEGIN
                    last := gen_ordered_ulid();
                    PERFORM 1 / (n % 2);
                EXCEPTION WHEN division_by_zero THEN
                    INSERT INTO event (id, kind) VALUES (last, 'nested');
                END;
            END LOOP;
        END \$\$;
        CREATE FUNCTION fetched(last $type) RETURNS SETOF $type LANGUAGE plpgsql AS \$\$
        DECLARE
            new CURSOR FOR SELECT id FROM parted WHERE id > last
                AND id < (SELECT ulid_current_horizon()) ORDER BY id;
        BEGIN
            FOR event IN new LOOP
                RETURN NEXT event.id;
            END LOOP;
        END \$\$;
        CREATE FUNCTION new_stable(last $type) RETURNS SETOF $type STABLE LANGUAGE plpgsql AS \$\$
        DECLARE horizon CONSTANT $type := ulid_current_horizon();
        BEGIN RETURN QUERY SELECT id FROM event WHERE id > last AND id < horizon; END \$\$;
        CREATE FUNCTION new_volatile(last $type) RETURNS SETOF $type LANGUAGE plpgsql AS \$\$
        DECLARE horizon CONSTANT $type := ulid_current_horizon();
        BEGIN RETURN QUERY SELECT id FROM event WHERE id > last AND id < horizon; END \$\$;
        CALL ulid_refresh_horizon();
        CREATE PUBLICATION polled FOR TABLE event, ulid_horizon});

    refreshes($node) if $extension eq 'ulid_sql';

    # A subscriber has the rows and the row of the horizon by one subscription.
    my $subscriber = new_server(
        "${extension}_subscriber",
        extension        => $extension eq 'ulid',
        allows_streaming => 'logical',
        conf             => \@conf);
    my @there = qw(without index scan position repeatable serializable);
    $subscriber->safe_psql('postgres',
        $tables . "CREATE SUBSCRIPTION polled CONNECTION '" . $node->connstr . " dbname=postgres'
            PUBLICATION polled");
    $subscriber->wait_for_subscription_sync($node, 'polled');
    is($subscriber->safe_psql('postgres', 'SELECT ulid_refresh()'),
        'f', "$extension: a subscriber of the horizon leaves it to the publisher");

    $node->backup('copy');
    my $standby = PostgreSQL::Test::Cluster->new("${extension}_standby");
    $standby->init_from_backup($node, 'copy', has_streaming => 1);
    $start->($standby);
    is($standby->safe_psql('postgres', 'CALL ulid_refresh_horizon(); SELECT ulid_refresh()'),
        'f', "$extension: a standby leaves it to the primary server");

    # What is read on the standby, in READ COMMITTED and REPEATABLE READ.
    my $none = '00000000-0000-0000-0000-000000000000';
    my (%read, %session);
    for my $name (qw(standby repeatable_standby))
    {
        $read{$name}    = [$none];
        $session{$name} = $standby->background_psql('postgres', on_error_stop => 0);
    }
    my $read    = sub {
        for my $name (sort keys %read)
        {
            my $repeatable = $name ne 'standby';
            $session{$name}->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT') if $repeatable;
            usleep(5_000);
            my ($place, $new) = ($read{$name}[-1]);
            $new = $session{$name}->query(
                "SELECT id FROM event WHERE id > '$place'
                    AND id < (SELECT ulid_current_horizon('$place')) ORDER BY id");
            push @{ $read{$name} }, split /\n/, $new;
            $session{$name}->query('COMMIT') if $repeatable;
        }
    };

    # Consumers of the subscriber, as long as the flood goes on.
    my $elsewhere = sub {
        my ($run, %of) = @_;
        flood($subscriber, what => "$extension, on the subscriber", consumers => \@there,
            writers => [], meanwhile => $run, %of);
    };
    my $jumps = sub {
        my ($end) = @_;
        my $part  = ($end - time) / 3;
        my $poll  = sub {
            do { $read->() } while time < $_[0];
        };
        $poll->($end - 2 * $part);
        append_to_file($wrong, '') if $wrong;
        $poll->($end - $part);
        unlink($wrong) if $wrong;
        my $ahead = "ulid_upper_bound(now() + interval '1 hour')";
        $sql->("SELECT ulid_advance_ordered_time($ahead)");
        $poll->($end);
    };
    flood(
        $node,
        what      => $extension,
        meanwhile => sub { my ($end) = @_; $elsewhere->(sub { $jumps->($end) }) });
    $sql->($refresh);
    check($node, $extension);
    $node->wait_for_catchup('polled');
    check($subscriber, "$extension, on the subscriber", consumers => \@there);
    $node->wait_for_catchup($standby);
    $read->();
    for my $name (sort keys %read)
    {
        my (undef, @ids) = @{ $read{$name} };
        $sql->("COPY seen (consumer, id) FROM STDIN;\n"
              . join('', map { "$name\t$_\n" } @ids) . "\\.\n");
    }
    check($node, "$extension, on the standby", consumers => [ sort keys %read ]);
    $_->quit for values %session;

    # From here on, some consumers are enough: restarts make no difference between kinds of queries.
    my @some = qw(without index position partitions repeatable);

    # A backend is killed, while ids are an hour ahead and then the time of the server is set back.
    flood(
        $node,
        fails     => 1,
        seconds   => $brief,
        consumers => \@some,
        meanwhile => sub {
            usleep(500_000);
            append_to_file($wrong, '') if $wrong;
            await(
                'a client to kill',
                sub {
                    my $pid = $sql->("SELECT pid FROM pg_stat_activity
                        WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1");
                    return $pid && kill(KILL => $pid);
                });
        });
    flood($node, what => "$extension, after a crash", seconds => $brief, consumers => \@some);
    $sql->($refresh);
    check($node, "$extension, after a crash", consumers => \@some);

    $node->stop('fast');
    $start->($node);
    flood($node, what => "$extension, after a restart", seconds => $brief, consumers => \@some);
    $sql->($refresh);
    check($node, "$extension, after a restart", consumers => \@some);

    # A dump is restored, of a database whose ids are ahead.
    $node->command_ok([ 'pg_dump', '-Fc', '-f', "$directory/$extension.dump", 'postgres' ], 'dump');
    $subscriber->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
    $subscriber->command_ok(
        [
            'pg_restore', '--exit-on-error', '--no-publications', '-d',
            'restored',   "$directory/$extension.dump"
        ],
        'restore');
    my @restored = (database => 'restored', consumers => \@some);
    flood($subscriber, @restored, what => "$extension, restored", seconds => $brief);
    $subscriber->safe_psql('restored', $refresh);
    check($subscriber, "$extension, restored", @restored);

    # The standby is promoted. What an aborted transaction wrote last is flushed by a commit.
    $sql->(q{SELECT pg_logical_emit_message(true, '', '')});
    $node->wait_for_catchup($standby);
    $node->stop('immediate');
    $standby->promote;
    flood($standby, what => "$extension, promoted", seconds => $brief, consumers => \@some);
    $standby->safe_psql('postgres', $refresh);
    check($standby, "$extension, promoted", consumers => \@some);
    unlink($wrong) if $wrong;
    $_->stop('immediate') for $standby, $subscriber;
}

done_testing();
