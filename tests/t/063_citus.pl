# Citus: the extension reaches every node, keys and windows find shards and indexes, and shards and
# partitions move and go.
use strict;
use warnings FATAL => 'all';
use ULID;

needs_extension('citus');
my ($worker, $coordinator) = map {

    # Citus takes the directory of a socket for the name of a host
    my $node = new_server(
        $_,
        extension        => 0,
        allows_streaming => 'logical',
        conf             => [
            "shared_preload_libraries = 'citus'",
            'max_worker_processes = 32',
            'max_prepared_transactions = 100',
            'citus.shard_count = 8'
        ]);

    # since the minor releases of 2026, a server loads only the output plugins that are named
    $node->append_conf(
        'postgresql.conf',
        "citus.local_hostname = '"
          . $node->host . "'\n"
          . $node->safe_psql(
            'postgres',
            "SELECT format('%s = %L', name, 'citus, ' || setting) FROM pg_settings
                WHERE name = 'output_plugin_libraries'"
          ));
    $node->restart;
    $node->safe_psql('postgres', 'CREATE EXTENSION citus');
    $node;
} qw(worker coordinator);

# What SQL prints on the coordinator, without the empty lines of functions that return void.
sub run
{
    return join "\n", grep { $_ ne '' } split /\n/, $coordinator->safe_psql('postgres', @_);
}

run(sprintf "SELECT citus_set_coordinator_host('%s', %d); SELECT citus_add_node('%s', %d)",
    map { ($_->host, $_->port) } $coordinator, $worker);
run(q{
    CREATE EXTENSION ulid;
    CREATE TABLE account (id ulid PRIMARY KEY DEFAULT gen_ulid(), name text);
    CREATE TABLE posting (account_id ulid REFERENCES account, id ulid DEFAULT gen_ulid(),
        PRIMARY KEY (account_id, id));
    SELECT create_distributed_table('account', 'id');
    SELECT create_distributed_table('posting', 'account_id', colocate_with => 'account');
    INSERT INTO account (name) SELECT 'account ' || n FROM generate_series(1, 1000) AS n;
    INSERT INTO posting (account_id) SELECT id FROM account});
$worker->safe_psql('postgres', "INSERT INTO account (name) VALUES ('made on a worker')");
is(run('SELECT count(*), count(DISTINCT id) FROM account'), '1001|1001', 'every row has an id');
my $id = run('SELECT max(account_id) FROM posting');
for (
    [ "id = '$id'",                                           1 ],
    [ "id = '$id'::ulid::uuid",                               1 ],
    [ "id <@ tstzrange(ulid_extract_timestamp('$id'), NULL)", 8 ])
{
    my ($condition, $tasks) = @$_;
    my $plan = run(
        "EXPLAIN (COSTS OFF) SELECT * FROM account JOIN posting ON account_id = account.id
            WHERE account.$condition"
    );
    like($plan, qr/Task Count: $tasks\n.*Index (?:Only )?Scan/s, "$tasks tasks for $condition");
}
run(sprintf "SELECT citus_set_node_property('%s', %d, 'shouldhaveshards', true)",
    $coordinator->host, $coordinator->port);
run("SELECT rebalance_table_shards(shard_transfer_mode => 'force_logical')");
is( run("SELECT count(*) FROM account JOIN posting ON account_id = account.id
    WHERE account.id <= '$id'"
    ),
    1000,
    'when shards have moved, every row is joined with its own');

# A uuid table becomes one of ulid.
run(q{
    CREATE TABLE old (id uuid PRIMARY KEY DEFAULT gen_random_uuid());
    SELECT create_distributed_table('old', 'id', colocate_with => 'none');
    INSERT INTO old SELECT FROM generate_series(1, 100);
    SELECT undistribute_table('old');
    ALTER TABLE old ALTER id DROP DEFAULT, ALTER id TYPE ulid, ALTER id SET DEFAULT gen_ulid();
    SELECT create_distributed_table('old', 'id')});
is(run('SELECT count(*), pg_typeof(min(id)) FROM old'), '100|ulid', 'a table is migrated');
run(q{
    CREATE TABLE event (id ulid, tenant int, PRIMARY KEY (tenant, id)) PARTITION BY RANGE (id);
    SELECT create_distributed_table('event', 'tenant', colocate_with => 'none');
    SELECT create_time_partitions('event', '1 month', '2026-07-01 00:00Z', '2026-01-01 00:00Z');
    INSERT INTO event SELECT gen_ulid('2026-01-01 00:00Z'::timestamptz + n * interval '1 hour'),
        n % 10 FROM generate_series(0, 4000) AS n;
    CALL drop_old_time_partitions('event', '2026-04-01 00:00Z')});
is( run('SELECT count(*), min(ulid_extract_timestamp(id)) FROM event'),
    '1841|2026-04-01 00:00:00+00',
    'partitions by time are made and dropped');

done_testing();
