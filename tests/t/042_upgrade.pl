# pg_upgrade, and dump and restore, from an older server: rows, all kinds of index, partitions, generated columns, views
# and arrays are kept, and nothing has to be indexed again. Without FROM, it is the newest that was tested before in
# this run. `make test-upgrade` runs every pair.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

my @available = older_servers();
plan(skip_all => 'no older server') if !@available;

my $ROWS = q{SELECT id, ids, n, made FROM key ORDER BY id; SELECT * FROM child ORDER BY id; SELECT tableoid::regclass, id FROM part ORDER BY id;
    SELECT tableoid::regclass, id FROM shared ORDER BY id; SELECT * FROM composed ORDER BY (p).a; SELECT * FROM recent ORDER BY id; SELECT * FROM days ORDER BY day};
my $number = 0;                            # of the servers

# Make what is to be kept, in a server of an older major.
sub fill {
    my ($old) = @_;
    $old->safe_psql('postgres', <<'SQL');
CREATE EXTENSION ulid;
CREATE TABLE key (
    id ulid PRIMARY KEY DEFAULT gen_ulid(),
    ids ulid[],
    n int,
    made timestamptz GENERATED ALWAYS AS (ulid_extract_timestamp(id)) STORED
);
CREATE INDEX key_hash ON key USING hash (id);
CREATE INDEX key_brin ON key USING brin (id);
CREATE INDEX key_gin ON key USING gin (ids);
CREATE INDEX key_n_id ON key (n, id DESC);
CREATE INDEX key_made ON key (made);
CREATE INDEX key_day ON key ((date_trunc('day', ulid_extract_timestamp(id) AT TIME ZONE 'UTC')));
CREATE INDEX key_window ON key (id) WHERE id <@ tstzrange('2025-03-01 00:00+00', '2025-06-01 00:00+00');
CREATE UNIQUE INDEX key_window_n ON key (n, made) WHERE id <@ tstzrange('2025-03-01 00:00+00', NULL);
SELECT format('CREATE INDEX key_brin_%s ON key USING brin (id %s)', opcname, opcname) FROM pg_opclass
WHERE opcname IN ('ulid_minmax_multi_ops', 'ulid_bloom_ops') \gexec
CREATE TABLE child (id uuid REFERENCES key (id), PRIMARY KEY (id));
CREATE TABLE part (id ulid PRIMARY KEY, CHECK (id <@ tstzrange('2025-01-01 00:00+00', NULL))) PARTITION BY RANGE (id);
CREATE TABLE part_2026 PARTITION OF part FOR VALUES FROM (ulid_lower_bound('2026-01-01')) TO (ulid_lower_bound('2027-01-01'));
CREATE TABLE part_rest PARTITION OF part DEFAULT;
CREATE TABLE shared (id ulid PRIMARY KEY) PARTITION BY HASH (id);
SELECT format('CREATE TABLE shared_%s PARTITION OF shared FOR VALUES WITH (MODULUS 4, REMAINDER %s)', n, n) FROM generate_series(0, 3) AS n \gexec
CREATE TYPE pair AS (a ulid, w ulid_window);
CREATE TABLE composed (p pair, d tstzrange);
CREATE VIEW recent AS SELECT id, n FROM key WHERE id <@ tstzrange('2025-03-01 00:00+00', '2025-06-01 00:00+00');
CREATE MATERIALIZED VIEW days AS SELECT made::date AS day, count(*), min(id), max(id) FROM key GROUP BY 1;
INSERT INTO key SELECT id, ARRAY[id, NULL], n FROM (
    SELECT gen_ulid('2025-01-01 00:00+00'::timestamptz + n * interval '1 hour') AS id, n FROM generate_series(1, 10000) AS n) AS s;
INSERT INTO child SELECT id FROM key WHERE n <= 1000;
INSERT INTO part SELECT gen_ulid('2025-07-01 00:00+00'::timestamptz + n * interval '1 hour') FROM generate_series(1, 10000) AS n;
INSERT INTO shared SELECT id FROM key;
INSERT INTO composed SELECT ROW(id, tstzrange(made, NULL))::pair, tstzrange(NULL, made) FROM key WHERE n <= 100;
REFRESH MATERIALIZED VIEW days;
ANALYZE;
SQL
    return;
}

