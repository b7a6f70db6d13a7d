# No action at a distance: 70,000 queries over core's types have the same plan and the same result,
# or fail in the same way, with and without the extension, except for those listed below, most of
# which begin to resolve. In a schema that is in no path, it makes no difference at all.
use strict;
use warnings FATAL => 'all';
use ULID;

my $node = new_server('distance', extension => 0);
$node->safe_psql('postgres', "CREATE DATABASE $_") for qw(before after aside);
$node->safe_psql('after',    'CREATE EXTENSION ulid');
$node->safe_psql('aside',    'CREATE SCHEMA types; CREATE EXTENSION ulid SCHEMA types');

# What each query does; a query is on one line, and what it does follows an arrow.
my $queries = slurp_file("$root/tests/t/data/distance.sql");
my ($before, $after, $aside) =
  map { [ split /\n/ ] } run_at_once($node, map { [ $_, $queries ] } qw(before after aside));
cmp_ok((grep { / => / } @$before), '>', 50000, 'more than 50,000 queries run');
is(@$after, @$before, 'with the extension, they are as many');

# the queries that call a function with the name of the type, which becomes a cast, and those that
# the extension makes valid
my @casts = (
    'SELECT ulid(\'cfcd2084-95d5-65ef-66e7-dff9f98764da\') FROM few',
    'SELECT ulid(c) FROM few',
    'SELECT ulid(v) FROM few');
my @resolving = (
    'SELECT max(u) FROM few',
    'SELECT min(u) FROM few',
    'SELECT r @> u FROM few',
    'SELECT u <@ r FROM few');
my (%differ, %resolved);
for my $n (0 .. $#$before)
{
    next if $before->[$n] eq $after->[$n];
    my ($query, $outcome) = $before->[$n] =~ /^(.*) => (.*)/
      or die "which query is this: $before->[$n]";
    $differ{$query}   = 1;
    $resolved{$query} = 1 if $outcome =~ /^42883/;
}
is( join("\n", sort keys %differ),
    join("\n", sort @resolving, @casts),
    'the queries that differ with the extension are those that are to resolve');
is( join("\n", sort keys %resolved),
    join("\n", @resolving),
    'they failed without it, as there was no such function or operator');
ok("@$aside" eq "@$before", 'aside, it makes no difference');
is($node->safe_psql('before', blocks_of('reference.md', 'sql', 'What changes for other queries')),
    'ulid(text)', 'the page finds the function before');

done_testing();
