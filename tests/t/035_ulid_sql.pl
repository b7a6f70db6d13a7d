# The functions of sql/ulid_sql.sql do what those of the extension do: the same results, and errors
# with the same SQLSTATE and message. Both are in one database, in two schemas. Then
# wherever ulid_sql can be: after a dump, as an extension, by pg_tle, and in PGlite. CASES (200) is
# how many ids are random.
use strict;
use warnings FATAL => 'all';
use ULID;

my $cases  = $ENV{CASES} || 200;
my $script = slurp_file("$root/sql/ulid_sql.sql");
my $tle    = has_extension('pg_tle');
my $node   = new_server(
    'ulid_sql',
    extension => 0,
    conf      => [ $tle ? "shared_preload_libraries = 'pg_tle'" : () ]);
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN CREATEDB; CREATE ROLE stranger LOGIN');

# Run commands as a role that is no superuser; return what they print.
sub by
{
    my ($role, $database, $sql) = @_;
    return $node->safe_psql($database, $sql, extra_params => [ '-U', $role ]);
}

# What a query gives, or the error that it raises. Every name has its schema, because the path may
# be a hostile one.
my $outcome = <<'SQL';
CREATE SCHEMA test;
CREATE FUNCTION test.outcome(query text, input text DEFAULT NULL) RETURNS text
    LANGUAGE plpgsql AS $$
DECLARE
    result pg_catalog.text;
    message pg_catalog.text;
BEGIN
    EXECUTE query INTO result USING input;
    RETURN coalesce(result, 'null');
EXCEPTION WHEN others THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
    RETURN pg_catalog.concat_ws(' / ', SQLSTATE, message);
END $$;
GRANT USAGE ON SCHEMA test TO PUBLIC;
SQL

# A database of the role owner, with both.
sub new_database
{
    my ($name, $options) = @_;
    by('owner', 'postgres', "CREATE DATABASE $name TEMPLATE template0 $options");
    by('owner', $name,
        "$outcome CREATE SCHEMA native; CREATE EXTENSION ulid SCHEMA native; CREATE SCHEMA twin");
    by('owner', $name,
        "GRANT USAGE ON SCHEMA native, twin TO PUBLIC; SET search_path = twin;\n$script");
    return;
}

# Check that an expression of $1, a text, where @ stands for the schema, has the same outcome in
# both for each row of a query. What does not end is canceled.
my $compared = 0;

