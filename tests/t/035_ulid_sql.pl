# The functions of sql/ulid_sql.sql do what those of the extension do: the same results, and errors with the same SQLSTATE,
# message and detail. Both are in one database, in two schemas. CASES (500) is how many texts and ids are made at random.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

plan(skip_all => 'takes PostgreSQL 14') if $major < 14;
my $cases = $ENV{CASES} || 500;

# Read a file of core/tests/data: a list of columns for each line.
sub vectors {
    my ($name) = @_;
    my @lines = grep { !/^#/ } split /\n/, slurp_file("$root/core/tests/data/$name.tsv");
    return map { [map { s/\\t/\t/gr =~ s/\\n/\n/gr =~ s/\\u00e9/\xc3\xa9/gr } split /\t/, $_, -1] } @lines;
}

sub literal { return "E'" . ($_[0] =~ s/([\\'])/\\$1/gr) . "'" }

my $node = new_server('ulid_sql', extension => 0);
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN CREATEDB; CREATE ROLE stranger LOGIN');

# Both in a database of the role owner, who is no superuser, and how they are compared.
sub new_database {
    my ($name, $options) = @_;
    my @owner = (extra_params => ['-U', 'owner'], on_error_stop => 1);
    $node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE template0 $options OWNER owner");
    $node->safe_psql($name, 'CREATE SCHEMA native; CREATE EXTENSION ulid SCHEMA native; CREATE SCHEMA twin', @owner);
    $node->safe_psql($name, "SET search_path = twin;\n" . slurp_file("$root/sql/ulid_sql.sql"), @owner);
    $node->safe_psql($name, <<'SQL', @owner);
CREATE SCHEMA test;
-- What a query gives, or the error that it raises.
CREATE FUNCTION test.outcome(query text, input text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text; state text; message text; detail text; hint text;
BEGIN
    EXECUTE query INTO result USING input;
    RETURN coalesce(result, 'null');
EXCEPTION WHEN others THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN format('%s %s / %s / %s', state, message, detail, hint);
END $$;

-- The inputs for which a query, where @ stands for the schema, has different outcomes; then, how many were compared.
CREATE FUNCTION test.differences(expression text, inputs text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    native CONSTANT text := 'SELECT (' || replace(expression, '@', 'native') || ')::text';
    twin CONSTANT text := 'SELECT (' || replace(expression, '@', 'twin') || ')::text';
BEGIN
    RETURN QUERY EXECUTE format($f$
        WITH tried AS MATERIALIZED (SELECT i, test.outcome(%L, i) AS a, test.outcome(%L, i) AS b FROM (%s) AS v (i))
        (SELECT format('%%s: native %%s, twin %%s', i, a, b) FROM tried WHERE a IS DISTINCT FROM b LIMIT 5)
        UNION ALL (SELECT format('%%s same', count(*)) FROM tried)$f$, native, twin, inputs);
END $$;
GRANT USAGE ON SCHEMA test, native, twin TO PUBLIC;
SQL
    return;
}
# Whether an expression of $1, an array of texts, has the same outcome in both for each row of a query; counts them.
my $compared = 0;
sub same {
    my ($database, $expression, $inputs, %how) = @_;
    my $result = $node->safe_psql($database, ($how{prelude} // '') . ";SELECT test.differences(" . literal($expression) . ", " . literal($inputs) . ')');
    my @lines = split /\n/, $result;
    my ($count) = (pop @lines) =~ /^(\d+) same$/;
    $compared += $count;
    ok(!@lines && $count > 0, "$database: $expression, $count inputs" . ($how{name} ? " $how{name}" : '')) or diag(join "\n", @lines);
    return;
}

sub inputs { return 'VALUES ' . join ', ', map { '(ARRAY[' . join(', ', map { defined $_ ? literal($_) : 'NULL' } @$_) . '])' } @_ }

my @valid = map { $_->[0] } vectors('valid');
my @uuids = map { $_->[1] } vectors('valid');
my @texts = (@valid, @uuids, map { $_->[0] } vectors('lenient'), vectors('invalid'));
my @typeids = map { $_->[0] } vectors('typeid'), vectors('typeid_invalid');

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
        utf8::decode(my $check = $text) or next;    # not in the middle of a character
        push @result, $text;
    }
    return @result;
}

# Times around all powers of two, around the first and the last, and far away.
my $times = <<'SQL';
SELECT ARRAY[t::text] FROM (
    SELECT to_timestamp(0) + ((2::float ^ k + d) * interval '1 ms') + u * interval '1 us'
    FROM generate_series(0, 48) AS k, generate_series(-1, 1) AS d, unnest('{0, 1, 500, 999}'::int[]) AS u
    UNION ALL SELECT '10889-08-02 05:31:50.655+00'::timestamptz + u * interval '1 us' FROM unnest('{-1, 0, 1, 999, 1000}'::int[]) AS u
    UNION ALL SELECT to_timestamp(0) + u * interval '1 us' FROM unnest('{-1001, -1000, -999, -1, 0, 1, 999, 1000}'::int[]) AS u
    UNION ALL SELECT unnest('{infinity, -infinity, 4714-11-24 00:00+00 BC, 294276-12-31 23:59:59.999999+00}'::timestamptz[])
    UNION ALL SELECT to_timestamp(random() * 4e9) FROM generate_series(1, 500)
) AS v (t)
SQL
# Ids: at random, of the vectors, and around all powers of two of the time.
my $ids = "SELECT ARRAY[gen_random_uuid()::text] FROM generate_series(1, $cases) UNION ALL SELECT ARRAY[id] FROM unnest('{"
  . join(',', @uuids) . "}'::text[]) AS id UNION ALL SELECT ARRAY[lpad(to_hex((1::bigint << k) + d), 12, '0') || repeat('0', 20)]"
  . ' FROM generate_series(0, 47) AS k, generate_series(-1, 0) AS d';

# Every function that takes a text, for texts in the encoding of the database.
sub compare_texts {
    my ($database, $filter, %how) = @_;
    my @mutated = grep { $filter->($_) } @texts, mutated($cases, @valid, @uuids);
    same($database, '@.ulid_from_text($1[1])::uuid', inputs(map { [$_] } @mutated, undef), %how);
    same($database, '@.ulid_is_valid($1[1])', inputs(map { [$_] } @mutated, undef), %how);
    my @prefixes = grep { $filter->($_) } (map { my $text = $_; map { substr $text, 0, $_ } 0 .. 26 } @valid[0 .. 9]),
      (map { substr $_, 0, length($_) % 7 + 1 } @mutated[0 .. $cases / 2]), '8', 'U', "\xc3\xa9", '01U', ' ', 'O', 'l', '7' x 27, 'Z' . '0' x 26, '0' x 27, '0' x 26 . "\xc3\xa9";
    for my $function ('ulid_prefix_lower($1[1])::uuid', 'ulid_prefix_upper($1[1])::uuid', "ulid_starts_with('01563df3-6481-d676-4c61-efb99302bd5b'::uuid, \$1[1])") {
        same($database, "\@.$function", inputs(map { [$_] } @prefixes, undef), %how);
    }
    my @named = grep { $filter->($_) } @typeids, mutated($cases, @typeids);
    same($database, '@.ulid_from_typeid($1[1])::uuid', inputs(map { [$_] } @named, undef), %how);
    same($database, '@.typeid_prefix($1[1])', inputs(map { [$_] } @named, undef), %how);
    same($database, '@.ulid_from_typeid($1[1], $1[2])::uuid',
        inputs((map { [$_, 'prefix'], [$_, s/_?[^_]*$//r] } @named), [undef, 'user'], ['user_', undef], [undef, undef], ['', '']), %how);
    same($database, "\@.ulid_to_typeid(\$1[1], '01563df3-6481-d676-4c61-efb99302bd5b'::uuid)",
        inputs(map { [$_] } (map { s/_?[^_]*$//r } @named), 'a' x 63, 'a' x 64, '_', 'a_', '_a', undef), %how);
    return;
}

new_database('utf8', "ENCODING UTF8 LOCALE 'C'");
my $known = sub { my $text = $_[0]; return utf8::decode($text) };
compare_texts('utf8', $known);
same('utf8', $_, "$ids UNION ALL SELECT ARRAY[NULL]") for map { "\@.$_(\$1[1]::uuid)" }
  qw(ulid_to_text ulid_extract_timestamp ulid_extract_unix_ms ulid_extract_randomness ulid_to_uuid_v7);
same('utf8', '@.ulid_to_typeid($1[2], $1[1]::uuid)', "SELECT i || ARRAY['a_z'] FROM ($ids) AS v (i)");
same('utf8', $_, "$times UNION ALL SELECT ARRAY[NULL]") for (map { "\@.$_(\$1[1]::timestamptz)::uuid" } qw(ulid_lower_bound ulid_upper_bound)),
  'substr(@.gen_ulid($1[1]::timestamptz)::uuid::text, 1, 13)',
  # time, version and fraction, then the variant
  'substr(@.gen_uuid_v7($1[1]::timestamptz)::text, 1, 18) || (get_byte(uuid_send(@.gen_uuid_v7($1[1]::timestamptz)), 8) >> 6)';
my $ranges = <<"SQL" . "UNION ALL VALUES (ARRAY['empty']), (ARRAY[NULL])";
SELECT ARRAY[tstzrange(least(a, b), greatest(a, b), f)::text] FROM (
    SELECT CASE WHEN random() < 0.05 THEN NULL ELSE i[1]::timestamptz END AS a,
        CASE WHEN random() < 0.2 THEN NULL WHEN random() < 0.6 AND isfinite(i[1]::timestamptz) AND i[1] < '2' THEN i[1]::timestamptz + (random() * 3000)::int * interval '1 us'
        ELSE (array_agg(i[1]) OVER (ROWS BETWEEN 7 PRECEDING AND CURRENT ROW))[1]::timestamptz END AS b
    FROM ($times) AS v (i)) AS w, unnest('{[],[),(],()}'::text[]) AS f
SQL
same('utf8', $_, $ranges) for (map { "\@.$_(\$1[1]::tstzrange)::uuid" } qw(ulid_range_lower ulid_range_upper)),
  map { "\@.ulid_contained_by_range('$_'::uuid, \$1[1]::tstzrange)" } $uuids[2], $uuids[0], $uuids[1];

# Same names, arguments, results and promises of every function but the helpers.
is($node->safe_psql('utf8', <<'SQL'), '', 'the catalogue has them as that of the extension');
WITH f AS (
    SELECT pronamespace = 'twin'::regnamespace AS is_twin, proname, proargnames, provolatile, proparallel, prokind,
        replace(replace(format('%s -> %s', pg_get_function_arguments(oid), pg_get_function_result(oid)), 'native.ulid_window', 'tstzrange'), 'native.ulid', 'uuid') AS types
    FROM pg_proc WHERE pronamespace IN ('native'::regnamespace, 'twin'::regnamespace) AND proname NOT LIKE 'ulid\_sql\_%'
)
SELECT proname, proargnames, provolatile, proparallel, prokind, types FROM f WHERE is_twin
EXCEPT SELECT proname, proargnames, provolatile, proparallel, prokind, types FROM f WHERE NOT is_twin
UNION ALL SELECT oid::regprocedure::text || ' has no comment', NULL, NULL, NULL, NULL, NULL FROM pg_proc
    WHERE pronamespace = 'twin'::regnamespace AND obj_description(oid, 'pg_proc') IS NULL
SQL

# The generators.
is($node->safe_psql('utf8', <<"SQL"), 't|t|t|t', "$_: the time of the clock, and 80 random bits") for 'gen_ulid()', "gen_ulid(clock_timestamp())";
SET search_path = twin;
WITH g AS MATERIALIZED (SELECT clock_timestamp() AS before, $_ AS id, clock_timestamp() AS after FROM generate_series(1, 10000)),
    bits AS (SELECT k, count(*) FILTER (WHERE get_bit(ulid_extract_randomness(id), k) = 1) AS ones FROM g, generate_series(0, 79) AS k GROUP BY k)
SELECT count(DISTINCT id) = 10000,
    bool_and(ulid_extract_timestamp(id) BETWEEN date_trunc('milliseconds', before) AND after),
    (SELECT min(ones) > 4500 AND max(ones) < 5500 FROM bits), count(DISTINCT ulid_extract_randomness(id)) = 10000 FROM g
SQL

# An index on the uuid serves windows and prefixes, of constants, of parameters and in joins.
$node->safe_psql('utf8', <<'SQL');
CREATE TABLE test.event (id uuid PRIMARY KEY, n int);
ALTER TABLE test.event OWNER TO owner;
INSERT INTO test.event SELECT twin.gen_ulid('2026-01-01 00:00+00'::timestamptz + n * interval '1 minute'), n FROM generate_series(0, 19999) AS n;
ANALYZE test.event;
SQL
my $path = 'SET search_path = twin, test, pg_catalog; SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;';
for my $query (
    "SELECT count(*) FROM event WHERE ulid_contained_by_range(id, '[2026-01-02 00:00+00, 2026-01-02 01:00+00)')",
    "SELECT count(*) FROM event WHERE ulid_contained_by_range(id, tstzrange(now() - interval '1 day', now()))",
    "SELECT count(*) FROM event WHERE ulid_starts_with(id, '01KDY0')",
    "SELECT count(*) FROM (VALUES (tstzrange('2026-01-02 00:00+00', '2026-01-02 01:00+00'))) AS s (period) JOIN event ON ulid_contained_by_range(id, period)",
    "PREPARE q AS SELECT count(*) FROM event WHERE ulid_contained_by_range(id, \$1) AND n >= 0; SET plan_cache_mode = force_generic_plan; EXPLAIN (COSTS OFF) EXECUTE q ('empty')",
    "PREPARE q AS SELECT count(*) FROM event WHERE ulid_starts_with(id, \$1) AND n >= 0; SET plan_cache_mode = force_generic_plan; EXPLAIN (COSTS OFF) EXECUTE q ('01KDY0')",
) {
    my $plan = $node->safe_psql('utf8', $path . ($query =~ /EXPLAIN/ ? $query : "EXPLAIN (COSTS OFF) $query"));
    like($plan, qr/Index Cond: \(\(id >= .* AND \(id <= /, "by the index: $query");
}

# What somebody else has put into the path of the caller is not called, by any form of a call; nor what is there when the
# script is run, as core comes first.
$node->safe_psql('utf8', <<'SQL');
CREATE SCHEMA hostile;
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid, proname, pg_get_function_identity_arguments(p.oid) AS arguments, pg_get_function_result(p.oid) AS result
        FROM pg_proc AS p WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND NOT proretset AND provariadic = 0
        AND proname = ANY ('{encode, decode, substring, substr, int8send, int4send, int2send, uuid_send, date_part, date_bin, clock_timestamp,
            gen_random_uuid, overlay, get_byte, set_byte, to_timestamp, lower, upper, repeat, length, octet_length, ltrim, format, translate,
            convert_to, isfinite, lower_inc, upper_inc, isempty, regexp_match, timezone}')
        AND NOT EXISTS (SELECT FROM unnest(proargtypes) AS t JOIN pg_type ON pg_type.oid = t WHERE typtype = 'p')
    LOOP
        EXECUTE format($f$CREATE FUNCTION hostile.%I(%s) RETURNS %s LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''hostile''; END'$f$,
            f.proname, f.arguments, f.result);
    END LOOP;
    FOR f IN SELECT oprname, 'operator ' || oid AS name, oprleft::regtype AS l, oprright::regtype AS r, oprresult::regtype AS result FROM pg_operator
        WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprkind = 'b' AND oprname IN ('||', '>>', '<<', '&', '|', '+', '-', '*', '/', '%', '=', '<>', '<', '>', '<=', '>=', '~', '!~')
        AND oprleft = ANY ('{text, bytea, smallint, integer, bigint, double precision, uuid, timestamptz, interval}'::regtype[])
        AND oprright = ANY ('{text, bytea, smallint, integer, bigint, double precision, uuid, timestamptz, interval}'::regtype[])
    LOOP
        EXECUTE format($f$CREATE FUNCTION hostile.%I(%s, %s) RETURNS %s LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''hostile''; END'$f$, f.name, f.l, f.r, f.result);
        EXECUTE format('CREATE OPERATOR hostile.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = hostile.%I)', f.oprname, f.l, f.r, f.name);
    END LOOP;
    IF EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') THEN
        CREATE COLLATION hostile."C" (PROVIDER = icu, LOCALE = 'und-u-ks-level1', DETERMINISTIC = false);
    END IF;
    FOR f IN SELECT unnest('{text, uuid, bytea, timestamptz, tstzrange, float8, int2, int4, int8}'::text[]) AS name LOOP
        EXECUTE format('CREATE DOMAIN hostile.%I AS pg_catalog.bool', f.name);
    END LOOP;
END $$;
GRANT USAGE ON SCHEMA hostile TO PUBLIC;
SQL
my $shadowed = $node->safe_psql('utf8', "SELECT count(*) FROM pg_proc WHERE pronamespace = 'hostile'::regnamespace");
my $operators = $node->safe_psql('utf8', "SELECT count(*) FROM pg_operator WHERE oprnamespace = 'hostile'::regnamespace");
ok($shadowed > 90 && $operators > 90, "$shadowed functions and $operators operators shadow those of core");
$node->safe_psql('utf8', "SET search_path = twin_too, hostile;\n" . slurp_file("$root/sql/ulid_sql.sql")) if $node->safe_psql('utf8', 'CREATE SCHEMA twin_too') eq '';
my %calls = (
    "ulid_to_text('01563df3-6481-d676-4c61-efb99302bd5b')" => '01ARYZ6S41TSV4RRFFQ69G5FAV',
    "ulid_from_text('01ARYZ6S41TSV4RRFFQ69G5FAV')" => '01563df3-6481-d676-4c61-efb99302bd5b',
    "ulid_from_text('01563DF3-6481-d676-4c61-efb99302bd5b')" => '01563df3-6481-d676-4c61-efb99302bd5b',
    "ulid_is_valid('01ARYZ6S41TSV4RRFFQ69G5FAU')" => 'f',
    "ulid_extract_timestamp('01563df3-6481-d676-4c61-efb99302bd5b')" => '2016-07-30 22:36:16.385+00',
    "ulid_extract_unix_ms('01563df3-6481-d676-4c61-efb99302bd5b')" => '1469918176385',
    "ulid_extract_randomness('01563df3-6481-d676-4c61-efb99302bd5b')" => '\xd6764c61efb99302bd5b',
    "ulid_extract_unix_ms(gen_ulid('2016-07-30 22:36:16.385+00'))" => '1469918176385',
    "ulid_extract_unix_ms(gen_uuid_v7('2016-07-30 22:36:16.385+00'))" => '1469918176385',
    "ulid_extract_unix_ms(gen_ulid()) OPERATOR(pg_catalog.>) 1469918176385" => 't',
    "ulid_lower_bound('2016-07-30 22:36:16.385+00')" => '01563df3-6481-0000-0000-000000000000',
    "ulid_upper_bound('2016-07-30 22:36:16.385+00')" => '01563df3-6481-ffff-ffff-ffffffffffff',
    "ulid_range_lower('[2016-07-30 22:36:16.385+00,)')" => '01563df3-6481-0000-0000-000000000000',
    "ulid_range_upper('[,2016-07-30 22:36:16.385+00]')" => '01563df3-6481-ffff-ffff-ffffffffffff',
    "ulid_contained_by_range('01563df3-6481-d676-4c61-efb99302bd5b', '[2016-07-30 22:36:16.385+00,2016-07-30 22:36:16.386+00)')" => 't',
    "ulid_prefix_lower('01ARYZ')" => '01563df0-0000-0000-0000-000000000000',
    "ulid_prefix_upper('')" => 'ffffffff-ffff-ffff-ffff-ffffffffffff',
    "ulid_starts_with('01563df3-6481-d676-4c61-efb99302bd5b', '01arYZ')" => 't',
    "ulid_to_uuid_v7('01563df3-6481-d676-4c61-efb99302bd5b')" => '01563df3-6481-7676-8c61-efb99302bd5b',
    "ulid_to_typeid('user', '01890a5d-ac96-774b-bcce-b302099a8057')" => 'user_01h455vb4pex5vsknk084sn02q',
    "ulid_from_typeid('user_01h455vb4pex5vsknk084sn02q')" => '01890a5d-ac96-774b-bcce-b302099a8057',
    "ulid_from_typeid('user_01h455vb4pex5vsknk084sn02q', 'user')" => '01890a5d-ac96-774b-bcce-b302099a8057',
    "typeid_prefix('user_01h455vb4pex5vsknk084sn02q')" => 'user',
);
for my $schema ('twin', 'twin_too') {
    my %given = map { my ($call) = $_; $call => $node->safe_psql('utf8', "SET search_path = hostile, $schema, pg_catalog; SELECT $call") } keys %calls;
    is_deeply(\%given, \%calls, "$schema: a hostile search_path changes nothing");
}
is($node->safe_psql('utf8', "SELECT count(DISTINCT proname) FROM pg_proc WHERE pronamespace = 'twin'::regnamespace AND proname NOT LIKE 'ulid\\_sql\\_%'"),
    scalar(keys %{ { map { /^(\w+)/ => 1 } map { ($_, /\((gen_\w+)/) } keys %calls } }), 'every function was called');
for my $call ((map { "ulid_from_text('$_')" } 'x', 'é', '8' x 26, '0' x 25 . 'U', '0' x 36), "ulid_prefix_lower('u')", "ulid_from_typeid('X')", "ulid_to_typeid('_', '01890a5d-ac96-774b-bcce-b302099a8057')", "ulid_lower_bound('infinity')") {
    my ($ret, $out, $err) = $node->psql('utf8', "SET search_path = hostile, twin, pg_catalog; SELECT $call");
    unlike($err, qr/hostile/, "nor an error: $call");
    isnt($ret, 0, 'which is one');
}

# Collations that are not those of bytes.
my $icu = $node->safe_psql('postgres', "SELECT count(*) FROM pg_collation WHERE collname = 'tr-x-icu'");
if ($icu) {
    $node->safe_psql('utf8', "CREATE COLLATION test.loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)");
    for my $collation ('"tr-x-icu"', 'test.loose') {
        my @inputs = map { [$_] } grep { $known->($_) } @texts, 'iIlLoO' . '0' x 20, mutated(300, @valid, @uuids);
        same('utf8', "\@.ulid_from_text(\$1[1] COLLATE $collation)::uuid", inputs(@inputs));
        same('utf8', "\@.ulid_is_valid(\$1[1] COLLATE $collation)", inputs(@inputs));
        same('utf8', "\@.ulid_prefix_upper(\$1[1] COLLATE $collation)::uuid", inputs(map { [substr $_->[0], 0, 3] } grep { $_->[0] =~ /^[ -~]*$/ } @inputs));
        my @named = map { [$_] } grep { $known->($_) } @typeids, 'USER_01h455vb4pex5vsknk084sn02q', mutated(300, @typeids);
        same('utf8', "\@.ulid_from_typeid(\$1[1] COLLATE $collation, 'user')::uuid", inputs(@named, ['user_01h455vb4pex5vsknk084sn02q']));
        same('utf8', "\@.ulid_to_typeid(\$1[1] COLLATE $collation, '01563df3-6481-d676-4c61-efb99302bd5b'::uuid)", inputs(map { [$_->[0] =~ s/_?[^_]*$//r] } @named));
    }
}

# Databases of other encodings.
for my $encoding ('LATIN1', 'EUC_JP', 'SQL_ASCII') {
    my $database = lc $encoding;
    new_database($database, "ENCODING $encoding LOCALE 'C'");
    my $fits = sub { return $_[0] !~ /[^\x01-\x7f]/ || $encoding eq 'SQL_ASCII' || ($encoding eq 'LATIN1' && $_[0] !~ /\xe2/) };
    # typed as UTF-8, which SQL_ASCII takes as bytes
    compare_texts($database, sub { return $known->($_[0]) && $fits->($_[0]) }, prelude => $encoding eq 'SQL_ASCII' ? '' : "SET client_encoding = 'UTF8'");
}
same('euc_jp', '@.ulid_from_text($1[1])::uuid', inputs(map { [$_] } "\xe3\x81\x82" . '0' x 23, "\xe3\x81\x82", '0' x 25 . "\xe3\x81\x82"), prelude => "SET client_encoding = 'UTF8'");

# Somebody who may do nothing: calls the functions; and without the schema, uses what was made with them.
same('utf8', '@.ulid_from_text($1[1])::uuid', inputs(map { [$_] } grep { $known->($_) } @texts), prelude => 'SET ROLE stranger', name => 'by a role without rights');
same('utf8', '@.ulid_from_typeid($1[1])::uuid', inputs(map { [$_] } grep { $known->($_) } @typeids), prelude => 'SET ROLE stranger', name => 'by a role without rights');
$node->safe_psql('utf8', <<'SQL', extra_params => ['-U', 'owner']);
CREATE TABLE test.ticket (id uuid PRIMARY KEY DEFAULT twin.gen_ulid(), made timestamptz GENERATED ALWAYS AS (twin.ulid_extract_timestamp(id)) STORED,
    parent uuid CHECK (twin.ulid_extract_unix_ms(parent) > 0), label text DEFAULT twin.ulid_to_typeid('ticket', twin.gen_ulid()));
CREATE INDEX ON test.ticket (twin.ulid_to_text(id));
CREATE VIEW test.tickets AS SELECT twin.ulid_to_text(id) AS id, made FROM test.ticket WHERE twin.ulid_contained_by_range(id, '[2026-01-01 00:00+00,)');
GRANT ALL ON test.ticket, test.tickets TO stranger;
REVOKE USAGE ON SCHEMA twin FROM PUBLIC;
SQL
is($node->safe_psql('utf8', <<'SQL', extra_params => ['-U', 'stranger']), "t|1\nt", 'a default, an index and a view of a schema that one may not use');
INSERT INTO test.ticket DEFAULT VALUES;
SELECT bool_and(length(id) = 26), count(*) FROM test.tickets;
SELECT typeid LIKE 'ticket\_%' FROM (SELECT label FROM test.ticket) AS t (typeid);
SQL
my (undef, undef, $denied) = $node->psql('utf8', 'SELECT twin.gen_ulid()', extra_params => ['-U', 'stranger']);
like($denied, qr/permission denied for schema twin/, 'which one may not call by name');

# Dump and restore, by the owner.
my $dump = $node->basedir . '/ulid_sql.dump';
$node->safe_psql('utf8', 'DROP SCHEMA hostile, twin_too CASCADE');
$node->command_ok(['pg_dump', '-U', 'owner', '-Fc', '-f', $dump, '-N', 'native', '-e', 'plpgsql', 'utf8'], 'dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0 OWNER owner', extra_params => ['-U', 'owner']);
$node->command_ok(['pg_restore', '-U', 'owner', '--no-owner', '--exit-on-error', '-j2', '-d', 'restored', $dump], 'restore');
my $content = 'SELECT * FROM test.ticket; SELECT * FROM test.tickets; SELECT count(*), sum(hashtext(id::text)) FROM test.event';
is($node->safe_psql('restored', $content), $node->safe_psql('utf8', $content), 'the same is there');
is($node->safe_psql('restored', "SELECT length(id) FROM test.tickets WHERE id = (SELECT twin.ulid_to_text(id) FROM test.ticket)"), 26, 'and works');

ok($compared > 40_000, "$compared outcomes were compared");

done_testing();
