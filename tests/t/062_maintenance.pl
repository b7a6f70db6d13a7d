# pg_repack of a table that is written to, and the hypothetical indexes of hypopg.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

my $node = new_server('maintenance');
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ulid(), n int);
INSERT INTO event (n) SELECT n FROM generate_series(1, 50000) AS n;
DELETE FROM event WHERE n % 2 = 0;
SQL

SKIP: {
    skip 'no pg_repack', 7 if !has_extension('pg_repack') or !has_program('pg_repack');
    $node->safe_psql('postgres', 'CREATE EXTENSION pg_repack');
    $node->safe_psql('postgres', 'CREATE TABLE written (id ulid)');
    my $files = "SELECT pg_relation_filenode('event'), pg_relation_filenode('event_pkey')";
    my $before = $node->safe_psql('postgres', $files);

    # two sessions insert rows, and change the keys of rows that are there
    my $script = PostgreSQL::Test::Utils::tempdir('writers') . '/writer.sql';
    append_to_file($script, <<'SQL');
\set odd 2 * random(1, 25000) - 1
BEGIN;
WITH new AS (INSERT INTO event (n) VALUES (100000), (100001), (100002) RETURNING id) INSERT INTO written SELECT id FROM new;
UPDATE event SET id = gen_ulid() WHERE n = :odd;
COMMIT;
SQL
    my ($report, $errors) = ('', '');
    my $writers = IPC::Run::start([ 'pgbench', '-n', '-c', 2, '-T', 3600, '--rate=200', '-f', $script, $node->connstr('postgres') ],
        '>', \$report, '2>', \$errors);
    ok($node->poll_query_until('postgres', 'SELECT count(*) > 10 FROM written'), 'rows are written');
    my $first = $node->safe_psql('postgres', 'SELECT count(*) FROM written');
    $node->command_ok([ 'pg_repack', '-d', 'postgres', '-t', 'event' ], 'pg_repack of the table');
    cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM written'), '>', $first, 'rows are written meanwhile');
    $writers->signal('TERM');
    $writers->finish;
    $node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'pgbench'");
    is($errors =~ s/^.*(?:warning|progress).*\n//mgr, '', 'no statement of the writers fails');

    my $rows = $node->safe_psql('postgres', 'SELECT count(*) FROM written');
    is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE n >= 100000) FROM event'),
        25000 + $rows . '|' . (25000 + $rows) . "|$rows", 'no row is lost or comes twice');
    is($node->safe_psql('postgres', 'SELECT count(*) FROM (TABLE written EXCEPT SELECT id FROM event) AS s'), 0,
        'every row that was written is there');
    my @changed = grep { $before !~ /\b$_\b/ } split /\|/, $node->safe_psql('postgres', $files);
    is(@changed, 2, 'table and index have new files');
}

SKIP: {
    skip 'no hypopg', 3 if !has_extension('hypopg');
    $node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION hypopg;
CREATE TABLE old (id uuid, n int);
INSERT INTO old SELECT id, n FROM event;
ANALYZE old;
SQL
    my ($status, $output, $error) = $node->psql('postgres', <<'SQL');
SELECT count(*) FROM hypopg_create_index('CREATE INDEX ON old (id ulid_ops)');
EXPLAIN (COSTS OFF) SELECT * FROM old WHERE id::ulid <@ tstzrange('2026-01-01', '2026-01-02');
EXPLAIN (COSTS OFF) SELECT * FROM old WHERE id = '01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid;
SQL
    is($error, '', 'hypopg creates a hypothetical index of ulid_ops');
    my ($created, @plans) = grep { !/^ / } split /\n/, $output;
    like($plans[0], qr/^Index Scan using "?<\d+>btree_old_id"? on old/, 'a window of time would use it');
    like($plans[1], qr/^Index Scan using "?<\d+>btree_old_id"? on old/, 'a key would use it');
}

done_testing();
