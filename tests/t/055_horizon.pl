# ulid_ordered_horizon under a flood: a consumer that stops there reads every row once and in order,
# while writers in several databases roll back, prepare, fail and are killed, the clock is set back,
# ids go ahead, and they are reset. FUZZ_SECONDS (4) says for how long. 059_published.pl has more
# kinds of writers and of queries.
use strict;
use warnings FATAL => 'all';
use Time::HiRes 'time';
use ULID;

my $seconds = $ENV{FUZZ_SECONDS} || 4;
$PostgreSQL::Test::Utils::timeout_default += 10 * $seconds;
my ($library, $wrong) = wrong_clock(-30);
my $node = do
{
    local $ENV{LD_PRELOAD} = $library if $library;
    new_server(
        'polled',
        allows_streaming => 1,
        conf             => [
            'max_prepared_transactions = 500', 'max_connections = 100',
            'shared_buffers = 256MB',          'wal_keep_size = 4GB'
        ]);
};
my $sql       = sub { return $node->safe_psql('postgres', @_) };
my $directory = PostgreSQL::Test::Utils::tempdir();
local @ENV{qw(PGHOST PGPORT)} = ($node->host, $node->port);

#
# Writers
#

$sql->(
    q{
    CREATE TABLE event (
        id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(),
        uuid uuid UNIQUE DEFAULT gen_ordered_uuid_v7(),
        kind text NOT NULL,
        xid xid8 DEFAULT pg_current_xact_id(),
        made timestamptz DEFAULT clock_timestamp());
    -- more subtransactions than a snapshot holds
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
    CREATE TABLE asked (at timestamptz, horizon ulid, snapshot pg_snapshot);
    CREATE TABLE reset (began timestamptz, times bigint, ended timestamptz);
    CREATE TABLE seen (consumer text, n bigint GENERATED ALWAYS AS IDENTITY, id ulid,
        PRIMARY KEY (consumer, n));
    CREATE FUNCTION see(text, ulid[]) RETURNS void LANGUAGE sql AS
        'INSERT INTO seen (consumer, id) SELECT $1, id FROM unnest($2)
            WITH ORDINALITY AS i (id, place) ORDER BY place'});
my $begin   = "\\set ms random(0, 10)\nBEGIN;\n";
my $sleep   = "\\sleep :ms ms\n";
my $pause   = "\\sleep 20 ms\n";
my $insert  = "INSERT INTO event (kind) VALUES ('one');\n";
my %scripts = (
    commit    => "$begin$insert$sleep$insert${sleep}COMMIT;\n",
    rollback  => "$begin$insert${sleep}ROLLBACK;\n",
    savepoint => "$begin${insert}SAVEPOINT a;\n$insert${sleep}ROLLBACK TO a;\n"
      . "SAVEPOINT b;\n${insert}RELEASE b;\n${insert}COMMIT;\n",
    procedure  => "CALL commits();\n",
    connection => $insert,
    prepared   => "\\set name random(1, 1000000000000)\n"
      . "$begin$insert${sleep}PREPARE TRANSACTION ':name';\nBEGIN;\n${insert}COMMIT;\n$pause",

    # the horizon, and the snapshot that it is for
    asker => "INSERT INTO asked\n"
      . "SELECT clock_timestamp(), ulid_ordered_horizon(), pg_current_snapshot();\n\\sleep 10 ms\n",

    # the id clock goes an hour ahead, and back
    reset => "SELECT ulid_advance_ordered_time(ulid_upper_bound(now() + interval '1 hour'));\n"
      . "${pause}INSERT INTO reset SELECT clock_timestamp(),\n"
      . "(SELECT count(*) FROM ulid_reset_ordered_time()), clock_timestamp();\n$pause");

# Sessions that are killed, transactions that cannot be prepared, and one that ends those that are,
# again and again.
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
my @files   = map { ('-f', "$directory/$_") } qw(commit rollback savepoint procedure);
my %clients = (
    writers    => [ '-c', 8,    @files ],
    connection => [ '-C', '-f', "$directory/connection" ],
    prepared   => [ '-c', 2,    '-f', "$directory/prepared" ],
    asker      => [ '-c', 2,    '-f', "$directory/asker" ]);

#
# Consumers
#

# Each step reads the rows that are new, in their order, and remembers the last one.
sub rows
{
    my %of = (key => 'id', last => "':last'::ulid", horizon => 'ulid_ordered_horizon()', @_);
    return
      "SELECT $of{key} AS id FROM event WHERE $of{key} > $of{last} AND $of{key} < $of{horizon}";
}
my %consumers = (
    plain   => { rows => rows(horizon => "'7ZZZZZZZZZZZZZZZZZZZZZZZZZ'") },
    index   => { rows => rows() },
    uuid    => { rows => rows(key => 'uuid') },
    generic => { rows => rows(last => ':last::ulid'), options => [ '-M', 'prepared' ] },
    two     => {
        before => 'SELECT ulid_ordered_horizon() AS horizon \gset',
        rows   => rows(horizon => "':horizon'")
    },
    repeatable => {
        before => "BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT;\n\\sleep 10 ms",
        rows   => rows(),
        after  => 'COMMIT;'
    });
for my $name (keys %consumers)
{
    my %of = (before => '', after => '', options => [], %{ $consumers{$name} });
    $scripts{$name} =
        "SELECT id AS last FROM seen WHERE consumer = '$name' ORDER BY n DESC LIMIT 1 \\gset\n"
      . "$of{before}\nSELECT see('$name', array_agg(id ORDER BY id)) FROM ($of{rows}) AS s;\n"
      . "$of{after}\n\\sleep 10 ms\n";
    $clients{$name} = [ @{ $of{options} }, '-f', "$directory/$name" ];
    $sql->("INSERT INTO seen (consumer, id) VALUES ('$name', '00000000000000000000000000')");
}
append_to_file("$directory/$_", $scripts{$_}) for keys %scripts;

# Another database has the same tables, and some of the clients: NAME\@b.
$sql->('CREATE DATABASE b TEMPLATE postgres');
$clients{"$_\@b"}     = $clients{$_} for qw(prepared index repeatable);
$clients{'writers@b'} = [ '-c', 3, @files ];
$loops{'finisher@b'}  = $loops{finisher};
$clients{pooled} = [ '-h', start_pooler($node), '-c', 4, @files ] if has_program('pgbouncer');

# A transaction that is older than all ordered ids, and runs through it all; and one of a database
# of its own that has generated one. Modulo 16, the OID of that is not the OID of this one.
my $oldest = $node->background_psql('postgres');
$oldest->query('BEGIN; SELECT pg_current_xact_id()');
$sql->(
    "SELECT 'CREATE DATABASE idle TEMPLATE b OID = ' || 100001 + oid::bigint % 16
    FROM pg_database WHERE datname = 'postgres' \\gexec"
);
my $idle = $node->background_psql('idle');

# A standby has the rows below a horizon of the primary once it has replayed what was written until
# then.
$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
my @read = '0' x 26;
my $read = sub {
    my ($horizon, $lsn) =
      map { $sql->("SELECT $_()") } qw(ulid_ordered_horizon pg_current_wal_insert_lsn);
    $node->wait_for_catchup($standby, 'replay', $lsn);
    push @read, split /\n/,
      $standby->safe_psql('postgres',
        "SELECT id FROM event WHERE id > '$read[-1]' AND id < '$horizon' ORDER BY id");
};

#
# The flood
#

# Let clients run while something is done, and end all transactions.
sub flood
{
    my ($how, $meanwhile, @names) = @_;
    append_to_file("$directory/goes_on", '');
    my (%running, @loops);
    for my $name (@names)
    {
        my ($file, $database) = split /@/, $name;
        $database //= 'postgres';
        if ($clients{$name})
        {
            my @command = ('pgbench', '-n', @$how, @{ $clients{$name} }, $database);
            $running{$name} =
              IPC::Run::start(\@command, '>', '/dev/null', '2>', "$directory/$name.log");
        }
        else
        {
            my $psql    = "PGAPPNAME=$file psql -Xqf $directory/$file $database";
            my @command = ('sh', '-c', "while [ -e $directory/goes_on ]; do $psql; done");
            push @loops, IPC::Run::start(\@command, '>', '/dev/null', '2>', '/dev/null');
        }
    }
    $meanwhile->();
    my @failed = grep { !$running{$_}->finish } sort keys %running;
    unlink("$directory/goes_on");
    $_->finish for @loops;
    is("@failed", '', 'no client failed') or diag(map { slurp_file("$directory/$_.log") } @failed);
    my $left = $sql->("SELECT database || ' ' || gid FROM pg_prepared_xacts WHERE gid <> 'taken'");
    for (split /\n/, $left)
    {
        my ($database, $gid) = split / /;
        $node->safe_psql($database, "COMMIT PREPARED '$gid'");
    }
    return;
}

$sql->(
    q{SELECT gen_ordered_ulid(); BEGIN; CREATE TABLE other (id ulid); PREPARE TRANSACTION 'taken'});
$idle->query('BEGIN; SELECT gen_ordered_ulid()');
flood(
    [ '-T', $seconds ],
    sub {
        my $start = time;
        my $poll  = sub {
            do { $read->() } while time < $start + $seconds * $_[0] / 3;
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
$oldest->quit;
await_horizon($node, $sql->("INSERT INTO event (kind) VALUES ('last') RETURNING id"));
$node->safe_psql('b', "INSERT INTO event (kind) VALUES ('last')");

# ids are an hour ahead
is( $sql->(
        q{DO 'BEGIN FOR n IN 1 .. 20000 LOOP PERFORM ulid_ordered_horizon(); END LOOP; END';
            SELECT ulid_ordered_time() < now() + '1 hour'}
    ),
    't',
    'the id clock comes nearer to the clock, however often the horizon is asked for');

# the last steps of all consumers
await_horizon($node, $node->safe_psql('b', 'SELECT max(id) FROM event'), 'b');
my @last = ((keys %consumers), qw(index@b repeatable@b));
flood([ '-t', 2 ], sub { }, @last);
$read->();
my $copied = join '', map { "standby\t$_\n" } @read;
$sql->("COPY seen (consumer, id) FROM STDIN;\n$copied\\.\n");
note($sql->('SELECT kind, count(*) FROM event GROUP BY kind ORDER BY kind'));
my %lost;
for my $database (qw(postgres b))
{
    my $lost = $node->safe_psql(
        $database, q{
        SELECT consumer, (SELECT count(*) FROM event) + 1 - count(DISTINCT id),
            count(*) FILTER (WHERE id <= before)
        FROM (SELECT consumer, id, lag(id) OVER (PARTITION BY consumer ORDER BY n) AS before
              FROM seen) AS s
        GROUP BY consumer HAVING count(*) > 1});
    $lost{"$1 in $database"} = $2 while $lost =~ /^(\w+)\|(.*)$/mg;
}
my ($missed) = split /\|/, delete $lost{'plain in postgres'};
cmp_ok($missed, '>', 0, "a consumer without the horizon loses rows: $missed");
is($lost{$_}, '0|0', "no row is lost, none comes twice, and all come in order: $_")
  for sort keys %lost;
is(scalar keys %lost, scalar @last, 'no consumer is left out');
$idle->query('COMMIT');
$idle->quit;

# By the definition of the horizon, beside resets too: each row below it is visible to the snapshot
# of the statement that asked for it, unless its id was made later, after a reset.
$clients{reset} = [ '-f', "$directory/reset" ];
flood([ '-T', int($seconds / 4) + 1 ],
    sub { }, qw(writers connection prepared asker reset), grep { !/@/ } keys %loops);
is( $sql->(
        q{SELECT count(*) FROM (SELECT * FROM asked ORDER BY at DESC LIMIT 1000) AS a
        JOIN event AS e ON id < horizon
        WHERE NOT pg_visible_in_snapshot(xid, snapshot)
            AND (made < at OR NOT EXISTS (SELECT FROM reset WHERE began < made AND ended > at))}
    ),
    0,
    'no row could still appear below a horizon');

done_testing();
