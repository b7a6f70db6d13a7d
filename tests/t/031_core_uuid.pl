# PostgreSQL's own regression test of uuid, unchanged, in a database that has the extension. scripts/lib/setup.sh gets it
# from the source package of the server's Debian suite.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

my $core = $ENV{CORE_REGRESS} // '';
plan(skip_all => "no source of PostgreSQL $major") if !-e "$core/expected/uuid.out";

my $node = new_server('core_uuid');
my $output = PostgreSQL::Test::Utils::tempdir('core_uuid');
chomp(my $bindir = `pg_config --bindir`);
$node->command_ok([ $ENV{PG_REGRESS}, "--bindir=$bindir", '--use-existing', '--dbname=postgres', "--inputdir=$core",
    "--outputdir=$output", 'uuid' ], q(core's own test of uuid passes));
diag slurp_file("$output/regression.diffs") if -s "$output/regression.diffs";

done_testing();
