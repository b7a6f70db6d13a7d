#!/usr/bin/env perl
# Compares kinds of ids in a PostgreSQL server: benches/sql.pl [--full] [--directory DIR] FILE
# With --report, it only computes the medians of FILE, to which other benchmarks have added lines.
#
# The server is the one that PGHOST, PGPORT and PGUSER name. A schema "bench" is created in the
# database PGDATABASE and dropped at the end. The user must be a superuser, because the server
# writes files (to --directory, by default /tmp).
#
# One psql session runs files of benches/sql for each kind of id in turn, in several rounds, so that
# a machine that is slower for a while is slower for all of them. Except for inserts, the minimum of
# three times within a round counts. Times are CPU times, from the server's log_statement_stats; for
# inserts they are wall-clock times. Each result is a line of FILE: operation, kind, round, number
# of rows at that time, value.
#
# The medians over the rounds are written to FILE with the ending .medians: a line for each measure,
# a column for each kind of id, and in a cell the median ± half the interquartile range in percent.
# That of the last full run is benches/results.tsv, which has the figures of the pages.
use strict;
use warnings FATAL => 'all';
use Getopt::Long;

my ($full, $report, $directory) = (0, 0, '/tmp');
GetOptions('full' => \$full, 'report' => \$report, 'directory=s' => \$directory) && @ARGV == 1
  or die "usage: $0 [--full | --report] [--directory DIR] FILE\n";
my ($file) = @ARGV;
my ($rows, $inserts) = $full ? (300_000, 2_000_000) : (100_000, 200_000);
my $rounds = 5;

