# pg_dump and pg_restore
use strict;
use warnings;
use Client;
use Test::More;

my ($client) = `pg_dump --version` =~ / (\d+)/;
my $server = int(psql('SHOW server_version_num') / 10000);
plan skip_all => "pg_dump is $client, the server $server" if $client != $server;
create_database('others_pg_dump');
my $build = build('pg_dump');

psql('INSERT INTO orders (note) SELECT n FROM generate_series(1, 1000) AS n');
my $digest = "SELECT md5(string_agg(id || note, ',' ORDER BY id)) FROM orders";
my $before = psql($digest);
my ($ok, $printed) = run("cd '$build'; pg_dump -Fc -f dump; pg_restore -f - dump");
ok($ok, 'dump');
like($printed, qr/^CREATE EXTENSION IF NOT EXISTS ulid /m, 'the extension');
like($printed, qr/^ +id public\.ulid DEFAULT public\.gen_ulid\(\) NOT NULL/m, 'the column');

psql('DROP SCHEMA sample CASCADE');
psql('DROP TABLE orders, customer');
psql('DROP EXTENSION ulid');
($ok, $printed) = run("cd '$build'; pg_restore -j 2 -d \"\$PGDATABASE\" dump");
ok($ok, 'restore') or diag($printed);
is(psql($digest), $before, 'the same rows');

done_testing;
