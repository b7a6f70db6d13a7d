# The companion ulid_gist is dumped, restored and upgraded with what was made of it, and gains what a newer server offers.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

needs_extension('btree_gist');
my $directory = PostgreSQL::Test::Utils::tempdir('gist');
my $taken = qr/conflicting key value violates exclusion constraint/;

# Each extension is in a schema of its own.
my $create = <<'SQL';
CREATE SCHEMA ids;
CREATE SCHEMA contrib;
CREATE SCHEMA classes;
CREATE EXTENSION ulid SCHEMA ids;
CREATE EXTENSION btree_gist SCHEMA contrib;
CREATE EXTENSION ulid_gist SCHEMA classes;
SET search_path = public, ids;
CREATE TABLE booking (room ulid, during daterange, EXCLUDE USING gist (room WITH =, during WITH &&));
INSERT INTO booking SELECT ulid_lower_bound('2026-01-01 00:00Z'::timestamptz + n % 100 * interval '1 hour'),
    daterange('2026-01-01'::date + n, '2026-01-02'::date + n) FROM generate_series(1, 1000) AS n;
CREATE INDEX booking_room ON booking USING gist (room);
SQL
my $create_keys = <<'SQL';
SET search_path = public, ids;
CREATE TABLE price (room ulid, valid daterange, PRIMARY KEY (room, valid WITHOUT OVERLAPS));
CREATE TABLE stay (room ulid, nights daterange, FOREIGN KEY (room, PERIOD nights) REFERENCES price (room, PERIOD valid));
INSERT INTO price VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-01-01, 2027-01-01)');
INSERT INTO stay VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-02-01, 2026-02-05)');
SQL
# What the class consists of.
my $members = <<'SQL';
SELECT string_agg(member, E'\n' ORDER BY member) FROM (
    SELECT format('function %s (%s) %s', amprocnum, amproclefttype::regtype, amproc::regproc) AS member FROM pg_amproc
    WHERE amprocfamily = (SELECT oid FROM pg_opfamily WHERE opfname = 'ulid_ops' AND opfmethod = (SELECT oid FROM pg_am WHERE amname = 'gist'))
    UNION ALL
    SELECT format('operator %s %s', amopstrategy, amopopr::regoperator) FROM pg_amop
    WHERE amopfamily = (SELECT oid FROM pg_opfamily WHERE opfname = 'ulid_ops' AND opfmethod = (SELECT oid FROM pg_am WHERE amname = 'gist'))
) AS s
SQL

# The error of a statement, or nothing.
sub error_of {
    my ($node, $database, $statement) = @_;
    my ($status, $output, $error) = $node->psql($database, "SET search_path = public, ids; $statement");
    return $error;
}

# Whether constraint and index of the bookings work in a database.
sub check_bookings {
    my ($node, $database, $name) = @_;
    my $room = q{ulid_lower_bound('2026-01-01 01:00Z')};
    like(error_of($node, $database, "INSERT INTO booking VALUES ($room, '[2026-01-01, 2026-01-05)')"), $taken, "$name: a taken period is refused");
    is(error_of($node, $database, "INSERT INTO booking VALUES ($room, '[2030-01-01, 2030-01-05)')"), '', "$name: a free one is not");
    my $found = "SET search_path = public, ids; SET enable_bitmapscan = off; SET enable_%s = off;
        SELECT string_agg(room::text || during, ' ' ORDER BY during) FROM booking WHERE room = $room";
    is($node->safe_psql($database, sprintf $found, 'seqscan'), $node->safe_psql($database, sprintf $found, 'indexscan'),
        "$name: the index finds what is there");
    like($node->safe_psql($database, sprintf($found, 'seqscan') =~ s/SELECT/EXPLAIN SELECT/r), qr/Index.* Scan using/, "$name: and is used");
    is($node->safe_psql($database, q{SELECT bool_and(amvalidate(oid)) FROM pg_opclass WHERE opcname = 'ulid_ops'}), 't', "$name: the class is valid");
    return;
}

# Whether temporal keys work there.
sub check_keys {
    my ($node, $database, $name) = @_;
    like(error_of($node, $database, q{INSERT INTO price VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-12-01, 2027-02-01)')}), $taken,
        "$name: a temporal primary key refuses a period that overlaps");
    like(error_of($node, $database, q{INSERT INTO stay VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-12-30, 2027-01-02)')}),
        qr/violates foreign key constraint/, "$name: a temporal foreign key refuses a period that is not covered");
    return;
}

# Dump and restore.
my $node = new_server('gist', extension => 0);
$node->safe_psql('postgres', "CREATE DATABASE $_") for qw(original restored);
$node->safe_psql('original', $create);
$node->safe_psql('original', $create_keys) if $major >= 18;
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$directory/dump", 'original' ], 'pg_dump');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'restored', "$directory/dump" ], 'pg_restore');
check_bookings($node, 'restored', 'restored');
check_keys($node, 'restored', 'restored') if $major >= 18;
my $newest = $node->safe_psql('original', $members);
is($node->safe_psql('restored', $members), $newest, 'restored: the class has the same members');

# Who owns a database may install it there, as both extensions that it needs allow.
$node->safe_psql('postgres', 'CREATE ROLE ordinary LOGIN');
$node->safe_psql('postgres', 'CREATE DATABASE theirs OWNER ordinary');
for my $statement ('CREATE EXTENSION ulid_gist CASCADE',
    'CREATE TABLE booking (room ulid, during daterange, EXCLUDE USING gist (room WITH =, during WITH &&))', 'DROP EXTENSION ulid_gist CASCADE') {
    my ($status, $output, $error) = $node->psql('theirs', "SET client_min_messages = warning; $statement", extra_params => [ '-U', 'ordinary' ]);
    is($error, '', "an ordinary owner of the database: $statement");
}
$node->stop;

# pg_upgrade, from the oldest server here that has the extension and can be upgraded.
SKIP: {
    my $old;
    for my $from (reverse older_servers(qw(btree_gist ulid_gist))) {
        $old = new_server("old_$from->{name}", path => $from->{path}, extension => 0);
        last if column_option($old) eq '';
        note("$from->{name} cannot be upgraded");
        $old->stop;
        undef $old;
    }
    skip 'no older server with the extension that can be upgraded', 1 if !defined $old;
    my ($from) = $old->safe_psql('postgres', 'SHOW server_version') =~ /^(\d+)/;
    $old->safe_psql('postgres', $create);
    my $new = upgraded_server($old, 'new', "from $from");
    $new->start;
    check_bookings($new, 'postgres', 'upgraded');
    if ($from < 18 && $major >= 18) {
        like(error_of($new, 'postgres', $create_keys), qr/could not identify an equality operator/, 'upgraded: no temporal keys at first');
    }
    $new->safe_psql('postgres', <<'SQL') if $from < 18 && $major >= 18;
SET search_path = ids, contrib, classes;
ALTER EXTENSION btree_gist UPDATE;
ALTER OPERATOR FAMILY ulid_ops USING gist ADD FUNCTION 11 (ulid, ulid) gbt_uuid_sortsupport(internal);
ALTER OPERATOR FAMILY ulid_ops USING gist ADD FUNCTION 12 ("any", "any") gist_translate_cmptype_btree(integer);
SQL
    is($new->safe_psql('postgres', $members), $newest, 'upgraded: the class gains what a new one has');
    if ($major >= 18) {
        $new->safe_psql('postgres', $create_keys);
        check_keys($new, 'postgres', 'upgraded');
    }
    $new->stop;
}

done_testing();
