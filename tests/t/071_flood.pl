# Many ids and many calls. Eight sessions generate ids at once: none comes twice, and those that promise an order have it.
# The memory of a session does not grow with its calls. EACH (100,000) says how many ids a session generates, CALLS
# (1,000,000) how many calls it makes; with KEYS, tables of so many rows are filled with several kinds of key. `make flood`
# does it with large numbers.
use strict;
use warnings;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

my $each = $ENV{EACH} || 100_000;
my $calls = $ENV{CALLS} || 1_000_000;
my $keys = $ENV{KEYS} || 0;
# With unlogged tables: what is tested is not the log.
my $node = new_server('flood', conf => ['shared_buffers = 2GB', 'maintenance_work_mem = 2GB', 'max_wal_size = 8GB',
    'checkpoint_timeout = 1h', 'autovacuum = off']);
my $sql = sub { return $node->safe_psql('postgres', @_) };

#
# Ids of eight sessions at once
#

for my $generator (qw(gen_ulid() gen_monotonic_ulid() gen_ordered_ulid() gen_ordered_uuid_v7() gen_uuid_v7())) {
    my $begun = time;
    $sql->('CREATE UNLOGGED TABLE made (id ulid)');
    my $ids = "SELECT $generator AS id FROM (SELECT generate_series(1, $each)) AS s";
    my $ordered = $generator ne 'gen_ulid()';
    my $disorder = "SELECT count(*) FROM (SELECT id <= lag(id) OVER () AS disorder FROM ($ids OFFSET 0) AS s) AS s WHERE disorder";
    my @out = ('') x 8;
    my @sessions = map {
        IPC::Run::start(['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-c', "INSERT INTO made $ids", '-c', $ordered ? $disorder : ''], '>', \$out[$_])
    } 0 .. 7;
    my @failed = grep { !$_->finish } @sessions;
    is(scalar @failed, 0, "eight sessions call $generator $each times each");
    is(join('', @out), "0\n" x 8, "no session's ids of $generator are out of the order that it promises") if $ordered;
    # refuses an id that is there twice
    my ($status) = $node->psql('postgres', 'CREATE UNIQUE INDEX made_id ON made (id)');
    is($status, 0, "no id of $generator is there twice");
    is($sql->('SELECT count(*) FROM made'), 8 * $each, "all ids of $generator are there");
    note("$generator: ", time - $begun, ' s');
    $sql->('DROP TABLE made');
}

#
# The memory of a session that calls every function
#

# The calls of every_function.sql; each argument is one that the planner does not know. No ordered id can follow the last time,
# so the server is not told to go on after it.
my @calls = grep { !/ulid_advance_ordered_time\('7Z/ } split /\n/, $sql->(slurp_file("$root/tests/t/every_function.sql"));
for (@calls) {
    s/E?'[^']*'::[a-z_ ]*/CASE WHEN n > 0 THEN $& END/g;
    s/^SELECT (.*);$/$1/;
    s/^([a-z.]*(?:max|min))\((.*)\)$/(SELECT $1(v) FROM (VALUES ($2)) AS v (v))/;
}
cmp_ok(scalar @calls, '>', 200, 'there are many kinds of call');
my $file = PostgreSQL::Test::Utils::tempdir() . '/calls';
append_to_file($file, join '', map { "$_\n" } @calls);
my $measured = $sql->(<<"SQL");
CREATE TEMP TABLE call (n int GENERATED ALWAYS AS IDENTITY, expression text, fails bool);
\\copy call (expression) FROM '$file' (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')
CREATE FUNCTION pg_temp.fails(expression text) RETURNS boolean LANGUAGE plpgsql AS \$\$
BEGIN
    EXECUTE format('SELECT count(%s) FROM generate_series(1, 1) AS n', expression);
    RETURN false;
EXCEPTION
    WHEN syntax_error_or_access_rule_violation THEN RAISE;
    WHEN OTHERS THEN RETURN true;
END \$\$;
UPDATE call SET fails = pg_temp.fails(expression);
-- Those that fail are slower, so there are less of them.
CREATE PROCEDURE pg_temp.make(calls bigint) LANGUAGE plpgsql AS \$\$
DECLARE
    row record;
BEGIN
    FOR row IN SELECT expression, fails FROM call ORDER BY call.n LOOP
        IF row.fails THEN
            EXECUTE format('DO \$do\$ BEGIN FOR n IN 1 .. %s LOOP BEGIN PERFORM %s; EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END \$do\$', calls / 50, row.expression);
        ELSE
            EXECUTE format('SELECT count(%s) FROM (SELECT generate_series(1, %s) AS n OFFSET 0) AS s', row.expression, calls);
        END IF;
    END LOOP;
END \$\$;
SELECT pg_backend_pid() AS pid, $calls / count(*) FILTER (WHERE NOT fails) AS calls FROM call \\gset
\\setenv PID :pid
CALL pg_temp.make(:calls / 100);
CALL pg_temp.make(:calls / 100);
\\! grep RssAnon /proc/\$PID/status
SELECT 'contexts: ' || (sum(total_bytes) / 1024)::bigint || ' kB' FROM pg_backend_memory_contexts;
CALL pg_temp.make(:calls);
\\! grep RssAnon /proc/\$PID/status
SELECT 'contexts: ' || (sum(total_bytes) / 1024)::bigint || ' kB' FROM pg_backend_memory_contexts;
SELECT count(*) FILTER (WHERE fails) || ' kinds of call fail, ' || count(*) FILTER (WHERE NOT fails) * :calls || ' calls succeeded' FROM call;
SQL
note($measured);
# what malloc keeps may differ
for my $kind ('RssAnon', 'contexts') {
    my ($first, $last, @more) = $measured =~ /^$kind:\s*(\d+) kB$/mg;
    ok(defined $last && !@more, "by $kind, it is measured twice");
    cmp_ok($last, '<=', $first + 1024, "by $kind, the memory of a session does not grow with its calls");
}

#
# Large tables
#

# Note the processor time of the session that makes the rows, and how large the table and the index are.
sub fill {
    my ($type, $value) = @_;
    my $filled = $sql->(<<"SQL");
CREATE UNLOGGED TABLE keyed (id $type PRIMARY KEY);
SELECT pg_backend_pid() AS pid \\gset
\\setenv PID :pid
INSERT INTO keyed SELECT $value FROM (SELECT generate_series(1, $keys)) AS s;
SELECT round(pg_relation_size('keyed') / $keys.0, 1) || ' bytes per row in the table, '
    || round(pg_relation_size('keyed_pkey') / $keys.0, 1) || ' in the index, seconds of processor time: ' AS filled \\gset
\\echo -n :filled
\\! awk -v ticks="\$(getconf CLK_TCK)" '{ print (\$14 + \$15) / ticks }' /proc/\$PID/stat
SQL
    is($sql->('SELECT count(*) FROM keyed'), $keys, "$keys rows have a primary key of $value");
    note("$type, $value: $filled");
    $sql->('DROP TABLE keyed');
    return;
}
if ($keys) {
    fill('ulid', $_) for qw(gen_ordered_ulid() gen_monotonic_ulid() gen_ulid());
    fill('uuid', 'uuidv7()') if $major >= 18;
    fill('uuid', 'gen_random_uuid()');
}

done_testing();
