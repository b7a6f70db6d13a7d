# ulid_ordered_horizon: a consumer that polls a table sees every row once and in order, whatever the
# transactions do that insert rows, the reader, and the clock. FUZZ_SECONDS (5) says for how long
# they do it.
use strict;
use warnings FATAL => 'all';
use Time::HiRes qw(time usleep);
use ULID;

my $seconds = $ENV{FUZZ_SECONDS} || 5;
$PostgreSQL::Test::Utils::timeout_default += 10 * $seconds;
my ($library, $wrong) = wrong_clock(-30);
my $node = do
{
    local $ENV{LD_PRELOAD} = $library if $library;
    new_server(
        'polled',
        allows_streaming => 1,
        conf             => [
            'max_prepared_transactions = 500',
            'restart_after_crash = on',
            'max_connections = 100',
            'shared_buffers = 256MB',
            'wal_keep_size = 4GB',
            'max_locks_per_transaction = 1000'
        ]);
};
my $sql       = sub { return $node->safe_psql('postgres', @_) };
my $session   = sub { return $_[0]->background_psql('postgres', on_error_stop => 0) };
my $directory = PostgreSQL::Test::Utils::tempdir();
local @ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, 'postgres');

#
# Many writers
#

# The ids are also in a table with a partition for each 100 ms, from now and from an hour ahead.
my $partitions = 30 + 4 * $seconds;
$sql->(
    qq{
    CREATE TABLE event (
        id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(),
        uuid uuid UNIQUE DEFAULT gen_ordered_uuid_v7(),
        kind text NOT NULL,
        xid xid8 DEFAULT pg_current_xact_id(),
        made timestamptz DEFAULT clock_timestamp());
    CREATE TABLE parted (id ulid PRIMARY KEY) PARTITION BY RANGE (id);
    SELECT format('CREATE TABLE parted_%s PARTITION OF parted FOR VALUES FROM (%s) TO (%s)',
        row_number() OVER bounds,
        coalesce(quote_literal(lag(bound) OVER bounds), 'MINVALUE'),
        coalesce(quote_literal(bound), 'MAXVALUE'))
    FROM (SELECT ulid_lower_bound(now() + hour * interval '1 hour' + n * interval '100 ms') AS bound
          FROM generate_series(0, 1) AS hour, generate_series(0, $partitions) AS n
          UNION ALL SELECT NULL) AS s
    WINDOW bounds AS (ORDER BY bound) \\gexec
    CREATE FUNCTION inserted() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN INSERT INTO parted SELECT id FROM new; RETURN NULL; END';
    CREATE TRIGGER inserted AFTER INSERT ON event REFERENCING NEW TABLE AS new
        EXECUTE FUNCTION inserted()}
      . q{;
    CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO event (kind) VALUES ('at commit'); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON event
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
        WHEN (NEW.kind = 'deferred') EXECUTE FUNCTION at_commit();
    CREATE PROCEDURE commits() LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO event (kind) VALUES ('first');
        COMMIT;
        FOR n IN 1 .. 70 LOOP
            BEGIN
                INSERT INTO event (kind) VALUES ('nested');
            EXCEPTION WHEN data_exception THEN NULL;
            END;
        END LOOP;
    END $$;
    CREATE TABLE reset (began timestamptz, times bigint, ended timestamptz)});
