# docs/migrating/switch.sql, in both directions, while clients read and write: an account with more
# than ten referencing tables, with partitions and every kind of index and constraint that can be
# exchanged. The schema must be what plain ALTER TABLE makes of it, and in the end what it was; no
# table is rewritten, and no index in the exchange. The table has ROWS (20,000) rows.
use strict;
use warnings FATAL => 'all';
use IPC::Run;
use ULID;

my $rows = $ENV{ROWS} || 20_000;
my $node = new_server('switch', extension => 0);
$node->safe_psql('postgres', 'CREATE DATABASE app; CREATE DATABASE plain');
$node->safe_psql('postgres', "ALTER DATABASE $_ SET search_path = public, types")
  for qw(app plain);
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
CREATE TABLE child_5 (account_id uuid REFERENCES account ON DELETE CASCADE, place integer,
    UNIQUE (account_id, place) DEFERRABLE);
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
CREATE TABLE event (id uuid DEFAULT gen_ordered_uuid_v7(), at integer, PRIMARY KEY (id, at),
    UNIQUE (at, id) DEFERRABLE) PARTITION BY RANGE (at);
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
        my ($written) = switch_table($node, 'app', %variables);
        $exchanged = files($built) if $written =~ /: exchange/;
        my ($stdout, $stderr, $status) = switch_table($node, 'app', %variables, run => 'yes');
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
INSERT INTO child_5 VALUES (':new_id', 1), (':new_id', 2);
UPDATE child_5 SET place = place + 1 WHERE account_id = ':new_id';
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
ALTER TABLE child_5 ALTER account_id TYPE ulid;
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

done_testing();
