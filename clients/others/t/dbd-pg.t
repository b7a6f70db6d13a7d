# DBD::Pg
use strict;
use warnings;
use Client;
use Test::More;

need('libdbd-pg-perl', 3);
require DBI;
create_database('others_dbd_pg');

my $db = DBI->connect('dbi:Pg:', '', '', { RaiseError => 1, PrintError => 0 });
sub one { return scalar $db->selectrow_array(shift, {}, @_) }

my $customer = one("INSERT INTO customer (name) VALUES ('Ada') RETURNING id");
my $insert = 'INSERT INTO orders (customer_id, note) VALUES (?, ?) RETURNING id';
my $first = one($insert, $customer, 'first');
my $second = one($insert, lc $customer, 'second');
is(one('SELECT note FROM orders WHERE id = ?', $first), 'first', 'read');
is(one('SELECT customer_id FROM orders WHERE id = ?', $second), $customer, 'lower case');
is(one('SELECT count(*) FROM orders WHERE id = ANY (?)', [$first, $second]), 2, 'list');

my @window = (time - 3600, time + 3600);
is(one('SELECT count(*) FROM orders WHERE id <@ tstzrange(to_timestamp(?), to_timestamp(?))', @window), 2, 'window');

is(one('UPDATE orders SET related = ? WHERE id = ? RETURNING related', [$second], $first), "{$second}", 'an array is a string');
is_deeply(one('SELECT related::text[] FROM orders WHERE id = ?', $first), [$second], 'array');

$db->do('COPY orders (id, note) FROM STDIN');
$db->pg_putcopydata("01ARYZ6S41TSV4RRFFQ69G5FAV\tthird\n");
$db->pg_putcopyend;
is(one("SELECT id FROM orders WHERE note = 'third'"), '01ARYZ6S41TSV4RRFFQ69G5FAV', 'bulk load');

for my $row (@{ $db->selectall_arrayref('SELECT note, given FROM sample.given') }) {
    my ($note, $given) = @$row;
    my $into = defined $given ? 'id' : 'customer_id';
    eval { $db->do("INSERT INTO orders (note, $into) VALUES (?, ?)", {}, $note, $given) } or $db->state =~ /^22/ or die $@;
}
is(one('SELECT sample.compare()'), 'equal', 'malformed ids');

is(eval { one('SELECT 1 FROM orders WHERE id = ?::text', $first) }, undef, 'text');
like($@, qr/operator does not exist: ulid = text/, 'its error');
is(eval { $db->last_insert_id(undef, undef, 'orders', undef) }, undef, 'last_insert_id is for sequences');
like($@, qr/last_insert_id/, 'its error');

done_testing;
