# Exclusion constraints and GIN on ulid columns, by btree_gist and btree_gin through the cast to uuid, which costs
# nothing.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

needs_extension(qw(btree_gist btree_gin));
my $node = new_server('exclusion');
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION btree_gist;
CREATE EXTENSION btree_gin;
CREATE TABLE booking (room ulid, period tstzrange, EXCLUDE USING gist ((room::uuid) WITH =, period WITH &&));
INSERT INTO booking VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-01-01, 2026-01-03)');
SQL

# Book a room for a period; returns the error, if there is one.
sub book {
    my ($room, $period) = @_;
    my ($status, $output, $error) = $node->psql('postgres', "INSERT INTO booking VALUES ('$room', '$period')");
    return $error;
}
is(book('01ARYZ6S41TSV4RRFFQ69G5FAW', '[2026-01-02, 2026-01-04)'), '', 'another room is free');
like(book('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-01-02, 2026-01-04)'), qr/conflicting key value violates exclusion constraint/,
    'the same room is not');
is($node->safe_psql('postgres', 'SELECT count(*) FROM booking'), 2, 'two bookings are stored');
like($node->safe_psql('postgres', <<'SQL'), qr/Index Scan using booking_room_period_excl/, 'the index of the constraint is used');
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM booking
WHERE room::uuid = '01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid::uuid AND period && '[2026-01-02, 2026-01-03)';
SQL
like($node->safe_psql('postgres', <<'SQL'), qr/Bitmap Index Scan on booking_gin\n.*^01ARYZ6S41TSV4RRFFQ69G5FAV$/ms, 'and a GIN index with the key');
ALTER TABLE booking DROP CONSTRAINT booking_room_period_excl;
CREATE INDEX booking_gin ON booking USING gin ((room::uuid), (ARRAY[1]));
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT room FROM booking WHERE room::uuid = '01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid::uuid;
SELECT room FROM booking WHERE room::uuid = '01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid::uuid;
SQL

done_testing();
