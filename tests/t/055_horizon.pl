# ulid_ordered_horizon: whoever follows a table by it sees every row once and in order, whatever the transactions do that
# insert rows, and the clock. FUZZ_SECONDS (8) says for how long they do it.
use strict;
use warnings;
use Time::HiRes 'usleep';
use ULID;

my $seconds = $ENV{FUZZ_SECONDS} || 8;
my ($library, $wrong) = wrong_clock(-30);
my $node = do {
    local $ENV{LD_PRELOAD} = $library if $library;
    new_server('followed', conf => ['max_prepared_transactions = 50', 'restart_after_crash = on']);
};
my $sql = sub { return $node->safe_psql('postgres', @_) };
my $error = sub { my ($query) = @_; return ($node->psql('postgres', "\\set VERBOSITY verbose\n$query"))[2] };
my $directory = PostgreSQL::Test::Utils::tempdir();

#
# Many writers, and followers beside them
#

# One step of a follower reads the rows that are new, in their order, and remembers the last one.
$sql->(q{
    CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), uuid uuid UNIQUE DEFAULT gen_ordered_uuid_v7(), kind text NOT NULL);
    CREATE TABLE seen (follower text, n bigint GENERATED ALWAYS AS IDENTITY, id ulid);
    CREATE TABLE follower (name text PRIMARY KEY, last ulid NOT NULL DEFAULT '00000000000000000000000000');
    INSERT INTO follower VALUES ('plain'), ('id'), ('uuid'), ('function');
    CREATE FUNCTION follow(follower text, horizon ulid) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
        key text := CASE follower WHEN 'uuid' THEN 'uuid' ELSE 'id' END;
        ids ulid[];
    BEGIN
        EXECUTE format('SELECT array_agg(%1$I::ulid ORDER BY %1$I) FROM event, follower WHERE name = $1 AND %1$I > last::%2$s AND %1$I < $2::%2$s',
            key, CASE key WHEN 'id' THEN 'ulid' ELSE key END) INTO ids USING follower, horizon;
        INSERT INTO seen (follower, id) SELECT follow.follower, i.id FROM unnest(ids) WITH ORDINALITY AS i (id, place) ORDER BY place;
        UPDATE follower SET last = ids[cardinality(ids)] WHERE name = follow.follower AND ids IS NOT NULL;
    END $$;
    CREATE FUNCTION follow_by_function() RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
        horizon CONSTANT ulid := ulid_ordered_horizon();
    BEGIN
        PERFORM follow('function', horizon);
    END $$});
append_to_file("$directory/rows", "copied\n" x 10);
my $begin = "\\set ms random(0, 10)\nBEGIN;\n";
my $insert = "INSERT INTO event (kind) VALUES ('one');\n";
my %scripts = (
    commit => "$begin$insert\\sleep :ms ms\n${insert}COMMIT;\n",
    rollback => "$begin$insert\\sleep :ms ms\nROLLBACK;\n",
    savepoint => "$begin${insert}SAVEPOINT a;\n$insert\\sleep :ms ms\nROLLBACK TO a;\nSAVEPOINT b;\n${insert}RELEASE b;\n${insert}COMMIT;\n",
    early => "${begin}SELECT gen_ordered_ulid() AS id, gen_ordered_uuid_v7() AS uuid \\gset\n\\sleep :ms ms\n" .
        "INSERT INTO event VALUES (':id', ':uuid', 'early');\nCOMMIT;\n",
    copy => "${begin}COPY event (kind) FROM '$directory/rows';\n\\sleep :ms ms\nCOMMIT;\n",
    statement => "INSERT INTO event (kind) SELECT 'many' FROM generate_series(1, 20);\n",
    prepared => "\\set name random(1, 1000000000000)\n$begin$insert\\sleep :ms ms\nPREPARE TRANSACTION ':name';\nBEGIN;\n${insert}COMMIT;\n\\sleep 20 ms\n",
    finisher => "SELECT format('%s PREPARED %L', CASE WHEN random() < 0.2 THEN 'ROLLBACK' ELSE 'COMMIT' END, gid) FROM pg_prepared_xacts \\gexec\n" x 20,
    killer => "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim' AND random() < 0.5;\n\\sleep 50 ms\n",
    plain => "SELECT follow('plain', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ');\n",
    id => "SELECT ulid_ordered_horizon() AS horizon \\gset\nSELECT follow('id', ':horizon');\n",
    uuid => "SELECT ulid_ordered_horizon()::uuid AS horizon \\gset\nSELECT follow('uuid', ':horizon'::uuid);\n",
    function => "SELECT follow_by_function();\n",
    victim => "BEGIN;\n${insert}SELECT pg_sleep(random() * 0.05);\nCOMMIT;\n" x 20,
);
append_to_file("$directory/$_", $scripts{$_}) for keys %scripts;
my $pooler = has_program('pgbouncer') ? start_pooler($node) : undef;
my @files = map { ('-f', "$directory/$_") } qw(commit rollback savepoint early copy statement);
my %clients = (
    writers => [ '-c', 8, @files ],
    $pooler ? (pooled => [ '-h', $pooler, '-c', 4, @files ]) : (),
    prepared => [ '-c', 2, '-f', "$directory/prepared" ],
    map({ $_ => [ '-c', 1, '-f', "$directory/$_" ] } qw(killer plain id uuid function)),
);
local @ENV{qw(PGHOST PGPORT)} = ($node->host, $node->port);
my %running = map {
    $_ => IPC::Run::start([ 'pgbench', '-n', '-T', $seconds, @{ $clients{$_} }, 'postgres' ], '>', \my $output, '2>', "$directory/$_.log")
} keys %clients;
# sessions that are killed, and one that ends prepared transactions unless those who prepare them still hold them
my @loops = map { IPC::Run::start([ 'sh', '-c', "until [ -e $directory/stop ]; do PGAPPNAME=$_ psql -Xq -d postgres -f $directory/$_; done" ],
    '>', '/dev/null', '2>', '/dev/null') } qw(victim finisher);
