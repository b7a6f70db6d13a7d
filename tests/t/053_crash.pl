# A server that is killed while eight clients write. After each recovery every acknowledged row is there, no id comes
# twice, the indexes agree with the table, and gen_ordered_ulid goes on. In the end a streaming standby and a logical
# subscriber are equal to the server, and the standby takes over; and a server whose disk is full loses nothing. ROUNDS (5)
# is how often the server is killed; `make crash` does it more often.
use strict;
use warnings;
use POSIX ();
use File::Glob ':bsd_glob';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes 'time';
use ULID;

BEGIN { own_mounts() }

my $rounds = $ENV{ROUNDS} || 5;
my $notes = PostgreSQL::Test::Utils::tempdir();
my %acknowledged;                          # the ids

# Start a server that was killed. It refuses as long as a process of the killed one is left; the framework then takes the
# old postmaster for a running one.
sub start_killed {
    my ($node) = @_;
    await('the start of ' . $node->name, sub { $node->start(fail_ok => 1) or do { $node->kill9; 0 } });
    return;
}

#
# Eight clients
#

my @DIGITS = (0 .. 9, grep { !/[ILOU]/ } 'A' .. 'Z');

# The text of a ulid, made by the client.
sub new_id {
    my ($ms, $id) = (int(time * 1000), '');
    for (1 .. 10) { $id = $DIGITS[$ms & 31] . $id; $ms >>= 5 }
    return $id . join '', map { $DIGITS[rand 32] } 1 .. 16;
}

# The statements that each client repeats, for psql. A row that psql prints is acknowledged, as the end of a result is sent
# after the commit.
my %statement = (
    ulid => sub { "INSERT INTO event (writer) VALUES ('ulid') RETURNING id;\n" },
    monotonic => sub { "INSERT INTO event (writer, id) SELECT 'monotonic', gen_monotonic_ulid() FROM generate_series(1, 3) RETURNING id;\n" },
    ordered => sub { "INSERT INTO event (writer, id) SELECT 'ordered', gen_ordered_ulid() RETURNING id;\n" },
    ordered_too => sub { "INSERT INTO event (writer, id) SELECT 'ordered_too', gen_ordered_ulid() FROM generate_series(1, 5) RETURNING id;\n" },
    v7_ordered => sub { "INSERT INTO event (writer, id) SELECT 'v7_ordered', gen_ordered_uuid_v7() FROM generate_series(1, 5) RETURNING id;\n" },
    uuid_v7 => sub { "INSERT INTO event (writer, id) SELECT 'uuid_v7', gen_uuid_v7() RETURNING id;\n" },
    # one transaction: an older row is changed, with new entries in all indexes, and one is added
    updated => sub { "UPDATE event SET changes = changes + 1 WHERE id = (SELECT max(id) FROM event WHERE writer = 'updated') \\; "
        . "INSERT INTO event (writer, id) SELECT 'updated', gen_ulid() RETURNING id;\n" },
    given => sub { "INSERT INTO event (writer, id) VALUES ('given', '" . new_id() . "') RETURNING id;\n" },
    copied => sub { my @ids = map { new_id() } 1 .. 20; join '', "COPY event (writer, id) FROM stdin;\n", map({ "copied\t$_\n" } @ids), "\\.\n\\echo @ids\n" },
);
my %pid;

# Start the clients of a server. Each ends with its connection.
sub start_writers {
    my ($node) = @_;
    for my $writer (sort keys %statement) {
        append_to_file("$notes/$_.$writer", '') for qw(noted error);
        $pid{$writer} = fork // die "fork: $!";
        next if $pid{$writer};
        open STDOUT, '>', "$notes/noted.$writer" or die;
        open STDERR, '>', "$notes/error.$writer" or die;
        $ENV{PGAPPNAME} = 'writer';
        srand;
        open my $psql, '|-', 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres') or die;
        while (print {$psql} $statement{$writer}->()) { }
        close $psql;
        POSIX::_exit(0);
    }
    return;
}

