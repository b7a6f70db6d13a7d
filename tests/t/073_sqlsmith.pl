# Queries of sqlsmith, which knows nothing of the extension but its catalog entries, do not end a server. FUZZ_SECONDS
# (20) says for how long, FUZZ_SEED which.
use strict;
use warnings;
use ULID;
use PlannerFuzz;

needs_program('sqlsmith');
my $node = new_server('sqlsmith', conf => ['log_error_verbosity = verbose', 'restart_after_crash = on']);
make_fuzz_schema($node, 1);
# no superuser, who has functions that do end a server; in tables it finds what our operators take
$node->safe_psql('postgres', q{
    ALTER ROLE fuzz_reader LOGIN;
    ALTER TABLE fuzz.windows ADD given ulid_window;
    UPDATE fuzz.windows SET given = w});

my @sqlsmith = ('sqlsmith', '--verbose', '--exclude-catalog', $ENV{FUZZ_SEED} ? "--seed=$ENV{FUZZ_SEED}" : (),
    '--target=' . $node->connstr('postgres') . " user=fuzz_reader options='-c statement_timeout=1s'");
my $output = '';
run_log(['timeout', '--kill-after=10', $ENV{FUZZ_SECONDS} || 20, @sqlsmith], '&>', \$output);
# it prints a character for each query
my $queries = join('', $output =~ /^[.eStCR]+$/mg) =~ tr/.eStCR//;
note("$queries queries");
cmp_ok($queries, '>', 0, 'sqlsmith made queries');

my $log = slurp_file($node->logfile);
my %internal;
$internal{$_}++ for $log =~ /ERROR:  (XX\w*: .*)/g;
note("internal error, $internal{$_} times: $_") for sort { $internal{$b} <=> $internal{$a} } keys %internal;
is(join("\n", $log =~ /^.*(?:TRAP:|PANIC:|terminated by signal).*$/mg), '', 'no query ended the server');

done_testing();
