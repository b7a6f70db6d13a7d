# The output of `make run` is correct.
use strict;
use warnings FATAL => 'all';
use ULID;

my $node = new_server('demo', extension => 0);
chdir $root or die "$root: $!";    # the script reads the vectors in pg_ulid/tests/data
my $shown = $node->safe_psql('postgres', slurp_file('scripts/demo.sql'));

my $vectors = () = slurp_file('pg_ulid/tests/data/valid.tsv') =~ /^[^#]/mg;
like(
    $shown,
    qr/^$vectors\|$vectors\|$vectors$/m,
    'all vectors have the same bytes and the same time');
my ($before, $after) = $shown =~ /^(\d+)\|[0-9A-Za-z-]+$/mg;
is($after // 'none', $before, 'the altered table is not rewritten');

done_testing();
