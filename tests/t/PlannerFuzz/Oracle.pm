# What is wrong with a case: it runs with the functions that are tested and with the plain
# expressions, in a session of psql.
package PlannerFuzz::Oracle;
use strict;
use warnings FATAL => 'all';
use Exporter 'import';
use IPC::Open3;
use PlannerFuzz::Schema;
use PlannerFuzz::Tree;
use ULID 'slurp_file';

our @EXPORT = qw(connect_server disconnect_server fault $plain_end);

our $plain_end;    # SQLSTATE and message of the last plain case
my ($psql, $to, $from_psql, $log, $log_begin, $log_end);

sub connect_server
{
    my @settings = (
        'search_path=fuzz,public',
        qw(statement_timeout=1s client_min_messages=error jit=off timezone=UTC));
    local $ENV{PGOPTIONS} = join ' ', map { "-c $_" } @settings, 'datestyle=ISO';
    $psql = open3(
        $to, $from_psql, undef,
        qw(psql -X -A -t -q -P null=NULL -v VERBOSITY=sqlstate -d),
        $server->connstr('postgres'));
    $log       = $server->logfile;
    $log_begin = $log_end = -s $log // 0;
}

sub disconnect_server
{
    return if !$psql;
    close $to;
    waitpid $psql, 0;
    undef $psql;
    return;
}

