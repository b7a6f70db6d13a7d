# Search for queries that the planner's hooks break: random queries in a separate schema "fuzz".
# Each runs twice, unchanged and with the plain expression in place of the operator:
#   id <@ window                window @> ulid_extract_timestamp(id), by core's function
#   ulid_starts_with(id, p)     starts_with(id::text, upper(p))
#   uuid = ulid, and < <= >= >  the functions of core on both as uuid
#   a join of uuid = ulid       core's operator on both as uuid
#   an index for a foreign key  no index
# Both must give the same rows or the same SQLSTATE. A difference, a crash, an internal error
# (XX...), a warning in the server's log, and being slower than the plain query by far are faults.
# The same seed generates the same queries on the same server.
package PlannerFuzz;
use strict;
use warnings FATAL => 'all';
use Exporter 'import';
use PlannerFuzz::Grammar;
use PlannerFuzz::Oracle;
use PlannerFuzz::Schema;
use PlannerFuzz::Statements;
use PlannerFuzz::Tree;
use Test::More;
use Time::HiRes 'time';

our @EXPORT = qw(make_fuzz_schema fuzz_queries fuzz);

sub printed { my ($tree) = @_; return join(";\n", 'BEGIN', statements($tree), 'ROLLBACK') . ";\n" }

# The SQL of the first queries of a seed, a statement on each line.
sub fuzz_queries
{
    my ($seed, $count) = @_;
    return join '', map { printed(make_case($seed, $_)) } 0 .. $count - 1;
}

# Run random queries on a server, and fail with each fault and the smallest query found that still
# shows it. Of these parameters:
#   seed     where the random numbers begin
#   queries  stop after so many queries
#   seconds  stop after so many seconds instead, with new data every 2000 queries
#   case     run this one query of the seed
#   faults   stop after so many faults
# Each query is in the log of the test.
sub fuzz
{
    my ($node, %option) = @_;
    my ($queries, $faults, $round, $begun) = (0, 0, 0, time);

    # how often each shape has run, and the plain queries had which outcome
    my (%used, %ends);
    my $done = sub {
        return 1            if $faults >= $option{faults};
        return $queries > 0 if defined $option{case};
        return
          defined $option{seconds}
          ? time - $begun >= $option{seconds}
          : $queries >= $option{queries};
    };
    until ($done->())
    {
        if ($queries % 2000 == 0)
        {
            disconnect_server();
            $round++ if $queries;
            make_fuzz_schema($node, $option{seed} + $round);
            connect_server();
        }
        my ($seed, $number) = ($option{seed} + $round, $option{case} // $queries % 2000);
        my $tree = make_case($seed, $number);
        $queries++;
        print "-- case $number\n", printed($tree);
        $used{$_}++ for keys %{ $case->{used} };
        my ($fault, $detail) = fault($tree);
        print "-- $plain_end\n";
        $ends{ substr $plain_end, 0, 5 }++;
        next if !defined $fault;
        $faults++;
        fail("seed $seed, case $number: $fault");
        my $small =
          shrunk($tree, sub { my ($found) = fault($_[0]); defined $found && $found eq $fault });
        my (undef, $again) = fault($small);
        diag(printed($small), '-- plain: ', join(";\n--        ", statements($small, 1)),
            "\n", $again // $detail // '');
    }
    disconnect_server();
    my @unused =
      grep { !$used{$_} } map { "$_->{kind}: $_->{name}" } grep { $_->{from} <= $version } @SHAPES;
    note(
        sprintf '%d queries from seed %d in %d s: %d of %d shapes',
        $queries, $option{seed},
        time - $begun,
        scalar(keys %used),
        @unused + keys %used);
    note('SQLSTATE of the plain queries: ', join(', ', map { "$_ $ends{$_}" } sort keys %ends));
    note('shapes not met: ',                join(', ', @unused)) if @unused;
    is($faults, 0, "the planner's hooks change no result of $queries random queries");
    return;
}

1;
