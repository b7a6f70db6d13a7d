# From each released version to the newest: stored data is kept, and the objects are those of a fresh install. The
# extension of the same name that other software installs is left alone.
use strict;
use warnings;
use File::Basename 'basename';
use File::Glob ':bsd_glob';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;
use ExtensionObjects;

$ENV{PGOPTIONS} = '-c client_min_messages=error';
my $node = new_server('update');
my $fresh = extension_objects($node, 'postgres');
cmp_ok(scalar @$fresh, '>', 150, 'the extension has many objects');
is($node->safe_psql('postgres', q{SELECT pg_describe_object(classid, objid, 0) FROM pg_depend
    WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'ulid') AND deptype = 'e'
    AND obj_description(objid, classid::regclass::name) IS NULL AND classid <> 'pg_type'::regclass}), '', 'everything has a comment');

my @released = map { /--(.*)\.sql$/ } bsd_glob("$root/sql/install/ulid--*.sql");
isnt(scalar @released, 0, 'there are released versions');
for my $version (@released) {
    my $database = "from_$version";
    $node->safe_psql('postgres', qq{CREATE DATABASE "$database"});
    $node->safe_psql($database, qq{
        CREATE EXTENSION ulid VERSION '$version';
        CREATE TABLE key (id ulid PRIMARY KEY DEFAULT gen_ulid(), ids ulid[], made timestamptz GENERATED ALWAYS AS (ulid_extract_timestamp(id)) STORED);
        CREATE INDEX ON key USING hash (id);
        INSERT INTO key (ids) SELECT ARRAY[gen_ulid(), gen_monotonic_ulid()] FROM generate_series(1, 10000);
        CREATE TABLE before AS SELECT id::text, ids::text, made FROM key;
        ALTER EXTENSION ulid UPDATE;
        INSERT INTO key DEFAULT VALUES});
    is_deeply(extension_objects($node, $database), $fresh, "updated from $version, the objects are those of a fresh install");
    is($node->safe_psql($database, 'SELECT count(*) FROM before JOIN key ON key.id = before.id::ulid AND key.ids::text = before.ids AND key.made = before.made'),
        10000, "updated from $version, the stored data is what it was");
}

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

done_testing();
