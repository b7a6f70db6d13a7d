# The planner's hooks change no result of random queries; PlannerFuzz.pm describes the method.
# FUZZ_SEED (1) chooses them, QUERIES (150) or FUZZ_SECONDS how many, and CASE one of them; after
# FAULTS (5) it stops.
use strict;
use warnings FATAL => 'all';
use ULID;
use PlannerFuzz;

my $node = new_server('fuzz', conf => ['restart_after_crash = on']);
fuzz(
    $node,
    seed    => $ENV{FUZZ_SEED}    || ($ENV{FUZZ_SECONDS} ? time : 1),
    queries => $ENV{QUERIES}      || 150,
    seconds => $ENV{FUZZ_SECONDS} || undef,
    case    => $ENV{CASE},
    faults  => $ENV{FAULTS} || 5);

done_testing();
