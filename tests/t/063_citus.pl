# Citus, a coordinator and two workers: the extension on every node, distributed, co-located and reference tables, one
# key to one shard, windows of time, a shard moved while rows are inserted, time partitions, a uuid table migrated.
use strict;
use warnings;
use File::Glob 'bsd_glob';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

needs_extension('citus');

# Since the minor releases of 2026, a server loads only the output plugins that are named.
my $loads = "SELECT format('%s = %L', name, 'citus, ' || setting) FROM pg_settings WHERE name = 'output_plugin_libraries'";
my %node;
for my $name (qw(worker_2 worker_1 coordinator)) {
    # Citus takes the directory of a socket for the name of a host
    my $node = $node{$name} = new_server($name, extension => 0, allows_streaming => 'logical',
        conf => [ "shared_preload_libraries = 'citus'", 'max_connections = 100', 'shared_buffers = 32MB', 'max_worker_processes = 32',
            'max_prepared_transactions = 100', 'citus.shard_count = 8', 'autovacuum = off' ]);
    $node->append_conf('postgresql.conf', "citus.local_hostname = '" . $node->host . "'");
    $node->append_conf('postgresql.conf', $node->safe_psql('postgres', $loads));
    $node->restart;
    $node->safe_psql('postgres', 'CREATE EXTENSION citus');
}
my $coordinator = $node{coordinator};
note run('SELECT citus_version()');

# What SQL prints on the coordinator, without the empty lines of functions that return void.
sub run {
    my ($sql) = @_;
    return join "\n", grep { $_ ne '' } split /\n/, $coordinator->safe_psql('postgres', $sql);
}

# A statement fails, and the first line of its error is exactly this message.
sub refused {
    my ($message, $sql) = @_;
    my ($status, $output, $error) = $coordinator->psql('postgres', $sql);
    like($error, qr/ERROR:  \Q$message\E$/m, "refused: $message");
    return $error;
}

# A query goes to so many shards, and scans each in this way.
sub planned {
    my ($sql, $expected) = @_;
    my $plan = run("EXPLAIN (COSTS OFF) $sql");
    my %seen = map { $_ => 1 } map { s/Scan Backward/Scan/r } $plan =~ /((?:Index Only|(?<!Bitmap )Index|Bitmap Heap|Seq) Scan(?: Backward)?) /g;
    $seen{"tasks: $1"} = 1 while $plan =~ /Task Count: (\d+)/g;
    is(join(',', sort keys %seen), $expected, "planned: $sql") or diag $plan;
    return;
}

# Citus's function that adds a node, as SQL.
sub add_node {
    my ($name) = @_;
    return sprintf "SELECT citus_add_node('%s', %d)", $node{$name}->host, $node{$name}->port;
}

# The extension reaches every node, one that is added later too.
run(sprintf "SELECT citus_set_coordinator_host('%s', %d)", $coordinator->host, $coordinator->port);
run(add_node('worker_1'));
run('CREATE EXTENSION ulid');
run('CREATE TABLE before (id ulid PRIMARY KEY, n int)');
run(q(SELECT create_distributed_table('before', 'id')));
run('INSERT INTO before SELECT gen_ulid(), n FROM generate_series(1, 1000) AS n');
run(add_node('worker_2'));
is(run(<<'SQL'), '3|1', 'the extension reaches every node');
SELECT count(*), count(DISTINCT result)
FROM run_command_on_all_nodes('SELECT extversion FROM pg_extension WHERE extname = ''ulid''')
SQL
run('SELECT rebalance_table_shards()');
is(run('SELECT count(*), count(DISTINCT id) FROM before'), '1000|1000', 'every row is there after its shards were rebalanced');

