# The extension in a separate schema, not in the search_path, and moved to another one.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

my $node = new_server('schema', extension => 0);
my $sql = sub { return $node->safe_psql('postgres', @_) };

$sql->(q{
    CREATE SCHEMA types;
    CREATE EXTENSION ulid SCHEMA types;
    CREATE TABLE key (id types.ulid PRIMARY KEY DEFAULT types.gen_ulid(), u uuid);
    INSERT INTO key SELECT FROM generate_series(1, 1000);
    UPDATE key SET u = id;
    CREATE SCHEMA elsewhere;
    ALTER EXTENSION ulid SET SCHEMA elsewhere;
    INSERT INTO key DEFAULT VALUES});
is($sql->('SELECT count(*), count(DISTINCT id), pg_typeof(min(id::uuid::text)) FROM key'), '1001|1001|text',
    'the table is read, and its default works, after the move');
is($sql->('SELECT count(*) FROM key WHERE id OPERATOR(elsewhere.=) u'), 1000, 'an operator with its schema compares with uuid');
is($sql->('SELECT elsewhere.max(id) OPERATOR(elsewhere.=) (SELECT id FROM key ORDER BY id DESC LIMIT 1) FROM key'), 't',
    'an aggregate with its schema agrees with the order');
is($sql->("SET search_path = elsewhere, public; SELECT count(*) FROM key WHERE id = u AND ulid_extract_timestamp(id) > '2026-01-01'"), 1000,
    'with the schema in the path, no name needs it');
is($sql->(q{SELECT count(DISTINCT nspname), min(nspname) FROM pg_depend JOIN pg_proc AS p ON p.oid = objid JOIN pg_namespace AS n ON n.oid = pronamespace
    WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'ulid') AND classid = 'pg_proc'::regclass}), '1|elsewhere',
    'all functions have moved');

# Expressions that look an operator up by name fail, and never get another meaning; those that use the type's own
# operators work.
for my $expression ('id = id', "id < '01ARYZ6S41TSV4RRFFQ69G5FAV'", 'id = u', 'id = ANY (ARRAY[u])', 'id IN (SELECT id FROM key)',
    'nullif(id, id) IS NULL', 'id IS DISTINCT FROM id', '(CASE id WHEN id THEN true END)', 'id BETWEEN u AND u', 'max(id) IS NULL',
    'id <@ tstzrange(now(), now())', '(SELECT count(*) FROM key AS k JOIN key AS l USING (id)) > 0')
{
    my (undef, $out, $error) = $node->psql('postgres', "\\set VERBOSITY sqlstate\nSELECT $expression FROM key LIMIT 1");
    like("$out$error", qr/ERROR:  42883$/, "without the schema in the path there is no operator for $expression");
}
is($sql->('SELECT count(*) FROM (SELECT DISTINCT id FROM key UNION SELECT u FROM key) AS s'), 1002, 'DISTINCT and UNION need no path');
is($sql->('SELECT count(*) FROM (SELECT id FROM key GROUP BY id ORDER BY id) AS s'), 1001, 'GROUP BY and ORDER BY need no path');
is($sql->('SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY id ORDER BY id) FROM key) AS s'), 1001, 'a window needs no path');
is($sql->('WITH new AS (INSERT INTO key SELECT * FROM key ON CONFLICT (id) DO NOTHING RETURNING 1) SELECT count(*) FROM new'), 0,
    'ON CONFLICT needs no path');
is($sql->('SELECT bool_and(greatest(id, u) IS NOT NULL AND key = key AND ARRAY[id] = ARRAY[id]) FROM key'), 't',
    'greatest, and equality of rows and arrays, need no path');
is($sql->('SELECT count(u::elsewhere.ulid), count(id::timestamptz) FROM key'), '1000|1001', 'casts need no path');

done_testing();
