# A query that is tested is a tree, so that parts of it can be omitted and others have two forms. A
# node is a text or [KIND, NODE...].
package PlannerFuzz::Tree;
use strict;
use warnings FATAL => 'all';
use Exporter 'import';
use Time::HiRes 'time';

our @EXPORT = qw(all either several tested let named filled sql statements shrunk @WINDOW_FORMS);

# Nodes after each other.
sub all { [ 'all', @_ ] }

# The first; a smaller query has one of the others instead.
sub either { [ 'either', @_ ] }

# A list; a smaller query has fewer of the items, but at least this many. The text before it is
# omitted with the last item.
sub several { [ 'several', @_ ] }

# The object of the test: one of the functions in one of its forms.
sub tested { [ 'tested', @_ ] }

# A name for a node, used any number of times in another: all uses become smaller together.
sub let   { [ 'let',   @_ ] }
sub named { [ 'named', @_ ] }

# A node in place of the %s of a format.
sub filled
{
    my ($format, $node) = @_;
    my ($before, $after) = split /%s/, $format, -1;
    return all($before, $node, $after);
}

# The plain expression is the function behind core's operator; the operator itself, from 17 on,
# takes NULL to be in '(,)'. Each form has a function of its own, as core takes equal expressions of
# a query for one, which forms are not.
sub contains { "contains_$_[0]((%2\$s)::tstzrange, ulid_extract_timestamp(%1\$s))" }

# The forms of a test: unchanged, and the plain expression.
my %FORM = (
    '<@'       => [ '(%s <@ %s)',                      contains('operator') ],
    '@>'       => [ '(%2$s @> %1$s)',                  contains('commutator') ],
    'function' => [ 'ulid_contained_by_range(%s, %s)', contains('function') ],
    'commuted' => [ 'range_contains_ulid(%2$s, %1$s)', contains('commuted') ],
    'any'      =>
      [ '(%s <@ ANY (ARRAY[%s]))', '(ulid_extract_timestamp(%s) <@ ANY (ARRAY[(%s)::tstzrange]))' ],
    'prefix'    => [ 'ulid_starts_with(%s, %s)', 'starts(%s, %s)' ],
    'uuid join' => [ '(%s = (%s)::ulid)',        '((%s)::uuid = (%s)::ulid::uuid)' ],
    'join uuid' => [ '((%2$s)::ulid = %1$s)',    '((%2$s)::ulid::uuid = (%1$s)::uuid)' ],
    'uuid in' => [ '(%s IN (SELECT (%s)::ulid%s))', '((%s)::uuid IN (SELECT (%s)::ulid::uuid%s))' ],
    'uuid any' => [
        '(%s = ANY (ARRAY[(%s)::ulid, (%s)::ulid]))',
        '((%s)::uuid = ANY (ARRAY[(%s)::ulid::uuid, (%s)::ulid::uuid]))'
    ],

    # the query of a foreign key cannot be written in another way, but without an index nothing of
    # it is changed
    'index' => [ 'CREATE INDEX ON %s USING %s', "SET LOCAL fuzz.without_index = '%s %s'" ]);
my %COMPARISON =
  ('=' => 'eq', '<>' => 'ne', '<' => 'lt', '<=' => 'le', '>=' => 'ge', '>' => 'gt');
for my $operator (keys %COMPARISON)
{
    my $function = "uuid_$COMPARISON{$operator}";
    $FORM{$operator} = [ "((%s) $operator (%s)::ulid)", "$function((%s)::uuid, (%s)::uuid)" ];
    $FORM{"$operator, function"} =
      [ "ulid_$COMPARISON{$operator}((%s), (%s)::ulid)", $FORM{$operator}[1] ];
    $FORM{"$operator, commuted"} =
      [ "((%2\$s)::ulid $operator (%1\$s))", "$function((%2\$s)::uuid, (%1\$s)::uuid)" ];
}

# Those of a window.
our @WINDOW_FORMS = ('<@', '@>', 'function', 'commuted');

our %value;    # of the names of the nodes around

# The SQL of a node: with the functions that are tested, or with the plain expressions.
sub sql
{
    my ($node, $plain) = @_;
    return $node unless ref $node;
    my ($kind, @parts) = @$node;
    return join '', map { sql($_, $plain) } @parts if $kind eq 'all';
    return sql($parts[0],           $plain) if $kind eq 'either';
    return sql($value{ $parts[0] }, $plain) if $kind eq 'named';
    if ($kind eq 'let')
    {
        my ($name, $value, $body) = @parts;
        local $value{$name} = $value;
        return sql($body, $plain);
    }
    if ($kind eq 'several')
    {
        my ($before, $between, undef, @items) = @parts;
        return @items ? $before . join($between, map { sql($_, $plain) } @items) : '';
    }
    my ($form, @arguments) = @parts;
    return sprintf $FORM{$form}[ $plain ? 1 : 0 ], map { sql($_, $plain) } @arguments;
}

# The statements of a case, which is three lists of them.
sub statements
{
    my ($tree, $plain) = @_;
    return map {
        my (undef, undef, undef, undef, @items) = @$_;
        map { sql($_, $plain) } @items
    } @$tree[ 4 .. 6 ];
}

# All nodes that are smaller by one step, the smallest first.
sub smaller
{
    my ($node) = @_;
    return unless ref $node;
    my ($kind, @parts) = @$node;

    # the others exist only for the first
    return (@parts[ 1 .. $#parts ],
        map { [ $kind, $_, @parts[ 1 .. $#parts ] ] } smaller($parts[0]))
      if $kind eq 'either';
    my @found;
    if ($kind eq 'several' && @parts - 3 > $parts[2])
    {
        push @found, map {
            my $out = $_;
            [ $kind, @parts[ grep { $_ != $out } 0 .. $#parts ] ]
        } 3 .. $#parts;
    }
    for my $n (0 .. $#parts)
    {
        push @found,
          map { [ $kind, @parts[ 0 .. $n - 1 ], $_, @parts[ $n + 1 .. $#parts ] ] }
          smaller($parts[$n]);
    }
    return @found;
}

# The smallest case found for which something still holds.
sub shrunk
{
    my ($tree, $holds) = @_;
    my ($until, $tries, %tried) = (time + 45, 600);
    while (1)
    {
        my @candidates = map { [ length join('', statements($_)), $_ ] } smaller($tree);
        my $found;
        for my $candidate (map { $_->[1] } sort { $a->[0] <=> $b->[0] } @candidates)
        {
            next if $tried{ join "\n", statements($candidate) }++;
            last if !$tries-- or time > $until;
            $found = $candidate, last if $holds->($candidate);
        }
        return $tree if !$found;
        $tree = $found;
    }
}

1;
