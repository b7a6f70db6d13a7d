# pg_upgrade, and dump and restore, from an older server: rows, all kinds of index, partitions,
# generated columns, views, arrays and expressions are kept, and nothing has to be indexed again; so
# are expressions in a database with the extension in a schema that is in no path, and positions of
# consumers. Without FROM, the older server is the newest that was tested before in this run.
# `scripts/test.sh upgrade` runs every pair.
use strict;
use warnings FATAL => 'all';
use ULID;

my $gist      = has_extension('btree_gist');
my @available = older_servers($gist ? qw(btree_gist ulid_gist) : ());
plan(skip_all => 'no older server') if !@available;

my $ROWS =
  q{SELECT id, ids, n, made FROM key ORDER BY id; SELECT * FROM child ORDER BY id;
      SELECT tableoid::regclass, id FROM part ORDER BY id;
      SELECT tableoid::regclass, id FROM shared ORDER BY id; SELECT * FROM composed ORDER BY (p).a;
      SELECT * FROM recent ORDER BY id; SELECT * FROM days ORDER BY day};

# every expression and every relation of data/expressions.sql, without the schema of the extension
# in the path
my $ELSEWHERE = q{BEGIN; UPDATE compared SET n = -n;
    SELECT format('TABLE %s', oid::regclass) FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v', 'm')
        ORDER BY relname \gexec
    SELECT format('SELECT %s(a, b, u) FROM compared', proname) FROM pg_proc
        WHERE proname ~ '^function_' ORDER BY 1 \gexec
    DELETE FROM compared; ROLLBACK};
my $number = 0;    # of the servers
my ($before, $after) = map { "\\i $root/docs/${_}_pg_upgrade.sql" } qw(before after);

