# TimescaleDB: a hypertable by the time of a ulid key, and the conditions that exclude chunks.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

needs_extension('timescaledb');
my $node = new_server('timescale', conf => ["shared_preload_libraries = 'timescaledb'", 'timescaledb.telemetry_level = off']);
my $sql = sub { return $node->safe_psql('postgres', @_) };

# Check that a statement fails with exactly this message.
sub refused {
    my ($statement, $message, $name) = @_;
    my (undef, undef, $error) = $node->psql('postgres', $statement);
    like($error, qr/ERROR:  \Q$message\E$/m, $name);
    return;
}

# Check the number of chunks in the plan of a query with a condition; returns the plan.
sub chunks {
    my ($condition, $expected, $name, $table) = (@_, 'event');
    my $plan = $sql->("EXPLAIN (COSTS OFF) SELECT * FROM $table WHERE $condition");
    my @chunks = $plan =~ / on _hyper_/g;
    is(scalar @chunks, $expected, $name) or diag($plan);
    return $plan;
}

$sql->('CREATE EXTENSION timescaledb');
note('timescaledb ', $sql->("SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'"));
$sql->('CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ulid(), what text)');
is($sql->(q{SELECT create_hypertable('event', by_range('id', interval '1 day', partition_func => 'ulid_extract_timestamp'))}), '(1,t)',
    'a table becomes a hypertable by the time of its id');
$sql->(q{
    INSERT INTO event SELECT gen_ulid('2026-01-01 00:00Z'::timestamptz + n * interval '1 minute'), n FROM generate_series(0, 14399) AS n;
    INSERT INTO event (what) VALUES ('now');
    ANALYZE event});
is($sql->(q{SELECT count(*) FROM show_chunks('event')}), 11, 'each day has a chunk');
is($sql->(q{SELECT count(*) FROM event WHERE id <@ tstzrange('2026-01-03 00:00Z', '2026-01-04 00:00Z')}), 1440, 'a window finds the rows of a day');
is($sql->(q{SELECT time_bucket('1 day', ulid_extract_timestamp(id)) AS day, count(*) FROM event GROUP BY day ORDER BY day LIMIT 1}),
    '2026-01-01 00:00:00+00|1440', 'time_bucket takes the time of an id');
is($sql->('SELECT what FROM event ORDER BY id DESC LIMIT 1'), 'now', 'the newest row is found by the order of ids');
is($sql->(q{SELECT min(id)::timestamptz < '2026-01-01 00:01Z', max(id)::timestamptz > '2026-02-01 00:00Z' FROM event}), 't|t',
    'the smallest and the largest id are found');

chunks("id = '01KE0JER000000000000000000'", 1, 'a key excludes chunks');
chunks(q{id >= ulid_lower_bound('2026-01-03 00:00Z') AND id < ulid_lower_bound('2026-01-04 00:00Z')}, 1, 'bounds exclude chunks');
chunks(q{ulid_extract_timestamp(id) >= '2026-01-03 00:00Z' AND ulid_extract_timestamp(id) < '2026-01-04 00:00Z'}, 1, 'the time itself excludes chunks');
my $plan = chunks(q{id <@ tstzrange('2026-01-03 00:00Z', '2026-01-04 00:00Z')}, 11, 'a window excludes none');
my @scans = $plan =~ /Index Cond/g;
cmp_ok(scalar @scans, '>=', 9, 'but scans the index of each') or diag($plan);

is($sql->(q{SELECT count(*) FROM drop_chunks('event', older_than => '2026-01-05 00:00Z'::timestamptz)}), 4, 'old chunks are dropped by a time');
is($sql->(q{SELECT min(id)::timestamptz >= '2026-01-05 00:00Z' FROM event}), 't', 'and the others are left');

# What does not work: the type without its function, and a generated column.
$sql->(q{
    CREATE TABLE plain (id ulid PRIMARY KEY);
    CREATE TABLE generated (id ulid, at timestamptz GENERATED ALWAYS AS (ulid_extract_timestamp(id)) STORED);
    CREATE TABLE as_uuid (id uuid PRIMARY KEY DEFAULT gen_uuid_v7())});
refused(q{SELECT create_hypertable('plain', by_range('id'))}, 'invalid type for dimension "id"', 'a ulid is no dimension without its function');
refused(q{SELECT create_hypertable('generated', by_range('at'))}, 'invalid partitioning column', 'a generated column is no dimension');

# A uuid of version 7 can be the dimension itself in newer versions; a ulid as uuid is not of version 7.
my ($status, undef, $error) = $node->psql('postgres', q{SELECT FROM create_hypertable('as_uuid', by_range('id', interval '1 day'))});
if ($status == 0) {
    $sql->('INSERT INTO as_uuid SELECT FROM generate_series(1, 10)');
    is($sql->('SELECT count(*) FROM as_uuid'), 10, 'ids of gen_uuid_v7 are a dimension as uuid');
    $sql->('INSERT INTO as_uuid SELECT gen_ordered_uuid_v7() FROM generate_series(1, 10)');
    is($sql->('SELECT count(*) FROM as_uuid'), 20, 'and those of gen_ordered_uuid_v7');
    refused(q{INSERT INTO as_uuid VALUES (ulid_lower_bound('2026-01-01 00:00Z'))},
        '019b76da-a800-0000-0000-000000000000 is not a version 7 UUID', 'a ulid as uuid is refused there');
    $sql->(q{
        INSERT INTO as_uuid SELECT gen_uuid_v7('2026-01-01 00:00Z'::timestamptz + n * interval '1 hour') FROM generate_series(0, 239) AS n;
        ANALYZE as_uuid});
    my $day = q{id >= ulid_to_uuid_v7(ulid_lower_bound('2026-01-03 00:00Z')) AND id < ulid_to_uuid_v7(ulid_lower_bound('2026-01-04 00:00Z'))};
    my $chunks = $sql->(q{SELECT count(*) FROM show_chunks('as_uuid')});
    chunks($day, 1, 'bounds of version 7 exclude chunks', 'as_uuid');
    chunks(q{id <@ tstzrange('2026-01-03 00:00Z', '2026-01-04 00:00Z')}, $chunks, 'a window excludes none', 'as_uuid');
    is($sql->(qq{SELECT time_bucket('1 day', id), count(*) FROM as_uuid WHERE $day GROUP BY 1}), '2026-01-03 00:00:00+00|24', 'time_bucket takes the id');
    is($sql->(q{SELECT to_uuidv7_boundary('2026-01-03 00:00Z') = ulid_to_uuid_v7(ulid_lower_bound('2026-01-03 00:00Z'))}), 't', 'both bounds are the same');
    refused(q{SELECT FROM as_uuid WHERE id >= ulid_lower_bound('2026-01-01 00:00Z')::uuid},
        '019b76da-a800-0000-0000-000000000000 is not a version 7 UUID', 'a bound that is not of version 7 is refused');
    is($sql->(q{SELECT count(*) FROM drop_chunks('as_uuid', older_than => '2026-01-05 00:00Z'::timestamptz)}), 4, 'old chunks are dropped');
} else {
    like($error, qr/ERROR:  invalid type for dimension "id"$/m, 'a uuid is no dimension');
}

done_testing();
