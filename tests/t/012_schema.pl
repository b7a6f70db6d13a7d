# The extension in a schema that is not in the search_path.
use strict;
use warnings FATAL => 'all';
use ULID;

my $node = new_server('schema', extension => 0);
my $sql  = sub { return $node->safe_psql('postgres', @_) };

$sql->(
    q{
    CREATE SCHEMA types;
    CREATE EXTENSION ulid SCHEMA types;
    CREATE TABLE key (id types.ulid PRIMARY KEY DEFAULT types.gen_ulid(), u uuid);
    INSERT INTO key SELECT FROM generate_series(1, 1000);
    UPDATE key SET u = id;
    INSERT INTO key DEFAULT VALUES});
is($sql->('SELECT count(*), count(DISTINCT id), pg_typeof(min(id::uuid::text)) FROM key'),
    '1001|1001|text', 'a default needs no path');
is( $sql->(
        q{SELECT string_agg(DISTINCT nspname, ' ') FROM pg_depend
    CROSS JOIN pg_identify_object(classid, objid, objsubid) AS o
    LEFT JOIN pg_operator ON classid = 'pg_operator'::regclass AND objid = pg_operator.oid
        AND oprname ~ '^[<=>]+$'
    CROSS JOIN LATERAL (SELECT coalesce(CASE WHEN pg_operator.oid IS NULL THEN o.schema END,
        o.schema || '.' || oprname) AS nspname) AS s
    WHERE refclassid = 'pg_extension'::regclass
        AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'ulid')}
    ),
    'pg_catalog.< pg_catalog.<= pg_catalog.<> pg_catalog.= pg_catalog.> pg_catalog.>= types',
    'the comparisons are in pg_catalog, all else is in the schema');
my (undef, undef, $refused) =
  $node->psql('postgres', "\\set VERBOSITY verbose\nALTER EXTENSION ulid SET SCHEMA public");
like(
    $refused,
    qr/ERROR:  0A000: extension "ulid" does not support SET SCHEMA$/m,
    'so they cannot be moved');

# What compares needs no path; what has another operator or function of the extension fails, and
# never gets another meaning.
for my $expression (
    'id = id',
    "id > '01ARYZ6S41TSV4RRFFQ69G5FAV'",
    'id = u',
    'u = id',
    'id = ANY (ARRAY[u])',
    'id IN (SELECT id FROM key)',
    'nullif(id, id) IS NULL',
    'NOT id IS DISTINCT FROM u',
    '(CASE id WHEN u THEN true END)',
    'id BETWEEN u AND u',
    'greatest(id, u) >= u',
    'key = key AND ARRAY[id] = ARRAY[id]',
    '(SELECT count(*) FROM key AS k JOIN key AS l USING (id)) = 1001',
    '(SELECT count(*) FROM (SELECT u AS id FROM key) AS k
        NATURAL JOIN (SELECT id FROM key) AS l) = 1000',
    '(SELECT count(*) FROM (SELECT DISTINCT id FROM key UNION SELECT u FROM key) AS s) = 1002',
    '(SELECT count(*) FROM (SELECT id FROM key GROUP BY id ORDER BY id) AS s) = 1001',
    '(SELECT max(n) FROM (SELECT row_number() OVER (PARTITION BY id ORDER BY id) AS n
        FROM key) AS s) = 1'
  )
{
    is($sql->("SELECT $expression FROM key ORDER BY id LIMIT 1"), 't', "$expression needs no path");
}
for
  my $expression ('max(id) IS NULL', 'id <@ tstzrange(now(), now())', 'ulid_extract_timestamp(id)')
{
    my (undef, $out, $error) =
      $node->psql('postgres', "\\set VERBOSITY sqlstate\nSELECT $expression FROM key LIMIT 1");
    like("$out$error", qr/ERROR:  42883$/,
        "without the schema in the path there is no $expression");
}
is( $sql->(
        'WITH new AS (INSERT INTO key SELECT * FROM key ON CONFLICT (id) DO NOTHING RETURNING 1)
            SELECT count(*) FROM new'
    ),
    0,
    'ON CONFLICT needs no path');
is( $sql->(
        "SET search_path = types, public;
        SELECT count(*) FROM key WHERE id = u AND ulid_extract_timestamp(id) > '2026-01-01'"
    ),
    1000,
    'with the schema in the path, no name needs it');
is($sql->('SELECT count(u::types.ulid), count(id::timestamptz) FROM key'),
    '1000|1001', 'casts need no path');

done_testing();
