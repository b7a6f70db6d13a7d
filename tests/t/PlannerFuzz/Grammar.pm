# The grammar of the queries: expressions, what a query selects from, and queries.
package PlannerFuzz::Grammar;
use strict;
use warnings FATAL => 'all';
use Exporter 'import';
use List::Util qw(first shuffle sum);
use PlannerFuzz::Random;
use PlannerFuzz::Schema;
use PlannerFuzz::Tree;

our @EXPORT = qw($case @SHAPES shape pick place row relation within seeing window test condition
  query top_query parameter arguments from conditions updating new_values);

our $case;    # being generated: its statements, and what they share

sub new_name { $_[0] . ++$case->{names} }

# A place in a query: the relations visible there, those of the outer levels, the remaining depth,
# and the list of the CTEs of its query.
sub place
{
    my (%given) = @_;
    return { here => [], around => [], depth => 3, ctes => undef, %given };
}

# The place of a condition that sees only these relations.
sub row { place(here => [@_], depth => 1) }

# The place within a sub-select: the outer relations are visible only if it is correlated.
sub within
{
    my ($at, $correlated) = @_;
    return place(
        around => [ @{ $at->{around} }, $correlated ? @{ $at->{here} } : () ],
        depth  => $at->{depth} - 1,
        ctes   => $at->{ctes});
}

# The same place one level deeper in an expression or a join.
sub deeper { my ($at) = @_; +{ %$at, depth => $at->{depth} - 1 } }

# The same place with further relations.
sub seeing { my ($at, @relations) = @_; +{ %$at, here => [ @{ $at->{here} }, @relations ] } }

# A relation offers expressions of six types: id, window, number, truth, text, and tables uuid. All
# but the functions have columns id, w, n, b and t; tables have more.
sub relation
{
    my ($name, $is_table) = @_;
    my %offers = (
        name     => $name,
        columns  => 1,
        is_table => $is_table,
        id       => [ ("$name.id") x 3 ],
        window   => [ ("$name.w") x 2 ],
        number   => ["$name.n"],
        truth    => ["$name.b"],
        text     => [ "$name.t", "$name\::text" ]);
    if ($is_table)
    {
        my @uuids = ("$name.u", "$name.du");
        push @{ $offers{id} }, "$name.did", "($name.c).id", "$name.ids[1]", @uuids,
          "(ROW($name.id, $name.w)::pair).id";
        push @{ $offers{window} }, "$name.dw", "($name.c).w";
        $offers{uuid} = [ "$name.u", @uuids ];
    }
    return \%offers;
}

