# The queries of docs/monitoring.md for monitoring, and those for postgres_exporter beside that
# page.
use strict;
use warnings FATAL => 'all';
use ULID;

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
is($exported->('ulid_horizon'), '', 'there is no horizon yet');
$sql->('CALL ulid_refresh_horizon()');
my ($age) = blocks_of('monitoring.md', 'sql', 'Monitoring');
is($sql->($age), '00:00:00', 'no ordered id was generated since the last refresh');
is($exported->('ulid_horizon'), '0', 'nor is there an age for Prometheus');
$sql->('SELECT gen_ordered_ulid()');
cmp_ok($exported->('ulid_horizon'), '>', 0, 'one was: the horizon has an age');

# how far a consumer is behind
$sql->(
    q{
    CREATE TABLE outbox (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), message text);
    SELECT ulid_create_consumer('mail', 'outbox');
    GRANT SELECT (id) ON outbox TO monitor}
);
is($exported->('ulid_consumers'), 'mail|0.000000|1', 'a consumer without rows is not behind');
my $session = $node->background_psql('postgres');
$session->query_safe('CREATE TEMP TABLE child () INHERITS (outbox)');
like($exported->('ulid_consumers'), qr/^mail\|0\.000000\|/,
    'a temporary child of another session does not count');
$session->quit;
$sql->('INSERT INTO outbox DEFAULT VALUES; ALTER TABLE outbox DISABLE TRIGGER ALL');
like($exported->('ulid_consumers'), qr/^mail\|0\.0*[1-9]\d*\|0$/,
    'now it is, and its table is not guarded');
my ($lag) = blocks_of('monitoring.md', 'sql', 'Consumers');
like($sql->($lag), qr/^mail\|\w{26}\|00:00:0.*\|f$/, 'so says the query of the page');
$sql->('REVOKE SELECT (id) ON outbox FROM monitor');
is($exported->('ulid_consumers'), 'mail||0', 'how far is not known without a right to the key');

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
$sql->(q{CREATE TABLE event_next PARTITION OF event FOR VALUES
    FROM (ulid_lower_bound(now() + interval '5 days'))
    TO (ulid_lower_bound(now() + interval '9 days'))});
is( $sql->(
        "SELECT seconds_left BETWEEN 80000 AND 86400
            FROM ($queries{ulid_partitions}) AS s WHERE parent = 'event'::regclass"),
    't',
    'so does the one before a gap');
is( $sql->(
        "ALTER TABLE event DETACH PARTITION event_1;
        SELECT seconds_left <= 0 FROM ($queries{ulid_partitions}) AS s
        WHERE parent = 'event'::regclass"),
    't',
    'there is none of now');
is($sql->("SELECT * FROM ($queries{ulid_partitions}) AS s WHERE parent = 'open'::regclass"),
    'open|Infinity|0', 'a last partition TO (MAXVALUE) never ends');

# Who holds the horizon
my ($who) =
  grep { /FROM ulid_horizon_holders/ } blocks_of('monitoring.md', 'sql', 'The horizon lags');
my ($holds, $other) = map { $node->background_psql('postgres', on_error_stop => 0) } 1, 2;
my $pid = $holds->query('SELECT pg_backend_pid()');
$other->query('BEGIN; CREATE TABLE written AS SELECT gen_ulid()');
$holds->query('BEGIN; SELECT gen_ordered_ulid()');
$sql->("BEGIN; SELECT gen_ordered_ulid(); PREPARE TRANSACTION 'left'");
like(
    $sql->($who),
    qr/^$pid\|.*idle in transaction.*SELECT gen_ordered_ulid\(\)[\n;]+left\|.*$/,
    'the page names the transactions that hold the horizon');
$_->quit for $holds, $other;
$node->restart;
like($sql->($who), qr/^left\|.*-infinity.*$/, 'and a prepared one from before a restart');

done_testing();
