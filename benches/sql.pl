#!/usr/bin/env perl
# Compares kinds of ids in a PostgreSQL server: benches/sql.pl [--full] FILE
# With --report, it only computes the medians of FILE, to which other benchmarks have added lines.
#
# The server is the one that PGHOST, PGPORT and PGUSER name. A schema "bench" is created in the
# database PGDATABASE and dropped at the end. The user must be a superuser.
#
# One psql session runs files of benches/sql for each kind of id in turn, in several rounds, so
# that a machine that is slower for a while is slower for all of them. Of a call, the minimum of
# three times within a round counts. Times of calls are CPU times, from the server's
# log_statement_stats; of inserts they are wall-clock times. Each result is a line of FILE:
# operation, kind, round, number of rows at that time, value.
#
# The medians over the rounds are written to FILE with the ending .medians: a line for each measure,
# a column for each kind of id, and in a cell the median ± half the interquartile range in percent.
# That of the last full run is benches/results.tsv, which has the figures of the pages.
use strict;
use warnings FATAL => 'all';
use Getopt::Long;

my ($full, $report) = (0, 0);
GetOptions('full' => \$full, 'report' => \$report) && @ARGV == 1
  or die "usage: $0 [--full | --report] FILE\n";
my ($file) = @ARGV;
my ($rows, $inserts) = $full ? (300_000, 2_000_000) : (100_000, 200_000);
my $rounds = 5;

# of --full only: an index larger than shared_buffers
my ($large, $large_rounds, $huge) = (10_000_000, 3, 100_000_000);
my $repeats = 3;    # within a round, of a call
my %medians;        # by measure and kind
my @fillfactors = (90, 80, 70);

my @names =
  qw(clock bigint uuid_v4 uuid_v7 uuid_v7_ordered ulid_text ulid ulid_ordered ulid_monotonic);
my %title = (    # in the picture
    bigint          => 'bigint identity',
    uuid_v4         => 'uuid v4',
    uuid_v7         => 'uuid v7',
    ulid_text       => 'ulid as text',
    ulid            => 'gen_ulid',
    ulid_ordered    => 'gen_ordered_ulid',
    uuid_v7_ordered => 'gen_ordered_uuid_v7',
    ulid_monotonic  => 'gen_monotonic_ulid');

