# The page shows nothing but parts of these files.
use strict;
use warnings;
use Client;
use Test::More;

# Without what indents the lines.
sub lines { return join "\n", grep /\S/, map { s/^\s+//r } split /\n/, shift }

my %files = (
    perl => 't/dbd-pg.t', cpp => 'libpqxx.cpp', python => 'psqlodbc.py', haskell => 'postgresql-simple.hs', sh => 't/{psql,pgbench}.t',
);
my $page = slurp("$Client::HOME/../../docs/clients/others.md");
my %sources = map { $_ => lines(join '', map { slurp($_) } glob "$Client::HOME/$files{$_}") } keys %files;
while ($page =~ /^```(perl|cpp|python|haskell|sh)\n(.*?)^```$/msg) {
    my ($language, $block) = ($1, lines($2));
    next if $block =~ /^(apt-get|g\+\+|ghc) /;
    ok(index($sources{$language}, $block) >= 0, $language) or diag($block);
}

done_testing;
