# Random choices and values.
package PlannerFuzz::Random;
use strict;
use warnings FATAL => 'all';
use Exporter 'import';

our @EXPORT =
  qw(EPOCH_MS DAY_MS DAYS chance one_of ulid random_ulid bound moment random_range quoted
      random_prefix);

sub chance { rand() < $_[0] }
sub one_of { $_[ rand @_ ] }

my @CROCKFORD = split //, '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

# The first ten characters of the ulids of this millisecond.
sub time_of_ulid
{
    my ($ms) = @_;
    join '', map { $CROCKFORD[ $ms >> 5 * $_ & 31 ] } reverse 0 .. 9;
}

# A ulid of it.
sub ulid
{
    time_of_ulid($_[0]) . join '', map { one_of(@CROCKFORD) } 1 .. 16;
}

# Days count from 2025-01-01; the data lie in 50 of them.
use constant { EPOCH_MS => 1735689600000, DAY_MS => 86400000, DAYS => 50 };

# The first ulid of this day.
sub bound { time_of_ulid(EPOCH_MS + $_[0] * DAY_MS) . '0' x 16 }

sub random_ulid
{
    return '0' x 26       if chance(0.02);
    return '7' . 'Z' x 25 if chance(0.02);
    return ulid(EPOCH_MS + int(rand DAYS) * DAY_MS + (chance(0.2) ? 0 : int rand DAY_MS));
}

# A moment as a bound of a range, without quotes.
sub moment
{
    my ($day) = @_;
    my ($month, $of_month) =
      $day < 31 ? (1, $day + 1) : $day < 59 ? (2, $day - 30) : (3, $day - 58);
    my $time =
      chance(0.6) ? '00:00' : one_of('12:00', '23:59:59.999', '00:00:00.000001', '06:30:00.0005');
    return sprintf '2025-%02d-%02d %sZ', $month, $of_month, $time;
}

# The text of a range: usually some days, occasionally an unusual one.
sub random_range
{
    return one_of(
        'empty',                     '(,)',
        '[-infinity,infinity]',      '[2025-01-10Z,)',
        '(,2025-01-10Z]',            '(,1960-01-01Z)',
        '[1960-01-01Z,2025-01-15Z)', '[2025-01-20Z,20000-01-01Z)',
        '[10889-08-02Z,)',           '[4713-01-01 BC,2025-01-20Z]',
        '[2025-01-12Z,infinity)',    '(2025-01-12Z,2025-01-12 00:00:00.0005Z)') if chance(0.15);
    my $day = int rand DAYS;
    my ($from, $to) = (moment($day), moment($day + 1 + int rand one_of(2, 5, 30)));
    return one_of('[', '[', '(') . "$from,$to" . one_of(')', ')', ']');
}

sub quoted { defined $_[0] ? "'$_[0]'" : 'NULL' }

# The beginning of a ulid; most of those of the data begin with 01J.
sub random_prefix
{
    my $text = chance(0.1) ? '' : substr random_ulid(), 0, one_of(1, 3, 4, 4, 5, 6, 26);
    return chance(0.3) ? lc $text : $text;
}

1;