# Check that a query by an index gives what it gives by the table. The other indexes are dropped, so that the planner takes it.
sub by_index {
    my ($node, $database, $what, $index, $select) = @_;
    my $query = "SELECT count(*), bit_xor(hashtextextended(s::text, 0)) FROM ($select) AS s";
    my ($by_table, $by_index, $plan) = split /\n/, $node->safe_psql($database, <<"SQL"), 3;
$query;
BEGIN;
ALTER TABLE child DROP CONSTRAINT child_id_fkey;
ALTER TABLE key DROP CONSTRAINT key_pkey;
SELECT format('DROP INDEX %s', indexrelid::regclass) FROM pg_index WHERE indrelid = 'key'::regclass AND indexrelid <> '$index'::regclass \\gexec
SET LOCAL enable_seqscan = off;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
$query;
EXPLAIN $query;
SQL
    is($by_index, $by_table, "$what: the index $index gives what the table has");
    like($plan, qr/$index/, "$what: the index $index was used");
    cmp_ok($by_table =~ s/\|.*//r, '>=', 20, "$what: for some rows");
    return;
}

sub check {
    my ($node, $database, $what) = @_;
    my $sql = sub { return $node->safe_psql($database, @_) };
    by_index($node, $database, $what, @$_) for
        ['key_hash', 'SELECT key.id FROM child JOIN key USING (id)'],
        ['key_brin', "SELECT id FROM key WHERE id <@ tstzrange('2025-03-01 00:00+00', '2025-04-01 00:00+00')"],
        ['key_gin', 'SELECT k.id FROM child JOIN key AS k ON k.ids @> ARRAY[child.id::ulid]'],
        ['key_n_id', 'SELECT id FROM key WHERE n < 100'],
        ['key_made', "SELECT id FROM key WHERE made < '2025-02-01 00:00+00'"],
        ['key_day', "SELECT id FROM key WHERE date_trunc('day', ulid_extract_timestamp(id) AT TIME ZONE 'UTC') < '2025-02-01'"],
        ['key_window', "SELECT id FROM key WHERE id <@ tstzrange('2025-03-01 00:00+00', '2025-06-01 00:00+00')"],
        map({ [$_, "SELECT k.id FROM child JOIN key AS k ON k.id = child.id::ulid WHERE child.id::ulid <@ tstzrange('2025-01-01 00:00+00', '2025-01-03 00:00+00')"] }
            split /\n/, $sql->(q{SELECT relname FROM pg_class WHERE relname LIKE 'key\_brin\_%'}));
    is($sql->(q{INSERT INTO shared SELECT id FROM key ON CONFLICT DO NOTHING; INSERT INTO key SELECT id FROM shared ON CONFLICT DO NOTHING;
        SELECT (SELECT count(*) FROM shared) + (SELECT count(*) FROM key)}), 20000, "$what: ids that are there already are found");
    is($sql->(q{INSERT INTO part SELECT gen_ulid('2026-05-05'); SELECT count(*) FROM part}), 10001, "$what: a new id goes into its partition");
    my ($status) = $node->psql($database, 'INSERT INTO key (n) VALUES (0); REFRESH MATERIALIZED VIEW days');
    is($status, 0, "$what: the default and the materialized view work");
  SKIP: {
        skip('no extension amcheck', 2) if !has_extension('amcheck');
        is($sql->(q{CREATE EXTENSION amcheck; SELECT count(bt_index_parent_check(c.oid, true)) FROM pg_class AS c
            WHERE relam = (SELECT oid FROM pg_am WHERE amname = 'btree') AND relkind = 'i' AND c.relnamespace = 'public'::regnamespace}), 13,
            "$what: amcheck finds the btree indexes complete");
        is($sql->(q{SELECT format('SELECT * FROM verify_heapam(%L)', oid::regclass) FROM pg_class
            WHERE relkind IN ('r', 'm') AND relnamespace = 'public'::regnamespace \gexec}), '', "$what: amcheck finds the tables sound");
    }
    return;
}

for my $from (@available) {
    my $old = new_server('old' . ++$number, path => $from->{path}, extension => 0);
    my $option = column_option($old);      # with one, the dump is restored without it
    if ($option && !$ENV{FROM} && $from != $available[-1]) {
        $old->stop;
        next;
    }
    my $what = "from $from->{name}";
    fill($old);
    my $before = $old->safe_psql('postgres', $ROWS);
    cmp_ok($before =~ tr/\n//, '>', 33000, "$what: the old server has its rows");
    my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
    system_or_bail('pg_dump', '-Fc', '-f', $dump, '-d', $old->connstr('postgres'));

    my ($new, @databases);
  SKIP: {
        skip("$what: pg_upgrade, as this server gives a plain column the option $option", 1) if $option;
        $new = upgraded_server($old, "new$number", $what);
        @databases = ('postgres');
    }
    if ($new) {
        $new->start;
    } else {
        $old->stop;
        $new = new_server("new$number", extension => 0);
    }
    $new->safe_psql('postgres', 'CREATE DATABASE restored');
    if (!$option) {
        command_ok(['pg_restore', '--exit-on-error', '-d', $new->connstr('restored'), $dump], "$what: pg_restore succeeds");
    } else {
        run_log(['pg_restore', '-f', '-', $dump], '>', \my $script) or die;
        $new->safe_psql('restored', $script =~ s/^.* ALTER COLUMN .* SET \(pg_attver=[0-9]*\);\n//mgr);
    }
    push @databases, 'restored';

    # What the new server offers for uuid is added for ulid: by the next version, or as the reference says.
    if (!$option && $from->{major} < 18 && $major >= 18) {
        $new->safe_psql('postgres', 'ALTER OPERATOR FAMILY ulid_ops USING btree ADD FUNCTION 6 (ulid, ulid) uuid_skipsupport(internal)');
    }
    my $offered = $new->safe_psql('postgres', support_functions('uuid'));
    for my $database (@databases) {
        is($new->safe_psql($database, support_functions('ulid')), $offered, "$what, $database: ulid has the support functions that uuid has");
    }

    for my $database (@databases) {
        ok($new->safe_psql($database, $ROWS) eq $before, "$what, $database: the rows are those that were there before");
        check($new, $database, "$what, $database");
    }
    $new->stop;
    last if !$ENV{FROM};
}

done_testing();
