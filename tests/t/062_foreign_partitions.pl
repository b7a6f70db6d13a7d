# A consumer of a table with foreign partitions of postgres_fdw. Its query has another snapshot on
# the other server, and passes no row all the same, as the horizon is of before both.
use strict;
use warnings FATAL => 'all';
use ULID;

needs_extension('postgres_fdw');
my $node = new_server('local');
my $sql  = sub { return $node->safe_psql('postgres', @_) };
my ($host, $port) = ($node->host, $node->port);
$sql->('CREATE DATABASE shard');
$node->safe_psql('shard',
    'CREATE EXTENSION ulid; CREATE TABLE outbox (id ulid PRIMARY KEY, message text NOT NULL)');
$sql->(
    qq{
    CREATE EXTENSION postgres_fdw;
    CREATE SERVER shard FOREIGN DATA WRAPPER postgres_fdw
        OPTIONS (host '$host', port '$port', dbname 'shard', extensions 'ulid');
    SELECT format('CREATE USER MAPPING FOR CURRENT_USER SERVER shard OPTIONS (user %L)',
        current_user) \\gexec
    CREATE TABLE outbox (id ulid DEFAULT gen_ordered_ulid(), message text NOT NULL)
        PARTITION BY RANGE (id);
    CREATE FOREIGN TABLE outbox_all PARTITION OF outbox
        FOR VALUES FROM (MINVALUE) TO (MAXVALUE) SERVER shard OPTIONS (table_name 'outbox');
    -- Cheaper than the horizon, so it is called first. While it waits, the query has its
    -- snapshot on the other server.
    CREATE FUNCTION pause() RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS
        'BEGIN PERFORM pg_advisory_lock(2); PERFORM pg_advisory_unlock(2); RETURN true; END'});
my ($late, $locker, $reader) = map { $node->background_psql('postgres') } 1 .. 3;
my $rows = sub {
    return "SELECT string_agg(message, ' ' ORDER BY id) FROM outbox WHERE pause() AND id < $_[0];";
};
my $refresh = 'CALL ulid_refresh_horizon();';
my $insert  = sub { return "INSERT INTO outbox (message) VALUES ('$_[0]');" };

# What a query reads, during which a transaction commits whose id is less than that of a row.
sub read_beside_commit
{
    my ($horizon, $before_commit, $after_commit) = @_;
    $late->query('BEGIN; ' . $insert->('first'));
    $sql->($insert->('second'));
    $sql->($before_commit);
    $locker->query('SELECT pg_advisory_lock(2)');
    my $found = start_until_lock($node, $reader, $rows->($horizon));
    $late->query('COMMIT');
    $after_commit->();
    $locker->query('SELECT pg_advisory_unlock(2)');
    return scalar $found->();
}

is( read_beside_commit("'7ZZZZZZZZZZZZZZZZZZZZZZZZZ'", 'SELECT', sub { }),
    'second',
    'without a horizon, it passes the row of a transaction that commits during it');

# the first row is of before the snapshot on the other server
my $horizon = "(SELECT ulid_current_horizon('00000000000000000000000000'))";
$sql->('DELETE FROM outbox; ' . $insert->('earlier'));
is(read_beside_commit($horizon, $refresh, sub { $sql->($refresh) }),
    'earlier', 'with the horizon, it passes nothing');
is($reader->query($rows->($horizon)),
    'earlier first second', 'and both rows come in their order');
$_->quit for $late, $locker, $reader;

done_testing();
