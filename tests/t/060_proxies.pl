# pgbouncer in transaction mode, with each generator.
use strict;
use warnings FATAL => 'all';
use ULID;

needs_program('pgbouncer');
my $node = new_server('proxied');
my $sql  = sub { return $node->safe_psql('postgres', @_) };
$sql->(
    q{CREATE TABLE made (n bigserial PRIMARY KEY, client int, backend int DEFAULT pg_backend_pid(),
        random ulid DEFAULT gen_ulid(),
    monotonic ulid DEFAULT gen_monotonic_ulid(), v7 ulid DEFAULT gen_uuid_v7(), ordered ulid
        DEFAULT gen_ordered_ulid())}
);
my $pooler = start_pooler($node);
for my $protocol (qw(simple extended))
{
    $node->pgbench(
        "-h $pooler -n -M $protocol -c 8 -t 250",
        0,
        [qr/actually processed: 2000/],
        [qr/^/],
        "eight clients insert through pgbouncer, by the $protocol protocol",
        { "insert_$protocol" => 'INSERT INTO made (client) VALUES (:client_id);' },
        'postgres');
}
is( $sql->(
        'SELECT count(*), count(DISTINCT random), count(DISTINCT monotonic), count(DISTINCT v7),
            count(DISTINCT ordered) FROM made'
    ),
    '4000|4000|4000|4000|4000',
    'all ids differ');
my $in_order = sub {
    my ($column, $by) = @_;
    return $sql->(
        "SELECT bool_and($column > before)
            FROM (SELECT $column, lag($column) OVER (PARTITION BY $by ORDER BY n) AS before
            FROM made) AS s"
    );
};
is($in_order->($_, 'backend'), 't', "$_ ids are in order on each server connection")
  for qw(monotonic v7);
is($in_order->('ordered', 'client'), 't', 'ids of gen_ordered_ulid are in order for each client');

done_testing();
