# What the tests here share beside PostgreSQL's own framework: a server with the extension, and how
# to do without software that a machine may not have.
package ULID;
use strict;
use warnings FATAL => 'all';
use Cwd 'abs_path';
use Exporter 'import';
use File::Basename qw(basename dirname);
use File::Find 'find';
use File::Glob 'bsd_glob';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use PostgreSQL::Version;
use Test::More;
use Time::HiRes qw(time usleep);

# What a test needs of the framework comes with this.
our @EXPORT = (
    qw($root $major own_mounts new_server older_servers column_option upgraded_server
      support_functions untrusted await await_copy await_horizon start_until_lock run_at_once
      wrong_clock outbox check_outbox outbox_writer start_pooler blocks_of has_extension has_program
      needs_extension needs_program),
    @PostgreSQL::Test::Utils::EXPORT, @Test::More::EXPORT);

# The checkout, and the major version of the servers.
our $root  = abs_path(dirname(__FILE__) . '/../..');
our $major = PostgreSQL::Version->new(scalar `pg_config --version`)->major;

# Run the test again in a namespace in which it can mount file systems, if the machine permits one;
# in it, everything else is as before. Call it in BEGIN, before the framework takes the output.
# Returns whether file systems can be mounted.
sub own_mounts
{
    my @namespace = qw(unshare --user --mount --map-current-user --keep-caps);
    if (!$^C && !defined $ENV{OWN_MOUNTS})
    {
        $ENV{OWN_MOUNTS} = system("@namespace mount -t tmpfs tmpfs /tmp 2> /dev/null") == 0 ? 1 : 0;
        exec @namespace, $^X, map({ "-I$_" } @INC), $0 if $ENV{OWN_MOUNTS};
    }
    return $ENV{OWN_MOUNTS};
}

# Create a server and start it, with the extension in its database postgres. The parameters are
# those of init, and conf => [...]: lines of postgresql.conf; extension => 0: without the extension;
# path => ...: that of older_servers.
sub new_server
{
    my ($name, %params) = @_;
    my $extension = delete $params{extension} // 1;
    my $node      = _initialized_server($name, %params);
    $node->start;
    $node->safe_psql('postgres', 'CREATE EXTENSION ulid') if $extension;
    return $node;
}