append_to_file("$directory/rows", "copied\n" x 10);
my $begin   = "\\set ms random(0, 10)\nBEGIN;\n";
my $sleep   = "\\sleep :ms ms\n";
my $pause   = "\\sleep 20 ms\n";
my $insert  = "INSERT INTO event (kind) VALUES ('one');\n";
my %scripts = (
    commit    => "$begin$insert$sleep$insert${sleep}COMMIT;\n",
    rollback  => "$begin$insert${sleep}ROLLBACK;\n",
    savepoint => "$begin${insert}SAVEPOINT a;\n$insert${sleep}ROLLBACK TO a;\n"
      . "SAVEPOINT b;\n${insert}RELEASE b;\n${insert}COMMIT;\n",
    early => "${begin}SELECT gen_ordered_ulid() AS id, gen_ordered_uuid_v7() AS uuid \\gset\n"
      . "${sleep}INSERT INTO event VALUES (':id', ':uuid', 'early');\nCOMMIT;\n",
    copy      => "${begin}COPY event (kind) FROM '$directory/rows';\n${sleep}COMMIT;\n",
    statement => "INSERT INTO event (kind) SELECT 'many' FROM generate_series(1, 20);\n",
    chain     => "$begin${insert}COMMIT AND CHAIN;\n$insert${sleep}ROLLBACK AND CHAIN;\n"
      . "$insert${sleep}COMMIT AND CHAIN;\n${insert}COMMIT;\n",
    deferred => "${begin}INSERT INTO event (kind) VALUES ('deferred');\n${sleep}COMMIT;\n",
    notify   => "${begin}INSERT INTO event (kind) VALUES ('notify')\n"
      . "RETURNING pg_notify('event', id::text);\n${sleep}COMMIT;\n",
    procedure  => "CALL commits();\n",
    connection => $insert,
    prepared   => "\\set name random(1, 1000000000000)\n"
      . "$begin$insert${sleep}PREPARE TRANSACTION ':name';\nBEGIN;\n${insert}COMMIT;\n$pause",
    asker => "INSERT INTO asked\n"
      . "SELECT clock_timestamp(), ulid_ordered_horizon(), pg_current_snapshot();\n\\sleep 10 ms\n",

    # the order goes an hour ahead, and back to the clock
    reset => "SELECT ulid_advance_ordered_time(ulid_upper_bound(now() + interval '1 hour'));\n"
      . "${pause}INSERT INTO reset SELECT clock_timestamp(),\n"
      . "(SELECT count(*) FROM ulid_reset_ordered_time()), clock_timestamp();\n$pause");

# sessions that are killed, transactions that cannot be prepared, and one that ends those that are,
# again and again
my %loops = (
    victim => "BEGIN;\n${insert}SELECT pg_sleep(random() * 0.05);\nCOMMIT;\n",
    killer => "SELECT pg_terminate_backend(pid) FROM pg_stat_activity\n"
      . "WHERE application_name = 'victim' AND random() < 0.5;\n\\! sleep 0.05\n",
    failing  => "BEGIN;\n${insert}PREPARE TRANSACTION 'taken';\n\\! sleep 0.01\n",
    finisher => q{
        SELECT format('%s PREPARED %L',
            CASE WHEN random() < 0.2 THEN 'ROLLBACK' ELSE 'COMMIT' END, gid)
        FROM pg_prepared_xacts
        WHERE gid <> 'taken' AND database = current_database() \gexec} . "\n\\! sleep 0.01\n");
append_to_file("$directory/$_", $loops{$_} x 20) for keys %loops;
my @files = map { ('-f', "$directory/$_") }
  qw(commit rollback savepoint early copy statement chain deferred notify procedure);
my %clients = (
    writers    => [ '-c', 8,    @files ],
    connection => [ '-C', '-f', "$directory/connection" ],
    prepared   => [ '-c', 2,    '-f', "$directory/prepared" ],
    asker      => [ '-c', 2,    '-f', "$directory/asker" ]);

#
# Consumers
#

# One step of a consumer reads the rows that are new, in their order, and remembers the last one.
$sql->(
    q{
    CREATE TABLE seen (consumer text, n bigint GENERATED ALWAYS AS IDENTITY, id ulid,
        PRIMARY KEY (consumer, n));
    CREATE FUNCTION see(text, ulid[]) RETURNS void LANGUAGE sql AS
        'INSERT INTO seen (consumer, id) SELECT $1, id FROM unnest($2)
            WITH ORDINALITY AS i (id, place) ORDER BY place';
    CREATE FUNCTION fetched(last ulid) RETURNS SETOF ulid LANGUAGE plpgsql AS $$
    DECLARE
        new CURSOR FOR SELECT id FROM parted WHERE id > last AND id < ulid_ordered_horizon()
            ORDER BY id;
    BEGIN
        FOR event IN new LOOP
            RETURN NEXT event.id;
            PERFORM count(*) FROM generate_series(1, 1000);
        END LOOP;
    END $$;
    CREATE FUNCTION horizon() RETURNS ulid STABLE SECURITY DEFINER
        LANGUAGE sql AS 'SELECT ulid_ordered_horizon()';
    CREATE TABLE asked (at timestamptz, horizon ulid, snapshot pg_snapshot)});
