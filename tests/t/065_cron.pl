# pg_cron: a job that refreshes the horizon every second, as docs/consumers.md has it, of a role
# that may refresh and is no superuser. With the extension and with ulid_sql in another database; by
# connections and by background workers.
use strict;
use warnings FATAL => 'all';
use ULID;

needs_extension('pg_cron');
my ($grants, $job) = blocks_of('consumers.md', 'sql', 'Rights');
my ($grant) = $grants =~ /^(GRANT EXECUTE .* TO )refresher;$/m or die 'the page has no grant';
my $node = new_server('cron',
    conf => [ "shared_preload_libraries = 'pg_cron'", 'cron.log_run = off' ]);
$node->append_conf('postgresql.conf', "cron.host = '" . $node->host . "'");
$node->restart;
my $sql = sub { return $node->safe_psql(@_) };
$sql->('postgres', q{SELECT default_version FROM pg_available_extensions WHERE name = 'pg_cron'})
  !~ /^1\.[0-4]\b/
  or plan(skip_all => 'pg_cron has no seconds before 1.5');
$sql->('postgres',
    'CREATE EXTENSION pg_cron; CREATE ROLE app LOGIN; GRANT USAGE ON SCHEMA cron TO app;
    CREATE DATABASE managed');
$sql->('managed', 'CREATE SCHEMA ulid_sql; CREATE EXTENSION ulid_sql SCHEMA ulid_sql;
    ALTER DATABASE managed SET search_path = public, ulid_sql;
    GRANT USAGE ON SCHEMA ulid_sql TO app');
my %type_in = (postgres => 'ulid', managed => 'uuid');
$sql->($_, "CREATE TABLE outbox (id $type_in{$_} DEFAULT gen_ordered_ulid(), message text);
    $grant app")
  for sort keys %type_in;

# The extension pg_cron is in one database. Jobs in another one are created by a superuser.
(my $elsewhere = $job) =~ s/schedule\(('\w+'), (.*)\)/schedule_in_database($1 || ' managed', $2,
    'managed', 'app')/
  or die 'the page has no job';
my $start = sub {
    $sql->('postgres', $job, extra_params => [ '-U', 'app' ]);
    $sql->('postgres', $elsewhere);
};
my $is_refreshed = sub {
    my ($database) = @_;
    return $node->poll_query_until($database,
        'SELECT bool_and(id < ulid_current_horizon()) FROM outbox');
};
$sql->($_, 'CALL ulid_refresh_horizon()') for sort keys %type_in;
for my $workers (qw(off on))
{
    $node->append_conf('postgresql.conf', "cron.use_background_workers = $workers");
    $node->restart;
    $start->();
    for my $round (1 .. 2)
    {
        for my $database (sort keys %type_in)
        {
            $sql->($database, "INSERT INTO outbox (message) VALUES ('new')");
            ok($is_refreshed->($database),
                "workers $workers: new rows are below the horizon, $database, $round");
        }
    }
    $sql->('postgres', 'SELECT cron.unschedule(jobid) FROM cron.job');
}
is($sql->('postgres', 'SELECT count(*) FROM cron.job_run_details'), 0, 'no run is logged');

done_testing();
