# pgbench
use strict;
use warnings;
use Client;
use Test::More;

plan skip_all => 'pgbench is not installed' if !(run('pgbench --version'))[0];
create_database('others_pgbench');
my $build = build('pgbench');

for my $mode (qw(prepared extended simple)) {
    my ($ok, $printed) = run(<<"EOS");
cd '$build'
echo 'SELECT note FROM orders WHERE id = :id;' > by-id.sql
pgbench -n -t 10 -M $mode -D id=01ARYZ6S41TSV4RRFFQ69G5FAV -f by-id.sql
EOS
    if ($mode eq 'simple') {
        ok(!$ok, $mode);
        like($printed, qr/ERROR:  (trailing junk|syntax error)/, "the error of $mode");
    } else {
        ok($ok, $mode) or diag($printed);
        like($printed, qr{^number of transactions actually processed: 10/10$}m, "the transactions of $mode");
    }
}

done_testing;
