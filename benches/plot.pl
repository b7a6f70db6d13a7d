#!/usr/bin/env perl
# Draws the results of benches/sql.pl --full or benches/distributed.rs: benches/plot.pl FILE DIRECTORY
#
# The pictures are SVG without a background, legible on light and dark pages. Beside those of benches/sql.pl it writes what
# they show, medians.tsv: operation, kind, number of rows, median over the rounds, half the interquartile range in percent.
# FILE can be that, too.
use strict;
use warnings;
use List::Util qw(max);

my ($file, $directory) = @ARGV;
die "usage: $0 FILE DIRECTORY\n" unless @ARGV == 2;

# The same colours in all pictures, of medium lightness: distinguishable on white and on black, also with red-green blindness.
my @names = qw(bigint uuid_v4 uuid_v7 ulid_text ulid ulid_ordered ulid_monotonic 100 10 1);
my %title = (bigint => 'bigint identity', uuid_v4 => 'uuid v4', uuid_v7 => 'uuid v7', ulid_text => 'ulid as text',
             ulid => 'ulid, gen_ulid', ulid_ordered => 'ulid, gen_ordered_ulid', ulid_monotonic => 'ulid, gen_monotonic_ulid',
             1 => '1 id per ms', 10 => '10 ids per ms', 100 => '100 ids per ms');
my %colour = (bigint => '#8c8c8c', uuid_v4 => '#d55e00', uuid_v7 => '#c77cab', ulid_text => '#c79400',
              ulid => '#2e8bd8', ulid_ordered => '#8069d2', ulid_monotonic => '#009e73',
              1 => '#009e73', 10 => '#2e8bd8', 100 => '#d55e00');
my %dash = (uuid_v7 => '7 3', ulid_ordered => '10 6', ulid_monotonic => '2 3');    # where two lines lie upon each other
my ($width, $left, $top, $plot_width, $plot_height) = (760, 64, 56, 460, 290);

my %of;           # operation, kind, rows: values of the rounds
my %simulated;    # operation, ids a millisecond, skew; of 100 servers with gen_ulid
open my $in, '<', $file or die "$file: $!\n";
while (<$in>) {
    chomp;
    my ($operation, $kind, @columns) = split /\t/;
    if ($file =~ /medians\.tsv$/) {
        my ($rows, $median) = @columns;
        push @{ $of{$operation}{$kind}{$rows} }, $median;
        next;
    }
    my ($round, $rows, $value, $counted) = @columns;
    if (defined $counted) {
        $simulated{$operation}{$rows}{$value} = $counted if $kind eq 'random' and $round == 100;
        next;
    }
    push @{ $of{$operation}{$kind}{$rows} }, $value;
}