usleep(1e6 * $seconds / 3);
append_to_file($wrong, '') if $wrong;
usleep(1e6 * $seconds / 3);
unlink($wrong) if $wrong;
for (sort keys %running) {
    ok($running{$_}->finish, "$_: no client failed") or diag(slurp_file("$directory/$_.log"));
}
append_to_file("$directory/stop", '');
$_->finish for @loops;

cmp_ok($sql->("SELECT min(n) FROM (SELECT count(*) AS n FROM seen GROUP BY follower) AS s"), '>', 100, 'the followers went on with the writers');
$sql->("COMMIT PREPARED '$_'") for split /\n/, $sql->('SELECT gid FROM pg_prepared_xacts');
my $follow = sub {
    $sql->("SELECT follow('plain', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'), follow_by_function()");
    $sql->("SELECT ulid_ordered_horizon() AS horizon \\gset\nSELECT follow('id', :'horizon'), follow('uuid', :'horizon')");
};
my $lost = sub {
    my ($follower) = @_;
    my $key = $follower eq 'uuid' ? 'uuid::ulid' : 'id';
    return $sql->("SELECT (SELECT count(*) FROM (SELECT $key FROM event EXCEPT SELECT id FROM seen WHERE follower = '$follower') AS s),
        (SELECT count(*) FILTER (WHERE id <= before) FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before FROM seen WHERE follower = '$follower') AS s)");
};
# the horizon is a whole millisecond
usleep(2000);
$follow->();
note($sql->(q{SELECT kind, count(*) FROM event GROUP BY kind ORDER BY kind}));
is($lost->($_), '0|0', "no row is lost, none comes twice, and all come in order: $_") for qw(id uuid function);
my ($missed) = split /\|/, $lost->('plain');
cmp_ok($missed, '>', 0, 'who reads all rows after the last one loses some');
note("$missed rows lost of " . $sql->('SELECT count(*) FROM event'));

#
# What holds the horizon, and what does not
#

# How far the horizon is behind the clock: which of the sessions holds it.
my $behind = sub { return $sql->('SELECT round(extract(epoch FROM clock_timestamp() - ulid_ordered_horizon()::timestamptz)) || $$s$$') };
my ($old, $new) = map { $node->background_psql('postgres', on_error_stop => 0) } 1, 2;
$old->query('BEGIN; CREATE TABLE other AS SELECT gen_ulid()');
$new->query(q{DO 'BEGIN PERFORM gen_ordered_ulid(); END'});
usleep(2_000_000);
is($behind->(), '0s', 'a transaction that writes without ordered ids does not hold the horizon, nor one that has ended');
$old->query('SAVEPOINT a; SELECT gen_ordered_ulid(); ROLLBACK TO a');
usleep(2_000_000);
is($behind->(), '2s', 'one that has made an ordered id holds it, even if that was rolled back');
$old->query("COMMIT");
is($behind->(), '0s', 'until it ends');
$sql->(q{CREATE PROCEDURE commits() LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO event (kind) VALUES ('first');
        PERFORM pg_sleep(2);
        COMMIT;
        INSERT INTO event (kind) VALUES ('second');
        PERFORM pg_advisory_lock(1);
    END $$});
$old->query('SELECT pg_advisory_lock(1)');
$new->{stdin} .= "CALL commits();\n";
$new->{run}->pump_nb;
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM event WHERE kind = 'first'}), 'a procedure commits');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}), 'and goes on');
is($sql->("SELECT id < ulid_ordered_horizon() FROM event WHERE kind = 'first'"), 't', 'its second transaction holds the horizon after its first');
$old->query('SELECT pg_advisory_unlock(1)');
$new->query('SELECT');
is($sql->(q{CREATE ROLE nobody; SET ROLE nobody; SELECT count(*) FROM ulid_ordered_horizon()}), 1, 'everybody sees the horizon');