# Make what is to be kept, in a server of an older major.
sub fill
{
    my ($old) = @_;
    $old->safe_psql('postgres',
        "\\set expressions '$root/tests/t/data/expressions.sql'\n" . <<'SQL');
CREATE EXTENSION ulid;
CREATE TABLE key (
    id ulid PRIMARY KEY DEFAULT gen_ulid(),
    ids ulid[],
    n int,
    made timestamptz GENERATED ALWAYS AS (ulid_extract_timestamp(id)) STORED
);
CREATE INDEX key_n_id ON key (n, id DESC);
CREATE UNIQUE INDEX key_window_n ON key (n, made)
    WHERE id <@ tstzrange('2025-03-01 00:00+00', NULL);
CREATE TABLE indexed AS SELECT i AS hash, i AS brin, i AS multi, i AS bloom, i AS day,
    ARRAY[i] AS gin
FROM (SELECT ulid_lower_bound('2025-01-01 00:00+00'::timestamptz + n * interval '1 hour') AS i
    FROM generate_series(0, 9999) AS n) AS s;
CREATE INDEX ON indexed USING hash (hash);
CREATE INDEX ON indexed USING brin (brin);
CREATE INDEX ON indexed USING brin (multi ulid_minmax_multi_ops);
CREATE INDEX ON indexed USING brin (bloom ulid_bloom_ops);
CREATE INDEX ON indexed USING gin (gin);
CREATE INDEX ON indexed ((date_trunc('day', ulid_extract_timestamp(day) AT TIME ZONE 'UTC')));
CREATE TABLE child (id uuid REFERENCES key (id), PRIMARY KEY (id));
CREATE TABLE part (id ulid PRIMARY KEY, CHECK (id <@ tstzrange('2025-01-01 00:00+00', NULL)))
    PARTITION BY RANGE (id);
CREATE TABLE part_2026 PARTITION OF part FOR VALUES FROM (ulid_lower_bound('2026-01-01'))
    TO (ulid_lower_bound('2027-01-01'));
CREATE TABLE part_rest PARTITION OF part DEFAULT;
CREATE TABLE shared (id ulid PRIMARY KEY) PARTITION BY HASH (id);
SELECT format('CREATE TABLE shared_%s PARTITION OF shared
    FOR VALUES WITH (MODULUS 4, REMAINDER %s)', n, n) FROM generate_series(0, 3) AS n \gexec
CREATE TYPE pair AS (a ulid, w ulid_window);
CREATE TABLE composed (p pair, d tstzrange);
CREATE VIEW recent AS SELECT id, n FROM key
    WHERE id <@ tstzrange('2025-03-01 00:00+00', '2025-06-01 00:00+00');
CREATE MATERIALIZED VIEW days AS SELECT made::date AS day, count(*), min(id), max(id)
    FROM key GROUP BY 1;
INSERT INTO key SELECT id, ARRAY[id, NULL], n FROM (
    SELECT gen_ulid('2025-01-01 00:00+00'::timestamptz + n * interval '1 hour') AS id, n
        FROM generate_series(1, 10000) AS n) AS s;
INSERT INTO child SELECT id FROM key WHERE n <= 1000;
INSERT INTO part SELECT gen_ulid('2025-07-01 00:00+00'::timestamptz + n * interval '1 hour')
    FROM generate_series(1, 10000) AS n;
INSERT INTO shared SELECT id FROM key;
INSERT INTO composed SELECT ROW(id, tstzrange(made, NULL))::pair, tstzrange(NULL, made) FROM key
    WHERE n <= 100;
REFRESH MATERIALIZED VIEW days;
\i :expressions
-- what pg_upgrade creates before casts: with one, each in a way of its own, and without
CREATE DOMAIN relabelled AS uuid CHECK (VALUE > '01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid);
CREATE DOMAIN converted AS ulid CHECK (VALUE::timestamptz > '2020-01-01');
CREATE DOMAIN preset AS uuid DEFAULT gen_ulid();
CREATE FUNCTION called(u uuid) RETURNS boolean IMMUTABLE RETURN u::ulid <> u;
CREATE DOMAIN calling AS uuid CHECK (called(VALUE));
CREATE TABLE computed (id ulid CHECK (id <> '01563df3-6481-d676-4c61-efb99302bd5b'::uuid),
    u uuid GENERATED ALWAYS AS (id) STORED);
CREATE VIEW viewed AS SELECT id::uuid AS u FROM key;
CREATE TYPE composite AS (c computed, v viewed);
CREATE VIEW unused AS SELECT id::uuid AS u FROM key ORDER BY id;
CREATE DOMAIN kept AS ulid DEFAULT gen_ulid() CHECK (VALUE::text <> '');
-- a consumer has read all rows below a horizon that is an hour ahead of the clock
CREATE TABLE outbox (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
SELECT ulid_advance_ordered_time(ulid_upper_bound(now() + interval '1 hour'));
INSERT INTO outbox DEFAULT VALUES;
CALL ulid_refresh_horizon();
ANALYZE;
SQL
    $old->safe_psql('postgres', 'CREATE DATABASE elsewhere');
    $old->safe_psql(
        'elsewhere',
        "CREATE SCHEMA types; CREATE EXTENSION ulid SCHEMA types; SET search_path = public, types;
        \\i $root/tests/t/data/expressions.sql");

    # the companion, each extension in a schema of its own
    $old->safe_psql('postgres', <<'SQL') if $gist;
CREATE SCHEMA contrib; CREATE EXTENSION btree_gist SCHEMA contrib;
CREATE SCHEMA classes; CREATE EXTENSION ulid_gist SCHEMA classes;
CREATE TABLE booking (room ulid, during daterange,
    EXCLUDE USING gist (room WITH =, during WITH &&));
INSERT INTO booking SELECT hash, daterange('2026-01-01', '2026-01-03') FROM indexed;
SQL
    return;
}

sub check
{
    my ($node, $database, $what) = @_;
    my $sql = sub { return $node->safe_psql($database, @_) };
    my ($first, $january) = (
        q{'01JGFJJZ000000000000000000'},
        q{'[2025-01-01 00:00+00, 2025-02-01 00:00+00)'::tstzrange});
    for (
        [ "hash = $first",                                                                    1 ],
        [ "brin <@ $january",                                                                 744 ],
        [ "multi <@ $january",                                                                744 ],
        [ "bloom = $first",                                                                   1 ],
        [ "gin @> ARRAY[$first]::ulid[]",                                                     1 ],
        [ "date_trunc('day', ulid_extract_timestamp(day) AT TIME ZONE 'UTC') < '2025-02-01'", 744 ])
    {
        my ($condition, $expected) = @$_;
        my $query = "SET enable_seqscan = off; SELECT count(*) FROM indexed WHERE $condition";
        is($sql->($query), $expected, "$what: an index finds the rows of $condition");
        like($sql->($query =~ s/SELECT/EXPLAIN SELECT/r), qr/Index/, "$what: and is used");
    }
    is( $sql->(
            q{INSERT INTO shared SELECT id FROM key ON CONFLICT DO NOTHING;
                INSERT INTO key SELECT id FROM shared ON CONFLICT DO NOTHING;
        SELECT (SELECT count(*) FROM shared) + (SELECT count(*) FROM key)}),
        20000,
        "$what: ids that are there already are found");
    is($sql->(q{INSERT INTO part SELECT gen_ulid('2026-05-05'); SELECT count(*) FROM part}),
        10001, "$what: a new id goes into its partition");
    is( $sql->(
            q{SELECT ulid_current_horizon(max(id)) = max(horizon) FROM outbox, ulid_horizon;
            INSERT INTO outbox DEFAULT VALUES RETURNING id > ulid_current_horizon();
            CALL ulid_refresh_horizon();
            SELECT max(id) < ulid_current_horizon() FROM outbox}
        ),
        "t\nt\nt",
        "$what: consumers keep their positions, and read what follows");
    my ($status) =
      $node->psql($database, 'INSERT INTO key (n) VALUES (0); REFRESH MATERIALIZED VIEW days');
    is($status, 0, "$what: the default and the materialized view work");
    my $book =
      q{INSERT INTO booking VALUES ('01JGFJJZ000000000000000000', '[2026-01-02, 2026-01-04)')};
    is( (   $node->psql(
                $database,
                'CREATE TABLE price (room ulid, valid daterange,
                    PRIMARY KEY (room, valid WITHOUT OVERLAPS))'
            ))[2],
        '',
        "$what: temporal keys can be made") if $gist && $major >= 18;
    like(
        ($node->psql($database, $book))[2],
        qr/conflicting key value violates exclusion constraint/,
        "$what: a room is booked once") if $gist;
  SKIP:
    {
        skip('no extension amcheck', 1) if !has_extension('amcheck');
        is( $sql->(
                q{CREATE EXTENSION amcheck;
                    SELECT count(bt_index_parent_check(c.oid, true)) > 8 FROM pg_class AS c
            WHERE relam = (SELECT oid FROM pg_am WHERE amname = 'btree') AND relkind = 'i'
                AND c.relnamespace = 'public'::regnamespace}
            ),
            't',
            "$what: amcheck finds the btree indexes complete");
    }
    return;
}

for my $from (@available)
{
    my $old    = new_server('old' . ++$number, path => $from->{path}, extension => 0);
    my $option = column_option($old);    # with one, the dump is restored without it
    if ($option && !$ENV{FROM} && $from != $available[-1])
    {
        $old->stop;
        next;
    }
    my $what = "from $from->{name}";
    fill($old);
    my $rows = $old->safe_psql('postgres', $ROWS);
    cmp_ok($rows =~ tr/\n//, '>', 33000, "$what: the old server has its rows");
    my $elsewhere = $old->safe_psql('elsewhere', $ELSEWHERE);
    cmp_ok($elsewhere =~ tr/\n//, '>', 60, "$what: there are expressions");
    my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
    system_or_bail('pg_dump', '-Fc', '-f', $dump, '-d', $old->connstr('postgres'));

    my ($new, @databases);
  SKIP:
    {
        skip("$what: pg_upgrade, as this server gives a plain column the option $option", 1)
          if $option;
        is($old->safe_psql('elsewhere', $before), '', "$what: nothing stops it elsewhere");
        is( $old->safe_psql('postgres', $before),
            join("\n",
                'default value|for public.computed.u',
                'domain constraint|converted_check on public.converted',
                'domain constraint|relabelled_check on public.relabelled',
                'function|public.called(pg_catalog.uuid)',
                'rule|"_RETURN" on public.viewed',
                'table constraint|computed_id_check on public.computed',
                'type|public.preset'),
            "$what: the script finds what would stop it");
        $old->safe_psql('postgres',
            'DROP DOMAIN calling, converted, preset, relabelled; DROP FUNCTION called;
            DROP TYPE composite; DROP TABLE computed; DROP VIEW viewed'
        );
        $new       = upgraded_server($old, "new$number", $what);
        @databases = ('postgres');
    }
    if ($new)
    {
        $new->start;
        $new->safe_psql($_, $after) for qw(postgres elsewhere);
    }
    else
    {
        $old->stop;
        $new = new_server("new$number", extension => 0);
    }
    $new->safe_psql('postgres', 'CREATE DATABASE restored');
    if (!$option)
    {
        command_ok([ 'pg_restore', '--exit-on-error', '-d', $new->connstr('restored'), $dump ],
            "$what: pg_restore succeeds");
    }
    else
    {
        run_log([ 'pg_restore', '-f', '-', $dump ], '>', \my $script) or die;
        $new->safe_psql('restored',
            $script =~ s/^.* ALTER COLUMN .* SET \(pg_attver=[0-9]*\);\n//mgr);
    }
    push @databases, 'restored';
    is($new->safe_psql('elsewhere', $ELSEWHERE),
        $elsewhere, "$what: expressions work without the schema in the path")
      if !$option;

    for my $database (@databases)
    {
        is( $new->safe_psql($database, support_functions('ulid')),
            $new->safe_psql($database, support_functions('uuid')),
            "$what, $database: ulid has the support functions that uuid has");
        ok($new->safe_psql($database, $ROWS) eq $rows,
            "$what, $database: the rows are those that were there before");
        check($new, $database, "$what, $database");
    }
    $new->stop;
    last if !$ENV{FROM};
}

done_testing();
