# Our own rewriting, not postgres_fdw: what the planner's hooks make of comparisons and windows
# (src/planner), where it is sent to another server, whose options name the extension. A table of
# ulids is sharded by hash over two databases, one of uuids by time.
use strict;
use warnings FATAL => 'all';
use ULID;

needs_extension('postgres_fdw');
my $node = new_server('postgres_fdw');
my $sql  = sub { return $node->safe_psql('postgres', @_) };
my ($host, $port, $noon) = ($node->host, $node->port, q{ulid_lower_bound('2026-01-01 12:00+00')});
$sql->(
    'CREATE EXTENSION postgres_fdw; CREATE TABLE event (id ulid, n int) PARTITION BY HASH (id);
    CREATE TABLE log (id uuid, n int) PARTITION BY RANGE (id)'
);
for my $shard (0, 1)
{
    my $half = $shard == 0 ? "FROM (MINVALUE) TO ($noon)" : "FROM ($noon) TO (MAXVALUE)";
    $sql->("CREATE DATABASE shard_$shard");
    $node->safe_psql("shard_$shard",
        "CREATE EXTENSION ulid; CREATE TABLE event_$shard (id ulid PRIMARY KEY, n int);
        CREATE TABLE log_$shard (id uuid, n int)"
    );
    $sql->(<<"SQL");
CREATE SERVER shard_$shard FOREIGN DATA WRAPPER postgres_fdw
    OPTIONS (host '$host', port '$port', dbname 'shard_$shard', extensions 'ulid');
SELECT format('CREATE USER MAPPING FOR CURRENT_USER SERVER shard_$shard OPTIONS (user %L)',
    current_user) \\gexec
CREATE FOREIGN TABLE event_$shard PARTITION OF event FOR VALUES WITH (MODULUS 2, REMAINDER $shard)
    SERVER shard_$shard;
CREATE FOREIGN TABLE log_$shard PARTITION OF log FOR VALUES $half SERVER shard_$shard;
SQL
}
$sql->(<<"SQL");
INSERT INTO event SELECT gen_ulid('2026-01-01 00:00+00'::timestamptz + n * interval '1 minute'), n
    FROM generate_series(1, 2000) AS n;
INSERT INTO log SELECT id, n FROM event UNION ALL SELECT $noon, 0;
CREATE TABLE here AS SELECT * FROM log;
CREATE TABLE period AS SELECT tstzrange(start, start + '1 hour') AS r,
    left(ulid_lower_bound(start)::text, 6) AS prefix
    FROM generate_series('2026-01-01 10:30+00'::timestamptz, '2026-01-01 14:00+00',
        '1 hour') AS start;
SQL
is( $sql->(
        'SELECT sum(n), bool_and(n BETWEEN 900 AND 1100)
            FROM (SELECT count(DISTINCT id) AS n FROM event GROUP BY tableoid) AS s'
    ),
    '2000|t',
    'a row is in one shard');