# The ids that a client has noted. The last may be half written as long as the client runs.
sub noted { my ($writer) = @_; return split ' ', slurp_file("$notes/noted.$writer") }

# Wait until the clients have ended, and take what they noted. An error other than the one given is a failure.
my %last;                                  # id of the clients that promise an order
sub end_writers {
    my ($what, $expected) = @_;
    my (@errors, @disorder, @twice);
    for my $writer (sort keys %statement) {
        waitpid $pid{$writer}, 0;
        push @errors, grep { /ERROR:/ && !(defined $expected && /$expected/) } split /\n/, slurp_file("$notes/error.$writer");
        my @ids = noted($writer);
        push @twice, grep { $acknowledged{$_}++ } @ids;
        next if $writer !~ /ordered|monotonic/;
        # that of gen_ordered_ulid also from round to round
        unshift @ids, $last{$writer} if $writer =~ /ordered/ && defined $last{$writer};
        push @disorder, map { "$writer: $ids[$_ - 1] before $ids[$_]" } grep { $ids[$_ - 1] ge $ids[$_] } 1 .. $#ids;
        $last{$writer} = $ids[-1] if @ids;
    }
    is(join("\n", @errors), '', "$what: the clients got no error but the end of the connection");
    is(join("\n", @twice), '', "$what: no id was acknowledged twice");
    is(join("\n", @disorder), '', "$what: each client's ids of the generators with an order increased");
    return;
}

# Start the clients, do something to the server as soon as each has noted some ids, and wait until they have ended.
sub while_writing {
    my ($node, $what, $strike) = @_;
    my $least = 20 + int rand 100;
    unlink bsd_glob "$notes/{noted,error}.*";
    start_writers($node);
    await("$least ids of each client", sub { !grep { scalar(my @ids = noted($_)) < $least } keys %statement });
    $strike->();
    end_writers($what);
    return;
}

#
# Checks
#

my $amcheck = has_extension('amcheck');

sub create_table {
    my ($node) = @_;
    $node->safe_psql('postgres', q{
        CREATE TABLE event (
            id ulid PRIMARY KEY DEFAULT gen_ulid(),
            writer text,
            changes int DEFAULT 0,
            made timestamptz GENERATED ALWAYS AS (ulid_extract_timestamp(id)) STORED
        );
        CREATE INDEX event_writer ON event (writer, id, changes);
        CREATE INDEX event_made ON event (made);
        CREATE INDEX event_window ON event (id) WHERE id <@ tstzrange('2020-01-01 00:00+00', '2100-01-01 00:00+00');
        CREATE INDEX event_hash ON event USING hash (id);
        CREATE INDEX event_brin ON event USING brin (id)});
    return;
}

