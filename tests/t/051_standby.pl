# A hot standby: it reads by key and by window, generates ids in queries, and goes on with larger
# ones when promoted. That ordered ids go on above the horizon: 052_horizon_restart.pl.
use strict;
use warnings FATAL => 'all';
use ULID;

my $primary = new_server('primary', allows_streaming => 1);
$primary->safe_psql(
    'postgres', q{
    CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_monotonic_ulid(), n int);
    INSERT INTO event (n) SELECT n FROM generate_series(1, 10000) AS n;});

$primary->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'copy', has_streaming => 1);
$standby->start;
$primary->safe_psql('postgres',
    'INSERT INTO event (n) SELECT n FROM generate_series(10001, 20000) AS n');

$primary->wait_for_catchup($standby);

# The standby has every row and reads it by the index; it makes ids, but cannot store them.
my $read   = sub { return $standby->safe_psql('postgres', @_) };
my $newest = $read->('SELECT max(id) FROM event');
is( $newest,
    $primary->safe_psql('postgres', 'SELECT max(id) FROM event'),
    'the newest id of the standby is that of the primary');
is($read->('SELECT pg_is_in_recovery()'), 't', 'the standby is one');
is($read->('SELECT count(*), count(DISTINCT id), max(n) FROM event'),
    '20000|20000|20000', 'it has every row');
is( $read->(
        "SELECT count(*) FROM event WHERE id <@ tstzrange(ulid_extract_timestamp('$newest'), NULL)
            AND id = '$newest'"
    ),
    1,
    'it reads by window and key');
like(
    $read->('EXPLAIN SELECT * FROM event WHERE id <@ tstzrange(now(), NULL)'),
    qr/Scan .*event_pkey/,
    'it reads a window by the index');
is( $read->(
        "SELECT gen_ulid() > '$newest', gen_monotonic_ulid() > '$newest',
            gen_uuid_v7() > '$newest'::ulid::uuid, gen_ordered_ulid() > '$newest',
            gen_ordered_uuid_v7() > '$newest'::ulid::uuid"
    ),
    't|t|t|t|t',
    'each generator makes larger ids there');
my (undef, undef, $error) = $standby->psql('postgres', 'INSERT INTO event (n) VALUES (0)');
like($error, qr/ERROR:  cannot execute INSERT in a read-only transaction$/m,
    'it cannot store them');

$primary->stop('immediate');
$standby->promote;
$standby->safe_psql('postgres',
    'INSERT INTO event (n) SELECT n FROM generate_series(20001, 30000) AS n');
is( $read->(
        "SELECT count(*), count(DISTINCT id), min(id)
            FILTER (WHERE n > 20000) > '$newest' FROM event"
    ),
    '30000|30000|t',
    'promoted, it goes on with larger ids');

done_testing();
