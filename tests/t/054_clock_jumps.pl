# The clock of a server jumps, and is repaired, as docs/what_can_go_wrong.md says: which generators
# and which sessions stay ahead, and what finds and ends them.
use strict;
use warnings FATAL => 'all';
use ULID;

needs_program('cc');
# It reads ten years later as long as a file is there.
my ($library, $switch) = wrong_clock(3653 * 86400);
my $node = do
{
    local $ENV{LD_PRELOAD} = $library;
    new_server('jumped');
};
my $sql = sub { return $node->safe_psql('postgres', @_) };
$sql->('CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ulid())');
$sql->(untrusted());

# uuid columns with ids in the order of time, and domains; a table of ids without an order
$sql->(
    'CREATE TABLE by_uuid (id uuid PRIMARY KEY DEFAULT gen_ordered_uuid_v7());
    CREATE TABLE by_cast (id uuid PRIMARY KEY DEFAULT gen_monotonic_ulid());
    CREATE DOMAIN event_id AS ulid; CREATE TABLE by_domain (id event_id DEFAULT gen_ulid());
    CREATE DOMAIN note_id AS uuid DEFAULT gen_uuid_v7(); CREATE DOMAIN own_note_id AS note_id;
    CREATE TABLE by_domains_default (id own_note_id);
    CREATE TABLE random (id uuid PRIMARY KEY DEFAULT gen_random_uuid())'
);
$sql->('CREATE TABLE by_server (id uuid DEFAULT uuidv7())') if $major >= 18;
my @tables = (
    qw(event by_uuid by_cast by_domain by_domains_default random),
    $major >= 18 ? 'by_server' : ());

# which of the generators are more than a year ahead of the clock
my $ahead =
  q{SELECT concat_ws(' ', CASE WHEN gen_ulid() > next_year THEN 'random' END,
        CASE WHEN gen_ordered_ulid() > next_year THEN 'ordered' END,
        CASE WHEN gen_monotonic_ulid() > next_year THEN 'monotonic' END,
        CASE WHEN gen_uuid_v7() > next_year THEN 'v7' END)
    FROM ulid_lower_bound(clock_timestamp() + interval '1 year') AS next_year};
my ($open, $idle) = map { $node->background_psql('postgres', on_error_stop => 0) } 1, 2;
is($open->query($ahead), '', 'the clock is right');
$idle->query_safe('CREATE TEMPORARY TABLE own (id ulid DEFAULT gen_ordered_ulid())');
append_to_file($switch, '');
my $in_2036 = $node->background_psql('postgres', on_error_stop => 0);
is($sql->(q{SELECT clock_timestamp() > pg_postmaster_start_time() + interval '9 years'}),
    't', 'the clock of the server is wrong');
is($_->query($ahead), '', 'all generators follow the clock') for $open, $in_2036;
$sql->("INSERT INTO $_ SELECT FROM generate_series(1, 3)") for @tables;
unlink($switch) or die;
is($_->query($ahead), 'ordered monotonic v7', 'the clock is right: a session that was open')
  for $open, $in_2036;
is($idle->query($ahead),
    'ordered', 'the clock is right: a session that made no ids in the minute');
is($sql->($ahead), 'ordered', 'the clock is right: a new session');
$open->query('DISCARD ALL');
is( $open->query($ahead),
    'ordered monotonic v7',
    'what a pool does between two clients does not help');

my ($stop) = blocks_of('what_can_go_wrong.md', 'sql', 'Stop it');
is( $sql->("\\set owners :USER\n\\i $root/docs/ids_ahead.sql"),
    join("\n",
        't',
        'public.event.id|3',
        'public.planned.id|not read, owner: other',
        map { "public.$_.id|3" } grep { !/^(?:event|random)$/ } @tables),
    'the script finds ordered ids and rows of 2036, '
      . 'and names tables of others, which it does not plan');
my $others = q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'
    AND pid <> pg_backend_pid()};
await('the end of other sessions', sub { $sql->($others) == 3 });
my $repaired = $sql->('SELECT clock_timestamp()');
my $later    = $node->background_psql('postgres', on_error_stop => 0);
$stop =~ s/^\\set repaired \K.*/'$repaired'/m or die;
is($sql->($stop), "\nt\nt\nt", 'the page ends the three sessions that were open');
await('their end', sub { $sql->($others) == 1 });
is($later->query($ahead), '', 'a session that began later is right, and goes on');
is($sql->($ahead),        '', 'so is a new session');
$_->quit for $open, $in_2036, $idle, $later;
is($sql->("INSERT INTO event DEFAULT VALUES RETURNING id < (SELECT max(id) FROM event)"),
    't', 'max(id) is an id of 2036');
$node->stop;

($library, $switch) = wrong_clock(-4e9);
local $ENV{LD_PRELOAD} = $library;
my $early = new_server('early');
append_to_file($switch, '');
like(
    ($early->psql('postgres', 'SELECT gen_ordered_ulid()'))[2],
    qr/ERROR:  system clock out of range for type ulid$/m,
    'before 1970 no id is made');
is($early->safe_psql('postgres', 'SELECT ulid_ordered_time() IS NULL'),
    't', 'which is not the time of one');
$early->stop;

# The refresh waits for a second before each reading of the clock.
($library, $switch) = wrong_clock('++reads');
local $ENV{LD_PRELOAD} = $library;
my $busy = new_server('busy');
append_to_file($switch, '');
$busy->safe_psql('postgres', 'CALL ulid_refresh_horizon()');
is( $busy->safe_psql('postgres',
        'SELECT ulid_ordered_time() = ulid_extract_timestamp(horizon) FROM ulid_horizon'),
    't',
    'a refresh leaves the id clock at the horizon, which shows that no id is above it');

done_testing();