# of --full only: an index larger than shared_buffers
my ($large, $large_rounds, $huge) = (10_000_000, 3, 100_000_000);
my $repeats = 3;    # within a round, of all but inserts
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
my @columns = (@names, (map { "fillfactor $_" } @fillfactors), 'horizon');
print $table join("\t", 'measure', @columns), "\n";
print $table join("\t", $_, map { $_ // '' } @{ $medians{$_} }{@columns}), "\n"
  for sort keys %medians;
close $table or die "$file: $!\n";

# The kinds that this server has, as variables for psql. Comparing, storing and reading is the same
# for all generators of ulid, so the others are measured only when they generate.
sub kinds
{
    my $v7 = `psql -XAtq -c "SET client_min_messages = warning" \\
        -c "CREATE EXTENSION IF NOT EXISTS ulid" \\
        -c "SELECT coalesce(to_regprocedure('uuidv7()'), to_regprocedure('gen_uuid_v7()'))"`;
    die "no server\n" if $?;
    chomp $v7;
    my $day = sub {
        my ($bound) = @_;
        join ' AND ', map { sprintf $bound, @$_ }[ '>=', '2026-01-15' ], [ '<', '2026-01-16' ];
    };
    my $bound = "ulid_lower_bound('%2\$s 00:00+00')";
    my $made  = $day->("created_at %s timestamptz '%s 00:00+00'");
    my $zero  = '00000000-0000-0000-0000-000000000000';
    my @kinds = (
        {
            kind      => 'bigint',
            type      => 'bigint',
            column    => 'bigint GENERATED ALWAYS AS IDENTITY',
            window    => $made,
            generator => "nextval('bench.sequence')",
            made_at   => 'n::bigint',
            output    => 'int8out',
            input     => 'int8in',
            least     => 0,
            timed     => 'created_at'
        },
        {
            kind      => 'uuid_v4',
            type      => 'uuid',
            column    => 'uuid DEFAULT gen_random_uuid()',
            window    => $made,
            generator => 'gen_random_uuid()',
            made_at   => 'gen_random_uuid()',
            output    => 'uuid_out',
            input     => 'uuid_in',
            least     => "uuid '$zero'"
        },
        {
            kind      => 'uuid_v7',
            type      => 'uuid',
            column    => "uuid DEFAULT $v7",
            generator => $v7,
            output    => 'uuid_out',
            input     => 'uuid_in',
            made_at   => 'bench.uuid_v7(gen_ulid(t))',
            window    => $day->("id %s $bound\::uuid"),
            least     => "uuid '$zero'"
        },
        {
            kind      => 'ulid_text',
            type      => 'text',
            column    => 'text COLLATE "C" DEFAULT gen_ulid()::text',
            generator => 'gen_ulid()::text',
            made_at   => 'gen_ulid(t)::text COLLATE "C"',
            output    => 'textout',
            input     => 'textin',
            window    => $day->("id %s $bound\::text"),
            least     => "text '0'"
        },
        {
            kind      => 'ulid',
            type      => 'ulid',
            column    => 'ulid DEFAULT gen_ulid()',
            generator => 'gen_ulid()',
            made_at   => 'gen_ulid(t)',
            output    => 'ulid_out',
            input     => 'ulid_in',
            window    => $day->("id %s $bound"),
            least     => "ulid '00000000000000000000000000'",
            timed     => 'id'
        },
        { kind => 'clock', generator => 'clock_timestamp()' },
        {
            kind      => 'ulid_ordered',
            column    => 'ulid DEFAULT gen_ordered_ulid()',
            generator => 'gen_ordered_ulid()'
        },
        {
            kind      => 'uuid_v7_ordered',
            column    => 'uuid DEFAULT gen_ordered_uuid_v7()',
            generator => 'gen_ordered_uuid_v7()'
        },
        {
            kind      => 'ulid_monotonic',
            column    => 'ulid DEFAULT gen_monotonic_ulid()',
            generator => 'gen_monotonic_ulid()'
        });
    $_->{shuffled} = "$_->{kind}_shuffled" for @kinds;
    return @kinds;
}

# The commands of the session, round by round.
sub script
{
    my @kinds = @_;
    my $script =
      "\\set ON_ERROR_STOP on\n\\set rows $rows\n\\set operation insert_bulk\n"
        . "\\set inserts $inserts\n\\set file $directory/ulid_bench.copy\n"
      . "SET client_min_messages = log;\nSET log_statement_stats = on;\nSET jit = off;\n"
        . "SET max_parallel_workers_per_gather = 0;\n"
      . "SET max_parallel_maintenance_workers = 0;\nSET work_mem = '256MB';\n"
        . "SET maintenance_work_mem = '256MB';\n"
      . "\\i benches/sql/begin.sql\n";
    my $run = sub {
        my ($kind, $round, @files) = @_;
        $script .= "\\echo run $kind->{kind} $round\n";
        $script .= "\\set $_ " . quote($kind->{$_}) . "\n" for sort keys %$kind;
        $script .= "\\i benches/sql/$_.sql\n"              for @files;
    };
    my @values  = grep { $_->{type} } @kinds;
    my @columns = grep { $_->{column} && $_->{generator} } @kinds;
    $run->($_, 0, 'keys') for @values;
    $script .= "CHECKPOINT;\n\\timing on\n";
    for my $round (1 .. $rounds)
    {
        for (1 .. $repeats)
        {
            $run->($_, $round, 'generate') for grep { $_->{generator} } @kinds;
            for my $file (qw(text compare copy sort join index lookup window))
            {
                $run->($_, $round, $file) for @values;
            }
            $run->($_, $round, 'filter') for grep { $_->{timed} } @kinds;
            $run->($_, $round, 'guard')  for grep { $_->{kind} eq 'ulid_ordered' } @kinds;
        }
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
        $run->($_, $round, 'insert_bulk', 'lookup_large') for @columns;
        $run->($_, $round, 'insert_clients') for $round == 1 ? @columns : ();
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
    unlink $script, "$directory/ulid_bench.copy";
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
    keep($_, $only->($_))
      for qw(generate text_out text_in copy_text_out copy_text_in copy_binary_out copy_binary_in
      compare sort hash_join index_build lookup filter guard);
    for my $operation (
        grep { /^(huge|memory|connect|transaction|delay|consumer)/ } keys %of)
    {
        my $of = $of{$operation};
        keep($operation . ($_ > 1 ? "_$_" : ''), $of->{$_}) for keys %$of;
    }
    keep('day',          scaled(1000, $only->('window')));
    keep('single',       $only->('insert_one_tps'));
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
    for my $rows (keys %{ $of{insert_clients_index_bytes} // {} })
    {
        keep('clients',       $of{insert_clients_rate}{$rows});
        keep('clients_index', scaled($rows, $of{insert_clients_index_bytes}{$rows}));
    }
    for my $rows ([ newest => 'newest' ], [ sample => 'any' ])
    {
        my ($of, $measure) = ("lookup_$rows->[0]", $rows->[1]);
        keep($measure,            scaled(20,     $only->("${of}_ms")));
        keep("${measure}_blocks", scaled(20_000, $only->("${of}_blocks_read")));
    }
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