# Compare the acknowledged ids with the stored ones, and the indexes with the table, the btree ones by a function of amcheck.
my $stored;
sub check {
    my ($node, $what, $function) = @_;
    my $file = "$notes/stored";
    $node->safe_psql('postgres', "\\copy (SELECT id FROM event) TO '$file'");
    my (%times, @twice);
    open my $in, '<', $file or die "$file: $!";
    while (<$in>) { chomp; push @twice, $_ if $times{$_}++ }
    $stored = keys %times;
    is(join("\n", @twice), '', "$what: no id is stored twice");
    my @missing = grep { !$times{$_} } keys %acknowledged;
    is(join("\n", @missing), '', "$what: every acknowledged row is there");
    is($node->safe_psql('postgres', "SELECT gen_ordered_ulid() > max(id) FROM event WHERE writer LIKE 'ordered%'"), 't', "$what: gen_ordered_ulid goes on");
  SKIP: {
        skip('no extension amcheck', 2) if !$amcheck;
        my $checked = $node->safe_psql('postgres', "SELECT count($function(indexrelid, true)) FROM pg_index JOIN pg_class ON oid = indexrelid
            WHERE indrelid = 'event'::regclass AND relam = (SELECT oid FROM pg_am WHERE amname = 'btree')");
        is($checked, 4, "$what: amcheck finds the btree indexes complete");
        is($node->safe_psql('postgres', "SELECT * FROM verify_heapam('event')"), '', "$what: amcheck finds the table sound");
    }
    return;
}

# Compare the hash and the BRIN index with the table: without the others the planner takes them.
sub check_other_indexes {
    my ($node, $what) = @_;
    my ($rows, $by_brin, $not_by_hash, $plans) = split /\n/, $node->safe_psql('postgres', q{
        SELECT count(*) FROM event;
        BEGIN;
        CREATE TEMP TABLE sample ON COMMIT DROP AS SELECT id FROM event ORDER BY random() LIMIT 2000;
        ALTER TABLE event DROP CONSTRAINT event_pkey;
        DROP INDEX event_writer, event_made, event_window;
        SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
        SELECT count(*) FROM event WHERE id <@ tstzrange('2020-01-01', NULL);
        SELECT (SELECT count(*) FROM sample) - count(*) FROM sample JOIN event USING (id);
        EXPLAIN SELECT FROM event WHERE id <@ tstzrange('2020-01-01', NULL);
        EXPLAIN SELECT FROM sample JOIN event USING (id);
        ROLLBACK}), 4;
    is($by_brin, $rows, "$what: the BRIN index finds every row");
    is($not_by_hash, 0, "$what: the hash index finds every row");
    like($plans, qr/event_brin.*event_hash/s, "$what: these two were used");
    return;
}

# The table as bytes, in a file.
sub content {
    my ($node) = @_;
    my $file = "$notes/content." . $node->name;
    $node->safe_psql('postgres', "\\copy (SELECT * FROM event ORDER BY id) TO '$file' (FORMAT binary)");
    return $file;
}

# Check that the server did not crash by itself.
sub check_log {
    my ($node) = @_;
    my @crashes = slurp_file($node->logfile) =~ /^.*(?:TRAP:|PANIC:|terminated by signal (?:[0-8]|1[0-9])\b).*$/mg;
    is(join("\n", @crashes), '', 'the ' . $node->name . ' did not crash by itself');
    return;
}

#
# The server, its standby and its subscriber
#

my @conf = ('max_connections = 50', 'shared_buffers = 128MB', 'max_wal_size = 64MB', 'checkpoint_timeout = 30s', 'restart_after_crash = on');
my $primary = new_server('primary', allows_streaming => 'logical', conf => \@conf);
create_table($primary);
$primary->safe_psql('postgres', 'CREATE EXTENSION amcheck') if $amcheck;
$primary->safe_psql('postgres', 'CREATE PUBLICATION event FOR TABLE event');
$primary->backup('copy', backup_options => ['--create-slot', '--slot=standby']);
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'copy', has_streaming => 1);
$standby->append_conf('postgresql.conf', "primary_slot_name = 'standby'");
$standby->start;
my $subscriber = new_server('subscriber', allows_streaming => 'logical', conf => \@conf);
create_table($subscriber);
$subscriber->safe_psql('postgres', 'CREATE SUBSCRIPTION event CONNECTION $$' . $primary->connstr('postgres') . '$$ PUBLICATION event');
# before its first copy is complete it stores nothing else, and each kill would interrupt that copy
$subscriber->wait_for_subscription_sync($primary, 'event');

