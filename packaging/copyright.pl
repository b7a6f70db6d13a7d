#!/usr/bin/env perl
# Print the copyright holders and licences of the source with its vendored crates, in the format of Debian's DEP-5:
# copyright.pl COMPILED LINKED
#
# The files have a line of `cargo tree --format '{p}|{l}'` for each crate that is compiled, or linked into the library.
use strict;
use warnings;

@ARGV == 2 or die "usage: copyright.pl COMPILED LINKED\n";
my ($compiled, $linked) = map { [split /\n/, slurp($_)] } @ARGV;

sub slurp {
    my ($file) = @_;
    open my $handle, '<', $file or die "$file: $!\n";
    local $/;
    return scalar <$handle>;
}

# A text as the continuation lines of a field.
sub field_text {
    return join '', map { /\S/ ? "  $_\n" : " .\n" } map { s/\s+$//r =~ s/^\t+/  /r } split /\n/, shift;
}

# The copyright lines of a text, without the template in the Apache licence.
sub claims {
    my %seen;
    return grep { !/[\[{<]yyyy|name of copyright owner|copyright notice|copyright license|copyright statement|copyright holder|copyright owner|and permission notice|assignment is/i && !$seen{$_}++ }
        map { s/^[\s\/#*]*(?:LICENSE )?//r =~ s/\s+$//r }
        grep { /^[\s\/#*]*(?:LICENSE )?(?:Portions )?Copyright (?:\(c\) |\N{U+A9} |\xc2\xa9 )?[0-9A-Z]/i } map { split /\n/ } @_;
}

# The copyright holders of a crate: those in its licences, otherwise those in its manifest and its sources.
sub holders {
    my ($directory, $name) = @_;
    my @authors = slurp("$directory/Cargo.toml") =~ /^authors = \[(.*?)\]/ms ? $1 =~ /"([^"]+)"/g : ();
    my @found = claims(map { slurp($_) } grep { -f } glob "$directory/{LICEN[CS]E,license,COPYING,UNLICENSE,COPYRIGHT,NOTICE}*");
    @found = (@authors, claims(map { slurp($_) } grep { -f } glob "$directory/src/{*,*/*}.rs")) unless @found;
    return map { s/^Copyright (?:\(c\) )?//ri =~ s/^([-0-9]+)$/$1 the authors of $name/r } @found ? @found : "the authors of $name";
}

# A licence expression in the syntax of DEP-5.
sub expression {
    my $text = shift =~ s{\s*/\s*| OR }{ or }gr =~ s/ WITH /-with-/gr =~ s/ AND /, and /gr;
    return $text =~ tr/()//dr;
}

my $own = slurp("LICENSE");
my ($holder) = $own =~ /^Copyright \(c\) (.*)$/m;
my %text = (
    'MIT' => $own =~ s/\A.*?(?=Permission is)//sr,
    'Apache-2.0' => "On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0; elsewhere, at\nhttps://www.apache.org/licenses/LICENSE-2.0\n",
    'Apache-2.0-with-LLVM-exception' => "Apache-2.0, with the exception that is at https://spdx.org/licenses/LLVM-exception.html\n",
    'Unlicense' => "This is free and unencumbered software released into the public domain. The text is at https://unlicense.org/\n",
);
# These texts are in one of the crates that use them.
my %text_in = (
    'BSD-3-Clause' => ['bindgen', 'LICENSE'],
    'ISC' => ['libloading', 'LICENSE'],
    'Unicode-3.0' => ['unicode-ident', 'LICENSE-UNICODE'],
    'Zlib' => ['foldhash', 'LICENSE'],
);

print "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: ulid\n",
    "Comment: The library also contains parts of Rust's standard library: copyright The Rust Project contributors,\n",
    " License: MIT or Apache-2.0.\n";
print "\nFiles: *\nCopyright: $holder\nLicense: MIT\n";
print "\nFiles: debian/*\nCopyright: $holder\nLicense: MIT\n";

my %is_linked = map { $_ => 1 } @$linked;
my (%crates, %used);
for my $line (@$compiled) {
    my ($name, $version, $license) = $line =~ /^(\S+) v(\S+).*\|(.*)$/ or die "not a line of cargo tree: $line\n";
    $crates{"$name-$version"} = [$name, $license, $is_linked{$line}];
}
print "\nFiles: vendor/*\nCopyright: the authors named in the Cargo.toml of each\nLicense: MIT or Apache-2.0\n",
    "Comment: Of crates that are not listed below there is the manifest alone, which cargo reads.\n";
for my $crate (sort keys %crates) {
    my ($name, $license, $is_part) = @{ $crates{$crate} };
    my $expression = expression($license);
    print "\nFiles: vendor/$crate/*\nCopyright: ", join("\n           ", holders("vendor/$crate", $name)), "\nLicense: $expression\n";
    print "Comment: Used to build the library, and no part of it.\n" unless $is_part;
    $used{$_} = 1 for split /,? (?:or|and) /, $expression;
}

for my $license (sort keys %{ { %used, MIT => 1, 'Apache-2.0' => 1 } }) {
    my $text = $text{$license};
    if (!$text) {
        my ($crate, $file) = @{ $text_in{$license} // die "the text of the licence $license is missing in copyright.pl\n" };
        my ($found) = glob "vendor/$crate-[0-9]*/$file";
        $text = slurp($found);
    }
    print "\nLicense: $license\n", field_text($text);
}
