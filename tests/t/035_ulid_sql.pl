# The functions of sql/ulid_sql.sql do what those of the extension do: the same results, and errors with the same
# SQLSTATE, message and detail. Both are in one database, in two schemas. CASES (500) is how many texts and ids are made
# at random; with LARGE, every function gets a text of 256 MB.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

my $cases = $ENV{CASES} || 500;
my $script = slurp_file("$root/sql/ulid_sql.sql");
my $node = new_server('ulid_sql', extension => 0);
my @owner = (extra_params => ['-U', 'owner'], on_error_stop => 1);
my @stranger = (extra_params => ['-U', 'stranger']);
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN CREATEDB; CREATE ROLE stranger LOGIN');

#
# How both are compared
#

my $comparison = <<'SQL';
CREATE SCHEMA test;
-- What a query gives, or the error that it raises.
CREATE FUNCTION test.outcome(query text, input text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
    state text;
    message text;
    detail text;
    hint text;
BEGIN
    EXECUTE query INTO result USING input;
    RETURN coalesce(result, 'null');
EXCEPTION
    WHEN query_canceled THEN
        RAISE EXCEPTION 'does not end: % of %', query, input;
    WHEN others THEN
        GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
            hint = PG_EXCEPTION_HINT;
        RETURN format('%s %s / %s / %s', state, left(message, 10000), detail, hint);
END $$;

-- The inputs for which a query, where @ stands for the schema, has different outcomes; then, how many were compared.
CREATE FUNCTION test.differences(expression text, inputs text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    native CONSTANT text := 'SELECT (' || replace(expression, '@', 'native') || ')::text';
    twin CONSTANT text := 'SELECT (' || replace(expression, '@', 'twin') || ')::text';
BEGIN
    RETURN QUERY EXECUTE format($f$
        WITH tried AS MATERIALIZED (
            SELECT i, test.outcome(%L, i) AS a, test.outcome(%L, i) AS b FROM (%s) AS v (i)
        )
        (SELECT format('%%s: native %%s, twin %%s', i, a, b) FROM tried WHERE a IS DISTINCT FROM b LIMIT 5)
        UNION ALL (SELECT format('%%s same', count(*)) FROM tried)$f$, native, twin, inputs);
END $$;
GRANT USAGE ON SCHEMA test, native, twin TO PUBLIC;
SQL

# A database of the role owner, who is no superuser, with both.
sub new_database {
    my ($name, $options) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE template0 $options OWNER owner");
    $node->safe_psql($name, "CREATE SCHEMA native; CREATE EXTENSION ulid SCHEMA native; CREATE SCHEMA twin", @owner);
    $node->safe_psql($name, "SET search_path = twin;\n$script", @owner);
    $node->safe_psql($name, $comparison, @owner);
    return;
}

# Check that an expression of $1, an array of texts, has the same outcome in both for each row of a query, after these
# commands. What does not end is canceled.
my $compared = 0;
sub same {
    my ($database, $name, $expression, $inputs, $prelude) = (@_, '');
    my ($status, $out, $error) = $node->psql($database, join ';',
        "SET statement_timeout = '${PostgreSQL::Test::Utils::timeout_default}s'", $prelude,
        'SELECT test.differences(' . literal($expression) . ', ' . literal($inputs) . ')');
    my @lines = split /\n/, $out // '';
    my ($count) = (pop @lines // '') =~ /^(\d+) same$/;
    $compared += $count // 0;
    ok($status == 0 && $count && !@lines, "$database: $name" . ($count ? ", $count inputs" : ''))
      or diag(join "\n", @lines, $error);
    return;
}

#
# Inputs
#

sub literal { return "E'" . ($_[0] =~ s/([\\'])/\\$1/gr) . "'" }

# A query of rows, each of which is given as the elements of its array.
sub rows {
    my @arrays = map { join ', ', map { defined $_ ? literal($_) : 'NULL' } @$_ } @_;
    return 'VALUES ' . join ', ', map { "(ARRAY[$_])" } @arrays;
}

# A query of rows with one text.
sub texts { return rows(map { [$_] } @_) }

# The lines of a file of core/tests/data, each as its columns.
sub vectors {
    my ($name) = @_;
    my @lines = grep { !/^#/ } split /\n/, slurp_file("$root/core/tests/data/$name.tsv");
    return map { [map { s/\\t/\t/gr =~ s/\\n/\n/gr =~ s/\\u00e9/\xc3\xa9/gr } split /\t/, $_, -1] } @lines;
}

# Change texts at random, always in the same way: a character that is replaced, left out, or put in.
sub mutated {
    my ($count, @from) = @_;
    my $seed = 1;
    my $random = sub { $seed = ($seed * 1103515245 + 12345) % 2**31; return ($seed >> 8) % $_[0] };
    my @characters = (split(//, 'UuILOilo08zZ7-_ {}aAgG'), "\xc3\xa9", "\xe2\x82\xac", '\\', '%', "'", '"', "\n");
    my @result;
    for (1 .. $count) {
        my $text = $from[$random->(scalar @from)];
        for (0 .. $random->(2)) {
            my $at = $random->(length($text) + 1);
            my $long = $at < length $text ? $random->(2) : 0;
            substr($text, $at, $long) = $random->(3) ? $characters[$random->(scalar @characters)] : '';
        }
        push @result, $text if is_utf8($text);    # not in the middle of a character
    }
    return @result;
}

sub is_utf8 {
    my ($text) = @_;
    return utf8::decode($text);
}

# What is before the suffix of a TypeID.
sub prefix_of { return $_[0] =~ s/_?[^_]*$//r }

my $ulid = '01ARYZ6S41TSV4RRFFQ69G5FAV';
my $uuid = '01563df3-6481-d676-4c61-efb99302bd5b';
my $typeid = 'user_01h455vb4pex5vsknk084sn02q';
my @valid = map { $_->[0] } vectors('valid');
my @uuids = map { $_->[1] } vectors('valid');
my @texts = (@valid, @uuids, map { $_->[0] } vectors('lenient'), vectors('invalid'));
my @typeids = map { $_->[0] } vectors('typeid'), vectors('typeid_invalid');
my @prefixes = (
    (map { my $text = $_; map { substr $text, 0, $_ } 0 .. 26 } @valid[0 .. 9]),
    '8', 'U', "\xc3\xa9", '01U', ' ', 'O', 'l', '7' x 27, 'Z' . '0' x 26, '0' x 27, '0' x 26 . "\xc3\xa9",
);

# Ids: at random, of the vectors, and around all powers of two of the time.
my $ids = <<"SQL";
SELECT ARRAY[gen_random_uuid()::text] FROM generate_series(1, $cases)
UNION ALL SELECT ARRAY[id] FROM unnest('{@{[join ',', @uuids]}}'::text[]) AS id
UNION ALL SELECT ARRAY[lpad(to_hex((1::bigint << k) + d), 12, '0') || repeat('0', 20)]
    FROM generate_series(0, 47) AS k, generate_series(-1, 0) AS d
UNION ALL SELECT ARRAY[NULL]
SQL

# Times: around all powers of two, around the first and the last, far away, and at random.
my $times = <<'SQL';
SELECT ARRAY[t::text] FROM (
    SELECT to_timestamp(0) + ((2::float ^ k + d) * interval '1 ms') + u * interval '1 us'
    FROM generate_series(0, 48) AS k, generate_series(-1, 1) AS d, unnest('{0, 1, 500, 999}'::int[]) AS u
    UNION ALL SELECT '10889-08-02 05:31:50.655+00'::timestamptz + u * interval '1 us'
    FROM unnest('{-1, 0, 1, 999, 1000}'::int[]) AS u
    UNION ALL SELECT to_timestamp(0) + u * interval '1 us'
    FROM unnest('{-1001, -1000, -999, -1, 0, 1, 999, 1000}'::int[]) AS u
    UNION ALL SELECT unnest(
        '{infinity, -infinity, 4714-11-24 00:00+00 BC, 294276-12-31 23:59:59.999999+00}'::timestamptz[])
    UNION ALL SELECT to_timestamp(random() * 4e9) FROM generate_series(1, 500)
) AS v (t)
SQL

# Ranges of these times, of every kind.
my $ranges = <<"SQL";
SELECT ARRAY[tstzrange(least(a, b), greatest(a, b), f)::text]
FROM (
    SELECT CASE WHEN random() < 0.05 THEN NULL ELSE t END AS a,
        CASE WHEN random() < 0.2 THEN NULL
            WHEN random() < 0.6 AND isfinite(t) AND text < '2' THEN t + (random() * 3000)::int * interval '1 us'
            ELSE (array_agg(t) OVER (ROWS BETWEEN 7 PRECEDING AND CURRENT ROW))[1] END AS b
    FROM ($times) AS v (i), LATERAL (VALUES (i[1], i[1]::timestamptz)) AS w (text, t)
) AS x, unnest('{[],[),(],()}'::text[]) AS f
UNION ALL VALUES (ARRAY['empty']), (ARRAY[NULL])
SQL

#
# Texts
#

# Compare every function that takes a text, for the texts that an encoding has.
sub compare_texts {
    my ($database, $fits, $prelude) = (@_, '');
    my @inputs = grep { $fits->($_) } @texts, mutated($cases, @valid, @uuids);
    same($database, 'ulid_is_valid', '@.ulid_is_valid($1[1])', texts(@inputs, undef), $prelude);
    same($database, 'ulid_from_text', '@.ulid_from_text($1[1])::uuid', texts(@inputs, undef), $prelude);

    my @begun = ((grep { $fits->($_) } @prefixes), map { substr $_, 0, length($_) % 7 + 1 } @inputs[0 .. $cases / 2]);
    my $begun = texts((grep { $fits->($_) } @begun), undef);
    same($database, $_, "\@.$_(\$1[1])::uuid", $begun, $prelude) for qw(ulid_prefix_lower ulid_prefix_upper);
    same($database, 'ulid_starts_with', "\@.ulid_starts_with('$uuid'::uuid, \$1[1])", $begun, $prelude);

    my @named = grep { $fits->($_) } @typeids, mutated($cases, @typeids);
    same($database, 'ulid_from_typeid', '@.ulid_from_typeid($1[1])::uuid', texts(@named, undef), $prelude);
    same($database, 'typeid_prefix', '@.typeid_prefix($1[1])', texts(@named, undef), $prelude);
    same($database, 'ulid_from_typeid with a prefix', '@.ulid_from_typeid($1[1], $1[2])::uuid',
        rows((map { [$_, 'prefix'], [$_, prefix_of($_)] } @named),
            [undef, 'user'], ['user_', undef], [undef, undef], ['', '']), $prelude);
    same($database, 'ulid_to_typeid', "\@.ulid_to_typeid(\$1[1], '$uuid'::uuid)",
        texts((map { prefix_of($_) } @named), 'a' x 63, 'a' x 64, '_', 'a_', '_a', undef), $prelude);
    return;
}

new_database('utf8', "ENCODING UTF8 LOCALE 'C'");
compare_texts('utf8', \&is_utf8);

# Texts with each ASCII character at each position.
sub every_character {
    my $texts = join ', ', map { literal($_) } @_;
    return "SELECT ARRAY[overlay(t PLACING chr(c) FROM p FOR 1)] FROM unnest(ARRAY[$texts]) AS t, "
      . 'generate_series(1, length(t)) AS p, generate_series(1, 127) AS c';
}

# also with another fault at the end
my $forms = every_character($ulid, $ulid =~ s/.$/U/r, $uuid, $uuid =~ s/.$/g/r);
my $begun = every_character($ulid, substr($ulid, 0, 10), '0');
my $named = every_character($typeid, $typeid =~ s/.$/u/r, substr($typeid, 5));
my $names = every_character('user', 'a_z', 'a_');
for (
    ['ulid_is_valid($1[1])', $forms],
    ['ulid_from_text($1[1])::uuid', $forms],
    ['ulid_prefix_lower($1[1])::uuid', $begun],
    ['ulid_prefix_upper($1[1])::uuid', $begun],
    ["ulid_starts_with('$uuid'::uuid, \$1[1])", $begun],
    ['ulid_from_typeid($1[1])::uuid', $named],
    ["ulid_from_typeid(\$1[1], 'user')::uuid", $named],
    ['typeid_prefix($1[1])', $named],
    ["ulid_to_typeid(\$1[1], '$uuid'::uuid)", $names],
) {
    my ($call, $inputs) = @$_;
    same('utf8', "$call of every character at every position", "\@.$call", $inputs);
}

# Texts that are longer than what a regular expression can be applied to.
for my $call (
    'ulid_is_valid(huge)',
    $ENV{LARGE} ? ('ulid_from_text(huge)', 'ulid_prefix_lower(huge)', "ulid_starts_with('$uuid'::uuid, huge)",
        'ulid_from_typeid(huge)', "typeid_prefix(huge || '_')", "ulid_to_typeid(huge, '$uuid'::uuid)") : (),
) {
    same('utf8', $call, '@.' . $call =~ s/huge/repeat('0', 268435456)/r, texts(''));
}

#
# Ids, times and ranges
#

same('utf8', $_, "\@.$_(\$1[1]::uuid)", $ids)
  for qw(ulid_to_text ulid_extract_timestamp ulid_extract_unix_ms ulid_extract_randomness ulid_to_uuid_v7);
same('utf8', 'ulid_to_typeid of ids', "\@.ulid_to_typeid('a_z', \$1[1]::uuid)", $ids);

my $null = 'UNION ALL SELECT ARRAY[NULL]';
same('utf8', $_, "\@.$_(\$1[1]::timestamptz)::uuid", $times . $null) for qw(ulid_lower_bound ulid_upper_bound);
same('utf8', 'gen_ulid of a time', 'substr(@.gen_ulid($1[1]::timestamptz)::uuid::text, 1, 13)', $times . $null);
# time, version and fraction, then the variant
same('utf8', 'gen_uuid_v7 of a time', 'substr(@.gen_uuid_v7($1[1]::timestamptz)::text, 1, 18)
    || (get_byte(uuid_send(@.gen_uuid_v7($1[1]::timestamptz)), 8) >> 6)', $times . $null);

same('utf8', $_, "\@.$_(\$1[1]::tstzrange)::uuid", $ranges) for qw(ulid_range_lower ulid_range_upper);
same('utf8', "ulid_contained_by_range of $_", "\@.ulid_contained_by_range('$_'::uuid, \$1[1]::tstzrange)", $ranges)
  for @uuids[0 .. 2];

# A constant is evaluated when the query is planned, where a native function says nothing that no row asks for.
$node->safe_psql('utf8', <<"SQL", @owner);
CREATE TABLE test.nothing (id uuid, t text);
CREATE TABLE test.nulls AS SELECT id, t FROM (VALUES (1)) AS v (n) LEFT JOIN test.nothing ON true;
CREATE TABLE test.one AS SELECT '$uuid'::uuid AS id, '$typeid' AS t;
SQL
for my $call (
    (map { "ulid_starts_with(id, $_)" } "'U'", "'8'", "repeat('0', 27)", 'NULL', "''", "'01A'", 't'),
    (map { "ulid_to_typeid($_, id)" } "'A'", "'_'", "repeat('a', 64)", 'NULL', "''", "'user'", 't'),
    (map { "ulid_from_typeid(t, $_)::uuid" } "'A'", "'_'", 'NULL', "''", "'user'"),
    (map { "ulid_contained_by_range(id, $_)" } "'empty'", 'NULL', "'[,)'"),
    (map { ("gen_ulid($_)", "gen_uuid_v7($_)") } "'infinity'", "'1969-12-31 00:00+00'"),
) {
    for my $table (qw(nothing nulls one)) {
        same('utf8', "$call of $table",
            "(SELECT string_agg(coalesce(\@.$call\::text, 'null'), ' ') FROM test.$table)", texts(''));
        same('utf8', "$call as a condition of $table", "(SELECT count(*) FROM test.$table WHERE \@.$call)", texts(''))
          if $call =~ /^ulid_(?:starts_with|contained)/;
    }
}

#
# The catalog, generators and plans
#

# Names, arguments, results and promises; the helpers have no counterpart.
is($node->safe_psql('utf8', <<'SQL'), '', 'the catalog has every function as it has that of the extension');
WITH f AS (
    SELECT pronamespace = 'twin'::regnamespace AS is_twin, proname, proargnames, provolatile, proparallel, prokind,
        replace(replace(format('%s -> %s', pg_get_function_arguments(oid), pg_get_function_result(oid)),
            'native.ulid_window', 'tstzrange'), 'native.ulid', 'uuid') AS types
    FROM pg_proc
    WHERE pronamespace IN ('native'::regnamespace, 'twin'::regnamespace) AND proname NOT LIKE 'ulid\_sql\_%'
)
SELECT proname, proargnames, provolatile, proparallel, prokind, types FROM f WHERE is_twin
EXCEPT SELECT proname, proargnames, provolatile, proparallel, prokind, types FROM f WHERE NOT is_twin
SQL
is($node->safe_psql('utf8', <<'SQL'), '', 'every function has a comment');
SELECT oid::regprocedure FROM pg_proc
WHERE pronamespace = 'twin'::regnamespace AND obj_description(oid, 'pg_proc') IS NULL
SQL

for my $call ('gen_ulid()', 'gen_ulid(clock_timestamp())') {
    is($node->safe_psql('utf8', <<"SQL"), 't|t|t|t', "$call: distinct, the time of the clock, distinct random bits");
SET search_path = twin;
WITH g AS MATERIALIZED (
    SELECT clock_timestamp() AS before, $call AS id, clock_timestamp() AS after FROM generate_series(1, 10000)
), bits AS (
    SELECT k, count(*) FILTER (WHERE get_bit(ulid_extract_randomness(id), k) = 1) AS ones
    FROM g, generate_series(0, 79) AS k GROUP BY k
)
SELECT count(DISTINCT id) = 10000,
    bool_and(ulid_extract_timestamp(id) BETWEEN date_trunc('milliseconds', before) AND after),
    (SELECT min(ones) > 4500 AND max(ones) < 5500 FROM bits), count(DISTINCT ulid_extract_randomness(id)) = 10000
FROM g
SQL
}

# An index on the uuid serves windows and prefixes, of constants, of parameters and in joins.
$node->safe_psql('utf8', <<'SQL');
CREATE TABLE test.event (id uuid PRIMARY KEY, n int);
ALTER TABLE test.event OWNER TO owner;
INSERT INTO test.event
SELECT twin.gen_ulid('2026-01-01 00:00+00'::timestamptz + n * interval '1 minute'), n
FROM generate_series(0, 19999) AS n;
ANALYZE test.event;
SQL
my $settings = <<'SQL';
SET search_path = twin, test, pg_catalog;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET plan_cache_mode = force_generic_plan;
SQL
my %queries = (
    'a constant range' => "ulid_contained_by_range(id, '[2026-01-02 00:00+00, 2026-01-02 01:00+00)')",
    'a stable range' => "ulid_contained_by_range(id, tstzrange(now() - interval '1 day', now()))",
    'a constant prefix' => "ulid_starts_with(id, '01KDY0')",
);
my %plans = map { $_ => "EXPLAIN (COSTS OFF) SELECT count(*) FROM event WHERE $queries{$_}" } keys %queries;
$plans{'a range of another table'} = <<'SQL';
EXPLAIN (COSTS OFF) SELECT count(*)
FROM (VALUES (tstzrange('2026-01-02 00:00+00', '2026-01-02 01:00+00'))) AS s (period)
JOIN event ON ulid_contained_by_range(id, period)
SQL
$plans{'a range as a parameter'} = <<'SQL';
PREPARE q AS SELECT count(*) FROM event WHERE ulid_contained_by_range(id, $1) AND n >= 0;
EXPLAIN (COSTS OFF) EXECUTE q ('empty')
SQL
$plans{'a prefix as a parameter'} = <<'SQL';
PREPARE q AS SELECT count(*) FROM event WHERE ulid_starts_with(id, $1) AND n >= 0;
EXPLAIN (COSTS OFF) EXECUTE q ('01KDY0')
SQL
for my $what (sort keys %plans) {
    like($node->safe_psql('utf8', $settings . $plans{$what}), qr/Index Cond: \(\(id >= .* AND \(id <= /,
        "an index serves $what");
}
unlike($node->safe_psql('utf8', $settings . $plans{'a constant prefix'}), qr/Filter/,
    'a valid constant is not checked again');

#
# Paths and settings of the session
#

my %calls = (
    "ulid_to_text('$uuid')" => $ulid,
    "ulid_from_text('$ulid')" => $uuid,
    "ulid_from_text('01563DF3-6481-d676-4c61-efb99302bd5b')" => $uuid,
    "ulid_is_valid('$ulid')" => 't',
    "ulid_is_valid('$uuid')" => 't',
    "ulid_is_valid('01ARYZ6S41TSV4RRFFQ69G5FAU')" => 'f',
    "ulid_extract_timestamp('$uuid')" => '2016-07-30 22:36:16.385+00',
    "ulid_extract_unix_ms('$uuid')" => '1469918176385',
    "ulid_extract_randomness('$uuid')" => '\xd6764c61efb99302bd5b',
    "ulid_extract_unix_ms(gen_ulid('2016-07-30 22:36:16.385+00'))" => '1469918176385',
    "ulid_extract_unix_ms(gen_uuid_v7('2016-07-30 22:36:16.385+00'))" => '1469918176385',
    "ulid_extract_unix_ms(gen_ulid()) OPERATOR(pg_catalog.>) 1469918176385" => 't',
    "ulid_lower_bound('2016-07-30 22:36:16.385+00')" => '01563df3-6481-0000-0000-000000000000',
    "ulid_upper_bound('2016-07-30 22:36:16.385+00')" => '01563df3-6481-ffff-ffff-ffffffffffff',
    "ulid_range_lower('[2016-07-30 22:36:16.385+00,)')" => '01563df3-6481-0000-0000-000000000000',
    "ulid_range_upper('[,2016-07-30 22:36:16.385+00]')" => '01563df3-6481-ffff-ffff-ffffffffffff',
    "ulid_contained_by_range('$uuid', '[2016-07-30 22:36:16.385+00,2016-07-30 22:36:16.386+00)')" => 't',
    "ulid_prefix_lower('01ARYZ')" => '01563df0-0000-0000-0000-000000000000',
    "ulid_prefix_upper('')" => 'ffffffff-ffff-ffff-ffff-ffffffffffff',
    "ulid_starts_with('$uuid', '01arYZ')" => 't',
    "ulid_to_uuid_v7('$uuid')" => '01563df3-6481-7676-8c61-efb99302bd5b',
    "ulid_to_typeid('user', '01890a5d-ac96-774b-bcce-b302099a8057')" => $typeid,
    "ulid_from_typeid('$typeid')" => '01890a5d-ac96-774b-bcce-b302099a8057',
    "ulid_from_typeid('$typeid', 'user')" => '01890a5d-ac96-774b-bcce-b302099a8057',
    "typeid_prefix('$typeid')" => 'user',
);
my @called = keys %{ { map { /^(\w+)/ => 1 } map { ($_, /\((gen_\w+)/) } keys %calls } };
is(scalar @called, $node->safe_psql('utf8', q{SELECT count(DISTINCT proname) FROM pg_proc
    WHERE pronamespace = 'twin'::regnamespace AND proname NOT LIKE 'ulid\_sql\_%'}), 'every function is called');
my @errors = (
    (map { "ulid_from_text('$_')" } 'x', "\xc3\xa9", '8' x 26, '0' x 25 . 'U', '0' x 36),
    "ulid_prefix_lower('u')", "ulid_starts_with('$uuid', 'u')", "ulid_from_typeid('X')", "ulid_to_typeid('_', '$uuid')",
    "ulid_lower_bound('infinity')",
);

# What calls print in a new session, by their numbers, and their errors, without contexts, where the path matters.
sub printed {
    my ($prelude, @calls) = @_;
    my $queries = join "\n", map { "SELECT $_, $calls[$_];" } 0 .. $#calls;
    my ($status, $out, $error) = $node->psql('utf8', "$prelude;\n$queries", on_error_stop => 0);
    return ({ map { split /\|/, $_, 2 } split /\n/, $out }, $error =~ s/^(?:CONTEXT:  .*|SQL function .*)\n?//mgr);
}

# Check that after these commands calls have their results and errors, and nothing else is printed.
sub unaffected {
    my ($name, $prelude) = @_;
    my @calls = sort keys %calls;
    my ($results, $said) = printed($prelude, @calls);
    is_deeply($results, { map { $_ => $calls{ $calls[$_] } } 0 .. $#calls }, "$name changes no result");
    is($said, '', 'and nothing is said');
    my (undef, $expected) = printed('SET search_path = twin, pg_catalog', @errors);
    is(() = $expected =~ /ERROR:  .*(?:invalid|out of range)/g, scalar @errors, 'errors of every kind');
    my (undef, $errors) = printed($prelude, @errors);
    is($errors, $expected, "$name changes no error");
    return;
}

# What somebody else has put into the path of the caller is not called, by any form of a call; nor what is there when
# the script is run, as core comes first.
$node->safe_psql('utf8', <<'SQL');
CREATE SCHEMA hostile;
DO $$
DECLARE
    f record;
    types CONSTANT regtype[] :=
        '{text, bytea, smallint, integer, bigint, double precision, uuid, timestamptz, interval}';
BEGIN
    FOR f IN
        SELECT proname, pg_get_function_identity_arguments(p.oid) AS arguments, pg_get_function_result(p.oid) AS result
        FROM pg_proc AS p
        WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND NOT proretset AND provariadic = 0
            AND proname = ANY ('{encode, decode, substring, substr, int8send, int4send, int2send, uuid_send, date_part,
                date_bin, clock_timestamp, gen_random_uuid, overlay, get_byte, set_byte, to_timestamp, lower, upper,
                repeat, length, left, rpad, split_part, position, octet_length, ltrim, format, translate, convert,
                convert_to, getdatabaseencoding, ascii, to_hex, isfinite, lower_inc, upper_inc, isempty, timezone}')
            AND NOT EXISTS (SELECT FROM unnest(proargtypes) AS t JOIN pg_type ON pg_type.oid = t WHERE typtype = 'p')
    LOOP
        EXECUTE format($f$CREATE FUNCTION hostile.%I(%s) RETURNS %s LANGUAGE plpgsql
            AS 'BEGIN RAISE EXCEPTION ''hostile''; END'$f$, f.proname, f.arguments, f.result);
    END LOOP;
    FOR f IN
        SELECT oprname, 'operator ' || oid AS name, oprleft::regtype AS l, oprright::regtype AS r,
            oprresult::regtype AS result
        FROM pg_operator
        WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprkind = 'b'
            AND oprname = ANY ('{||, >>, <<, &, |, +, -, *, /, %, =, <>, <, >, <=, >=, ~, !~}')
            AND oprleft = ANY (types) AND oprright = ANY (types)
    LOOP
        EXECUTE format($f$CREATE FUNCTION hostile.%I(%s, %s) RETURNS %s LANGUAGE plpgsql
            AS 'BEGIN RAISE EXCEPTION ''hostile''; END'$f$, f.name, f.l, f.r, f.result);
        EXECUTE format('CREATE OPERATOR hostile.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = hostile.%I)',
            f.oprname, f.l, f.r, f.name);
    END LOOP;
    IF EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') THEN
        CREATE COLLATION hostile."C" (PROVIDER = icu, LOCALE = 'und-u-ks-level1', DETERMINISTIC = false);
    END IF;
    FOR f IN SELECT unnest('{text, uuid, bytea, timestamptz, tstzrange, float8, int2, int4, int8}'::text[]) AS name LOOP
        EXECUTE format('CREATE DOMAIN hostile.%I AS pg_catalog.bool', f.name);
    END LOOP;
END $$;
CREATE FUNCTION hostile.min(integer) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''hostile''; END';
CREATE FUNCTION hostile.generate_series(integer, integer) RETURNS SETOF integer LANGUAGE plpgsql
    AS 'BEGIN RAISE EXCEPTION ''hostile''; END';
GRANT USAGE ON SCHEMA hostile TO PUBLIC;
CREATE SCHEMA twin_too;
SQL
for my $kind (qw(pg_proc pg_operator)) {
    my $count = $node->safe_psql('utf8', "SELECT count(*) FROM $kind WHERE "
          . ($kind eq 'pg_proc' ? 'pronamespace' : 'oprnamespace') . " = 'hostile'::regnamespace");
    cmp_ok($count, '>', 90, "$count objects of $kind shadow those of core");
}
$node->safe_psql('utf8', "SET search_path = twin_too, hostile;\n$script");
unaffected("a hostile search_path before $_", "SET search_path = hostile, $_, pg_catalog") for qw(twin twin_too);

# The server can be set to take a backslash in any literal as an escape; 19 cannot. Then each one is also a warning.
SKIP: {
    my $off = 'SET standard_conforming_strings = off';
    skip('no standard_conforming_strings = off', 1) if ($node->psql('utf8', $off))[0] != 0;
    $node->safe_psql('utf8', 'CREATE SCHEMA twin_off');
    my ($status, $out, $error) = $node->psql('utf8', "$off; SET search_path = twin_off;\n$script", on_error_stop => 1);
    is($status . $error, '0', 'the script runs without standard_conforming_strings, and without a warning');
    unaffected("standard_conforming_strings = off, with $_,", "$off; SET search_path = $_, pg_catalog")
      for qw(twin twin_off);
}

# Collations that are not those of bytes.
SKIP: {
    skip('no ICU', 1) if $node->safe_psql('utf8', q{SELECT 1 FROM pg_collation WHERE collname = 'tr-x-icu'}) eq '';
    $node->safe_psql('utf8', q{
        CREATE COLLATION test.loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)});
    my @inputs = grep { is_utf8($_) } @texts, 'iIlLoO' . '0' x 20, mutated(300, @valid, @uuids);
    my @begun = map { substr $_, 0, 3 } grep { /^[ -~]*$/ } @inputs;
    my @named = grep { is_utf8($_) } @typeids, $typeid, 'USER_01h455vb4pex5vsknk084sn02q', mutated(300, @typeids);
    for my $collation ('"tr-x-icu"', 'test.loose') {
        my $text = "\$1[1] COLLATE $collation";
        same('utf8', "ulid_from_text, $collation", "\@.ulid_from_text($text)::uuid", texts(@inputs));
        same('utf8', "ulid_is_valid, $collation", "\@.ulid_is_valid($text)", texts(@inputs));
        same('utf8', "ulid_prefix_upper, $collation", "\@.ulid_prefix_upper($text)::uuid", texts(@begun));
        same('utf8', "ulid_starts_with, $collation", "\@.ulid_starts_with('$uuid'::uuid, $text)", texts(@begun));
        same('utf8', "ulid_from_typeid, $collation", "\@.ulid_from_typeid($text, 'user')::uuid", texts(@named));
        same('utf8', "ulid_to_typeid, $collation", "\@.ulid_to_typeid($text, '$uuid'::uuid)",
            texts(map { prefix_of($_) } @named));
    }
}

#
# Other encodings
#

for my $encoding ('LATIN1', 'EUC_JP', 'SQL_ASCII') {
    my $database = lc $encoding;
    new_database($database, "ENCODING $encoding LOCALE 'C'");
    # typed as UTF-8, which SQL_ASCII takes as bytes
    my %fits = (LATIN1 => qr/^[^\xe2]*$/, EUC_JP => qr/^[\x01-\x7f]*$/, SQL_ASCII => qr//);
    compare_texts($database, sub { return is_utf8($_[0]) && $_[0] =~ $fits{$encoding} },
        $encoding eq 'SQL_ASCII' ? '' : "SET client_encoding = 'UTF8'");
}
same('euc_jp', 'ulid_from_text of kana', '@.ulid_from_text($1[1])::uuid',
    texts("\xe3\x81\x82" . '0' x 23, "\xe3\x81\x82", '0' x 25 . "\xe3\x81\x82", '0' x 34 . "\xe3\x81\x82"),
    "SET client_encoding = 'UTF8'");

#
# Rights, dump and restore
#

# A role that may do nothing calls the functions; and without the schema, uses what was made with them.
my @readable = grep { is_utf8($_) } @texts, @typeids;
for my $function (qw(ulid_from_text ulid_from_typeid)) {
    same('utf8', "$function by a role without rights", "\@.$function(\$1[1])::uuid",
        texts(@readable), 'SET ROLE stranger');
}
$node->safe_psql('utf8', <<'SQL', @owner);
CREATE TABLE test.ticket (
    id uuid PRIMARY KEY DEFAULT twin.gen_ulid(),
    made timestamptz GENERATED ALWAYS AS (twin.ulid_extract_timestamp(id)) STORED,
    parent uuid CHECK (twin.ulid_extract_unix_ms(parent) > 0),
    label text DEFAULT twin.ulid_to_typeid('ticket', twin.gen_ulid())
);
CREATE INDEX ON test.ticket (twin.ulid_to_text(id));
CREATE VIEW test.tickets AS
    SELECT twin.ulid_to_text(id) AS id, made FROM test.ticket
    WHERE twin.ulid_contained_by_range(id, '[2026-01-01 00:00+00,)');
GRANT ALL ON test.ticket, test.tickets TO stranger;
REVOKE USAGE ON SCHEMA twin FROM PUBLIC;
SQL
is($node->safe_psql('utf8', <<'SQL', @stranger), "t|1\nt", 'a default, an index and a view call what it may not');
INSERT INTO test.ticket DEFAULT VALUES;
SELECT bool_and(length(id) = 26), count(*) FROM test.tickets;
SELECT typeid LIKE 'ticket\_%' FROM (SELECT label FROM test.ticket) AS t (typeid);
SQL
like(($node->psql('utf8', 'SELECT twin.gen_ulid()', @stranger))[2], qr/permission denied for schema twin/,
    'which cannot be called by name');

# by the owner
my $dump = $node->basedir . '/ulid_sql.dump';
$node->safe_psql('utf8', 'DROP SCHEMA hostile, twin_too CASCADE; DROP SCHEMA IF EXISTS twin_off CASCADE');
$node->command_ok([qw(pg_dump -U owner -Fc -N native -e plpgsql -f), $dump, 'utf8'], 'dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0 OWNER owner', @owner);
$node->command_ok([qw(pg_restore -U owner --no-owner --exit-on-error -j2 -d restored), $dump], 'restore');
my $content = <<'SQL';
SELECT * FROM test.ticket;
SELECT * FROM test.tickets;
SELECT count(*), sum(hashtext(id::text)) FROM test.event;
SQL
is($node->safe_psql('restored', $content), $node->safe_psql('utf8', $content), 'the same is there');
is($node->safe_psql('restored', 'SELECT length(id) FROM test.tickets
    WHERE id = (SELECT twin.ulid_to_text(id) FROM test.ticket)'), 26, 'and works');

cmp_ok($compared, '>', 100_000, "$compared outcomes were compared");

done_testing();
