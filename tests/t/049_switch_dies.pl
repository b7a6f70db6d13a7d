# A session that runs a step of docs/migrating/switch.sql dies, and the next call repairs what it
# has left: the cast that it has made implicit, and indexes that were not built.
use strict;
use warnings FATAL => 'all';
use ULID;

my $node = switch_server('dies');
my $sql  = sub { return $node->safe_psql('postgres', @_) };
my $step = sub { return switch_step($node, @_) };
is(join(' ', map { ($step->(to => 'ulid', user => 'owner'))[0] } 1 .. 3),
    'build exchange validate',
    'to ulid');
my $cast =
  q{SELECT castcontext, castmethod, obj_description(pg_cast.oid, 'pg_cast'), deptype, refobjid
      FROM pg_cast LEFT JOIN pg_depend ON classid = 'pg_cast'::regclass AND objid = pg_cast.oid
      AND refclassid = 'pg_extension'::regclass
    WHERE castsource = 'types.ulid'::regtype AND casttarget = 'uuid'::regtype};
my $before = $sql->($cast);

# It dies while the cast is implicit, because the building of an index waits for a writer.
my $writer =
  $node->background_psql('postgres', timeout => 10 * $PostgreSQL::Test::Utils::timeout_default);
$writer->query_safe('BEGIN; DELETE FROM r WHERE false');
my $dying = IPC::Run::start(
    [
        'psql', '-Xq', map({ ('-v', $_) } qw(table=t to=uuid run=yes entry_timeout=0)),
        '-f', "$root/docs/migrating/switch.sql",
        '-d', $node->connstr('postgres') . ' application_name=dying'
    ],
    '>',
    \my $dying_out,
    '2>',
    \my $dying_err);
ok( $node->poll_query_until(
        'postgres',
        q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'dying'
            AND query ~ '^CREATE INDEX' AND wait_event_type = 'Lock'}
    ),
    'the building of an index waits');
my (undef, undef, $ambiguous) = $node->psql('postgres',
    '\set VERBOSITY verbose' . "\nSELECT count(*) FROM t WHERE id = gen_random_uuid()");
like(
    $ambiguous,
    qr/42725: operator is not unique/,
    'a query with ulid = uuid fails while the cast is implicit');
is( $sql->(
        'INSERT INTO t VALUES (gen_random_uuid());
        INSERT INTO r SELECT id FROM t ORDER BY id DESC LIMIT 1;
        SELECT count(*) FROM t JOIN r ON r.t = id'
    ),
    1001,
    'others do not');
like(
    ($step->(to => 'uuid'))[1],
    qr/another session runs a step in this database/,
    'a second session is refused');
$sql->(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dying'});
$dying->finish;
$writer->query_safe('COMMIT');
$writer->quit;

# The next calls repair it.
isnt($sql->($cast), $before, 'when the session dies, the cast stays implicit');
like(
    (switch_table($node, 'postgres', table => 't', to => 'uuid'))[0],
    qr/^-- The cast from ulid to uuid is implicit/m,
    'the next call says so');
is(($step->(to => 'uuid'))[0], 'The',   'and restores it');
is($sql->($cast),           $before, 'with its comment, as part of the extension');

# One of the entries that are missing is not made.
$sql->('CREATE INDEX r_again ON r (t)');
is(($step->(to => 'uuid', entry_timeout => '1min'))[0], 'enter', 'the missing entries are made');
$sql->(q{DO $$ BEGIN EXECUTE format('DROP INDEX switch_%s', 'r_t'::regclass::oid); END $$});
is(($step->(to => 'uuid'))[0],
    'enter', 'if the first of two equal ones was not built, the next call builds it');
is($sql->($cast), $before, 'and the cast is restored');

done_testing();
