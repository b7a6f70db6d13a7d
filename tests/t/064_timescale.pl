# TimescaleDB: a hypertable by the time of a ulid key, and the conditions that exclude chunks.
use strict;
use warnings FATAL => 'all';
use ULID;

needs_extension('timescaledb');
my $node = new_server('timescale',
    conf => [ "shared_preload_libraries = 'timescaledb'", 'timescaledb.telemetry_level = off' ]);
my $sql = sub { return $node->safe_psql('postgres', @_) };

# Check the number of chunks in the plan of a query with a condition.
sub chunks
{
    my ($condition, $expected, $name, $table) = (@_, 'event');
    my $plan = $sql->("EXPLAIN (COSTS OFF) SELECT * FROM $table WHERE $condition");
    is(scalar(() = $plan =~ / on _hyper_/g), $expected, $name) or diag($plan);
    return;
}

$sql->('CREATE EXTENSION timescaledb; CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ulid())');
is( $sql->(
        q{SELECT create_hypertable('event',
            by_range('id', interval '1 day', partition_func => 'ulid_extract_timestamp'))}
    ),
    '(1,t)',
    'a table becomes a hypertable by the time of its id');
$sql->(
    q{INSERT INTO event SELECT gen_ulid('2026-01-01 00:00Z'::timestamptz + n * interval '1 minute')
        FROM generate_series(0, 14399) AS n; ANALYZE event}
);
is( $sql->(
        q{SELECT count(*) FROM event
            WHERE id <@ tstzrange('2026-01-03 00:00Z', '2026-01-04 00:00Z')}
    ),
    1440,
    'a window finds the rows of a day');
chunks("id = '01KE0JER000000000000000000'", 1, 'a key excludes chunks');
chunks(
    q{id >= ulid_lower_bound('2026-01-03 00:00Z') AND id < ulid_lower_bound('2026-01-04 00:00Z')},
    1, 'bounds exclude chunks');
chunks(q{id <@ tstzrange('2026-01-03 00:00Z', '2026-01-04 00:00Z')}, 10, 'a window excludes none');

# A uuid of version 7 can be the dimension itself in newer versions; a ulid as uuid is not of
# version 7.
$sql->('CREATE TABLE as_uuid (id uuid PRIMARY KEY DEFAULT gen_uuid_v7())');
SKIP:
{
    my ($status) = $node->psql('postgres',
        q{SELECT FROM create_hypertable('as_uuid', by_range('id', interval '1 day'))});
    skip('this version has no dimension of type uuid', 3) if $status != 0;
    $sql->(
        q{
        INSERT INTO as_uuid
            SELECT gen_uuid_v7('2026-01-01 00:00Z'::timestamptz + n * interval '1 hour')
            FROM generate_series(0, 239) AS n;
        INSERT INTO as_uuid DEFAULT VALUES; ANALYZE as_uuid});
    my $day =
      q{id >= ulid_to_uuid_v7(ulid_lower_bound('2026-01-03 00:00Z'))
          AND id < ulid_to_uuid_v7(ulid_lower_bound('2026-01-04 00:00Z'))};
    chunks($day, 1, 'bounds of version 7 exclude chunks', 'as_uuid');
    is( $sql->("SELECT time_bucket('1 day', id), count(*) FROM as_uuid WHERE $day GROUP BY 1"),
        '2026-01-03 00:00:00+00|24',
        'time_bucket takes the id');
    my (undef, undef, $error) = $node->psql('postgres',
        q{INSERT INTO as_uuid VALUES (ulid_lower_bound('2026-01-01 00:00Z'))});
    like($error, qr/is not a version 7 UUID/, 'a ulid as uuid is refused there');
}

done_testing();
