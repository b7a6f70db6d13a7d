# libpqxx: the program prints the results of its tests
use strict;
use warnings;
use Client;
use Test::More;

need('g++' => 0, 'libpqxx-dev' => 8);
create_database('others_libpqxx');
my $build = build('libpqxx');
my ($ok, $printed) = run("g++ -std=c++20 -Wall -Wextra -Werror -o '$build/main' '$Client::HOME/libpqxx.cpp' -lpqxx -lpq");
die $printed if !$ok;
exec "$build/main";
