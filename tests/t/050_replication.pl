# Logical replication: ulid to ulid as text and in binary, uuid to ulid as text, inserts, updates
# and deletes.
use strict;
use warnings FATAL => 'all';
use ULID;

my $publisher  = new_server('publisher',  allows_streaming => 'logical');
my $subscriber = new_server('subscriber', allows_streaming => 'logical');
my $connection = $publisher->connstr . ' dbname=postgres';

my $tables =
  'CREATE TABLE as_text (id ulid PRIMARY KEY, n int);
  CREATE TABLE as_binary (id ulid PRIMARY KEY, n int);';
$publisher->safe_psql('postgres', $tables . <<'SQL');
CREATE TABLE from_uuid (id uuid PRIMARY KEY, n int);
INSERT INTO as_text SELECT gen_ulid(), n FROM generate_series(1, 1000) AS n;
INSERT INTO as_binary SELECT * FROM as_text;
INSERT INTO from_uuid SELECT * FROM as_text;
CREATE PUBLICATION as_text FOR TABLE as_text, from_uuid;
CREATE PUBLICATION as_binary FOR TABLE as_binary;
SQL
$subscriber->safe_psql('postgres', "$tables CREATE TABLE from_uuid (id ulid PRIMARY KEY, n int)");
$subscriber->safe_psql('postgres',
    "CREATE SUBSCRIPTION as_text CONNECTION '$connection' PUBLICATION as_text");
$subscriber->safe_psql('postgres',
    "CREATE SUBSCRIPTION as_binary CONNECTION '$connection' PUBLICATION as_binary
        WITH (binary = true)"
);

# Compare all rows of the three tables, by their text, on both sides.
sub compare
{
    my ($when) = @_;
    for my $table (qw(as_text as_binary from_uuid))
    {
        my $rows =
          "SELECT string_agg(id || ' ' || n, ', ' ORDER BY n)
              FROM (SELECT id::text::ulid::text AS id, n FROM $table) AS s";
        is( $subscriber->safe_psql('postgres', $rows),
            $publisher->safe_psql('postgres', $rows),
            "$table: the same rows $when");
    }
    return;
}

$subscriber->wait_for_subscription_sync($publisher, $_) for qw(as_text as_binary);
compare('after the first copy');

for my $table (qw(as_text as_binary from_uuid))
{
    $publisher->safe_psql('postgres', <<"SQL");
UPDATE $table SET n = -n WHERE n <= 100;
DELETE FROM $table WHERE n > 900;
INSERT INTO $table SELECT gen_ulid(), n FROM generate_series(2001, 2500) AS n;
SQL
}
$publisher->wait_for_catchup($_) for qw(as_text as_binary);
compare('after changes');

# Back to uuid: its input function does not read the text of a ulid, but the 16 bytes are the same.
$publisher->safe_psql('postgres', 'CREATE TABLE into_uuid (id ulid PRIMARY KEY, n int)');
$publisher->safe_psql('postgres', 'CREATE PUBLICATION into_uuid FOR TABLE into_uuid');
$subscriber->safe_psql('postgres', 'CREATE TABLE into_uuid (id uuid PRIMARY KEY, n int)');
my $offset = -s $subscriber->logfile;
$subscriber->safe_psql('postgres',
    "CREATE SUBSCRIPTION into_uuid CONNECTION '$connection' PUBLICATION into_uuid
        WITH (copy_data = false)"
);
$publisher->safe_psql('postgres',
    q(INSERT INTO into_uuid VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', 1)));
$subscriber->wait_for_log(qr/invalid input syntax for type uuid: "01ARYZ6S41TSV4RRFFQ69G5FAV"/,
    $offset);
$subscriber->safe_psql('postgres', 'ALTER SUBSCRIPTION into_uuid SET (binary = true)');
ok( $subscriber->poll_query_until(
        'postgres',
        'TABLE into_uuid',
        '01563df3-6481-d676-4c61-efb99302bd5b|1'),
    'ulid to uuid in binary: the same 16 bytes');

done_testing();
