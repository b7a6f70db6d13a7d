# pg_dump and restore, plain and custom, by the owner of a database who is no superuser, with the
# extension in public and in a schema that is in no path: everything is restored and works.
use strict;
use warnings FATAL => 'all';
use ULID;

my $node      = new_server('dump', extension => 0);
my $directory = PostgreSQL::Test::Utils::tempdir('dump');
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN');

# The lines of the plain dump of a database, without a key that newer versions generate each time.
sub dump_of
{
    my ($database) = @_;
    $node->command_ok([ 'pg_dump', '-f', "$directory/$database.sql", $database ],
        "pg_dump of the database $database");
    return [ grep { !/^\\(?:un)?restrict / } split /\n/, slurp_file("$directory/$database.sql") ];
}

# with the companion, and what it needs, wherever they are created
my $booking =
  'CREATE EXTENSION ulid_gist CASCADE;
  CREATE TABLE booking (room ulid, during daterange,
      EXCLUDE USING gist (room WITH =, during WITH &&))';
for my $schema (qw(public types))
{
    my ($plain, $custom) = map { "${schema}_$_" } qw(plain custom);
    $node->safe_psql('postgres', "CREATE DATABASE $_ OWNER owner") for $schema, $plain, $custom;
    local $ENV{PGUSER} = 'owner';
    $node->safe_psql($schema, <<"SQL");
CREATE SCHEMA IF NOT EXISTS $schema;
CREATE EXTENSION ulid SCHEMA $schema;
SET search_path = public, $schema;
CREATE TABLE key (id ulid PRIMARY KEY DEFAULT gen_ulid(), ids ulid[],
    made timestamptz GENERATED ALWAYS AS (ulid_extract_timestamp(id)) STORED);
CREATE INDEX key_hash ON key USING hash (id);
CREATE INDEX key_made ON key (ulid_extract_timestamp(id));
CREATE TABLE child (id uuid REFERENCES key (id));
CREATE TABLE part (id ulid) PARTITION BY RANGE (id);
CREATE TABLE part_2026 PARTITION OF part FOR VALUES FROM (ulid_lower_bound('2026-01-01'))
    TO (ulid_lower_bound('2027-01-01'));
CREATE VIEW recent AS SELECT * FROM key WHERE id <@ tstzrange('2026-01-01', NULL) ORDER BY id;
CREATE TABLE shared (id ulid) PARTITION BY HASH (id);
CREATE TABLE shared_0 PARTITION OF shared FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE shared_1 PARTITION OF shared FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO key (ids) SELECT ARRAY[gen_ulid(), NULL] FROM generate_series(1, 1000);
INSERT INTO child SELECT id FROM key;
INSERT INTO part SELECT gen_ulid('2026-06-01') FROM generate_series(1, 1000);
INSERT INTO shared SELECT id FROM key;
CREATE VIEW extreme AS SELECT min(id), max(id) FROM child;
\\i $root/tests/t/data/expressions.sql
CREATE VIEW following AS SELECT * FROM compared
    WHERE (a, 1) < (b, 2) AND (a, 1) IN (SELECT id, n FROM sibling, compared);
SQL
    $node->safe_psql($schema,
        "SET client_min_messages = warning; SET search_path = public, $schema; $booking")
      if has_extension('btree_gist');
    my $original = dump_of($schema);
    $node->command_ok([ 'pg_dump', '-Fc', '-f', "$directory/custom.dump", $schema ],
        "$schema: pg_dump in the custom format");
    $node->command_ok(
        [
            'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $plain, '-f',
            "$directory/$schema.sql"
        ],
        "$schema: psql restores the plain dump");
    $node->command_ok(
        [ 'pg_restore', '--exit-on-error', '-j', 2, '-d', $custom, "$directory/custom.dump" ],
        "$schema: pg_restore restores the other, by two jobs");

    for my $copy ($plain, $custom)
    {
        is_deeply(dump_of($copy), $original,
            "$copy: the dump of the copy equals that of the original");
        my (undef, undef, $error) = $node->psql($copy, <<'SQL');
INSERT INTO key DEFAULT VALUES;
INSERT INTO shared SELECT id FROM key ON CONFLICT DO NOTHING;
SQL
        is($error, '', "$copy: rows can be inserted");
        is($node->safe_psql($copy, 'SELECT count(*) FROM recent'),
            1001, "$copy: the view has the old rows and the new one");
    }
}

# A dump has the horizon. A superuser restores it, and ids continue after it. The owner restores all
# else.
$node->safe_psql(
    'public', q{
    SET ROLE owner;
    CREATE TABLE outbox (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
    RESET ROLE;
    SELECT ulid_advance_ordered_time(ulid_upper_bound(now() + interval '1 hour'));
    INSERT INTO outbox DEFAULT VALUES;
    CALL ulid_refresh_horizon();
    GRANT EXECUTE ON FUNCTION ulid_refresh() TO PUBLIC});
my $horizon = $node->safe_psql('public', 'SELECT horizon FROM ulid_horizon');
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$directory/horizon.dump", 'public' ],
    'pg_dump with a horizon');
