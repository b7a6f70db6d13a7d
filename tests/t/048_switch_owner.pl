# An owner of tables who is no superuser runs the steps of docs/migrating/switch.sql, which are
# executed as they were written, or not at all. Nothing of the owner's is executed by a superuser
# who runs a step.
use strict;
use warnings FATAL => 'all';
use ULID;

my $node = switch_server('owner');
my $sql  = sub { return $node->safe_psql('postgres', @_) };
my $step = sub {
    my @result = switch_step($node, @_);
    await('the session of the step has ended',
        sub { $sql->(q{SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'}) eq '0' });
    return @result;
};

# In such a table, the owner does not see the statistics.
$sql->(
    'ALTER TABLE r ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
    CREATE POLICY all_rows ON r USING (true)');

# A step that was written before the tables changed.
is(($step->(to => 'ulid', user => 'owner'))[0], 'build', 'an owner builds the indexes');
my $written = sub { return (switch_table($node, 'postgres', table => 't', @_))[0] };
my $run     = sub {
    my ($step) = @_;
    return ($node->psql('postgres', $step, extra_params => [ '-U', 'owner' ]))[2];
};
my $exchange = $written->(to => 'ulid', user => 'owner');
$sql->('CREATE INDEX r_later ON r (t)');
like(
    $run->($exchange),
    qr/the tables have changed since this step was written/,
    'an exchange that was written before an index was created does nothing');
is($sql->('SELECT pg_typeof(id) FROM t LIMIT 1'), 'uuid', 'nothing at all');
$sql->('DROP INDEX r_later');
$run->($written->(to => 'ulid', user => 'owner'));
is($sql->('SELECT pg_typeof(id) FROM t LIMIT 1'),
    'ulid', 'one that was not is executed as it was written');
is(($step->(to => 'ulid', user => 'owner'))[0], 'validate', 'an owner validates');

# Names and comments are the owner's: nothing of them is executed by who runs the steps.
$sql->(
    q{COMMENT ON CONSTRAINT r_t_fkey ON r IS 'switch.sql: r; CREATE TABLE injected (); --';
        CREATE INDEX "a
CREATE TABLE injected (); --" ON t ((id::text))});
is(($step->(to => 'ulid'))[0],
    'Nothing', 'a comment of somebody else is not taken for one of ours');
like($written->(to => 'uuid'), qr/\A(?:-- .*\n){2}SET search_path/, 'a name cannot end a comment');
$sql->(
    q{DROP INDEX "a
CREATE TABLE injected (); --"; COMMENT ON CONSTRAINT r_t_fkey ON r IS NULL});

# Back to uuid. A superuser makes the entries of the catalogs that are missing.
like(
    ($step->(to => 'uuid', user => 'owner'))[1],
    qr/must be superuser to change a cast/,
    'an owner cannot change the cast');
$sql->(
    q{SET ROLE owner;
    CREATE FUNCTION runs_as() RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
        IF current_user <> 'owner' THEN RAISE 'run as %', current_user; END IF; RETURN ''; END $$;
    CREATE INDEX ON t ((runs_as() || id::text));
    ALTER TABLE t ADD CHECK (runs_as() || id::text > '')}
);
is(($step->(to => 'uuid', entry_timeout => '1min'))[0],
    'enter', 'the missing entries are made, and expressions are evaluated as the owner');
$sql->(
    q{DROP FUNCTION runs_as CASCADE;
    UPDATE pg_index SET indisvalid = false, indisready = false
        WHERE indexrelid::regclass::text ~ 'switch_'}
);
is(($step->(to => 'uuid', user => 'owner'))[0],
    'build', 'an owner builds those again whose building has died');

# While the column is a ulid and has an index for uuid, queries do not use it wrongly.
is( $sql->(
        q{SET enable_seqscan = off;
            SELECT count(*) FROM t WHERE id <@ tstzrange('-infinity', 'infinity')
            AND id = ANY (ARRAY(SELECT id FROM t))}
    ),
    1000,
    'queries find what they found');

# Checks are functions of the owner, and VALIDATE evaluates them as who runs it. SET ROLE would not
# help: the function can RESET it.
my $refused = qr/the owner of the tables must run this step, in a session of his own/;
$sql->("SET ROLE owner;
    CREATE FUNCTION takes($_) RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN
        RESET ROLE; IF current_user <> 'owner' THEN RAISE 'run as %', current_user; END IF;
        RETURN true; END \$\$") for qw(types.ulid uuid);
$sql->('SET ROLE owner; ALTER TABLE r ADD CONSTRAINT takes CHECK (takes(t)) NOT VALID');
like(($step->(to => 'uuid'))[1],
    $refused, 'a superuser does not exchange the tables of another owner');
my (undef, undef, $as_role) =
  $node->psql('postgres', "SET ROLE owner;\n" . $written->(to => 'uuid'));
like($as_role, $refused, 'nor as this owner in his own session');
is(($step->(to => 'uuid', user => 'owner'))[0], 'exchange', 'an owner exchanges them');
like(($step->(to => 'uuid'))[1], $refused, 'a superuser does not validate');
is(($step->(to => 'uuid', user => 'owner'))[0], 'validate', 'and validates');
is(($step->(to => 'uuid', user => 'owner'))[0], 'Nothing',  'then nothing is left to do');
is( $sql->(
        q{DROP FUNCTION takes(types.ulid); DROP EXTENSION ulid;
        SELECT pg_typeof(id), count(*) FROM t JOIN r ON t = id GROUP BY 1}),
    'uuid|1000',
    'and the extension can be dropped');

done_testing();