my @kinds = (
    ['all servers killed', sub { $_->kill9 for $standby, $subscriber, $primary }, sub { start_killed($_) for $subscriber, $standby, $primary }],
    ['postmaster killed', sub { $primary->kill9 }, sub { start_killed($primary) }],
    # the postmaster ends the other sessions, and recovers
    ['backend killed', sub { kill 'KILL', $primary->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE application_name = 'writer' ORDER BY random() LIMIT 1") },
        sub { $primary->poll_query_until('postgres', undef, '') or die 'no recovery' }],
    ['stopped immediately', sub { $primary->stop('immediate') }, sub { $primary->start }],
);
for my $round (1 .. $rounds) {
    my ($kind, $strike, $recover) = @{ $kinds[$round % 4] };
    my $what = "round $round, $kind";
    while_writing($primary, $what, $strike);
    $recover->();
    check($primary, $what, 'bt_index_parent_check');
    check_other_indexes($primary, $what);
    note("$what: ", scalar(keys %acknowledged), " rows acknowledged, $stored stored");
}

$primary->wait_for_catchup('event');
$primary->wait_for_catchup($standby);
my $content = content($primary);
ok(run_log(['cmp', $content, content($subscriber)]), 'the subscriber is equal to the server');
check_other_indexes($subscriber, 'the subscriber');
ok(run_log(['cmp', $content, content($standby)]), 'the standby is equal to the server');
check($standby, 'the standby', 'bt_index_check');

# The server is killed and the standby, which is synchronous now, takes over.
$primary->append_conf('postgresql.conf', "synchronous_standby_names = 'standby'");
$primary->reload;
$primary->poll_query_until('postgres', "SELECT sync_state FROM pg_stat_replication WHERE application_name = 'standby'", 'sync') or die 'not synchronous';
while_writing($primary, 'with a synchronous standby', sub { $primary->kill9 });
$standby->promote;
check_log($primary);
check($standby, 'after promotion', 'bt_index_parent_check');
check_other_indexes($standby, 'after promotion');
$subscriber->stop;
while_writing($standby, 'the promoted standby, stopped', sub { $standby->stop });  # which is a server like another
$standby->start;
check($standby, 'the promoted standby, started again', 'bt_index_parent_check');
check_log($standby);
check_log($subscriber);
$standby->stop;
start_killed($primary);                    # it removes the shared memory that it left
$primary->stop;
note("$rounds rounds: ", scalar(keys %acknowledged), " rows acknowledged, none missing; $stored stored, none twice");

#
# A full disk
#

SKIP: {
    skip('no file system can be mounted', 1) if !own_mounts();
    my $full = PostgreSQL::Test::Cluster->new('full');
    my $volume = $full->basedir;
    system_or_bail('mount', '-t', 'tmpfs', '-o', 'size=200m', 'tmpfs', $volume);
    $full->init(extra => ['--encoding=UTF8', '--no-locale']);
    $full->append_conf('postgresql.conf', "max_wal_size = 64MB\nlog_statement = none");
    $full->start;
    $full->safe_psql('postgres', 'CREATE EXTENSION ulid');
    create_table($full);
    $full->safe_psql('postgres', 'CREATE EXTENSION amcheck') if $amcheck;
    (%acknowledged, %last) = ();
    # all but a few megabytes
    my ($free) = `df --output=avail -k '$volume'` =~ /(\d+)\s*$/;
    system_or_bail('dd', 'if=/dev/zero', "of=$volume/ballast", 'bs=1K', 'count=' . ($free - 16384), 'status=none');
    unlink bsd_glob "$notes/{noted,error}.*";
    start_writers($full);
    end_writers('disk full', qr/No space left on device/);
    like(join('', map { slurp_file($_) } bsd_glob "$notes/error.*"), qr/No space left on device|server closed the connection/, 'the disk is full, and clients notice');
    unlink "$volume/ballast";
    $full->stop('immediate', fail_ok => 1) or $full->kill9;  # as far as it did not end by itself
    start_killed($full);
    check($full, 'after a full disk', 'bt_index_parent_check');
    check_other_indexes($full, 'after a full disk');
    note(scalar(keys %acknowledged), ' rows acknowledged, none missing');
    $full->stop;
    # the server removes its pid file before it ends
    await('the volume is no longer used', sub { return system("umount '$volume' 2> /dev/null") == 0 });
}

done_testing();
