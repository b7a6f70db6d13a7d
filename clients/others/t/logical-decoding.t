# Logical decoding
use strict;
use warnings;
use Client;
use Test::More;

plan skip_all => 'wal_level is not logical' if psql('SHOW wal_level') ne 'logical';
create_database('others_logical_decoding');
my $slot = 'others_logical_decoding';

psql("SELECT pg_create_logical_replication_slot('$slot', 'test_decoding')");
psql("INSERT INTO orders (id, note) VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', 'first')");
like(psql("SELECT data FROM pg_logical_slot_get_changes('$slot', NULL, NULL)"),
    qr/INSERT: id\[ulid\]:'01ARYZ6S41TSV4RRFFQ69G5FAV'/, 'an id is text');
psql("SELECT pg_drop_replication_slot('$slot')");

done_testing;
