# Many ids and many calls. Eight sessions generate ids at once: none comes twice, and those that
# promise an order have it. The memory of a session does not grow with its calls. EACH (50,000)
# says how many ids a session generates, CALLS (1,000,000) how many calls it makes; `make flood`
# does it with large numbers.
use strict;
use warnings FATAL => 'all';
use ULID;

my $each  = $ENV{EACH}  || 50_000;
my $calls = $ENV{CALLS} || 1_000_000;

# With unlogged tables: what is tested is not the log.
my $node = new_server(
    'flood',
    conf => [
        'shared_buffers = 2GB',
        'maintenance_work_mem = 2GB',
        'max_wal_size = 8GB',
        'checkpoint_timeout = 1h',
        'autovacuum = off'
    ]);
my $sql = sub { return $node->safe_psql('postgres', @_) };

#
# Ids of eight sessions at once
#

for my $generator (
    qw(gen_ulid() gen_monotonic_ulid() gen_ordered_ulid() gen_ordered_uuid_v7() gen_uuid_v7()))
{
    $sql->('CREATE UNLOGGED TABLE made (id ulid)');
    my $ids      = "SELECT $generator AS id FROM (SELECT generate_series(1, $each)) AS s";
    my @disorder = run_at_once(
        $node,
        (   [
                'postgres', "INSERT INTO made $ids;
        SELECT count(*)
            FROM (SELECT id <= lag(id) OVER () AS disorder FROM ($ids OFFSET 0) AS s) AS s
            WHERE disorder"
            ]) x 8);
    is(join('', @disorder),
        "0\n" x 8, "no session's ids of $generator are out of the order that it promises")
      if $generator ne 'gen_ulid()';

    # refuses an id that is there twice
    is(($node->psql('postgres', 'CREATE UNIQUE INDEX made_id ON made (id)'))[0],
        0, "no id of $generator is there twice");
    is($sql->('SELECT count(*) FROM made'), 8 * $each, "all ids of $generator are there");
    $sql->('DROP TABLE made');
}

#
# The memory of a session that calls every function
#

# The calls of every_function.sql; each argument is one that the planner does not know. No ordered
# id can follow the last time, so the server is not told to go on after it.
my @calls = grep { !/ulid_(?:advance_ordered_time|next_horizon|refresh_write)\('7Z/ } split /\n/,
  $sql->(slurp_file("$root/tests/t/data/every_function.sql"));
for (@calls)
{
    s/E?'[^']*'::[a-z_ ]*(?:\[\])?/CASE WHEN n > 0 THEN $& END/g;
    s/^SELECT (.*);$/$1/;
    s/^([a-z.]*(?:max|min))\((.*)\)$/(SELECT $1(v) FROM (VALUES ($2)) AS v (v))/;
}
cmp_ok(scalar @calls, '>', 200, 'there are many kinds of call');
is(join("\n", grep { /^not called/ } @calls), '', 'every function is called');
my $file = PostgreSQL::Test::Utils::tempdir() . '/calls';
append_to_file($file, join '', map { "$_\n" } @calls);
my $measured = $sql->(<<"SQL");
CREATE TEMP TABLE call (expression text);
\\copy call FROM '$file' (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')
-- Those that fail are slower, so there are less of them.
CREATE PROCEDURE pg_temp.make(calls bigint) LANGUAGE plpgsql AS \$\$
DECLARE
    expression text;
BEGIN
    FOR expression IN SELECT c.expression FROM call AS c LOOP
        BEGIN
            EXECUTE format('SELECT count(%s)
                FROM (SELECT generate_series(1, %s) AS n OFFSET 0) AS s', expression, calls);
        EXCEPTION WHEN data_exception OR program_limit_exceeded OR feature_not_supported
                OR object_not_in_prerequisite_state OR active_sql_transaction
                OR syntax_error_or_access_rule_violation THEN
            EXECUTE format('DO \$do\$ BEGIN FOR n IN 1 .. %s LOOP BEGIN PERFORM %s;
                EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END \$do\$',
                calls / 50, expression);
        END;
    END LOOP;
END \$\$;
SELECT pg_backend_pid() AS pid, $calls / count(*) AS calls FROM call \\gset
\\setenv PID :pid
CALL pg_temp.make(:calls / 50);
\\! grep RssAnon /proc/\$PID/status
SELECT 'contexts: ' || (sum(total_bytes) / 1024)::bigint || ' kB' FROM pg_backend_memory_contexts;
CALL pg_temp.make(:calls);
\\! grep RssAnon /proc/\$PID/status
SELECT 'contexts: ' || (sum(total_bytes) / 1024)::bigint || ' kB' FROM pg_backend_memory_contexts;
SQL

# what malloc keeps may differ
for my $kind ('RssAnon', 'contexts')
{
    my ($first, $last, @more) = $measured =~ /^$kind:\s*(\d+) kB$/mg;
    ok(defined $last && !@more, "by $kind, it is measured twice");
    cmp_ok(
        $last, '<=',
        $first + 2048,
        "by $kind, the memory of a session does not grow with its calls");
}

done_testing();
