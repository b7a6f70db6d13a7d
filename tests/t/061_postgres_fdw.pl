# postgres_fdw with the extension in its options pushes conditions, sorts and limits down; a table sharded by hash over
# two databases.
use strict;
use warnings;
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
    is($remote, $expected, "$what is sent");
    return;
}
sent("SELECT n FROM event_0 WHERE id > '01KDY021000000000000000000'",
    "SELECT n FROM public.event WHERE ((id > '01KDY021000000000000000000'))", 'a comparison');
sent("SELECT n FROM event_1 WHERE id <@ tstzrange('2026-01-01 01:00+00', '2026-01-01 02:00+00')",
    q{SELECT n FROM public.event WHERE ((id OPERATOR(public.<@) '["2026-01-01 01:00:00+00","2026-01-01 02:00:00+00")'::public.ulid_window))},
    'a window of time');

is($node->safe_psql('postgres', <<'SQL'), '2000|t', 'a row is in one shard');
SELECT sum(n), bool_and(n BETWEEN 900 AND 1100) FROM (SELECT count(DISTINCT id) AS n FROM event GROUP BY tableoid) AS s
SQL

# A uuid column compares as a ulid by operators of uuid, so what the bounds are computed by is cast where it is sent: as a
# constant, as a parameter and as a column of another table. The same rows come back as from a table of this server.
$node->safe_psql("shard_$_", 'CREATE TABLE log (id uuid, n int)') for 0, 1;
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE log (id uuid, n int) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE log_0 PARTITION OF log FOR VALUES FROM (MINVALUE) TO (ulid_lower_bound('2026-01-01 12:00+00'))
    SERVER shard_0 OPTIONS (table_name 'log');
CREATE FOREIGN TABLE log_1 PARTITION OF log FOR VALUES FROM (ulid_lower_bound('2026-01-01 12:00+00')) TO (MAXVALUE)
    SERVER shard_1 OPTIONS (table_name 'log');
INSERT INTO log SELECT id, n FROM event UNION ALL SELECT ulid_lower_bound('2026-01-01 12:00+00'), 0;
CREATE TABLE here AS SELECT * FROM log;
CREATE TABLE period AS SELECT tstzrange(start, start + '1 hour') AS r, left(ulid_lower_bound(start)::text, 6) AS prefix
    FROM generate_series('2026-01-01 10:30+00'::timestamptz, '2026-01-01 14:00+00', '1 hour') AS start;
SQL

# Compare the rows of a query of log with those of the same query of the table of this server, and return its plan.
sub same_rows {
    my ($query, $what, $prepare) = @_;
    my $before = 'SET plan_cache_mode = force_generic_plan; ' . ($prepare // '');
    my ($there, $here) = map { $node->safe_psql('postgres', $_) } "$before $query", "$before $query" =~ s/\blog\b/here/gr;
    is($there, $here, "$what: the same rows");
    like($there, qr/[1-9]0*$/, "$what: there are some");
    return $node->safe_psql('postgres', "$before EXPLAIN (VERBOSE, COSTS OFF) $query");
}
like(same_rows("SELECT count(*) FROM log WHERE id <@ tstzrange('2026-01-01 11:30Z', '2026-01-01 12:30Z')", 'a constant window'),
    qr/id >= '019b[^']*'(?:::uuid)?\)\) AND \(\(id <= '/, 'a constant bound is sent as a uuid');
for my $case (
    [ 'tstzrange', 'id <@ $1', q{'[2026-01-01 11:30Z,2026-01-01 12:30Z)'}, 'ulid_range_lower' ],
    [ 'text', 'ulid_starts_with(id, $1)', q{left(ulid_lower_bound('2026-01-01 12:00Z')::text, 6)}, 'ulid_prefix_lower' ])
{
    my ($type, $condition, $value, $function) = @$case;
    my $plan = same_rows("EXECUTE q ($value)", "$condition, prepared", "PREPARE q ($type) AS SELECT count(*) FROM log WHERE $condition;");
    like($plan, qr/id >= public\.$function\(\$1::[a-z]*\)::uuid/, 'the call of the bound is sent with a cast');
}
my $noon = q{ulid_lower_bound('2026-01-01 12:00+00')};
same_rows("SELECT count(*) FROM log WHERE id $_ $noon", "$_ a constant") for qw(= <> < <= >= >);
is($node->safe_psql('postgres', "SELECT l.n FROM log_1 AS l JOIN here AS h ON l.id = h.id::ulid WHERE h.id::ulid = $noon"),
    0, 'a constant that the planner infers is sent');
same_rows('SELECT r, (SELECT count(*) FROM log WHERE id <@ period.r) FROM period', 'a window of an outer query');
same_rows('SELECT prefix, (SELECT count(*) FROM log WHERE ulid_starts_with(id, period.prefix)) FROM period',
    'a prefix of an outer query');

done_testing();