# Distributed by the key, with foreign keys to and from, a reference table; all ways to insert.
run(<<'SQL');
CREATE TABLE currency (id ulid PRIMARY KEY DEFAULT gen_ulid(), name text UNIQUE);
CREATE TABLE account (id ulid PRIMARY KEY DEFAULT gen_ulid(), name text, currency_id ulid, parent uuid);
CREATE TABLE posting (account_id ulid, id ulid DEFAULT gen_ulid(), amount int, PRIMARY KEY (account_id, id));
CREATE TABLE import (n int, account_id ulid, id ulid);
SELECT create_reference_table('currency');
SELECT create_distributed_table('account', 'id');
SELECT create_distributed_table('posting', 'account_id', colocate_with => 'account');
SELECT create_distributed_table('import', 'n', colocate_with => 'none');
ALTER TABLE account ADD CONSTRAINT account_currency FOREIGN KEY (currency_id) REFERENCES currency;
ALTER TABLE posting ADD CONSTRAINT posting_account FOREIGN KEY (account_id) REFERENCES account;
INSERT INTO currency (name) VALUES ('EUR'), ('USD');
INSERT INTO account (name, currency_id) SELECT 'account ' || n, (SELECT id FROM currency WHERE name = 'EUR') FROM generate_series(1, 5000) AS n;
INSERT INTO posting (account_id, amount) SELECT id, 1 FROM account;
INSERT INTO posting (account_id, amount) SELECT id, 2 FROM account;
INSERT INTO import SELECT row_number() OVER (), id FROM account;
INSERT INTO posting (account_id, amount) SELECT account_id, 3 FROM import;
SQL
is(run('SELECT count(*), count(DISTINCT posting.id), sum(amount) FROM posting JOIN account ON account_id = account.id'),
    '15000|15000|30000', 'co-located tables: all ways to insert give each row an id');
is(run(<<'SQL'), 1, 'the reference table is the same on every node');
SELECT count(DISTINCT result) FROM run_command_on_all_nodes('SELECT md5(string_agg(id::text, '','' ORDER BY id)) FROM currency')
SQL
my $copy = PostgreSQL::Test::Utils::tempdir('citus') . '/account.copy';
run("\\copy account TO '$copy' (FORMAT binary)");
run('CREATE TABLE copied (LIKE account)');
run(q(SELECT create_distributed_table('copied', 'id', colocate_with => 'account')));
run("\\copy copied FROM '$copy' (FORMAT binary)");
is(run('SELECT count(*) FROM copied JOIN account USING (id, name)'), 5000, 'COPY in binary, out and in');

# One key goes to one shard, by its index, also as uuid; a window goes to all, by the index of each.
my $id = run('SELECT id FROM account ORDER BY id LIMIT 1 OFFSET 2500');
my $uuid = run("SELECT '$id'::ulid::uuid");
run(q(SELECT run_command_on_shards(t, 'ANALYZE %s') FROM unnest('{account,posting,before}'::text[]) AS t));
planned("SELECT * FROM account WHERE id = '$id'", 'Index Scan,tasks: 1');
planned("SELECT * FROM account WHERE id = '$uuid'::uuid", 'Index Scan,tasks: 1');
planned("UPDATE account SET name = 'changed' WHERE id = '$uuid'::uuid", 'Index Scan,tasks: 1');
planned("DELETE FROM posting WHERE account_id = '$uuid'::uuid", 'Bitmap Heap Scan,tasks: 1');
planned("SELECT * FROM account JOIN posting ON account.id = account_id WHERE account.id = '$id'",
    'Bitmap Heap Scan,Index Scan,tasks: 1');
for my $type (qw(ulid uuid)) {
    my @found = split /\n/, run(<<"SQL");
PREPARE key ($type) AS SELECT count(*) FROM account WHERE id = \$1;
PREPARE keys (${type}[]) AS SELECT count(*) FROM account WHERE id = ANY (\$1);
EXECUTE key ('$uuid');
EXECUTE keys ('{$uuid}');
SQL
    is("@found", '1 1', "prepared statements with parameters of type $type find the row");
}
planned("SELECT * FROM account WHERE id <@ tstzrange('2026-01-01 00:00Z', '2026-01-01 00:01Z')", 'Index Scan,tasks: 8');
planned("SELECT * FROM account WHERE id >= ulid_lower_bound('2026-01-01 00:00Z') AND id < ulid_lower_bound('2026-01-01 00:01Z')",
    'Index Scan,tasks: 8');
