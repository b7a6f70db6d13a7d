#!/usr/bin/env perl
# Print the copyright of the packages in the form of Debian, DEP-5: copyright.pl REPOSITORY UNICODE
# Standard input is the JSON of cargo-about; the environment variable CRATES names the crates that
# are in the library, as NAME-VERSION, by lines; UNICODE is the file of the Unicode licence.
use strict;
use warnings FATAL => 'all';
use JSON::PP;

my ($repository, $unicode) = @ARGV;
my %in_library = map { $_ => 1 } split /\n/, $ENV{CRATES};
my $all        = decode_json(do { local $/; <STDIN> });

# A paragraph: its files, who has the copyright, and the licence with its text.
sub paragraph
{
    my ($license, $text, @files) = @_;
    my @owners = grep { !/<year>/ } $text =~ /^\s*Copyright\s+(?:\([cC]\)|©)?\s*(\S.*?)\s*$/mg;
    @owners = ('the authors of ' . join ', ', map { m{/(.*)-} } @files) unless @owners;
    $text =~ s/^[ \t]*$/./mg;
    $text =~ s/(?:^\.\n)+\z//m;
    $text =~ s/^/ /mg;
    return "\nFiles: " . join("\n ", @files) . "\nCopyright: " . join("\n ", @owners)
      . "\nLicense: $license\n$text";
}

sub slurp
{
    my ($file) = @_;
    open my $in, '<', $file or die "$file: $!\n";
    return join '', <$in>;
}

print "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n",
  "Upstream-Name: ulid\n", $repository && "Source: $repository\n",
  "Comment: The library consists of the crates below, and of parts of Rust's standard library,\n",
  " which is copyright The Rust Project contributors, under MIT or Apache-2.0, and has tables of\n",
  " Unicode.\n",
  paragraph('MIT', slurp('LICENSE'), '*');
for my $license (@{ $all->{licenses} })
{
    my @used = grep { $in_library{$_} }
      map { "$_->{crate}{name}-$_->{crate}{version}" } @{ $license->{used_by} };
    next unless @used;
    delete @in_library{@used};
    print paragraph($license->{id}, $license->{text}, map { "vendor/$_/*" } @used);
}
die "no licence of: @{[ sort keys %in_library ]}\n" if %in_library;
print paragraph('Unicode-3.0', slurp($unicode), 'rust/library/core/src/unicode/unicode_data.rs');
