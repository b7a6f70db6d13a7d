# gen_ordered_ulid and gen_ordered_uuid_v7: one order for all sessions and databases of a server,
# preloaded or not, through restarts.
use strict;
use warnings FATAL => 'all';
use ULID;

my $node = new_server('ordered');

# Eight sessions hand over two thousand times: who has seen an id makes a greater one.
$node->safe_psql('postgres',
    'CREATE TABLE handover (n bigint GENERATED ALWAYS AS IDENTITY, session int, id ulid, uuid uuid)'
);
$node->pgbench(
    '-n -c 8 -j 2 -t 400',
    0,
    [qr{processed: 3200/3200}],
    [],
    'eight sessions make ids in turn',
    {
        handover => <<'SQL' });
SELECT pg_advisory_lock(1);
INSERT INTO handover (session, id, uuid)
    VALUES (pg_backend_pid(), gen_ordered_ulid(), gen_ordered_uuid_v7());
SELECT pg_advisory_unlock(1);
SQL
my ($handovers, $disorder) = split /\|/, $node->safe_psql('postgres', <<'SQL');
SELECT count(*) FILTER (WHERE session <> before), count(*)
    FILTER (WHERE id <= id_before OR uuid <= uuid_before)
FROM (SELECT *, lag(session) OVER w AS before, lag(id) OVER w AS id_before, lag(uuid)
    OVER w AS uuid_before FROM handover WINDOW w AS (ORDER BY n)) AS s
SQL
cmp_ok($handovers, '>=', 2000, 'they hand over two thousand times');
is($disorder, 0, 'who has seen an id makes a greater one');

$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other',    'CREATE EXTENSION ulid');
my @ids =
  map { $node->safe_psql($_, 'SELECT gen_ordered_ulid()') } qw(postgres other postgres other);
is("@ids", join(' ', sort @ids), 'two databases have one order');
$node->stop;

# Several sessions make the first call after a start at the same moment: none of them creates a
# separate word. Returns the last of their ids.
sub race
{
    my ($server, $when) = @_;
    my @printed = run_at_once($server,
        ([ 'postgres', 'SELECT gen_ordered_ulid()::uuid FROM generate_series(1, 500)' ]) x 8);

    # the first 16 digits are the time, which differs in all ids of one order
    my %times = map { substr($_, 0, 18) => 1 } map { split /\n/ } @printed;
    is(scalar keys %times, 4000, "$when: eight sessions at once have one order");
    is((grep { join("\n", sort split /\n/) . "\n" ne $_ } @printed),
        0, "$when: each of them sees its ids increase");
    return (sort map { split /\n/ } @printed)[-1];
}

my %servers;
for my $name (qw(lazy preloaded))
{
    my $server = $servers{$name} = new_server(
        "ordered_$name",
        conf => [
            'max_connections = 50',
            $name eq 'preloaded' ? "shared_preload_libraries = 'ulid'" : ()
        ]);

    # no generator is seeded in the postmaster and copied by fork: ids of one time differ only in
    # their random bits
    my @random =
      map { split /\n/ }
      run_at_once($server,
        ([ 'postgres', q{SELECT gen_ulid('2026-01-01 00:00Z') FROM generate_series(1, 20)} ]) x 8);
    is(scalar keys %{ { map { $_ => 1 } @random } },
        160, "$name: eight sessions make different ids");
    for my $mode (qw(fast immediate))
    {
        # the order continues, also through a restart if the clock goes on
        my $last = race($server, "$name, before the stop in mode $mode");
        my $uuid = $server->safe_psql('postgres', 'SELECT gen_ordered_uuid_v7()');
        $server->stop($mode);
        $server->start;
        cmp_ok($server->safe_psql('postgres', 'SELECT gen_ordered_uuid_v7()'),
            'gt', $uuid, "$name: that of the uuids continues after a stop in mode $mode");
        cmp_ok(race($server, "$name, after the stop in mode $mode"),
            'gt', $last, "$name: the order continues after a stop in mode $mode");
    }
}

