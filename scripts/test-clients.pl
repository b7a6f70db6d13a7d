#!/usr/bin/env perl
# Run the programs of docs/clients in the server that the PG* variables name: test-clients.pl [--packaged] PAGE... or
# PAGE#ANCHOR...; --packaged: only those of Debian's packages
#
# Each second-level heading is one tool, with its own database and directory. Its blocks are combined:
#   ```sh            of nothing but pip install, npm install or apt-get install: what the tool needs
#   ```LANGUAGE FILE are appended to that file; without FILE, the program (main.py, main.mjs and so on)
#   ```sql           are executed first, after those that stand above the page's first tool
#   ```sh            otherwise: what is executed, in place of the program
#   ```text          are for the reader, as are those below the line <!-- not executed: REASON -->
# A line <!-- needs PACKAGE VERSION --> names a Debian package that may be too old.
# Files of docs/clients/types that the tool's text links to are put beside the program, Go's into the directory of their
# package. The programs themselves assert what must fail. Each that has a type stores the ids of tests/clients/sample.sql.
# A tool that cannot be installed is skipped, by name. What pip, npm and cargo fetch stays in target/clients. Debian
# packages are not installed here: `make test-clients` installs them.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename qw(basename dirname);
use File::Path qw(make_path remove_tree);
use Time::HiRes 'time';

my $root = abs_path(dirname($0) . '/..');
my $limit = 1800;                          # time limit of a tool in seconds

# By the language of a block: the name of the program, and the command that runs it.
my %languages = (
    python => ['main.py', 'python3 main.py'],
    js => ['main.mjs', 'node main.mjs'],
    ts => ['main.ts', 'npx tsx main.ts'],
    rust => ['src/main.rs', 'cargo run --quiet'],
    java => ['Main.java', 'java Main.java'],
    go => ['main.go', 'GO111MODULE=off GOPATH=$PWD:/usr/share/gocode GOCACHE=$PWD/../../cache go run main.go'],
    ruby => ['main.rb', 'ruby main.rb'],
    php => ['main.php', 'php main.php'],
    perl => ['main.pl', 'perl main.pl'],
);

