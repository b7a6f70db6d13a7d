# From each earlier version to the newest: stored data is kept, and the objects are those of a fresh install. The
# extension of the same name that other software installs is left alone. A session that has loaded the older library does
# not update.
use strict;
use warnings;
use File::Basename qw(basename dirname);
use File::Glob ':bsd_glob';
use File::Path 'make_path';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;
use ExtensionObjects;

$ENV{PGOPTIONS} = '-c client_min_messages=error';
my $node = new_server('update');
is($node->safe_psql('postgres', q{SELECT pg_describe_object(classid, objid, 0) FROM pg_depend
    WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'ulid') AND deptype = 'e'
    AND obj_description(objid, classid::regclass::name) IS NULL AND classid <> 'pg_type'::regclass}), '', 'everything has a comment');

my @earlier = earlier_versions();
note('no script of an earlier version is installed') if !@earlier;

# What users of an earlier version can have: every kind of column, index, constraint, partition and object.
my $kinds = q{
    CREATE DOMAIN positive AS ulid CHECK (VALUE > '00000000000000000000000000');
    CREATE TYPE pair AS (id ulid, note text);
    CREATE TABLE parent (id ulid PRIMARY KEY DEFAULT gen_ulid(), CHECK (ulid_extract_unix_ms(id) >= 0),
        made timestamptz GENERATED ALWAYS AS (ulid_extract_timestamp(id)) STORED);
    CREATE TABLE child (id positive PRIMARY KEY DEFAULT gen_monotonic_ulid(), parent ulid NOT NULL REFERENCES parent ON DELETE CASCADE,
        parent_uuid uuid REFERENCES parent, ids ulid[], pair pair, EXCLUDE USING hash (id WITH =));
    CREATE INDEX ON child USING hash (parent);
    CREATE INDEX ON child USING gin (ids);
    CREATE INDEX ON child (parent DESC, ulid_extract_timestamp(id));
    CREATE INDEX ON child (parent_uuid) WHERE id <@ '[2020-01-01,2100-01-01)'::tstzrange;
    CREATE INDEX ON parent USING brin (id);
    CREATE STATISTICS child_columns ON parent, parent_uuid FROM child;
    CREATE TABLE log (id ulid NOT NULL, line text) PARTITION BY RANGE (id);
    CREATE TABLE log_early PARTITION OF log FOR VALUES FROM (MINVALUE) TO ('40000000000000000000000000');
    CREATE TABLE log_late PARTITION OF log FOR VALUES FROM ('40000000000000000000000000') TO (MAXVALUE);
    CREATE TABLE spread (id ulid NOT NULL) PARTITION BY HASH (id);
    CREATE TABLE spread_0 PARTITION OF spread FOR VALUES WITH (MODULUS 2, REMAINDER 0);
    CREATE TABLE spread_1 PARTITION OF spread FOR VALUES WITH (MODULUS 2, REMAINDER 1);
    CREATE VIEW texts AS SELECT id::text AS text, id::uuid AS uuid, id::bytea AS bytes, id::timestamptz AS made,
        id <@ tstzrange('2020-01-01', NULL) AS late, tstzrange(NULL, '2020-01-01') @> id AS early FROM parent;
    CREATE MATERIALIZED VIEW ends AS SELECT min(id), max(id), ulid_lower_bound('2026-01-01') AS bound FROM parent;
    CREATE FUNCTION made(ulid) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS 'SELECT ulid_to_timestamp($1)';
    ALTER TABLE child ENABLE ROW LEVEL SECURITY;
    CREATE POLICY recent ON child USING (id >= ulid_lower_bound('2020-01-01'));
    REVOKE EXECUTE ON FUNCTION ulid_to_key(ulid) FROM PUBLIC;
    INSERT INTO parent SELECT md5(n::text)::uuid::ulid FROM generate_series(1, 2000) AS n;
    INSERT INTO child SELECT md5(n || 'child')::uuid::ulid, md5(n::text)::uuid::ulid, CASE WHEN n % 3 = 0 THEN md5(n::text)::uuid END,
        ARRAY[md5(n::text)::uuid::ulid, NULL], ROW(md5(n::text)::uuid::ulid, n)::pair FROM generate_series(1, 2000) AS n;
    INSERT INTO log SELECT id, 'line' FROM parent;
    INSERT INTO spread SELECT id FROM parent;
    REFRESH MATERIALIZED VIEW ends;
    ANALYZE};

# The same by each index, and by none.
my $by_index = q{
    SELECT count(*) FROM parent JOIN child ON child.parent = parent.id;
    SELECT count(*) FROM child WHERE parent_uuid = md5('3')::uuid AND id <@ '[2020-01-01,2100-01-01)'::tstzrange;
    SELECT count(*) FROM child WHERE ids @> ARRAY[md5('7')::uuid::ulid];
    SELECT count(*) FROM log WHERE id <@ tstzrange('2020-01-01', '5000-01-01');
    SELECT count(*) FROM spread WHERE id = md5('7')::uuid::ulid;
    SELECT * FROM ends};

