#!/usr/bin/env perl
# Check the words and the figures of the pages; the arguments are the files. Prints what is wrong.
#
# - Some words must not come back, since readers who do not know the project misunderstand them. The
#   list says what to write instead, and in which files a word is right.
# - The line <!-- figures: MEASURE... --> above a table names the measure of each column but the
#   first. Each cell must be that of benches/results.tsv, for the kind of id in the first cell. A
#   table without measures, as well as prose, may only have values of that file beside "ns" and
#   "bytes per row".
# - The line <!-- figures: MEASURE of KINDS... --> names the kind of id of each column but the
#   first, or several with a comma between them: the cells of the row that has "bytes per row" must
#   have these values, in this order.
# - A line of SQL has at most 100 columns.
use strict;
use warnings FATAL => 'all';
use open qw(:std :encoding(UTF-8));
use utf8;

my @words = (
    [
        qr/(?<!two )(?<!processor )(?<!`)(?<!EF )\bcore\b(?!`)/i,
        'PostgreSQL, or built-in',
        qr/^CHANGELOG\.md$/
    ],
    [ qr/\banew\b/i,                    'again, or rebuild' ],
    [ qr/\bmend(?:s|ed|ing)?\b/i,       'repair, or fix' ],
    [ qr/\bwho(?:ever)? follows\b/i,    'a consumer that polls' ],
    [ qr/\bwindows? of time\b/i,        'time range' ]);

my %kind = (
    'bigint identity'          => 'bigint',
    'uuid version 4'           => 'uuid_v4',
    'uuid version 7'           => 'uuid_v7',
    'ULID as text'             => 'ulid_text',
    'ulid'                     => 'ulid',
    '`gen_ulid()`'             => 'ulid',
    '`gen_ordered_ulid()`'     => 'ulid_ordered',
    '`gen_ordered_uuid_v7()`'  => 'uuid_v7_ordered',
    '`gen_monotonic_ulid()`'   => 'ulid_monotonic');

my (%result, %value);
open my $results, '<', 'benches/results.tsv' or die "benches/results.tsv: $!\n";
chomp(my (undef, @kinds) = split /\t/, <$results>);
while (<$results>)
{
    chomp;
    my ($measure, @values) = map { s/±.*//r } split /\t/;
    @{ $result{$measure} }{@kinds} = @values;
    $value{$_} = 1 for @values;
}

my %known_kind = map { $_ => 1 } @kinds;

my $wrong = 0;
for my $file (@ARGV)
{
    my $complain = sub { print "$file:$.: $_[0]\n"; $wrong++ };
    open my $in, '<', $file or die "$file: $!\n";
    my $has_figures = $file =~ m{^(README|docs/choosing)\.md$};
    my ($language, @measures, $row, $found, $row_measure, @row_kinds);
    while (<$in>)
    {
        if (/^\s*```(\w*)/) { $language = defined $language ? undef : $1; next }
        if (defined $language)
        {
            chomp;
            $complain->('more than 100 columns of SQL') if $language eq 'sql' && length > 100;
            next;
        }
        for my $word (@words)
        {
            my ($pattern, $instead, $exceptions) = @$word;
            next if $exceptions && $file =~ $exceptions;
            $complain->("\"$1\": write $instead") while /($pattern)/g;
        }
        next if !$has_figures;
        if (/^<!-- figures: (\S+) of (.*) -->$/)
        {
            ($row_measure, @row_kinds) = ($1, split ' ', $2);
            $complain->("no measure $row_measure") if !$result{$row_measure};
            $complain->("no kind $_") for grep { !$known_kind{$_} } map { split /,/ } @row_kinds;
            next;
        }
        if (@row_kinds && /^\|.*bytes per row/)
        {
            my (undef, $title, @cells) = split /\|/;
            for my $n (0 .. $#row_kinds)
            {
                my @found = ($cells[$n] // '') =~ /(\d[\d,.]*) bytes per row/g;
                my @wanted = map { $result{$row_measure}{$_} // '' } split /,/, $row_kinds[$n];
                $complain->("$row_measure of $row_kinds[$n]: \"@found\", not \"@wanted\"")
                  if "@found" ne "@wanted";
            }
            @row_kinds = ();
            next;
        }
        $complain->("no row for $row_measure") if @row_kinds && !/^\|/;
        @row_kinds = () if !/^\|/;
        if (/^<!-- figures: (.*) -->$/) { @measures = split(' ', $1); $row = 0; next }
        if (@measures && /^\| *([^|]*[^| ]) *\|(.*)\|$/)
        {
            my ($title, @cells) = ($1, map { s/^ +| +$//gr } split /\|/, $2, -1);
            next if ++$row <= 2;    # the heading
            my $kind = $kind{ $title =~ s/ of PostgreSQL.*//r } // $title;
            $found++;
            for my $n (0 .. $#measures)
            {
                my $known = $result{ $measures[$n] } // {};
                $complain->("no measure $measures[$n]") if !%$known;
                $complain->("$title, $measures[$n]: \"$cells[$n]\" is not in benches/results.tsv")
                  if $cells[$n] !~ /^–?$/ && $cells[$n] ne ($known->{$kind} // '');
            }
            next;
        }
        @measures = () if !/^\|/;
        while (/\b(\d[\d,.]*) (ns|bytes per row)\b/g)
        {
            $complain->("\"$1 $2\" is not in benches/results.tsv") if !$value{$1};
        }
    }
    $complain->('no figures') if $has_figures && $file ne 'docs/choosing.md' && !$found;
}
exit($wrong ? 1 : 0);