sub same
{
    my ($database, $expression, $inputs, $prelude) = (@_, '');
    my ($native, $twin) =
      map { literal("SELECT ($expression)::text" =~ s/\@/$_/gr) } qw(native twin);
    my $out = $node->safe_psql(
        $database,
        "SET statement_timeout = '${PostgreSQL::Test::Utils::timeout_default}s'; $prelude;
        WITH tried AS MATERIALIZED (SELECT i, test.outcome($native, i) AS a,
            test.outcome($twin, i) AS b FROM ($inputs) AS v (i))
        (SELECT format('%s: native %s, twin %s', i, a, b) FROM tried
            WHERE a IS DISTINCT FROM b LIMIT 5)
        UNION ALL SELECT format('%s inputs', count(*)) FROM tried");
    like(
        $out,
        qr/\A[1-9]\d* inputs\z/,
        "$database: the same $expression" . ($prelude && ", $prelude"));
    $compared += $1 if $out =~ /^(\d+) inputs\z/m;
    return;
}

sub literal { return "E'" . ($_[0] =~ s/([\\'])/\\$1/gr) . "'" }

# A query of these texts, and null.
sub texts
{
    return 'SELECT unnest(ARRAY[' . join(', ', map({ literal($_) } @_), 'NULL') . ']::text[])';
}

# The lines of a file of pg_ulid/tests/data, each as its columns.
sub vectors
{
    my @lines = grep { !/^#/ } split /\n/, slurp_file("$root/pg_ulid/tests/data/$_[0].tsv");
    return map {
        [ map { s/\\t/\t/gr =~ s/\\n/\n/gr =~ s/\\u00e9/\xc3\xa9/gr } split /\t/, $_, -1 ]
    } @lines;
}

#
# Texts
#

my $ulid   = '01ARYZ6S41TSV4RRFFQ69G5FAV';
my $uuid   = '01563df3-6481-d676-4c61-efb99302bd5b';
my $braces = '{0156-3df36481-d676-4c61efb9-9302bd5b}';
my $typeid = 'user_01h455vb4pex5vsknk084sn02q';
my @valid  = map { $_->[0] } vectors('valid');
my @uuids  = map { $_->[1] } vectors('valid');
my @texts  = (
    @valid, @uuids,
    map({ $_->[0] } vectors('lenient')),
    "iIlLoO\xc3\xa9" . '0' x 19,
    # a fault of each kind
    '', substr($ulid, 1), "{$ulid}", '8' x 26, $ulid =~ s/.$/U/r, $uuid =~ s/.$/g/r, "{$uuid",
    "$uuid ", "{$uuid)", substr($uuid, 0, 35),
    map { "$_\xc3\xa9" } substr($ulid, 0, 24), $uuid, substr($uuid, 0, 35), $uuid =~ s/-//gr);
my @typeids = (
    map({ $_->[0] } vectors('typeid'), vectors('typeid_invalid')),
    'USER_01h455vb4pex5vsknk084sn02q',
    "us\xc3\xa9r_" . '0' x 26);
my @prefixes = (
    map({
            my $text = $_;
            map { substr $text, 0, $_ } 0 .. 26
    } @valid[ 0 .. 3 ]),
    '8',
    'U',
    "\xc3\xa9",
    '01U',
    ' ',
    'O',
    'l',
    '7' x 27,
    'Z' . '0' x 26,
    '0' x 26 . "\xc3\xa9");

# Compare every function that takes a text, each with a query of what it may be given.
sub compare_texts
{
    my ($database, $texts, $prefixes, $typeids, $prelude) = (@_, '');
    same($database, "\@.$_", $texts, $prelude) for 'ulid_is_valid($1)', 'ulid_from_text($1)::uuid';
    same($database, "\@.$_", $prefixes, $prelude)
      for 'ulid_prefix_lower($1)::uuid', 'ulid_prefix_upper($1)::uuid',
      "ulid_starts_with('$uuid'::uuid, \$1)";
    same($database, "\@.$_", $typeids, $prelude)
      for 'ulid_from_typeid($1)::uuid', 'typeid_prefix($1)',
      "ulid_from_typeid(\$1, 'user')::uuid",
      q{ulid_from_typeid($1, regexp_replace($1, '_?[^_]*$', ''))::uuid},
      qq{ulid_to_typeid(regexp_replace(\$1, '_?[^_]*\$', ''), '$uuid'::uuid)};
    return;
}

# The beginnings of texts, and the texts with each of some characters in place of so many, at each
# position; a second fault at the end of some.
sub damaged
{
    my $texts = join ', ', map { literal($_) } @_;
    my $place =
      "overlay(t PLACING c FROM p FOR n)
          FROM unnest(ARRAY[$texts]) AS t, generate_series(1, length(t)) AS p";
    return "SELECT left(t, p) FROM unnest(ARRAY[$texts]) AS t, generate_series(0, length(t)) AS p
        UNION ALL SELECT $place, generate_series(1, 127) AS code, chr(code) AS c,
            (VALUES (1)) AS v (n)
        UNION ALL SELECT $place, unnest('{\xc3\xa9,\xe2\x82\xac,0,u,-,_,\"\"}'::text[]) AS c,
            generate_series(0, 2) AS n";
}

new_database('utf8', "ENCODING UTF8 LOCALE 'C'");
compare_texts('utf8', texts(@texts), texts(@prefixes), texts(@typeids));
compare_texts(
    'utf8',
    damaged($ulid,                $ulid =~ s/.$/U/r, $uuid, $braces),
    damaged(substr($ulid, 0, 10), '0'),
    damaged($typeid,              'a_z', substr $typeid, 5));

# longer than what a regular expression can be applied to
same('utf8', q{@.ulid_is_valid(repeat('0', 268435456))}, texts());

# Other encodings: typed as UTF-8, which SQL_ASCII takes as bytes.
for my $encoding ('LATIN1', 'EUC_JP', 'SQL_ASCII')
{
    new_database(lc $encoding, "ENCODING $encoding LOCALE 'C'");
    my @more =
      $encoding eq 'EUC_JP' ? map({ "$_\xe3\x81\x82" } '', '0' x 23, '0' x 25, '0' x 34) : ();
    my @queries = map {
        texts(@more, grep { $encoding ne 'EUC_JP' || !/\xc3/ } @$_)
    } \(@texts, @prefixes, @typeids);
    compare_texts(lc $encoding, @queries,
        $encoding eq 'SQL_ASCII' ? '' : "SET client_encoding = 'UTF8'");
}

# Collations that are not those of bytes.
if ($node->safe_psql('utf8', q{SELECT 1 FROM pg_collation WHERE collname = 'tr-x-icu'}))
{
    $node->safe_psql('utf8',
        q{CREATE COLLATION test.loose (provider = icu, locale = 'und-u-ks-level1',
            deterministic = false)}
    );
    for my $collation ('"tr-x-icu"', 'test.loose')
    {
        my $text = "\$1 COLLATE $collation";
        same('utf8', "\@.$_", texts(@texts, @prefixes, @typeids))
          for "ulid_from_text($text)::uuid", "ulid_prefix_lower($text)::uuid",
          "ulid_from_typeid($text, 'user')::uuid", "ulid_to_typeid($text, '$uuid'::uuid)";
    }
}

#
# Ids, times and ranges: around all powers of two of the time, around the first and the last, far
# away, and at random
#

my $ids =
  "SELECT gen_random_uuid()::text FROM generate_series(1, $cases) UNION ALL " . texts(@uuids) . "
    UNION ALL SELECT lpad(to_hex((1::bigint << k) + d), 12, '0') || repeat('0', 20)
    FROM generate_series(0, 47) AS k, generate_series(-1, 0) AS d";
same('utf8', "\@.$_(\$1::uuid)", $ids)
  for
  qw(ulid_to_text ulid_extract_timestamp ulid_extract_unix_ms ulid_extract_randomness
      ulid_to_uuid_v7);
same('utf8', q{@.ulid_to_typeid('a_z', $1::uuid)}, $ids);

my $times = <<'SQL';
SELECT (to_timestamp(0) + ((2::float ^ k + d) * interval '1 ms') + u * interval '1 us')::text
FROM generate_series(0, 48) AS k, generate_series(-1, 1) AS d, unnest('{0, 1, 999}'::int[]) AS u
UNION ALL SELECT (t + u * interval '1 us')::text
FROM unnest('{1970-01-01 00:00+00, 10889-08-02 05:31:50.655+00}'::timestamptz[]) AS t,
    unnest('{-1001, -1, 0, 1, 999, 1000}'::int[]) AS u
UNION ALL SELECT
    unnest('{infinity, -infinity, 4714-11-24 00:00+00 BC, 294276-12-31 23:59:59.999999+00,
        NULL}'::text[])
UNION ALL SELECT to_timestamp(random() * 4e9)::text FROM generate_series(1, 200)
SQL
same('utf8', "\@.$_(\$1::timestamptz)::uuid", $times) for qw(ulid_lower_bound ulid_upper_bound);
same('utf8', 'substr(@.gen_ulid($1::timestamptz)::uuid::text, 1, 13)', $times);

# time, version and fraction, then the variant
same(
    'utf8', 'substr(@.gen_uuid_v7($1::timestamptz)::text, 1, 18)
    || (get_byte(uuid_send(@.gen_uuid_v7($1::timestamptz)), 8) >> 6)', $times);

my $ranges = <<"SQL";
SELECT tstzrange(least(a, b), greatest(a, b), bounds)::text
FROM (SELECT t AS a, CASE (random() * 3)::int
    WHEN 0 THEN least(t, '294276-01-01') + interval '500 us'
                                              WHEN 1 THEN t ELSE lag(t) OVER () END AS b
      FROM (SELECT i::timestamptz FROM ($times) AS v (i)) AS w (t)) AS x,
    unnest('{[],[),(],()}'::text[]) AS bounds
UNION ALL VALUES ('empty'), (NULL)
SQL
same('utf8', "\@.$_", $ranges)
  for 'ulid_range_lower($1::tstzrange)::uuid', 'ulid_range_upper($1::tstzrange)::uuid',
  "ulid_contained_by_range('$uuid'::uuid, \$1::tstzrange)";

# A constant is evaluated when the query is planned, where a native function says nothing that no
# row asks for.
by('owner', 'utf8', <<"SQL");
CREATE TABLE test.one AS SELECT '$uuid'::uuid AS id, '$typeid' AS t;
CREATE TABLE test.nothing AS SELECT * FROM test.one WHERE false;
CREATE TABLE test.nulls AS SELECT id, t FROM (VALUES (1)) AS v (n) LEFT JOIN test.nothing ON true;
SQL
for my $call (
    (map { "ulid_starts_with(id, $_)" } "'U'", "'8'", 'NULL', "''", "'01A'", 't'),
    (map { "ulid_to_typeid($_, id)" } "'A'",              'NULL', "''", "'user'", 't'),
    (map { "ulid_from_typeid(t, $_)::uuid" } "'A'",       'NULL', "''", "'user'"),
    (map { "ulid_contained_by_range(id, $_)" } "'empty'", 'NULL', "'[,)'"),
    "gen_ulid('infinity')",
    "gen_uuid_v7('1969-12-31 00:00+00')")
{
    for my $table (qw(nothing nulls one))
    {
        same('utf8', "SELECT string_agg(coalesce(\@.$call\::text, 'null'), ' ') FROM test.$table",
            texts());
        same('utf8', "SELECT count(*) FROM test.$table WHERE \@.$call", texts())
          if $call =~ /^ulid_(?:starts_with|contained)/;
    }
}
same('utf8', $_, texts())
  for 'substr(@.gen_ordered_uuid_v7()::text, 15, 1)', '@.gen_ordered_ulid() IS NULL';
cmp_ok($compared, '>', 50_000, "$compared outcomes were compared");

#
# The catalog, generators and plans
#

# Names, arguments, results and promises; the helpers have no counterpart. The generators of ordered
# ids take an xid, which a parallel query cannot, and the horizon is a row, which each worker reads.
my $different = $node->safe_psql('utf8', <<'SQL');
WITH f AS (
    SELECT pronamespace = 'twin'::regnamespace AS is_twin,
        obj_description(oid, 'pg_proc') IS NULL AS silent, proname,
        proargnames, provolatile, prokind,
        CASE WHEN proname NOT LIKE '%ordered%' THEN proparallel END AS proparallel,
        regexp_replace(regexp_replace(replace(
            format('%s -> %s', pg_get_function_arguments(oid), pg_get_function_result(oid)),
            'native.ulid_window', 'tstzrange'), 'native[.]ulid\M', 'uuid', 'g'),
            '(native|twin)[.]', '', 'g') AS types
    FROM pg_proc
    WHERE pronamespace IN ('native'::regnamespace, 'twin'::regnamespace)
        AND proname NOT LIKE 'ulid\_sql\_%'
)
SELECT to_jsonb(f) - 'is_twin' FROM f WHERE is_twin
EXCEPT SELECT to_jsonb(f) - 'is_twin' FROM f WHERE NOT is_twin
SQL
is($different, '',
    'the catalog has every function as it has that of the extension, with a comment');

for my $call ('gen_ulid()', 'gen_ulid(clock_timestamp())')
{
    my $random = $node->safe_psql('utf8', <<"SQL");
SET search_path = twin;
WITH g AS MATERIALIZED (SELECT clock_timestamp() AS before, $call AS id, clock_timestamp() AS after
    FROM generate_series(1, 1000))
SELECT count(DISTINCT ulid_extract_randomness(id)) = 1000,
    bool_and(ulid_extract_timestamp(id) BETWEEN date_trunc('milliseconds', before) AND after),
    (SELECT count(DISTINCT (k, get_bit(ulid_extract_randomness(id), k)))
        FROM g, generate_series(0, 79) AS k)
FROM g
SQL
    is($random, 't|t|160',
        "$call: random bits, each set in some and unset in others, and the time of the clock");
}

# An index on the uuid serves windows and prefixes, of constants and of parameters.
by( 'owner', 'utf8',
    'CREATE TABLE test.event AS SELECT twin.gen_ulid(to_timestamp(n)) AS id
        FROM generate_series(0, 9999) AS n;
    CREATE INDEX ON test.event (id)');
my $settings =
  'SET search_path = twin, test; SET enable_seqscan = off; SET enable_bitmapscan = off;
  SET enable_hashjoin = off;
    SET enable_mergejoin = off; SET plan_cache_mode = force_generic_plan';
for my $condition (
    "contained_by_range(id, tstzrange(now() - interval '1 day', now()))",
    "starts_with(id, '000')",
    'contained_by_range(id, $1)',
    'starts_with(id, $1)')
{
    my $plan = $node->safe_psql(
        'utf8', "$settings; PREPARE q AS SELECT FROM event WHERE ulid_$condition;
        EXPLAIN (COSTS OFF) EXECUTE q" . ($condition =~ /\$/ ? "('empty')" : ''));
    like($plan, qr/Index Cond: \(\(id >= .* AND \(id <= /, "an index serves $condition");
    unlike($plan, qr/Filter/, 'a valid constant is not checked again') if $condition =~ /'000'/;
}

#
# Paths and settings of the session
#

my $time  = '2016-07-30 22:36:16.385+00';
my @calls = (
    "ulid_to_text('$uuid')",
    "ulid_from_text('$ulid')",
    "ulid_from_text('01563DF3-6481-d676-4c61-efb99302bd5b')",
    "ulid_is_valid('$ulid')",
    "ulid_is_valid('$uuid')",
    "ulid_is_valid('01ARYZ6S41TSV4RRFFQ69G5FAU')",
    "ulid_extract_timestamp('$uuid')",
    "ulid_extract_unix_ms('$uuid')",
    "ulid_extract_randomness('$uuid')",
    "ulid_extract_unix_ms(gen_ulid('$time'))",
    "ulid_extract_unix_ms(gen_uuid_v7('$time'))",
    'ulid_extract_unix_ms(gen_ulid()) OPERATOR(pg_catalog.>) 1469918176385',
    "ulid_lower_bound('$time')",
    "ulid_upper_bound('$time')",
    "ulid_range_lower('[$time,)')",
    "ulid_range_upper('[,$time]')",
    "ulid_contained_by_range('$uuid', '[$time,2017-01-01)')",
    "ulid_prefix_lower('01ARYZ')",
    "ulid_prefix_upper('')",
    "ulid_starts_with('$uuid', '01arYZ')",
    "ulid_to_uuid_v7('$uuid')",
    "ulid_to_typeid('user', '$uuid')",
    "ulid_from_typeid('$typeid')",
    "ulid_from_typeid('$typeid', 'user')",
    "typeid_prefix('$typeid')",
    (map { "ulid_from_text('$_')" } 'x', "\xc3\xa9", '8' x 26, '0' x 25 . 'U', '0' x 36),
    "ulid_prefix_lower('u')",
    "ulid_starts_with('$uuid', 'u')",
    "ulid_from_typeid('X')",
    "ulid_to_typeid('_', '$uuid')",
    "ulid_lower_bound('infinity')",

    'ulid_refresh() IS NOT NULL',
    'ulid_current_horizon() IS NOT NULL',
    'ulid_extract_unix_ms(gen_ordered_ulid()) OPERATOR(pg_catalog.>) 1469918176385',
    'ulid_extract_unix_ms(gen_ordered_uuid_v7()) OPERATOR(pg_catalog.>) 1469918176385',
    "ulid_current_horizon('00000000-0000-0000-0000-000000000000') IS NOT NULL",
    'ulid_current_horizon(NULL::pg_catalog.uuid)',
    'ulid_ordered_guard()');
my %called = map { $_ => 1 } map { /^(\w+)/, /\((gen_\w+)/ } @calls;
is( scalar keys %called,
    $node->safe_psql(
        'utf8', q{SELECT count(DISTINCT proname) FROM pg_proc
    WHERE pronamespace = 'twin'::regnamespace AND proname NOT LIKE 'ulid\_sql\_%'
        AND prokind = 'f' AND proname NOT IN ('ulid_advance_ordered_time',
            'ulid_reset_ordered_time')
        AND proname !~ '_consumer|_batch$|_read$|_read_by_all$'}),
    'every function is called that is not for the owner alone, or of consumers');
by('owner', 'utf8', 'GRANT EXECUTE ON FUNCTION twin.ulid_refresh() TO stranger');
my $all_calls =
  "SET timezone = 'UTC'; SET datestyle = 'ISO';
  SELECT test.outcome(call) FROM pg_catalog.unnest(ARRAY["
  . join(', ', map { literal("SELECT ($_)::pg_catalog.text") } @calls)
  . ']) AS call';
my $expected = by('owner', 'utf8', "SET search_path = twin; $all_calls");
is( () = $expected =~ /^(?:22\w{3}|0A000) \/ /mg,
    12, 'twelve of the calls have an error that is meant');

# What somebody else has put into the path of the caller is not called, by any form of a call; nor
# what is there when the script is run, as core comes first.
$node->safe_psql('utf8', <<'SQL');
CREATE SCHEMA hostile;
SELECT format('CREATE FUNCTION hostile.%I(%s) RETURNS %s
    LANGUAGE plpgsql AS ''BEGIN RAISE EXCEPTION ''''hostile''''; END''',
              proname, oidvectortypes(proargtypes), pg_get_function_result(oid)) FROM pg_proc
WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND provariadic = 0
AND NOT EXISTS (SELECT FROM pg_type AS t
    WHERE typtype = 'p' AND t.oid = ANY (proargtypes || prorettype)) \gexec
SELECT format('CREATE OPERATOR hostile.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = hostile.%I)',
              oprname, oprleft::regtype, oprright::regtype, proname)
                  FROM pg_operator JOIN pg_proc AS p ON p.oid = oprcode
WHERE pronamespace = 'pg_catalog'::regnamespace AND oprkind = 'b' AND oprleft = proargtypes[0]
    AND oprright = proargtypes[1]
AND to_regprocedure(format('hostile.%I(%s)', proname, oidvectortypes(proargtypes)))
    IS NOT NULL \gexec
SELECT 'CREATE COLLATION hostile."C"
    (PROVIDER = icu, LOCALE = ''und-u-ks-level1'', DETERMINISTIC = false)' FROM pg_collation
WHERE collname = 'und-x-icu' LIMIT 1 \gexec
SELECT format('CREATE DOMAIN hostile.%I AS pg_catalog.bool', name)
FROM unnest('{text, uuid, bytea, timestamptz, tstzrange, float8, int2, int4, int8}'::text[])
    AS name \gexec
CREATE SCHEMA twin_too;
CREATE SCHEMA twin_off;
GRANT USAGE ON SCHEMA hostile, twin_too, twin_off TO PUBLIC;
SQL
my $grant = '; GRANT EXECUTE ON FUNCTION ulid_refresh() TO owner';
$node->safe_psql('utf8', "SET search_path = twin_too, hostile;\n$script$grant");
is(by('stranger', 'utf8', "SET search_path = hostile, twin, pg_catalog; $all_calls"),
    $expected, 'a hostile path changes nothing');
is(by('owner', 'utf8', "SET search_path = hostile, twin_too, pg_catalog; $all_calls"),
    $expected, 'nor does one when the script is run');

# The server can be set to take a backslash in any literal as an escape; 19 cannot. Then each one is
# also a warning.
SKIP:
{
    my $off = 'SET standard_conforming_strings = off';
    skip('no standard_conforming_strings = off', 1) if ($node->psql('utf8', $off))[0] != 0;
    my ($status, $out, $error) =
      $node->psql('utf8', "$off; SET search_path = twin_off;\n$script$grant", on_error_stop => 1);
    is($status . $error,
        '0', 'the script runs without standard_conforming_strings, and without a warning');
    is(by('owner', 'utf8', "$off; SET search_path = $_; $all_calls"),
        $expected, "without standard_conforming_strings, $_ is the same")
      for qw(twin twin_off);
}

#
# Rights, dump and restore
#

by('owner', 'utf8', <<'SQL');
CREATE TABLE test.ticket (
    id uuid PRIMARY KEY DEFAULT twin.gen_ulid(),
    made timestamptz GENERATED ALWAYS AS (twin.ulid_extract_timestamp(id)) STORED,
    label text DEFAULT twin.ulid_to_typeid('ticket', twin.gen_ulid()),
    CHECK (twin.ulid_starts_with(id, '0'))
);
CREATE INDEX ON test.ticket (twin.ulid_to_text(id));
GRANT ALL ON test.ticket TO stranger;
REVOKE USAGE ON SCHEMA twin FROM PUBLIC;
SQL
is( by( 'stranger', 'utf8',
        "INSERT INTO test.ticket DEFAULT VALUES; SELECT count(label) FROM test.ticket"),
    1,
    'a default, a generated column, a check and an index call what a role may not');
my $dump = $node->basedir . '/ulid_sql.dump';
$node->command_ok([ qw(pg_dump -U owner -Fc -n test -n twin -f), $dump, 'utf8' ], 'dump');
by('owner', 'postgres', 'CREATE DATABASE restored');
$node->command_ok([ qw(pg_restore -U owner --no-owner --exit-on-error -d restored), $dump ],
    'restore');
is( by('owner', 'restored', 'TABLE test.ticket'),
    by('owner', 'utf8',     'TABLE test.ticket'),
    'the same is there');
my $horizon = 'SELECT last_value, is_called FROM %1$s.ulid_clock; TABLE %1$s.ulid_horizon';
is( by('owner', 'restored', sprintf $horizon, 'twin'),
    by('owner', 'utf8',     sprintf $horizon, 'twin'),
    'the id clock and the horizon, too');
is(by('owner', 'restored', "SET search_path = twin; $all_calls"), $expected, 'and works');

# A transaction gets its xid while the lock table is full, goes on after the error, and generates an
# id. Its xid has no lock then.
by('owner', 'utf8',
    'CREATE TABLE test.outbox (id uuid DEFAULT twin.gen_ordered_uuid_v7());
    CALL twin.ulid_refresh_horizon()');
my ($fills, $writes) = map { $node->background_psql('utf8', on_error_stop => 0) } 1 .. 2;
$writes->query('BEGIN; INSERT INTO test.outbox DEFAULT VALUES; ROLLBACK; BEGIN');
$fills->query(
    q{BEGIN;
    DO $$ BEGIN
        FOR i IN 1 .. 10000000 LOOP
            BEGIN
                PERFORM pg_advisory_xact_lock(i);
            EXCEPTION WHEN out_of_memory THEN
                EXIT;
            END;
        END LOOP;
    END $$});
$writes->query(
    q{DO $$ BEGIN
        INSERT INTO test.outbox DEFAULT VALUES;
    EXCEPTION WHEN out_of_memory THEN
        INSERT INTO test.outbox DEFAULT VALUES;
    END $$});
$fills->query('ROLLBACK');
my $of_writer = q{pid IN (SELECT pid FROM pg_locks WHERE relation = 'twin.ulid_clock'::regclass)};
is( $node->safe_psql('utf8', "SELECT string_agg(locktype, ' ') FROM pg_locks
        WHERE $of_writer AND locktype IN ('transactionid', 'advisory')"),
    '',
    'a writer has an xid without a lock');
for (1 .. 2)
{
    by('owner', 'utf8', 'CALL twin.ulid_refresh_horizon()');
    $node->safe_psql('utf8', 'INSERT INTO test.outbox DEFAULT VALUES');
}
my $least = $writes->query('SELECT id FROM test.outbox ORDER BY id LIMIT 1');
is($node->safe_psql('utf8', "SELECT horizon <= '$least' FROM twin.ulid_horizon"),
    't', 'its id is above the horizon');
$writes->query('COMMIT');
$_->quit for $fills, $writes;

# Whoever has run the script resets the id clock, which sets consumers of others back.
by('owner', 'postgres', 'CREATE DATABASE rented');
by('owner', 'rented',   'GRANT CREATE ON DATABASE rented TO stranger');
by('stranger', 'rented',
    "CREATE SCHEMA his; GRANT USAGE ON SCHEMA his TO owner; SET search_path = his;\n$script;
    GRANT INSERT, UPDATE ON ulid_consumer TO owner; CALL ulid_refresh_horizon()");
by( 'owner', 'rented', "SET search_path = public, his;
    CREATE TABLE ticket (id uuid PRIMARY KEY DEFAULT gen_ordered_uuid_v7());
    SELECT ulid_create_consumer('desk', 'ticket', guard => false)");
by('stranger', 'rented',
    'CREATE TABLE his.old AS TABLE his.ulid_consumer; GRANT SELECT ON his.old TO owner;
    SELECT his.ulid_reset_ordered_time()');
is( by('owner', 'rented', 'SELECT c.moved_at > old.moved_at FROM his.ulid_consumer AS c, his.old'),
    't',
    'a reset by the role that has run the script');

#
# As an extension, by pg_tle and in PGlite
#

by('owner', 'postgres', "CREATE DATABASE $_")
  for qw(extension extension_restored tle tle_restored);
by( 'owner', 'extension',
    "$outcome CREATE EXTENSION ulid_sql; CREATE TABLE ticket (id uuid DEFAULT gen_ulid());
    CREATE SCHEMA elsewhere; ALTER EXTENSION ulid_sql SET SCHEMA elsewhere;
    INSERT INTO ticket DEFAULT VALUES"
);
is(by('owner', 'extension', "SET search_path = elsewhere; $all_calls"),
    $expected, 'as an extension, in another schema');
by('owner', 'extension', 'CALL elsewhere.ulid_refresh_horizon()');
$node->command_ok([ qw(pg_dump -U owner -Fc -f), $dump, 'extension' ], 'dump of an extension');
$node->command_ok(
    [ qw(pg_restore -U owner --exit-on-error -d extension_restored), $dump ],
    'restored by its owner');
is( by('owner', 'extension_restored', sprintf $horizon, 'elsewhere'),
    by('owner', 'extension',          sprintf $horizon, 'elsewhere'),
    'with the id clock and the horizon');

SKIP:
{
    skip('no extension pg_tle', 4) if !$tle;

    # somebody with pgtle_admin installs it, under another name, as pg_tle refuses that of an
    # extension with files here
    $node->safe_psql('tle',
        'CREATE EXTENSION pg_tle; CREATE ROLE installer LOGIN; GRANT pgtle_admin TO installer');
    by('installer', 'tle', `$root/packaging/pg_tle.sh` =~ s/'ulid_sql'/'ulid_tle'/r);
    by('owner', 'tle',
        "$outcome CREATE EXTENSION ulid_tle; CREATE TABLE ticket (id uuid DEFAULT gen_ulid())");
    is(by('owner', 'tle', $all_calls), $expected, 'by pg_tle');
    by('owner', 'tle', 'CALL ulid_refresh_horizon()');
    $node->command_ok([ 'pg_dump', '-f', $dump, 'tle' ], 'dump of pg_tle');
    $node->safe_psql('tle_restored', 'CREATE EXTENSION pg_tle');
    $node->psql('tle_restored', slurp_file($dump), on_error_stop => 0);
    is( $node->safe_psql('tle_restored', sprintf $horizon, 'public'),
        $node->safe_psql('tle',          sprintf $horizon, 'public'),
        'restored, with the id clock and the horizon');
    is($node->safe_psql('tle_restored', "INSERT INTO ticket DEFAULT VALUES; $all_calls"),
        $expected, 'restored');
}

SKIP:
{
    skip('no npm', 1) if !has_program('npm') || !has_program('node');

    # npm's own files too, as the user of the servers may have no home
    my $directory = PostgreSQL::Test::Utils::tempdir();
    local $ENV{HOME} = $directory;
    run_log(
        [
            qw(npm install --silent --no-audit --no-fund --no-package-lock --prefix), $directory,
            '@electric-sql/pglite@0.5.16'
        ]) or skip('PGlite cannot be had from npm', 1);
    append_to_file("$directory/all.sql",    "$outcome $script $all_calls");
    append_to_file("$directory/pglite.mjs", <<'JS');
import { readFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
const db = new PGlite();
const results = await db.exec(readFileSync(process.argv[2], 'utf8'));
console.log(results.at(-1).rows.map((row) => row.outcome).join('\n'));
await db.exec('CREATE TABLE event (id uuid DEFAULT gen_ordered_ulid())');
await db.query('INSERT INTO event DEFAULT VALUES');
await db.query('CALL ulid_refresh_horizon()');
await db.query('INSERT INTO event DEFAULT VALUES');
const read = 'SELECT count(*)::text AS n FROM event WHERE id < (SELECT ulid_current_horizon())';
console.log((await db.query(read)).rows[0].n);
await db.close();
JS
    my ($out) = run_command([ 'node', "$directory/pglite.mjs", "$directory/all.sql" ]);
    is($out, "$expected\n1", 'in PGlite');
}

done_testing();
