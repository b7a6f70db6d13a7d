# A subscriber that becomes a server of its own: in each session, its next ids are above the horizon
# that the subscription has brought, though its clock is behind that of the publisher. Before that,
# the error of a position that is ahead names the case.
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
my $older = $subscriber->background_psql('postgres');
$older->query('SELECT gen_ordered_ulid()');

my $hours = 0;
for my $end ('DROP SUBSCRIPTION horizon', 'ALTER SUBSCRIPTION horizon SET PUBLICATION other')
{
    $publisher->safe_psql('postgres', 'CREATE PUBLICATION other') if $end =~ /other/;
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

done_testing();