$sql->(
    "CREATE FUNCTION new_$_(last ulid) RETURNS SETOF ulid LANGUAGE plpgsql $_ AS" . q{ $$
    DECLARE horizon CONSTANT ulid := ulid_ordered_horizon();
    BEGIN RETURN QUERY SELECT id FROM event WHERE id > last AND id < horizon; END $$}
) for qw(immutable stable volatile);

sub rows
{
    my %of = (
        key     => 'id',
        table   => 'event',
        last    => "':last'::ulid",
        horizon => 'ulid_ordered_horizon()',
        @_);
    return "SELECT $of{key} AS id FROM $of{table} "
      . "WHERE $of{key} > $of{last} AND $of{key} < $of{horizon}";
}
my @by_scan = (
    before => 'BEGIN; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; '
      . 'SET LOCAL enable_bitmapscan = off;',
    after => 'COMMIT;');

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
    plain              => { rows => rows(horizon => "'7ZZZZZZZZZZZZZZZZZZZZZZZZZ'") },
    index              => { rows => rows() },
    generic            => { rows => rows(last => ':last::ulid'), options => [ '-M', 'prepared' ] },
    scan               => { rows => rows(),                      @by_scan },
    partitions         => { rows => rows(table   => 'parted') },
    scanned_partitions => { rows => rows(table   => 'parted'), @by_scan },
    position           => { rows => rows(horizon => "ulid_ordered_horizon(':last')") },
    called             => { rows => rows(horizon => 'horizon()'), @by_scan },
    locked             => { rows => rows() . ' ORDER BY id FOR UPDATE SKIP LOCKED' },
    uuid               => { rows => rows(key => 'uuid') },
    cast               => {
        rows => rows(
            key     => 'uuid',
            last    => "':last'::ulid::uuid",
            horizon => 'ulid_ordered_horizon()::uuid')
    },
    cursor => { rows => "SELECT id FROM fetched(':last') AS id" },
    two    => {
        before => 'SELECT ulid_ordered_horizon() AS horizon \gset',
        rows   => rows(horizon => "':horizon'")
    },
    execute => {
        before => 'PREPARE step (ulid, ulid) AS',
        rows   => rows(last => '$1', horizon => '$2'),
        after  => "EXECUTE step (':last', ulid_ordered_horizon()); DEALLOCATE step;"
    },
    repeatable   => in_one_snapshot('REPEATABLE READ'),
    serializable => in_one_snapshot('SERIALIZABLE'),
    immutable    => { rows => "SELECT id FROM new_immutable(':last') AS id" },
    stable       => { rows => "SELECT id FROM new_stable(':last') AS id" },
    volatile     => { rows => "SELECT id FROM new_volatile(':last') AS id" });

