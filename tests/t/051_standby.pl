# A hot standby: it reads by key and by window, generates ids in queries, and goes on with larger
# ones when promoted. It and a restored copy continue the order of gen_ordered_ulid as
# docs/operating.md says, also if their clock is behind.
use strict;
use warnings FATAL => 'all';
use ULID;

my $primary = new_server('primary', allows_streaming => 1);
$primary->safe_psql(
    'postgres', q{
    CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_monotonic_ulid(), n int);
    INSERT INTO event (n) SELECT n FROM generate_series(1, 10000) AS n;
    CREATE TABLE ordered (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
    CREATE TABLE parted (id ulid DEFAULT gen_ordered_ulid(), n int) PARTITION BY LIST (n);
    CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
    CREATE TABLE unused (id ulid DEFAULT gen_ordered_ulid());
    INSERT INTO unused VALUES (ulid_lower_bound('3000-01-01'));
    CREATE DOMAIN message_id AS uuid DEFAULT gen_ordered_uuid_v7();
    CREATE TABLE with_domain (id message_id);
    INSERT INTO with_domain DEFAULT VALUES});
$primary->safe_psql('postgres', untrusted());

# the catalogs of a standby keep this table after the promotion
my $session = $primary->background_psql('postgres');
$session->query_safe('CREATE TEMPORARY TABLE own (id ulid DEFAULT gen_ordered_ulid())');
$primary->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'copy', has_streaming => 1);
$standby->start;
$primary->safe_psql('postgres',
    'INSERT INTO event (n) SELECT n FROM generate_series(10001, 20000) AS n');

# the clock of the primary is an hour ahead of that of the others
$primary->safe_psql(
    'postgres', q{
    SELECT ulid_advance_ordered_time(ulid_upper_bound(now() + interval '1 hour'));
    INSERT INTO parted (n) VALUES (1);
    INSERT INTO ordered DEFAULT VALUES});
$primary->wait_for_catchup($standby);
$primary->backup('later');

# The standby has every row and reads it by the index; it makes ids, but cannot store them.
my $read   = sub { return $standby->safe_psql('postgres', @_) };
my $newest = $read->('SELECT max(id) FROM event');
is( $newest,
    $primary->safe_psql('postgres', 'SELECT max(id) FROM event'),
    'the newest id of the standby is that of the primary');
is($read->('SELECT pg_is_in_recovery()'), 't', 'the standby is one');
is($read->('SELECT count(*), count(DISTINCT id), max(n) FROM event'),
    '20000|20000|20000', 'it has every row');
is( $read->(
        "SELECT count(*) FROM event WHERE id <@ tstzrange(ulid_extract_timestamp('$newest'), NULL)
            AND id = '$newest'"
    ),
    1,
    'it reads by window and key');
like(
    $read->('EXPLAIN SELECT * FROM event WHERE id <@ tstzrange(now(), NULL)'),
    qr/Scan .*event_pkey/,
    'it reads a window by the index');
is( $read->(
        "SELECT gen_ulid() > '$newest', gen_monotonic_ulid() > '$newest',
            gen_uuid_v7() > '$newest'::ulid::uuid, gen_ordered_ulid() > '$newest',
            gen_ordered_uuid_v7() > '$newest'::ulid::uuid"
    ),
    't|t|t|t|t',
    'each generator makes larger ids there');
my (undef, undef, $error) = $standby->psql('postgres', 'INSERT INTO event (n) VALUES (0)');
like($error, qr/ERROR:  cannot execute INSERT in a read-only transaction$/m,
    'it cannot store them');

$primary->stop('immediate');
eval { $session->quit };
$standby->promote;
$standby->safe_psql('postgres',
    'INSERT INTO event (n) SELECT n FROM generate_series(20001, 30000) AS n');
is( $read->(
        "SELECT count(*), count(DISTINCT id), min(id)
            FILTER (WHERE n > 20000) > '$newest' FROM event"
    ),
    '30000|30000|t',
    'promoted, it goes on with larger ids');

my $restored = PostgreSQL::Test::Cluster->new('restored');
$restored->init_from_backup($primary, 'later');
$restored->start;
for my $server ($standby, $restored)
{
    my ($sql, $name) = (sub { return $server->safe_psql('postgres', @_) }, $server->name);
    is($sql->('SELECT gen_ordered_ulid() < max(id) FROM ordered'),
        't', "$name: its order begins below the newest id");
    my $newest = $sql->('SELECT max(id) FROM ordered');
    like(
        $sql->("\\set owners :USER\n\\i $root/docs/after_failover.sql")
          =~ s/^public\.//gmr,
        qr/\Aordered\|\d.*\nparted_1\|\d.*\nunused\|\nwith_domain\|\d.*\nplanned\|other\z/,
        "$name: each table with ordered ids is looked at, or named");
    is($sql->("INSERT INTO ordered DEFAULT VALUES RETURNING id > '$newest'"),
        't', "$name: the order continues after the newest id");
}

done_testing();
