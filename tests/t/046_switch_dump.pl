# docs/migrating/switch.sql keeps what pg_dump shows: an object of each kind, in a database whose
# extension has a schema with a name that format() could take for its own, to ulid and back. What is
# different afterwards is in this file. What cannot be kept is refused by name.
use strict;
use warnings FATAL => 'all';
use ULID;

my $node       = new_server('dump', extension => 0);
my $tablespace = PostgreSQL::Test::Utils::tempdir('tablespace');
$node->safe_psql('postgres', $_)
  for "CREATE TABLESPACE other LOCATION '$tablespace'",
  'CREATE ROLE other', 'CREATE DATABASE app',
  q{ALTER DATABASE app SET search_path = public, "100%s %1$s"};
my $sql = sub { return $node->safe_psql('app', @_) };
$sql->(<<'SQL');
CREATE SCHEMA "100%s %1$s";
CREATE EXTENSION ulid SCHEMA "100%s %1$s";
CREATE TABLE account (id uuid DEFAULT gen_random_uuid(), tenant integer, name text,
    PRIMARY KEY (id) WITH (fillfactor = 70) USING INDEX TABLESPACE other,
    CONSTRAINT tenant_id UNIQUE (tenant, id) INCLUDE (name) WITH (deduplicate_items = off)
        USING INDEX TABLESPACE other DEFERRABLE);
CREATE INDEX account_bloom ON account USING brin (id uuid_bloom_ops(false_positive_rate = 0.05))
    WITH (pages_per_range = 8) TABLESPACE other;
CREATE INDEX account_multi ON account USING brin (id uuid_minmax_multi_ops);
COMMENT ON INDEX account_bloom IS 'Bloom filters';
CREATE UNIQUE INDEX account_partial ON account (id) WHERE tenant = 2;
CREATE INDEX account_expression ON account (name, (id::text)) TABLESPACE other;
ALTER INDEX account_expression ALTER COLUMN 2 SET STATISTICS 300;
COMMENT ON INDEX account_expression IS 'has an expression';
CREATE INDEX account_name ON account (name, id);
ALTER INDEX account_name DEPENDS ON EXTENSION ulid;
ALTER INDEX account_partial DEPENDS ON EXTENSION ulid;
CREATE STATISTICS account_statistics ON id, tenant FROM account;
ALTER STATISTICS account_statistics SET STATISTICS 400;
COMMENT ON STATISTICS account_statistics IS 'of both';
CREATE STATISTICS account_expressions ON (id::text), tenant FROM account;
ALTER STATISTICS account_expressions OWNER TO other;
ALTER TABLE account ALTER id SET STATISTICS 200, ALTER id SET (n_distinct = -1);
COMMENT ON COLUMN account.id IS 'the key';
GRANT SELECT (id) ON account TO PUBLIC;

CREATE TABLE part (account_id uuid CONSTRAINT to_account REFERENCES account, at integer,
    CONSTRAINT account_id_at UNIQUE (account_id, at) WITH (fillfactor = 60)
        USING INDEX TABLESPACE other)
    PARTITION BY RANGE (at);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (1) TO (2);
CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM (2) TO (3);
COMMENT ON CONSTRAINT to_account ON part IS E'the account''s id\nof the row';
COMMENT ON CONSTRAINT account_id_at ON part IS 'is unique';
CREATE INDEX part_partial ON part (account_id) WHERE at > 1;
CREATE INDEX part_brin ON part USING brin (account_id uuid_bloom_ops);
CREATE STATISTICS part_statistics ON account_id, at FROM part_1;
ALTER STATISTICS part_statistics SET STATISTICS 500;
CREATE TABLE without_statistics (account_id uuid REFERENCES account, at integer);
ALTER TABLE without_statistics ALTER account_id SET STATISTICS 0;
CREATE TABLE without_partitions (account_id uuid REFERENCES account, at integer)
    PARTITION BY RANGE (at);
INSERT INTO account SELECT gen_random_uuid(), n FROM generate_series(1, 100) AS n;
INSERT INTO part SELECT id, 1 + tenant % 2 FROM account;
INSERT INTO without_statistics SELECT id FROM account;
GRANT CREATE ON SCHEMA public TO other;
SQL

# Call switch.sql until nothing is left to do.
sub switch_to
{
    my ($to) = @_;
    for (1 .. 20)
    {
        my ($stdout, $stderr, $status) = switch_table(
            $node, 'app', table => 'account', to => $to, run => 'yes',
            default => 'gen_random_uuid()');
        return $stderr if $status;
        return ''      if $stdout =~ /^-- Nothing is left/m;
    }
    return 'it does not end';
}

# The definitions.
sub definition
{
    my ($dump) = run_command([ 'pg_dump', '--schema-only', '-d', $node->connstr('app') ]);
    return join "\n", grep { !/^\\(un)?restrict / } split /\n/, $dump;
}
my $before = definition();
is(switch_to('ulid'), '', 'to ulid');
is( $sql->("SELECT atttypid::regtype FROM pg_attribute WHERE attname IN ('id', 'account_id')
        AND attrelid IN ('account'::regclass, 'part'::regclass, 'part_1'::regclass)"),
    "ulid\nulid\nulid",
    'each column is a ulid');
my $converted = definition() =~ s/(?:"100%s %1\$s"\.)?\bulid(?=[ ,_;)])/uuid/gr;
is($converted,
    $before =~ s/(?:"100%s %1\$s"\.)?\bulid(?=[ ,_;)])/uuid/gr,
    'with ulids, everything but the type is what it was');
is(switch_to('uuid'), '',      'to uuid');
is(definition(),      $before, 'back with uuids, everything is what it was');

# a check is made again for the other type
$sql->(q{ALTER TABLE account
    ADD CONSTRAINT not_nil CHECK (id <> '00000000-0000-0000-0000-000000000000')});
like(
    (switch_table($node, 'app', table => 'account', to => 'ulid'))[0],
    qr/^-- check constraint not_nil of public.account is made again for ulid, with casts/m,
    'the steps name a check');
$sql->('ALTER TABLE account DROP CONSTRAINT not_nil');

$sql->('ALTER TABLE part_1 DISABLE TRIGGER ALL');
like(
    switch_to('ulid'),
    qr/a trigger of constraint \S+ on public.part_1 is not enabled as usual/,
    'a foreign key whose triggers are disabled is refused');
$sql->('ALTER TABLE part_1 ENABLE TRIGGER ALL;
    CREATE INDEX mixed ON account USING brin (id uuid_bloom_ops, (tenant + 1))');
like(
    switch_to('ulid'),
    qr/index public.mixed has an expression, and the operator class uuid_bloom_ops: drop it/,
    'so is an expression beside an operator class for uuid');
is($sql->('SELECT pg_typeof(id) FROM account LIMIT 1'), 'uuid', 'and nothing has been changed');

done_testing();
