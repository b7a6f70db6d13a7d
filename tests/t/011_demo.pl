# The output of `make run` is correct.
use strict;
use warnings;
use ULID;

my $node = new_server('demo', extension => 0);
chdir $root or die "$root: $!";            # the script reads the vectors in core/tests/data
my $shown = $node->safe_psql('postgres', slurp_file('scripts/demo.sql'));

my $vectors = () = slurp_file('core/tests/data/valid.tsv') =~ /^[^#]/mg;
like($shown, qr/^$vectors\|$vectors\|$vectors$/m, 'all vectors have the same bytes and the same time');
my @files = $shown =~ /^(\d+)\|[0-9A-Za-z-]+$/mg;
is(scalar @files, 2, 'the file of the table is shown before and after');
is($files[1], $files[0], 'the altered table is not rewritten');
like($shown, qr/^60\|2026-01-02 12:00:00\+00\|2026-01-02 12:00:59\+00$/m, 'a minute has its 60 rows');

done_testing();
