# postgres_fdw with the extension in its options pushes conditions, sorts and limits down; a table sharded by hash over
# two databases.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

needs_extension('postgres_fdw');
my $node = new_server('postgres_fdw');
my ($host, $port) = ($node->host, $node->port);
$node->safe_psql('postgres', 'CREATE EXTENSION postgres_fdw');
$node->safe_psql('postgres', 'CREATE TABLE event (id ulid, n int) PARTITION BY HASH (id)');
for my $shard (0, 1) {
    $node->safe_psql('postgres', "CREATE DATABASE shard_$shard");
    $node->safe_psql("shard_$shard", 'CREATE EXTENSION ulid');
    $node->safe_psql("shard_$shard", 'CREATE TABLE event (id ulid PRIMARY KEY, n int)');
    $node->safe_psql('postgres', <<"SQL");
CREATE SERVER shard_$shard FOREIGN DATA WRAPPER postgres_fdw
    OPTIONS (host '$host', port '$port', dbname 'shard_$shard', extensions 'ulid');
SELECT format('CREATE USER MAPPING FOR CURRENT_USER SERVER shard_$shard OPTIONS (user %L)', current_user)
\\gexec
CREATE FOREIGN TABLE event_$shard PARTITION OF event FOR VALUES WITH (MODULUS 2, REMAINDER $shard)
    SERVER shard_$shard OPTIONS (table_name 'event');
SQL
}
$node->safe_psql('postgres', <<'SQL');
INSERT INTO event SELECT gen_ulid('2026-01-01 00:00+00'::timestamptz + n * interval '1 minute'), n FROM generate_series(1, 2000) AS n;
SQL

# Compare the remote SQL of a query with what is expected.
sub sent {
    my ($query, $expected, $what) = @_;
    my ($remote) = $node->safe_psql('postgres', "EXPLAIN (VERBOSE, COSTS OFF) $query") =~ /^ *Remote SQL: (.*)/m;
    $remote =~ s/'::public\.ulid\b/'/g;    # PostgreSQL 13 and 14 print the type of a constant
    is($remote, $expected, "$what is sent");
    return;
}
sent("SELECT n FROM event_0 WHERE id > '01KDY021000000000000000000'",
    "SELECT n FROM public.event WHERE ((id OPERATOR(public.>) '01KDY021000000000000000000'))", 'a comparison');
sent('SELECT id FROM event_0 ORDER BY id LIMIT 3',
    'SELECT id FROM public.event ORDER BY id ASC NULLS LAST LIMIT 3::bigint', 'a sort with a limit');
sent("SELECT n FROM event_1 WHERE id <@ tstzrange('2026-01-01 01:00+00', '2026-01-01 02:00+00')",
    q{SELECT n FROM public.event WHERE ((id OPERATOR(public.<@) '["2026-01-01 01:00:00+00","2026-01-01 02:00:00+00")'::public.ulid_window))},
    'a window of time');

my $first = $node->safe_psql('postgres', 'SELECT id FROM event ORDER BY id LIMIT 1');
my $scans = () = $node->safe_psql('postgres', "EXPLAIN SELECT * FROM event WHERE id = '$first'") =~ /Foreign Scan/g;
is($scans, 1, 'one key goes to one shard');
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT id), min(n), max(n) FROM event'), '2000|2000|1|2000',
    'both shards together contain every row once');
is($node->safe_psql('postgres', <<'SQL'), 60, 'a window of an hour has 60 rows');
SELECT count(*) FROM event WHERE id <@ tstzrange('2026-01-01 01:00+00', '2026-01-01 02:00+00')
SQL
is($node->safe_psql('postgres', <<'SQL'), 't', 'each shard has about half of the rows');
SELECT bool_and(n BETWEEN 900 AND 1100) FROM (SELECT count(*) AS n FROM event GROUP BY tableoid) AS s
SQL

done_testing();