# Whoever operates a server sees the time that the order has reached, continues it after an id of a
# table, and gives it up.
my $operated = $servers{lazy};
sub value { my ($sql) = @_; return $operated->safe_psql('postgres', $sql) }
value('CREATE TABLE kept AS SELECT ulid_upper_bound(now() + interval \'1 hour\') AS id');
$operated->restart;
is(value('SELECT ulid_ordered_time() IS NULL'), 't', 'after a start no time has been reached');
is(value('SELECT gen_ordered_ulid() < max(id) FROM kept'),
    't', 'and the order begins with the clock, below a table whose clock was ahead');
value('SELECT ulid_advance_ordered_time(max(id)) FROM kept');
is(value('SELECT ulid_ordered_time() - now() > interval \'59 minutes\''),
    't', 'another session sees the time that the order continues from');
cmp_ok(
    race($operated, 'while the clock is behind'),
    'gt',
    value('SELECT max(id)::uuid FROM kept'),
    'the order continues after the table');
my (undef, undef, $warnings) = $operated->psql('postgres',
    'SELECT gen_ordered_ulid() FROM generate_series(1, 3); SELECT gen_ordered_ulid();');
my $ahead = 'the id clock is more than a minute ahead of the system clock';
is(() = $warnings =~ /WARNING:  $ahead/g,
    1, 'each session is warned once');
value('SELECT ulid_reset_ordered_time()');
is(value('SELECT gen_ordered_ulid()::timestamptz <= clock_timestamp()'),
    't', 'after a reset the order is that of the clock');
race($operated, 'after a reset');

# The guard measures what is ahead from the id clock, and accepts a second. In a transaction that
# was open at a reset, it refuses every id.
my $hint = 'HINT:  Let the default of the column generate the id.';
my $another = 'psql -Xq -d "' . $operated->connstr('postgres') . '" -c';
my (undef, undef, $refused) = $operated->psql(
    'postgres', q{
    SET timezone = 'UTC';
    SET client_min_messages = error;
    CREATE TABLE guarded (id ulid DEFAULT gen_ordered_ulid(), n int);
    CREATE TRIGGER guard AFTER INSERT OR UPDATE ON guarded
        FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('id');
    BEGIN;
    SELECT ulid_advance_ordered_time(ulid_lower_bound('2100-01-01Z'), true);
    INSERT INTO guarded VALUES (DEFAULT, 1), (ulid_upper_bound('2100-01-01 00:00:01.001Z'), 1);
    SAVEPOINT s;
    INSERT INTO guarded VALUES (ulid_lower_bound('2100-01-01 00:00:01.002Z'), 2);
    ROLLBACK TO s;
    INSERT INTO guarded VALUES (ulid_upper_bound('2100-01-01 00:00:00.000Z'), 2);
    ROLLBACK TO s;
    } . "\\! $another 'SELECT ulid_reset_ordered_time()'\n" . q{
    INSERT INTO guarded VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', 3);
    ROLLBACK TO s;
    INSERT INTO guarded (n) VALUES (3);
    ROLLBACK TO s;
    UPDATE guarded SET n = n;
    COMMIT;
    INSERT INTO guarded (n) VALUES (4)},
    on_error_stop => 0);
$refused =~ s/^psql:<stdin>:\d+: //mg;
my $passed = 'ERROR:  consumers of relation "guarded" may have passed ulid';
my @reset  = (
    'DETAIL:  The id clock was reset during this transaction.',
    'HINT:  Repeat the transaction.');
my @lines = split /\n/, $refused;
is( join("\n", @lines[ 0 .. 8 ]),
    join("\n",
        'ERROR:  consumers of relation "guarded" cannot reach '
          . 'ulid "03QCPC7PZA0000000000000000" yet',
        'DETAIL:  Its time is after 2100-01-01 00:00:01.001+00, '
          . 'a second after the id clock and the system clock.',
        $hint,
        qq{$passed "03QCPC7P00ZZZZZZZZZZZZZZZZ"},
        'DETAIL:  This transaction generated its first ordered id at 2100-01-01 00:00:00.001+00.',
        $hint,
        qq{$passed "01ARYZ6S41TSV4RRFFQ69G5FAV"},
        @reset),
    'the guard measures from the id clock');
like("@lines[9 .. $#lines]", qr/^$passed "\w+" \Q@reset\E$/, 'and refuses all after a reset');
is( value('SELECT string_agg(n::text, \' \' ORDER BY n) FROM guarded'),
    '1 1 4', 'other ids pass, and the next transaction');

