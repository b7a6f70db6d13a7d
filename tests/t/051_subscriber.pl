# A subscriber that becomes a server of its own: in each session, its next ids are above the horizon
# that the subscription has brought, though its clock is behind that of the publisher. Before that,
# the error of a position that is ahead names the case. And a subscriber that is ahead of its
# publisher, which has failed over: by the steps of what_can_go_wrong.md, no row is missed. And one
# whose publisher's clock jumps.
use strict;
use warnings FATAL => 'all';
use ULID;

my $publisher  = new_server('publisher', allows_streaming => 'logical');
my $subscriber = new_server('subscriber');
my $sql        = sub { return $subscriber->safe_psql('postgres', @_) };
$publisher->safe_psql('postgres', 'CREATE PUBLICATION horizon FOR TABLE ulid_horizon');

# The clock of the publisher is so many hours ahead.
sub refresh
{
    my ($hours) = @_;
    return $publisher->safe_psql(
        'postgres', "SELECT gen_ordered_ulid();
        SELECT ulid_advance_ordered_time(ulid_upper_bound(now() + interval '$hours hours'));
        CALL ulid_refresh_horizon()");
}
my $is_above = 'SELECT gen_ordered_ulid() > (SELECT horizon FROM ulid_horizon)';
my $await    = sub {
    my ($hours) = @_;
    $subscriber->poll_query_until('postgres',
        "SELECT horizon > ulid_lower_bound(now() + interval '$hours hours' - interval '1 minute')
        FROM ulid_horizon") or die 'the horizon does not come';
};
$sql->('CREATE TABLE t (n int)');
my $older = $subscriber->background_psql('postgres');
$older->query('SELECT gen_ordered_ulid()');

my $hours = 0;
for my $end ('DROP SUBSCRIPTION horizon', 'ALTER SUBSCRIPTION horizon SET PUBLICATION other')
{
    $publisher->safe_psql('postgres',
        'CREATE TABLE t (n int); CREATE PUBLICATION other FOR TABLE t')
      if $end =~ /other/;
    $sql->('DELETE FROM ulid_horizon');
    refresh(++$hours);
    $sql->("CREATE SUBSCRIPTION horizon CONNECTION '" . $publisher->connstr . " dbname=postgres'
        PUBLICATION horizon");
    $subscriber->wait_for_subscription_sync($publisher, 'horizon');
    $await->($hours);
    is($older->query($is_above), 't', "$end: an older session continues after the first horizon");
    is($sql->('SELECT ulid_refresh()'), 'f', "$end: before, the publisher refreshes");
    refresh(++$hours);
    $await->($hours);
    my (undef, undef, $error) = $subscriber->psql(
        'postgres',
        "\\set VERBOSITY verbose
        SELECT ulid_current_horizon(ulid_lower_bound(now() + interval '1 day'))");
    like(
        $error,
        qr/ERROR:  55000: position "\w+" is ahead of the horizon "\w+" of this subscriber$/m,
        "$end: the error names the case");
    like(
        $error,
        qr/HINT:  If this server has crashed, it applies again what it has lost: wait\./,
        "$end: which ends where the subscriber catches up");
    $sql->($end);
    is($older->query($is_above), 't', "$end: an older session continues after the last one");
    is($sql->($is_above),        't', "$end: so does a new one");
    is($sql->('SELECT ulid_refresh()'), 't', "$end: it refreshes the horizon by itself");
}
$older->quit;
$sql->('DROP SUBSCRIPTION horizon');

# A dump of a subscriber has the subscription without its tables.
my $restore = "CREATE SUBSCRIPTION horizon CONNECTION '" . $publisher->connstr . " dbname=postgres'
    PUBLICATION horizon WITH (connect = false, slot_name = NONE)";
$sql->('CREATE DATABASE other');
$subscriber->safe_psql('other', $restore);
my (undef, undef, $elsewhere) = $subscriber->psql('postgres', 'CALL ulid_refresh_horizon()');
unlike($elsewhere, qr/ERROR/, 'that of another database stops nobody');
$sql->($restore);
(undef, undef, my $empty) = $subscriber->psql('postgres', 'CALL ulid_refresh_horizon()');
like(
    $empty,
    qr/ERROR:  subscription "horizon" has no tables\n.*\nHINT:  ALTER SUBSCRIPTION horizon ENABLE/,
    'nobody refreshes where a subscription could bring the horizon');
$sql->('DROP SUBSCRIPTION horizon');

#
# The publisher fails over to a standby that lacks what the subscriber has read. Its id clock was an
# hour ahead by then, so new ids are less than the position.
#

my $primary = new_server('primary', allows_streaming => 'logical');
$primary->safe_psql(
    'postgres', 'CREATE TABLE outbox (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), n int);
    CREATE TABLE parted (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
    CREATE PUBLICATION feed FOR TABLE outbox, parted, ulid_horizon;
    CALL ulid_refresh_horizon()');
$primary->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'copy', has_streaming => 1);
$standby->start;
my $reporting = new_server('reporting');
my $there     = sub { return $reporting->safe_psql('postgres', @_) };
$there->('CREATE TABLE outbox (id ulid PRIMARY KEY, n int); CREATE TABLE seen (n int);
    CREATE TABLE parted (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid()) PARTITION BY RANGE (id);
    CREATE TABLE part PARTITION OF parted DEFAULT;
    CREATE TABLE above (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
    ALTER TABLE outbox INHERIT above;
    CREATE TABLE here (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid())');

sub subscribe_to
{
    my ($node) = @_;
    $there->("CREATE SUBSCRIPTION feed CONNECTION '" . $node->connstr . " dbname=postgres'
        PUBLICATION feed");
    await_copy($reporting);
    return;
}

sub insert_into
{
    my ($node, $n) = @_;
    $node->safe_psql('postgres', "INSERT INTO outbox (n) VALUES ($n); CALL ulid_refresh_horizon()");
    $node->wait_for_catchup('feed');
    return;
}
my $step = q{BEGIN;
    CALL ulid_next_batch('report') \gset
    INSERT INTO seen SELECT n FROM outbox WHERE id >= :'batch_start' AND id < :'batch_end';
    SELECT ulid_finish_batch('report');
    COMMIT;};

# There is no consumer until one subscription brings both the rows and the horizon.
my $create  = "SELECT ulid_create_consumer('report', 'outbox')";
my $apart   = 'relation "public.outbox" and the horizon do not come by the same subscription';
my $refused = sub {
    my ($command, $message, $name) = @_;
    my (undef, undef, $error) = $reporting->psql('postgres', $command, on_error_stop => 1);
    return like($error, qr/ERROR:  $message/, $name);
};
my $refused_of = sub {
    my ($table, $name) = @_;
    return $refused->("SELECT ulid_create_consumer('$table', '$table', guard => false)",
        $apart =~ s/outbox/$table/r, $name);
};
$there->('CALL ulid_refresh_horizon()');
$primary->safe_psql('postgres', 'ALTER PUBLICATION feed DROP TABLE ulid_horizon');
subscribe_to($primary);
$refused->($create, $apart, 'without the horizon, a consumer would pass rows that come later');
$refused_of->('above', 'also those that come into a table below that which it reads');
$there->("INSERT INTO ulid_consumer (name, relation, key, position)
    VALUES ('report', 'outbox', 'id', '00000000-0000-0000-0000-000000000000')");
$refused->($step, $apart, 'one that was there before does not, either');
is($there->('SELECT behind IS NULL, is_guarded FROM ulid_consumer_lag'),
    't|t', 'how far it is behind is not known, and such a table needs no guard');
$primary->safe_psql('postgres', 'ALTER PUBLICATION feed ADD TABLE ulid_horizon');
$refused->($step, $apart, 'the subscription does not know that it is in the publication');
$there->('ALTER SUBSCRIPTION feed REFRESH PUBLICATION');
$refused->(
    $step,
    'the initial copy of relation "public.outbox", or of the horizon, has not ended',
    'the horizon that is there keeps that of the publisher from being copied');
$there->('DELETE FROM ulid_horizon');
await_copy($reporting);
$refused_of->($_, "the horizon does not know the ids of $_") for 'above', 'here';
is($there->("SELECT ulid_create_consumer('part', 'part'), ulid_drop_consumer('part')"),
    '|', 'a partition comes with the table above it');
$there->("CREATE SUBSCRIPTION second CONNECTION '" . $primary->connstr . " dbname=postgres'
    PUBLICATION feed
    WITH (copy_data = false, enabled = false, create_slot = false, slot_name = NONE)");
$refused_of->('outbox', 'of two publishers, one does not know the ids of the other');
$there->('DROP SUBSCRIPTION second');
$there->("ALTER TABLE outbox NO INHERIT above; SELECT ulid_drop_consumer('report'); $create");
insert_into($primary, 1);
$primary->wait_for_catchup($standby);
$there->($step);
$standby->stop;
$primary->safe_psql('postgres',
    "SELECT ulid_advance_ordered_time(ulid_upper_bound(now() + interval '1 hour'))");
insert_into($primary, 2);
$there->($step);
$primary->stop('immediate');
$standby->start;
my $time = $standby->safe_psql('postgres', 'SELECT now()');
$standby->promote;
$standby->safe_psql('postgres', 'INSERT INTO outbox (n) VALUES (3); CALL ulid_refresh_horizon()');

$there->($_)
  for 'ALTER SUBSCRIPTION feed DISABLE',
  'ALTER SUBSCRIPTION feed SET (slot_name = NONE)', 'DROP SUBSCRIPTION feed',
  'TRUNCATE outbox; DELETE FROM public.ulid_horizon';
subscribe_to($standby);
insert_into($standby, 4);
my (undef, undef, $error) = $reporting->psql('postgres', $step, on_error_stop => 1);
like(
    $error,
    qr/ERROR:  position "\S+" of consumer "report" is ahead of the horizon/,
    'the consumer is ahead of the new publisher');
$there->("SELECT ulid_move_consumer(name, least(position::ulid, ulid_lower_bound('$time')))
    FROM ulid_consumer");
$there->($step);
is($there->("SELECT string_agg(n::text, ' ' ORDER BY n) FROM outbox"),
    '1 3 4', 'the subscriber has what its publisher has');
is($there->("SELECT string_agg(n::text, ' ' ORDER BY n) FROM seen"),
    '1 2 3 4', 'no row of the new publisher is missed');

#
# The id clock of the publisher jumps by years, and is reset: the subscription does not stop.
#

$standby->safe_psql('postgres',
    "SELECT ulid_advance_ordered_time(ulid_upper_bound(now() + interval '3653 days'), true)");
insert_into($standby, 5);
is( $there->(
        "SELECT max(n), (SELECT horizon < ulid_lower_bound(now()) FROM ulid_horizon) FROM outbox"),
    '5|t',
    'rows come without a horizon that is far ahead');
like(
    slurp_file($reporting->logfile),
    qr/WARNING:  horizon "\w+" is more than a day ahead of the clock/,
    'the log says so');
$standby->safe_psql('postgres', 'SELECT ulid_reset_ordered_time()');
insert_into($standby, 6);
$there->($step);
is($there->("SELECT string_agg(n::text, ' ' ORDER BY n) FROM seen"),
    '1 2 3 4 6', 'after the reset, consumers go on');

done_testing();
