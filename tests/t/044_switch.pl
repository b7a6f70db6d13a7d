# docs/migrating/switch.sql, in both directions: an account with more than ten referencing tables,
# with partitions and every kind of index and constraint that can be exchanged, while clients of
# pgbench read and write. The schema must be what plain ALTER TABLE makes of it, and in the end what
# it was; no table is rewritten, and no index in the exchange. What switch.sql cannot do it refuses
# by name. Sessions die between the steps. The table has ROWS (20,000) rows.
use strict;
use warnings FATAL => 'all';
use IPC::Run;
use ULID;

my $rows = $ENV{ROWS} || 20_000;
my $node = new_server('switch', extension => 0);
$node->safe_psql('postgres', 'CREATE DATABASE app; CREATE DATABASE plain; CREATE DATABASE odd');
$node->safe_psql('postgres', "ALTER DATABASE $_ SET search_path = public, types")
  for qw(app plain odd);
my $sql = sub { return $node->safe_psql('app', @_) };

# two bytes each; with one more byte it has 63, the most that a name can have
my $long = 'ä' x 31;

my $schema = <<"SQL" =~ s/LONG/$long/gr;
CREATE SCHEMA types;
CREATE EXTENSION ulid SCHEMA types;
CREATE SCHEMA "Odd ""schema";
CREATE TABLE account (
    id uuid DEFAULT gen_random_uuid() CONSTRAINT "key of account" PRIMARY KEY
        WITH (fillfactor = 80),
    tenant integer NOT NULL DEFAULT 1, name text COLLATE "C", parent uuid REFERENCES account,
    CONSTRAINT not_nil CHECK (id <> '00000000-0000-0000-0000-000000000000'),
    UNIQUE (tenant, id), UNIQUE (id) INCLUDE (name) DEFERRABLE INITIALLY DEFERRED);
COMMENT ON CONSTRAINT "key of account" ON account IS 'it''s the key';
COMMENT ON INDEX "key of account" IS 'its index';
COMMENT ON CONSTRAINT not_nil ON account IS 'is not nil';
CREATE INDEX account_desc
    ON account (name COLLATE "POSIX" text_pattern_ops, id DESC NULLS LAST) INCLUDE (tenant);
CREATE INDEX account_hash ON account USING hash (id);
CREATE INDEX account_brin ON account USING brin (id) WITH (pages_per_range = 16);
CREATE INDEX account_twice_1 ON account (parent);
CREATE INDEX account_twice_2 ON account (parent);
CREATE UNIQUE INDEX account_nulls ON account (id, parent) NULLS NOT DISTINCT;
CREATE INDEX account_partial ON account (id) WHERE tenant = 2;
CREATE INDEX account_expression ON account ((id::text));
CREATE INDEX account_included ON account (name) INCLUDE (id);
CREATE INDEX account_other ON account (name);
CREATE STATISTICS account_statistics ON id, tenant FROM account;
COMMENT ON INDEX account_hash IS 'hashed';
ALTER TABLE account CLUSTER ON account_twice_2;

CREATE TABLE child_1 (n bigserial PRIMARY KEY, tenant integer DEFAULT 1, account_id uuid,
    FOREIGN KEY (tenant, account_id) REFERENCES account (tenant, id) ON DELETE CASCADE);
