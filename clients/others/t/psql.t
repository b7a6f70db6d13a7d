# psql
use strict;
use warnings;
use Client;
use Test::More;

create_database('others_psql');
my $build = build('psql');

my ($ok, $printed) = run(<<"EOS");
cd '$build'
psql -X -q -c "INSERT INTO orders (id, note) VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', 'first')"
echo "SELECT note FROM orders WHERE id = :'id'" > by-id.sql
psql -X -A -t -v id=01aryz6s41tsv4rrffq69g5fav -f by-id.sql
EOS
ok($ok, 'a variable');
is($printed, "first\n", 'is a quoted literal');
like((run(q(psql -X -c "SELECT note FROM orders WHERE id = '01ARYZ6S41TSV4RRFFQ69G5FA'")))[1],
    qr/^ERROR:  invalid input syntax for type ulid: "01ARYZ6S41TSV4RRFFQ69G5FA"/, 'a malformed id');

is(psql('SELECT to_jsonb(orders) FROM orders'),
    '{"id": "01ARYZ6S41TSV4RRFFQ69G5FAV", "note": "first", "related": null, "customer_id": null}', 'to JSON');
is(psql(q(SELECT id FROM json_populate_record(NULL::orders, '{"id": "01aryz6s41tsv4rrffq69g5fav"}'))),
    '01ARYZ6S41TSV4RRFFQ69G5FAV', 'from JSON');

done_testing;
