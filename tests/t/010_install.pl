# `make install` and `make uninstall` replace our files of any version, but not those of another
# extension named ulid, and do not run with a compiler that is too old, or without what else a build
# needs. Tested in a directory that nobody uses, with the library that the servers of all other
# tests load.
use strict;
use warnings FATAL => 'all';
use File::Copy 'copy';
use File::Find 'find';
use File::Path 'make_path';
use ULID;

my $directory   = PostgreSQL::Test::Utils::tempdir('install');
my $destination = "$directory/root";
chomp(my ($sharedir, $libdir) = `pg_config --sharedir --pkglibdir`);
my $control   = "$destination$sharedir/extension/ulid.control";
my $companion = "$destination$sharedir/extension/ulid_gist.control";
my $library   = "$destination$libdir/ulid.so";
my ($needed)  = slurp_file("$root/Cargo.toml") =~ /^rustc = "(.*)"/m;

delete @ENV{qw(CARGO_BUILD_TARGET MAKEFLAGS MAKELEVEL)};
plan(skip_all => 'nothing can be built here')
  if !run_log([ "$root/scripts/check-build.sh", 'pg_config' ]);
$ENV{RUSTFMT}          = 'true';                        # it is only asked whether it is there
$ENV{CARGO_TARGET_DIR} = "$directory/target";
$ENV{PATH}             = "$directory/bin:$ENV{PATH}";
make_path("$directory/bin");

# Put a compiler that says this version before any other in PATH.
sub rustc
{
    my ($version) = @_;
    unlink "$directory/bin/rustc";
    append_to_file("$directory/bin/rustc", "#!/bin/sh\necho 'rustc $version'\n");
    chmod 0755, "$directory/bin/rustc" or die "rustc: $!";
    return;
}

my @cargo;

# The command that makes a target.
sub make
{
    my ($target, @more) = @_;
    return [
        'make', '--silent', '--no-print-directory', '-C', $root, $target, 'PG_CONFIG=pg_config',
        "DESTDIR=$destination", @cargo, @more
    ];
}

# The installed files with their contents.
sub installed
{
    my %contents;
    find(sub { $contents{$File::Find::name} = slurp_file($_) if -f }, $destination);
    return \%contents;
}

rustc('1.85.0 (4d91de4e4 2025-02-17)');
command_fails_like(
    make($_),
    qr/^error: Rust \Q$needed\E or newer is needed, and this is 1\.85\.0$/m,
    "an old compiler: make $_ says which one is needed"
) for qw(all install);    # pgxn runs "make all"
rustc("$needed (of this test)");
$ENV{LIBCLANG_PATH} = "$directory/target";
command_fails_like(
    make('build'),
    qr/\Aerror: libclang (?:is|are) needed[^\n]*\n(?!error)/,
    'without libclang, make build says so in one line');
ok(!-e $ENV{CARGO_TARGET_DIR}, 'nothing was built');

# without cargo, what is built is installed
@cargo = ('CARGO=');
make_path("$directory/target/pg$major");
copy("$libdir/ulid.so", "$directory/target/pg$major/ulid.so") or die "$libdir/ulid.so: $!";
command_ok(make('install'), 'make install');
append_to_file($control, "# of another version\n");
command_ok(make('install'), 'make install over another version');
is(slurp_file($control), slurp_file("$root/ulid.control"), 'the control file is the new one');

# Replace a file with one that is not ours: nothing is overwritten or removed, and the message names
# the file.
sub refuses
{
    my ($what, $file, $contents, $extension) = (@_, 'ulid');
    unlink $file or die "$file: $!";
    append_to_file($file, $contents);
    my $before = installed();
    for my $target (qw(install uninstall))
    {
        command_fails_like(
            make($target),
            qr/^error: this file belongs to another extension named $extension: \Q$file\E$/m,
            "make $target over $what names the file");
        is_deeply(installed(), $before, "make $target over $what changes nothing");
    }
    unlink $file or die "$file: $!";
    return;
}
refuses('the control file of pgx_ulid', $control, <<'END');
comment = 'ulid type and methods'
module_pathname = '$libdir/pgx_ulid'
END
refuses('a library of pgx_ulid', $library, "pg_finfo_gen_ulid_wrapper\n");
refuses('the control file of a companion', $companion, "comment = 'another one'\n", 'ulid_gist');

command_ok(make('install'),   'make install when those files are gone');
command_ok(make('uninstall'), 'make uninstall');
is_deeply(installed(), {}, 'no file is left');

done_testing();
