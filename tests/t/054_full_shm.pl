# What docs/monitoring.md says of a full /dev/shm: ordered ids fail, and nothing else does, until
# there is space.
use strict;
use warnings FATAL => 'all';
use ULID;

BEGIN { own_mounts() }

plan(skip_all => 'no file system can be mounted') if !own_mounts();

# the statistics of the server take a few megabytes of it, too
system_or_bail('mount', '-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', '/dev/shm');
my $node = new_server('full');
my $sql  = sub { return $node->safe_psql('postgres', @_) };
$sql->('CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid())');
my $fill =
  sub { run_log([ 'dd', 'if=/dev/zero', 'of=/dev/shm/ballast', 'bs=64k' ]) && die 'not full' };
$fill->();
my (undef, undef, $error) =
  $node->psql('postgres', "\\set VERBOSITY verbose\nINSERT INTO event DEFAULT VALUES");
my $cannot = qr/could not resize shared memory segment "\S+" to \d+ bytes/;
like(
    $error,
    qr/^.*ERROR:  53100: $cannot: No space left on device$/m,
    'an ordered id fails');
is($sql->('SELECT count(gen_ulid()) + count(gen_monotonic_ulid()) + count(gen_uuid_v7())'),
    3, 'the other generators work');
$sql->((blocks_of('monitoring.md', 'sql', 'Take ordered ids out of service'))[-1]);
is($sql->('INSERT INTO event DEFAULT VALUES RETURNING 1'), 1, 'and so does their default');
unlink('/dev/shm/ballast') or die;
is($sql->('SELECT count(gen_ordered_ulid())'), 1, 'it works as soon as there is space');
$node->stop;
system_or_bail('umount', '/dev/shm');

done_testing();
