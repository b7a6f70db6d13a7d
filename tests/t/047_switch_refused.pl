# What docs/migrating/switch.sql cannot do, it refuses by name, before anything is changed. What
# cannot be seen in the catalogs, an empty copy of the table tells.
use strict;
use warnings FATAL => 'all';
use ULID;

my $node = new_server('refused', extension => 0);
$node->safe_psql('postgres', 'ALTER DATABASE postgres SET search_path = public, types');
my $sql = sub { return $node->safe_psql('postgres', @_) };
$sql->(
    'CREATE SCHEMA types; CREATE EXTENSION ulid SCHEMA types; CREATE ROLE "The Owner" LOGIN;
    GRANT ALL ON SCHEMA types TO "The Owner";
    GRANT TEMPORARY, CREATE ON DATABASE postgres TO "The Owner"'
);
my $t = 'CREATE TABLE t (id uuid PRIMARY KEY, n int);';
for my $case (
    [ "$t CREATE VIEW v AS SELECT id FROM t", 'rule _RETURN on view v uses column id of t' ],
    [
        "$t CREATE TABLE r (t uuid REFERENCES t); CREATE VIEW v AS SELECT t FROM r",
        'view v uses column t of'
    ],
    [ "$t CREATE VIEW v AS SELECT n FROM t GROUP BY t.id", 'rule _RETURN on view v uses' ],
    [
        "$t CREATE OPERATOR CLASS other_ops FOR TYPE uuid USING btree AS OPERATOR 3 =,
            FUNCTION 1 uuid_cmp; CREATE INDEX other ON t (id other_ops)",
        'index other has an operator class that has no counterpart'
    ],
    [
        'CREATE TABLE t (id uuid PRIMARY KEY) PARTITION BY RANGE (id)',
        'column id of t is in the partition key'
    ],
    [ "$t CREATE TABLE child () INHERITS (t)", 'column id of t is in a table with inheritance' ],
    [ "$t CREATE TABLE other (rows t[])",      'column rows of other uses the row type of t' ],
    [
        "$t CREATE DOMAIN d AS uuid; CREATE TABLE other (c d REFERENCES t)",
        'column c of other has the type d'
    ],
    [
        "$t CREATE TABLE part (t uuid REFERENCES t, n int) PARTITION BY RANGE (n);
        CREATE INDEX part_text ON part ((t::text))",
        'index part_text of a partitioned table has an expression: drop it'
    ],
    [
        "$t CREATE INDEX broken ON t (id);
        UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'broken'::regclass",
        'index broken is not valid'
    ],
    [
        'CREATE TABLE t (a uuid, b uuid, PRIMARY KEY (a, b))',
        'no such column of type uuid or ulid, or more than one'
    ],
    [
        qq{$t GRANT ALL ON t TO "The Owner"},
        'column id of t is in a table of another owner',
        user => 'The Owner'
    ],
    [
        qq{$t DO \$\$ BEGIN
            EXECUTE format('CREATE TABLE %I ()', 'switch_' || 't_pkey'::regclass::oid); END \$\$},
        'there is a relation switch_\d+ already'
    ],)
{
    my ($make, $reason, %variables) = @$case;
    $sql->(
        'DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT ALL ON SCHEMA public TO PUBLIC');
    $sql->($make);
    my (undef, $stderr) = switch_table($node, 'postgres', table => 't', to => 'ulid', %variables);
    like($stderr =~ s/\bpublic\.//gr, qr/$reason/, "it refuses: $reason");
}

$sql->(
    qq{DROP SCHEMA public CASCADE; CREATE SCHEMA public;
        $t CREATE FUNCTION suits(uuid) RETURNS boolean IMMUTABLE RETURN true;
    ALTER TABLE t ADD CHECK (suits(id))}
);
like(
    (switch_table($node, 'postgres', table => 't', to => 'ulid', run => 'yes'))[1],
    qr/function public\.suits\(types\.ulid\) does not exist/,
    'a check that does not suit the type is found');
is($sql->(q{SELECT count(*) FROM pg_class WHERE relname ~ '^switch'}),
    0, 'before an index is built');

done_testing();