sub step_of
{
    my ($name, %of) = (shift, before => '', after => '', @_);
    return
        "SELECT id AS last FROM seen WHERE consumer = '$name' ORDER BY n DESC LIMIT 1 \\gset\n"
      . "$of{before}\n"
      . "SELECT see('$name', array_agg(id ORDER BY id)) FROM ($of{rows}) AS s;\n$of{after}\n";
}
for my $name (keys %consumers)
{
    $scripts{$name} = step_of($name, %{ $consumers{$name} }) . "\\sleep 10 ms\n";
    $clients{$name} = [ @{ $consumers{$name}{options} // [] }, '-f', "$directory/$name" ];
}
append_to_file("$directory/$_", $scripts{$_}) for keys %scripts;
$sql->("INSERT INTO seen (consumer, id) VALUES ('$_', '00000000000000000000000000')")
  for keys %consumers, 'listener';

# Two other databases have the same tables, and some of the clients: NAME\@DATABASE.
for my $database (qw(b c))
{
    $sql->("CREATE DATABASE $database TEMPLATE postgres");
    $clients{"$_\@$database"}      = $clients{$_} for qw(prepared index repeatable uuid);
    $clients{"writers\@$database"} = [ '-c', 3, @files ];
    $loops{"finisher\@$database"}  = $loops{finisher};
}

# A transaction that is older than all ordered ids, and runs through it all. One in a database of
# its own has generated an ordered id.
my $oldest = $session->($node);
$oldest->query('BEGIN; SELECT pg_current_xact_id()');
# Modulo 16, its OID is not that of this database.
$sql->(
    "SELECT 'CREATE DATABASE idle TEMPLATE b OID = ' || 100001 + oid::bigint % 16
    FROM pg_database WHERE datname = 'postgres' \\gexec"
);
my $idle = $node->background_psql('idle');
$clients{pooled} = [ '-h', start_pooler($node), '-c', 4, @files ] if has_program('pgbouncer');

# One that is told of an id polls until its row comes.
my $listener = $session->($node);
$listener->query('LISTEN event');
my $step   = step_of('listener', rows => rows(last => ":'last'"));
my $listen = sub {
    my $told = (sort $listener->query('SELECT pg_sleep(0.01)') =~ /payload "(\w{26})"/g)[-1]
      or return;
    await('the row of a notification',
        sub { $listener->query($step . "SELECT 'came' WHERE :'last' >= '$told'") =~ /^came$/m });
};

# A standby has the rows below a horizon of the primary once it has replayed what was written until
# then.
$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);

# a restartpoint's state file may be read half written
$standby->append_conf('postgresql.conf', "max_wal_size = 8GB\ncheckpoint_timeout = 1h");
my $start = sub {
    local $ENV{LD_PRELOAD} = $library if $library;
    $_[0]->start;
};
$start->($standby);
my ($asks, $reads, @read) = ($session->($node), $session->($standby), '0' x 26);
my $read = sub {
    my ($horizon, $lsn) =
      map { scalar $asks->query("SELECT $_()") } qw(ulid_ordered_horizon pg_current_wal_insert_lsn);
    if ($major >= 19)
    {
        $reads->query("WAIT FOR LSN '$lsn'");
    }
    else
    {
        await('the replay',
            sub { $reads->query("SELECT pg_last_wal_replay_lsn() >= '$lsn'") eq 't' });
    }
    push @read, split /\n/,
      $reads->query("SELECT id FROM event WHERE id > '$read[-1]' AND id < '$horizon' ORDER BY id");
};

#
# The flood
#

# Let clients run while something is done, and end all transactions.
my $flood = sub {
    my ($how, $meanwhile, @names) = @_;
    my @clients = grep { $clients{$_} } @names;
    append_to_file("$directory/goes_on", '');
    my %running;
    for my $name (@clients)
    {
        my (undef, $database) = split /@/, $name;
        my @command = ('pgbench', '-n', @$how, @{ $clients{$name} }, $database // 'postgres');
        $running{$name} =
          IPC::Run::start(\@command, '>', \my $output, '2>', "$directory/$name.log");
    }
    my @loops;
    for my $name (grep { $loops{$_} } @names)
    {
        my ($file, $database) = split /@/, $name;
        my $psql    = "PGAPPNAME=$file psql -Xqf $directory/$file " . ($database // 'postgres');
        my @command = ('sh', '-c', "while [ -e $directory/goes_on ]; do $psql; done");
        push @loops, IPC::Run::start(\@command, '>', '/dev/null', '2>', '/dev/null');
    }
    $meanwhile->();
    my @failed = grep { !$running{$_}->finish } @clients;
    unlink("$directory/goes_on");
    $_->finish for @loops;
    is("@failed", '', 'no client failed') or diag(map { slurp_file("$directory/$_.log") } @failed);
    my $left = $sql->("SELECT database || ' ' || gid FROM pg_prepared_xacts WHERE gid <> 'taken'");
    for (split /\n/, $left)
    {
        my ($database, $gid) = split / /;
        $node->safe_psql($database, "COMMIT PREPARED '$gid'");
    }
};

$sql->(
    q{SELECT gen_ordered_ulid(); BEGIN; CREATE TABLE other (id ulid); PREPARE TRANSACTION 'taken'});
$idle->query('BEGIN; SELECT gen_ordered_ulid()');
$flood->(
    [ '-T', $seconds ],
    sub {
        my $start = time;
        my $poll  = sub {
            do { $listen->(); $read->() } while time < $start + $seconds * $_[0] / 3;
        };
        $poll->(1);
        append_to_file($wrong, '') if $wrong;
        $poll->(2);
        unlink($wrong) if $wrong;
        $sql->(q{SELECT ulid_advance_ordered_time(ulid_upper_bound(now() + interval '1 hour'))});
        $poll->(3);
    },
    keys %clients,
    keys %loops);
$oldest->query("INSERT INTO event (kind) VALUES ('oldest'); COMMIT");
my $id    = $sql->("INSERT INTO event (kind) VALUES ('last') RETURNING id");
my $polls = 0;
usleep(100_000) while $polls++ < 10 && $sql->("SELECT '$id' < ulid_ordered_horizon()") ne 't';
cmp_ok($polls, '<=', 10, 'ten polls a second find a row within a second');
is( $sql->(
        q{DO 'BEGIN FOR n IN 1 .. 20000 LOOP PERFORM ulid_ordered_horizon(); END LOOP; END';
            SELECT ulid_ordered_time() < now() + '1 hour'}
    ),
    't',
    'the order comes nearer to the clock, however often it is asked');
$flood->(
    [ '-t', 2 ],
    sub { },
    keys %consumers,
    grep { /@/ && !/^(writers|prepared)/ } keys %clients);
$listener->query($step);
$read->();
$sql->(
    "COPY seen (consumer, id) FROM STDIN;\n" . join('', map { "standby\t$_\n" } @read) . "\\.\n");
note($sql->(q{SELECT kind, count(*) FROM event GROUP BY kind ORDER BY kind}));
my %lost;
for my $database (qw(postgres b c))
{
    my $lost = $node->safe_psql(
        $database, q{
        SELECT consumer, (SELECT count(*) FROM event) + 1 - count(DISTINCT id),
            count(*) FILTER (WHERE id <= before)
        FROM (SELECT consumer, id, lag(id) OVER (PARTITION BY consumer ORDER BY n) AS before
              FROM seen) AS s
        GROUP BY consumer HAVING count(*) > 1});
    $lost{"$1 in $database"} = $2 while $lost =~ /^(\w+)\|(.*)$/mg;
    note($node->safe_psql($database, 'SELECT count(*) FROM event') . " rows in $database");
}
my ($missed) = split /\|/, delete $lost{'plain in postgres'};
cmp_ok($missed, '>', 0, "a consumer without the horizon loses rows: $missed");
is($lost{$_}, '0|0', "no row is lost, none comes twice, and all come in order: $_")
  for sort keys %lost;
is(scalar keys %lost, 1 + keys(%consumers) + 2 * 3, 'no consumer is left out');
$idle->query('COMMIT');

# Every horizon that was asked for, by its definition: each row below it is visible to the snapshot
# of that statement, unless its id was made later, after a reset.
my $passed = sub {
    return $sql->(
        q{SELECT count(*) FROM (SELECT * FROM asked ORDER BY at DESC LIMIT 1000) AS a
        JOIN event AS e ON id < horizon
        WHERE NOT pg_visible_in_snapshot(xid, snapshot)
            AND (made < at OR NOT EXISTS (SELECT FROM reset WHERE began < made AND ended > at))}
    );
};
delete @clients{ keys %consumers };
delete @clients{ grep { /@/ } keys %clients };
$clients{reset} = [ '-f', "$directory/reset" ];
$flood->([ '-T', int($seconds / 4) + 1 ], sub { }, keys %clients, keys %loops);
is($passed->(), 0, 'no row could still appear below a horizon, beside resets too');

#
# What holds the horizon
#

my $zero  = '0' x 26;
my $why   = (blocks_of('operating.md', 'sql', 'The horizon lags'))[-1];
my $old   = $session->($node);
my $pid   = $old->query('SELECT pg_backend_pid()');
my $holds = sub {
    return $sql->(
        "SELECT date_trunc('milliseconds', ulid_ordered_since($_[0]))
            = ulid_ordered_horizon()::timestamptz"
    );
};
$old->query('BEGIN; CREATE TABLE written AS SELECT gen_ulid()');
is($holds->($pid), '', 'a transaction that writes without ordered ids does not hold the horizon');
$old->query('SAVEPOINT a; SELECT gen_ordered_ulid(); ROLLBACK TO a');
is($holds->($pid), 't', 'one that has made an ordered id holds it, even if that was rolled back');
my $xid = $old->query("SELECT pg_current_xact_id(); PREPARE TRANSACTION 'holder'") . '::text::xid';
is($holds->($xid), 't', 'and when it is prepared');
$sql->("ROLLBACK PREPARED 'holder'");
is($holds->($xid), '', 'until it ends');
$idle->query("BEGIN; INSERT INTO event (kind) VALUES ('idle')");
my $passes = "SELECT ulid_ordered_horizon()::timestamptz > max(ulid_ordered_since(pid))
    FROM pg_stat_activity WHERE datname = 'idle'";
is($sql->($passes),                   't', 'a transaction of another database does not hold it');
is($node->safe_psql('idle', $passes), 'f', 'but that of its own');
$xid    = $idle->query("SELECT pg_current_xact_id(); PREPARE TRANSACTION 'idle'") . '::text::xid';
$passes = "SELECT ulid_ordered_horizon()::timestamptz > ulid_ordered_since($xid)";
is($sql->($passes),                   't', 'nor does a prepared one');
is($node->safe_psql('idle', $passes), 'f', 'but that of its own');
$idle->query("COMMIT PREPARED 'idle'");

$old->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
my $newer = sub { $asks->query("INSERT INTO event (kind) VALUES ('newer')") for 1 .. $_[0] };
$idle->query("INSERT INTO event (kind) VALUES ('newer')") for 1 .. 140;
isnt($old->query('SELECT ulid_ordered_horizon()'),
    $zero, 'however much a session of another database writes');
$newer->(140);
is($old->query('SELECT ulid_ordered_horizon()'),
    $zero, 'nothing is proven for a snapshot that is too old');
like($old->query($why), qr/^snapshot too old: .*\|$/, 'the page says so');
isnt($old->query('COMMIT; SELECT ulid_ordered_horizon()'), $zero, 'the next one is younger');
is($old->query($why), '', 'no reason is given if there is a horizon');

$old->query('BEGIN; SELECT gen_ordered_ulid()');
$sql->('SELECT ulid_reset_ordered_time()');
is($sql->('SELECT ulid_ordered_horizon()'),
    $zero,
    'after a reset there is no horizon until the transactions have ended that have made ids');
is($sql->($why), "before a reset: end the session|$pid", 'the page says so');
isnt($old->query('COMMIT; SELECT ulid_ordered_horizon()'), $zero, 'then there is');

#
# Restarts and promotion
#

my $ask = sub {
    return $_[0]->safe_psql(
        'postgres',
        'INSERT INTO asked SELECT now(), ulid_ordered_horizon(), pg_current_snapshot()
            RETURNING horizon'
    );
};
my $prepare = sub {
    return $sql->("BEGIN; INSERT INTO event (kind) VALUES ('$_[0]'); PREPARE TRANSACTION '$_[0]'");
};
$sql->('TRUNCATE event, asked, reset');
$prepare->('left');
my $in_b = sub { return $_[0]->safe_psql('b', 'SELECT ulid_ordered_horizon()') };
$node->safe_psql('b', "BEGIN; CREATE TABLE in_b (n int); PREPARE TRANSACTION 'in b'");
$old->query("BEGIN; INSERT INTO event (kind) VALUES ('killed')");
kill(KILL => $pid);
await('the end of the session', sub { !kill(0 => $pid) });
await('the recovery',           sub { run_log([ 'psql', '-Xqc', 'SELECT' ]) });
# It has an xid from before the first ordered id, and is prepared after the session has listed the
# prepared transactions.
my ($later, $lists) = map { $node->background_psql($_) } qw(b postgres);
$later->query('BEGIN; CREATE TABLE later (n int)');
is($ask->($node), $zero, 'after a restart, prepared transactions may have made any ids');
is($lists->query('SELECT ulid_ordered_horizon()'), $zero, 'in every session');
$later->query("PREPARE TRANSACTION 'later'");
$prepare->('new');
$sql->("COMMIT PREPARED 'left'");
is($ask->($node), $zero,                                                    'each of them');
is($sql->($why),  'before a restart or a reset: commit or roll back|taken', 'the page says so');
$sql->("ROLLBACK PREPARED 'taken'");
isnt($ask->($node), $zero, 'until they have ended');
isnt($lists->query('SELECT ulid_ordered_horizon()'),
    $zero, 'one of another database that is prepared later does not matter');
$node->safe_psql('b', "ROLLBACK PREPARED 'later'");
$_->quit for $later, $lists;
is($in_b->($node), $zero, 'each of them in its database');

$node->wait_for_catchup($standby);
append_to_file($wrong, '') if $wrong;
$reads->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT gen_ordered_ulid()');
$node->stop('immediate');
$standby->promote;
is($ask->($standby),                               $zero, 'after a promotion, too');
is($in_b->($standby),                              $zero, 'in each database');
is($reads->query('SELECT ulid_ordered_horizon()'), $zero, 'also for a snapshot from before it');
$standby->safe_psql('postgres', "COMMIT PREPARED 'new'");
is($reads->query('SELECT ulid_ordered_horizon()'), $zero,
    'which does not see that they have ended');
isnt($ask->($standby), $zero, 'until they have ended');
is($in_b->($standby), $zero, 'until those of the database have ended');
$standby->safe_psql('b', "ROLLBACK PREPARED 'in b'");
isnt($in_b->($standby), $zero, 'then it has a horizon, too');
$reads->query('COMMIT');

# No consumer misses a row if the clock of the promoted server is behind by 30 s, and nobody runs a
# script; nor after a restart with such a clock.
$sql = sub { return $standby->safe_psql('postgres', @_) };
my $polls_new_row = sub {
    my ($when)  = @_;
    my $last    = $sql->('SELECT max(id) FROM event');
    my $id      = $sql->("INSERT INTO event (kind) VALUES ('new') RETURNING id");
    my $between = "id > '$last' AND id < ulid_ordered_horizon('$last')";
    cmp_ok($id, 'gt', $last, "ids continue after those of before, $when");
    await("the row, $when", sub { $sql->("SELECT id FROM event WHERE $between") eq $id });
};
$polls_new_row->('after a promotion with a clock that is behind');
is($sql->('SELECT max(id) >= ulid_lower_bound(pg_last_xact_replay_timestamp()) FROM event'),
    't', 'the promotion is a position');
is($passed->(), 0, 'no row could still appear below a horizon, through a restart and a promotion');
unlink($wrong) if $wrong;
# A checkpoint does not tell that the order is ahead.
await('the clock', sub { $sql->('SELECT ulid_ordered_time() <= clock_timestamp()') eq 't' });
$sql->("INSERT INTO event (kind) VALUES ('on time')");
$standby->stop('fast');
append_to_file($wrong, '') if $wrong;
$start->($standby);
$polls_new_row->('after a restart with a clock that is behind');

# The time of the page is null then.
my ($back) = blocks_of('failover.md', 'sql', 'If the step came too late');
$back =~ s/'2026-[^']*'/pg_last_xact_replay_timestamp()/ or die 'the page has no time';
my (undef, undef, $refused) = $standby->psql(
    'postgres', "CREATE TEMP TABLE consumer (last_id ulid NOT NULL);
    INSERT INTO consumer VALUES ('$zero'); $back");
like($refused, qr/null value in column "last_id"/, 'a position is not set back to an unknown time');

done_testing();