# Run one statement: its lines, SQLSTATE and message; no SQLSTATE if the connection has ended.
sub ask
{
    my ($statement) = @_;
    local $SIG{PIPE} = 'IGNORE';
    print $to "$statement;\n\\echo @! :LAST_ERROR_MESSAGE\n\\echo @@ :SQLSTATE\n";
    $to->flush;
    my @lines;
    local $SIG{ALRM} = sub { die "hangs\n" };
    alarm 120;
    my $state = eval {
        while (my $line = readline $from_psql)
        {
            chomp $line;
            if ($line =~ /^@@ (\S*)$/) { alarm 0; return $1 || '00000' }
            push @lines, $line;
        }
        alarm 0;
        return 'crash';
    } // 'hangs';
    my $message = '';
    if ($state !~ /^(crash|hangs)$/)
    {
        for my $n (reverse 0 .. $#lines)
        {
            if ($lines[$n] =~ s/^@! //) { $message = join ' ', splice @lines, $n; last }
        }

        # psql leaves both variables, or empties them, when COPY fails after its first message: take
        # what it has written to stderr
        $state = $1 if $statement =~ /^COPY/ && "@lines" =~ /ERROR:  ([0-9A-Z]{5})/;
    }
    else
    {
        close $to;
        kill 'TERM', $psql if $state eq 'hangs';
        waitpid $psql, 0;

        # psql also ends for what is fatal to its session alone
        $server->wait_for_log(qr/database system is ready to accept connections/, $log_begin)
          if $state eq 'crash' && !grep { /FATAL:/ } @lines;
        connect_server();
    }
    return { state => $state, message => $message, lines => \@lines };
}

# What the server has logged since the last check that it should never log.
sub complaints
{
    my $logged = -r $log ? slurp_file($log, $log_end) : '';
    $log_end += length $logged;
    my $worse =
      qr/TRAP:|PANIC:|WARNING:(?! +terminating connection because of crash)|terminated by signal/;
    return join '', grep { /$worse/ } split /^/, $logged;
}

# Run a case with the functions that are tested, or with the plain expressions: how it ended, and
# the rows of each statement, in order.
sub run_case
{
    my ($tree, $plain) = @_;
    my ($last, @rows)  = ask('BEGIN');
    for my $statement (statements($tree, $plain))
    {
        $last = ask($statement);
        last if $last->{state} ne '00000';
        push @rows, join "\n", sort @{ $last->{lines} } unless $statement =~ /^EXPLAIN/;
    }
    if ($last->{state} !~ /^(crash|hangs)$/) { ask('ROLLBACK'); ask('DEALLOCATE ALL') }
    return { %$last, rows => $last->{state} eq '00000' ? \@rows : [] };
}

# Some of the rows that occur in only one of two results.
sub differing
{
    my ($ours, $plain) = @_;
    my %times;
    $times{$_}++ for split /\n/, $ours,  -1;
    $times{$_}-- for split /\n/, $plain, -1;
    my @rows = map {
        sprintf "only %s, %d times: %s\n", $times{$_} > 0 ? 'ours' : 'plain', abs $times{$_}, $_
      }
      grep { $times{$_} } sort keys %times;
    return join '', splice(@rows, 0, 6), @rows ? scalar(@rows) . " more\n" : ();
}

# What is wrong with a case, in words that do not change while it is made smaller, and a detail;
# nothing if all is well.
sub fault
{
    my ($tree, $has_time) = @_;
    my $log_start = -s $log // 0;
    $plain_end = 'none';
    complaints();
    my $ours = run_case($tree, 0);
    if ($ours->{state} =~ /^(crash|hangs)$/)
    {
        my @logged = -r $log ? split /^/, slurp_file($log, $log_start) : ();
        return ($ours->{state}, join '', grep { /TRAP:|PANIC:|terminated by signal/ } @logged);
    }
    my $complaints = complaints();
    my $plain      = run_case($tree, 1);
    $plain_end = "$plain->{state} $plain->{message}";
    return if $plain->{state} =~ /^(crash|hangs|57014)$/;
    if ($ours->{state} eq '57014')
    {    # it may have been slow by chance
        return ('runs for half a minute', "plain: $plain_end\n") if $has_time;
        ask("SET statement_timeout = '30s'");
        my @fault = fault($tree, 1);
        ask("SET statement_timeout = '1s'");
        return @fault;
    }

    # 25P02, as the first error: a ROLLBACK has run out of time; 25000: a function of PL/pgSQL while
    # parallel workers run; 55P03: postgres_fdw has locked the rows for another role
    return if grep { $_->{state} =~ /^(25000|25P02|53200|54001|55P03)$/ } $ours, $plain;

    # postgres_fdw prints $1::ulid[][1], without parentheses; the plain form is a cast of that
    return if $ours->{state} eq '42883' && $ours->{message} =~ /ulid\[\]$/;
    return
      if "$ours->{state} $plain->{state}" eq '42883 42846'
      && $plain->{message} =~ /ulid\[\] to uuid$/;

    # the hooks leave the expressions of grouping sets, from which postgres_fdw omits the cast
    return
      if "$ours->{state} $plain->{state}" eq '22P02 00000'
      && $ours->{message} =~ /^invalid input syntax for type uuid: "[0-9A-Z]{26}"$/
      && join('', statements($tree)) =~ /GROUPING SETS|ROLLUP|CUBE/;

    # whether a function that is not inlined is called, so that it reads its tables, may depend on
    # the order of the joins
    return
      if grep { $_->{state} eq '00000' } $ours, $plain
      and grep { $_->{state} eq '42501' && $_->{message} =~ /^permission denied for table / }
      $ours, $plain
      and grep { /pg_temp\.f/ } statements($tree);

    # The query itself calls a function with constants, which the present role may not execute. Our
    # plan depends on the role, so it is made again. The plain plan keeps the result of a call by
    # another role.
    if ("$ours->{state} $plain->{state}" eq '42501 00000')
    {
        my ($function) = $ours->{message} =~ /^permission denied for function (\w+)/;
        return
          if $function && grep { !/^REVOKE/ && /\b$function\(/ } statements($tree, 1);
    }

    # core cannot plan the plain query
    return if $ours->{state} eq '00000' && $plain->{state} =~ /^(0A000|XX000)$/;
    if ($ours->{state} ne $plain->{state})
    {
        my $detail = "$ours->{message}\n" . ($plain->{message} && "plain: $plain->{message}\n");
        return ("SQLSTATE $ours->{state}, plain $plain->{state}", $detail);
    }
    return ('warning', $complaints) if $complaints && !complaints();
    for my $n (0 .. $#{ $ours->{rows} })
    {
        my ($a, $b) = ($ours->{rows}[$n], $plain->{rows}[$n]);
        return ('rows', differing($a, $b)) if $a ne $b;
    }
    return;
}

1;
