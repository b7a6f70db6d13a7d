# The companion ulid_gist is dumped, restored and upgraded with what was made of it, and gains what a newer server offers.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

needs_extension('btree_gist');
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
SQL
my $create_keys = <<'SQL';
CREATE TABLE price (room ulid, valid daterange, PRIMARY KEY (room, valid WITHOUT OVERLAPS));
INSERT INTO price VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-01-01, 2027-01-01)');
SQL

# The error of a statement, or nothing.
sub error_of {
    my ($node, $database, $statement) = @_;
    return ($node->psql($database, "SET search_path = public, ids; $statement"))[2];
}

# Whether what was made works in a database, and the class has what that of uuid has.
sub check {
    my ($node, $database) = @_;
    my $room = q{ulid_lower_bound('2026-01-01 01:00Z')};
    like(error_of($node, $database, "INSERT INTO booking VALUES ($room, '[2026-01-01, 2026-01-05)')"), $taken, "$database: a taken period is refused");
    is(error_of($node, $database, "INSERT INTO booking VALUES ($room, '[2030-01-01, 2030-01-05)')"), '', "$database: a free one is not");
    is($node->safe_psql($database, "SET search_path = public, ids; SET enable_seqscan = off; SELECT count(*) FROM booking WHERE room = $room"), 11,
        "$database: the index finds what is there");
    like(error_of($node, $database, q{INSERT INTO price VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-12-01, 2027-02-01)')}), $taken,
        "$database: a temporal primary key refuses a period that overlaps") if $major >= 18;
    is($node->safe_psql($database, support_functions('ids.ulid')), $node->safe_psql($database, support_functions('uuid')),
        "$database: ulid has the support functions that uuid has");
    return;
}

my $node = new_server('gist', extension => 0);
my $dump = $node->basedir . '/dump';
$node->safe_psql('postgres', "CREATE DATABASE $_") for qw(original restored);
$node->safe_psql('original', $create . ($major >= 18 ? $create_keys : ''));
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, 'original' ], 'pg_dump');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'restored', $dump ], 'pg_restore');
check($node, 'restored');
$node->stop;

# pg_upgrade, from the oldest server here that has the extension and can be upgraded.
SKIP: {
    my $old;
    for my $from (reverse older_servers(qw(btree_gist ulid_gist))) {
        $old = new_server("old_$from->{name}", path => $from->{path}, extension => 0);
        last if column_option($old) eq '';
        $old->stop;
        undef $old;
    }
    skip 'no older server with the extension that can be upgraded', 1 if !defined $old;
    my ($from) = $old->safe_psql('postgres', 'SHOW server_version') =~ /^(\d+)/;
    $old->safe_psql('postgres', $create);
    my $new = upgraded_server($old, 'new', "from $from");
    $new->start;
    if ($from < 18 && $major >= 18) {
        like(error_of($new, 'postgres', $create_keys), qr/could not identify an equality operator/, 'upgraded: no temporal keys at first');
        $new->safe_psql('postgres', <<'SQL');
SET search_path = ids, contrib, classes;
ALTER EXTENSION btree_gist UPDATE;
ALTER OPERATOR FAMILY ulid_ops USING btree ADD FUNCTION 6 (ulid, ulid) uuid_skipsupport(internal);
ALTER OPERATOR FAMILY ulid_ops USING gist ADD FUNCTION 11 (ulid, ulid) gbt_uuid_sortsupport(internal);
ALTER OPERATOR FAMILY ulid_ops USING gist ADD FUNCTION 12 ("any", "any") gist_translate_cmptype_btree(integer);
SQL
        is(error_of($new, 'postgres', $create_keys), '', 'upgraded: then there are some');
    }
    check($new, 'postgres');
}

done_testing();
