# The library preloaded into the postmaster: no generator is seeded there and copied by fork, so no id occurs twice.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

my $node = new_server('preloaded', conf => ["shared_preload_libraries = 'ulid'"]);
is($node->safe_psql('postgres', 'SHOW shared_preload_libraries'), 'ulid', 'the library is preloaded');

my %seen;
for (1 .. 50) {
    # the same time for all, so that the ids differ only in the randomness
    my $ids = $node->safe_psql('postgres', "SELECT gen_ulid('2026-01-01 00:00+00') FROM generate_series(1, 20)");
    $seen{$_}++ for split /\n/, $ids;
}
is(scalar keys %seen, 1000, '50 sessions of 20 ids each make 1000 different ids');

done_testing();
