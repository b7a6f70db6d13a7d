# What the tests here share beside PostgreSQL's own framework: a server with the extension, and how to do without
# software that a machine may not have.
package ULID;
use strict;
use warnings;
use Cwd 'abs_path';
use Exporter 'import';
use File::Basename 'dirname';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use PostgreSQL::Version;
use Test::More;

our @EXPORT = qw($root $major new_server has_extension has_program needs_extension needs_program run_at_once);

# The checkout, and the major version of the servers.
our $root = abs_path(dirname(__FILE__) . '/../..');
our $major = PostgreSQL::Version->new(scalar `pg_config --version`)->major;

# Create a server and start it, with the extension in its database postgres. The parameters are those of init, and
# conf => [...]: lines of postgresql.conf; extension => 0: without the extension.
sub new_server {
    my ($name, %params) = @_;
    my $conf = delete $params{conf} // [];
    my $extension = delete $params{extension} // 1;
    my $node = PostgreSQL::Test::Cluster->new($name);
    $node->init(%params, extra => ['--encoding=UTF8', '--no-locale', @{ $params{extra} // [] }]);
    $node->append_conf('postgresql.conf', join "\n", "timezone = 'UTC'", 'log_statement = none', @$conf);
    $node->start;
    $node->safe_psql('postgres', 'CREATE EXTENSION ulid') if $extension;
    return $node;
}

# Run scripts of SQL at the same time, each in a session of its own: pairs of a database and a script. Returns what each of
# them prints.
sub run_at_once {
    my ($node, @scripts) = @_;
    my $directory = PostgreSQL::Test::Utils::tempdir('run_at_once');
    my @sessions = map {
        my ($database, $script) = @{ $scripts[$_] };
        append_to_file("$directory/$_.sql", $script);
        IPC::Run::start([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database), '-f', "$directory/$_.sql" ],
            '>', "$directory/$_.out");
    } 0 .. $#scripts;
    $_->finish or die 'a session failed' for @sessions;
    return map { slurp_file("$directory/$_.out") } 0 .. $#scripts;
}

# Whether the servers have another extension.
sub has_extension {
    my ($name) = @_;
    chomp(my $directory = `pg_config --sharedir`);
    return -e "$directory/extension/$name.control";
}

# Whether there is a program of that name in PATH.
sub has_program {
    my ($name) = @_;
    return grep { -x "$_/$name" } split /:/, $ENV{PATH};
}

# Skip the whole test unless the servers have these extensions.
sub needs_extension {
    for my $name (@_) {
        plan(skip_all => "no extension $name") if !has_extension($name);
    }
    return;
}

# Skip the whole test unless there are these programs.
sub needs_program {
    for my $name (@_) {
        plan(skip_all => "no program $name") if !has_program($name);
    }
    return;
}

1;