is(run("SELECT count(*) FROM account WHERE id <@ tstzrange(ulid_extract_timestamp('$id'), NULL)"),
    run("SELECT count(*) FROM account WHERE ulid_extract_timestamp(id) >= ulid_extract_timestamp('$id')"),
    'a window has the rows that the times of the keys say');

# The newest key: max reads each shard, ORDER BY takes the indexes.
planned('SELECT max(id) FROM account', 'Seq Scan,tasks: 8');
planned('SELECT id FROM account ORDER BY id DESC LIMIT 1', 'Index Only Scan,tasks: 8');
is(run('SELECT max(id) FROM account'), run('SELECT id FROM account ORDER BY id DESC LIMIT 1'), 'both find the newest key');

# What Citus refuses.
run(<<'SQL');
CREATE TABLE old (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), n int, other uuid);
SELECT create_distributed_table('old', 'id', colocate_with => 'none');
INSERT INTO old (n, other) SELECT n, gen_random_uuid() FROM generate_series(1, 1000) AS n;
CREATE TABLE new (id ulid PRIMARY KEY);
SQL
like(refused('cannot colocate tables old and new', q(SELECT create_distributed_table('new', 'id', colocate_with => 'old'))),
    qr/^DETAIL:  Distribution column types don.t match for old and new\.$/m, 'its detail names the types');
refused('cannot execute ALTER TABLE command involving partition column', 'ALTER TABLE old ALTER COLUMN id TYPE ulid');
refused('operator does not exist: integer public.= integer', 'SELECT * FROM before WHERE (id, n) IN (SELECT id, n FROM import)');
refused('operator does not exist: integer public.> integer', "SELECT * FROM before WHERE (id, n) > ('$id', 1)");
refused('complex joins are only supported when all distributed tables are joined on their distribution columns with equal operator',
    'SELECT count(*) FROM old JOIN account USING (id)');
refused('functions used in UPDATE queries on distributed tables must not be VOLATILE', 'UPDATE account SET parent = gen_ulid()');
run(<<'SQL');
WITH made AS MATERIALIZED (SELECT id, gen_ulid() AS parent FROM account)
UPDATE account SET parent = made.parent FROM made WHERE account.id = made.id
SQL
is(run('SELECT count(DISTINCT parent) FROM account'), 5000, 'ids made in a materialized query update all rows');
planned("SELECT * FROM old WHERE id = '$id'::ulid", 'Index Scan,tasks: 1');
planned("SELECT * FROM old WHERE id = '$id'::ulid::uuid", 'Index Scan,tasks: 1');

# A distributed uuid table becomes one of ulid; another column does in place.
run(<<'SQL');
CREATE TABLE rows_before AS SELECT id, n FROM old;
ALTER TABLE old ALTER COLUMN other TYPE ulid;
SELECT undistribute_table('old');
ALTER TABLE old ALTER COLUMN id DROP DEFAULT;
ALTER TABLE old ALTER COLUMN id TYPE ulid;
ALTER TABLE old ALTER COLUMN id SET DEFAULT gen_ulid();
SELECT create_distributed_table('old', 'id', colocate_with => 'account');
INSERT INTO old (n) VALUES (0);
SQL
is(run('SELECT count(*) FROM old JOIN rows_before USING (id, n)'), 1000, 'a uuid table that became one of ulid has the same rows');
planned("SELECT * FROM old JOIN account USING (id) WHERE id = '$id'", 'Index Scan,tasks: 1');

# A shard moves while rows are inserted; none is lost. Each writer notes what the server returned to it.
my $directory = PostgreSQL::Test::Utils::tempdir('writers');
append_to_file("$directory/insert.sql", "INSERT INTO before (id, n) SELECT gen_ulid(), 0 FROM generate_series(1, 5) RETURNING id\n\\watch 0.01\n");
my @writers = map {
    IPC::Run::start([ 'psql', '-XAtq', '-d', $coordinator->connstr('postgres'), '-f', "$directory/insert.sql" ], '>', "$directory/$_")
} 1, 2;

