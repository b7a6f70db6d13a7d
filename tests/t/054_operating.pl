# What docs/failover.md and docs/operating.md say of bad days, on a server whose clock really jumps,
# and on one whose /dev/shm is full; and the queries for postgres_exporter beside that page.
use strict;
use warnings FATAL => 'all';
use ULID;

BEGIN { own_mounts() }

#
# The clock reads ten years later, as long as a file is there
#

SKIP:
{
    my ($library, $switch) = wrong_clock(3653 * 86400) or skip('no C compiler', 1);
    my $node = do
    {
        local $ENV{LD_PRELOAD} = $library;
        new_server('jumped');
    };
    my $sql = sub { return $node->safe_psql('postgres', @_) };
    $sql->('CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ulid())');
    $sql->(untrusted());

    # uuid columns with ids in the order of time, and domains; a table of ids without an order
    $sql->(
        'CREATE TABLE by_uuid (id uuid PRIMARY KEY DEFAULT gen_ordered_uuid_v7());
        CREATE TABLE by_cast (id uuid PRIMARY KEY DEFAULT gen_monotonic_ulid());
        CREATE DOMAIN event_id AS ulid; CREATE TABLE by_domain (id event_id DEFAULT gen_ulid());
        CREATE DOMAIN note_id AS uuid DEFAULT gen_uuid_v7(); CREATE DOMAIN own_note_id AS note_id;
        CREATE TABLE by_domains_default (id own_note_id);
        CREATE TABLE random (id uuid PRIMARY KEY DEFAULT gen_random_uuid())'
    );
    $sql->('CREATE TABLE by_server (id uuid DEFAULT uuidv7())') if $major >= 18;
    my @tables = (
        qw(event by_uuid by_cast by_domain by_domains_default random),
        $major >= 18 ? 'by_server' : ());

    # which of the generators are more than a year ahead of the clock
    my $ahead =
      q{SELECT concat_ws(' ', CASE WHEN gen_ulid() > next_year THEN 'random' END,
            CASE WHEN gen_ordered_ulid() > next_year THEN 'ordered' END,
            CASE WHEN gen_monotonic_ulid() > next_year THEN 'monotonic' END,
            CASE WHEN gen_uuid_v7() > next_year THEN 'v7' END)
        FROM ulid_lower_bound(clock_timestamp() + interval '1 year') AS next_year};
    my ($open, $idle) = map { $node->background_psql('postgres', on_error_stop => 0) } 1, 2;
    is($open->query($ahead), '', 'the clock is right');
    $idle->query_safe('CREATE TEMPORARY TABLE own (id ulid DEFAULT gen_ordered_ulid())');
    append_to_file($switch, '');
    my $in_2036 = $node->background_psql('postgres', on_error_stop => 0);
    is($sql->(q{SELECT clock_timestamp() > pg_postmaster_start_time() + interval '9 years'}),
        't', 'the clock of the server is wrong');
    is($_->query($ahead), '', 'all generators follow the clock') for $open, $in_2036;
    $sql->("INSERT INTO $_ SELECT FROM generate_series(1, 3)") for @tables;
    unlink($switch) or die;
    is($_->query($ahead), 'ordered monotonic v7', 'the clock is right: a session that was open')
      for $open, $in_2036;
    is($idle->query($ahead),
        'ordered', 'the clock is right: a session that made no ids in the minute');
    is($sql->($ahead), 'ordered', 'the clock is right: a new session');
    $open->query('DISCARD ALL');
    is( $open->query($ahead),
        'ordered monotonic v7',
        'what a pool does between two clients does not help');

    my ($stop) = blocks_of('failover.md', 'sql', 'Stop it');
    is( $sql->("\\set owners :USER\n\\i $root/docs/ids_ahead.sql"),
        join("\n",
            't',
            'public.event.id|3',
            'public.planned.id|not read, owner: other',
            map { "public.$_.id|3" } grep { !/^(?:event|random)$/ } @tables),
        'the script finds ordered ids and rows of 2036, '
          . 'and names tables of others, which it does not plan');
    my $repaired = $sql->('SELECT clock_timestamp()');
    my $later    = $node->background_psql('postgres', on_error_stop => 0);
    $stop =~ s/^\\set repaired \K.*/'$repaired'/m or die;
    is($sql->($stop), "\nt\nt\nt", 'the page ends the three sessions that were open');
    ok( $node->poll_query_until(
            'postgres',
            q{SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'client backend'
                AND pid <> pg_backend_pid()}
        ),
        'they end');
    is($later->query($ahead), '', 'a session that began later is right, and goes on');
    is($sql->($ahead),        '', 'so is a new session');
    $_->quit for $open, $in_2036, $idle, $later;
    is($sql->("INSERT INTO event DEFAULT VALUES RETURNING id < (SELECT max(id) FROM event)"),
        't', 'max(id) is an id of 2036');
    $node->stop;

    ($library, $switch) = wrong_clock(-4e9);
    local $ENV{LD_PRELOAD} = $library;
    my $early = new_server('early');
    append_to_file($switch, '');
    like(
        ($early->psql('postgres', 'SELECT gen_ordered_ulid()'))[2],
        qr/ERROR:  system clock out of range for type ulid$/m,
        'before 1970 no id is made');
    is($early->safe_psql('postgres', 'SELECT ulid_ordered_time() IS NULL'),
        't', 'which is not the time of one');
}