sub dump_of {
    my ($database) = @_;
    my $file = PostgreSQL::Test::Utils::tempdir('dump') . '/dump.sql';
    $node->command_ok([ 'pg_dump', '--no-sync', '-f', $file, '-d', $node->connstr($database) ], "$database can be dumped");
    my $dump = slurp_file($file);
    $dump =~ s/^\\(?:un)?restrict .*\n//mg;    # random since the minor releases of August 2025
    return ($dump, $file);
}

$node->safe_psql('postgres', 'CREATE DATABASE fresh');
$node->safe_psql('fresh', "CREATE EXTENSION ulid; $kinds");
my $fresh = extension_objects($node, 'fresh');
cmp_ok(scalar @$fresh, '>', 150, 'the extension has many objects');
my ($fresh_dump, $dump_file) = dump_of('fresh');
for my $version (@earlier) {
    my $database = "from_$version";
    $node->safe_psql('postgres', qq{CREATE DATABASE "$database"});
    $node->safe_psql($database, "CREATE EXTENSION ulid VERSION '$version'; $kinds");
    is($node->safe_psql($database, q{BEGIN; ALTER EXTENSION ulid UPDATE; SELECT count(*) FROM pg_locks WHERE relation >= 16384; ROLLBACK;
        SELECT extversion FROM pg_extension WHERE extname = 'ulid'}), "0\n$version", "the update from $version locks no table and can be rolled back");
    $node->safe_psql($database, 'ALTER EXTENSION ulid UPDATE');
    is_deeply(extension_objects($node, $database), $fresh, "updated from $version, the objects are those of a fresh install");
    my ($dump) = dump_of($database);
    ok($dump eq $fresh_dump, "updated from $version, data and objects of every kind are dumped as those of a fresh install");
    is($node->safe_psql($database, "SET enable_seqscan = off; $by_index"), $node->safe_psql('fresh', "SET enable_indexscan = off;
        SET enable_indexonlyscan = off; SET enable_bitmapscan = off; $by_index"), "updated from $version, the indexes find the rows");
    is($node->safe_psql($database, q{INSERT INTO parent DEFAULT VALUES RETURNING made > now() - interval '1 hour'}), 't',
        "updated from $version, the default makes ids");
    if (has_extension('amcheck')) {
        is($node->safe_psql($database, q{CREATE EXTENSION amcheck; SELECT count(*) = 4, bool_and(bt_index_parent_check(c.oid, true) IS NOT NULL)
            FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE amname = 'btree' AND relkind = 'i' AND relnamespace = 'public'::regnamespace}),
            't|t', "updated from $version, the btree indexes are sound");
    }
}
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', $dump_file ], 'the dump can be restored');
ok((dump_of('restored'))[0] eq $fresh_dump, 'what is restored is dumped as before');

# A type that is another one is refused by every update script, by a section that is the same in each of them.
my $section;
for my $script (bsd_glob("$root/sql/ulid--*--*.sql")) {
    my ($from, $to) = basename($script) =~ /^ulid--(.*)--(.*)\.sql$/;
    my ($begin) = slurp_file($script) =~ /\A(.*?^END \$\$;$)/ms;
    $begin =~ s/^\\echo.*\n//mg;
    $section //= $begin;
    is($begin, $section, "the script from $from to $to begins like the others");

    my $database = "foreign_$from";
    $node->safe_psql('postgres', qq{CREATE DATABASE "$database"});
    # in an extension of the same name and version, instead of our type: one of variable length
    $node->safe_psql($database, qq{
        CREATE EXTENSION ulid;
        ALTER EXTENSION ulid DROP TYPE ulid;
        CREATE SCHEMA aside;
        ALTER TYPE ulid SET SCHEMA aside;
        CREATE TYPE ulid;
        CREATE FUNCTION foreign_in(cstring) RETURNS ulid LANGUAGE internal IMMUTABLE STRICT AS 'byteain';
        CREATE FUNCTION foreign_out(ulid) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'byteaout';
        CREATE FUNCTION foreign_recv(internal) RETURNS ulid LANGUAGE internal IMMUTABLE STRICT AS 'uuid_recv';
        CREATE TYPE ulid (INPUT = foreign_in, OUTPUT = foreign_out, RECEIVE = foreign_recv, LIKE = bytea);
        ALTER EXTENSION ulid ADD TYPE ulid;
        UPDATE pg_extension SET extversion = '$from' WHERE extname = 'ulid'});
    refused($database, $from, $to, 'of variable length');
    # one of 16 bytes with another receive function
    $node->safe_psql($database, q{
        ALTER EXTENSION ulid DROP TYPE ulid;
        DROP TYPE ulid CASCADE;
        CREATE TYPE ulid;
        CREATE FUNCTION foreign_in(cstring) RETURNS ulid LANGUAGE internal IMMUTABLE STRICT AS 'uuid_in';
        CREATE FUNCTION foreign_out(ulid) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'uuid_out';
        CREATE FUNCTION foreign_recv(internal) RETURNS ulid LANGUAGE internal IMMUTABLE STRICT AS 'bytearecv';
        CREATE TYPE ulid (INPUT = foreign_in, OUTPUT = foreign_out, RECEIVE = foreign_recv, LIKE = uuid);
        ALTER EXTENSION ulid ADD TYPE ulid});
    refused($database, $from, $to, 'with another receive function');
    is($node->safe_psql($database, "SELECT extversion FROM pg_extension WHERE extname = 'ulid'"), $from, "the extension that is another one stays at $from");
}

sub refused {
    my ($database, $from, $to, $type) = @_;
    my (undef, undef, $error) = $node->psql($database, "\\set VERBOSITY verbose\nALTER EXTENSION ulid UPDATE TO '$to'");
    like($error, qr/ERROR:  55000: extension "ulid" in this database is not the one that this script updates$/m,
        "the update from $from to $to refuses a type $type");
    like($error, qr/^HINT:  .*docs\/migrating/m, "and names the guide to migrating from it ($from, $type)");
    return;
}

# A copy of the installed server, whose library can be replaced while it runs. The programs find the other directories
# relative to their own.
my $copy = PostgreSQL::Test::Utils::tempdir('copy');
chomp(my ($bindir, $libdir, $sharedir) = `pg_config --bindir --pkglibdir --sharedir`);
my ($common) = join("\0", $bindir, $libdir, $sharedir) =~ m{^(.+)/[^\0]+\0\1/[^\0]+\0\1/};
my %copied = map { $_ => $copy . substr $_, length $common } $bindir, $libdir, $sharedir;
make_path(map { dirname($_) } values %copied);
system_or_bail('cp', '-R', $_, $copied{$_}) for $bindir, $libdir;
symlink($sharedir, $copied{$sharedir}) or die "$copied{$sharedir}: $!";
symlink($copied{$bindir}, "$copy/bin") or die "$copy/bin: $!" if $copied{$bindir} ne "$copy/bin";
my ($library) = bsd_glob("$copied{$libdir}/ulid.*");

# An older library: one that has the function that the planner calls for each comparison under a name that nobody asks for, as
# had those of the versions whose script does not name it.
my $newer = slurp_file($library);
my $count = (my $older = $newer) =~ s/(?<=\0)((?:pg_finfo_)?ulid_comparison_suppor)t(?=\0)/$1_/g;
cmp_ok($count, '>=', 2, 'the function has a symbol, and its information has one');
for my $version (grep { slurp_file("$root/tests/t/data/ulid--$_.sql") !~ /ulid_comparison_support/ } @earlier) {
    unlink $library;
    append_to_file($library, $older);
    append_to_file("$library.newer", $newer);

    my $open = new_server("open_$version" =~ tr/./_/r, extension => 0, path => $copy);
    $open->safe_psql('postgres', "CREATE EXTENSION ulid VERSION '$version'; CREATE TABLE kept AS SELECT gen_ulid() AS id");
    # in the extension's schema, a function that matches more closely than core's what the script calls
    $open->safe_psql('postgres', q{CREATE FUNCTION format(text, text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$});
    my $found = 'SELECT count(gen_ulid()) FROM kept WHERE id = (SELECT id FROM kept)';
    my ($status, $output, $error) = $open->psql('postgres', <<"SQL", on_error_stop => 0);
\\set VERBOSITY verbose
$found;
\\! mv '$library.newer' '$library'
\\echo the library is installed
ALTER EXTENSION ulid UPDATE;
$found;
\\! psql -X -q -d postgres -c 'ALTER EXTENSION ulid UPDATE'
\\echo another session has updated
$found;
\\c
$found;
SELECT default_version = installed_version FROM pg_available_extensions WHERE name = 'ulid';
SQL
    is($output, "1\nthe library is installed\n1\nanother session has updated\n1\nt",
        "$version: what works in a session that has the older library, and in a new one");
    my ($refused, $broken, @more) = split /^(?=.*ERROR:  )/m, $error;
    like($refused, qr/ERROR:  55000: the library of extension "ulid" in this session is older than version [\d.]+$/m,
        "$version: such a session does not update");
    like($refused, qr/^HINT:  .*[Rr]econnect/m, 'and says what to do');
    like($broken, qr/ERROR:  42883: could not find function "(\w+)" in file ".*"$/m,
        "$version: after the update by another one it has an error that is explained");
    is(scalar @more, 0, 'and no other');
}

done_testing();
