#!/usr/bin/env perl
# Run the SQL examples of Markdown files in the server that the PG* variables name: test-docs.pl
# FILE...
#
# Each file has a new database and one psql session, in which its ```sql blocks are executed in
# order; if a block fails, the rest of the file is not executed. A ```text block directly below a
# ```sql block must be exactly what psql prints for it. If it contains ERROR, the error is expected,
# and its LINE, DETAIL and HINT are compared if they are shown. If a file does not contain CREATE
# EXTENSION ulid, the extension is created before. What only the test needs, such as checks, is in a
# file that is executed first and prints nothing, tests/docs/NAME.sql for docs/NAME.md, or in one
# that is executed last, tests/docs/NAME.after.sql, in which :block_N is the N-th block that is
# executed. A line above an sql block can exclude it, which is reported:
#   <!-- not executed: REASON -->
#   <!-- needs NAME VERSION -->
# The latter is for a server (PostgreSQL) that is older, or an extension of which it does not offer
# that version.
# The line <!-- the page needs NAME VERSION --> does so for all blocks below it.
# Below the line <!-- new ids -->, an sql block prints other ids each time: instead of an id and a
# time beside it, whether that is the time of the id is compared, and the width of columns is not.
# It is executed 2 ms after the block before it, since a row can be read in the millisecond after
# its commit.
# A block whose statement stops others on a table in use fails: CREATE INDEX without CONCURRENTLY,
# and ALTER TABLE, a trigger, a partition or a foreign key where the block sets no lock_timeout. The
# tables that the block itself creates are not in use, and VALIDATE CONSTRAINT lets others read and
# write.
# Examples with large tables contain \set rows NUMBER; for a quick run, the environment variable
# ROWS replaces that number.
use strict;
use warnings FATAL => 'all';
use POSIX qw(strftime);

my ($passed, $failed, $skipped, $databases) = (0, 0, 0, 0);