if (!$report)
{
    open my $out, '>', $file or die "$file: $!\n";
    measure($out);
    close $out or die "$file: $!\n";
}
report($file);
open my $table, '>', $file =~ s/(\.tsv)?$/.medians/r or die "$file: $!\n";
my @columns = (@names, map { "fillfactor $_" } @fillfactors);
print $table join("\t", 'measure', @columns), "\n";
print $table join("\t", $_, map { $_ // '' } @{ $medians{$_} }{@columns}), "\n"
  for sort keys %medians;
close $table or die "$file: $!\n";

# The kinds that this server has, as variables for psql.
sub kinds
{
    my $v7 = `psql -XAtq -c "SET client_min_messages = warning" \\
        -c "CREATE EXTENSION IF NOT EXISTS ulid" \\
        -c "SELECT coalesce(to_regprocedure('uuidv7()'), to_regprocedure('gen_uuid_v7()'))"`;
    die "no server\n" if $?;
    chomp $v7;
    my @kinds = map { { kind => $_->[0], generator => $_->[1], column => $_->[2] } } (
        [ 'clock',  'clock_timestamp()' ],
        [ 'bigint', "nextval('bench.sequence')", 'bigint GENERATED ALWAYS AS IDENTITY' ],
        map { [ @$_[ 0, 1 ], "$_->[2] DEFAULT $_->[1]" ] } (
            [ 'uuid_v4',         'gen_random_uuid()',     'uuid' ],
            [ 'uuid_v7',         $v7,                     'uuid' ],
            [ 'ulid_text',       'gen_ulid()::text',      'text COLLATE "C"' ],
            [ 'ulid',            'gen_ulid()',            'ulid' ],
            [ 'ulid_ordered',    'gen_ordered_ulid()',    'ulid' ],
            [ 'uuid_v7_ordered', 'gen_ordered_uuid_v7()', 'uuid' ],
            [ 'ulid_monotonic',  'gen_monotonic_ulid()',  'ulid' ]));
    return @kinds;
}

# The commands of the session, round by round.
sub script
{
    my @kinds = @_;
    my $script =
      "\\set ON_ERROR_STOP on\n\\set rows $rows\n\\set operation insert_bulk\n"
        . "\\set inserts $inserts\n"
      . "SET client_min_messages = log;\nSET log_statement_stats = on;\nSET jit = off;\n"
        . "SET max_parallel_workers_per_gather = 0;\n"
      . "SET max_parallel_maintenance_workers = 0;\nSET work_mem = '256MB';\n"
        . "SET maintenance_work_mem = '256MB';\n"
      . "\\i benches/sql/begin.sql\n";
    my $run = sub {
        my ($kind, $round, @files) = @_;
        $script .= "\\echo run $kind->{kind} $round\n";
        $script .= "\\set $_ " . quote($kind->{$_} // '') . "\n" for sort keys %$kind;
        $script .= "\\i benches/sql/$_.sql\n"              for @files;
    };
    my @columns = grep { $_->{column} } @kinds;
    $script .= "CHECKPOINT;\n\\timing on\n";
    for my $round (1 .. $rounds)
    {
        for (1 .. $repeats) { $run->($_, $round, 'generate') for @kinds }
        $run->($_, $round, 'sessions')
          for grep { $_->{kind} =~ /^(bigint|uuid_v7.*|ulid.*)$/ && $_->{kind} ne 'ulid_text' }
          @kinds;
        for my $file (qw(insert_one insert_bulk))
        {
            $run->($_, $round, $file) for @columns;
        }
    }
    $run->($_, 0, 'rate') for grep { $_->{kind} eq 'ulid' } @kinds;
    $script .= "\\set operation insert_large\n\\set inserts $large\n";
    for my $round (1 .. ($full ? $large_rounds : 0))
    {
        $run->($_, $round, 'insert_bulk') for @columns;
    }
    $script .= "\\set operation insert_huge\n\\set inserts $huge\n";
    # without random keys, whose load takes hours: of these, 10 million rows tell enough
    my @huge = grep { $_->{kind} =~ /^(bigint|uuid_v7|ulid(_ordered)?)$/ } @columns;
    $run->($_, 1, 'insert_bulk', 'huge') for $full ? @huge : ();
    return $script . "DROP SCHEMA bench CASCADE;\n";
}

# A string for psql's \set.
sub quote
{
    my ($text) = @_;
    $text =~ s/'/''/g;
    return "'$text'";
}

sub measure
{
    my ($out) = @_;
    local $ENV{BENCH_SECONDS} = $ENV{BENCH_SECONDS} // ($full ? 5 : 2);
    my $script = "$file.psql";
    open my $commands, '>', $script or die "$script: $!\n";
    print $commands script(kinds());
    close $commands or die "$script: $!\n";

    my ($kind, $round, $operation, $count, $cpu, @times, %least) = ('', 0);
    my $emit = sub { print $out join("\t", $_[0], $kind, $round, @_[ 1, 2 ]), "\n" };

    # Keeps the shortest time of an operation that is repeated within a round.
    my $finish = sub {
        my $least = $least{$round}{$kind}{ $operation // '' } //= [ $count, @times ];
        for my $i (0 .. $#times)
        {
            $least->[ $i + 1 ] = $times[$i] if $times[$i] < $least->[ $i + 1 ];
        }
        @times = ();
    };
    open my $session, '-|', "stdbuf -oL psql -XAtqf '$script' 2>&1" or die "psql: $!\n";
    while (<$session>)
    {
        if    (/^!\t([\d.]+) s user, ([\d.]+) s system/) { $cpu = 1000 * ($1 + $2) }
        elsif (/^Time: /)                                { push @times, $cpu if defined $operation }
        elsif (/ERROR|FATAL/)                            { print STDERR $_ }
        elsif (/^operation (\S+) (\d+)/)     { $finish->(); ($operation, $count) = ($1, $2) }
        elsif (/^measure (\S+) (\d+) (\S+)/) { $emit->($1,               $2, $3) }
        elsif (/^tps = ([\d.]+)/)            { $emit->('insert_one_tps', 1,  $1) }
        elsif (/^batch (\S+) (\d+) (\S+) (\S+) (\S+) (\S+)/)
        {
            my $values = { ms => $3, wal_bytes => $4, blocks_read => $5, index_bytes => $6 };
            $emit->("$1_$_", $2, $values->{$_}) for sort keys %$values;
        }
        elsif (/^run (\S+) (\d+)/)
        {
            $finish->();
            undef $operation;
            print STDERR "round $2\n" if $2 && $2 != $round;
            ($kind, $round) = ($1, $2);
        }
    }
    $finish->();
    close $session or die "the benchmark failed\n";

    # The difference of two times, the second minus the first, per row, in nanoseconds.
    for my $of (sort { $a <=> $b } keys %least)
    {
        for my $name (grep { $least{$of}{$_} } @names)
        {
            for my $operation (sort keys %{ $least{$of}{$name} })
            {
                my ($count, @times) = @{ $least{$of}{$name}{$operation} };
                next unless @times;
                ($kind, $round) = ($name, $of);
                $emit->(
                    $operation, $count, ($times[-1] - (@times > 1 ? $times[0] : 0)) * 1e6 / $count);
            }
        }
    }
    unlink $script;
}

sub quantile
{
    my ($q, @values) = @_;
    @values = sort { $a <=> $b } @values;
    return $values[ int($q * $#values + 0.5) ];
}

# A number with its significant digits.
sub digits
{
    my ($value) = @_;
    my $text =
      $value == 0 ? '0' : sprintf abs($value) < 1 ? '%.2f' : abs($value) < 10 ? '%.1f' : '%.0f',
      $value;
    1 while $text =~ s/^(-?\d+)(\d{3})/$1,$2/;
    return $text;
}

# Keeps the medians of a measure, of results by kind and round.
sub keep
{
    my ($measure, $results) = @_;
    for my $kind (keys %{ $results // {} })
    {
        my @values = values %{ $results->{$kind} };
        my $median = quantile(0.5, @values);
        my $range  = quantile(0.75, @values) - quantile(0.25, @values);

        # a time is the difference of two scans, so one of nothing is lost in the spread, or below
        # zero
        next if $median < 0 || $range > 2 * $median;
        $medians{$measure}{$kind} =
          digits($median) . (@values > 1 && $median ? sprintf('±%.0f', 50 * $range / $median) : '');
    }
}

sub report
{
    my ($file) = @_;
    my %of;    # operation, rows, kind, round
    open my $in, '<', $file or die "$file: $!\n";
    while (<$in>)
    {
        chomp;
        my ($operation, $kind, $round, $count, $value) = split /\t/;
        $of{$operation}{$count}{$kind}{$round} = $value;
    }
    my $only = sub { (values %{ $of{ $_[0] } // {} })[0] // {} };
    keep("sessions_$_", $of{sessions_ns}{$_}) for keys %{ $of{sessions_ns} // {} };
    keep('generate', $only->('generate'));
    for my $operation (grep { /^(huge|memory|connect|transaction)/ } keys %of)
    {
        my $of = $of{$operation};
        keep($operation . ($_ > 1 ? "_$_" : ''), $of->{$_}) for keys %$of;
    }
    keep('single', $only->('insert_one_tps'));
    keep('single_index', $only->('insert_one_index_bytes'));

    my ($single, $load, $index) = $only->('insert_one_index_bytes');

    # The batches of one insert belong together.
    for my $insert (qw(insert_bulk insert_huge insert_large))
    {
        my ($rows) = sort { $b <=> $a } keys %{ $of{"${insert}_ms"} // next };
        my $id = $insert =~ s/insert_//r;
        my $total = sub {
            my ($metric, %total) = @_;
            for my $kinds (values %{ $of{"${insert}_$metric"} })
            {
                for my $kind (keys %$kinds)
                {
                    $total{$kind}{$_} += $kinds->{$kind}{$_} for keys %{ $kinds->{$kind} };
                }
            }
            return \%total;
        };
        ($load, $index) = (
            scaled($rows / 1e6, $total->('ms')),
            scaled($rows,       $of{"${insert}_index_bytes"}{$rows}));
        keep($id,          $load);
        keep("${id}_wal",   scaled($rows, $total->('wal_bytes')));
        keep("${id}_index", $index);
    }
    picture($file =~ s/(\.tsv)?$/.svg/r, $load, $index, $single) if $load && %$single;
    for my $factor (@fillfactors)
    {
        my $size = $of{"index_bytes_filled_to_$factor"} // {};
        keep("at_$_", { "fillfactor $factor" => $size->{$_}{ulid} }) for keys %$size;
    }
}

# Draws the medians of three results, if there is gnuplot, without what its file has and the picture
# does not use.
sub picture
{
    my ($file, @results) = @_;
    return if system('gnuplot --version > /dev/null 2>&1') != 0;
    open my $gnuplot, '|-',
      q(gnuplot | perl -0777 -pe 's{<defs>.*?</defs>}{}s;
        s{Gnuplot(?=<)}{Loading and index size, by kind of key}; s{<title>\$.*?</title>}{}g;
        s{>\s+<}{><}g; s{<g [^<>]*></g>}{}g; s{(?=<g (fill=.none|id))}{\n}g; s{ +\n}{\n}g')
      . " > '$file'";
    print $gnuplot "\$keys << END\n";
    for my $kind (grep { $results[0]{$_} } @names)
    {
        my @medians = map { sprintf '%.0f', quantile(0.5, values %{ $_->{$kind} }) } @results;
        my $colour = $kind =~ /^ulid(?!_text)|ordered/ ? '0x3b6ea5' : '0xa0a0a0';
        print $gnuplot qq("$title{$kind}" $colour @medians\n);
    }
    print $gnuplot "END\nload 'benches/picture.gnuplot'\n";
    close $gnuplot or die "gnuplot failed\n";
}

# Results divided by a number.
sub scaled
{
    my ($divisor, $results) = @_;
    my %scaled;
    for my $kind (keys %{ $results // {} })
    {
        $scaled{$kind}{$_} = $results->{$kind}{$_} / $divisor for keys %{ $results->{$kind} };
    }
    return \%scaled;
}