# Read a page: the blocks above its first tool, and its tools.
sub tools {
    my ($page) = @_;
    open my $in, '<', $page or die "$page: $!\n";
    my ($first, @tools, $block, $line_before) = ({ blocks => [] });
    while (my $line = <$in>) {
        if ($block) {
            if ($line !~ /^```\s*$/) { $block->{body} .= $line; next }
            push @{ (@tools ? $tools[-1] : $first)->{blocks} }, $block if $line_before !~ /^<!-- not executed: .+ -->\s*$/;
            ($block, $line_before) = (undef, '');
        } elsif ($line =~ /^```(\w+)(?: (\S+))?\s*$/) {
            $block = { language => $1, file => $2, line => $., body => '' };
            $line_before //= '';
        } elsif ($line =~ /^## (.+?)\s*$/) {
            my $title = $1;
            my $anchor = lc $title;
            $anchor =~ s/[^\w -]//g;
            $anchor =~ tr/ /-/;
            push @tools, { name => $title, anchor => $anchor, blocks => [] };
        } elsif ($line =~ /\S/) {
            $line_before = $line;
            next if !@tools;
            push @{ $tools[-1]{newer} }, [$1, $2] if $line =~ /^<!-- needs (\S+) (\S+) -->$/;
            $tools[-1]{has_type} = 1 if $line =~ /^### Type$/;
            push @{ $tools[-1]{types} }, $line =~ /\]\((types\/[^)#]+)\)/g;
        }
    }
    die "$page:$block->{line}: a block does not end\n" if $block;
    return ($first, @tools);
}

# The files of a tool, what it needs, and the command that runs it (undef if there is nothing to run).
sub put_together {
    my ($page, $first, $tool) = @_;
    my (%files, @needs, $command);
    for my $block (@{ $first->{blocks} }) {
        $files{'setup.sql'} .= $block->{body} if $block->{language} eq 'sql';
    }
    for my $block (@{ $tool->{blocks} }) {
        my ($language, $file, $body) = @$block{qw(language file body)};
        next if $language eq 'text';
        if ($language eq 'sh' and !$file) {
            if ($body !~ /^(?!(?:pip|npm|apt-get) install )/m) { push @needs, split /\n/, $body; next }
            $file = 'main.sh';
            $command = 'bash -eu main.sh';
        } elsif ($language eq 'sql' and !$file) {
            $file = 'setup.sql';
        } elsif (!$file) {
            my $known = $languages{$language} or die "$page:$block->{line}: which file is this?\n";
            $file = $known->[0];
            $command //= $known->[1];
        }
        $files{$file} .= $body;
    }
    for my $type (@{ $tool->{types} // [] }) {
        my ($package, $file) = $type =~ m{^types/(?:(.+)/)?(.+)$};
        $files{$package ? "src/$package/$file" : $file} = slurp(dirname($page) . "/$type") || die "$page: $type is missing\n";
    }
    my $takes_sample = grep /\bsample\.compare\(\)/, values %files;
    $files{'setup.sql'} .= slurp("$root/tests/clients/sample.sql") if $takes_sample;
    push @needs, "newer $$_[0] $$_[1]" for @{ $tool->{newer} // [] };
    return (\%files, \@needs, $command);
}

# Run a command line in a directory; its output goes to a file there.
sub run_in {
    my ($directory, $command) = @_;
    return system('sh', '-c', "cd '$directory' && { $command\n} > output 2>&1 < /dev/null") == 0;
}

sub slurp {
    my ($file) = @_;
    open my $in, '<', $file or return '';
    local $/;
    return scalar <$in>;
}

sub spew {
    my ($file, $text) = @_;
    make_path(dirname($file));
    open my $out, '>', $file or die "$file: $!\n";
    print $out $text;
    close $out or die "$file: $!\n";
}

# Install what a tool needs; returns the reason if that is not possible, or nothing.
sub install {
    my ($directory, @needs) = @_;
    for my $need (@needs) {
        if ($need =~ /^apt-get install (.+)/) {
            for my $package (split ' ', $1) {
                return "$package is not installed" if !run_in($directory, "dpkg -s $package | grep -q '^Status: .* installed'");
            }
            next;
        }
        if (my ($package, $least) = $need =~ /^newer (\S+) (\S+)$/) {
            my $version = `dpkg-query -W -f '\${Version}' $package`;
            return "$package is $version" if !run_in($directory, "dpkg --compare-versions '$version' ge '$least'");
            next;
        }
        my $done = "$directory/" . ($need =~ /^(\w+)/)[0] . '.installed';
        next if slurp($done) eq $need;
        my $command = $need =~ s/^pip install/python3 -m pip install --quiet --upgrade --target packages/r;
        $command =~ s/^npm install/npm install --silent --no-audit --no-fund --no-package-lock --prefix ./;
        print "-- $need\n";
        run_in($directory, "timeout $limit $command") or return "this failed: $need";
        spew($done, $need);
    }
    return;
}

# The dependencies of the page's Rust programs: this crate, with its version, instead of the published one.
sub cargo_toml {
    my ($anchor, $dependencies) = @_;
    return "[package]\nname = \"$anchor\"\nedition = \"2024\"\n[workspace]\n$dependencies"
        . "[patch.crates-io]\npg_ulid = { path = \"$root\" }\n";
}

my ($passed, $failed, @skipped) = (0, 0);
my $packaged = @ARGV && $ARGV[0] eq '--packaged' && shift;
$| = 1;

for my $argument (@ARGV) {
    my ($page, $wanted) = split /#/, $argument;
    my ($first, @tools) = tools($page);
    my $name = basename($page, '.md');
    my @chosen = grep { !defined $wanted or $_->{anchor} eq $wanted } @tools;
    die "$page has no tool $wanted\n" if defined $wanted and !@chosen;
    for my $tool (@chosen) {
        my $title = "$name, $tool->{name}";
        my ($files, $needs, $command) = put_together($page, $first, $tool);
        # a Rust program takes a library of Debian's, but not its Rust
        next if !defined $command or $packaged && ($command =~ /^cargo / || !grep /^apt-get /, @$needs);
        my $directory = "$root/target/clients/$name/$tool->{anchor}";
        make_path($directory);
        if (my $reason = install($directory, @$needs)) {
            print "skipped $title: $reason\n";
            push @skipped, $tool->{name};
            next;
        }
        $files->{'Cargo.toml'} = cargo_toml($tool->{anchor}, $files->{'Cargo.toml'}) if $files->{'Cargo.toml'};
        my $program = "$directory/program";
        remove_tree($program);
        spew("$program/$_", $files->{$_}) for sort keys %$files;
        local $ENV{PGDATABASE} = "${name}_$tool->{anchor}" =~ tr/-/_/r;
        local $ENV{DATABASE_URL} = "postgresql://$ENV{PGUSER}:$ENV{PGPASSWORD}\@$ENV{PGHOST}:$ENV{PGPORT}/$ENV{PGDATABASE}";
        local $ENV{PYTHONPATH} = "$directory/packages";
        local $ENV{CARGO_TARGET_DIR} = "$root/target/clients/rust/target";
        my $start = time;
        my $ok = system('PGOPTIONS=--client-min-messages=warning dropdb --if-exists $PGDATABASE') == 0
            && system('createdb', $ENV{PGDATABASE}) == 0
            && run_in($program, 'psql -X -q -v ON_ERROR_STOP=1 -f setup.sql')
            && run_in($program, "timeout $limit sh -c '$command'");
        # a server without contrib modules; the extension's own library has a path
        if (!$ok && slurp("$program/output") =~ /could not access file "(\w+)": No such file/) {
            print "skipped $title: the server has no $1\n";
            push @skipped, $tool->{name};
            next;
        }
        my @packages = map { /^apt-get install (.+)/ ? split ' ', $1 : () } @$needs;
        my $versions = @packages ? `dpkg-query -W -f '; \${Package} \${Version}' @packages` : '';
        printf "%-7s %s (%.1f s%s)\n", $ok ? 'ok' : 'FAILED', $title, time - $start, $versions;
        print slurp("$program/output") if !$ok;
        $ok ? $passed++ : $failed++;
    }
}
print "$passed passed, $failed failed", @skipped ? ', ' . @skipped . " skipped\n" : "\n";
print 'not run: ', join(', ', @skipped), "\n" if @skipped;
exit($failed ? 1 : @skipped ? 77 : 0);
