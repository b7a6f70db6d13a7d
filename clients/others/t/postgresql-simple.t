# postgresql-simple: the program prints the results of its tests
use strict;
use warnings;
use Client;
use Test::More;

need('ghc' => 0, 'libghc-postgresql-simple-dev' => '0.7');
create_database('others_postgresql_simple');
my $build = build('postgresql-simple');
my ($ok, $printed) = run("ghc -v0 -Wall -Wno-name-shadowing -Werror -outputdir '$build' -o '$build/main' '$Client::HOME/postgresql-simple.hs'");
die $printed if !$ok;
exec "$build/main";
