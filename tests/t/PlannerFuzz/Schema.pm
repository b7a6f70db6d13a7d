# The schema "fuzz" that the queries are about: tables of every kind of partitions and indexes, and
# their data.
package PlannerFuzz::Schema;
use strict;
use warnings FATAL => 'all';
use Exporter 'import';
use List::Util 'shuffle';
use PlannerFuzz::Random;
use ULID 'has_extension';

our @EXPORT =
  qw(make_fuzz_schema $server $version @TABLES @FOREIGN @index_windows key_of partitions);

# the server, its major version, and windows of the indexes of the schema
our ($server, $version, @index_windows);

# Tables of the schema below. Those of the first line are partitioned by ranges of an id.
my @PARTITIONED =
  qw(by_range by_range_twin by_range_sub by_range_n by_n_range by_extract by_coalesce by_domain
      by_uuid by_reversed);
our @TABLES = (
    @PARTITIONED,
    qw(by_range by_range by_range_sub by_hash by_list plain plain second indexed family secured));

# Some of them have partitions that are not <table>_1, _2, _3 and _rest.
my %PARTITIONS = (
    by_hash      => [ 0 .. 2 ],
    by_list      => [qw(1_a 1_rest rest)],
    by_reversed  => [ 1, 'rest' ],
    by_range_sub => [qw(1 2_a 2_rest 3_a 3_b 4_0 4_1 rest)]);

# Those with foreign partitions, by ranges and by hash, if there is postgres_fdw. They are mostly in
# FROM, as rows cannot move between foreign partitions.
our @FOREIGN;

# The column that most partitions are pruned by.
sub key_of
{
    my ($table) = @_;
    return $table =~ /^(by_uuid$|far_u_)/ ? 'u' : $table eq 'by_domain' ? 'did' : 'id';
}