# What the order continues after: the millisecond of an id of either kind, whatever its fraction is.
my $ids =
  q{SELECT n, time, CASE n WHEN 1 THEN ulid_lower_bound(time) WHEN 2 THEN ulid_upper_bound(time)
      ELSE gen_uuid_v7(time)::ulid END AS id
    FROM (SELECT n, date_trunc('milliseconds', now()) + n * interval '10 minutes' AS time
        FROM generate_series(1, 3) AS n) AS s};
is( value(
        "SELECT count(*)
            FILTER (WHERE ulid_advance_ordered_time(id) >= time + interval '999 microseconds'
    AND gen_ordered_ulid() > id AND gen_ordered_uuid_v7() > id)
        FROM ($ids ORDER BY n OFFSET 0) AS i"
    ),
    3,
    'the order continues after an id of either kind');
is( value(
        q{SELECT ulid_advance_ordered_time('00000000000000000000000000') > now() + interval
            '29 minutes', ulid_advance_ordered_time(NULL) IS NULL}
    ),
    't|t',
    'it is never set back, and null does nothing');

# after one that is more than a day ahead only if that is meant
sub report
{
    my ($sql) = @_;
    return ($operated->psql('postgres', "\\set VERBOSITY verbose\n$sql"))[2];
}
my $end = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ';
my $anyway = 'HINT:  To set the id clock to it anyway, pass true as the second argument.';
like(
    report("SELECT ulid_advance_ordered_time('$end')"),
    qr/ERROR:  22023: ulid "$end" is more than a day ahead of the system clock\n\Q$anyway\E\n/,
    'an id that is more than a day ahead is refused');
is( value("SELECT ulid_advance_ordered_time('$end', true) AT TIME ZONE 'UTC'"),
    '10889-08-02 05:31:50.655999',
    'unless it is meant');
my $helps = 'HINT:  If the system clock is right, ulid_reset_ordered_time() sets the id clock back '
  . 'to it. New ordered ids are then less than those that exist.';
my $times = 'DETAIL:  A ULID holds times from 1970-01-01 00:00:00+00 '
  . 'to 10889-08-02 05:31:50.655+00.';
like(
    report("SELECT $_()"),
    qr/ERROR:  22008: id clock out of range for type ulid\n\Q$times\E\n\Q$helps\E\n/,
    "$_ has no time after the last one, and says what helps"
) for qw(gen_ordered_ulid gen_ordered_uuid_v7);
is( value('SELECT ulid_ordered_time() AT TIME ZONE \'UTC\''),
    '10889-08-02 05:31:50.655999',
    'which stays the time that is reached');
value('SELECT ulid_reset_ordered_time()');
is(value('SELECT ulid_ordered_time() IS NULL'), 't', 'after a reset no time has been reached');
value(q{SELECT ulid_advance_ordered_time(ulid_upper_bound(now() + interval '1 hour'))});
my $reached = "DETAIL:  ulid_ordered_time() returns the id clock.\n$helps";
like(
    report('SELECT gen_ordered_ulid()'),
    qr/WARNING:  01000: $ahead\n\Q$reached\E\n/,
    'the warning says what has happened, and what helps');
value('SELECT ulid_reset_ordered_time()');

# Everybody may look, and only those who are allowed to change it.
value('CREATE ROLE reader');
is(value('SET ROLE reader; SELECT count(*) FROM ulid_ordered_time()'), 1,
    'everybody sees the time');
like(
    report("SET ROLE reader; SELECT $_"),
    qr/ERROR:  42501: permission denied for function ulid_\w+_ordered_time\n/,
    "not everybody calls $_"
) for 'ulid_advance_ordered_time(gen_ulid())', 'ulid_reset_ordered_time()';
value('GRANT EXECUTE ON FUNCTION ulid_advance_ordered_time(ulid, boolean) TO reader');
is( value(
        q{SET ROLE reader;
            SELECT ulid_advance_ordered_time(gen_ulid()) <= clock_timestamp() + interval '1 ms'}
    ),
    't',
    'who is allowed to can');
value('SELECT ulid_reset_ordered_time()');

done_testing();
