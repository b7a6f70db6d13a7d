# pgbouncer in transaction mode, with each generator, and plproxy, which sends a call to the server of its key's hash.
use strict;
use warnings;
use ULID;

my $node = new_server('proxied');
my $sql = sub { return $node->safe_psql('postgres', @_) };

SKIP: {
    skip('no program pgbouncer', 1) if !has_program('pgbouncer');
    $sql->(q{CREATE TABLE made (n bigserial PRIMARY KEY, client int, backend int DEFAULT pg_backend_pid(), random ulid DEFAULT gen_ulid(),
        monotonic ulid DEFAULT gen_monotonic_ulid(), v7 ulid DEFAULT gen_uuid_v7(), ordered ulid DEFAULT gen_ordered_ulid())});
    my $pooler = start_pooler($node);
    for my $protocol (qw(simple extended)) {
        $node->pgbench("-h $pooler -n -M $protocol -c 8 -t 250", 0, [qr/actually processed: 2000/], [qr/^/],
            "eight clients insert through pgbouncer, by the $protocol protocol", { "insert_$protocol" => 'INSERT INTO made (client) VALUES (:client_id);' }, 'postgres');
    }
    is($sql->('SELECT count(*), count(DISTINCT random), count(DISTINCT monotonic), count(DISTINCT v7), count(DISTINCT ordered) FROM made'),
        '4000|4000|4000|4000|4000', 'all ids differ');
    my $in_order = sub {
        my ($column, $by) = @_;
        return $sql->("SELECT bool_and($column > before) FROM (SELECT $column, lag($column) OVER (PARTITION BY $by ORDER BY n) AS before FROM made) AS s");
    };
    is($in_order->($_, 'backend'), 't', "$_ ids are in order on each server connection") for qw(monotonic v7);
    is($in_order->('ordered', 'client'), 't', 'ids of gen_ordered_ulid are in order for each client');
}

SKIP: {
    skip('no extension plproxy', 1) if !has_extension('plproxy');
    for my $shard (0, 1) {
        $sql->("CREATE DATABASE proxied_$shard");
        $node->safe_psql("proxied_$shard", q{
            CREATE EXTENSION ulid;
            CREATE TABLE event (id ulid PRIMARY KEY, n int);
            CREATE FUNCTION put(id ulid, n int) RETURNS void LANGUAGE sql AS 'INSERT INTO event VALUES (id, n)';
            CREATE FUNCTION get(id ulid) RETURNS int LANGUAGE sql AS 'SELECT n FROM event WHERE event.id = get.id'});
    }
    $sql->(sprintf q{
        CREATE EXTENSION plproxy;
        CREATE SERVER shards FOREIGN DATA WRAPPER plproxy OPTIONS (p0 $$%s$$, p1 $$%s$$);
        SELECT format('CREATE USER MAPPING FOR CURRENT_USER SERVER shards OPTIONS (user %%L)', current_user) \gexec
        CREATE FUNCTION put(id ulid, n int) RETURNS void LANGUAGE plproxy AS $f$ CLUSTER 'shards'; RUN ON ulid_hash(id); $f$;
        CREATE FUNCTION get(id ulid) RETURNS int LANGUAGE plproxy AS $f$ CLUSTER 'shards'; RUN ON ulid_hash(id); $f$;
        CREATE TABLE event AS SELECT gen_ulid() AS id, n FROM generate_series(1, 1000) AS n;
        SELECT put(id, n) FROM event}, map { $node->connstr("proxied_$_") } 0, 1);
    is($sql->('SELECT count(*), count(*) FILTER (WHERE get(id) = n), count(*) FILTER (WHERE get(id::uuid) = n) FROM event'), '1000|1000|1000',
        'plproxy finds each row by the hash of its key, a ulid or a uuid');
}

done_testing();