CREATE INDEX ON child_1 (tenant, account_id);
CREATE TABLE child_2 (account_id uuid PRIMARY KEY
    REFERENCES account ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE grandchild (id uuid NOT NULL DEFAULT gen_random_uuid(),
    child_id uuid REFERENCES child_2 ON DELETE CASCADE, at date);
CREATE TABLE child_3 (n integer, account_id uuid CONSTRAINT to_account
    REFERENCES account ON DELETE CASCADE, PRIMARY KEY (n), CHECK (account_id IS NOT NULL))
    PARTITION BY RANGE (n);
COMMENT ON TABLE child_3 IS 'partitioned';
CREATE TABLE child_3_1 PARTITION OF child_3 FOR VALUES FROM (MINVALUE) TO (1000);
CREATE TABLE child_3_2 PARTITION OF child_3 FOR VALUES FROM (1000) TO (MAXVALUE)
    PARTITION BY RANGE (n);
CREATE TABLE child_3_2_1 (account_id uuid NOT NULL, n integer NOT NULL,
    CONSTRAINT child_3_account_id_check CHECK (account_id IS NOT NULL));
ALTER TABLE child_3_2 ATTACH PARTITION child_3_2_1 FOR VALUES FROM (1000) TO (MAXVALUE);
CREATE INDEX ON child_3 (account_id);
CREATE UNIQUE INDEX ON child_3 (n, account_id);
CREATE INDEX child_3_own ON child_3_1 (account_id, n);
CREATE TABLE child_4 (n bigserial PRIMARY KEY, account_id uuid NOT NULL
    REFERENCES account ON DELETE CASCADE, v integer DEFAULT 0);
CREATE UNIQUE INDEX child_4_identity ON child_4 (account_id);
ALTER TABLE child_4 REPLICA IDENTITY USING INDEX child_4_identity;
CREATE TABLE "Odd ""schema"."LONGt" ("LONGc" uuid CONSTRAINT "LONGf"
    REFERENCES account ON DELETE SET NULL ON UPDATE CASCADE);
CREATE INDEX "LONGi" ON "Odd ""schema"."LONGt" ("LONGc");
CREATE TABLE "Odd ""schema".child_8 ("select" uuid
    DEFAULT '00000000-0000-0000-0000-000000000001'::uuid REFERENCES account ON DELETE SET NULL);
CREATE INDEX "an ""index""" ON "Odd ""schema".child_8 ("select");
COMMENT ON CONSTRAINT child_8_select_fkey ON "Odd ""schema".child_8 IS 'a "reference"';
CREATE TABLE child_10 (account_id uuid REFERENCES account ON DELETE CASCADE,
    other uuid REFERENCES account ON DELETE CASCADE);
CREATE INDEX ON child_10 (other, account_id);

-- another key, of a partitioned table
CREATE TABLE event (id uuid DEFAULT gen_ordered_uuid_v7(), at integer, PRIMARY KEY (id, at))
    PARTITION BY RANGE (at);
CREATE TABLE event_1 PARTITION OF event FOR VALUES FROM (MINVALUE) TO (100);
CREATE TABLE event_2 PARTITION OF event FOR VALUES FROM (100) TO (MAXVALUE);
CREATE INDEX event_at ON event (at, id);
CREATE TABLE event_note (event_id uuid, at integer, FOREIGN KEY (event_id, at)
    REFERENCES event ON DELETE CASCADE);
CREATE INDEX ON event_note (event_id);
CREATE TABLE load (step serial);
SQL
$node->safe_psql($_, $schema) for qw(app plain);
$sql->(<<"SQL");
INSERT INTO account (name, tenant) SELECT 'account ' || n, n % 3
    FROM generate_series(1, $rows) AS n;
UPDATE account SET parent = (SELECT id FROM account LIMIT 1) WHERE tenant = 1;
INSERT INTO child_1 (tenant, account_id) SELECT tenant, id FROM account;
INSERT INTO child_2 SELECT id FROM account;
INSERT INTO grandchild (child_id) SELECT account_id FROM child_2;
INSERT INTO child_3 SELECT row_number() OVER (), id FROM account;
INSERT INTO child_4 (account_id) SELECT id FROM account;
INSERT INTO "Odd ""schema"."${long}t" SELECT id FROM account;
INSERT INTO "Odd ""schema".child_8 SELECT id FROM account;
INSERT INTO child_10 SELECT id, id FROM account;
INSERT INTO event (at) SELECT n % 200 FROM generate_series(1, $rows) AS n;
INSERT INTO event_note SELECT * FROM event;
VACUUM ANALYZE;
SQL

# Call switch.sql; the variables are those of psql.
sub call
{
    my ($database, %variables) = @_;
    my $user = delete $variables{user};
    my ($stdout, $stderr);
    my $status = $node->psql(
        $database,
        join('', map { "\\set $_ '" . $variables{$_} =~ s/'/''/gr . "'\n" } sort keys %variables)
          . "\\i $root/docs/migrating/switch.sql\n",
        stdout => \$stdout,
        stderr => \$stderr,
        ($user ? (extra_params => [ '-U', $user ]) : ()));
    return ($stdout, $stderr, $status);
}

# The definition of everything in a database.
sub definition
{
    my ($database) = @_;
    my ($dump)     = run_command([ 'pg_dump', '--schema-only', '-d', $node->connstr($database) ]);

    # a check that has been made for ulid stays so
    $dump =~ s/^ *CONSTRAINT not_nil CHECK \(\K.*//m;
    return join "\n", grep { !/^\\(un)?restrict / } split /\n/, $dump;
}

# The file of each table, or of each index that is built by switch.sql.
sub files
{
    my ($relations) = @_;
    return $sql->(
        "SELECT pg_relation_filenode(oid) AS file FROM pg_class
            WHERE $relations AND relnamespace::regnamespace::text ~ 'public|Odd' ORDER BY 1"
    );
}
my ($tables, $built) =
  ("relkind = 'r' AND relname <> 'load'", "relkind = 'i' AND relname ~ '^switch_'");

# Call it until nothing is left. Returns the names of the steps.
sub all_steps
{
    my (%variables) = @_;
    my (@steps, $exchanged);
    my $kept = files($tables);
    for (1 .. 50)
    {
        my ($written) = call('app', %variables);
        $exchanged = files($built) if $written =~ /: exchange/;
        my ($stdout, $stderr, $status) = call('app', %variables, run => 'yes');
        if ($status)
        {
            # a client may have held a lock for too long
            next
              if $stderr =~
              /canceling statement due to lock timeout|the tables are in use|deadlock detected/;
            fail("$variables{table} to $variables{to}: $stdout$stderr");
            last;
        }
        my ($step) = $stdout =~ /^-- (?:\d of \d: )?(\w+)/m;
        push @steps, $step;
        if ($step eq 'exchange')
        {
            my $files = $exchanged =~ s/\n/,/gr;
            is(files("pg_relation_filenode(oid) IN ($files)"), $exchanged,
                "$variables{table} to $variables{to}: "
                  . 'no index that was built is rewritten in the exchange');
        }
        last if $step eq 'Nothing';
    }
    is(files($tables), $kept, "$variables{table} to $variables{to}: no table is rewritten");
    is($steps[-1], 'Nothing',
        "$variables{table} to $variables{to}: in the end nothing is left to do");
    return join ' ', grep { !$variables{$_}++ } @steps;
}

my $before = definition('app');

# The load. The clients know ids as 36 characters: the 26 of a ulid would be refused once the column
# is uuid again.
my $directory = PostgreSQL::Test::Utils::tempdir('switch');
append_to_file("$directory/load.sql", <<'SQL');
BEGIN;
INSERT INTO account (name) VALUES ('new') RETURNING id::uuid AS new_id
\gset
INSERT INTO child_4 (account_id) VALUES (':new_id');
INSERT INTO child_1 (account_id) VALUES (':new_id');
INSERT INTO child_3 SELECT random() * 1e9, ':new_id' ON CONFLICT DO NOTHING;
INSERT INTO child_10 VALUES (':new_id', ':new_id');
UPDATE child_4 SET v = v + 1 WHERE account_id = ':new_id';
COMMIT;
SELECT count(*) FROM account JOIN child_4 ON account_id = account.id
    JOIN child_10 ON other = account.id WHERE account.id = ':new_id';
DELETE FROM account WHERE id = ':new_id';
WITH new AS (INSERT INTO event (at) VALUES (-1) RETURNING id, at) SELECT id::uuid AS event FROM new
\gset
INSERT INTO event_note VALUES (':event', -1);
DELETE FROM event WHERE id = ':event' AND at = -1;
INSERT INTO load DEFAULT VALUES;
SQL
my ($load_out, $load_err) = ('', '');
my $load = IPC::Run::start(
    [
        'pgbench', '-n', '-c', 4, '-T', 10 * $PostgreSQL::Test::Utils::timeout_default,
        '-f',      "$directory/load.sql", $node->connstr('app')
    ],
    '>',
    \$load_out,
    '2>',
    \$load_err);
my $transactions = sub { return $sql->('SELECT count(*) FROM load') };
my $goes_on      = sub {
    my ($when) = @_;
    my $count = $transactions->();
    await("transactions $when",
        sub { $load->pump_nb; return $load_err =~ /aborted/ || $transactions->() > $count + 20 });
    unlike($load_err, qr/ERROR|aborted/, "clients read and write $when");
    return;
};
$goes_on->('before');

is( all_steps(table => 'account', to => 'ulid'),
    'build exchange validate Nothing',
    'account to ulid');
$goes_on->('with ulids');
is( all_steps(table => 'event', to => 'ulid', column => 'id'),
    'build exchange validate Nothing',
    'event to ulid');
$goes_on->('with both');
my $converted = definition('app');
like(
    all_steps(table => 'event_note', column => 'event_id', to => 'uuid'),
    qr/^enter (build )?exchange validate Nothing$/,
    'event to uuid, called for the referencing table');
like(
    all_steps(table => 'account', to => 'uuid', default => 'gen_random_uuid()'),
    qr/^enter (build )?exchange validate Nothing$/,
    'account to uuid');
$goes_on->('afterwards');
$load->signal('TERM');
eval { $load->finish };
ok( $node->poll_query_until(
        'app', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'pgbench'}),
    'the clients end');

# The schema is what plain ALTER TABLE makes of it, and in the end what it was.
$node->safe_psql('plain', <<"SQL");
ALTER TABLE account ALTER id TYPE ulid, ALTER parent TYPE ulid, ALTER id SET DEFAULT gen_ulid();
ALTER TABLE child_1 ALTER account_id TYPE ulid;
ALTER TABLE child_2 ALTER account_id TYPE ulid;
ALTER TABLE grandchild ALTER child_id TYPE ulid;
ALTER TABLE child_3 ALTER account_id TYPE ulid;
ALTER TABLE child_4 ALTER account_id TYPE ulid;
ALTER TABLE "Odd ""schema"."${long}t" ALTER "${long}c" TYPE ulid;
ALTER TABLE "Odd ""schema".child_8 ALTER "select" TYPE ulid;
ALTER TABLE child_10 ALTER account_id TYPE ulid, ALTER other TYPE ulid;
ALTER TABLE event ALTER id TYPE ulid, ALTER id SET DEFAULT gen_ordered_ulid();
ALTER TABLE event_note ALTER event_id TYPE ulid;
SQL
is($converted,        definition('plain'), 'the schema with ulids is what ALTER TABLE makes of it');
is(definition('app'), $before,             'the schema with uuids is what it was');

# Rows and keys.
is( $sql->(
        q{SELECT (SELECT count(*) FROM account) = (SELECT count(DISTINCT id) FROM account), count(*)
    FROM account AS a JOIN child_1 USING (tenant) JOIN child_2 ON child_2.account_id = a.id
    JOIN grandchild ON child_id = a.id JOIN child_3 ON child_3.account_id = a.id
    JOIN child_4 ON child_4.account_id = a.id JOIN child_10 ON other = a.id
    WHERE child_1.account_id = a.id}
    ),
    "t|$rows",
    'every row finds those that it references');
is( $sql->(
        'SELECT count(*) FROM event_note JOIN event ON event_id = id AND event.at = event_note.at
            WHERE event.at >= 0'
    ),
    $rows,
    'those of the partitioned table, too');

# What it refuses, by name, before anything is changed.
$node->safe_psql('odd',
    'CREATE SCHEMA types; CREATE EXTENSION ulid SCHEMA types; CREATE ROLE owner LOGIN;
    GRANT ALL ON SCHEMA types TO owner; GRANT TEMPORARY, CREATE ON DATABASE odd TO owner'
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
        "$t CREATE INDEX broken ON t (id);
        UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'broken'::regclass",
        'index broken is not valid'
    ],
    [
        'CREATE TABLE t (a uuid, b uuid, PRIMARY KEY (a, b))',
        'no such column of type uuid or ulid, or more than one'
    ],
    [
        "$t GRANT ALL ON t TO owner",
        'column id of t is in a table of another owner',
        user => 'owner'
    ],
    [
        qq{$t DO \$\$ BEGIN
            EXECUTE format('CREATE TABLE %I ()', 'switch_' || 't_pkey'::regclass::oid); END \$\$},
        'there is a relation switch_\d+ already'
    ],)
{
    my ($make, $reason, %variables) = @$case;
    $node->safe_psql('odd',
        'DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT ALL ON SCHEMA public TO PUBLIC');
    $node->safe_psql('odd', $make);
    my (undef, $stderr) = call('odd', table => 't', to => 'ulid', %variables);
    like($stderr =~ s/\bpublic\.//gr, qr/$reason/, "it refuses: $reason");
}

# What cannot be seen in the catalogs, an empty copy tells before an index is built.
sub step
{
    my (%variables) = @_;
    my ($stdout, $stderr, $status) = call('odd', table => 't', run => 'yes', %variables);
    my ($step) = $stdout =~ /^-- (?:\d of \d: )?(\w+)/m;
    return ($step, $stderr, $status);
}
my $odd = sub { return $node->safe_psql('odd', @_) };
$odd->(
    qq{DROP SCHEMA public CASCADE; CREATE SCHEMA public;
        $t CREATE FUNCTION suits(uuid) RETURNS boolean IMMUTABLE RETURN true;
    ALTER TABLE t ADD CHECK (suits(id))}
);
like(
    (step(to => 'ulid'))[1],
    qr/function public\.suits\(types\.ulid\) does not exist/,
    'a check that does not suit the type is found');
is($odd->(q{SELECT count(*) FROM pg_class WHERE relname ~ '^switch'}),
    0, 'before an index is built');

# An owner who is no superuser, and steps that are written before the table changes.
$odd->('DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT ALL ON SCHEMA public TO PUBLIC');
$node->safe_psql(
    'odd',
    "$t CREATE TABLE r (t uuid REFERENCES t); CREATE INDEX r_t ON r (t);
    INSERT INTO t SELECT gen_random_uuid() FROM generate_series(1, 1000);
    INSERT INTO r SELECT id FROM t",
    extra_params => [ '-U', 'owner' ]);
is((step(to => 'ulid', user => 'owner'))[0], 'build', 'an owner builds the indexes');
my ($written) = call('odd', table => 't', to => 'ulid', user => 'owner');
$odd->('CREATE INDEX r_later ON r (t)');
my (undef, undef, $stale) =
  $node->psql('odd', $written, extra_params => [ '-U', 'owner' ]);
like(
    $stale,
    qr/the tables have changed since this step was written/,
    'an exchange that was written before an index was created does nothing');
is($odd->('SELECT pg_typeof(id) FROM t LIMIT 1'), 'uuid', 'nothing at all');
$odd->('DROP INDEX r_later');
($written) = call('odd', table => 't', to => 'ulid', user => 'owner');
$node->safe_psql('odd', $written, extra_params => [ '-U', 'owner' ]);
is($odd->('SELECT pg_typeof(id) FROM t LIMIT 1'),
    'ulid', 'one that was not is executed as it was written');
is((step(to => 'ulid', user => 'owner'))[0], 'validate', 'an owner validates');

# Names and comments are the owner's: nothing of them is executed by who runs the steps.
$odd->(
    q{COMMENT ON CONSTRAINT r_t_fkey ON r IS 'switch.sql: r; CREATE TABLE injected (); --';
        CREATE INDEX "a
CREATE TABLE injected (); --" ON t ((id::text))});
is((step(to => 'ulid'))[0], 'Nothing', 'a comment of somebody else is not taken for one of ours');
like(
    (call('odd', table => 't', to => 'uuid'))[0],
    qr/\A(?:-- .*\n){2}SET search_path/,
    'a name cannot end a comment');
$odd->(
    q{DROP INDEX "a
CREATE TABLE injected (); --"; COMMENT ON CONSTRAINT r_t_fkey ON r IS NULL});
my $state =
  q{SELECT castcontext, castmethod, obj_description(pg_cast.oid, 'pg_cast'), deptype, refobjid
      FROM pg_cast LEFT JOIN pg_depend ON classid = 'pg_cast'::regclass AND objid = pg_cast.oid
      AND refclassid = 'pg_extension'::regclass
    WHERE castsource = 'types.ulid'::regtype AND casttarget = 'uuid'::regtype};
my $cast = $odd->($state);
like(
    (step(to => 'uuid', user => 'owner'))[1],
    qr/must be superuser to change a cast/,
    'an owner cannot change the cast');

# A session dies while the cast is implicit.
my $writer =
  $node->background_psql('odd', timeout => 10 * $PostgreSQL::Test::Utils::timeout_default);
$writer->query_safe('BEGIN; DELETE FROM r WHERE false');
my $dying = IPC::Run::start(
    [
        'psql', '-Xq',
        '-v',   'table=t',
        '-v',   'to=uuid',
        '-v',   'run=yes',
        '-v',   'entry_timeout=0',
        '-f',   "$root/docs/migrating/switch.sql",
        '-d',   $node->connstr('odd') . " application_name=dying"
    ],
    '>',
    \my $dying_out,
    '2>',
    \my $dying_err);
ok( $node->poll_query_until(
        'odd',
        q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'dying'
            AND query ~ '^CREATE INDEX' AND wait_event_type = 'Lock'}
    ),
    'the building of an index waits');
my (undef, undef, $ambiguous) = $node->psql('odd',
    '\set VERBOSITY verbose' . "\nSELECT count(*) FROM t WHERE id = gen_random_uuid()");
like(
    $ambiguous,
    qr/42725: operator is not unique/,
    'a query with ulid = uuid fails while the cast is implicit');
is( $odd->(
        'INSERT INTO t VALUES (gen_random_uuid());
        INSERT INTO r SELECT id FROM t ORDER BY id DESC LIMIT 1;
        SELECT count(*) FROM t JOIN r ON r.t = id'
    ),
    1001,
    'others do not');
like(
    (step(to => 'uuid'))[1],
    qr/another session runs a step in this database/,
    'a second session is refused');
$odd->(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dying'});
$dying->finish;
$writer->query_safe('COMMIT');
isnt($odd->($state), $cast, 'when the session dies, the cast stays implicit');
like(
    (call('odd', table => 't', to => 'uuid'))[0],
    qr/^-- The cast from ulid to uuid is implicit/m,
    'the next call says so');
is((step(to => 'uuid'))[0], 'The', 'and restores it');
is($odd->($state),          $cast, 'with its comment, as part of the extension');

# The entries that are missing come next. Then the building of an index dies.
$odd->(
    q{CREATE INDEX r_again ON r (t); SET ROLE owner;
    CREATE FUNCTION runs_as() RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
        IF current_user <> 'owner' THEN RAISE 'run as %', current_user; END IF; RETURN ''; END $$;
    CREATE INDEX ON t ((runs_as() || id::text));
    ALTER TABLE t ADD CHECK (runs_as() || id::text > '')}
);
is((step(to => 'uuid'))[0],
    'enter', 'the missing entries are made, and expressions are evaluated as the owner');
$odd->(
    q{DROP FUNCTION runs_as CASCADE;
        DO $$ BEGIN EXECUTE format('DROP INDEX switch_%s', 'r_t'::regclass::oid); END $$}
);
is((step(to => 'uuid'))[0],
    'enter', 'if the first of two equal ones was not built, the next call builds it');
is($odd->($state), $cast, 'and the cast is restored');
$writer->quit;
$odd->(
    q{UPDATE pg_index SET indisvalid = false, indisready = false
        WHERE indexrelid::regclass::text ~ 'switch_'}
);
is((step(to => 'uuid', user => 'owner'))[0],
    'build', 'an owner builds those again whose building has died');

# While the column is a ulid and has an index for uuid, queries do not use it wrongly.
is( $odd->(
        q{SET enable_seqscan = off;
            SELECT count(*) FROM t WHERE id <@ tstzrange('-infinity', 'infinity')
            AND id = ANY (ARRAY(SELECT id FROM t))}
    ),
    1001,
    'queries find what they found');

# Checks are functions of the owner, and VALIDATE evaluates them as who runs it. SET ROLE would not
# help: the function can RESET it.
my $refused = qr/the owner of the tables must run this step, in a session of his own/;
$odd->(
    q{SET ROLE owner;
    CREATE FUNCTION takes(types.ulid) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
        RESET ROLE; IF current_user <> 'owner' THEN RAISE 'run as %', current_user; END IF;
        RETURN true; END $$;
    CREATE FUNCTION takes(uuid) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
        RESET ROLE; IF current_user <> 'owner' THEN RAISE 'run as %', current_user; END IF;
        RETURN true; END $$;
    ALTER TABLE r ADD CONSTRAINT takes CHECK (takes(t)) NOT VALID}
);
like((step(to => 'uuid'))[1],
    $refused, 'a superuser does not exchange the tables of another owner');
($written) = call('odd', table => 't', to => 'uuid');
(undef, undef, my $as_role) = $node->psql('odd', "SET ROLE owner;\n$written");
like($as_role, $refused, 'nor as this owner in his own session');
is((step(to => 'uuid', user => 'owner'))[0], 'exchange', 'an owner exchanges them');
like((step(to => 'uuid'))[1], $refused, 'a superuser does not validate');
is((step(to => 'uuid', user => 'owner'))[0], 'validate', 'and validates');
is((step(to => 'uuid', user => 'owner'))[0], 'Nothing',  'then nothing is left to do');
is( $odd->(
        q{DROP FUNCTION takes(types.ulid); DROP EXTENSION ulid;
        SELECT pg_typeof(id), count(*) FROM t JOIN r ON t = id GROUP BY 1}),
    'uuid|1001',
    'and the extension can be dropped');

done_testing();