$node->restart;
for my $role (qw(owner), $node->safe_psql('postgres', 'SELECT current_user'))
{
    my $copy = $role eq 'owner' ? 'of_owner' : 'of_superuser';
    $node->safe_psql('postgres', "CREATE DATABASE $copy OWNER owner");
    $node->command_ok(
        [
            'pg_restore', '--exit-on-error', '-U', $role, '-d', $copy, "$directory/horizon.dump"
        ],
        "$role restores it");
    is( $node->safe_psql(
            $copy, "SELECT count(*) FROM ulid_horizon WHERE horizon = '$horizon';
            SELECT gen_ordered_ulid() > '$horizon';
            SET ROLE pg_monitor; CALL ulid_refresh_horizon();
            SELECT ulid_current_horizon() > '$horizon'"
        ),
        $role eq 'owner' ? "0\nf\nf" : "1\nt\nt",
        "$role: ids continue after the horizon if it was restored, and grants are kept");
}

# Data alone, into a database with a horizon and a consumer of its own. The guard refuses the row,
# so triggers are disabled; then the tables of both must be left out, and keep their triggers.
my $of_data = 'SELECT count(*) FROM outbox; SELECT horizon FROM ulid_horizon;
    SELECT name, position FROM ulid_consumer;
    SELECT tgname, tgenabled FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgname';
my $mail = q{SET ROLE owner; SELECT ulid_create_consumer('mail', 'outbox')};
$node->safe_psql('public', $mail);
$node->safe_psql('of_superuser', "TRUNCATE outbox; $mail");
my $before    = $node->safe_psql('of_superuser', $of_data);
my @dump_data = (qw(pg_dump -Fc -t outbox -t ulid_*), '-f', "$directory/data.dump", 'public');
my @restore   = (qw(pg_restore --data-only --single-transaction -d of_superuser),
    "$directory/data.dump");
$node->command_ok(\@dump_data, 'pg_dump of a table, and of the tables of the extension');
$node->command_fails_like(\@restore, qr/may have passed ulid/, 'the guard refuses the row');
$node->command_fails_like([ @restore, '--disable-triggers' ],
    qr/duplicate key value/, 'without triggers, the other tables are refused');
$node->command_ok(
    [ @dump_data, map { "--exclude-table-data=*.ulid_$_" } qw(horizon consumer) ],
    'pg_dump without them');
$node->command_ok([ @restore, '--disable-triggers' ], 'the row is restored without triggers');
is( $node->safe_psql('of_superuser', $of_data),
    $before =~ s/^0/1/r,
    'the row comes, and the horizon, the consumer and the triggers stay');

# A database that has a max(uuid) of its own, with another result, keeps it, whichever schema the
# extension is created in. Only the first name in the path is called.
for my $schema (qw(types public))
{
    my ($database, $restored) = ("own_$schema", "own_${schema}_restored");
    $node->safe_psql('postgres', "CREATE DATABASE $_ OWNER owner") for $database, $restored;
    local $ENV{PGUSER} = 'owner';
    my (undef, undef, $printed) = $node->psql($database, <<"SQL");
CREATE FUNCTION public.first(uuid, uuid) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT AS 'SELECT \$1';
CREATE AGGREGATE public.max(uuid) (SFUNC = public.first, STYPE = uuid);
CREATE TABLE key (id uuid);
INSERT INTO key VALUES (NULL), ('00000000-0000-0000-0000-000000000001'),
    ('00000000-0000-0000-0000-000000000003'), ('00000000-0000-0000-0000-000000000002');
CREATE VIEW own AS SELECT max(id) FROM key;
CREATE SCHEMA IF NOT EXISTS $schema;
CREATE EXTENSION ulid SCHEMA $schema;
SQL
    my $in_public = $schema eq 'public';
    like(
        $printed,
        $in_public ? qr/WARNING:  aggregate public.max\(uuid\) already exists, skipping/ : qr/^$/,
        "$schema: CREATE EXTENSION succeeds beside a max(uuid)");
    my $last = sub {
        my ($in, $path) = @_;
        return $node->safe_psql($in,
            "SET search_path = $path; SELECT right(max(id)::text, 1), right(min(id)::text, 1),
                right((SELECT max FROM public.own)::text, 1) FROM public.key");
    };
    my %expected = (
        "public, $schema" => '1|1|1',
        "$schema, public" => $in_public ? '1|1|1' : '3|1|1');
    is($last->($database, $_), $expected{$_}, "$schema: the result with the path $_")
      for sort keys %expected;
    dump_of($database);
    my (undef, undef, $error) =
      $node->psql($restored, slurp_file("$directory/$database.sql"), on_error_stop => 0);
    my $conflict = qr/ERROR:  function "max" already exists with same argument types/;
    if ($in_public)
    {
        # as the page says
        like($error, $conflict, "$schema: that of the extension is there when it is restored");
        is_deeply([ grep { /ERROR/ && !/(?:function|aggregate) "?max/ } split /\n/, $error ],
            [], "$schema: and there is no error of anything else");
        is($last->($restored, 'public'), '3|1|3', "$schema: and is the maximum");
    }
    else
    {
        is($error, '', "$schema: the dump is restored without an error");
        is($last->($restored, $_), $expected{$_}, "$schema: restored, with the path $_")
          for sort keys %expected;
    }
}

done_testing();
