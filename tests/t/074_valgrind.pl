# Every function, and some queries of PlannerFuzz.pm, in a server of one process under valgrind: no
# memory is used wrongly.
use strict;
use warnings FATAL => 'all';
use File::Basename 'dirname';
use ULID;
use PlannerFuzz;

needs_program('valgrind');
chomp(my $bin = `pg_config --bindir`);
my $suppressions = dirname($bin) . '/valgrind.supp';    # fetch-postgres.sh puts it there
plan(skip_all => 'the server is not the one for valgrind (PG=assert)') if !-e $suppressions;

my $node = new_server('valgrind');
make_fuzz_schema($node, 1);
my $functions = $node->safe_psql('postgres', slurp_file("$root/tests/t/data/every_function.sql"));
unlike($functions, qr/not called/, 'there are values for the arguments of every function');

# A single-user server cannot copy from a client. One with assertions aborts where it counts what a
# temporary table writes.
my $queries = join '', map { s/\bTEMP TABLE\b/TABLE/gr . "\n" } grep { !/COPY/ } split /\n/,
  fuzz_queries(1, 50);
$node->stop;

my $input = "SET search_path = fuzz, public;\n$functions\n${queries}SELECT 'the last line';\n";
my $file  = PostgreSQL::Test::Utils::tempdir() . '/valgrind.sql';
append_to_file($file, $input);
my $log    = "$PostgreSQL::Test::Utils::log_path/valgrind.log";
my $output = '';
note('postgres --single under valgrind: ', $input =~ tr/\n//, ' lines');
my $ended = run_log(
    [
        'valgrind',        "--suppressions=$suppressions",
        '--leak-check=no', '--num-callers=30',
        "--log-file=$log", "$bin/postgres",
        '--single',        '-D',
        $node->data_dir,   'postgres'
    ],
    '<', $file, '&>',
    \$output);
ok($ended, 'the server ended as it should');
like($output, qr/the last line/, 'it ran every line');
my $found = slurp_file($log);
like($found, qr/ERROR SUMMARY: 0 errors/, 'valgrind found nothing') or diag($found);

done_testing();
