# Search for queries that the planner's hooks break: random queries in a separate schema "fuzz". Each runs twice,
# unchanged and with the plain expression in place of the operator:
#   id <@ window                window @> ulid_extract_timestamp(id), by core's function
#   ulid_starts_with(id, p)     starts_with(id::text, upper(p))
#   uuid = ulid, and < <= >= >  the functions of core on both as uuid
#   a join of uuid = ulid       core's operator on both as uuid
#   an index for a foreign key  no index
# Both must give the same rows or the same SQLSTATE. A difference, a crash, an internal error (XX...) and a warning in
# the server's log are faults. The same seed generates the same queries on the same server.
package PlannerFuzz;
use strict;
use warnings FATAL => 'all';
use Exporter 'import';
use IPC::Open3;
use List::Util qw(first shuffle sum);
use Test::More;
use Time::HiRes 'time';
use ULID qw(has_extension slurp_file);

our @EXPORT = qw(make_fuzz_schema fuzz_queries fuzz);

#
# Queries are trees, so that parts of them can be omitted. A node is a text or [KIND, NODE...]
#

# Nodes after each other.
sub all { ['all', @_] }
# The first; a smaller query has one of the others instead.
sub either { ['either', @_] }
# A list; a smaller query has fewer of the items, but at least this many. The text before it is omitted with the last
# item.
sub several { ['several', @_] }
# The object of the test: one of the functions in one of its forms.
sub tested { ['tested', @_] }
# A name for a node, used any number of times in another: all uses become smaller together.
sub let { ['let', @_] }
sub named { ['named', @_] }

# The plain expression is the function behind core's operator; the operator itself, from 17 on, takes NULL to be in
# '(,)'. Each form has a function of its own, as core takes equal expressions of a query for one, which forms are not.
sub contains { "contains_$_[0]((%2\$s)::tstzrange, ulid_extract_timestamp(%1\$s))" }
# The forms of a test: unchanged, and the plain expression.
my %FORM = (
    '<@'       => ['(%s <@ %s)', contains('operator')],
    '@>'       => ['(%2$s @> %1$s)', contains('commutator')],
    'function' => ['ulid_contained_by_range(%s, %s)', contains('function')],
    'commuted' => ['range_contains_ulid(%2$s, %1$s)', contains('commuted')],
    'any'      => ['(%s <@ ANY (ARRAY[%s]))', '(ulid_extract_timestamp(%s) <@ ANY (ARRAY[(%s)::tstzrange]))'],
    'prefix'   => ['ulid_starts_with(%s, %s)', 'starts(%s, %s)'],
    'uuid join' => ['(%s = (%s)::ulid)', '((%s)::uuid = (%s)::ulid::uuid)'],
    'join uuid' => ['((%2$s)::ulid = %1$s)', '((%2$s)::ulid::uuid = (%1$s)::uuid)'],
    'uuid in'   => ['(%s IN (SELECT (%s)::ulid%s))', '((%s)::uuid IN (SELECT (%s)::ulid::uuid%s))'],
    'uuid any'  => [
        '(%s = ANY (ARRAY[(%s)::ulid, (%s)::ulid]))',
        '((%s)::uuid = ANY (ARRAY[(%s)::ulid::uuid, (%s)::ulid::uuid]))',
    ],
    # the query of a foreign key cannot be written in another way, but without an index nothing of it is changed
    'index' => ['CREATE INDEX ON %s USING %s', "SET LOCAL fuzz.without_index = '%s %s'"],
);
my %COMPARISON = ('=' => 'eq', '<' => 'lt', '<=' => 'le', '>=' => 'ge', '>' => 'gt');
for my $operator (keys %COMPARISON) {
    my $function = "uuid_$COMPARISON{$operator}";
    $FORM{$operator} = ["((%s) $operator (%s)::ulid)", "$function((%s)::uuid, (%s)::uuid)"];
    $FORM{"$operator, commuted"} =
        ["((%2\$s)::ulid $operator (%1\$s))", "$function((%2\$s)::uuid, (%1\$s)::uuid)"];
}
# Those of a window.
my @WINDOW_FORMS = ('<@', '@>', 'function', 'commuted');

our %value;                                # of the names of the nodes around

# The SQL of a node: with the functions that are tested, or with the plain expressions.
sub sql {
    my ($node, $plain) = @_;
    return $node unless ref $node;
    my ($kind, @parts) = @$node;
    return join '', map { sql($_, $plain) } @parts if $kind eq 'all';
    return sql($parts[0], $plain) if $kind eq 'either';
    return sql($value{ $parts[0] }, $plain) if $kind eq 'named';
    if ($kind eq 'let') {
        my ($name, $value, $body) = @parts;
        local $value{$name} = $value;
        return sql($body, $plain);
    }
    if ($kind eq 'several') {
        my ($before, $between, undef, @items) = @parts;
        return @items ? $before . join($between, map { sql($_, $plain) } @items) : '';
    }
    my ($form, @arguments) = @parts;
    return sprintf $FORM{$form}[$plain ? 1 : 0], map { sql($_, $plain) } @arguments;
}

