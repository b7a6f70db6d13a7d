# From an older server to a new one by logical replication, as docs/installing.md and PostgreSQL's
# manual say, while clients insert. Without FROM, it is the oldest that was tested
# before in this run.
use strict;
use warnings FATAL => 'all';
use ULID;

my @available = older_servers();
plan(skip_all => 'no older server') if !@available;
@available = $available[-1]         if !$ENV{FROM};

my $copy_schema = <<~'BASH';
    export PGOPTIONS='-c search_path=pg_catalog'    # no functions and operators of others
    pg_dumpall --globals-only -d "$OLD" | psql -X -d "$NEW"
    pg_dump --schema-only -d "$OLD" | psql -X -v ON_ERROR_STOP=1 -d "$NEW"
    BASH
my $replicate = <<~'BASH';
    psql -X -d "$OLD" -c 'CREATE PUBLICATION upgrade FOR ALL TABLES'
    psql -X -d "$NEW" -v old="$OLD" \
      <<< "CREATE SUBSCRIPTION upgrade CONNECTION :'old' PUBLICATION upgrade"
    psql -X -d "$NEW" -c "SELECT srrelid::regclass FROM pg_subscription_rel WHERE srsubstate <> 'r'"
    BASH
my $switch = <<~'BASH';
    psql -X -d "$OLD" -c 'ALTER DATABASE app SET default_transaction_read_only = on' \
      -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = 'app' AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
    prepared="SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database()"
    until [ "$(psql -X -At -d "$OLD" -c "$prepared")" = 0 ]; do sleep 1; done
    last=$(psql -X -At -d "$OLD" -c 'SELECT pg_current_wal_lsn()')
    received="SELECT confirmed_flush_lsn >= '$last' FROM pg_replication_slots
      WHERE slot_name = 'upgrade'"
    until [ "$(psql -X -At -d "$OLD" -c "$received")" = t ]; do sleep 1; done
    BASH
my $bring = <<~'BASH';
    values="SELECT format('SELECT setval(%L, %s);', format('%I.%I', schemaname, sequencename),
        last_value) FROM pg_sequences WHERE last_value IS NOT NULL"
    psql -X -At -d "$OLD" -c "$values" | psql -X -v ON_ERROR_STOP=1 -d "$NEW"
    tables="SELECT format('%I.%I', nspname, relname)
      FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
      WHERE relkind = 'r' AND relpersistence = 'u'"
    export PGOPTIONS='-c session_replication_role=replica'
    psql -X -At -d "$OLD" -c "$tables" | while read -r unlogged; do
      psql -X -d "$OLD" -c "COPY $unlogged TO STDOUT" < /dev/null |
        psql -X -q -v ON_ERROR_STOP=1 -d "$NEW" -c "COPY $unlogged FROM STDIN"
    done
    psql -X -v ON_ERROR_STOP=1 -d "$NEW" << 'SQL'
    DROP SUBSCRIPTION upgrade;
    SELECT format('REFRESH MATERIALIZED VIEW %s', oid::regclass) FROM pg_class
    WHERE relkind = 'm' ORDER BY oid \gexec
    ANALYZE;
    SQL
    BASH
my $back = <<~'SQL';
    SET default_transaction_read_only = off;
    ALTER DATABASE app RESET default_transaction_read_only;
    SQL
my $ROWS =
  q{SELECT id, n, ids, made FROM event ORDER BY id; SELECT * FROM remark ORDER BY id;
    SELECT * FROM "Cache" ORDER BY id; SELECT * FROM cached ORDER BY id;
      SELECT tableoid::regclass, id FROM part ORDER BY id;
    SELECT * FROM days ORDER BY day; SELECT last_value FROM event_n_seq};