# The ids that the writers were told.
sub written {
    return map { slurp_file("$directory/$_") =~ /^([0-9A-Z]{26})\n/mg } 1, 2;
}

await('20 rows of the writers', sub { written() >= 20 });
my $shard = "FROM citus_shards WHERE table_name = 'before'::regclass AND citus_table_type = 'distributed' ORDER BY shardid LIMIT 1";
my ($from, $from_port, $moved) = split /\|/, run("SELECT nodename, nodeport, shardid $shard");
my $to = $node{ $from_port == $node{worker_1}->port ? 'worker_2' : 'worker_1' };
my ($to_host, $to_port) = ($to->host, $to->port);
run("SELECT citus_move_shard_placement($moved, '$from', $from_port, '$to_host', $to_port, 'force_logical')");
my $wanted = 20 + written();
await('20 more of them', sub { written() >= $wanted });
$_->signal('INT') for @writers;
$_->finish for @writers;
is(run("SELECT nodeport $shard"), $to_port, 'the shard has moved');
my @written = written();
note @written . ' rows inserted meanwhile';
my %stored = map { $_ => 1 } split /\n/, run('SELECT id FROM before');
is((grep { !$stored{$_} } @written), 0, 'every row that a writer was told of is there');
my $rows = run('SELECT count(*) FROM before');
my $others = $rows - 1000 - @written;
ok((grep { $_ == $others } 0, 5, 10), "so are those that were there before, and no others but those of interrupted statements ($others)");

run("SELECT isolate_tenant_to_new_shard('before', '$written[0]'::ulid, 'CASCADE', shard_transfer_mode => 'force_logical') IS NOT NULL");
is(run('SELECT count(*) FROM before'), $rows, 'a key gets a shard of its own, and no row is lost');

# Partitions by the time of the key, in shards.
run(<<'SQL');
CREATE TABLE event (id ulid, tenant int, what text, PRIMARY KEY (tenant, id)) PARTITION BY RANGE (id);
SELECT create_distributed_table('event', 'tenant', colocate_with => 'none');
SQL
is(run(q(SELECT create_time_partitions('event', '1 month', '2026-07-01 00:00Z', '2026-01-01 00:00Z'))), 't',
    'create_time_partitions takes a ulid key');
run(q(INSERT INTO event SELECT gen_ulid('2026-01-01 00:00Z'::timestamptz + n * interval '1 hour'), n % 10, n FROM generate_series(0, 4000) AS n));
is(run(<<'SQL'), '6|2026-01-01 00:00:00+00|2026-07-01 00:00:00+00', 'time_partitions shows their limits as times');
SELECT count(*), min(from_value::ulid)::timestamptz, max(to_value::ulid)::timestamptz FROM time_partitions WHERE parent_table = 'event'::regclass
SQL
is(run(q(SELECT count(*) FROM event WHERE id <@ tstzrange('2026-02-01 00:00Z', '2026-03-01 00:00Z'))), 672, 'a month has its rows');
run(q(CALL drop_old_time_partitions('event', '2026-04-01 00:00Z')));
is(run('SELECT count(*), min(ulid_extract_timestamp(id)) FROM event'), '1841|2026-04-01 00:00:00+00',
    'drop_old_time_partitions drops the older ones');
planned("SELECT * FROM event WHERE tenant = 1 AND id <@ tstzrange('2026-05-01 00:00Z', '2026-05-02 00:00Z')", 'Index Scan,tasks: 1');

$node{worker_1}->safe_psql('postgres', q(INSERT INTO account (name) SELECT 'from worker ' || n FROM generate_series(1, 100) AS n));
is(run('SELECT count(*), count(DISTINCT id) FROM account'), '5100|5100', 'connected to a worker, ids are made there');

done_testing();