# All nodes that are smaller by one step, the smallest first.
sub smaller {
    my ($node) = @_;
    return unless ref $node;
    my ($kind, @parts) = @$node;
    my @found;
    my $first = 0;
    if ($kind eq 'either') {
        push @found, @parts[1 .. $#parts];
        # the others exist only for this
        push @found, map { ['either', $_, @parts[1 .. $#parts]] } smaller($parts[0]);
        return @found;
    } elsif ($kind eq 'several') {
        my ($before, $between, $least, @items) = @parts;
        if (@items > $least) {
            for my $out (0 .. $#items) {
                push @found, [$kind, $before, $between, $least, map { $items[$_] } grep { $_ != $out } 0 .. $#items];
            }
        }
        $first = 3;
    } elsif ($kind eq 'tested' || $kind eq 'let' || $kind eq 'named') {
        $first = 1;
    }
    for my $n ($first .. $#parts) {
        for my $part (smaller($parts[$n])) {
            push @found, [$kind, @parts[0 .. $n - 1], $part, @parts[$n + 1 .. $#parts]];
        }
    }
    return @found;
}

#
# Random choice
#

sub chance { rand() < $_[0] }
sub one_of { $_[rand @_] }

my @CROCKFORD = split //, '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

# The first ten characters of the ulids of this millisecond.
sub time_of_ulid {
    my ($ms) = @_;
    my $text = '';
    for (1 .. 10) { $text = $CROCKFORD[$ms % 32] . $text; $ms = int($ms / 32) }
    return $text;
}

# A ulid of this millisecond.
sub ulid { time_of_ulid($_[0]) . join '', map { one_of(@CROCKFORD) } 1 .. 16 }

# Days count from 2025-01-01; the data lie in 50 of them.
use constant { EPOCH_MS => 1735689600000, DAY_MS => 86400000, DAYS => 50 };

sub random_ulid {
    return '0' x 26 if chance(0.02);
    return '7' . 'Z' x 25 if chance(0.02);
    return ulid(EPOCH_MS + int(rand DAYS) * DAY_MS + (chance(0.2) ? 0 : int rand DAY_MS));
}

# A moment as a bound of a range, without quotes.
sub moment {
    my ($day) = @_;
    my ($month, $of_month) = $day < 31 ? (1, $day + 1) : $day < 59 ? (2, $day - 30) : (3, $day - 58);
    my $time = chance(0.6) ? '00:00' : one_of('12:00', '23:59:59.999', '00:00:00.000001', '06:30:00.0005');
    return sprintf '2025-%02d-%02d %sZ', $month, $of_month, $time;
}

# The text of a range: usually some days, occasionally an unusual one.
sub random_range {
    return one_of('empty', '(,)', '[-infinity,infinity]', '[2025-01-10Z,)', '(,2025-01-10Z]', '(,1960-01-01Z)',
        '[1960-01-01Z,2025-01-15Z)', '[2025-01-20Z,20000-01-01Z)', '[10889-08-02Z,)', '[4713-01-01 BC,2025-01-20Z]',
        '[2025-01-12Z,infinity)', '(2025-01-12Z,2025-01-12 00:00:00.0005Z)') if chance(0.15);
    my $day = int rand DAYS;
    my ($from, $to) = (moment($day), moment($day + 1 + int rand one_of(2, 5, 30)));
    return one_of('[', '[', '(') . "$from,$to" . one_of(')', ')', ']');
}

sub quoted { defined $_[0] ? "'$_[0]'" : 'NULL' }

# The beginning of a ulid; most of those of the data begin with 01J.
sub random_prefix {
    my $text = chance(0.1) ? '' : substr random_ulid(), 0, one_of(1, 3, 4, 4, 5, 6, 26);
    return chance(0.3) ? lc $text : $text;
}

#
# The case being generated: its statements, and what they share
#

my $case;                                  # {before, parameters, relations, names, used, windows, prefixes}
my $version;                               # of the server, 15
my @index_windows;                         # of the indexes of the schema

sub new_name { $_[0] . ++$case->{names} }

# A place in a query: the relations visible there, those of the outer levels, the remaining depth, and the list of the
# CTEs of its query.
sub place { my (%given) = @_; return { here => [], around => [], depth => 3, ctes => undef, %given } }

# The place within a sub-select: the outer relations are visible only if it is correlated.
sub within {
    my ($at, $correlated) = @_;
    return place(
        around => [@{ $at->{around} }, $correlated ? @{ $at->{here} } : ()],
        depth  => $at->{depth} - 1,
        ctes   => $at->{ctes},
    );
}

# A relation offers expressions of six types: id, window, number, truth, text, and tables uuid. All but the functions
# have columns id, w, n, b and t; tables have more.
sub relation {
    my ($name, $is_table) = @_;
    my %offers = (
        name => $name, columns => 1, is_table => $is_table,
        id => [("$name.id") x 3],
        window => [("$name.w") x 2],
        number => ["$name.n"],
        truth => ["$name.b"],
        text => ["$name.t", "$name\::text"],
    );
    if ($is_table) {
        my @uuids = ("$name.u", "$name.du");
        push @{ $offers{id} }, "$name.did", "($name.c).id", "$name.ids[1]", @uuids, "(ROW($name.id, $name.w)::pair).id";
        push @{ $offers{window} }, "$name.dw", "($name.c).w";
        $offers{uuid} = ["$name.u", @uuids];
    }
    return \%offers;
}

# An expression of a visible relation, or nothing.
sub offered {
    my ($at, $type) = @_;
    for my $seen (chance(0.25) ? ($at->{around}, $at->{here}) : ($at->{here}, $at->{around})) {
        my @relations = grep { @{ $_->{$type} // [] } } @$seen or next;
        return one_of(@{ one_of(@relations)->{$type} });
    }
    return;
}

# Tables of the schema below. Those of the first line are partitioned by ranges of an id.
my @PARTITIONED = qw(by_range by_range_twin by_range_sub by_range_n by_n_range by_extract by_coalesce by_domain by_uuid
    by_reversed);
my @TABLES = (
    @PARTITIONED, qw(by_range by_range by_range_sub by_hash by_list plain plain second indexed family secured),
);
# Some of them have partitions that are not <table>_1, _2, _3 and _rest.
my %PARTITIONS = (
    by_hash => [0 .. 2], by_list => [qw(1_a 1_rest rest)], by_reversed => [1, 'rest'],
    by_range_sub => [qw(1 2_a 2_rest 3_a 3_b 4_0 4_1 rest)],
);
# Those with foreign partitions, by ranges and by hash, if there is postgres_fdw. They are mostly in FROM, as rows
# cannot move between foreign partitions.
my @FOREIGN;

# The column that most partitions are pruned by.
sub key_of {
    my ($table) = @_;
    return $table =~ /^(by_uuid$|far_u_)/ ? 'u' : $table eq 'by_domain' ? 'did' : 'id';
}

# The tables that hold the rows of a table.
sub partitions {
    my ($table) = @_;
    return map { "${table}_$_" } @{ $PARTITIONS{$table} // [1 .. 3, 'rest'] } if $table =~ /^by_/;
    return $table;
}

#
# The shapes. Each generator takes a place and returns a node, or nothing if it does not fit. Within a kind, one is
# chosen by weight; those that need no depth are chosen when the depth is used up.
#

my @SHAPES;

# Add a shape to a kind: its name, its weight, and its generator. Of the options, `from` is the first PostgreSQL that
# has it, and a `nested` one needs depth.
sub shape {
    my ($kind, $name, $weight, @more) = @_;
    my $generator = pop @more;
    push @SHAPES, { kind => $kind, name => $name, weight => $weight, from => 0, @more, generator => $generator };
    return;
}

# windows
shape(window => 'constant', 8, sub { window_constant() });
shape(window => 'constant of a domain', 1, sub { quoted(random_range()) . '::' . one_of('period', 'ulid_window') });
shape(window => 'constructor', 2, \&window_constructor);
shape(window => 'null', 1, sub { 'NULL::tstzrange' });
shape(window => 'column', 8, sub { offered($_[0], 'window') });
shape(window => 'parameter', 12, sub { parameter('tstzrange') });
shape(window => 'from an id', 2, sub { all('tstzrange(ulid_extract_timestamp(', id($_[0]), "), NULL, '[)')") });
shape(window => 'intersection', 2, nested => 1, sub {
    my $at = deeper($_[0]);
    all('(', window($at), ' * ', window($at), ')');
});
shape(window => 'coalesce', 2, nested => 1, sub {
    all('coalesce(', window(deeper($_[0])), ', ', quoted(random_range()), ')');
});
shape(window => 'case', 2, nested => 1, sub {
    my $at = deeper($_[0]);
    all('CASE WHEN ', condition($at), ' THEN ', window($at), ' ELSE ', window($at), ' END');
});
shape(window => 'array element', 1, nested => 1, sub {
    my $at = deeper($_[0]);
    all('(ARRAY[', window($at), '::tstzrange, ', window($at), '])[', number($at), ' % 2 + 1]');
});
shape(window => 'stable function', 3, sub { all('stable_window(', number($_[0]), ')') });
shape(window => 'inlined function', 2, sub { all('inlined_window(', number($_[0]), ')') });
shape(window => 'volatile function', 2, sub { all('volatile_window(', number($_[0]), ')') });
shape(window => 'inlined from an id', 2, sub { all('inlined_around(', id($_[0]), '::ulid)') });
shape(window => 'sub-select', 3, sub { '(SELECT w FROM windows WHERE k = ' . int(rand 12) . ')' });
shape(window => 'correlated sub-select', 3, sub {
    all('(SELECT windows.w FROM windows WHERE windows.k = ', number($_[0]), ')');
});
shape(window => 'aggregate', 1, sub {
    '(SELECT tstzrange(min(lower(w)), max(upper(w))) FROM windows WHERE k < ' . int(rand 12) . ')';
});

# ids
shape(id => 'column', 12, sub { offered($_[0], 'id') });
shape(id => 'constant', 1, sub { quoted(random_ulid()) . '::ulid' });
shape(id => 'parameter', 1, sub { parameter('ulid') });
shape(id => 'coalesce', 1, nested => 1, sub {
    all('coalesce(', id(deeper($_[0])), '::ulid, ', quoted(random_ulid()), ')');
});
shape(id => 'greatest', 1, nested => 1, sub {
    my $at = deeper($_[0]);
    all('greatest(', id($at), '::ulid, ', id($at), '::ulid)');
});
shape(id => 'case', 1, nested => 1, sub {
    my $at = deeper($_[0]);
    all('CASE WHEN ', condition($at), ' THEN ', id($at), '::ulid END');
});
shape(id => 'sub-select', 1, nested => 1, sub {
    my ($body, $in) = sub_select($_[0], tables => 1);
    all('(SELECT max(', offered({ %$in, around => [] }, 'id'), '::ulid)', $body, ')');
});

# tests
shape(test => '<@', 6, sub { tested('<@', id($_[0]), window($_[0])) });
shape(test => '<@ untyped', 2, sub { tested('<@', all(id($_[0]), '::ulid'), quoted(random_range())) });
shape(test => '@>', 3, sub { tested('@>', id($_[0]), window($_[0])) });
shape(test => 'function', 3, sub { tested('function', id($_[0]), window($_[0])) });
shape(test => 'commuted function', 3, sub { tested('commuted', id($_[0]), window($_[0])) });
shape(test => '<@ ANY', 1, sub { tested('any', id($_[0]), all(window($_[0]), '::tstzrange')) });
shape(test => 'comparison of a uuid', 6, sub {
    my $uuid = uuid($_[0]);
    $uuid && tested(one_of('=', '=', '<', '<=', '>=', '>') . one_of('', ', commuted'), $uuid, id($_[0]));
});
shape(test => 'uuid = ANY', 1, sub {
    my $uuid = uuid($_[0]);
    $uuid && tested('uuid any', $uuid, id($_[0]), id($_[0]));
});
shape(test => 'uuid IN', 2, nested => 1, sub {
    my ($at) = @_;
    my $uuid = uuid($at);
    my ($body, $in) = sub_select($at, correlated => chance(0.5));
    $uuid && tested('uuid in', $uuid, id($in), $body);
});
shape(test => 'ulid_starts_with', 8, sub { tested('prefix', id($_[0]), text_prefix($_[0])) });

# conditions
shape(condition => 'test', 14, sub { test($_[0]) });
shape(condition => 'equal numbers', 2, sub { all(number($_[0]), ' = ', number($_[0])) });
shape(condition => 'equal ids', 2, sub {
    my @ids = map { offered($_[0], 'id') } 1 .. 2;
    @ids == 2 && "$ids[0]\::ulid = $ids[1]\::ulid";
});
shape(condition => 'ordered ids', 1, sub {
    my $id = offered($_[0], 'id');
    $id && "$id\::ulid >= " . quoted(random_ulid());
});
shape(condition => 'truth', 1, sub { offered($_[0], 'truth') });
shape(condition => 'is null', 1, sub { all(id($_[0]), ' IS ', one_of('', 'NOT '), 'NULL') });
shape(condition => 'not', 2, nested => 1, sub { all('NOT (', condition(deeper($_[0])), ')') });
shape(condition => 'and, or', 4, nested => 1, sub {
    my $at = deeper($_[0]);
    all('(', several('', one_of(' AND ', ' OR '), 1, map { condition($at) } 1 .. 2 + rand 2), ')');
});
shape(condition => 'is true', 2, nested => 1, sub {
    all('(', condition(deeper($_[0])), ') IS ', one_of('', 'NOT '), one_of(qw(TRUE FALSE UNKNOWN)));
});
shape(condition => 'case', 1, nested => 1, sub {
    my $at = deeper($_[0]);
    all('CASE WHEN ', condition($at), ' THEN ', condition($at), ' ELSE ', condition($at), ' END');
});
shape(condition => 'equal tests', 1, nested => 1, sub {
    my $at = deeper($_[0]);
    all('(', test($at), ' = ', condition($at), ')');
});
shape(condition => 'exists', 2, nested => 1, sub {
    my ($body) = sub_select($_[0]);
    all(one_of('', 'NOT '), 'EXISTS (SELECT', $body, ')');
});
shape(condition => 'in', 2, nested => 1, sub {
    my ($at) = @_;
    my ($body, $in) = sub_select($at, correlated => chance(0.5));
    all(number($at), one_of('', ' NOT'), ' IN (SELECT ', number($in), $body, ')');
});
shape(condition => 'in, of tests', 1, nested => 1, sub {
    my ($at) = @_;
    my ($body, $in) = sub_select($at, correlated => chance(0.5));
    all('(', test($at), ') IN (SELECT ', test($in), $body, ')');
});

# numbers
shape(number => 'column', 6, sub { offered($_[0], 'number') });
shape(number => 'constant', 3, sub { int rand 12 });
shape(number => 'test', 2, nested => 1, sub { all('(', test(deeper($_[0])), ')::int') });
shape(number => 'count of a sub-select', 1, nested => 1, sub {
    my ($body) = sub_select($_[0]);
    all('(SELECT count(*)::int', $body, ')');
});

# texts
shape(text => 'column', 4, sub { offered($_[0], 'text') });
shape(text => 'test', 2, sub { all('(', test($_[0]), ')::text') });
shape(text => 'jsonb', 2, sub { all("jsonb_build_object('a', ", test($_[0]), ')::text') });
shape(text => 'row', 1, sub { all('ROW(', id($_[0]), ', ', test($_[0]), ')::text') });
shape(text => 'array of a sub-select', 1, nested => 1, sub {
    my ($body, $in) = sub_select($_[0]);
    all('array_to_string(ARRAY(SELECT (', test($in), ')::int', $body, " ORDER BY 1), ',', '-')");
});

# what a query selects from
shape(from => 'table', 12, \&from_table);
shape(from => 'whole sample', 1, sub {
    my $name = new_name('a');
    give(either(table() . " $name TABLESAMPLE BERNOULLI (100)", "plain $name"), relation($name, 1));
});
shape(from => 'sub-select', 4, nested => 1, sub {
    my $name = new_name('q');
    give(either(all('(', query(within($_[0], 0)), ") $name"), "plain $name"), relation($name));
});
shape(from => 'LATERAL sub-select', 3, nested => 1, sub {
    my $name = new_name('q');
    give(either(all('LATERAL (', query(within($_[0], 1)), ") $name"), "plain $name"), relation($name));
});
shape(from => 'CTE', 2, nested => 1, \&from_cte);
shape(from => 'recursive CTE', 1, nested => 1, \&from_recursive);
shape(from => 'view', 2, nested => 1, \&from_view);
shape(from => 'SQL function', 2, nested => 1, \&from_function);
shape(from => 'VALUES', 1, sub {
    my $name = new_name('v');
    my @rows = map {
        my ($id, $window, $n) = (quoted(random_ulid()), quoted(random_range()), int rand 12);
        "($id\::ulid, $n, $window\::tstzrange, true, 'v')";
    } 1 .. 3;
    give(all('(VALUES ', several('', ', ', 1, @rows), ") $name (id, n, w, b, t)"), relation($name));
});
shape(from => 'inner join', 4, nested => 1, sub { from_join($_[0], one_of(' JOIN ', ' INNER JOIN '), 1) });
shape(from => 'left join', 6, nested => 1, sub { from_join($_[0], ' LEFT JOIN ', 1) });
shape(from => 'right join', 3, nested => 1, sub { from_join($_[0], ' RIGHT JOIN ', 0) });
shape(from => 'full join', 3, nested => 1, sub { from_join($_[0], ' FULL JOIN ', 0) });
shape(from => 'cross join', 1, nested => 1, sub {
    my $at = deeper($_[0]);
    my ($left, @l) = from_item($at);
    my ($right, @r) = from_item(seeing($at, @l));
    give(either(all('(', $left, ' CROSS JOIN ', $right, ')'), $left, $right), @l, @r);
});
shape(from => 'join using', 1, nested => 1, sub {
    my $at = deeper($_[0]);
    my ($left, @l) = from_item($at);
    my ($right, @r) = from_item($at);
    return unless @l == 1 && @r == 1 && $l[0]{id} && $r[0]{id};
    my ($join, $using) = (one_of(' JOIN ', ' LEFT JOIN ', ' FULL JOIN '), one_of(' USING (n)', ' USING (id)'));
    give(either(all('(', $left, $join, $right, $using, ')'), $left, $right), @l, @r);
});
# functions over a test of the preceding items
shape(from => 'LATERAL jsonb', 8, sub {
    lateral($_[0], "jsonb_build_object('a', ?)", '', text => '%s::text', truth => "(%s->>'a')::bool");
});
shape(from => 'LATERAL series', 8, sub { lateral($_[0], 'generate_series(1, (?)::int)', '', number => '%s') });
shape(from => 'LATERAL unnest', 2, sub { lateral($_[0], 'unnest(ARRAY[?, ?])', '', truth => '%s') });
shape(from => 'LATERAL unnest of ids', 1, sub {
    my $id = offered($_[0], 'id') or return;
    my $name = new_name('f');
    my $ids = "unnest(ARRAY[$id\::ulid, NULL, " . quoted(random_ulid()) . '])';
    give("LATERAL $ids $name (id)", { name => $name, id => ["$name.id"] });
});
shape(from => 'ROWS FROM', 1, sub {
    my $functions = 'generate_series(1, (?)::int), unnest(ARRAY[?])';
    lateral($_[0], "ROWS FROM ($functions) WITH ORDINALITY", ' (n, b, o)', number => '%s.n', truth => '%s.b');
});
shape(from => 'LATERAL VALUES', 1, sub { lateral($_[0], '(VALUES (?), (?))', ' (b)', truth => '%s.b') });
shape(from => 'LATERAL inlined function', 2, sub { lateral($_[0], 'truths(?)', ' (b)', truth => '%s.b') });

# queries; their columns are id, n, w, b, t
shape(query => 'select', 12, \&query_select);
shape(query => 'distinct', 1, sub { query_select($_[0], 'DISTINCT ') });
shape(query => 'order by, limit', 1, sub {
    all(query_select($_[0]), ' ORDER BY 1, 2, 3, 4, 5 LIMIT ', 1 + int(rand 20), one_of('', ' OFFSET 3'));
});
shape(query => 'offset 0', 1, sub { all(query_select($_[0]), ' OFFSET 0') });
shape(query => 'group by', 2, sub { query_grouped($_[0], '%s') });
shape(query => 'grouping sets', 2, sub {
    query_grouped($_[0], one_of('GROUPING SETS ((%s), ())', 'ROLLUP (%s)', 'CUBE (%s)'));
});
shape(query => 'group by tests', 6, \&query_grouped_by_tests);
shape(query => 'outer aggregate', 3, \&query_outer_aggregate);
shape(query => 'test of an outer aggregate', 1, \&query_outer_test);
shape(query => 'window function', 2, \&query_window_function);
shape(query => 'set-returning function', 2, \&query_series);
shape(query => 'UNION ALL', 4, nested => 1, sub { query_set($_[0], ' UNION ALL ') });
shape(query => 'UNION, INTERSECT, EXCEPT', 2, nested => 1, sub {
    query_set($_[0], one_of(' UNION ', ' INTERSECT ', ' INTERSECT ALL ', ' EXCEPT ', ' EXCEPT ALL '));
});
shape(query => 'row locks', 1, sub {
    return unless $_[0]{top};
    my ($from, $at) = from($_[0], 1, 1);
    all('SELECT ', columns($at), ' FROM ', $from, conditions('WHERE', $at), ' FOR ', one_of('UPDATE', 'SHARE'));
});
shape(query => 'data-modifying CTE', 1, nested => 1, \&query_modifying);

# what is run
shape(statement => 'query', 20, sub { top_query() });
shape(statement => 'prepared', 8, \&statement_prepared);
shape(statement => 'PL/pgSQL function', 2, sub { statement_function('plpgsql') });
shape(statement => 'SQL function', 2, sub { statement_function('sql') });
shape(statement => 'cursor', 1, sub {
    (all('DECLARE c ', one_of('', 'SCROLL '), 'CURSOR FOR ', top_query()), 'FETCH ALL FROM c');
});
shape(statement => 'COPY', 1, sub { all('COPY (', top_query(), ') TO STDOUT') });
shape(statement => 'CREATE TABLE AS', 1, sub {
    (all('CREATE TEMP TABLE made AS ', top_query()), 'SELECT * FROM made');
});
shape(statement => 'materialized view', 1, sub {
    (all('CREATE MATERIALIZED VIEW made AS ', top_query()), 'REFRESH MATERIALIZED VIEW made', 'SELECT * FROM made');
});
shape(statement => 'view with check', 1, \&statement_checked_view);
shape(statement => 'window called once', 3, \&statement_once);
shape(statement => 'foreign partitions', 5, \&statement_foreign_partitions);
shape(statement => 'change', 6, sub { pick('change', place()) });
shape(change => 'INSERT', 1, sub {
    my $table = target();
    modify($table, all("INSERT INTO $table AS x (id, n, w, b, t) ", query(within(place(), 0))));
});
shape(change => 'UPDATE', 2, sub { update(target()) });
shape(change => 'UPDATE FROM', 2, sub {
    my $table = target();
    my ($from, $in) = from(place(), 2);
    my $at = seeing($in, relation('x', 1));
    modify($table, all("UPDATE $table x SET ", new_values(changed_row()), ' FROM ', $from, conditions('WHERE', $at)));
});
shape(change => 'DELETE', 1, sub {
    my $table = target();
    modify($table, all("DELETE FROM $table x", conditions('WHERE', changed_row())));
});
shape(change => 'DELETE USING', 2, sub {
    my $table = target();
    my ($from, $in) = from(place(), 2);
    modify($table, all("DELETE FROM $table x USING ", $from, conditions('WHERE', seeing($in, relation('x', 1)))));
});
shape(change => 'MERGE', 4, \&statement_merge);
shape(change => 'foreign partitions', 1, \&change_foreign_partitions);
shape(statement => 'ON CONFLICT', 3, \&statement_on_conflict);
shape(statement => 'ON CONFLICT on a predicate or expression', 4, \&statement_arbiter);
shape(statement => 'trigger WHEN', 3, \&statement_trigger);
shape(statement => 'policy', 3, \&statement_policy);
shape(statement => 'partial index', 3, sub { statement_index(1) });
shape(statement => 'expression index', 3, sub { statement_index(0) });
shape(statement => 'generated column', 2, \&statement_generated);
shape(statement => 'check constraint', 2, \&statement_check);
shape(statement => 'statistics', 1, \&statement_statistics);
shape(statement => 'rule', 1, \&statement_rule);
shape(statement => 'foreign key', 4, \&statement_foreign_key);
shape(statement => 'cached plan of several roles', 4, \&statement_roles);
shape(statement => 'virtual column', 2, from => 18, \&statement_virtual);
my %used;                                  # how often each shape has run

# One of the shapes of a kind.
sub pick {
    my ($kind, $at) = @_;
    my @left = grep { $_->{kind} eq $kind && $_->{from} <= $version && (!$_->{nested} || $at->{depth} > 0) } @SHAPES;
    while (@left) {
        my $weight = rand sum(map { $_->{weight} } @left);
        my $n = first { ($weight -= $left[$_]{weight}) < 0 } 0 .. $#left;
        my ($shape) = splice @left, $n // $#left, 1;
        my @nodes = $shape->{generator}->($at);
        next unless @nodes && defined $nodes[0] && $nodes[0] ne '';
        $case->{used}{"$kind: $shape->{name}"} = 1;
        return wantarray ? @nodes : $nodes[0];
    }
    die "no shape of $kind fits";
}

sub window {
    my ($at) = @_;
    return either(scalar pick('window', $at), "'[2025-01-10Z,2025-01-20Z)'::tstzrange");
}

sub id {
    my ($at) = @_;
    return either(scalar pick('id', $at), map { "$_->{name}.id" } grep { $_->{columns} } @{ $at->{here} });
}

sub test { scalar pick('test', $_[0]) }
sub condition { either(all('(', scalar pick('condition', $_[0]), ')'), 'true') }
sub number { either(scalar pick('number', $_[0]), '1') }
sub text { either(scalar pick('text', $_[0]), "'t'") }
sub query { scalar pick('query', $_[0]) }

sub top_query {
    my $query = query(place(depth => 1 + int rand 3, top => 1));
    $case->{explained} //= $query;
    return $query;
}

# A uuid, if a relation has one or the statement can have parameters.
sub uuid {
    my ($at) = @_;
    return chance(0.1) && parameter('uuid') || offered($at, 'uuid');
}

sub text_prefix {
    my ($at) = @_;
    return (chance(0.2) && parameter('text'))
        || (chance(0.2) && 'left(' . (offered($at, 'id') // 'NULL') . '::ulid::text, 4)')
        || (@{ $case->{prefixes} } && chance(0.5) && one_of(@{ $case->{prefixes} }))
        || quoted(random_prefix()) . '::text';
}

# A constant; often one that an index or another object contains.
sub window_constant {
    my @known = $case->{windows} ? @{ $case->{windows} } : chance(0.3) ? @index_windows : ();
    return @known && chance(0.6) ? one_of(@known) : quoted(random_range()) . '::tstzrange';
}

# The same place one level deeper in an expression or a join.
sub deeper { my ($at) = @_; +{ %$at, depth => $at->{depth} - 1 } }
# The same place with further relations.
sub seeing { my ($at, @relations) = @_; +{ %$at, here => [@{ $at->{here} }, @relations] } }

# A parameter of the type, if the statement can have parameters.
sub parameter {
    my ($type) = @_;
    my $types = $case->{parameters} or return;
    my @same = grep { $types->[$_] eq $type } 0 .. $#$types;
    if (!@same or @same < 3 && chance(0.5)) {
        push @$types, $type;
        @same = $#$types;
    }
    return '$' . (1 + one_of(@same));
}

# Values for the parameters.
sub arguments {
    my ($types) = @_;
    my %value = (
        tstzrange => sub { chance(0.1) ? 'NULL' : quoted(one_of('empty', '(,)', map { random_range() } 1 .. 8)) },
        ulid => sub { chance(0.1) ? 'NULL' : quoted(random_ulid()) },
        uuid => sub { quoted(random_ulid()) . '::ulid::uuid' },
        text => sub { quoted(random_prefix()) },
    );
    return @$types ? '(' . join(', ', map { $value{$_}->() } @$types) . ')' : '';
}

sub window_constructor {
    my ($at) = @_;
    my $day = int rand DAYS;
    my ($from, $to) = (quoted(moment($day)), quoted(moment($day + 1 + rand 10)));
    return all("tstzrange($from, $to, '", one_of('[)', '[]', '(]', '()'), "')") if chance(0.5);
    my ($n, $days) = (number($at), 1 + int rand 9);
    my $begin = all("'2025-01-01Z'::timestamptz + ", $n, " * interval '3 days'");
    return all('tstzrange(', $begin, ', ', $begin, " + interval '$days days')");
}

# Relations of FROM

# The result of a generator of FROM: the node, and the relations that it adds.
sub give { @_ }

# A table; that of the case if it has one.
sub table {
    my $table = $case->{table} // $case->{foreign};
    return $table if $table && chance(0.7);
    return one_of(@TABLES, 'narrow', chance(0.1) ? 'big' : (), chance(0.3) ? @FOREIGN : ());
}

sub from_table {
    my $name = new_name('a');
    my $table = table();
    $case->{relations}++;
    my $relation = { %{ relation($name, 1) }, key => key_of($table) };
    return give(either("$table $name", "by_range $name", "plain $name"), $relation);
}

sub from_item {
    my ($at) = @_;
    my ($node, @relations) = $case->{relations} > 4 ? from_table() : pick('from', $at);
    return give($node, @relations);
}

# FROM with up to this many items; returns the node and the place that sees them.
sub from {
    my ($at, $most, $only_tables) = @_;
    my $in = { %$at, here => [], joined => [] };
    my @nodes;
    for (1 .. 1 + int rand $most) {
        my ($node, @relations) = $only_tables ? from_table() : from_item($in);
        push @nodes, $node;
        my @numbers = map { offered({ here => $_, around => [] }, 'number') } $in->{here}, \@relations;
        push @{ $in->{joined} }, "$numbers[0] = $numbers[1]" if @numbers == 2 && chance(0.7);
        push @{ $in->{joined} }, uuid_join($in->{here}, \@relations) if chance(0.15);
        $in = seeing($in, @relations);
    }
    return (several('', ', ', 1, @nodes), $in);
}

sub from_join {
    my ($at, $word, $right_sees_left) = @_;
    my ($left, @left) = from_item(deeper($at));
    my ($right, @right) = from_item($right_sees_left ? seeing(deeper($at), @left) : deeper($at));
    my $on = { %{ deeper($at) }, here => [@left, @right] };
    my @conditions;
    my $type = chance(0.3) ? 'id' : 'number';
    my ($a, $b) = map { offered({ here => $_, around => [] }, $type) // '' } \@left, \@right;
    push @conditions, "$a = $b" if $a && $b && ($word =~ /FULL/ || chance(0.8));
    push @conditions, uuid_join(\@left, \@right) if chance(0.3);
    push @conditions, condition($on) while !@conditions || chance(0.4);
    my $join = all('(', $left, $word, $right, several(' ON ', ' AND ', 1, @conditions), ')');
    return give(either($join, $left, $right), @left, @right);
}

# A uuid column equals an id of the other side, or nothing if there are none.
sub uuid_join {
    my ($left, $right) = chance(0.5) ? @_ : reverse @_;
    my $uuid = offered({ here => $left, around => [] }, 'uuid');
    my $id = offered({ here => $right, around => [] }, 'id');
    return $uuid && $id ? tested(one_of('uuid join', 'join uuid'), $uuid, $id) : ();
}

# A function of tests, which stand for the question marks; what it offers are formats of its name.
sub lateral {
    my ($at, $function, $columns, %offers) = @_;
    return unless @{ $at->{here} };
    my $name = new_name('f');
    my ($first, @parts) = split /\?/, $function, -1;
    return give(
        all("LATERAL $first", (map { (prunable_test($at), $_) } @parts), " $name$columns"),
        { name => $name, map { $_ => [sprintf $offers{$_}, $name] } keys %offers },
    );
}

# Mostly a test of what pruning can use, which the planner's hooks rewrite.
sub prunable_test {
    my ($at) = @_;
    my @tables = grep { $_->{is_table} } @{ $at->{here} };
    return test($at) unless @tables && chance(0.6);
    my $table = one_of(@tables);
    my $id = "$table->{name}." . ($table->{key} // 'id');
    return tested('prefix', $id, text_prefix($at)) if chance(0.2);
    return tested(one_of(@WINDOW_FORMS), $id, parameter('tstzrange') // window_constant());
}

sub from_cte {
    my ($at) = @_;
    my ($ctes, $name) = ($at->{ctes}, new_name('q'));
    return unless $ctes;
    my $cte = chance(0.3) && @$ctes ? one_of(@$ctes)->{name} : undef;
    if (!$cte) {
        $cte = new_name('cte');
        my $query = query(within($at, 0));
        my $as = one_of('AS', 'AS MATERIALIZED', 'AS NOT MATERIALIZED');
        push @$ctes, { name => $cte, node => all("$cte $as (", $query, ')') };
    }
    return give(either("$cte $name", "plain $name"), relation($name));
}

sub from_recursive {
    my ($at) = @_;
    my ($name, $r) = (new_name('q'), new_name('r'));
    my $base = query(within($at, 0));
    my $in = place(here => [relation($r)], depth => 0);
    my $from = all("FROM $r WHERE $r.n < 100", conditions('AND', $in));
    my $step = all("SELECT $r.id, $r.n + 100, $r.w, ", test($in), ", $r.t ", $from);
    my $with = all("WITH RECURSIVE $r (id, n, w, b, t) AS ((", $base, ') UNION ALL ', $step, ')');
    return give(all('(', $with, " SELECT * FROM $r) $name"), relation($name));
}

sub from_view {
    my ($view, $name) = (new_name('view'), new_name('a'));
    local $case->{parameters};
    my $query = query(place(depth => $_[0]{depth} - 1));
    push @{ $case->{before} }, all("CREATE TEMP VIEW $view", one_of('', '', ' WITH (security_barrier)'), ' AS ', $query,
        "; GRANT SELECT ON $view TO fuzz_reader");
    return give(either("$view $name", "plain $name"), relation($name));
}

sub from_function {
    my ($at) = @_;
    my ($function, $name) = ('pg_temp.' . new_name('f'), new_name('q'));
    my @arguments = (all(id($at), '::ulid'), all(window($at), '::tstzrange'), number($at));
    my $body;
    {
        local $case->{parameters};
        my $arguments = { id => ['$1'], window => ['$2'], number => ['$3'] };
        $body = query(place(depth => $at->{depth} - 1, around => [$arguments]));
    }
    my $returns = 'TABLE (id ulid, n int, w tstzrange, b boolean, t text)';
    push @{ $case->{before} }, all("CREATE FUNCTION $function(ulid, tstzrange, int) RETURNS $returns LANGUAGE sql ",
        one_of('STABLE PARALLEL SAFE', 'STABLE PARALLEL SAFE', 'VOLATILE'), ' AS $f$ ', $body, ' $f$');
    return give(all("LATERAL $function(", several('', ', ', 3, @arguments), ") $name"), relation($name));
}

# Queries

# The sub-select of an expression: its FROM and WHERE, and the place that sees its relations. It is correlated unless it
# is said otherwise.
sub sub_select {
    my ($at, %option) = @_;
    my ($from, $in) = from(within($at, $option{correlated} // 1), 1, $option{tables});
    return (all(' FROM ', $from, conditions('WHERE', $in)), $in);
}

sub conditions {
    my ($word, $at) = @_;
    my @joined = $word eq 'WHERE' ? @{ $at->{joined} // [] } : ();
    return several(" $word ", ' AND ', 0, @joined, map { condition($at) } 1 .. rand 3);
}

# The five columns, each from what is visible.
sub columns {
    my ($at, %given) = @_;
    my $null = sub { either(all($_[0], " AS $_[2]"), "NULL::$_[1] AS $_[2]") };
    return several('', ', ', 5,
        $null->($given{id} // all('(', id($at), ')::ulid'), 'ulid', 'id'),
        $null->($given{n} // number($at), 'int', 'n'),
        $null->($given{w} // all('(', window($at), ')::tstzrange'), 'tstzrange', 'w'),
        $null->($given{b} // condition($at), 'boolean', 'b'),
        $null->($given{t} // text($at), 'text', 't'));
}

sub query_select {
    my ($at, $distinct) = @_;
    my @ctes;
    my ($from, $in) = from({ %$at, ctes => \@ctes }, 3);
    my @body = ('SELECT ', $distinct // '', columns($in), ' FROM ', $from, conditions('WHERE', $in));
    return all(several('WITH RECURSIVE ', ', ', 0, map { $_->{node} } @ctes), @ctes ? ' ' : (), @body);
}

sub query_grouped {
    my ($at, $grouping) = @_;
    my ($from, $in) = from($at, 3);
    my @with_columns = grep { $_->{columns} } @{ $in->{here} } or return;
    my ($id, $n) = map { one_of(@with_columns)->{name} . $_ } '.id', '.n';
    my $grouped = { %$in, here => [{ id => [$id], number => [$n] }], depth => 1 };
    my $b = one_of(all('bool_or(', test($in), ')'), test($grouped), all('count(*) FILTER (WHERE ', test($in), ') > 1'));
    my $t = all('(count(*) FILTER (WHERE ', condition($in), '))::text');
    return all(
        "SELECT $id AS id, $n AS n, NULL::tstzrange AS w, ", either(all($b, ' AS b'), 'NULL::boolean AS b'), ', ',
        either(all($t, ' AS t'), 'NULL::text AS t'), ' FROM ', $from, conditions('WHERE', $in),
        ' GROUP BY ', either(sprintf($grouping, "$id, $n"), "$id, $n"), conditions('HAVING', $grouped));
}

# Tests that a query groups by, and that its columns and HAVING use again.
sub query_grouped_by_tests {
    my ($at) = @_;
    my ($from, $in) = from($at, chance(0.5) ? (2) : (1, 1));
    my @tests = map { prunable_test($in) } 1 .. 1 + rand 1.5;
    # before 18, core does not find a sub-select again among what a query groups by
    return if $version < 18 && grep { sql($_) =~ /SELECT/ } @tests;
    my (@lets, @keys, @truths);
    my $let = sub { my $name = new_name('k'); push @lets, [$name, $_[0]]; return named($name) };
    my (undef, $form, @operands) = @{ $tests[0] };
    if (chance(0.4) && grep { $_ eq $form } @WINDOW_FORMS) {  # the same test in two forms
        $_ = $let->($_) for @operands;
        @tests = map { tested($_, @operands) } (shuffle @WINDOW_FORMS)[0, 1];
    }
    # core simplifies NOT and IS TRUE, and turns NOT around a comparison into the opposite one, so that they may not be found
    # again as what a query before 18 groups by
    for my $test (@tests) {
        my $is_comparison = !grep { $_ eq $test->[1] } @WINDOW_FORMS, qw(any prefix);
        my $plain = ['%s', $is_comparison && $version < 18 ? '(%s)::int = 1' : '%s'];
        my ($wrapped, $truth) = @{ one_of(($plain) x 6, ['(%s)::int', '%s = 1'], ['coalesce(%s, false)', '%s'],
            ['CASE WHEN %s THEN 1 ELSE 2 END', '%s = 2']) };
        push @keys, $let->(filled($wrapped, $let->($test)));
        push @truths, filled($truth, $keys[-1]);
    }
    my $column = offered({ %$in, around => [] }, one_of('number', 'id', 'truth'));
    push @keys, $column if $column && chance(0.5);
    my $use = sub { use_of_keys($in, \@keys, \@truths, int rand 3) };
    my $grouping = grouping_of(shuffle @keys);
    my $text = one_of(all('(', $use->(), ')::text'), all('GROUPING(', one_of(@keys), ')::text'), 'count(*)::text',
        all("jsonb_build_object('a', ", one_of(@truths), ')::text'));
    my $query = all(
        'SELECT NULL::ulid AS id, ', either('count(*)::int AS n', 'NULL::int AS n'), ', NULL::tstzrange AS w, ',
        either(all($use->(), ' AS b'), 'NULL::boolean AS b'), ', ', either(all($text, ' AS t'), 'NULL::text AS t'),
        ' FROM ', $from, conditions('WHERE', $in), ' GROUP BY ', $grouping,
        several(' HAVING ', ' AND ', 0, map { $use->() } 1 .. rand 3));
    $query = let(@$_, $query) for reverse @lets;
    return $query;
}

# A node in place of the %s of a format.
sub filled {
    my ($format, $node) = @_;
    my ($before, $after) = split /%s/, $format, -1;
    return all($before, $node, $after);
}

# What GROUP BY groups by: every kind of grouping sets.
sub grouping_of {
    my @keys = @_;
    my $sets = sub { all($_[0], ' (', several('', ', ', 1, @_[1 .. $#_]), ')') };
    my $subset = sub { my @some = grep { chance(0.5) } @keys; all('(', @some ? several('', ', ', 1, @some) : '', ')') };
    my ($first, @others) = @keys;
    return one_of(
        several('', ', ', 1, @keys),
        (map { $sets->($_, @keys) } 'ROLLUP', 'CUBE'),
        $sets->('GROUPING SETS', all('(', several('', ', ', 1, @keys), ')'), map { $subset->() } 1 .. 3),
        $sets->('GROUPING SETS', '()', @keys),
        $sets->('GROUPING SETS', $sets->('ROLLUP', @keys), $sets->('CUBE', @keys)),
        all(one_of('', 'DISTINCT '), $sets->('ROLLUP', @keys), ', ', $sets->('CUBE', $first)),
        @others ? all($first, ', ', $sets->(one_of('ROLLUP', 'CUBE'), @others)) : (),
    );
}

# A condition of what a query groups by.
sub use_of_keys {
    my ($in, $keys, $truths, $depth) = @_;
    my $deeper = sub { use_of_keys($in, $keys, $truths, $depth - 1) };
    my @leaves = (
        (sub { one_of(@$truths) }) x 2,
        sub { all('count(*) > ', int rand 4) },
        sub { all('GROUPING(', one_of(@$keys), ') = 0') },
        sub { all(one_of(@$keys), ' IS NULL') },
        sub { all('bool_or(', test($in), ')') },
    );
    my @nested = (
        sub { all('NOT (', $deeper->(), ')') },
        (sub { all('(', several('', one_of(' AND ', ' OR '), 1, $deeper->(), $deeper->()), ')') }) x 2,
        sub { all('CASE WHEN ', $deeper->(), ' THEN ', $deeper->(), ' ELSE ', $deeper->(), ' END') },
        sub { all('(', $deeper->(), ') IS ', one_of('', 'NOT '), one_of(qw(TRUE FALSE UNKNOWN))) },
        sub { all('coalesce(', $deeper->(), ', ', $deeper->(), ')') },
    );
    return $depth > 0 ? either(one_of(@nested)->(), @$truths) : one_of(@leaves)->();
}

# What a sub-select compares with is an aggregate of the query around it, or GROUPING of it.
sub query_outer_aggregate {
    my ($at) = @_;
    my ($outer, $inner) = (new_name('o'), new_name('i'));
    my $id = "$inner." . one_of('id', 'id', 'did', 'u');
    my $epoch = "'2025-01-01Z'::timestamptz";
    my $test = one_of(
        (map { tested(one_of(@WINDOW_FORMS), $id, $_) } "tstzrange(NULL, max(upper($outer.w)))",
            "tstzrange(min(ulid_extract_timestamp($outer.id)), NULL)",
            "tstzrange($epoch + GROUPING($outer.n) * interval '9 days', NULL)"),
        tested('prefix', $id, "left(max($outer.id\::ulid)::text, " . one_of(3 .. 6) . ')'),
        tested(one_of('<=', '>', '=, commuted'), "$inner.u", "min($outer.id)"),
    );
    my $from = all(' FROM ', either(table(), 'by_range', 'plain'), " $inner");
    my $answer = one_of(
        all('(SELECT count(*)', $from, ' WHERE ', $test, ')'),
        all('(SELECT count(*) FILTER (WHERE ', $test, ')', $from, ')'),
        all('(SELECT count(*) FROM (SELECT ', $test, ' AS b', $from, ' OFFSET 0) s WHERE b)'),
        all('(SELECT count(*)', $from, " LEFT JOIN plain p ON p.n = $inner.n AND ", $test, ')'),
    );
    my $columns = "max($outer.id\::ulid) AS id, $outer.n, NULL::tstzrange AS w, true AS b";
    return all("SELECT $columns, ", $answer, '::text AS t FROM ', either(table(), 'plain'), " $outer GROUP BY ",
        one_of("$outer.n", "ROLLUP ($outer.n)"), either(one_of('', all(' HAVING ', $answer, ' > ', int rand 5)), ''));
}

# An aggregate of tests in a sub-select that belongs to the query around it, as it has only that one's columns.
sub query_outer_test {
    my ($at) = @_;
    my ($from, $in) = from($at, 2);
    my $test = test({ %$in, around => [], depth => 0 });
    my ($n) = map { offered({ here => $_, around => [] }, 'number') // 1 } $in->{here};
    return all("SELECT NULL::ulid AS id, count(*)::int AS n, NULL::tstzrange AS w, (SELECT bool_or(", $test,
        ") FROM windows LIMIT 1) AS b, ($n)::text AS t FROM ", $from, conditions('WHERE', $in), ' GROUP BY ',
        one_of('%s', 'ROLLUP (%s)') =~ s/%s/($n)::text/r);
}

sub query_window_function {
    my ($at) = @_;
    my ($from, $in) = from($at, 2);
    my $over = 'OVER (' . one_of('', 'PARTITION BY ' . (offered($in, 'number') // 1)) . ')';
    my $b = all('bool_or(', test($in), ") $over");
    my $t = all('(count(*) FILTER (WHERE ', test($in), ") $over)::text");
    return all('SELECT ', columns($in, b => $b, t => $t), ' FROM ', $from, conditions('WHERE', $in));
}

sub query_series {
    my ($at) = @_;
    my ($from, $in) = from($at, 2);
    my %series = chance(0.5) ? (n => all('generate_series(1, (', test($in), ')::int)'))
        : (b => all('unnest(ARRAY[', test($in), ', ', test($in), '])'));
    return all('SELECT ', columns($in, %series), ' FROM ', $from, conditions('WHERE', $in));
}

sub query_set {
    my ($at, $word) = @_;
    my @queries = map { all('(', query({ %{ deeper($at) }, top => 0 }), ')') } 1 .. 2 + rand 1.3;
    return either(several('', $word, 1, @queries), @queries);
}

sub query_modifying {
    my ($at) = @_;
    return unless $at->{top};
    $case->{changes} = 1;
    my $table = one_of(@TABLES);
    my $target = { %$at, here => [relation('x', 1)], around => [] };
    my $change = chance(0.5) ? all("DELETE FROM $table x", conditions('WHERE', $target))
        : all("UPDATE $table x SET ", new_values($target), conditions('WHERE', $target));
    my $in = { %$at, here => [relation('changed')] };
    my $changed = all($change, ' RETURNING x.id, x.n, x.w, ', test($target), ' AS b, x.t');
    return all('WITH changed AS (', $changed, ') SELECT ', columns($in), ' FROM changed', conditions('WHERE', $in));
}

# Statements; each generator returns those that run one after another

sub statement_prepared {
    my $types = $case->{parameters} = [];
    my ($statement, @after) = chance(0.25) ? pick('change', place()) : top_query();
    my @execute = map { 'EXECUTE p' . arguments($types) } 1 .. 1 + rand 7;
    delete $case->{explained};
    my @explain = chance(0.3) ? one_of('EXPLAIN ', 'EXPLAIN (VERBOSE, COSTS OFF) ') . $execute[0] : ();
    my $prepare = @$types ? 'PREPARE p(' . join(', ', @$types) . ') AS ' : 'PREPARE p AS ';
    return (all($prepare, $statement), @explain, @execute, @after);
}

sub statement_function {
    my ($language) = @_;
    my $types = $case->{parameters} = [];
    my $query = top_query();
    delete $case->{explained};
    my @body = ('SELECT q::text FROM (', $query, ') q');
    @body = ('BEGIN RETURN QUERY ', @body, '; END') if $language eq 'plpgsql';
    return (
        all('CREATE FUNCTION pg_temp.run(', join(', ', @$types), ") RETURNS SETOF text LANGUAGE $language ",
            one_of('STABLE', 'VOLATILE'), ' AS $f$ ', @body, ' $f$'),
        map { my $arguments = arguments($types) || '()'; "SELECT * FROM pg_temp.run$arguments" } 1 .. 1 + rand 6);
}

sub target { $case->{table} // one_of(@TABLES) }

# A place that sees the row to be changed, x.
sub changed_row { place(here => [relation('x', 1), @_], depth => 1) }

sub update {
    my ($table, %option) = @_;
    my $at = changed_row();
    return modify($table, all("UPDATE $table x SET ", new_values($at, %option), conditions('WHERE', $at)));
}

# New values for columns of x, which depend only on its row. None may fail: whether it is computed at all can depend on
# the order of the conditions of a rule, which is open. With `same_id`, the row stays in its partition.
sub new_values {
    my ($at, %option) = @_;
    my @ids = ('id = ' . quoted(random_ulid()),
        "id = ulid_lower_bound(least(ulid_extract_timestamp(x.id), '2030-01-01Z') + interval '3 days')");
    my @values = (all('n = ', number($at)), all('b = ', condition($at)), all('t = ', text($at)),
        all('w = ', window($at)));
    push @values, one_of(@ids) if !$option{same_id};
    my @chosen = grep { chance(0.4) } @values;
    return several('', ', ', 1, @chosen ? @chosen : $values[0]);
}

# A change of a table, then its contents.
sub modify {
    my ($table, $node) = @_;
    $case->{explained} //= $node;
    $case->{changes} = 1;
    my $returning = several(' RETURNING ', ', ', 0, 'x.*', test(changed_row()));
    return (all($node, $returning), "SELECT tableoid::regclass, * FROM $table");
}

# A test that is the same in all places, of constants and columns of the table.
sub constant_test {
    my ($id) = @_;
    my ($window, $prefix) = (quoted(random_range()) . '::tstzrange', quoted(random_prefix()) . '::text');
    push @{ $case->{windows} }, $window;
    push @{ $case->{prefixes} }, $prefix;
    return chance(0.3) ? tested('prefix', $id, $prefix) : tested(one_of(@WINDOW_FORMS), $id, $window);
}

# Source rows for the table's own ids and some more, each id once.
sub conflicting {
    my ($table) = @_;
    my $new = quoted(ulid(EPOCH_MS + rand(DAYS) * DAY_MS));
    return "SELECT y.id, y.n + 50, y.w, y.b, 'new' FROM $table y WHERE y.id IS NOT NULL"
        . " UNION ALL SELECT $new\::ulid, 1, NULL, NULL, 'more'";
}

sub conflict_action {
    my $at = place(here => [relation('x', 1), relation('excluded', 1)], depth => 1);
    return 'NOTHING' if chance(0.3);
    return all('UPDATE SET n = excluded.n', one_of('', ', t = excluded.t'), conditions('WHERE', $at));
}

sub insert_or {
    my ($table, $source, $arbiter) = @_;
    my $insert = all("INSERT INTO $table AS x (id, n, w, b, t) ", $source);
    return modify($table, all($insert, ' ON CONFLICT ', $arbiter, ' DO ', conflict_action()));
}

sub statement_on_conflict {
    my $table = one_of(qw(plain second by_range by_range_sub by_range_twin));
    my $key = $table eq 'by_range_sub' ? 'id, n' : 'id';
    push @{ $case->{before} }, "CREATE UNIQUE INDEX ON $table ($key)";
    my $source = all('SELECT * FROM (', conflicting($table), ') y (id, n, w, b, t)',
        conditions('WHERE', place(here => [relation('y')], depth => 1)));
    return insert_or($table, $source, "($key)");
}

sub statement_arbiter {
    my $table = one_of(qw(plain second by_range by_range_sub by_range_twin));
    my $test = constant_test('id');
    my $key = $table eq 'by_range_sub' ? 'id, n' : 'id';
    my $arbiter = chance(0.5) ? all("($key) WHERE (", $test, ')') : all("($key, (", $test, '))');
    push @{ $case->{before} }, all("CREATE UNIQUE INDEX ON $table ", $arbiter);
    $arbiter = all($arbiter, ' AND n > 3') if sql($arbiter) =~ /WHERE/ && chance(0.3);
    return insert_or($table, conflicting($table), $arbiter);
}

sub statement_merge {
    my $table = target();
    my ($in_x, $in_s, $in_both) = map { place(here => $_, depth => 1) } [relation('x', 1)], [relation('s')],
        [relation('x', 1), relation('s')];
    my $source = 'SELECT DISTINCT ON (n) id, n, w, b, t FROM ' . one_of(@TABLES)
        . ' WHERE n IS NOT NULL ORDER BY n, id, w, b, t';
    my $and = sub { my ($at, $least) = @_; several(' AND ', ' AND ', 0, map { condition($at) } 1 .. $least + rand 2) };
    my $update = sub { one_of('UPDATE SET n = s.n + 20, t = s.t', all('UPDATE SET ', new_values($in_x))) };
    # without a condition, WHEN MATCHED can only be the last one
    my @when = map { all(' WHEN MATCHED', $and->($in_both, $_), ' THEN ', one_of('DELETE', 'DO NOTHING', $update->())) }
        reverse 0 .. rand 2;
    push @when, all(' WHEN NOT MATCHED', $and->($in_s, 0), ' THEN INSERT (id, n, w, b, t) VALUES (s.id, s.n, s.w, ',
        test($in_s), ', s.t)') if chance(0.6);
    push @when, all(' WHEN NOT MATCHED BY SOURCE', $and->($in_x, 0), ' THEN ', one_of('DELETE', 'UPDATE SET n = 99'))
        if $version >= 17 && chance(0.5);
    my $on = all('x.n = s.n', $and->($in_both, 0));
    my $merge = all("MERGE INTO $table x USING ($source) s ON ", $on, several('', '', 1, @when));
    $case->{explained} //= $merge;
    $case->{changes} = 1;
    my @returned = $version >= 17 ? ('merge_action()', 'x.id', test($in_both)) : ();
    return (all($merge, several(' RETURNING ', ', ', 0, @returned)), "SELECT tableoid::regclass, * FROM $table");
}

sub statement_trigger {
    my $table = $case->{table} = one_of(@TABLES);
    my @ids = ('NEW.id', 'OLD.id', 'NEW.id', 'NEW.did', '(NEW.c).id');
    my $row = { id => \@ids, window => ['NEW.w', 'OLD.dw'], number => ['NEW.n'] };
    my $when = one_of('BEFORE', 'AFTER');
    push @{ $case->{before} }, all("CREATE TRIGGER noted $when UPDATE ON $table FOR EACH ROW WHEN (",
        condition(place(here => [$row], depth => 1)), ') EXECUTE FUNCTION note()');
    return (update($table), 'TABLE notes');
}

sub statement_policy {
    my $table = $case->{table} = one_of(@TABLES);
    my $row = { id => ['id', 'id', 'did', '(c).id'], window => ['w', 'dw'], number => ['n'] };
    my $using = sub { condition(place(here => [$row], depth => 1)) };
    push @{ $case->{before} }, "ALTER TABLE $table ENABLE ROW LEVEL SECURITY",
        all("CREATE POLICY shown ON $table USING (", $using->(), ')',
            chance(0.5) ? all(' WITH CHECK (', $using->(), ')') : ());
    $case->{role} = 1;
    return chance(0.7) ? top_query() : pick('change', place());
}

sub statement_index {
    my ($partial) = @_;
    my $table = $case->{table} = one_of(@TABLES);
    my $test = constant_test(one_of('id', 'id', 'id', 'did', '(c).id'));
    my $columns = one_of('id', 'id DESC', 'n', 'n, id', 'did', '((c).id), n');
    my $on = one_of($table, partitions($table));
    my $nested = one_of($test, $test, all('NOT ', $test), all('n > 6 OR ', $test), all('(', $test, ') IS NOT TRUE'));
    push @{ $case->{before} }, $partial ? all("CREATE INDEX ON $on ($columns) WHERE (", $nested, ')')
        : all("CREATE INDEX ON $on ((", $nested, ")", one_of('', ", $columns"), ')');
    push @{ $case->{before} }, "ANALYZE $table" if chance(0.5);
    push @{ $case->{settings} }, 'enable_seqscan = off' if chance(0.7);
    return top_query();
}

# A table with foreign partitions, tested with parameters, outer columns and constants.
sub statement_foreign_partitions {
    my $table = one_of(@FOREIGN) or return;
    my $id = 'f.' . key_of($table);
    $case->{foreign} = $table;
    return statement_prepared() if chance(0.2);
    return top_query() if chance(0.2);
    if (chance(0.5)) {                     # outer columns
        my $test = chance(0.3) ? tested('prefix', $id, "left(x.id::text, 4)")
            : tested(one_of(@WINDOW_FORMS), $id, one_of('x.w', window(changed_row())));
        my $at = changed_row({ %{ relation('f', 1) }, key => key_of($table) });
        return all("SELECT x.id, x.n, (SELECT count(*) FROM $table f WHERE ", $test, conditions('AND', $at), ') FROM ',
            either(one_of('plain', 'by_range', 'second'), 'plain'), ' x');
    }
    my $types = $case->{parameters} = [];
    push @{ $case->{settings} }, 'plan_cache_mode = force_generic_plan' if chance(0.7);
    my $parameter = parameter(one_of('tstzrange', 'text'));
    my $test = tested($types->[0] eq 'text' ? 'prefix' : one_of(@WINDOW_FORMS), $id, $parameter);
    my $more = conditions('AND', place(here => [relation('f', 1)], depth => 1));
    my $query = all("SELECT * FROM $table f WHERE ", $test, $more);
    return (all('PREPARE p(', join(', ', @$types), ') AS ', $query), map { 'EXECUTE p' . arguments($types) } 1 .. 3);
}

# A change that the foreign server may do by itself.
sub change_foreign_partitions {
    my $table = one_of(@FOREIGN) or return;
    return update($table, same_id => 1) if chance(0.5);
    return modify($table, all("DELETE FROM $table x", conditions('WHERE', changed_row())));
}

sub statement_generated {
    my $table = $case->{table} = one_of(@TABLES);
    my $test = constant_test('id');
    push @{ $case->{before} }, all("ALTER TABLE $table ADD g boolean GENERATED ALWAYS AS (", $test, ') STORED');
    my $at = changed_row({ truth => ['x.g'] });
    return (modify($table, all("UPDATE $table x SET ", new_values($at), conditions('WHERE', $at))), top_query());
}

sub statement_check {
    my $table = $case->{table} = one_of(@TABLES);
    my $test = constant_test('id');
    push @{ $case->{before} }, all("DELETE FROM $table WHERE NOT (", $test, ')'),
        all("ALTER TABLE $table ADD CONSTRAINT checked CHECK (", $test, ')');
    push @{ $case->{settings} }, 'constraint_exclusion = on';
    return (top_query(), "INSERT INTO $table (id) VALUES (" . quoted(random_ulid()) . ') RETURNING id');
}

sub statement_statistics {
    my $table = $case->{table} = one_of(@TABLES);
    my $statistics = all('CREATE STATISTICS counted ON (', constant_test('id'), "), n FROM $table");
    push @{ $case->{before} }, $statistics, "ANALYZE $table";
    return top_query();
}

sub statement_rule {
    my $table = $case->{table} = one_of(@TABLES);
    my $row = { id => ['NEW.id', 'OLD.id', 'NEW.did'], window => ['NEW.w', 'OLD.dw'], number => ['NEW.n'] };
    my $condition = condition(place(here => [$row], depth => 1));
    push @{ $case->{before} }, all("CREATE RULE noted AS ON UPDATE TO $table WHERE ", $condition,
        " DO ALSO INSERT INTO notes VALUES ('rule', OLD.id, NEW.n)");
    my $at = changed_row();
    return (all("UPDATE $table x SET ", new_values($at), conditions('WHERE', $at)),
        "SELECT tableoid::regclass, * FROM $table", 'TABLE notes');
}

# A key and what references it, as ulid or as uuid; actions on many rows.
sub statement_foreign_key {
    my ($key, $reference) = @{ one_of((['ulid', 'uuid']) x 2, ['ulid', 'identifier_uuid'], ['ulid', 'ulid']) };
    my ($on_delete, $on_update) = map { one_of('CASCADE', 'CASCADE', 'SET NULL', 'RESTRICT') } 1 .. 2;
    my $references = "REFERENCES parent ON DELETE $on_delete ON UPDATE $on_update";
    my ($by, @partitions) = '';
    if (chance(0.3)) {
        my $middle = quoted(bound(int rand DAYS)) . "::ulid::$reference";
        $by = ' PARTITION BY RANGE (ref)';
        @partitions = ("CREATE TEMP TABLE child_1 PARTITION OF child FOR VALUES FROM (MINVALUE) TO ($middle)",
            "CREATE TEMP TABLE child_2 PARTITION OF child FOR VALUES FROM ($middle) TO (MAXVALUE)",
            'CREATE TEMP TABLE child_0 PARTITION OF child DEFAULT');
    }
    my $index = one_of('btree (ref)', 'btree (ref)', 'hash (ref)', 'btree (ref, n)', 'brin (ref)');
    push @{ $case->{before} }, "CREATE TEMP TABLE parent (id $key PRIMARY KEY)",
        "INSERT INTO parent SELECT DISTINCT id::ulid::$key FROM plain WHERE id IS NOT NULL",
        "CREATE TEMP TABLE child (ref $reference $references, n int)$by", @partitions,
        "INSERT INTO child SELECT id::ulid::$reference, n FROM plain", tested('index', 'child', $index),
        'ANALYZE child';
    push @{ $case->{settings} }, 'enable_seqscan = off' if chance(0.7);
    $case->{changes} = 1;
    my ($id, $offset) = (quoted(random_ulid()), int rand 20);
    return shuffle(
        all("DELETE FROM parent WHERE id IN (SELECT id::ulid::$key FROM plain WHERE n % ", 2 + int rand 5, ' = 0)'),
        "UPDATE parent SET id = $id\::ulid::$key WHERE id = (SELECT id FROM parent ORDER BY id LIMIT 1 OFFSET $offset)",
        'TABLE parent', 'TABLE child', "INSERT INTO child VALUES ($id\::ulid::$reference)",
        "INSERT INTO child SELECT id\::ulid::$reference FROM parent");
}

# Roles that may execute different functions take turns with one plan.
sub statement_roles {
    # not the operators' functions, which core itself calls when it plans a query on a partition of a partition
    my @functions = grep { chance(0.3) } qw(public.ulid_range_lower(tstzrange) public.ulid_range_upper(tstzrange)
        public.ulid_prefix_lower(text) public.ulid_prefix_upper(text));
    push @{ $case->{before} }, 'REVOKE EXECUTE ON FUNCTION ' . join(', ', @functions) . ' FROM PUBLIC' if @functions;
    push @{ $case->{settings} }, 'plan_cache_mode = force_generic_plan' if chance(0.7);
    my ($prepare, @others) = statement_prepared();
    return ($prepare, map { ($_, 'SET LOCAL ROLE ' . one_of('fuzz_reader', 'NONE')) } @others);
}

# A column that is computed when it is read: the planner sees its expression.
sub statement_virtual {
    my $table = $case->{table} = one_of(@TABLES);
    my $expression = one_of('u', 'coalesce(u, du)', 'CASE WHEN n > 3 THEN u END');
    push @{ $case->{before} }, "ALTER TABLE $table ADD g uuid GENERATED ALWAYS AS ($expression) VIRTUAL";
    my $at = changed_row({ id => [('x.g') x 12], uuid => [('x.g') x 6] });
    return (all('SELECT x.id, x.n, x.g, ', test($at), " FROM $table x WHERE ", condition($at)), top_query());
}

sub statement_checked_view {
    my $table = $case->{table} = one_of(@TABLES);
    my $at = changed_row();
    push @{ $case->{before} }, all("CREATE TEMP VIEW checked AS SELECT * FROM $table x WHERE ", condition($at),
        one_of('', ' WITH CHECK OPTION'), '; GRANT ALL ON checked TO fuzz_reader');
    my ($change) = modify($table, all('UPDATE checked x SET ', new_values($at), conditions('WHERE', $at)));
    return ($change, 'SELECT * FROM checked', "SELECT * FROM $table");
}

# A sub-select must run once per query: each call of this function returns another window, and is counted.
sub statement_once {
    my $table = one_of(@TABLES);
    $case->{explained} = '';
    my $id = one_of('x.id', 'x.id', 'x.id', 'x.did', 'x.u');
    my $test = tested(one_of(@WINDOW_FORMS), $id, '(SELECT counted_window())');
    return (all("SELECT x.id, x.n FROM $table x WHERE ", $test),
        "SELECT current_setting('fuzz.calls', true)");
}

#
# A case: settings, what is created before, and the statements
#

my @OFTEN_ON = qw(seqscan indexscan indexonlyscan bitmapscan hashjoin mergejoin nestloop hashagg sort incremental_sort
    material memoize partition_pruning gathermerge parallel_append);
my @OFTEN_OFF = qw(partitionwise_join partitionwise_aggregate);

sub make_settings {
    my @settings = ((map { "enable_$_ = off" } grep { chance(0.12) } @OFTEN_ON),
        (map { "enable_$_ = on" } grep { chance(0.4) } @OFTEN_OFF));
    push @settings, 'plan_cache_mode = ' . one_of(qw(force_generic_plan force_generic_plan force_custom_plan))
        if chance(0.6);
    push @settings, map { "$_ = 0" } qw(parallel_setup_cost parallel_tuple_cost min_parallel_table_scan_size
        min_parallel_index_scan_size) if chance(0.25);
    push @settings, ($version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode') . ' = on' if chance(0.1);
    push @settings, one_of('from_collapse_limit', 'join_collapse_limit') . ' = 1' if chance(0.1);
    push @settings, 'geqo_threshold = 2' if chance(0.05);
    push @settings, 'constraint_exclusion = on' if chance(0.1);
    push @settings, 'random_page_cost = 0.01' if chance(0.2);
    push @settings, 'work_mem = 64' if chance(0.05);
    return @settings;
}

# Make a case: a tree of three lists of statements.
sub make_case {
    $case = { before => [], relations => 0, names => 0, used => {}, settings => [], prefixes => [] };
    my @statements = pick('statement', place());
    # for a change only the plan, as it must not run twice
    if ($case->{explained} && chance(0.25)) {
        my @options = ('', '(VERBOSE, FORMAT JSON) ');
        push @options, '(ANALYZE, TIMING OFF) ', '(ANALYZE, VERBOSE, BUFFERS) ' if !$case->{changes};
        unshift @statements, all('EXPLAIN ', one_of(@options), $case->{explained});
    }
    unshift @statements, 'SET LOCAL ROLE fuzz_reader' if $case->{role} || chance(0.1);
    return several('', '', 3, several('', '', 0, map { "SET LOCAL $_" } make_settings(), @{ $case->{settings} }),
        several('', '', 0, @{ $case->{before} }), several('', '', 1, @statements));
}

# The statements of a case.
sub statements {
    my ($tree, $plain) = @_;
    return map { my (undef, undef, undef, undef, @items) = @$_; map { sql($_, $plain) } @items } @$tree[4 .. 6];
}

#
# The server
#

my ($server, $psql, $to, $from_psql, $log, $log_begin, $log_end);

sub connect_server {
    my @settings = ('search_path=fuzz,public', qw(statement_timeout=1s client_min_messages=error jit=off timezone=UTC));
    local $ENV{PGOPTIONS} = join ' ', map { "-c $_" } @settings, 'datestyle=ISO';
    $psql = open3($to, $from_psql, undef, qw(psql -X -A -t -q -P null=NULL -v VERBOSITY=sqlstate));
    $log_begin = $log_end = -s $log // 0;
}

sub disconnect_server {
    return if !$psql;
    close $to;
    waitpid $psql, 0;
    undef $psql;
    return;
}

# Run one statement: its lines, SQLSTATE and message; no SQLSTATE if the connection has ended.
sub ask {
    my ($statement) = @_;
    local $SIG{PIPE} = 'IGNORE';
    print $to "$statement;\n\\echo @! :LAST_ERROR_MESSAGE\n\\echo @@ :SQLSTATE\n";
    $to->flush;
    my @lines;
    my $alarm = 0;
    local $SIG{ALRM} = sub { $alarm = 1; die "hangs\n" };
    alarm 120;
    my $answer = eval {
        while (my $line = readline $from_psql) {
            chomp $line;
            if ($line =~ /^@@ (\S*)$/) { alarm 0; return { state => $1 || '00000', lines => \@lines } }
            push @lines, $line;
        }
        alarm 0;
        return { state => '', lines => [] };
    } // { state => 'hangs', lines => [] };
    if (length $answer->{state} == 5 && $answer->{state} ne 'hangs') {
        my $message = '';
        for my $n (reverse 0 .. $#lines) {
            if ($lines[$n] =~ s/^@! //) { $message = join ' ', splice @lines, $n; last }
        }
        $answer->{message} = $message;
        # psql leaves both variables, or empties them, when COPY fails after its first message: take what it has written
        # to stderr
        $answer->{state} = $1 if $statement =~ /^COPY/ && "@lines" =~ /ERROR:  ([0-9A-Z]{5})/;
    } else {
        close $to;
        kill 'TERM', $psql if $answer->{state};
        waitpid $psql, 0;
        # psql ends for what is fatal to its session alone, or because the server has crashed and begins again
        $server->wait_for_log(qr/database system is ready to accept connections/, $log_begin)
            if !$answer->{state} && !grep { /FATAL:/ } @lines;
        connect_server();
    }
    return $answer;
}

# What the server has logged since the last check that it should never log.
sub complaints {
    my $logged = -r $log ? slurp_file($log, $log_end) : '';
    $log_end += length $logged;
    my $worse = qr/TRAP:|PANIC:|WARNING:(?! +terminating connection because of crash)|terminated by signal/;
    return join '', grep { /$worse/ } split /^/, $logged;
}

# Run a case with the functions that are tested, or with the plain expressions: how it ended, and the rows of each
# statement, in order.
sub run_case {
    my ($tree, $plain) = @_;
    my (@rows, $last);
    ask('BEGIN');
    for my $statement (statements($tree, $plain)) {
        my $explain = $statement =~ /^EXPLAIN/;
        $last = ask($statement);
        if ($last->{state} eq '' || $last->{state} eq 'hangs') {
            return { state => $last->{state} || 'crash', message => '', rows => [] };
        }
        return { %$last, rows => [] } if $last->{state} ne '00000';
        push @rows, join "\n", sort @{ $last->{lines} } unless $explain;
    }
    ask('ROLLBACK');
    ask('DEALLOCATE ALL');
    return { state => '00000', message => '', rows => \@rows };
}

my %ends;                                  # how often the plain queries had which outcome
our $shrinking;
my $log_text = '';

# Some of the rows that occur in only one of two results.
sub differing {
    my ($ours, $plain) = @_;
    my %times;
    $times{$_}++ for split /\n/, $ours, -1;
    $times{$_}-- for split /\n/, $plain, -1;
    my @rows = map { sprintf "only %s, %d times: %s\n", $times{$_} > 0 ? 'ours' : 'plain', abs $times{$_}, $_ }
        grep { $times{$_} } sort keys %times;
    return join '', splice(@rows, 0, 6), @rows ? scalar(@rows) . " more\n" : ();
}

# What is wrong with a case, in words that do not change while it is made smaller; nothing if all is well.
sub fault {
    my ($tree) = @_;
    my $log_start = -s $log // 0;
    my ($ours, $plain);
    complaints();
    $ours = run_case($tree, 0);
    if ($ours->{state} eq '00000') { } elsif ($ours->{state} =~ /^(crash|hangs)$/) {
        my @logged = -r $log ? split /^/, slurp_file($log, $log_start) : ();
        $log_text = join '', grep { /TRAP:|PANIC:|terminated by signal/ } @logged;
        return ($ours->{state}, $log_text);
    } else { ask('ROLLBACK'); ask('DEALLOCATE ALL') }
    my $complaints = complaints();
    $plain = run_case($tree, 1);
    $ends{$plain->{state}}++ unless $shrinking;
    print "-- $plain->{state} $plain->{message}\n" unless $shrinking;
    return if $plain->{state} =~ /^(crash|hangs)$/;
    if ($plain->{state} ne '00000') { ask('ROLLBACK'); ask('DEALLOCATE ALL') }
    # 25P02, as the first error: a ROLLBACK has run out of time; 25000: a function of PL/pgSQL while parallel workers run
    return if grep { $_->{state} =~ /^(57014|25000|25P02|53200|54001)$/ } $ours, $plain;
    return if $version > 16 && grep({ $_->{state} eq '42P01' } $ours, $plain) && grep { /^CREATE MATERIALIZED/ } statements($tree, 0); # a function there sees no tables
    return if $ours->{state} eq '42883' && $ours->{message} =~ /ulid\[\]$/; # postgres_fdw prints $1::ulid[][1], without parentheses
    # a plain query that core cannot plan: there is nothing to compare with
    return if $ours->{state} eq '00000' && $plain->{state} =~ /^(0A000|XX000)$/;
    if ($ours->{state} ne $plain->{state}) {
        my $detail = "$ours->{message}\n" . ($plain->{message} && "plain: $plain->{message}\n");
        return ("SQLSTATE $ours->{state}, plain $plain->{state}", $detail);
    }
    return ('warning', $complaints) if $complaints && !complaints();
    for my $n (0 .. $#{ $ours->{rows} }) {
        my ($a, $b) = ($ours->{rows}[$n], $plain->{rows}[$n]);
        return ('rows', differing($a, $b)) if $a ne $b;
    }
    return;
}

# The smallest case found that has the same fault.
sub shrink {
    my ($tree, $wanted) = @_;
    local $shrinking = 1;
    my ($until, $tries, %tried) = (time + 45, 600);
    my $again = 1;
    while ($again) {
        $again = 0;
        my @candidates = map { [length join('', statements($_)), $_] } smaller($tree);
        for my $candidate (map { $_->[1] } sort { $a->[0] <=> $b->[0] } @candidates) {
            next if $tried{join "\n", statements($candidate)}++;
            last if !$tries-- or time > $until;
            my ($found) = fault($candidate);
            next unless defined $found && $found eq $wanted;
            $tree = $candidate;
            $again = 1;
            last;
        }
    }
    return $tree;
}

#
# The schema: generated from the seed
#

# The first ulid of this day.
sub bound { time_of_ulid(EPOCH_MS + $_[0] * DAY_MS) . '0' x 16 }

# The columns of a table, in any order.
sub column_list {
    return join ', ', shuffle('id ulid', 'n int', 'w tstzrange', 'b boolean', 't text', 'did identifier', 'dw period',
        'c pair', 'ids ulid[]', 'u uuid', 'du identifier_uuid');
}

# Rows for a table, each id but NULL once.
sub rows {
    my ($table, $count) = @_;
    my (%seen, @rows);
    while (@rows < $count) {
        my $id = random_ulid();
        next if $seen{$id}++;
        my @ids = map { quoted(chance(0.5) ? $id : chance(0.1) ? undef : random_ulid()) } 1 .. 4;
        my @windows = map { quoted(chance(0.08) ? undef : random_range()) } 1 .. 3;
        my @values = (
            quoted(chance(0.04) ? undef : $id), chance(0.05) ? 'NULL' : int rand 12, $windows[0],
            one_of(qw(true false NULL)), quoted(one_of('x', 'y', 'z', undef)), $ids[0], $windows[1],
            "ROW($ids[1], $windows[2])::pair", "ARRAY[$ids[2], $ids[3]]::ulid[]", ("$ids[3]::ulid::uuid") x 2,
        );
        push @rows, '(' . join(', ', @values) . ')';
    }
    return "INSERT INTO $table (id, n, w, b, t, did, dw, c, ids, u, du) VALUES " . join(', ', @rows) . ';';
}

# A table partitioned by ranges of this key; the bounds are days. One partition is attached with a different order of
# columns.
sub ranges {
    my ($table, $key, $of_day) = @_;
    my $of = sub { "FOR VALUES FROM ($_[0]) TO ($_[1])" };
    my @bounds = map { $of_day->($_) } 10, 20, 35;
    my $minimum = join ', ', ('MINVALUE') x (1 + ($key =~ tr/,// && $key !~ /\(/ ? 1 : 0));
    return join "\n", "CREATE TABLE $table (" . column_list() . ") PARTITION BY RANGE ($key);",
        "CREATE TABLE ${table}_1 PARTITION OF $table " . $of->($minimum, $bounds[0]) . ';',
        "CREATE TABLE ${table}_2 (" . column_list() . ");",
        "ALTER TABLE $table ATTACH PARTITION ${table}_2 " . $of->($bounds[0], $bounds[1]) . ';',
        "CREATE TABLE ${table}_3 PARTITION OF $table " . $of->($bounds[1], $bounds[2]) . ';',
        "CREATE TABLE ${table}_rest PARTITION OF $table DEFAULT;";
}

# Some of the indexes that a table may have.
sub indexes {
    my ($table, $part) = @_;
    my $window = quoted(random_range()) . '::tstzrange';
    push @index_windows, $window;
    my @indexes = (
        '(id)', '(id DESC)', '(id) INCLUDE (n)', '(n, id)', '(id, n DESC)', '(did)', '(((c).id))', '((ids[1]))',
        '(u)', '(du)', '(u DESC, n)', '(id reversed_ops)', '(ulid_extract_timestamp(id))',
        'USING hash (id)', 'USING hash (u)',
        'USING brin (id) WITH (pages_per_range = 1)', 'USING brin (u) WITH (pages_per_range = 1)',
        'USING brin (id ulid_minmax_multi_ops)', 'USING brin (id ulid_bloom_ops)',
        "((id <\@ $window))", "(id) WHERE id <\@ $window", "(n) WHERE n > 6 OR id <\@ $window",
        "(n) WHERE NOT id <\@ $window", "(n) WHERE ulid_starts_with(u, '01JG')",
    );
    return join "\n", map { "CREATE INDEX ON $table $_;" } grep { chance($part) } @indexes;
}

# Tables with foreign partitions, which are in the same database.
sub foreign_tables {
    return unless @FOREIGN;
    my ($host, $port) = ($server->host, $server->port);
    my $estimate = chance(0.5) ? 'true' : 'false';
    my @sql = <<"SQL";
CREATE EXTENSION IF NOT EXISTS postgres_fdw SCHEMA public;
DROP SERVER IF EXISTS fuzz_server CASCADE;
CREATE SERVER fuzz_server FOREIGN DATA WRAPPER postgres_fdw
    OPTIONS (host '$host', port '$port', dbname 'postgres', extensions 'ulid', use_remote_estimate '$estimate');
SELECT format('CREATE USER MAPPING FOR %s SERVER fuzz_server', name) ||
        format(' OPTIONS (user %L, password_required ''false'')', current_user)
    FROM unnest(ARRAY['CURRENT_USER', 'fuzz_reader']) AS name
\\gexec
SQL
    for my $table (@FOREIGN) {
        my ($key, $by) = $table =~ /^far_(u|id)_(range|hash)$/;
        my ($low, $high) = map { quoted(bound($_)) . ($key eq 'u' ? '::ulid::uuid' : '') } 12, 30;
        my @values = $by eq 'range'
            ? ("FOR VALUES FROM (MINVALUE) TO ($low)", "FOR VALUES FROM ($low) TO ($high)", 'DEFAULT')
            : map { "FOR VALUES WITH (MODULUS 3, REMAINDER $_)" } 0 .. 2;
        push @sql, "CREATE TABLE $table (" . column_list() . ") PARTITION BY $by ($key);";
        for my $n (0 .. 2) {
            my ($name, $there) = ("${table}_$n", "${table}_${n}_there");
            if ($n == 1 && chance(0.3)) {
                push @sql, "CREATE TABLE $name PARTITION OF $table $values[$n];";
                next;
            }
            push @sql, "CREATE TABLE $there (" . column_list() . ');',
                "CREATE FOREIGN TABLE $name PARTITION OF $table $values[$n]",
                "    SERVER fuzz_server OPTIONS (schema_name 'fuzz', table_name '$there');", indexes($there, 0.1);
        }
        push @sql, rows($table, 16);
    }
    return @sql;
}

sub schema {
    my $id = sub { quoted(bound($_[0])) };
    my $table = sub { my ($name, $more) = @_; "CREATE TABLE $name (" . column_list() . ')' . ($more // '') . ';' };
    my $part = sub { my ($of, $suffix, $values, $by) = @_; "CREATE TABLE ${of}_$suffix PARTITION OF $of $values $by;" };
    my $between = sub { my ($from, $to) = map { $id->($_) } @_; "FOR VALUES FROM ($from) TO ($to)" };
    my @plain = qw(plain second secured narrow);
    my $contains = "(tstzrange, timestamptz) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE"
        . " AS 'range_contains_elem';";
    my @sql = (<<'SQL',
DROP SCHEMA IF EXISTS fuzz CASCADE;
CREATE SCHEMA fuzz;
DO $$ BEGIN CREATE ROLE fuzz_reader; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
CREATE TYPE pair AS (id ulid, w tstzrange);
CREATE DOMAIN identifier AS ulid;
CREATE DOMAIN identifier_uuid AS uuid;
CREATE DOMAIN period AS tstzrange;
CREATE FUNCTION reversed_cmp(ulid, ulid) RETURNS int LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT uuid_cmp($2::uuid, $1::uuid) $$;
CREATE OPERATOR CLASS reversed_ops FOR TYPE ulid USING btree AS
    OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 reversed_cmp(ulid, ulid);
CREATE TABLE windows (k int PRIMARY KEY, w tstzrange);
CREATE TABLE notes (what text, id ulid, n int);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN INSERT INTO fuzz.notes VALUES (TG_WHEN, NEW.id, NEW.n); RETURN NEW; END $$;
CREATE FUNCTION starts(ulid, text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT starts_with($1::text, upper($2 COLLATE "C")) $$;
CREATE FUNCTION stable_window(int) RETURNS tstzrange LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $$ BEGIN RETURN (SELECT w FROM fuzz.windows WHERE k = $1 % 12); END $$;
CREATE FUNCTION volatile_window(int) RETURNS tstzrange LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
    AS $$ BEGIN RETURN (SELECT w FROM fuzz.windows WHERE k = $1 % 12); END $$;
CREATE FUNCTION inlined_window(int) RETURNS tstzrange LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT tstzrange('2025-01-01Z'::timestamptz + $1 * interval '3 days',
        '2025-01-06Z'::timestamptz + $1 * interval '3 days') $$;
-- also in an index, whose expressions a session of postgres_fdw may have to expand without these schemas
CREATE FUNCTION inlined_around(ulid) RETURNS tstzrange LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT tstzrange(public.ulid_extract_timestamp($1) - interval '2 days',
        public.ulid_extract_timestamp($1) + interval '2 days') $$;
CREATE FUNCTION truths(boolean) RETURNS TABLE (b boolean) LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT $1 UNION ALL SELECT NOT $1 $$;
CREATE FUNCTION counted_window() RETURNS tstzrange LANGUAGE plpgsql VOLATILE AS $$
DECLARE calls int := coalesce(nullif(current_setting('fuzz.calls', true), ''), '0')::int + 1;
BEGIN
    PERFORM set_config('fuzz.calls', calls::text, true);
    RETURN (SELECT w FROM fuzz.windows WHERE k = calls % 12);
END $$;
SQL
        map({ "CREATE FUNCTION contains_$_$contains" } qw(operator commutator function commuted)),
        map({ "INSERT INTO windows VALUES ($_, " . quoted(chance(0.05) ? undef : random_range()) . ');' } 0 .. 11),
        map({ $table->($_) } @plain, qw(indexed big family family_1 family_2)),
        'ALTER TABLE family_1 INHERIT family; ALTER TABLE family_2 INHERIT family;',
        ranges('by_range', 'id', $id), ranges('by_range_twin', 'id', $id), ranges('by_domain', 'did', $id),
        ranges('by_uuid', 'u', sub { $id->($_[0]) . '::ulid::uuid' }),
        ranges('by_range_n', 'id, n', sub { $id->($_[0]) . ', 4' }),
        ranges('by_n_range', 'n, id', sub { int($_[0] / 5) . ', ' . $id->($_[0]) }),
        ranges('by_extract', '(ulid_extract_timestamp(id))',
            sub { "'2025-01-01Z'::timestamptz + interval '$_[0] days'" }),
        ranges('by_coalesce', "(coalesce(id, '00000000000000000000000000'))", $id),
        $table->('by_reversed', ' PARTITION BY RANGE (id reversed_ops)'),
        $part->('by_reversed', 1, $between->(30, 10), ''),
        $part->('by_reversed', 'rest', 'DEFAULT', ''),
        $table->('by_range_sub', ' PARTITION BY RANGE (id)'),
        $part->('by_range_sub', 1, $between->(0, 10), ''),
        $part->('by_range_sub', 2, $between->(10, 20), 'PARTITION BY LIST (n)'),
        $part->('by_range_sub_2', 'a', 'FOR VALUES IN (0, 1, 2, 3, 4)', ''),
        $table->('by_range_sub_2_rest'), 'ALTER TABLE by_range_sub_2 ATTACH PARTITION by_range_sub_2_rest DEFAULT;',
        $part->('by_range_sub', 3, $between->(20, 30), 'PARTITION BY RANGE (id)'),
        $part->('by_range_sub_3', 'a', $between->(20, 25), ''),
        $part->('by_range_sub_3', 'b', $between->(25, 30), ''),
        $part->('by_range_sub', 4, $between->(30, 45), 'PARTITION BY HASH (id)'),
        map({ $part->('by_range_sub_4', $_, "FOR VALUES WITH (MODULUS 2, REMAINDER $_)", '') } 0, 1),
        $part->('by_range_sub', 'rest', 'DEFAULT', ''),
        $table->('by_hash', ' PARTITION BY HASH (id)'),
        map({ $part->('by_hash', $_, "FOR VALUES WITH (MODULUS 3, REMAINDER $_)", '') } 0 .. 2),
        $table->('by_list', ' PARTITION BY LIST (n)'),
        $part->('by_list', 1, 'FOR VALUES IN (0, 1, 2, 3, 4, 5)', 'PARTITION BY RANGE (id)'),
        $part->('by_list_1', 'a', 'FOR VALUES FROM (MINVALUE) TO (' . $id->(20) . ')', ''),
        $part->('by_list_1', 'rest', 'DEFAULT', ''), $part->('by_list', 'rest', 'DEFAULT', ''),
        map({ rows($_, 16) } @plain, qw(by_hash by_list), @PARTITIONED),
        map({ rows($_, 6) } qw(family family_1 family_2)), rows('indexed', 40), rows('big', 1500),
        indexes('indexed', 0.7), indexes('big', 0.5),
        map({ indexes($_, 0.15) } @plain, qw(by_hash by_list family_1 family_2), @PARTITIONED),
        map({ indexes($_, 0.05) } map { partitions($_) } qw(by_hash by_list), @PARTITIONED),
        foreign_tables(),
        map({ "CREATE STATISTICS ${_}_windows ON (id <\@ " . quoted(random_range()) . "::tstzrange), (n % 3) FROM $_;" }
            grep { chance(0.2) } qw(plain by_range by_uuid)),
        'GRANT USAGE, CREATE ON SCHEMA fuzz TO fuzz_reader; GRANT ALL ON ALL TABLES IN SCHEMA fuzz TO fuzz_reader;',
        'REVOKE ALL ON narrow FROM fuzz_reader; GRANT SELECT (n, b, t) ON narrow TO fuzz_reader;',
        'ALTER TABLE secured ENABLE ROW LEVEL SECURITY; CREATE POLICY third ON secured USING (n % 3 <> 0);',
        map({ "ANALYZE $_;" } grep { chance(0.8) } @plain, qw(indexed big windows by_hash by_list family), @PARTITIONED,
            @FOREIGN),
    );
    my $sql = join "\n", 'SET client_min_messages = error; SET search_path = fuzz, public;', @sql;
    open my $in, '|-', 'psql -X -q -v ON_ERROR_STOP=1 >/dev/null' or die;
    print $in $sql;
    close $in or die "the schema could not be made\n";
}

#
# What the tests call; each with a node of PostgreSQL::Test::Cluster whose database postgres has the extension
#

# Take this server, and create the schema again, with data, as the seed says.
sub make_fuzz_schema {
    my ($node, $seed) = @_;
    $ENV{PGHOST} = $node->host;
    $ENV{PGPORT} = $node->port;
    $ENV{PGDATABASE} = 'postgres';
    $server = $node;
    $log = $node->logfile;
    @FOREIGN = has_extension('postgres_fdw') ? qw(far_u_range far_u_hash far_id_range far_id_hash) : ();
    @index_windows = ();
    $version = int($node->safe_psql('postgres', 'SHOW server_version_num') / 10000);
    srand $seed;
    schema();
    return;
}

# The statements of case $number of a seed.
sub case_of {
    my ($seed, $number) = @_;
    srand(($seed * 100003 + $number) % 2147483647);
    return make_case();
}

sub printed { my ($tree) = @_; return join(";\n", 'BEGIN', statements($tree), 'ROLLBACK') . ";\n" }

# The SQL of the first queries of a seed, a statement on each line.
sub fuzz_queries {
    my ($seed, $count) = @_;
    return join '', map { printed(case_of($seed, $_)) } 0 .. $count - 1;
}

# Run random queries, and fail with each fault and the smallest query found that still shows it. Of these parameters:
#   seed     where the random numbers begin
#   queries  stop after so many queries
#   seconds  stop after so many seconds instead, with new data every 2000 queries
#   case     run this one query of the seed
#   faults   stop after so many faults
# Each query is in the log of the test.
sub fuzz {
    my ($node, %option) = @_;
    my ($queries, $faults, $round, $begun) = (0, 0, 0, time);
    my $done = sub {
        return 1 if $faults >= $option{faults};
        return $queries > 0 if defined $option{case};
        return defined $option{seconds} ? time - $begun >= $option{seconds} : $queries >= $option{queries};
    };
    until ($done->()) {
        if ($queries % 2000 == 0) {
            disconnect_server();
            $round++ if $queries;
            make_fuzz_schema($node, $option{seed} + $round);
            connect_server();
        }
        my ($seed, $number) = ($option{seed} + $round, $option{case} // $queries % 2000);
        my $tree = case_of($seed, $number);
        $queries++;
        print "-- case $number\n", printed($tree);
        $used{$_}++ for keys %{ $case->{used} };
        my ($fault, $detail) = fault($tree) or next;
        $faults++;
        fail("seed $seed, case $number: $fault");
        my $small = shrink($tree, $fault);
        ($fault, my $again) = fault($small);
        $detail = $again if defined $fault;
        diag(printed($small), '-- plain: ', join(";\n--        ", statements($small, 1)), "\n", $detail // '');
    }
    disconnect_server();
    my @unused = grep { !$used{$_} } map { "$_->{kind}: $_->{name}" } grep { $_->{from} <= $version } @SHAPES;
    note(sprintf '%d queries from seed %d in %d s: %d of %d shapes', $queries, $option{seed}, time - $begun,
        scalar(keys %used), @unused + keys %used);
    note('SQLSTATE of the plain queries: ', join(', ', map { "$_ $ends{$_}" } sort keys %ends));
    note('shapes not met: ', join(', ', @unused)) if @unused;
    is($faults, 0, "the planner's hooks change no result of $queries random queries");
    return;
}

1;