# An expression of a visible relation, or nothing.
sub offered
{
    my ($at, $type) = @_;
    for my $seen (chance(0.25) ? ($at->{around}, $at->{here}) : ($at->{here}, $at->{around}))
    {
        my @relations = grep { @{ $_->{$type} // [] } } @$seen or next;
        return one_of(@{ one_of(@relations)->{$type} });
    }
    return;
}

# An expression of one of these relations, or nothing.
sub own { my ($relations, $type) = @_; offered({ here => $relations, around => [] }, $type) }

#
# The shapes. The generator of each takes a place and returns a node, or nothing if it does not fit,
# or is a text with what else is chosen in braces, see grown(). Within a kind, one is chosen by
# weight; those that need no depth when the depth is used up.
#

our @SHAPES;

# Add a shape to a kind: its name, its weight, and its generator. Of the options, `from` is the
# first PostgreSQL that has it, and a `nested` one needs depth.
sub shape
{
    my ($kind, $name, $weight, @more) = @_;
    my $generator = pop @more;
    my %shape     = (kind => $kind, name => $name, weight => $weight, from => 0, @more);

    # a sub-select is deeper by itself
    my $is_deeper = $shape{nested} && $generator !~ /\{from/;
    $shape{generator} =
      ref $generator
      ? $generator
      : sub {
        my @nodes = grown($is_deeper ? deeper($_[0]) : $_[0], $generator) or return;
        return all(@nodes);
      };
    push @SHAPES, \%shape;
    return;
}

# Add shapes whose generator is a text: a line for each, with its weight, * if it is nested, its
# name, and after two spaces the text. Of a test, the text is its form and operands.
sub shapes
{
    my ($kind, $lines) = @_;
    for my $line (split /\n/, $lines)
    {
        my ($weight, $nested, $name, $text) = $line =~ /^(\d+)(\*?) +(.*?)  +(.*)$/
          or die "not a shape: $line";
        my @parts = split / ; /, $text;
        shape($kind, $name, $weight, nested => $nested eq '*', $kind eq 'test'
            ? sub
            {
                my ($form, @operands) = grown($_[0], @parts) or return;
                return tested(sql($form), @operands);
            }
            : $text);
    }
    return;
}

# One of the shapes of a kind.
sub pick
{
    my ($kind, $at) = @_;
    my @left =
      grep { $_->{kind} eq $kind && $_->{from} <= $version && (!$_->{nested} || $at->{depth} > 0) }
      @SHAPES;
    while (@left)
    {
        my $weight  = rand sum(map { $_->{weight} } @left);
        my $n       = first { ($weight -= $left[$_]{weight}) < 0 } 0 .. $#left;
        my ($shape) = splice @left, $n // $#left, 1;
        my @nodes   = $shape->{generator}->($at);
        next unless @nodes && defined $nodes[0] && $nodes[0] ne '';
        $case->{used}{"$kind: $shape->{name}"} = 1;
        return wantarray ? @nodes : $nodes[0];
    }
    die "no shape of $kind fits";
}

sub window
{
    my ($at) = @_;
    either(scalar pick('window', $at), "'[2025-01-10Z,2025-01-20Z)'::tstzrange");
}

sub id
{
    my ($at) = @_;
    either(scalar pick('id', $at), map { "$_->{name}.id" } grep { $_->{columns} } @{ $at->{here} });
}
sub test      { scalar pick('test', $_[0]) }
sub condition { either(all('(', scalar pick('condition', $_[0]), ')'), 'true') }
sub number    { either(scalar pick('number', $_[0]), '1') }
sub text      { either(scalar pick('text',   $_[0]), "'t'") }
sub query     { scalar pick('query', $_[0]) }

# What can be in the braces: alternatives with | between them, `own` and what a visible relation
# offers, or one of these. {from} is FROM and WHERE of a sub-select, {from?} of one that may not be
# correlated, {from tables} of one of tables alone; `in` and one of these, what its SELECT has.
my %GROW = (
    window        => \&window,
    id            => \&id,
    uuid          => \&uuid,
    test          => \&test,
    condition     => \&condition,
    number        => \&number,
    prefix        => \&text_prefix,
    constant      => \&window_constant,
    constructor   => \&window_constructor,
    'a tstzrange' => sub { parameter('tstzrange') },
    'a ulid'      => sub { parameter('ulid') },
    range         => sub { quoted(random_range()) },
    ulid          => sub { quoted(random_ulid()) },
    int           => sub { int rand 12 },
    several       => \&several_conditions);

# The nodes of texts with braces, or nothing if they do not fit.
sub grown
{
    my ($at, @texts) = @_;
    my ($from, $in);
    if ("@texts" =~ /\{from(.*?)\}/)
    {
        ($from, $in) = sub_select(
            $at,
            correlated => $1 ne '?' || chance(0.5),
            tables     => $1 eq ' tables');
    }
    my @grown;
    for my $text (@texts)
    {
        my @nodes;
        for my $part (split /(\{.*?\})/, $text)
        {
            my ($what) = $part =~ /^\{(.*)\}$/;
            my $there = defined $what && $what =~ s/^in (?!own)// ? $in : $at;
            my $node =
                !defined $what          ? $part
              : $what =~ /\|/           ? one_of(split /\|/, $what, -1)
              : $what =~ /^own (.*)/    ? offered($at, $1)
              : $what =~ /^in own (.*)/ ? own($in->{here}, $1)
              : $what =~ /^from/        ? $from
              :                           $GROW{$what}->($there);
            return if !defined $node;
            push @nodes, $node;
        }
        push @grown, all(@nodes);
    }
    return @grown;
}

shapes(window => <<'END');
8   constant                {constant}
1   constant of a domain    {range}::{period|ulid_window}
2   constructor             {constructor}
1   null                    NULL::tstzrange
8   column                  {own window}
12  parameter               {a tstzrange}
2   from an id              tstzrange(ulid_extract_timestamp({id}), NULL, '[)')
2*  intersection            ({window} * {window})
2*  coalesce                coalesce({window}, {range})
2*  case                    CASE WHEN {condition} THEN {window} ELSE {window} END
1*  array element           (ARRAY[{window}::tstzrange, {window}])[{number} % 2 + 1]
3   stable function         stable_window({number})
2   inlined function        inlined_window({number})
2   volatile function       volatile_window({number})
2   inlined from an id      inlined_around({id}::ulid)
3   sub-select              (SELECT w FROM windows WHERE k = {int})
3   correlated sub-select   (SELECT windows.w FROM windows WHERE windows.k = {number})
1   aggregate  (SELECT tstzrange(min(lower(w)), max(upper(w))) FROM windows WHERE k < {int})
END

shapes(id => <<'END');
12  column      {own id}
1   constant    {ulid}::ulid
1   parameter   {a ulid}
1*  coalesce    coalesce({id}::ulid, {ulid})
1*  greatest    greatest({id}::ulid, {id}::ulid)
1*  case        CASE WHEN {condition} THEN {id}::ulid END
1*  sub-select  (SELECT max({in own id}::ulid){from tables})
END

shapes(test => <<'END');
6   <@                      <@ ; {id} ; {window}
2   <@ untyped              <@ ; {id}::ulid ; {range}
3   @>                      @> ; {id} ; {window}
3   function                function ; {id} ; {window}
3   commuted function       commuted ; {id} ; {window}
1   <@ ANY                  any ; {id} ; {window}::tstzrange
6   comparison of a uuid    {=|=|<>|<|<=|>=|>}{|, commuted|, function} ; {uuid} ; {id}
1   uuid = ANY              uuid any ; {uuid} ; {id} ; {id}
2*  uuid IN                 uuid in ; {uuid} ; {in id} ; {from?}
8   ulid_starts_with        prefix ; {id} ; {prefix}
END

shapes(condition => <<'END');
14  test            {test}
2   equal numbers   {number} = {number}
2   equal ids       {own id}::ulid = {own id}::ulid
1   ordered ids     {own id}::ulid >= {ulid}
1   truth           {own truth}
1   is null         {id} IS {|NOT }NULL
2*  not             NOT ({condition})
4*  and, or         ({several})
2*  is true         ({condition}) IS {|NOT }{TRUE|FALSE|UNKNOWN}
1*  case            CASE WHEN {condition} THEN {condition} ELSE {condition} END
1*  equal tests     ({test} = {condition})
2*  exists          {|NOT }EXISTS (SELECT{from})
2*  in              {number}{| NOT} IN (SELECT {in number}{from?})
1*  in, of tests    ({test}) IN (SELECT {in test}{from?})
END

shapes(number => <<'END');
6   column                  {own number}
3   constant                {int}
2*  test                    ({test})::int
1*  count of a sub-select   (SELECT count(*)::int{from})
END

shapes(text => <<'END');
4   column  {own text}
2   test    ({test})::text
2   jsonb   jsonb_build_object('a', {test})::text
1   row     ROW({id}, {test})::text
1* array of a sub-select  array_to_string(ARRAY(SELECT ({in test})::int{from} ORDER BY 1), ',', '-')
END

# what a query selects from: a node, and the relations that it adds
shape(from => 'table', 12, \&from_table);
shape(
    from => 'whole sample',
    1,
    sub {
        my $name = new_name('a');
        (either(table() . " $name TABLESAMPLE BERNOULLI (100)", "plain $name"), relation($name, 1));
    });
shape(
    from => 'sub-select',
    4,
    nested => 1,
    sub { from_named(new_name('q'), '(', query(within($_[0], 0)), ')') });
shape(
    from => 'LATERAL sub-select',
    3,
    nested => 1,
    sub { from_named(new_name('q'), 'LATERAL (', query(within($_[0], 1)), ')') });
shape(from => 'CTE',           2, nested => 1, \&from_cte);
shape(from => 'recursive CTE', 1, nested => 1, \&from_recursive);
shape(from => 'view',          2, nested => 1, \&from_view);
shape(from => 'SQL function',  2, nested => 1, \&from_function);
shape(
    from => 'VALUES',
    1,
    sub {
        my ($at, $name) = ($_[0], new_name('v'));
        my @rows =
          map { grown($at, "({ulid}::ulid, {int}, {range}::tstzrange, true, 'v')") } 1 .. 3;
        (all('(VALUES ', several('', ', ', 1, @rows), ") $name (id, n, w, b, t)"), relation($name));
    });
shape(
    from => 'inner join',
    4,
    nested => 1,
    sub { from_join($_[0], one_of(' JOIN ', ' INNER JOIN '), 1) });
shape(from => 'left join',  6, nested => 1, sub { from_join($_[0], ' LEFT JOIN ',  1) });
shape(from => 'right join', 3, nested => 1, sub { from_join($_[0], ' RIGHT JOIN ', 0) });
shape(from => 'full join',  3, nested => 1, sub { from_join($_[0], ' FULL JOIN ',  0) });
shape(from => 'cross join', 1, nested => 1, sub { joined(' CROSS JOIN ', '', sides($_[0], 1)) });
shape(
    from => 'join using',
    1,
    nested => 1,
    sub {
        my ($left, $right, $l, $r) = sides($_[0], 0);
        return unless @$l == 1 && @$r == 1 && $l->[0]{id} && $r->[0]{id};
        my ($join, $using) =
          (one_of(' JOIN ', ' LEFT JOIN ', ' FULL JOIN '), one_of(' USING (n)', ' USING (id)'));
        joined($join, $using, $left, $right, $l, $r);
    });

# functions over a test of the preceding items
shape(
    from => 'LATERAL jsonb',
    8,
    sub {
        lateral(
            $_[0], "jsonb_build_object('a', ?)", '',
            text  => '%s::text',
            truth => "(%s->>'a')::bool");
    });
shape(
    from => 'LATERAL series',
    8, sub { lateral($_[0], 'generate_series(1, (?)::int)', '', number => '%s') });
shape(
    from => 'LATERAL unnest',
    2, sub { lateral($_[0], 'unnest(ARRAY[?, ?])', '', truth => '%s') });
shape(
    from => 'LATERAL unnest of ids',
    1,
    sub {
        my ($ids) = grown($_[0], 'LATERAL unnest(ARRAY[{own id}::ulid, NULL, {ulid}])') or return;
        my $name = new_name('f');
        (all($ids, " $name (id)"), { name => $name, id => ["$name.id"] });
    });
shape(
    from => 'ROWS FROM',
    1,
    sub {
        my $functions = 'generate_series(1, (?)::int), unnest(ARRAY[?])';
        lateral(
            $_[0], "ROWS FROM ($functions) WITH ORDINALITY", ' (n, b, o)',
            number => '%s.n',
            truth  => '%s.b');
    });
shape(
    from => 'LATERAL VALUES',
    1, sub { lateral($_[0], '(VALUES (?), (?))', ' (b)', truth => '%s.b') });
shape(
    from => 'LATERAL inlined function',
    2, sub { lateral($_[0], 'truths(?)', ' (b)', truth => '%s.b') });

# queries; their columns are id, n, w, b, t
shape(query => 'select',   12, \&query_select);
shape(query => 'distinct', 1,  sub { query_select($_[0], 'DISTINCT ') });
shape(
    query => 'order by, limit',
    1,
    sub {
        all(query_select($_[0]),
            ' ORDER BY 1, 2, 3, 4, 5 LIMIT ',
            1 + int(rand 20),
            one_of('', ' OFFSET 3'));
    });
shape(query => 'offset 0', 1, sub { all(query_select($_[0]), ' OFFSET 0') });
shape(query => 'group by', 2, sub { query_grouped($_[0], '%s') });
shape(
    query => 'grouping sets',
    2, sub { query_grouped($_[0], one_of('GROUPING SETS ((%s), ())', 'ROLLUP (%s)', 'CUBE (%s)')) }
);
shape(query => 'group by tests',             6, \&query_grouped_by_tests);
shape(query => 'group by replacements',      4, \&query_grouped_by_replacements);
shape(query => 'outer aggregate',            3, \&query_outer_aggregate);
shape(query => 'test of an outer aggregate', 1, \&query_outer_test);
shape(query => 'window function',            2, \&query_window_function);
shape(query => 'set-returning function',     2, \&query_series);
shape(query => 'UNION ALL', 4, nested => 1, sub { query_set($_[0], ' UNION ALL ') });
shape(
    query => 'UNION, INTERSECT, EXCEPT',
    2,
    nested => 1,
    sub {
        query_set($_[0],
            one_of(' UNION ', ' INTERSECT ', ' INTERSECT ALL ', ' EXCEPT ', ' EXCEPT ALL '));
    });
shape(
    query => 'row locks',
    1,
    sub {
        return unless $_[0]{top};
        my ($from, $at) = from($_[0], 1, 1);
        all('SELECT ', columns($at), where($from, $at), ' FOR ', one_of('UPDATE', 'SHARE'));
    });
shape(query => 'data-modifying CTE', 1, nested => 1, \&query_modifying);

#
# Parts of expressions
#

sub several_conditions
{
    my ($at) = @_;
    return several('', one_of(' AND ', ' OR '), 1, map { condition($at) } 1 .. 2 + rand 2);
}

# A uuid, if a relation has one or the statement can have parameters.
sub uuid { my ($at) = @_; chance(0.1) && parameter('uuid') || offered($at, 'uuid') }

sub text_prefix
{
    my ($at) = @_;
    return
         (chance(0.2) && parameter('text'))
      || (chance(0.2) && 'left(' . (offered($at, 'id') // 'NULL') . '::ulid::text, 4)')
      || (@{ $case->{prefixes} } && chance(0.5) && one_of(@{ $case->{prefixes} }))
      || quoted(random_prefix()) . '::text';
}

# A constant; often one that an index or another object contains.
sub window_constant
{
    my @known = $case->{windows} ? @{ $case->{windows} } : chance(0.3) ? @index_windows : ();
    return @known && chance(0.6) ? one_of(@known) : quoted(random_range()) . '::tstzrange';
}

# A parameter of the type, if the statement can have parameters.
sub parameter
{
    my ($type) = @_;
    my $types  = $case->{parameters} or return;
    my @same   = grep { $types->[$_] eq $type } 0 .. $#$types;
    if (!@same or @same < 3 && chance(0.5))
    {
        push @$types, $type;
        @same = $#$types;
    }
    return '$' . (1 + one_of(@same));
}

# Values for the parameters.
sub arguments
{
    my ($types) = @_;
    my %value = (
        tstzrange => sub {
            chance(0.1) ? 'NULL' : quoted(one_of('empty', '(,)', map { random_range() } 1 .. 8));
        },
        ulid => sub { chance(0.1) ? 'NULL' : quoted(random_ulid()) },
        uuid => sub { quoted(random_ulid()) . '::ulid::uuid' },
        text => sub { quoted(random_prefix()) });
    return @$types ? '(' . join(', ', map { $value{$_}->() } @$types) . ')' : '';
}

sub window_constructor
{
    my ($at) = @_;
    my $day = int rand DAYS;
    my ($from, $to) = (quoted(moment($day)), quoted(moment($day + 1 + rand 10)));
    return all("tstzrange($from, $to, '", one_of('[)', '[]', '(]', '()'), "')") if chance(0.5);
    my ($n, $days) = (number($at), 1 + int rand 9);
    my $begin = all("'2025-01-01Z'::timestamptz + ", $n, " * interval '3 days'");
    return all('tstzrange(', $begin, ', ', $begin, " + interval '$days days')");
}

#
# What a query selects from
#

# A table; that of the case if it has one.
sub table
{
    my $table = $case->{table} // $case->{foreign};
    return $table if $table && chance(0.7);
    return one_of(@TABLES, 'narrow', chance(0.1) ? 'big' : (), chance(0.3) ? @FOREIGN : ());
}

# Nodes with a name, a relation with the usual columns.
sub from_named
{
    my ($name, @nodes) = @_;
    (either(all(@nodes, " $name"), "plain $name"), relation($name));
}

sub from_table
{
    my $name  = new_name('a');
    my $table = table();
    $case->{relations}++;
    return (
        either("$table $name", "by_range $name", "plain $name"),
        { %{ relation($name, 1) }, key => key_of($table) });
}

sub from_item { $case->{relations} > 4 ? from_table() : pick('from', $_[0]) }

# FROM with up to this many items; returns the node and the place that sees them.
sub from
{
    my ($at, $most, $only_tables) = @_;
    my $in = { %$at, here => [], joined => [] };
    my @nodes;
    for (1 .. 1 + int rand $most)
    {
        my ($node, @relations) = $only_tables ? from_table() : from_item($in);
        push @nodes, $node;
        my @numbers = map { own($_, 'number') } $in->{here}, \@relations;
        push @{ $in->{joined} }, "$numbers[0] = $numbers[1]" if @numbers == 2 && chance(0.7);
        push @{ $in->{joined} }, uuid_join($in->{here}, \@relations) if chance(0.15);
        $in = seeing($in, @relations);
    }
    return (several('', ', ', 1, @nodes), $in);
}

# FROM and WHERE.
sub where { my ($from, $in) = @_; all(' FROM ', $from, conditions('WHERE', $in)) }

# The two sides of a join: their nodes, and the relations of each.
sub sides
{
    my ($at,    $right_sees_left) = @_;
    my ($left,  @left)            = from_item(deeper($at));
    my ($right, @right) = from_item($right_sees_left ? seeing(deeper($at), @left) : deeper($at));
    return ($left, $right, \@left, \@right);
}

sub joined
{
    my ($word, $on, $left, $right, $l, $r) = @_;
    return (either(all('(', $left, $word, $right, $on, ')'), $left, $right), @$l, @$r);
}

sub from_join
{
    my ($at, $word, $right_sees_left) = @_;
    my ($left, $right, $l, $r) = sides($at, $right_sees_left);
    my $on = { %{ deeper($at) }, here => [ @$l, @$r ] };
    my @conditions;
    my $type = chance(0.3) ? 'id' : 'number';
    my ($a, $b) = map { own($_, $type) // '' } $l, $r;
    push @conditions, "$a = $b"         if $a && $b && ($word =~ /FULL/ || chance(0.8));
    push @conditions, uuid_join($l, $r) if chance(0.3);
    push @conditions, condition($on) while !@conditions || chance(0.4);
    return joined($word, several(' ON ', ' AND ', 1, @conditions), $left, $right, $l, $r);
}

# A uuid column equals an id of the other side, or nothing if there are none.
sub uuid_join
{
    my ($left, $right) = chance(0.5) ? @_ : reverse @_;
    my ($uuid, $id)    = (scalar own($left, 'uuid'), scalar own($right, 'id'));
    return $uuid && $id ? tested(one_of('uuid join', 'join uuid'), $uuid, $id) : ();
}

# A function of tests, which stand for the question marks; what it offers are formats of its name.
sub lateral
{
    my ($at, $function, $columns, %offers) = @_;
    return unless @{ $at->{here} };
    my $name = new_name('f');
    my ($first, @parts) = split /\?/, $function, -1;
    return (
        all("LATERAL $first", (map { (prunable_test($at), $_) } @parts), " $name$columns"),
        { name => $name, map { $_ => [ sprintf $offers{$_}, $name ] } keys %offers });
}

# Mostly a test of what pruning can use, which the planner's hooks rewrite.
sub prunable_test
{
    my ($at) = @_;
    my @tables = grep { $_->{is_table} } @{ $at->{here} };
    return test($at) unless @tables && chance(0.6);
    my $table = one_of(@tables);
    my $id    = "$table->{name}." . ($table->{key} // 'id');
    return tested('prefix',              $id, text_prefix($at)) if chance(0.2);
    return tested(one_of(@WINDOW_FORMS), $id, parameter('tstzrange') // window_constant());
}

sub from_cte
{
    my ($at) = @_;
    my ($ctes, $name) = ($at->{ctes}, new_name('q'));
    return unless $ctes;
    my $cte = chance(0.3) && @$ctes ? one_of(@$ctes)->{name} : undef;
    if (!$cte)
    {
        $cte = new_name('cte');
        my $query = query(within($at, 0));
        my $as    = one_of('AS', 'AS MATERIALIZED', 'AS NOT MATERIALIZED');
        push @$ctes, { name => $cte, node => all("$cte $as (", $query, ')') };
    }
    return from_named($name, $cte);
}

sub from_recursive
{
    my ($at) = @_;
    my ($name, $r) = (new_name('q'), new_name('r'));
    my $base = query(within($at, 0));
    my $in   = place(here => [ relation($r) ], depth => 0);
    my $from = all("FROM $r WHERE $r.n < 100", conditions('AND', $in));
    my $step = all("SELECT $r.id, $r.n + 100, $r.w, ", test($in), ", $r.t ", $from);
    return from_named($name, "(WITH RECURSIVE $r (id, n, w, b, t) AS ((",
        $base, ') UNION ALL ', $step, ") SELECT * FROM $r)");
}

sub from_view
{
    my ($view, $name) = (new_name('view'), new_name('a'));
    local $case->{parameters};
    my $query = query(place(depth => $_[0]{depth} - 1));
    push @{ $case->{before} },
      all(
        "CREATE TEMP VIEW $view",
        one_of('', '', ' WITH (security_barrier)'),
        ' AS ', $query, "; GRANT SELECT ON $view TO fuzz_reader");
    return from_named($name, $view);
}

sub from_function
{
    my ($at) = @_;
    my ($function, $name) = ('pg_temp.' . new_name('f'), new_name('q'));
    my @arguments = (all(id($at), '::ulid'), all(window($at), '::tstzrange'), number($at));
    local $case->{parameters};
    my $arguments = { id => ['$1'], window => ['$2'], number => ['$3'] };
    my $body      = query(place(depth => $at->{depth} - 1, around => [$arguments]));
    my $returns   = 'TABLE (id ulid, n int, w tstzrange, b boolean, t text)';

    # in a materialized view, the names in a text would not be found
    my ($begin, $end) = $case->{is_stored} ? (' BEGIN ATOMIC ', '; END') : (' AS $f$ ', ' $f$');
    push @{ $case->{before} },
      all(
        "CREATE FUNCTION $function(ulid, tstzrange, int) RETURNS $returns LANGUAGE sql ",
        one_of('STABLE PARALLEL SAFE', 'STABLE PARALLEL SAFE', 'VOLATILE'),
        $begin, $body, $end);
    return from_named($name, "LATERAL $function(", several('', ', ', 3, @arguments), ')');
}

#
# Queries
#

sub top_query
{
    my $query = query(place(depth => 1 + int rand 3, top => 1));
    $case->{explained} //= $query;
    return $query;
}

# The sub-select of an expression: its FROM and WHERE, and the place that sees its relations. It is
# correlated unless it is said otherwise.
sub sub_select
{
    my ($at,   %option) = @_;
    my ($from, $in)     = from(within($at, $option{correlated} // 1), 1, $option{tables});
    return (where($from, $in), $in);
}

sub conditions
{
    my ($word, $at) = @_;
    my @joined = $word eq 'WHERE' ? @{ $at->{joined} // [] } : ();
    return several(" $word ", ' AND ', 0, @joined, map { condition($at) } 1 .. rand 3);
}

# The five columns, each from what is visible.
sub columns
{
    my ($at, %given) = @_;
    my $null = sub { either(all($_[0], " AS $_[2]"), "NULL::$_[1] AS $_[2]") };
    return several(
        '',
        ', ',
        5,
        $null->($given{id} // all('(', id($at), ')::ulid'),          'ulid',      'id'),
        $null->($given{n}  // number($at),                           'int',       'n'),
        $null->($given{w}  // all('(', window($at), ')::tstzrange'), 'tstzrange', 'w'),
        $null->($given{b}  // condition($at),                        'boolean',   'b'),
        $null->($given{t}  // text($at),                             'text',      't'));
}

sub query_select
{
    my ($at, $distinct) = @_;
    my @ctes;
    my ($from, $in) = from({ %$at, ctes => \@ctes }, 3);
    my @body = ('SELECT ', $distinct // '', columns($in), where($from, $in));
    return all(several('WITH RECURSIVE ', ', ', 0, map { $_->{node} } @ctes), @ctes ? ' ' : (),
        @body);
}

sub query_grouped
{
    my ($at,   $grouping) = @_;
    my ($from, $in)       = from($at, 3);
    my @with_columns = grep { $_->{columns} } @{ $in->{here} } or return;
    my ($id, $n) = map { one_of(@with_columns)->{name} . $_ } one_of('.id', '.id::ulid'), '.n';
    my $grouped = { %$in, here => [ { id => [$id], number => [$n] } ], depth => 1 };
    my $b       = one_of(all('bool_or(', test($in), ')'),
        test($grouped), all('count(*) FILTER (WHERE ', test($in), ') > 1'));
    my $t = all('(count(*) FILTER (WHERE ', condition($in), '))::text');
    return all(
        "SELECT $id AS id, $n AS n, NULL::tstzrange AS w, ",
        either(all($b, ' AS b'), 'NULL::boolean AS b'),
        ', ',
        either(all($t, ' AS t'), 'NULL::text AS t'),
        where($from, $in),
        ' GROUP BY ',
        either(sprintf($grouping, "$id, $n"), "$id, $n"),
        conditions('HAVING', $grouped));
}

# Tests that a query groups by, and that its columns and HAVING use again.
sub query_grouped_by_tests
{
    my ($at) = @_;
    my ($from, $in) = from($at, chance(0.5) ? (2) : (1, 1));
    my @tests = map { prunable_test($in) } 1 .. 1 + rand 1.5;

    # before 18, core does not find a sub-select again among what a query groups by
    return if $version < 18 && grep { sql($_) =~ /SELECT/ } @tests;
    my (@lets, @keys, @truths);
    my $let = sub { my $name = new_name('k'); push @lets, [ $name, $_[0] ]; return named($name) };
    my (undef, $form, @operands) = @{ $tests[0] };
    if (chance(0.4) && grep { $_ eq $form } @WINDOW_FORMS)
    {    # the same test in two forms
        $_     = $let->($_) for @operands;
        @tests = map { tested($_, @operands) } (shuffle @WINDOW_FORMS)[ 0, 1 ];
    }

    # core simplifies NOT and IS TRUE, and turns NOT around a comparison into the opposite one, so
    # that they may not be found again as what a query before 18 groups by
    for my $test (@tests)
    {
        my $is_comparison = !grep { $_ eq $test->[1] } @WINDOW_FORMS, qw(any prefix);
        my $plain         = [ '%s', $is_comparison && $version < 18 ? '(%s)::int = 1' : '%s' ];
        my ($wrapped, $truth) = @{
            one_of(
                ($plain) x 6,
                [ '(%s)::int',                      '%s = 1' ],
                [ 'coalesce(%s, false)',            '%s' ],
                [ 'CASE WHEN %s THEN 1 ELSE 2 END', '%s = 2' ])
        };
        push @keys,   $let->(filled($wrapped, $let->($test)));
        push @truths, filled($truth, $keys[-1]);
    }
    my $column = own($in->{here}, one_of('number', 'id', 'truth'));
    push @keys, $column if $column && chance(0.5);
    my $use      = sub { use_of_keys($in, \@keys, \@truths, int rand 3) };
    my $grouping = grouping_of(shuffle @keys);
    my $text     = one_of(
        all('(',         $use->(),      ')::text'),
        all('GROUPING(', one_of(@keys), ')::text'),
        'count(*)::text', all("jsonb_build_object('a', ", one_of(@truths), ')::text'));
    my $query = all(
        'SELECT NULL::ulid AS id, ',
        either('count(*)::int AS n', 'NULL::int AS n'),
        ', NULL::tstzrange AS w, ',
        either(all($use->(), ' AS b'), 'NULL::boolean AS b'),
        ', ',
        either(all($text, ' AS t'), 'NULL::text AS t'),
        where($from, $in),
        ' GROUP BY ',
        $grouping,
        several(' HAVING ', ' AND ', 0, map { $use->() } 1 .. rand 3));
    $query = let(@$_, $query) for reverse @lets;
    return $query;
}

# A column is grouped by, and what the hooks may put in place of a test of it. HAVING has the test.
sub query_grouped_by_replacements
{
    my ($at) = @_;
    my ($from, $in) = from($at, 2);
    my @tables = grep { $_->{is_table} } @{ $in->{here} } or return;
    my $table  = one_of(@tables);
    my $column = "$table->{name}." . one_of(($table->{key} // 'id') x 3, qw(id did u du));
    my ($test, $conditions, $values) = replaceable_test($column);
    my @truths = ((shuffle @$conditions)[ 0 .. rand 2 ], ($test) x 2);
    my @keys   = grep { $_ ne $test } @truths;
    push @keys, one_of(@$values) if chance(0.5);
    my $use = sub { use_of_keys($in, [ $column, @keys ], \@truths, int rand 3) };
    push @{ $in->{joined} }, $test if chance(0.3);
    return all(
        'SELECT NULL::ulid AS id, count(*)::int AS n, NULL::tstzrange AS w, ',
        either(all($use->(), ' AS b'), 'NULL::boolean AS b'),
        ', ',
        either(all('(', one_of($column, @keys), ')::text AS t'), 'NULL::text AS t'),
        where($from, $in),
        ' GROUP BY ',
        chance(0.7)
        ? all("$column, ", grouping_of(shuffle @keys))
        : grouping_of(shuffle $column, @keys),
        several(' HAVING ', ' AND ', 0, either($test, $use->()), chance(0.3) ? $use->() : ()));
}

# A test of a column, the conditions that the hooks may put in its place, and the values in them.
sub replaceable_test
{
    my ($column)    = @_;
    my @comparisons = qw(= <> < <= >= >);
    if (chance(0.3))
    {
        my $id = (chance(0.5) && parameter('ulid')) || quoted(random_ulid()) . '::ulid';

        # not the cast to ulid: core finds it in the test, but not in the plain expression
        return (tested(one_of(@comparisons) . ', function', $column, $id),
            [ map { "($column $_ $id)" } @comparisons ], [$id]);
    }
    my ($form, $function, $argument) =
      chance(0.3)
      ? ('prefix', 'ulid_starts_with', parameter('text') // quoted(random_prefix()) . '::text')
      : (one_of(@WINDOW_FORMS), 'ulid_range', parameter('tstzrange') // window_constant());
    my (@conditions, @values);
    for my $type (qw(ulid uuid))
    {
        my ($lower, $upper) = map { "${function}_$_($argument)::$type" } qw(lower upper);
        my @both = ("$column\::$type >= $lower", "$column\::$type <= $upper");
        push @conditions, map { "($_)" } @both, join ' AND ', @both;
        push @values, $lower, $upper, "$column\::$type";
    }
    push @conditions, "ulid_starts_with_check($column, $argument)" if $form eq 'prefix';
    return (tested($form, $column, $argument), \@conditions, \@values);
}

# What GROUP BY groups by: every kind of grouping sets.
sub grouping_of
{
    my @keys   = @_;
    my $sets   = sub { all($_[0], ' (', several('', ', ', 1, @_[ 1 .. $#_ ]), ')') };
    my $subset = sub {
        my @some = grep { chance(0.5) } @keys;
        all('(', @some ? several('', ', ', 1, @some) : '', ')');
    };
    my ($first, @others) = @keys;
    return one_of(
        several('', ', ', 1, @keys),
        (map { $sets->($_, @keys) } 'ROLLUP', 'CUBE'),
        $sets->(
            'GROUPING SETS',
            all('(', several('', ', ', 1, @keys), ')'),
            map { $subset->() } 1 .. 3),
        $sets->('GROUPING SETS', '()', @keys),
        $sets->('GROUPING SETS', $sets->('ROLLUP', @keys), $sets->('CUBE', @keys)),
        all(one_of('', 'DISTINCT '), $sets->('ROLLUP', @keys), ', ', $sets->('CUBE', $first)),
        @others ? all($first, ', ', $sets->(one_of('ROLLUP', 'CUBE'), @others)) : ());
}

# A condition of what a query groups by.
sub use_of_keys
{
    my ($in, $keys, $truths, $depth) = @_;
    my $deeper = sub { use_of_keys($in, $keys, $truths, $depth - 1) };
    my @leaves = (
        (sub { one_of(@$truths) }) x 2,
        sub { all('count(*) > ',  int rand 4) },
        sub { all('GROUPING(',    one_of(@$keys), ') = 0') },
        sub { all(one_of(@$keys), ' IS NULL') },
        sub { all('bool_or(',     test($in), ')') });
    my @nested = (
        sub { all('NOT (', $deeper->(), ')') },
        (   sub { all('(', several('', one_of(' AND ', ' OR '), 1, $deeper->(), $deeper->()), ')') }
        ) x 2,
        sub { all('CASE WHEN ', $deeper->(), ' THEN ', $deeper->(), ' ELSE ', $deeper->(), ' END') }
        ,
        sub { all('(', $deeper->(), ') IS ', one_of('', 'NOT '), one_of(qw(TRUE FALSE UNKNOWN))) },
        sub { all('coalesce(', $deeper->(), ', ', $deeper->(),   ')') });
    return $depth > 0 ? either(one_of(@nested)->(), @$truths) : one_of(@leaves)->();
}

# What a sub-select compares with is an aggregate of the query around it, or GROUPING of it.
sub query_outer_aggregate
{
    my ($outer, $inner) = (new_name('o'), new_name('i'));
    my $id    = "$inner." . one_of('id', 'id', 'did', 'u');
    my $epoch = "'2025-01-01Z'::timestamptz";
    my $test  = one_of(
        (   map { tested(one_of(@WINDOW_FORMS), $id, $_) } "tstzrange(NULL, max(upper($outer.w)))",
            "tstzrange(min(ulid_extract_timestamp($outer.id)), NULL)",
            "tstzrange($epoch + GROUPING($outer.n) * interval '9 days', NULL)"),
        tested('prefix', $id, "left(max($outer.id\::ulid)::text, " . one_of(3 .. 6) . ')'),
        tested(one_of('<=', '>', '=, commuted'), "$inner.u", "min($outer.id)"));
    my $from   = all(' FROM ', either(table(), 'by_range', 'plain'), " $inner");
    my $answer = one_of(
        all('(SELECT count(*)',                $from, ' WHERE ', $test, ')'),
        all('(SELECT count(*) FILTER (WHERE ', $test, ')',       $from, ')'),
        all('(SELECT count(*) FROM (SELECT ',  $test, ' AS b',   $from, ' OFFSET 0) s WHERE b)'),
        all('(SELECT count(*)', $from, " LEFT JOIN plain p ON p.n = $inner.n AND ", $test, ')'));
    my $columns = "max($outer.id\::ulid) AS id, $outer.n, NULL::tstzrange AS w, true AS b";
    return all(
        "SELECT $columns, ",
        $answer,
        '::text AS t FROM ',
        either(table(), 'plain'),
        " $outer GROUP BY ",
        one_of("$outer.n", "ROLLUP ($outer.n)"),
        either(one_of('', all(' HAVING ', $answer, ' > ', int rand 5)), ''));
}

# An aggregate of tests in a sub-select that belongs to the query around it, as it has only that
# one's columns.
sub query_outer_test
{
    my ($from, $in) = from($_[0], 2);
    my $test = test({ %$in, around => [], depth => 0 });
    my $n    = own($in->{here}, 'number') // 1;
    return all(
        "SELECT NULL::ulid AS id, count(*)::int AS n, NULL::tstzrange AS w, (SELECT bool_or(",
        $test,
        ") FROM windows LIMIT 1) AS b, ($n)::text AS t",
        where($from, $in),
        ' GROUP BY ',
        one_of('%s', 'ROLLUP (%s)') =~ s/%s/($n)::text/r);
}

sub query_window_function
{
    my ($from, $in) = from($_[0], 2);
    my $over = 'OVER (' . one_of('', 'PARTITION BY ' . (offered($in, 'number') // 1)) . ')';
    my $b    = all('bool_or(',                 test($in), ") $over");
    my $t    = all('(count(*) FILTER (WHERE ', test($in), ") $over)::text");
    return all('SELECT ', columns($in, b => $b, t => $t), where($from, $in));
}

sub query_series
{
    my ($from, $in) = from($_[0], 2);
    my %series =
      chance(0.5)
      ? (n => grown($in, 'generate_series(1, ({test})::int)'))
      : (b => grown($in, 'unnest(ARRAY[{test}, {test}])'));
    return all('SELECT ', columns($in, %series), where($from, $in));
}

sub query_set
{
    my ($at, $word) = @_;
    my @queries = map { all('(', query({ %{ deeper($at) }, top => 0 }), ')') } 1 .. 2 + rand 1.3;
    return either(several('', $word, 1, @queries), @queries);
}

sub query_modifying
{
    my ($at) = @_;
    return unless $at->{top};
    $case->{changes} = 1;
    my $table  = one_of(@TABLES);
    my $target = { %$at, here => [ relation('x', 1) ], around => [] };
    my $change =
        chance(0.5)
      ? all("DELETE FROM $table x", conditions('WHERE', $target))
      : updating($table, $target);
    my $in      = { %$at, here => [ relation('changed') ] };
    my $changed = all($change, ' RETURNING x.id, x.n, x.w, ', test($target), ' AS b, x.t');
    return all(
        'WITH changed AS (',
        $changed, ') SELECT ', columns($in),
        ' FROM changed',
        conditions('WHERE', $in));
}

# An update of a table, whose row the place sees as x.
sub updating
{
    my ($table, $at, %option) = @_;
    return all("UPDATE $table x SET ", new_values($at, %option), conditions('WHERE', $at));
}

# New values for columns of x, which depend only on its row. None may fail: whether it is computed
# at all can depend on the order of the conditions of a rule, which is open. With `same_id`, the row
# stays in its partition.
sub new_values
{
    my ($at, %option) = @_;
    my @ids = (
        'id = ' . quoted(random_ulid()),
        "id = ulid_lower_bound(least(ulid_extract_timestamp(x.id), '2030-01-01Z') "
          . "+ interval '3 days')");
    my @values = (
        all('n = ', number($at)),
        all('b = ', condition($at)),
        all('t = ', text($at)),
        all('w = ', window($at)));
    push @values, one_of(@ids) if !$option{same_id};
    my @chosen = grep { chance(0.4) } @values;
    return several('', ', ', 1, @chosen ? @chosen : $values[0]);
}

1;