sub quantile {
    my ($q, @values) = @_;
    @values = sort { $a <=> $b } @values;
    return $values[int($q * $#values + 0.5)];
}
sub median { quantile(0.5, @_) }

# The lines of a result of the large insert, as rows and the median over the rounds.
sub lines {
    my ($operation, $value) = @_;
    my %lines;
    for my $kind (@names) {
        my $of = $of{"insert_large_$operation"}{$kind} // next;
        my ($batch) = my @rows = sort { $a <=> $b } keys %$of;
        $lines{$kind} = [map { [$_ / 1e6, $value->(median(@{ $of->{$_} }), $batch)] } @rows];
    }
    %lines or die "$file has no results of --full\n";
    return \%lines;
}

if (%simulated) {
    my @skews = sort { $a <=> $b } keys %{ $simulated{leaf_fill}{1} };
    my $axis = { title => 'standard deviation of the clocks, ms', marks => [map { [$_, $skews[$_]] } 0 .. $#skews] };
    my $of = sub {
        my ($results) = @_;
        return { map { my $of = $_; $of => [map { [$_, $results->{$of}{ $skews[$_] }] } 0 .. $#skews] } keys %$results };
    };
    chart('out-of-order', 'Ids that are smaller than an earlier one', '%', $of->($simulated{out_of_order}), $axis);
    chart('leaf-fill', 'Leaf fill of the key\'s index', '%', $of->($simulated{leaf_fill}), $axis);
    exit;
}

chart('index-size', 'Size of the key\'s index', 'MB', lines(index_bytes => sub { $_[0] / (1 << 20) }));
chart('wal-per-row', 'WAL per inserted row', 'bytes', lines(wal_bytes => sub { $_[0] / $_[1] }));
chart('insert-rate', 'Inserted rows per second', 'thousands', lines(ms => sub { $_[1] / $_[0] }));
bars('cost-per-id', 'Cost of generating an id', 'ns', 'generate');
medians('generate', map { "insert_large_$_" } qw(index_bytes wal_bytes ms)) if $file !~ /medians\.tsv$/;
exit;

# Write the medians of these operations.
sub medians {
    open my $out, '>', "$directory/medians.tsv" or die "$directory/medians.tsv: $!\n";
    for my $operation (@_) {
        for my $kind (grep { $of{$operation}{$_} } 'clock', @names) {
            for my $rows (sort { $a <=> $b } keys %{ $of{$operation}{$kind} }) {
                my @values = @{ $of{$operation}{$kind}{$rows} };
                my $spread = (quantile(0.75, @values) - quantile(0.25, @values)) / 2;
                printf $out "%s\t%s\t%d\t%.10g\t%.1f\n", $operation, $kind, $rows, median(@values),
                    100 * $spread / median(@values);
            }
        }
    }
    close $out or die "$directory/medians.tsv: $!\n";
    return;
}

# A number whose first digit is 1, 2 or 5: the distance of at most six marks up to a maximum.
sub step {
    my ($maximum) = @_;
    my $step = 10**int(log($maximum) / log(10) - 1);
    for my $factor (2, 2.5, 2) { $step *= $factor if $maximum / $step > 6 }
    $step *= 2 while $maximum / $step > 6;
    return $step;
}

sub text {
    my ($x, $y, $text, $more) = @_;
    return sprintf qq(<text x="%.1f" y="%.1f"%s>%s</text>\n), $x, $y, $more // '', $text;
}

# A picture: what draws it, in the page's own colours where a page has some, and grey that can be read on both else.
sub picture {
    my ($name, $title, $content, $height) = @_;
    open my $out, '>', "$directory/$name.svg" or die "$directory/$name.svg: $!\n";
    print $out qq(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 $width $height" width="$width" height="$height" )
        . qq(role="img" aria-label="$title" font-family="sans-serif" font-size="13" fill="#7d7d7d">\n)
        . qq(<style>text{fill:#6a737d}\@media(prefers-color-scheme:dark){text{fill:#8b949e}}</style>\n)
        . text(8, 24, $title, ' font-size="17" font-weight="bold"') . $content . "</svg>\n";
    close $out or die "$directory/$name.svg: $!\n";
}

# Lines over the number of rows, or over another axis with its title and marks. Their names stand where they end, moved
# apart.
sub chart {
    my ($name, $title, $unit, $lines, $axis) = @_;
    my $rows    = max map { $_->[-1][0] } values %$lines;
    my $step    = step(max map { map { $_->[1] } @$_ } values %$lines);
    my $maximum = $step * int(1 + max(map { map { $_->[1] } @$_ } values %$lines) / $step);
    my $x = sub { $left + $_[0] / $rows * $plot_width };
    my $y = sub { $top + $plot_height - $_[0] / $maximum * $plot_height };
    my $svg = '';
    for (my $mark = 0; $mark <= $maximum * 1.001; $mark += $step) {
        $svg .= sprintf qq(<path d="M%d %.1fh%d" stroke="#888" stroke-opacity=".35"/>\n), $left, $y->($mark), $plot_width;
        $svg .= text($left - 8, $y->($mark) + 4, $mark, ' text-anchor="end"');
    }
    $svg .= text($left - 56, $top - 12, $unit);
    $axis //= { title => 'million rows', marks => [map { [$_ * step($rows), $_ * step($rows)] } 0 .. $rows / step($rows)] };
    for my $mark (@{ $axis->{marks} }) {
        $svg .= text($x->($mark->[0]), $top + $plot_height + 20, $mark->[1], ' text-anchor="middle"');
    }
    $svg .= text($left + $plot_width / 2, $top + $plot_height + 40, $axis->{title}, ' text-anchor="middle"');
    my @ends;
    for my $kind (grep { $lines->{$_} } @names) {
        my $path = join 'L', map { sprintf '%.1f %.1f', $x->($_->[0]), $y->($_->[1]) } @{ $lines->{$kind} };
        $svg .= sprintf qq(<path d="M%s" fill="none" stroke="%s" stroke-width="%s"%s/>\n), $path, $colour{$kind},
            $kind =~ /^ulid(_ordered|_monotonic)?$/ ? 3 : 2, $dash{$kind} ? qq( stroke-dasharray="$dash{$kind}") : '';
        push @ends, [$y->($lines->{$kind}[-1][1]), $kind, $lines->{$kind}[-1][1]];
    }
    my $lowest = 0;
    for my $end (sort { $a->[0] <=> $b->[0] } @ends) {
        my ($at, $kind, $value) = @$end;
        $at = $lowest = max($at, $lowest + 17);
        $svg .= sprintf qq(<circle cx="%d" cy="%.1f" r="5" fill="%s"/>\n), $left + $plot_width + 12, $at, $colour{$kind};
        $svg .= text($left + $plot_width + 22, $at + 4, sprintf('%s: %.0f', $title{$kind}, $value));
    }
    picture($name, $title, $svg, 400);
}

# Bars of the medians over the rounds.
sub bars {
    my ($name, $title, $unit, $operation) = @_;
    my %value;
    for my $kind (grep { $of{$operation}{$_} } @names) {
        my ($rounds) = values %{ $of{$operation}{$kind} };
        $value{$kind} = median(@$rounds);
    }
    my $scale = $plot_width / max values %value;
    my ($svg, $y) = ('', $top - 8);
    for my $kind (sort { $value{$b} <=> $value{$a} } keys %value) {
        $svg .= text(190, $y + 19, $title{$kind}, ' text-anchor="end"');
        $svg .= sprintf qq(<rect x="200" y="%d" width="%.1f" height="28" rx="2" fill="%s"/>\n), $y, $value{$kind} * $scale, $colour{$kind};
        $svg .= text(208 + $value{$kind} * $scale, $y + 19, sprintf('%.0f %s', $value{$kind}, $unit));
        $y += 38;
    }
    picture($name, $title, $svg, $y);
}