for my $from (@available)
{
    my $what = "from $from->{name}";

    # allows_streaming is for servers of the framework's own version
    my $old = new_server(
        "old_$from->{name}",
        path      => $from->{path},
        extension => 0,
        conf      => [
            'wal_level = logical',
            'max_wal_senders = 10',
            'max_prepared_transactions = 10'
        ]);
    my $new    = new_server("new_$from->{name}", extension => 0);
    my $option = column_option($old);
    my ($on_old, $on_new) = map {
        my $node = $_;
        sub { return $node->safe_psql('app', @_) }
    } $old, $new;
    $_->safe_psql('postgres', 'CREATE DATABASE app') for $old, $new;
    $on_old->(
        q{
        CREATE EXTENSION ulid;
        CREATE ROLE reader;
        CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), n serial, ids ulid[],
            made timestamptz GENERATED ALWAYS AS (ulid_extract_timestamp(id)) STORED);
        CREATE INDEX ON event USING gin (ids);
        GRANT SELECT ON event TO reader;
        CREATE TABLE remark (id uuid PRIMARY KEY DEFAULT gen_uuid_v7(), event ulid NOT NULL
            REFERENCES event);
        CREATE TABLE part (id ulid PRIMARY KEY DEFAULT gen_ulid()) PARTITION BY RANGE (id);
        CREATE TABLE part_2026 PARTITION OF part FOR VALUES FROM (ulid_lower_bound('2026-01-01'))
            TO (ulid_lower_bound('2027-01-01'));
        CREATE TABLE part_rest PARTITION OF part DEFAULT;
        CREATE MATERIALIZED VIEW days AS SELECT made::date AS day, count(*), max(id)
            FROM event GROUP BY 1;
        CREATE UNLOGGED TABLE cached (id ulid);
        CREATE UNLOGGED TABLE "Cache" (id ulid PRIMARY KEY DEFAULT gen_ulid(), n serial);
        ALTER TABLE cached ADD FOREIGN KEY (id) REFERENCES "Cache";
        INSERT INTO "Cache" SELECT FROM generate_series(1, 10);
        INSERT INTO cached SELECT id FROM "Cache";
        INSERT INTO event (ids) SELECT ARRAY[gen_ulid(), NULL] FROM generate_series(1, 1000);
        INSERT INTO remark (event) SELECT id FROM event;
        INSERT INTO part SELECT gen_ulid('2026-12-01'::timestamptz + n * interval '1 hour')
            FROM generate_series(1, 1000) AS n}
    );

    my $directory = PostgreSQL::Test::Utils::tempdir();
    my $run       = sub {
        my ($step, $script) = @_;

        # dumps have an option that the new one cannot read
        my $without = 's/^.* ALTER COLUMN .* SET (pg_attver=[0-9]*);$//';
        $script = "pg_dump() { command pg_dump \"\$@\" | sed '$without'; }\n$script" if $option;
        append_to_file("$directory/$step", $script);
        local $ENV{OLD} = $old->connstr('app');
        local $ENV{NEW} = $new->connstr('app');
        ok( run_log(
                [
                    'timeout',  $PostgreSQL::Test::Utils::timeout_default,
                    'bash',     '-euo',
                    'pipefail', "$directory/$step"
                ],
                '>',
                \my $printed),
            "$what: $step");
        return $printed;
    };

    $run->('roles and schema are copied', $copy_schema);
    append_to_file("$directory/writer",
        "INSERT INTO event (ids) VALUES (ARRAY[gen_ulid()])\n\\watch 0.02\n");
    my $writer =
      IPC::Run::start([ 'psql', '-Xq', '-d', $old->connstr('app'), '-f', "$directory/writer" ],
        '>', \my $output, '2>', \my $errors);
    $run->('replication starts', $replicate);
    ok( $new->poll_query_until(
            'app', q{SELECT count(*) = 6 AND bool_and(srsubstate = 'r') FROM pg_subscription_rel}),
        "$what: all tables are copied") or die;
    my $count = $on_new->('SELECT count(*) FROM event');
    ok($new->poll_query_until('app', "SELECT count(*) > $count FROM event"),
        "$what: new rows follow");

    # the clock of the old server is an hour ahead
    $on_old->(
        q{SELECT ulid_advance_ordered_time(ulid_upper_bound(now() + interval '1 hour'));
            INSERT INTO event DEFAULT VALUES}
    );
    # a transaction is prepared, and committed while the script waits for that
    $on_old->(q{BEGIN; INSERT INTO event (n) VALUES (-1); PREPARE TRANSACTION 'late'});
    $run->('writing stops, and everything has arrived', <<~'BASH' . $switch);
        sleep() {
            [ -n "${last-}" ] || psql -Xq -d "$OLD" -c "COMMIT PREPARED 'late'"
            command sleep "$@"
        }
        BASH
    is($on_new->('SELECT count(*) FROM event WHERE n = -1'),
        1, "$what: what was prepared has arrived");
    $writer->finish;
    like(
        $errors,
        qr/terminating connection due to administrator command/,
        "$what: the sessions of clients are ended");
    my (undef, undef, $refused) = $old->psql('app', 'INSERT INTO event DEFAULT VALUES');
    like(
        $refused,
        qr/ERROR:  cannot execute INSERT in a read-only transaction/,
        "$what: the old server accepts no rows");
    $run->('the rest is brought', $bring);
    $on_old->('SET default_transaction_read_only = off; REFRESH MATERIALIZED VIEW days');
    my $rows = $on_old->($ROWS);
    cmp_ok($rows =~ tr/\n//, '>', 3000, "$what: there are rows");
    ok($on_new->($ROWS) eq $rows, "$what: the new server has the same");

    is($on_new->('SELECT gen_ordered_ulid() < max(id) FROM event'),
        't', "$what: its clock is behind the newest id");
    $on_new->('SELECT ulid_advance_ordered_time((SELECT max(id) FROM event))');
    is( $on_new->(
            q{WITH before AS (SELECT max(id) AS id, max(n) AS n FROM event)
        INSERT INTO event DEFAULT VALUES RETURNING id > (SELECT id FROM before),
            n > (SELECT n FROM before)}
        ),
        "t|t",
        "$what: ids and serial numbers continue");
    is($on_new->(q{SELECT has_table_privilege('reader', 'event', 'SELECT')}),
        't', "$what: roles and privileges are there");
    is( $on_new->(support_functions('ulid')),
        $on_new->(support_functions('uuid')),
        "$what: the extension has all that the new server offers");
    $on_old->($back);
    is($on_old->('INSERT INTO event DEFAULT VALUES RETURNING n > 1000'),
        't', "$what: the old server can be written to again");
    $_->stop for $old, $new;
}

done_testing();