for my $level ('REPEATABLE READ', 'SERIALIZABLE') {
    like($error->("BEGIN ISOLATION LEVEL $level; SELECT ulid_ordered_horizon()"),
        qr/ERROR:  25001: cannot use the horizon of ordered ids in a transaction with a fixed snapshot\nHINT:  Use the isolation level READ COMMITTED, and read the rows with a later statement\.\n/,
        "not in a transaction of level $level");
}

#
# A time that is moved or given up
#

$old->query('BEGIN; SELECT gen_ordered_ulid()');
$sql->(q{SELECT ulid_advance_ordered_time(ulid_upper_bound(now() + interval '1 hour'))});
is($sql->('SELECT ulid_ordered_horizon() < gen_ulid()'), 't', 'a transaction holds the horizon when the order is advanced');
$old->query('COMMIT; BEGIN; SELECT gen_ordered_ulid()');
$sql->('SELECT ulid_reset_ordered_time()');
is($sql->('SELECT ulid_ordered_horizon()'), '0' x 26, 'after a reset there is no horizon until the transactions have ended that have made ids');
$old->query("INSERT INTO event (kind) VALUES ('after the reset'); COMMIT");
is($behind->(), '0s', 'then it is that of the clock');

#
# Restarts
#

$sql->("BEGIN; INSERT INTO event (kind) VALUES ('left'); PREPARE TRANSACTION 'it''s left'");
$sql->("BEGIN; INSERT INTO other SELECT gen_ulid(); PREPARE TRANSACTION 'without'");
$follow->();
$_->quit for $old, $new;
$node->restart;
my $left = sub { return $error->('SELECT ulid_ordered_horizon()') };
like($left->(), qr/ERROR:  55000: cannot determine the horizon of ordered ids\nDETAIL:  Prepared transaction "(?:it's left|without)" is older than the last start of the server, so its ids are not known\.\nHINT:  Commit or roll back the prepared transaction\.\n/,
    'after a restart, a prepared transaction may have made any ids');
$sql->("ROLLBACK PREPARED 'without'");
like($left->(), qr/DETAIL:  Prepared transaction "it's left" /, 'each of them');
# a new one takes the place of the one that has ended
$sql->("BEGIN; INSERT INTO event (kind) VALUES ('new'); PREPARE TRANSACTION 'new'");
$sql->("COMMIT PREPARED 'it''s left'");
is($left->(), '', 'until it has ended');
is($sql->("SELECT max(id) < ulid_ordered_horizon(), max(uuid) < ulid_ordered_horizon()::uuid FROM event WHERE kind = 'left'"), 't|t', 'its row comes');
$follow->();
$sql->("COMMIT PREPARED 'new'");
$follow->();

my $killed = $node->background_psql('postgres', on_error_stop => 0);
$killed->query("BEGIN; INSERT INTO event (kind) VALUES ('killed')");
my $pid = $killed->query('SELECT pg_backend_pid()');
kill(KILL => $pid);
await('the end of the session', sub { !kill(0 => $pid) });
await('the recovery from a killed session', sub { run_log(['psql', '-Xq', '-d', 'postgres', '-c', 'SELECT']) });
eval { $killed->quit };
$sql->("INSERT INTO event (kind) VALUES ('later')");
usleep(2000);
$follow->();
is($sql->("SELECT count(*) FROM (SELECT kind FROM event EXCEPT SELECT kind FROM event JOIN seen USING (id) WHERE follower = 'id') AS s"), 0,
    'rows of before and after come');
is($lost->($_), '0|0', "no row is lost through restarts: $_") for qw(id uuid function);

#
# As many prepared transactions as can be
#

$node->append_conf('postgresql.conf', 'max_prepared_transactions = 1');
$node->restart;
my $prepare = sub { return $error->("BEGIN; INSERT INTO event (kind) VALUES ('$_[0]'); PREPARE TRANSACTION '$_[0]'") };
is($prepare->('alone'), '', 'there is room for one prepared transaction');
like($prepare->('next'), qr/ERROR:  53200: maximum number of prepared transactions reached\nHINT:  Increase "max_prepared_transactions"\.\n/,
    'not for a second one');
is($sql->("SELECT gen_ordered_ulid() > max(id) FROM event; ROLLBACK PREPARED 'alone'"), 't', 'the server goes on');
is($prepare->('next'), '', 'when the first has ended, there is room');
is($sql->("COMMIT PREPARED 'next'; SELECT kind FROM event WHERE kind IN ('alone', 'next')"), 'next', 'and its row comes');

done_testing();