# An id compares with what is sent as a constant or as a window.
my %sent = (
    "id > '01KDY021000000000000000000'" => "(id > '01KDY021000000000000000000')",
    "id <@ tstzrange('2026-01-01 01:00+00', '2026-01-01 02:00+00')" =>
      q{(id OPERATOR(public.<@) '["2026-01-01 01:00:00+00",}
      . q{"2026-01-01 02:00:00+00")'::public.ulid_window)});
for my $condition (sort keys %sent)
{
    like(
        $sql->("EXPLAIN (VERBOSE, COSTS OFF) SELECT n FROM event_1 WHERE $condition"),
        qr/^ *Remote SQL: \QSELECT n FROM public.event_1 WHERE ($sent{$condition})\E$/m,
        "$condition is sent");
}

# A uuid column compares as a ulid by operators of uuid, so what the bounds are computed by is cast
# where it is sent: as a constant, as a parameter and as a column of another table. Compare the rows
# of a query of log with those of the same query of the table of this server, and return its plan.
sub same_rows
{
    my ($query, $what, $prepare) = @_;
    my $before = 'SET plan_cache_mode = force_generic_plan; ' . ($prepare // '');
    my ($there, $here) = map { $sql->($_) } "$before $query", "$before $query" =~ s/\blog\b/here/gr;
    is($there, $here, "$what: the same rows");
    like($there, qr/[1-9]0*$/, "$what: there are some");
    return $sql->("$before EXPLAIN (VERBOSE, COSTS OFF) $query");
}
like(
    same_rows(
        "SELECT count(*) FROM log WHERE id <@ tstzrange('2026-01-01 11:30Z', '2026-01-01 12:30Z')",
        'a constant window'),
    qr/id >= '019b[^']*'(?:::uuid)?\)\) AND \(\(id <= '/,
    'a constant bound is sent as a uuid');
for my $case (
    [ 'tstzrange', 'id <@ $1', q{'[2026-01-01 11:30Z,2026-01-01 12:30Z)'}, 'ulid_range_lower' ],
    [
        'text',                                                  'ulid_starts_with(id, $1)',
        q{left(ulid_lower_bound('2026-01-01 12:00Z')::text, 6)}, 'ulid_starts_with_lower'
    ])
{
    my ($type, $condition, $value, $function) = @$case;
    my $plan = same_rows(
        "EXECUTE q ($value)",
        "$condition, prepared",
        "PREPARE q ($type) AS SELECT count(*) FROM log WHERE $condition;");
    like(
        $plan,
        qr/id >= public\.$function\(\$1::[a-z]*\)::uuid/,
        'the call of the bound is sent with a cast');
}
same_rows("SELECT count(*) FROM log WHERE id $_ $noon", "$_ a constant") for qw(= <> < <= >= >);
is( $sql->(
        "SELECT l.n FROM log_1 AS l JOIN here AS h ON l.id = h.id::ulid WHERE h.id::ulid = $noon"),
    0,
    'a constant that the planner infers is sent');

# it sorts and groups, too, by what the planner knows to be a foreign column only when it has
# expanded the query
same_rows(
    "SELECT n FROM (TABLE log UNION ALL TABLE log) AS log ORDER BY id = $noon DESC, n LIMIT 10",
    'ORDER BY');
same_rows(
    "SELECT id, count(*) FROM log GROUP BY id HAVING id = $noon",
    'HAVING',
    'SET enable_partitionwise_aggregate = on;');
same_rows('SELECT r, (SELECT count(*) FROM log WHERE id <@ period.r) FROM period',
    'a window of an outer query');
same_rows(
    'SELECT prefix, (SELECT count(*) FROM log WHERE ulid_starts_with(id, period.prefix))
        FROM period',
    'a prefix of an outer query');

# While the remote column becomes a ulid, a foreign table of the other type has other results, by
# what it is declared and by whether its server's options name the extension.
my ($key, $foreign) = ('01563df3-6481-d676-4c61-efb99302bd5b', 0);
$node->safe_psql('shard_0', "CREATE TABLE account (id uuid PRIMARY KEY);
    INSERT INTO account VALUES ('$key')");
$sql->(<<"SQL");
CREATE SERVER plain FOREIGN DATA WRAPPER postgres_fdw
    OPTIONS (host '$host', port '$port', dbname 'shard_0');
SELECT format('CREATE USER MAPPING FOR CURRENT_USER SERVER plain OPTIONS (user %L)',
    current_user) \\gexec
SQL

# The text of the id that a foreign table reads, the number of rows that have it, and what an INSERT
# did, or their SQLSTATEs.
sub seen
{
    my ($type, $server) = @_;
    my $table = 'account_' . ++$foreign;
    $sql->("CREATE FOREIGN TABLE $table (id $type) SERVER $server OPTIONS (table_name 'account')");
    return join ' ', map {
        my (undef, $out, $error) = $node->psql('postgres', "\\set VERBOSITY sqlstate\n$_");
        $error =~ /ERROR:  (\w{5})/ ? $1 : $out
      } "SELECT id::uuid FROM $table",
      "SELECT count(*) FROM $table WHERE id = '$key'",
      "BEGIN; INSERT INTO $table VALUES (gen_ulid()) RETURNING 'inserted'; ROLLBACK";
}
my %before = (
    'uuid plain'   => "$key 1 inserted",
    'uuid shard_0' => "$key 1 inserted",
    'ulid plain'   => "$key 1 22P02",
    'ulid shard_0' => "$key 22P02 22P02");
my %after = (
    'uuid plain'   => '22P02 1 inserted',
    'uuid shard_0' => '22P02 1 inserted',
    'ulid plain'   => "$key 1 inserted",
    'ulid shard_0' => "$key 1 inserted");
is(seen(split), $before{$_}, "$_, where the remote column is uuid") for sort keys %before;
$node->safe_psql('shard_0', 'ALTER TABLE account ALTER COLUMN id TYPE ulid');
is(seen(split), $after{$_}, "$_, where the remote column is ulid") for sort keys %after;

done_testing();