# The tables that hold the rows of a table.
sub partitions
{
    my ($table) = @_;
    return map { "${table}_$_" } @{ $PARTITIONS{$table} // [ 1 .. 3, 'rest' ] } if $table =~ /^by_/;
    return $table;
}

# The columns of a table, in any order.
sub column_list
{
    return join ', ',
      shuffle('id ulid', 'n int', 'w tstzrange', 'b boolean', 't text', 'did identifier',
        'dw period', 'c pair', 'ids ulid[]', 'u uuid', 'du identifier_uuid');
}

# Rows for a table, each id but NULL once.
sub rows
{
    my ($table, $count) = @_;
    my (%seen, @rows);
    while (@rows < $count)
    {
        my $id = random_ulid();
        next if $seen{$id}++;
        my @ids = map { quoted(chance(0.5) ? $id : chance(0.1) ? undef : random_ulid()) } 1 .. 4;
        my @windows = map { quoted(chance(0.08) ? undef : random_range()) } 1 .. 3;
        my @values  = (
            quoted(chance(0.04) ? undef : $id),
            chance(0.05) ? 'NULL' : int rand 12,
            $windows[0],
            one_of(qw(true false NULL)),
            quoted(one_of('x', 'y', 'z', undef)),
            $ids[0],
            $windows[1],
            "ROW($ids[1], $windows[2])::pair",
            "ARRAY[$ids[2], $ids[3]]::ulid[]",
            ("$ids[3]::ulid::uuid") x 2);
        push @rows, '(' . join(', ', @values) . ')';
    }
    return
      "INSERT INTO $table (id, n, w, b, t, did, dw, c, ids, u, du) VALUES "
      . join(', ', @rows) . ';';
}

# A table partitioned by ranges of this key; the bounds are days. One partition is attached with a
# different order of columns.
sub ranges
{
    my ($table, $key, $of_day) = @_;
    my ($first, $second, $third) = map { $of_day->($_) } 10, 20, 35;
    my $minimum = $key =~ /^\w+, / ? 'MINVALUE, MINVALUE' : 'MINVALUE';
    return join "\n", "CREATE TABLE $table (" . column_list() . ") PARTITION BY RANGE ($key);",
      "CREATE TABLE ${table}_1 PARTITION OF $table FOR VALUES FROM ($minimum) TO ($first);",
      "CREATE TABLE ${table}_2 (" . column_list() . ');',
      "ALTER TABLE $table ATTACH PARTITION ${table}_2 FOR VALUES FROM ($first) TO ($second);",
      "CREATE TABLE ${table}_3 PARTITION OF $table FOR VALUES FROM ($second) TO ($third);",
      "CREATE TABLE ${table}_rest PARTITION OF $table DEFAULT;";
}

# Some of the indexes that a table may have.
sub indexes
{
    my ($table, $part) = @_;
    push @index_windows, my $window = quoted(random_range()) . '::tstzrange';
    my @indexes = (
        '(id)',
        '(id DESC)',
        '(id) INCLUDE (n)',
        '(n, id)',
        '(id, n DESC)',
        '(did)',
        '(((c).id))',
        '((ids[1]))',
        '(u)',
        '(du)',
        '(u DESC, n)',
        '(id reversed_ops)',
        '(ulid_extract_timestamp(id))',
        'USING hash (id)',
        'USING hash (u)',
        'USING brin (id) WITH (pages_per_range = 1)',
        'USING brin (u) WITH (pages_per_range = 1)',
        'USING brin (id ulid_minmax_multi_ops)',
        'USING brin (id ulid_bloom_ops)',
        "((id <\@ $window))",
        "(id) WHERE id <\@ $window",
        "(n) WHERE n > 6 OR id <\@ $window",
        "(n) WHERE NOT id <\@ $window",
        "(n) WHERE ulid_starts_with(u, '01JG')");
    return join "\n", map { "CREATE INDEX ON $table $_;" } grep { chance($part) } @indexes;
}

# Tables with foreign partitions, which are in the same database.
sub foreign_tables
{
    return unless @FOREIGN;
    my ($host, $port) = ($server->host, $server->port);
    my $estimate = chance(0.5) ? 'true' : 'false';
    my @sql      = <<"SQL";
CREATE EXTENSION IF NOT EXISTS postgres_fdw SCHEMA public;
DROP SERVER IF EXISTS fuzz_server CASCADE;
CREATE SERVER fuzz_server FOREIGN DATA WRAPPER postgres_fdw
    OPTIONS (host '$host', port '$port', dbname 'postgres', extensions 'ulid',
        options '-c lock_timeout=500ms', use_remote_estimate '$estimate');
SELECT format('CREATE USER MAPPING FOR %s SERVER fuzz_server', name) ||
        format(' OPTIONS (user %L, password_required ''false'')', current_user)
    FROM unnest(ARRAY['CURRENT_USER', 'fuzz_reader']) AS name
\\gexec
SQL
    for my $table (@FOREIGN)
    {
        my ($key, $by) = $table =~ /^far_(u|id)_(range|hash)$/;
        my ($low, $high) = map { quoted(bound($_)) . ($key eq 'u' ? '::ulid::uuid' : '') } 12, 30;
        my @values =
          $by eq 'range'
          ? ("FOR VALUES FROM (MINVALUE) TO ($low)", "FOR VALUES FROM ($low) TO ($high)", 'DEFAULT')
          : map { "FOR VALUES WITH (MODULUS 3, REMAINDER $_)" } 0 .. 2;
        push @sql, "CREATE TABLE $table (" . column_list() . ") PARTITION BY $by ($key);";
        for my $n (0 .. 2)
        {
            my ($name, $there) = ("${table}_$n", "${table}_${n}_there");
            if ($n == 1 && chance(0.3))
            {
                push @sql, "CREATE TABLE $name PARTITION OF $table $values[$n];";
                next;
            }
            push @sql, "CREATE TABLE $there (" . column_list() . ');',
              "CREATE FOREIGN TABLE $name PARTITION OF $table $values[$n]",
              "    SERVER fuzz_server OPTIONS (schema_name 'fuzz', table_name '$there');",
              indexes($there, 0.1);
        }
        push @sql, rows($table, 16);
    }
    return @sql;
}

# Take this server, a node of PostgreSQL::Test::Cluster whose database postgres has the extension,
# and create the schema again, as the seed says.
sub make_fuzz_schema
{
    ($server, my $seed) = @_;
    @FOREIGN =
      has_extension('postgres_fdw') ? qw(far_u_range far_u_hash far_id_range far_id_hash) : ();
    @index_windows = ();
    $version       = int($server->safe_psql('postgres', 'SHOW server_version_num') / 10000);
    srand $seed;
    my $id    = sub { quoted(bound($_[0])) };
    my $table = sub {
        my ($name, $more) = @_;
        "CREATE TABLE $name (" . column_list() . ')' . ($more // '') . ';';
    };
    my $part = sub {
        my ($of, $suffix, $values, $by) = @_;
        "CREATE TABLE ${of}_$suffix PARTITION OF $of $values" . ($by // '') . ';';
    };
    my $between = sub {
        my ($from, $to) = map { $id->($_) } @_;
        "FOR VALUES FROM ($from) TO ($to)";
    };
    my @plain = qw(plain second secured narrow);
    my $contains =
      "(tstzrange, timestamptz) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
        AS 'range_contains_elem';";
    my @sql = (
        <<'SQL',
DROP SCHEMA IF EXISTS fuzz CASCADE;
CREATE SCHEMA fuzz;
DO $$ BEGIN CREATE ROLE fuzz_reader; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
CREATE TYPE pair AS (id ulid, w tstzrange);
CREATE DOMAIN identifier AS ulid;
CREATE DOMAIN identifier_uuid AS uuid;
CREATE DOMAIN period AS tstzrange;
CREATE FUNCTION reversed_cmp(ulid, ulid) RETURNS int LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT uuid_cmp($2::uuid, $1::uuid) $$;
CREATE OPERATOR CLASS reversed_ops FOR TYPE ulid USING btree AS
    OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <,
        FUNCTION 1 reversed_cmp(ulid, ulid);
CREATE TABLE windows (k int PRIMARY KEY, w tstzrange);
CREATE TABLE notes (what text, id ulid, n int);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN INSERT INTO fuzz.notes VALUES (TG_WHEN, NEW.id, NEW.n); RETURN NEW; END $$;
CREATE FUNCTION starts(ulid, text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT starts_with($1::text, upper($2 COLLATE "C")) $$;
CREATE FUNCTION stable_window(int) RETURNS tstzrange LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $$ BEGIN RETURN (SELECT w FROM fuzz.windows WHERE k = $1 % 12); END $$;
CREATE FUNCTION volatile_window(int) RETURNS tstzrange LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
    AS $$ BEGIN RETURN (SELECT w FROM fuzz.windows WHERE k = $1 % 12); END $$;
CREATE FUNCTION inlined_window(int) RETURNS tstzrange LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT tstzrange('2025-01-01Z'::timestamptz + $1 * interval '3 days',
        '2025-01-06Z'::timestamptz + $1 * interval '3 days') $$;
-- also in an index, whose expressions a session of postgres_fdw may have to expand without these
-- schemas
CREATE FUNCTION inlined_around(ulid) RETURNS tstzrange LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT tstzrange(public.ulid_extract_timestamp($1) - interval '2 days',
        public.ulid_extract_timestamp($1) + interval '2 days') $$;
CREATE FUNCTION truths(boolean) RETURNS TABLE (b boolean) LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT $1 UNION ALL SELECT NOT $1 $$;
CREATE FUNCTION counted_window() RETURNS tstzrange LANGUAGE plpgsql VOLATILE AS $$
DECLARE calls int := coalesce(nullif(current_setting('fuzz.calls', true), ''), '0')::int + 1;
BEGIN
    PERFORM set_config('fuzz.calls', calls::text, true);
    RETURN (SELECT w FROM fuzz.windows WHERE k = calls % 12);
END $$;
SQL
        map({ "CREATE FUNCTION contains_$_$contains" } qw(operator commutator function commuted)),
        map({       "INSERT INTO windows VALUES ($_, "
                  . quoted(chance(0.05) ? undef : random_range())
                  . ');' } 0 .. 11),
        map({ $table->($_) } @plain, qw(indexed big family family_1 family_2)),
        'ALTER TABLE family_1 INHERIT family; ALTER TABLE family_2 INHERIT family;',
        ranges('by_range',      'id',    $id),
        ranges('by_range_twin', 'id',    $id),
        ranges('by_domain',     'did',   $id),
        ranges('by_uuid',       'u',     sub { $id->($_[0]) . '::ulid::uuid' }),
        ranges('by_range_n',    'id, n', sub { $id->($_[0]) . ', 4' }),
        ranges('by_n_range',    'n, id', sub { int($_[0] / 5) . ', ' . $id->($_[0]) }),
        ranges(
            'by_extract',
            '(ulid_extract_timestamp(id))',
            sub { "'2025-01-01Z'::timestamptz + interval '$_[0] days'" }),
        ranges('by_coalesce', "(coalesce(id, '00000000000000000000000000'))", $id),
        $table->('by_reversed', ' PARTITION BY RANGE (id reversed_ops)'),
        $part->('by_reversed', 1,      $between->(30, 10)),
        $part->('by_reversed', 'rest', 'DEFAULT'),
        $table->('by_range_sub', ' PARTITION BY RANGE (id)'),
        $part->('by_range_sub',   1,   $between->(0,  10)),
        $part->('by_range_sub',   2,   $between->(10, 20), ' PARTITION BY LIST (n)'),
        $part->('by_range_sub_2', 'a', 'FOR VALUES IN (0, 1, 2, 3, 4)'),
        $table->('by_range_sub_2_rest'),
        'ALTER TABLE by_range_sub_2 ATTACH PARTITION by_range_sub_2_rest DEFAULT;',
        $part->('by_range_sub',   3,   $between->(20, 30), ' PARTITION BY RANGE (id)'),
        $part->('by_range_sub_3', 'a', $between->(20, 25)),
        $part->('by_range_sub_3', 'b', $between->(25, 30)),
        $part->('by_range_sub',   4,   $between->(30, 45), ' PARTITION BY HASH (id)'),
        map({ $part->('by_range_sub_4', $_, "FOR VALUES WITH (MODULUS 2, REMAINDER $_)") } 0, 1),
        $part->('by_range_sub', 'rest', 'DEFAULT'),
        $table->('by_hash', ' PARTITION BY HASH (id)'),
        map({ $part->('by_hash', $_, "FOR VALUES WITH (MODULUS 3, REMAINDER $_)") } 0 .. 2),
        $table->('by_list', ' PARTITION BY LIST (n)'),
        $part->('by_list',   1, 'FOR VALUES IN (0, 1, 2, 3, 4, 5)', ' PARTITION BY RANGE (id)'),
        $part->('by_list_1', 'a',    'FOR VALUES FROM (MINVALUE) TO (' . $id->(20) . ')'),
        $part->('by_list_1', 'rest', 'DEFAULT'),
        $part->('by_list',   'rest', 'DEFAULT'),
        map({ rows($_, 16) } @plain, qw(by_hash by_list), @PARTITIONED),
        map({ rows($_, 6) } qw(family family_1 family_2)),
        rows('indexed', 40),
        rows('big',     1500),
        indexes('indexed', 0.7),
        indexes('big',     0.5),
        map({ indexes($_, 0.15) } @plain, qw(by_hash by_list family_1 family_2), @PARTITIONED),
        map({ indexes($_, 0.05) } map { partitions($_) } qw(by_hash by_list), @PARTITIONED),
        foreign_tables(),
        map({       "CREATE STATISTICS ${_}_windows ON (id <\@ "
                  . quoted(random_range())
                  . "::tstzrange), (n % 3) FROM $_;" }
            grep { chance(0.2) } qw(plain by_range by_uuid)),
        'GRANT USAGE, CREATE ON SCHEMA fuzz TO fuzz_reader;',
        'GRANT ALL ON ALL TABLES IN SCHEMA fuzz TO fuzz_reader;',
        'REVOKE ALL ON narrow FROM fuzz_reader; GRANT SELECT (n, b, t) ON narrow TO fuzz_reader;',
        'ALTER TABLE secured ENABLE ROW LEVEL SECURITY;',
        'CREATE POLICY third ON secured USING (n % 3 <> 0);',
        map({ "ANALYZE $_;" } grep { chance(0.8) } @plain,
            qw(indexed big windows by_hash by_list family),
            @PARTITIONED, @FOREIGN));
    $server->safe_psql('postgres', join "\n",
        'SET client_min_messages = error; SET search_path = fuzz, public;', @sql);
    return;
}

1;
