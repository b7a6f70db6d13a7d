# `make install` and `make uninstall` replace our files of any version, but not those of another extension named ulid,
# and do not run with a compiler that is too old, or without what else a build needs. Tested in a directory that nobody
# uses, with the library that the servers of all other tests load.
use strict;
use warnings;
use Digest::SHA;
use File::Copy 'copy';
use File::Find 'find';
use File::Path 'make_path';
use File::Spec::Functions 'abs2rel';
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

my $directory = PostgreSQL::Test::Utils::tempdir('install');
my $destination = "$directory/root";
chomp(my ($sharedir, $libdir, $bindir, $headers) = `pg_config --sharedir --pkglibdir --bindir --includedir-server`);
my $control = "$destination$sharedir/extension/ulid.control";
my $companion = "$destination$sharedir/extension/ulid_gist.control";
my $library = "$destination$libdir/ulid.so";
my ($needed) = slurp_file("$root/Cargo.toml") =~ /^rustc = "(.*)"/m;

delete @ENV{qw(CARGO_BUILD_TARGET MAKEFLAGS MAKELEVEL)};
plan(skip_all => 'nothing can be built here') if !run_log(["$root/scripts/check-build.sh", 'pg_config']);
$ENV{RUSTFMT} = 'true';                    # it is only asked whether it is there
$ENV{CARGO_TARGET_DIR} = "$directory/target";
$ENV{PATH} = "$directory/bin:$ENV{PATH}";
make_path("$directory/bin");

# Write a program that stands before any other of its name in PATH.
sub program {
    my ($name, $text) = @_;
    open my $out, '>', "$directory/bin/$name" or die "$name: $!";
    print $out "#!/bin/sh\n$text\n";
    close $out or die "$name: $!";
    chmod 0755, "$directory/bin/$name" or die "$name: $!";
    return;
}

my @cargo;

# The command that makes a target.
sub make {
    my ($target, @more) = @_;
    return ['make', '--silent', '--no-print-directory', '-C', $root, $target, 'PG_CONFIG=pg_config',
        "DESTDIR=$destination", @cargo, @more];
}

# The installed files and their sums.
sub installed {
    my %sums;
    find(sub { $sums{$File::Find::name} = Digest::SHA->new(256)->addfile($_)->hexdigest if -f }, $destination);
    return \%sums;
}

program('rustc', 'echo "rustc 1.85.0 (4d91de4e4 2025-02-17)"');
for my $target (qw(all build install)) {    # pgxn runs "make all"
    command_fails_like(make($target), qr/^error: Rust \Q$needed\E or newer is needed, and this is 1\.85\.0$/m,
        "an old compiler: make $target says which one is needed");
    command_fails_like(make($target), qr{scripts/fetch-rust\.sh}, "an old compiler: make $target says how to get it");
}

# With something taken away, by these variables, `make build` stops with one line about that alone.
sub lacks {
    my ($what, $said, %variables) = @_;
    local @ENV{ keys %variables } = values %variables;
    my ($out, $error) = run_command(make('build'));
    like(join("\n", grep { /^error/ } split /\n/, $error), qr/\A$said (?:is|are) needed[^\n]*\z/, "without $what, make build says so");
    return;
}
program('rustc', 'exit 127');
command_fails_like(make('build'), qr/^error: Rust \Q$needed\E or newer is needed, and there is none$/m, 'without Rust');
program('rustc', "echo 'rustc $needed (of this test)'");
lacks('rustfmt', 'error: rustfmt', RUSTFMT => 'false');
lacks('libclang', 'error: libclang', LIBCLANG_PATH => "$directory/target");
lacks('a C compiler', 'error: a C compiler with the headers of libc', CC => 'false');
if (grep { slurp_file($_) =~ /^#define USE_ICU 1/m } glob "$headers/pg_config*.h") {
    program('no_icu', '! grep -q unicode/ucol.h');
    lacks('the headers of ICU', "error: ICU's headers", CC => 'no_icu');
}
program('pg_config', "[ \$1 = --includedir-server ] && echo '$directory' || exec '$bindir/pg_config' \"\$@\"");
lacks("the server's headers", "error: the server's headers", CC => 'true');
unlink "$directory/bin/pg_config" or die "pg_config: $!";
ok(!-e $ENV{CARGO_TARGET_DIR}, 'nothing was built');

my ($pg_config) = grep { -x } map { "$_/pg_config" } split /:/, $ENV{PATH};
my ($commands) = run_command(make('build', '--dry-run', 'PG_CONFIG=' . abs2rel($pg_config, $root)));
like($commands, qr/^PGRX_PG_CONFIG_PATH='\Q$pg_config\E' cargo build .* --release .*--features pg$major$/ms,
    'a relative path of pg_config: cargo gets the absolute one, and builds for that server');
# without cargo, what is built is installed
@cargo = ('CARGO=');
make_path("$directory/target/pg$major");
copy("$libdir/ulid.so", "$directory/target/pg$major/ulid.so") or die "$libdir/ulid.so: $!";
command_ok(make('install'), 'make install');
command_ok(make('install'), 'make install over the same version');
my $text = slurp_file($control);
$text =~ s/^default_version = .*/default_version = '0'/m or die 'no version in the control file';
unlink $control;
append_to_file($control, $text);
command_ok(make('install'), 'make install over another version');
is(slurp_file($control), slurp_file("$root/ulid.control"), 'the control file is the new one');

# Replace a file with one that is not ours: nothing is overwritten or removed, and the message names the file.
sub refuses {
    my ($what, $file, $contents, $extension) = (@_, 'ulid');
    unlink $file or die "$file: $!";
    append_to_file($file, $contents);
    my $before = installed();
    for my $target (qw(install uninstall)) {
        command_fails_like(make($target), qr/^error: this file belongs to another extension named $extension: \Q$file\E$/m,
            "make $target over $what names the file");
        command_fails_like(make($target), qr{docs/migrating/pgx_ulid\.md}, "make $target over $what names the guide");
        is_deeply(installed(), $before, "make $target over $what changes nothing");
    }
    unlink $file or die "$file: $!";
    return;
}
refuses('the control file of pgx_ulid', $control, <<'END');
comment = 'ulid type and methods'
default_version = '0.2.2'
module_pathname = '$libdir/pgx_ulid'
relocatable = false
superuser = true
END
refuses('a library of pgx_ulid', $library, "pg_finfo_gen_ulid_wrapper\n");
refuses('the control file of a companion', $companion, "comment = 'another one'\n", 'ulid_gist');

command_ok(make('install'), 'make install when those files are gone');
command_ok(make('uninstall'), 'make uninstall');
is_deeply(installed(), {}, 'no file is left');

done_testing();
