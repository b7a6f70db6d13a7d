# The horizon waits for a transaction whose first ordered id another extension generates when it is
# prepared.
use strict;
use warnings FATAL => 'all';
use ULID;

chomp(my $headers = `pg_config --includedir-server`);
needs_program('cc');
plan(skip_all => 'no headers') if !-e "$headers/postgres.h";
my $node = new_server('preparing', conf => ['max_prepared_transactions = 1']);
my $sql  = sub { return $node->safe_psql('postgres', @_) };
$sql->('CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), kind text)');

# Its callback inserts a row at PRE_PREPARE. It is registered before ours, so it is called after
# ours.
my $directory = PostgreSQL::Test::Utils::tempdir();
append_to_file("$directory/preparing.c", <<'C');
#include "postgres.h"
#include "access/xact.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC;
void _PG_init(void);

static void callback(XactEvent event, void *argument) {
    if (event != XACT_EVENT_PRE_PREPARE) return;
    SPI_connect();
    PushActiveSnapshot(GetTransactionSnapshot());
    SPI_execute("INSERT INTO event (kind) VALUES ('callback')", false, 0);
    PopActiveSnapshot();
    SPI_finish();
}

void _PG_init(void) { RegisterXactCallback(callback, NULL); }
C
system_or_bail('cc', '-shared', '-fPIC', "-I$headers", '-o', "$directory/preparing.so",
    "$directory/preparing.c");
for my $of ('session', 'transaction')
{
    my $preparing = $node->background_psql('postgres');
    my $first     = $of eq 'session' ? 'SELECT' : 'SELECT gen_ordered_ulid()';
    $preparing->query("LOAD '$directory/preparing.so'; $first");
    $preparing->query("BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION 'callback'");
    $sql->("INSERT INTO event (kind) VALUES ('later')");
    my $held = $sql->('CALL ulid_refresh_horizon(); SELECT ulid_current_horizon()');
    $sql->("COMMIT PREPARED 'callback'");
    cmp_ok(
        $held, 'lt',
        $sql->("SELECT max(id) FROM event WHERE kind = 'callback'"),
        "the first id of the $of is generated at PRE_PREPARE");
    $preparing->quit;
}

done_testing();