# The versions of the server and of its extensions.
my %version = map { chomp; split /\|/ }
  qx{psql -X -A -t -c "SELECT name, default_version FROM pg_available_extensions
    UNION ALL SELECT 'PostgreSQL', substring(version() FROM '[0-9.]+')"};

# Whether the server has this extension in that version or a later one.
sub offered
{
    my ($name, $wanted) = @_;
    my @wanted = split /\./, $wanted;
    for my $number (split /\./, $version{$name} // 0)
    {
        return 1 unless @wanted;
        my $order = $number <=> shift @wanted;
        return $order > 0 if $order;
    }
    return !@wanted;
}

# The statements of a block that stop others on a table in use.
sub stopping
{
    my ($sql) = @_;
    $sql =~ s/^\\.*$|--.*$//mg;
    $sql =~ s/\$(\w*)\$.*?\$\1\$|'(?:[^']|'')*'/''/sg;
    my ($timeout, $local, %created, @stopping) = (0, 0);
    for my $statement (map { s/^\s+|\s+$//gr } split /;/, $sql)
    {
        if ($statement =~ /^(SET|RESET) (LOCAL )?lock_timeout\b/i)
        {
            if   ($2) { $local   = 1 }
            else      { $timeout = uc $1 eq 'SET' }
        }
        $local = 0 if $statement =~ /^(COMMIT|ROLLBACK|END)\b/i;
        if ($statement =~ /^CREATE (?:\w+ )?TABLE (?:IF NOT EXISTS )?([\w."]+)/i)
        {
            $created{$1} = 1;
            my @locked = $statement =~ /\b(?:PARTITION OF|REFERENCES) ([\w."]+)/gi;
            push @stopping, $statement if !$timeout && !$local && grep { !$created{$_} } @locked;
        }
        next if $statement =~ /\bVALIDATE CONSTRAINT\b/i;
        if ($statement =~ /^CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY).*?\bON (?:ONLY )?([\w."]+)/is)
        {
            push @stopping, $statement unless $created{$1};
        }
        elsif (
            $statement =~ /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?([\w."]+)/i
            or $statement =~ /^(?:CREATE|DROP)(?: \w+)*? TRIGGER .*?\bON ([\w."]+)/is)
        {
            push @stopping, $statement unless $created{$1} || $timeout || $local;
        }
    }
    return map { s/\n.*//sr } @stopping;
}

# Read the blocks of a file.
sub blocks
{
    my ($file) = @_;
    open my $in, '<', $file or die "$file: $!\n";
    my (@blocks, $language, @body, $line_before);
    my ($start, $above_is_sql, $before) = (0, 0, "tests/$file" =~ s/md$/sql/r);
    push @blocks, { line => 0, sql => "\\i $before\n" } if -e $before;
    while (my $line = <$in>)
    {
        if (defined $language)
        {
            if ($line !~ /^\s*```\s*$/) { push @body, $line; next }
            my $body = with_rows(join '', @body);
            my @stopping = $language eq 'sql' ? stopping($body) : ();
            print "FAILED  $file:$start stops others on a table in use: $_\n" for @stopping;
            $failed += @stopping;
            my $runs = $language eq 'sql' && $line_before !~ /^\s*<!-- not executed: .+ -->\s*$/;
            if (    $runs
                and $line_before =~ /^\s*<!-- needs (\S+) ([\d.]+) -->\s*$/
                and !offered($1, $2))
            {
                print "skipped $file:$start needs $1 $2\n";
                $skipped++;
                $runs = 0;
            }
            if ($runs)
            {
                push @blocks,
                  {
                    line    => $start,
                    sql     => $body,
                    new_ids => scalar($line_before =~ /^\s*<!-- new ids -->\s*$/)
                  };
                $above_is_sql = 1;
            }
            else
            {
                $blocks[-1]{output} = $body if $language eq 'text' and $above_is_sql;
                $above_is_sql = 0;
            }
            ($language, $line_before) = (undef, '');
        }
        elsif ($line =~ /^<!-- the page needs (\S+) ([\d.]+) -->$/ and !offered($1, $2))
        {
            print "skipped $file, which needs $1 $2\n";
            $skipped++;
            return @blocks;
        }
        elsif ($line =~ /^\s*```(\S*)/)
        {
            ($language, $start, @body) = ($1, $.);
            $line_before //= '';
        }
        elsif ($line =~ /\S/)
        {
            my $index = qr/`(CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)[^`]* ON .*?)`/;
            if ($line =~ $index)
            {
                print "FAILED  $file:$. stops others on a table in use: $1\n";
                $failed++;
            }
            ($line_before, $above_is_sql) = ($line, 0);
        }
    }
    die "$file:$start: a block does not end\n" if defined $language;
    push @blocks, after($before =~ s/sql$/after.sql/r, grep { $_->{line} } @blocks);
    return @blocks;
}

# What is executed after these blocks.
sub after
{
    my ($file, @blocks) = @_;
    return unless -e $file;
    my $sql = '';
    for my $n (1 .. @blocks)
    {
        my $block = $blocks[ $n - 1 ]{sql} =~ s/([\\'])/\\$1/gr =~ s/\n/\\n/gr;
        $sql .= "\\set block_$n '$block'\n";
    }
    open my $in, '<', $file or die "$file: $!\n";
    $sql .= with_rows(join '', <$in>);
    return { line => 'after', sql => $sql, output => '' };
}

# With the number of rows that a quick run has.
sub with_rows
{
    my ($sql) = @_;
    $sql =~ s/^\\set rows \K\d+$/$ENV{ROWS}/mg if $ENV{ROWS};
    return $sql;
}

# The output of psql, without the parts of errors that the file does not show, which differ between
# servers.
sub compared
{
    my ($printed, $shown) = @_;
    $printed =~ s/^LINE \d+:.*\n *\^\n//mg unless $shown =~ /^LINE \d+:/m;
    for my $line (qw(DETAIL HINT))
    {
        $printed =~ s/^$line:.*\n//mg unless $shown =~ /^$line:/m;
    }
    return trimmed($printed);
}

# The text to compare, without blanks at the ends of lines and without empty lines at the end.
sub trimmed
{
    my ($text) = @_;
    $text =~ s/[ \t]+$//mg;
    $text =~ s/\n+\z//;
    return $text;
}

# The text without what is new in each run.
sub without_ids
{
    my ($text) = @_;
    my $time = qr/\d{4}-\S+ [\d:.]+\+00/;
    $text =~ s{\b([0-7][0-9A-HJKMNP-TV-Z]{9})[0-9A-HJKMNP-TV-Z]{16}\b(.*?)($time)}
        {"ID$2" . ($3 eq time_of($1) ? 'ITS TIME' : $3)}ge;
    return $text =~ tr/ \-//sr;
}

# The time of an id, from its first ten characters, as psql prints it.
sub time_of
{
    my ($characters) = @_;
    my $ms = 0;
    $ms = $ms * 32 + index('0123456789ABCDEFGHJKMNPQRSTVWXYZ', $_) for split //, $characters;
    return strftime('%Y-%m-%d %H:%M:%S', gmtime(int($ms / 1000))) . sprintf('.%03d', $ms % 1000) =~
      s/\.?0+$//r . '+00';
}

# Run the blocks in one session and return the output of each; undef for those that the session did
# not reach.
sub run
{
    my ($database, $create, @blocks) = @_;
    system('createdb', $database) == 0 or die "createdb failed\n";
    my $out = "$ENV{SERVERS}/$database.out";
    open my $psql, '|-', "psql -X -q -d $database -v ON_ERROR_STOP=1 -P pager=off > '$out' 2>&1"
      or die "psql: $!\n";
    local $SIG{PIPE} = 'IGNORE';
    print $psql "CREATE EXTENSION ulid;\n" if $create;
    for my $block (@blocks)
    {
        my $error_wanted = ($block->{output} // '') =~ /^ERROR:/m ? 0                   : 1;
        my $pause        = $block->{new_ids} ? "SELECT pg_sleep(0.002) \\g /dev/null\n" : '';
        print $psql
          "\\echo ==== block\n\\set ON_ERROR_STOP $error_wanted\n$pause$block->{sql}\n"
            . "\\set ON_ERROR_STOP 1\n";
    }
    print $psql "\\echo ==== block\n";
    close $psql;
    open my $in, '<', $out or die "$out: $!\n";
    my (undef, @printed) = split /^==== block\n/m, join('', <$in>), -1;
    return @printed;
}

for my $file (@ARGV)
{
    my @blocks = blocks($file);
    next unless @blocks;
    my $create  = !grep { $_->{sql} =~ /CREATE EXTENSION (IF NOT EXISTS )?ulid\b/i } @blocks;
    my @printed = run('docs_' . ++$databases, $create, @blocks);
    my $wrong   = 0;
    for my $n (0 .. $#blocks)
    {
        my $block = $blocks[$n];
        my ($problem, $printed, $wanted) = (undef, '', '');
        if (defined $block->{output} && defined $printed[$n])
        {
            ($printed, $wanted) =
              (compared($printed[$n], $block->{output}), trimmed($block->{output}));
            ($printed, $wanted) = map { without_ids($_) } $printed, $wanted if $block->{new_ids};
        }
        if ($block->{sql} !~ /(;|^\\.*|\\gset)\s*(--.*)?\s*\z/m)
        {
            $problem = "does not end with a semicolon\n";
        }
        elsif (!defined $printed[$n])
        {
            $problem = "not reached\n";
        }
        elsif (!defined $printed[ $n + 1 ])
        {
            $problem = "stopped:\n$printed[$n]";
        }
        elsif ($printed ne $wanted)
        {
            $problem = "printed:\n$printed[$n]where the file says:\n$block->{output}";
        }
        if (defined $problem) { print "FAILED  $file:$block->{line} $problem"; $wrong++ }
    }
    printf "%-7s %s, %d of %d blocks\n", $wrong ? 'FAILED' : 'ok', $file, @blocks - $wrong,
      scalar @blocks;
    $passed += @blocks - $wrong;
    $failed += $wrong;
}
print "$passed passed, $failed failed", $skipped ? ", $skipped skipped\n" : "\n";
exit($failed ? 1 : 0);
