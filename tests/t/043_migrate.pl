# uuid to ulid without a rebuild, by the steps that docs/migrating/switch.sql writes: while a step
# holds its locks, other sessions read and write. They wait only for the exchange, and continue when
# it has ended. No step is judged by its duration: each is stopped while it holds its locks, and a
# session that cannot continue then would wait until lock_timeout expires. The table has ROWS
# (1,000,000) rows.
use strict;
use warnings FATAL => 'all';
use ULID;

my $rows = $ENV{ROWS} || 1_000_000;
my $node = new_server('migrate', extension => 0);
my $sql  = sub { return $node->safe_psql('postgres', @_) };

my ($tables) = blocks_of('migrating/uuid.md', 'sql', 'From uuid');

# The next step, which the script writes.
sub next_step
{
    return $sql->("\\set table account\n\\set to ulid\n\\i $root/docs/migrating/switch.sql\n");
}

# Start a session of that name.
sub session
{
    my ($name, %params) = @_;
    local $ENV{PGAPPNAME} = $name;

    # only the migration, and those that wait for its end, may have to wait for a lock
    local $ENV{PGOPTIONS} = '-c client_min_messages=warning'
      . ($name =~ /^(?:migration|reader|writer)$/ ? '' : ' -c lock_timeout=10s');
    my $session = $node->background_psql(
        'postgres',
        timeout => 10 * $PostgreSQL::Test::Utils::timeout_default,
        %params);
    $session->set_query_timer_restart;
    return $session;
}

# Let a session begin what it cannot end yet.
sub begin
{
    my ($session, $statements) = @_;
    $session->query_until(qr/begun/, "\\echo begun\n$statements\n");
    return;
}

# Read and write both tables in every way.
sub others_work
{
    my ($when) = @_;
    local $ENV{PGOPTIONS} = '-c lock_timeout=10s';
    my ($status, undef, $error) = $node->psql('postgres', <<'SQL');
SELECT count(*) FROM posting JOIN account ON account_id = account.id WHERE name = 'account 1';
BEGIN;
INSERT INTO account (name) VALUES ('new') RETURNING id AS new_id
\gset
INSERT INTO posting (account_id, amount) VALUES (:'new_id', 1);
UPDATE posting SET amount = 2 WHERE account_id = :'new_id';
SELECT name FROM account WHERE id = :'new_id' FOR UPDATE;
DELETE FROM posting WHERE account_id = :'new_id';
DELETE FROM account WHERE id = :'new_id';
COMMIT;
SQL
    is($status, 0, "others read and write $when") or diag($error);
    return;
}

# Wait until the building of an index is in this phase.
sub await_phase
{
    my ($phase) = @_;
    ok( $node->poll_query_until(
            'postgres',
            "SELECT EXISTS (SELECT FROM pg_stat_progress_create_index WHERE phase = '$phase')"),
        "the building of an index can be stopped $phase");
    return;
}

my $migration = session('migration');
$migration->query_safe($tables . <<"SQL");
INSERT INTO account (name) SELECT 'account ' || n FROM generate_series(1, $rows) AS n;
INSERT INTO posting SELECT id, 42 FROM account;
VACUUM ANALYZE account, posting;
SQL
others_work('before the migration');

# The indexes: stopped by other transactions where a build waits for them.
my ($before_build, $snapshot) = map { session($_) } qw(before_build snapshot);
$before_build->query_safe("BEGIN; UPDATE account SET name = name WHERE name = 'account 2'");
begin($migration, next_step());
await_phase('waiting for writers before build');
others_work('before an index is built');
$snapshot->query_safe(
    'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM account WHERE false');
$before_build->query_safe('COMMIT');
await_phase('waiting for old snapshots');
others_work('while an index waits for old snapshots');
$snapshot->query_safe('COMMIT');
$migration->query_safe('');
is( $sql->(
        q{SELECT count(*) FROM pg_index
            WHERE indisvalid AND indexrelid::regclass::text LIKE 'switch\_%'}
    ),
    3,
    'the indexes are built and valid');
my $files =
  q{SELECT pg_relation_filenode(oid) FROM pg_class WHERE relname ~ '^(account|posting|switch)'
      AND relkind IN ('r', 'i')};
my %built = map { $_ => 1 } split /\n/, $sql->($files);

# The exchange stops before its COMMIT: readers and writers wait for it, and for nobody else.
$migration->query_safe(next_step() =~ s/^COMMIT.*\n?//mr);
my ($reader, $writer) = map { session($_) } qw(reader writer);
begin($reader, "SELECT 'read', name FROM account WHERE name = 'account 1';");
begin($writer, q{INSERT INTO account (name) VALUES ('written') RETURNING name, pg_typeof(id);});
ok( $node->poll_query_until(
        'postgres', q{
    SELECT count(*) = 2
        AND bool_and(pg_blocking_pids(pid) = ARRAY(SELECT pid FROM pg_stat_activity
        WHERE application_name = 'migration'))
    FROM pg_stat_activity WHERE application_name IN ('reader', 'writer')
        AND wait_event_type = 'Lock'}
    ),
    'before the COMMIT of the exchange a reader and a writer wait for it, and for nobody else');
$migration->query_safe('COMMIT');
is($reader->query_safe(''), 'read|account 1', 'then the reader reads');
is($writer->query_safe(''), 'written|ulid',   'then the writer writes, a ulid');

# The foreign key, before the COMMIT of its validation.
$migration->query_safe("BEGIN;\n" . next_step());
others_work('before the COMMIT of the validation of the foreign key');
$migration->query_safe('COMMIT');
is( $sql->(
        'SELECT count(DISTINCT account_id) FROM posting JOIN account ON account_id = account.id'),
    $rows,
    'every row finds the one that it references');
is((grep { !$built{$_} } split /\n/, $sql->($files)),
    0, 'no table and none of the new indexes was rewritten');
$_->quit for $migration, $before_build, $snapshot, $reader, $writer;

done_testing();
