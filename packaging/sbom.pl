#!/usr/bin/env perl
# Print the SBOM, in the format of CycloneDX 1.5, of the library in version VERSION: sbom.pl VERSION LINKED CARGO_LOCK
#
# LINKED has a line of `cargo tree --format '{p}|{l}'` for each crate that is linked into the library. The checksums are those
# of the crates' archives on crates.io. SOURCE_DATE_EPOCH is the time of the SBOM.
use strict;
use warnings;
use JSON::PP;
use POSIX qw(strftime);

@ARGV == 3 or die "usage: sbom.pl VERSION LINKED CARGO_LOCK\n";
my ($version, $linked, $lock) = @ARGV;

sub slurp {
    my ($file) = @_;
    open my $handle, '<', $file or die "$file: $!\n";
    local $/;
    return scalar <$handle>;
}

my %sum;
for (split /^\[\[package\]\]\n/m, slurp($lock)) {
    $sum{"$1 $2"} = $3 if /^name = "(.*)"\nversion = "(.*)"\n(?:source = .*\n)?checksum = "(.*)"/;
}

my @components;
for my $line (split /\n/, slurp($linked)) {
    my ($name, $number, $license) = $line =~ /^(\S+) v(\S+).*\|(.*)$/ or die "not a line of cargo tree: $line\n";
    push @components, {
        type => 'library',
        'bom-ref' => "pkg:cargo/$name\@$number",
        purl => "pkg:cargo/$name\@$number",
        name => $name,
        version => $number,
        licenses => [{ expression => $license =~ s{/}{ OR }gr }],
        hashes => [{ alg => 'SHA-256', content => $sum{"$name $number"} // die "$lock has no sum of $name $number\n" }],
    };
}
print JSON::PP->new->canonical->pretty->encode({
    bomFormat => 'CycloneDX',
    specVersion => '1.5',
    version => 1,
    metadata => {
        timestamp => strftime('%Y-%m-%dT%H:%M:%SZ', gmtime $ENV{SOURCE_DATE_EPOCH}),
        component => {
            type => 'library',
            'bom-ref' => "pkg:cargo/pg_ulid\@$version",
            name => 'ulid',
            version => $version,
            licenses => [{ license => { id => 'MIT' } }],
        },
    },
    components => \@components,
});