sub _initialized_server
{
    my ($name, %params) = @_;
    my $conf = delete $params{conf} // [];
    my $path = delete $params{path};
    my $node = PostgreSQL::Test::Cluster->new($name, $path ? (install_path => $path) : ());
    # without `extra`, init copies the template
    $params{extra} = [ '--encoding=UTF8', '--no-locale', @{ $params{extra} // [] } ]
      if $path || $params{extra} || !$ENV{INITDB_TEMPLATE};
    # The framework of 15 and 16 knows no template: it copies this one where it would run initdb.
    my $run = \&PostgreSQL::Test::Utils::system_or_bail;
    no warnings 'redefine';
    local *PostgreSQL::Test::Utils::system_or_bail = sub {
        my ($program, undef, $data_dir) = @_;
        $run->($program eq 'initdb' ? ('cp', '-RPp', $ENV{INITDB_TEMPLATE}, $data_dir) : @_);
      }
      if $major < 17 && !$params{extra};
    $node->init(%params);
    $node->append_conf(
        'postgresql.conf', join "\n",
        "timezone = 'UTC'",
        'log_statement = none',
        # for wait_for_catchup: what an idle standby has replayed is known within a second, not ten
        'wal_receiver_status_interval = 1s',
        @$conf);
    return $node;
}

# Those of the servers that OLDER names that have an older version, and also the extensions that are
# named, the newest first: the name of each, its major version, and the path of its installation.
sub older_servers
{
    my @extensions = ('ulid', @_);
    my %named      = map { $_ => 1 } split ' ', $ENV{OLDER} // '';
    my @servers;
    for my $bin (bsd_glob(($ENV{WORK} // '') . '/*/bin'))
    {
        my $name = basename(dirname($bin));
        next if !$named{$name} || $name !~ /^(\d+)/ || $1 >= $major || !-x "$bin/postgres";
        my $version = $1;
        chomp(my $share = `'$bin/pg_config' --sharedir`);
        next if grep { !-e "$share/extension/$_.control" } @extensions;
        push @servers, { name => $name, major => $version, path => dirname(abs_path($bin)) };
    }
    return sort { $b->{major} <=> $a->{major} || $a->{name} cmp $b->{name} } @servers;
}

# The option that a server gives each plain column, if the server of pg_config does not know it; or
# nothing. The minor releases of November 2026 have one, pg_attver, so they can be upgraded only to
# one of these or a later one.
sub column_option
{
    my ($node) = @_;
    chomp(my $bin = `pg_config --bindir`);
    return '' if system('grep', '-q', 'pg_attver', "$bin/postgres") == 0;
    return $node->safe_psql(
        'postgres', q{CREATE TEMP TABLE plain (n int);
        SELECT attoptions FROM pg_attribute WHERE attrelid = 'plain'::regclass AND attnum = 1});
}

# Stop a server of an older version, and run pg_upgrade from it to a new one. Returns the new one,
# which is not started.
sub upgraded_server
{
    my ($old, $name, $what) = @_;
    my $checksums = $old->safe_psql('postgres', 'SHOW data_checksums');
    $old->stop;
    chdir $PostgreSQL::Test::Utils::tmp_check;    # where it leaves scripts
        # both must have checksums or neither; they are the default since 18
    my $new = _initialized_server($name,
        extra => [ $major >= 18 && $checksums eq 'off' ? '--no-data-checksums' : () ]);
    ok( run_log(
            [
                'pg_upgrade',                  '-b', $old->config_data('--bindir'), '-B',
                $new->config_data('--bindir'), '-d', $old->data_dir,                '-D',
                $new->data_dir,                '-s', $new->host,                    '-p',
                $old->port,                    '-P', $new->port
            ]),
        "$what: pg_upgrade succeeds")
      or do
    {
        find({ no_chdir => 1, wanted => sub { diag("$_:\n", slurp_file($_)) if /\.log$/ } },
            $new->data_dir);
        die 'there is no server to check';
    };
    return $new;
}

# A query for the support functions that the operator families have for a type.
sub support_functions
{
    my ($type) = @_;
    return
      "SELECT string_agg(format('%s %s', amname, amprocnum), ', ' ORDER BY amname, amprocnum)
          FROM pg_amproc
        JOIN pg_opfamily AS f ON f.oid = amprocfamily JOIN pg_am AS am ON am.oid = opfmethod
            WHERE amproclefttype = '$type'::regtype";
}

# What a role that nobody trusts may have for whoever reads its tables: expressions that fail for
# all others.
sub untrusted
{
    return q{
        CREATE ROLE other;
        GRANT CREATE ON SCHEMA public TO other;
        SET ROLE other;
        CREATE FUNCTION runs_as() RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
            IF current_user <> 'other' THEN RAISE 'run as %', current_user; END IF;
            RETURN ''; END $$;
        CREATE TABLE planned (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
        CREATE INDEX ON planned ((runs_as() || id::text));
        CREATE VIEW viewed AS SELECT id FROM planned WHERE runs_as() = '';
        ALTER VIEW viewed ALTER id SET DEFAULT gen_ordered_ulid()};
}

# Wait until something is true; the framework waits for queries and lines of logs only.
sub await
{
    my ($what, $holds) = @_;
    my $until = time + $PostgreSQL::Test::Utils::timeout_default;
    until ($holds->())
    {
        die "never came: $what" if time > $until;
        usleep(50_000);
    }
    return;
}

# Wait until a subscriber has all tables. wait_for_subscription_sync() is content with "s", when the
# apply worker can be behind the copy.
sub await_copy
{
    my ($subscriber) = @_;
    $subscriber->poll_query_until('postgres',
        "SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel")
      || die 'the initial copy does not end';
    return;
}

# Refresh the horizon of a database until it is greater than an id, so that consumers read its row.
sub await_horizon
{
    my ($node, $id, $database) = @_;
    my $query = "CALL ulid_refresh_horizon(); SELECT '$id' < ulid_current_horizon()";
    await("a horizon after $id",
        sub { $node->safe_psql($database // 'postgres', $query) eq 't' });
    return;
}

# Start statements in a session in the background, and wait until they wait for a lock. Returns what
# waits for their end, and returns their output.
sub start_until_lock
{
    my ($node, $session, $statements) = @_;
    my $pid = $session->query('SELECT pg_backend_pid()');
    $session->query_until(qr/begun/, "\\echo begun\n$statements\n");
    my $query = "SELECT wait_event_type FROM pg_stat_activity WHERE pid = $pid";
    await('a session that waits for a lock',
        sub { $node->safe_psql('postgres', $query) eq 'Lock' });
    return sub { return $session->query('SELECT') };
}

# Run scripts of SQL at the same time, each in a session of its own: pairs of a database and a
# script. Returns what each of them prints.
sub run_at_once
{
    my ($node, @scripts) = @_;
    my $directory = PostgreSQL::Test::Utils::tempdir('run_at_once');
    my @sessions  = map {
        my ($database, $script) = @{ $scripts[$_] };
        append_to_file("$directory/$_.sql", $script);
        IPC::Run::start(
            [
                'psql', '-XAtq',                   '-v', 'ON_ERROR_STOP=1',
                '-d',   $node->connstr($database), '-f', "$directory/$_.sql"
            ],
            '>',
            "$directory/$_.out");
    } 0 .. $#scripts;
    $_->finish or die 'a session failed' for @sessions;
    return map { slurp_file("$directory/$_.out") } 0 .. $#scripts;
}

# A library that makes the clock of whoever preloads it read that many seconds later, as long as a
# file is there, and the file. The number is an expression in C, in which `reads` is a variable of
# the process. Nothing if there is no compiler.
sub wrong_clock
{
    my ($seconds) = @_;
    return if !has_program('cc');
    my $directory = PostgreSQL::Test::Utils::tempdir();
    append_to_file("$directory/clock.c", <<'C');
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int reads;

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME && access(SWITCH, F_OK) == 0) now->tv_sec += SECONDS;
    return result;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec time;
    (void) zone;
    clock_gettime(CLOCK_REALTIME, &time);
    *now = (struct timeval) {time.tv_sec, time.tv_nsec / 1000};
    return 0;
}
C
    system_or_bail('cc', '-shared', '-fPIC', "-DSECONDS=($seconds)",
        "-DSWITCH=\"$directory/wrong\"",
        '-o', "$directory/clock.so", "$directory/clock.c");
    return ("$directory/clock.so", "$directory/wrong");
}

# The table and the consumer in SQL of docs/consumers.md, for ids of a type. The table `seen` has
# what the consumer has read, in that order.
sub outbox
{
    my ($type) = @_;
    my $sql = join "\n", map { blocks_of('consumers.md', 'sql', $_) } 'Create a consumer', 'SQL';
    $sql =~ s/\bulid\b/$type/g;
    return $sql . q{
        CREATE TABLE seen (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id uuid);
        CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN INSERT INTO seen (id) VALUES (NEW.id); RETURN NEW; END';
        CREATE TRIGGER see BEFORE INSERT ON mail FOR EACH ROW EXECUTE FUNCTION see()};
}

# The script of pgbench for a writer of that table, in a file of this directory.
sub outbox_writer
{
    my ($directory) = @_;
    append_to_file("$directory/writer", <<'SQL');
\set ms random(0, 10)
BEGIN;
INSERT INTO outbox (message) VALUES ('one');
\sleep :ms ms
INSERT INTO outbox (message) VALUES ('two');
COMMIT;
INSERT INTO outbox (message) SELECT 'three' FROM generate_series(1, 3);
BEGIN;
INSERT INTO outbox (message) VALUES ('never');
ROLLBACK;
SQL
    return "$directory/writer";
}

# Wait until that consumer has read the last row, and check that it has read each once, and in
# order; or, if so many are lost, that the check sees these.
sub check_outbox
{
    my ($node, $database, $what, $lost) = (@_, 0);
    $node->poll_query_until($database,
        'SELECT position > (SELECT id FROM outbox ORDER BY id DESC LIMIT 1) FROM ulid_consumer')
      or die "$what: the consumer does not read the last row";
    my ($rows, $missing, $again) = split /\|/, $node->safe_psql(
        $database, q{
        SELECT (SELECT count(*) FROM outbox),
            (SELECT count(*) FROM outbox WHERE id::uuid NOT IN (SELECT id FROM seen)),
            count(*) FILTER (WHERE id <= before)
        FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before FROM seen) AS s});
    is($again, 0, "$what: of $rows rows, none comes twice, and all come in order");
    return cmp_ok($missing, $lost ? '>=' : '==', $lost, "$what: $missing are lost");
}

# Start pgbouncer in transaction mode before a server, until the test ends, and return the directory
# of its socket.
my @poolers;

sub start_pooler
{
    my ($node) = @_;
    my $pooler = PostgreSQL::Test::Utils::tempdir_short();
    my ($user, $host, $port) =
      ($node->safe_psql('postgres', 'SELECT current_user'), $node->host, $node->port);
    append_to_file("$pooler/ini", <<"INI");
[databases]
* = host=$host port=$port user=$user
[pgbouncer]
listen_addr =
unix_socket_dir = $pooler
listen_port = $port
auth_type = any
pool_mode = transaction
default_pool_size = 2
pidfile = $pooler/pid
logfile = $pooler/log
INI
    system_or_bail('pgbouncer', '-q', '-d', "$pooler/ini");
    push @poolers, "$pooler/pid";

    # it goes to the background before it listens
    await(
        'an answer of pgbouncer',
        sub {
            run_log([ 'psql', '-X', '-h', $pooler, '-p', $port, '-d', 'postgres', '-c', 'SELECT' ]);
        });
    return $pooler;
}

END
{
    kill('TERM', slurp_file($_)) for grep { -e } @poolers;
}

# What a reader of a page in docs/ runs: the blocks of a language in one of its sections, or in the
# part of the section that begins with words in bold.
sub blocks_of
{
    my ($page, $language, $section, $part) = @_;
    my ($text) = slurp_file("$root/docs/$page") =~ /^#{1,3} \Q$section\E\n(.*?)(?=^##|\z)/ms
      or die "$page has no section $section";
    ($text) = $text =~ /^(\*\*\Q$part\E.*?)(?=^\*\*|\z)/ms
      or die "$section has no part $part"
      if $part;
    my @blocks;
    push @blocks, $2 =~ s/^$1//gmr while $text =~ /^( *)```$language\n(.*?)^\1```$/msg;
    return @blocks;
}

# Whether the servers have another extension.
sub has_extension
{
    my ($name) = @_;
    chomp(my $directory = `pg_config --sharedir`);
    return -e "$directory/extension/$name.control";
}

# Whether there is a program of that name in PATH.
sub has_program
{
    my ($name) = @_;
    return grep { -x "$_/$name" } split /:/, $ENV{PATH};
}

# Skip the whole test unless the servers have these extensions.
sub needs_extension
{
    has_extension($_) or plan(skip_all => "no extension $_") for @_;
    return;
}

# Skip the whole test unless there are these programs.
sub needs_program
{
    has_program($_) or plan(skip_all => "no program $_") for @_;
    return;
}

1;
