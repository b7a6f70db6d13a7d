# pg_repack of a table that is written to, and the hypothetical indexes of hypopg.
use strict;
use warnings;
use ULID;

my $node = new_server('maintenance');
my $sql = sub { return $node->safe_psql('postgres', @_) };
$sql->('CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ulid(), n int); INSERT INTO event (n) SELECT n FROM generate_series(1, 50000) AS n');

SKIP: {
    skip 'no pg_repack', 4 if !has_extension('pg_repack') or !has_program('pg_repack');
    $sql->('CREATE EXTENSION pg_repack; CREATE TABLE written (id ulid)');
    my $files = q{SELECT pg_relation_filenode('event'), pg_relation_filenode('event_pkey')};
    my $before = $sql->($files);
    my $script = PostgreSQL::Test::Utils::tempdir('writers') . '/writer.sql';
    append_to_file($script, 'WITH new AS (INSERT INTO event (n) VALUES (0), (0) RETURNING id) INSERT INTO written SELECT id FROM new;');
    my $writers = IPC::Run::start([ 'pgbench', '-n', '-c', 2, '-T', 3600, '--rate=200', '-f', $script, $node->connstr('postgres') ], '&>', \my $report);
    ok($node->poll_query_until('postgres', 'SELECT count(*) > 10 FROM written'), 'rows are written');
    $node->command_ok([ 'pg_repack', '-d', 'postgres', '-t', 'event' ], 'pg_repack of the table');
    $writers->signal('TERM');
    $writers->finish;
    $node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'pgbench'");
    is($sql->('SELECT count(*), count(DISTINCT id) FROM event'), $sql->('SELECT count(*) + 50000, count(DISTINCT id) + 50000 FROM written'),
        'no row is lost or comes twice');
    is((grep { $before !~ /\b$_\b/ } split /\|/, $sql->($files)), 2, 'table and index have new files');
}

SKIP: {
    skip 'no hypopg', 1 if !has_extension('hypopg');
    $sql->('CREATE EXTENSION hypopg; CREATE TABLE old AS SELECT id::uuid, n FROM event; ANALYZE old');
    like($sql->(<<'SQL'), qr/Index Scan using "?<\d+>btree_old_id"? on old/, 'hypopg creates an index of ulid_ops, which a window would use');
SELECT count(*) FROM hypopg_create_index('CREATE INDEX ON old (id ulid_ops)');
EXPLAIN (COSTS OFF) SELECT * FROM old WHERE id::ulid <@ tstzrange('2026-01-01', '2026-01-02');
SQL
}

done_testing();