#
# A full /dev/shm
#

SKIP:
{
    skip('no file system can be mounted', 1) if !own_mounts();

    # the statistics of the server take a few megabytes of it, too
    system_or_bail('mount', '-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', '/dev/shm');
    my $node = new_server('full');
    my $sql  = sub { return $node->safe_psql('postgres', @_) };
    $sql->('CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid())');
    my $fill =
      sub { run_log([ 'dd', 'if=/dev/zero', 'of=/dev/shm/ballast', 'bs=64k' ]) && die 'not full' };
    $fill->();
    my (undef, undef, $error) =
      $node->psql('postgres', "\\set VERBOSITY verbose\nINSERT INTO event DEFAULT VALUES");
    my $cannot = qr/could not resize shared memory segment "\S+" to \d+ bytes/;
    like(
        $error,
        qr/^.*ERROR:  53100: $cannot: No space left on device$/m,
        'an ordered id fails');
    is($sql->('SELECT count(gen_ulid()) + count(gen_monotonic_ulid()) + count(gen_uuid_v7())'),
        3, 'the other generators work');
    $sql->(blocks_of('operating.md', 'sql', 'Full /dev/shm'));
    is($sql->('INSERT INTO event DEFAULT VALUES RETURNING 1'), 1, 'and so does their default');
    unlink('/dev/shm/ballast') or die;
    is($sql->('SELECT count(gen_ordered_ulid())'), 1, 'it works as soon as there is space');
    $node->stop;
    system_or_bail('umount', '/dev/shm');
}

#
# postgres_exporter
#

