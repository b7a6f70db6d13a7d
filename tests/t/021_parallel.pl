# Parallel queries: workers generate distinct random ids; generators that keep an order stay
# in the leader.
use strict;
use warnings FATAL => 'all';
use ULID;

my $node = new_server('parallel');
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE number AS SELECT n FROM generate_series(1, 200000) AS n;
CREATE SEQUENCE counter;
ANALYZE number;
ALTER DATABASE postgres SET parallel_setup_cost = 0;
ALTER DATABASE postgres SET parallel_tuple_cost = 0;
ALTER DATABASE postgres SET min_parallel_table_scan_size = 0;
ALTER DATABASE postgres SET max_parallel_workers_per_gather = 4;
-- the leader must not do the work alone
ALTER DATABASE postgres SET parallel_leader_participation = off;
SQL

# The plan of a query with what happened, without what depends on the machine.
sub plan_of
{
    my ($query) = @_;
    my $plan = $node->safe_psql('postgres',
        "EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query");
    return $plan;
}

my $plan = plan_of('SELECT gen_ulid() FROM number');
like($plan, qr/Workers Launched: [1-9]/, 'gen_ulid: workers run');
like(
    $plan,
    qr/Gather.*Parallel Seq Scan.*Output: gen_ulid/s,
    'gen_ulid is called below the Gather node, in the workers');
is( $node->safe_psql(
        'postgres',
        'SELECT count(DISTINCT id) FROM (SELECT gen_ulid() AS id FROM number OFFSET 0) AS s'),
    200000,
    'the ids of all workers differ');

for my $generator (qw(gen_monotonic_ulid gen_uuid_v7 gen_ordered_ulid gen_ordered_uuid_v7))
{
    $plan = plan_of("SELECT $generator() FROM number");
    like(
        $plan,
        qr/$generator.*Gather|Gather.*$generator.*Parallel Seq Scan/s,
        "$generator is called above the parallel scan, in the leader");
    unlike($plan, qr/Parallel Seq Scan.*$generator/s, "$generator is not called in the workers");
}

# Not even through a function whose label is wrong: the worker's transaction would end before that
# of its ids.
my $helps = 'HINT:  A function that generates them or refreshes their horizon must be '
  . 'PARALLEL RESTRICTED.';
my $nil = '0' x 26;
for ('gen_ordered_ulid()', "ulid_next_horizon('$nil')")
{
    $node->safe_psql('postgres',
        "CREATE OR REPLACE FUNCTION mislabelled() RETURNS ulid LANGUAGE plpgsql PARALLEL SAFE
            AS \$\$ BEGIN RETURN $_; END \$\$"
    );
    like(
        ($node->psql('postgres',
                "\\set VERBOSITY verbose
                SET max_parallel_workers = 1;
                SELECT mislabelled() FROM number"))[2],
        qr/ERROR:  25000: cannot use ordered ids in a parallel worker\n\Q$helps\E\n/,
        "worker 0 calls no $_");
}

# Ordered ids are in the order of the rows wherever the query sorts, and whatever stores them.
my $file = PostgreSQL::Test::Utils::tempdir('parallel') . '/copied';
for my $call ("nextval('counter')", 'gen_ordered_ulid()', 'gen_ordered_uuid_v7()')
{
    for my $from ('number WHERE n % 3 = 0 ORDER BY n',
        '(SELECT n FROM number WHERE n % 3 = 0 ORDER BY n) AS sorted')
    {
        my $query = "SELECT $call AS id, n FROM $from";
        is( $node->safe_psql('postgres',
                <<"SQL"), '0|0|0', "$query: in order in a table, a materialized view and a copy");
DROP TABLE IF EXISTS by_table, by_copy;
DROP MATERIALIZED VIEW IF EXISTS by_view;
CREATE TABLE by_table AS $query;
CREATE MATERIALIZED VIEW by_view AS $query;
CREATE TABLE by_copy AS TABLE by_view WITH NO DATA;
COPY ($query) TO '$file';
COPY by_copy FROM '$file';
SELECT count(*) FILTER (WHERE made = 1), count(*) FILTER (WHERE made = 2), count(*)
    FILTER (WHERE made = 3)
FROM (SELECT made, id <= lag(id) OVER (PARTITION BY made ORDER BY n) AS disorder
      FROM (SELECT 1 AS made, * FROM by_table UNION ALL SELECT 2, * FROM by_view UNION ALL
          SELECT 3, * FROM by_copy) AS s) AS s
WHERE disorder
SQL
    }
}

done_testing();
