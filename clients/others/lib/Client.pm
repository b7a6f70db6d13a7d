package Client;

# What the tests share. They run in the server that the variables PG* name; what they build goes below target/clients/others.
use strict;
use warnings;
use Cwd 'abs_path';
use Exporter 'import';
use File::Basename 'dirname';
use File::Path 'make_path';
use Test::More;

our @EXPORT = qw(build create_database need psql run slurp);
our $HOME = abs_path(dirname(__FILE__) . '/..');

# Skip the test unless these packages of Debian are installed, each with the least version that follows it.
sub need {
    while (my ($package, $least) = splice @_, 0, 2) {
        my $version = `dpkg-query -W -f '\${db:Status-Status} \${Version}' $package 2> /dev/null` // '';
        plan skip_all => "$package is not installed" if $version !~ s/^installed //;
        plan skip_all => "$package is $version" if system('dpkg', '--compare-versions', $version, 'ge', $least) != 0;
        diag("$package $version");
    }
    return;
}

# Create the database of a test, with the tables that the page names and the texts of sample.sql.
sub create_database {
    my ($name) = @_;
    local $ENV{PGOPTIONS} = '--client-min-messages=warning';
    system('dropdb', '--if-exists', $name) == 0 && system('createdb', $name) == 0 or BAIL_OUT("no database $name");
    $ENV{PGDATABASE} = $name;
    system('psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', "$HOME/schema.sql", '-f', "$HOME/../../tests/clients/sample.sql") == 0
        or BAIL_OUT('no tables');
    return;
}

# The directory where a test builds.
sub build {
    my ($name) = @_;
    my $directory = "$HOME/../../target/clients/others/$name";
    make_path($directory);
    return abs_path($directory);
}

# Run commands of the shell; returns whether they succeeded, and what they printed.
sub run {
    my ($script) = @_;
    my $printed = `( set -e; $script ) 2>&1`;
    return ($? == 0, $printed);
}

# What psql prints for a command.
sub psql {
    my ($command) = @_;
    local $ENV{PGOPTIONS} = '--client-min-messages=warning';
    open my $out, '-|', 'psql', '-X', '-A', '-t', '-q', '-v', 'ON_ERROR_STOP=1', '-c', $command or die "psql: $!\n";
    chomp(my $printed = do { local $/; <$out> } // '');
    close $out or return "psql: $?";
    return $printed;
}

sub slurp {
    my ($file) = @_;
    open my $in, '<', $file or die "$file: $!\n";
    local $/;
    return scalar <$in>;
}

1;
