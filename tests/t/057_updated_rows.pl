# Updated and deleted rows, as docs/consumers.md and docs/incremental-loads.md copy them: beside
# clients that update, insert and mark rows, the copy ends as the table is. Without the horizon it
# does not.
# FUZZ_SECONDS (2) says for how long.
use strict;
use warnings FATAL => 'all';
use ULID;

my $seconds = $ENV{FUZZ_SECONDS} || 2;
$PostgreSQL::Test::Utils::timeout_default += 10 * $seconds;
my $node      = new_server('updated');
my $sql       = sub { return $node->safe_psql('postgres', @_) };
my $directory = PostgreSQL::Test::Utils::tempdir();
local @ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, 'postgres');

# Run pgbench with clients that run these scripts, of the names of their files.
sub clients
{
    my ($options, @names) = @_;
    return IPC::Run::start(
        [ 'pgbench', '-n', @$options, map { ('-f', "$directory/$_") } @names ],
        '>', '/dev/null', '2>', "$directory/$names[0].log");
}

# The tables of the page, and a trigger that notices a row of the copy that goes back.
my ($tables, $copy) = blocks_of('consumers.md', 'sql', 'Updated and deleted rows');
$sql->($tables);
$sql->(
    q{
    CREATE TABLE naive_copy (LIKE customer_copy INCLUDING INDEXES);
    CREATE TABLE copy_by_time (LIKE customer_copy INCLUDING INDEXES);
    CREATE VIEW customer_settled_at AS SELECT ulid_extract_timestamp(changed) AS settled_at, *
        FROM customer WHERE changed < (SELECT ulid_current_horizon());
    CREATE TABLE position (last timestamptz, until timestamptz);
    INSERT INTO position VALUES ('-infinity');
    INSERT INTO customer (name) SELECT 'customer ' || n FROM generate_series(1, 500) AS n;
    CALL ulid_refresh_horizon();    -- so that the view has a maximum
    CREATE TABLE went_back (id ulid);
    CREATE FUNCTION check_order() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN INSERT INTO went_back VALUES (NEW.id); RETURN NULL; END';
    CREATE TRIGGER check_order AFTER UPDATE ON customer_copy FOR EACH ROW
        WHEN (NEW.changed <= OLD.changed) EXECUTE FUNCTION check_order()});

# Writers, in transactions that last, fail and use savepoints.
my $row    = "(SELECT id FROM customer WHERE NOT deleted OFFSET :n LIMIT 1)";
my $update = "UPDATE customer SET name = :n || ' ' || clock_timestamp() WHERE id = $row;\n";
my $begin  = "\\set n random(0, 400)\n\\set ms random(0, 10)\nBEGIN;\n";
my $commit = "\\sleep :ms ms\nCOMMIT;\n";
my $upsert = "INSERT INTO customer (id, name) SELECT id, 'again' FROM customer OFFSET :n LIMIT 1\n"
  . "ON CONFLICT (id) DO UPDATE SET name = excluded.name || clock_timestamp();\n";
my %writers = (
    update    => "$begin$update$commit",
    rollback  => "$begin$update\\sleep :ms ms\nROLLBACK;\n",
    savepoint => "$begin${update}SAVEPOINT a;\n${update}ROLLBACK TO a;\n$commit",
    upsert    => "$begin$upsert$commit",
    insert    => "${begin}INSERT INTO customer (name) VALUES ('new');\n$commit",
    mark      => "${begin}UPDATE customer SET deleted = true WHERE id = $row;\n$commit");

# Three copy the changes: by the statements of the page, after the last one without the horizon, and
# as Airbyte does by a time in a view, up to the maximum of an earlier statement.
(my $careful = $copy) =~ s/:'(\w+)'/':$1'/g;    # as pgbench has variables
my $naive = q{
    SELECT coalesce(max(changed), '00000000000000000000000000') AS last FROM naive_copy \gset
    INSERT INTO naive_copy SELECT * FROM customer WHERE changed > ':last'
    ON CONFLICT (id) DO UPDATE
    SET (name, deleted, changed) = (excluded.name, excluded.deleted, excluded.changed);
};
my $by_time = q{
    UPDATE position SET until = (SELECT max(settled_at) FROM customer_settled_at);
    WITH changes AS (
        SELECT v.* FROM customer_settled_at AS v, position
        WHERE settled_at > last AND settled_at <= until
    ), copied AS (
        INSERT INTO copy_by_time SELECT id, name, deleted, changed FROM changes
        ON CONFLICT (id) DO UPDATE
        SET (name, deleted, changed) = (excluded.name, excluded.deleted, excluded.changed)
    )
    UPDATE position SET last = until;
};
my %copiers = (careful => $careful, naive => $naive, by_time => $by_time);
append_to_file("$directory/$_", $writers{$_})                for keys %writers;
append_to_file("$directory/$_", "$copiers{$_}\\sleep 5 ms\n") for keys %copiers;
my @running = (
    clients([ '-c', 8, '-T', $seconds ], sort keys %writers),
    map { clients([ '-T', $seconds ], $_) } keys %copiers);
$_->finish or die 'a client failed' for @running;
await_horizon($node, $sql->('SELECT max(changed) FROM customer'));
clients([ '-t', 20 ], $_)->finish or die $_ for keys %copiers;    # a batch has at most 1,000 rows

my $differ = sub {
    return $sql->(
        "SELECT count(*) FROM customer AS t FULL JOIN $_[0] AS c USING (id)
         WHERE (t.*) IS DISTINCT FROM (c.*)"
    );
};
is($differ->('customer_copy'), 0, 'the copy equals the table');
is($differ->('copy_by_time'),  0, 'the copy by the time of a view, too');
cmp_ok($differ->('naive_copy'), '>', 0, 'without the horizon it does not');
is($sql->('SELECT count(*) FROM went_back'), 0, 'no row of the copy goes back');

done_testing();
