# The same application, with the type of the extension ulid and wherever ulid_sql can be: as a script, an extension, by
# pg_tle, and in PGlite.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;


my $tle = has_extension('pg_tle');
my $node = new_server('application', extension => 0, conf => [$tle ? "shared_preload_libraries = 'pg_tle'" : ()]);
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN CREATEDB');

# Run commands as the role owner, who is no superuser; return what they print.
sub by_owner {
    my ($database, $sql) = @_;
    return $node->safe_psql($database, $sql, extra_params => ['-U', 'owner'], on_error_stop => 1);
}

# The application, whose ids have this type.
sub application {
    my ($type) = @_;
    return slurp_file("$root/tests/ulid_sql/application.sql") =~ s/\@id\@/$type/gr;
}

by_owner('postgres', "CREATE DATABASE $_") for qw(native script extension tle);
my $expected = by_owner('native', 'CREATE EXTENSION ulid; ' . application('ulid'));
like($expected, qr/^window of a day: 24$/m, 'it runs on the type');
like($expected, qr/^left: 100$/m, 'to its end');

# The command of the script's first lines.
$node->command_ok(['psql', '-X', '-q', '-U', 'owner', '-d', 'script', '-1', '-v', 'ON_ERROR_STOP=1', '-c', 'CREATE SCHEMA ulid_sql',
    '-c', 'SET search_path = ulid_sql', '-f', "$root/sql/ulid_sql.sql"], 'the owner of a database runs the script');
is(by_owner('script', 'SET search_path = public, ulid_sql; ' . application('uuid')), $expected, 'it runs on the script');
by_owner('script', 'DROP SCHEMA public CASCADE; DROP SCHEMA ulid_sql CASCADE');
is(by_owner('script', "SELECT count(*) FROM pg_proc WHERE proname LIKE '%ulid%'"), '0', 'and goes with its schema');

# As an extension, which can be moved.
is(by_owner('extension', 'CREATE EXTENSION ulid_sql; ' . application('uuid')), $expected, 'it runs on the extension ulid_sql');
by_owner('extension', 'CREATE SCHEMA elsewhere; ALTER EXTENSION ulid_sql SET SCHEMA elsewhere');
is(by_owner('extension', "SELECT problem('SELECT elsewhere.ulid_from_typeid(''x'')')"), '22P02 invalid TypeID: "x"', 'in another schema');
is(by_owner('extension', "INSERT INTO account (name) VALUES ('later') RETURNING length(elsewhere.ulid_to_typeid('user', id))"), '31', 'with what uses it');
my (undef, undef, $error) = $node->psql('extension', 'DROP EXTENSION ulid_sql', extra_params => ['-U', 'owner']);
like($error, qr/other objects depend on it/, 'as which it cannot be removed while it is used');

SKIP: {
    skip('no extension pg_tle', 5) if !$tle;
    # somebody with pgtle_admin installs it; the owner of the database creates it
    $node->safe_psql('tle', 'CREATE EXTENSION pg_tle; CREATE ROLE installer LOGIN; GRANT pgtle_admin TO installer');
    # under another name, as pg_tle refuses that of an extension whose files are on the server
    my $wrapper = `$root/packaging/pg_tle.sh` =~ s/'ulid_sql'/'ulid_tle'/r;
    $node->safe_psql('tle', $wrapper, extra_params => ['-U', 'installer']);
    is(by_owner('tle', 'CREATE EXTENSION ulid_tle; ' . application('uuid')), $expected, 'it runs on ulid_sql by pg_tle');
    is(by_owner('tle', "SELECT extversion FROM pg_extension WHERE extname = 'ulid_tle'"), '1.0.0', 'which is an extension');
    my $dump = $node->basedir . '/tle.sql';
    $node->command_ok(['pg_dump', '-f', $dump, 'tle'], 'dump');
    by_owner('postgres', 'CREATE DATABASE tle_restored');
    $node->safe_psql('tle_restored', 'CREATE EXTENSION pg_tle');
    $node->psql('tle_restored', slurp_file($dump), on_error_stop => 0);
    is($node->safe_psql('tle_restored', 'SELECT count(*), min(ulid_to_typeid(\'inv\', id)) = min(number) FROM invoice'), '100|t', 'restore');
    by_owner('tle', 'DROP TABLE account, invoice, log CASCADE; DROP FUNCTION problem, invoice_of; DROP EXTENSION ulid_tle');
    is($node->safe_psql('tle', "SELECT pgtle.uninstall_extension('ulid_tle')", extra_params => ['-U', 'installer']), 't', 'and is uninstalled');
}

SKIP: {
    skip('no npm', 1) if !has_program('npm') || !has_program('node');
    # npm's own files too, as the user of the servers may have no home
    my $directory = PostgreSQL::Test::Utils::tempdir();
    local $ENV{HOME} = $directory;
    if (system("npm install --silent --no-audit --no-fund --no-package-lock --prefix $directory \@electric-sql/pglite\@0.5.16 > $directory/log 2>&1") != 0) {
        note(slurp_file("$directory/log"));
        skip('PGlite cannot be had from npm', 1);
    }
    append_to_file("$directory/$_->[0]", $_->[1]) for ['pglite.mjs', slurp_file("$root/tests/ulid_sql/pglite.mjs")], ['application.sql', application('uuid')];
    my ($out, $err);
    IPC::Run::run(['node', "$directory/pglite.mjs", "$root/sql/ulid_sql.sql", "$directory/application.sql"], '>', \$out, '2>', \$err);
    chomp $out;
    is($out, $expected, 'it runs in PGlite');
    note($err);
}

done_testing();