my $node = new_server('monitored', conf => ['max_prepared_transactions = 1']);
my $sql  = sub { return $node->safe_psql('postgres', @_) };
$sql->(
    q{
    CREATE ROLE monitor LOGIN;
    CREATE TABLE event (id ulid PRIMARY KEY) PARTITION BY RANGE (id);
    CREATE TABLE event_1 PARTITION OF event FOR VALUES FROM (MINVALUE)
        TO (ulid_lower_bound(now() + interval '1 day'));
    CREATE TABLE event_default PARTITION OF event DEFAULT;
    CREATE TABLE open (id ulid) PARTITION BY RANGE (id);
    CREATE TABLE open_1 PARTITION OF open FOR VALUES FROM (MINVALUE)
        TO (ulid_lower_bound('2026-01-01'));
    CREATE TABLE open_2 PARTITION OF open FOR VALUES FROM (ulid_lower_bound('2026-01-01'))
        TO (MAXVALUE)}
);
my %queries;
my $file = slurp_file("$root/docs/postgres_exporter.yml");
while ($file =~ /^(\w+):\n  query: \|\n((?:    .*\n)+)  metrics:\n((?:    - .*\n)+)/mg)
{
    my ($name, $query, $metrics) = ($1, $2, $3);
    $queries{$name} = $query;
    my @metrics = $metrics =~ /^    - (\w+): \{usage: (?:LABEL|GAUGE), description: "[^"]*\."\}$/mg;
    is(join(' ', $sql->("SET ROLE monitor; $query \\gdesc") =~ /^(\w+)\|/mg),
        "@metrics", "$name: each column is a metric");
}
my $exported = sub { return $sql->("SET ROLE monitor; $queries{$_[0]}") };
like($exported->('ulid'), qr/^\d+\.\d+\|0\|0$/m,      'nothing is ahead of the clock or outdated');
like($exported->('ulid_horizon'),
    qr/^0(?:\.\d+)?\|$/m, 'the horizon is close behind the clock, and was not published');
$sql->('CALL ulid_publish_horizon()');
my ($age) = blocks_of('operating.md', 'sql', 'Monitoring');
is($sql->($age), '00:00:00', 'no ordered id was generated since the publication');
$sql->('SELECT gen_ordered_ulid()');
like($exported->('ulid_horizon'), qr/\|(?!0$)\d+\.\d+$/, 'one was: the publication has an age');
$sql->(
    q{SELECT ulid_advance_ordered_time(ulid_upper_bound(now() + interval '1 hour'));
        UPDATE pg_extension SET extversion = '0' WHERE extname = 'ulid'}
);
like(
    $exported->('ulid'),
    qr/^\d+\.\d+\|3[56]\d\d\.\d+\|1$/m,
    'ordered ids are an hour ahead, and the objects are older than the files');
$sql->(q{INSERT INTO event VALUES (ulid_lower_bound(now() + interval '2 days'))});
ok( $node->poll_query_until(
        'postgres',
        "SELECT default_rows = 1 AND seconds_left BETWEEN 80000 AND 86400
            FROM ($queries{ulid_partitions}) AS s WHERE parent = 'event'::regclass"
    ),
    'a row is in the default partition, and the last partition ends tomorrow');
is($sql->("SELECT * FROM ($queries{ulid_partitions}) AS s WHERE parent = 'open'::regclass"),
    'open|Infinity|0', 'a last partition TO (MAXVALUE) never ends');

# Who holds the horizon
my $who = join('', blocks_of('operating.md', 'sql', 'The horizon lags'));
my ($holds, $other) = map { $node->background_psql('postgres', on_error_stop => 0) } 1, 2;
my $pid = $holds->query('SELECT pg_backend_pid()');
$other->query('BEGIN; CREATE TABLE written AS SELECT gen_ulid()');
$holds->query('BEGIN; SELECT gen_ordered_ulid()');
$sql->("BEGIN; SELECT gen_ordered_ulid(); PREPARE TRANSACTION 'left'");
my $session = qr/$pid\|[^|]+\|idle in transaction\|SELECT gen_ordered_ulid\(\)[\n;]+/;
like(
    $sql->($who),
    qr/^[^|]*\n${session}left\|[^|]+\|\|$/,
    'the page names the transactions that hold the horizon');
$_->quit for $holds, $other;
$node->restart;
like(
    $sql->($who),
    qr/^\d{5} days.*\nleft\|-infinity\|\|\nbefore a restart.*: commit or roll back\|left$/,
    'and a prepared one from before a restart, which is why the horizon is zero');
like($exported->('ulid_horizon'),
    qr/^\d{10}\.\d/, 'where nothing is proven, the horizon is decades behind the clock');

done_testing();
