# Databases and clients of every pair of encodings: an invalid ULID is rejected as an invalid uuid is, quoted unchanged, and
# nothing breaks. The report names the place in our source that raised it.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

my $node = new_server('encoding', extension => 0);
# A character of each encoding, by which a client with that encoding knows it.
my %character = (
    UTF8 => "\xe2\x82\xac", EUC_JP => "\xa4\xa2", EUC_KR => "\xb0\xa1", LATIN1 => "\xe9", WIN1252 => "\x80", SQL_ASCII => "\xff",
);
for my $encoding (sort keys %character) {
    $node->safe_psql('postgres', "CREATE DATABASE \L$encoding\E ENCODING '$encoding' LOCALE 'C' TEMPLATE template0");
    $node->safe_psql(lc $encoding, 'CREATE EXTENSION ulid');
    $node->safe_psql(lc $encoding, 'CREATE TABLE kept (id ulid)');
}

# Run SQL, in bytes, in the database of an encoding, from a client with the same; returns output and errors, in bytes.
sub run_in {
    my ($encoding, $sql, %params) = @_;
    local $ENV{PGCLIENTENCODING} = $encoding;
    my ($status, $output, $error) = $node->psql(lc $encoding, $sql, on_error_stop => 0, %params);
    return ($output, $error);
}

# Bytes as letters and escapes, for the names of the checks.
sub printable {
    my ($bytes) = @_;
    return $bytes =~ s/([^ -~])/sprintf '\\x%02x', ord $1/ger;
}

# The error report in a database, for a text that is read as a ulid, or passed to a function, contains the expected bytes.
sub refused {
    my ($encoding, $text, $expected, $function) = (@_, 'ulid');
    my $name = "$encoding, $function('" . printable($text) . "')";
    my ($output, $error) = run_in($encoding, "\\set VERBOSITY verbose\nSELECT $function('$text');\nSELECT ulid_is_valid('$text');\n");
    is($output, 'f', "$name: ulid_is_valid says no");
    like($error, qr/\Q$expected\E/, "$name: " . printable($expected));
    return;
}
refused('LATIN1', "01ARYZ6S41TSV4RRFFQ69G5FA\xe9", qq(DETAIL:  Character "\xe9" at position 26 is not in Crockford));
refused('LATIN1', "01ARYZ6S41TSV4RRFFQ69G5FA\xe9",
    qq(ERROR:  22P02: invalid input syntax for type ulid: "01ARYZ6S41TSV4RRFFQ69G5FA\xe9"));
# what is a character in SQL_ASCII, the client alone knows
refused('SQL_ASCII', "\xff\xfe", 'DETAIL:  Byte 0xff at position 1 is not in Crockford');
refused('SQL_ASCII', "01ARYZ6S41TSV4RRFFQ69G5F\xc3\xa9", 'DETAIL:  Byte 0xc3 at position 25 is not in Crockford');
refused('SQL_ASCII', '01U', qq(DETAIL:  Character "U" at position 3 is not in Crockford), 'ulid_prefix_lower');
refused('EUC_JP', "01ARYZ6S41TSV4RRFFQ69G5F\xa4\xa2", qq(DETAIL:  Character "\xa4\xa2" at position 25 is not in Crockford));
refused('UTF8', "01ARYZ6S41TSV4RRFFQ69G5\xe2\x82\xac", qq(DETAIL:  Character "\xe2\x82\xac" at position 24 is not in Crockford));
# the uuid format, and a text that is too long
refused('LATIN1', "01563df3-6481-d676-4c61-efb99302bd5\xe9", qq(DETAIL:  Character "\xe9" at position 36 is not a hexadecimal digit));
refused('UTF8', "\xe2\x82\xac01ARYZ6S41TSV4RRFFQ69G5FAV", qq(DETAIL:  Character "\xe2\x82\xac" at position 1 is not in Crockford));
# a prefix, and a TypeID
refused('EUC_JP', "01ARYZ6S4\xa4\xa2", qq(DETAIL:  Character "\xa4\xa2" at position 10 is not in Crockford), 'ulid_prefix_lower');
refused('LATIN1', "01\xe9", qq(ERROR:  22P02: invalid prefix of a ulid: "01\xe9"), 'ulid_prefix_upper');
refused('LATIN1', "us\xe9r_01h455vb4pex5vsknk084sn02q",
    qq(ERROR:  22P02: invalid TypeID: "us\xe9r_01h455vb4pex5vsknk084sn02q"), 'ulid_from_typeid');
refused('LATIN1', "us\xe9r_01h455vb4pex5vsknk084sn02q",
    qq(DETAIL:  Character "\xe9" at position 3 is not a lower-case letter), 'ulid_from_typeid');
refused('EUC_JP', "user_01h455vb4pex5vsknk084sn02\xa4\xa2",
    qq(DETAIL:  Character "\xa4\xa2" at position 31 is not in Crockford), 'typeid_prefix');

# Whatever the encodings of server and client are, a text that no ulid, prefix or TypeID has is refused as one that no uuid has:
# with 22P02 and the text, or, where core cannot convert or verify it, with core's own error.
sub reported {
    my ($server, $sql, $client) = @_;
    # not by the environment: where core has no conversion, there would be no session
    my (undef, $error) = run_in($server, "\\set VERBOSITY verbose\nSET client_encoding = '$client';\n$sql;\n", on_error_stop => 1);
    my ($sqlstate) = $error =~ /ERROR:  (\w{5}): /;
    return ($sqlstate // 'none', $error);
}
my $as_invalid = 0;
for my $server (sort keys %character) {
    for my $client (sort keys %character) {
        my $text = "01ARYZ6S41TSV4RRFFQ69G5$character{$client}";
        my ($expected) = reported($server, "SELECT '$text'::uuid", $client);
        for my $function (qw(ulid ulid_from_text ulid_prefix_lower ulid_from_typeid)) {
            $text = lc $text if $function eq 'ulid_from_typeid';
            my ($sqlstate, $error) = reported($server, "SELECT $function('$text')", $client);
            is($sqlstate, $expected, "$client in $server: $function reports what uuid does") or diag(printable($error));
            next if $sqlstate ne '22P02';
            like($error, qr/\Q"$text"\E$/m, "$client in $server: $function quotes the text");
            $as_invalid++;
        }
    }
}
cmp_ok($as_invalid, '>=', 4 * 2 * 6, 'at least each encoding with itself and with SQL_ASCII is read');

# An error that a function raises while the planner evaluates a window is reported unchanged.
sub raised {
    my ($encoding, $text) = @_;
    my $name = "$encoding, an error '" . printable($text) . "' in the planner";
    my ($output, $error) = run_in($encoding, <<"SQL");
CREATE FUNCTION window_of() RETURNS tstzrange LANGUAGE plpgsql STABLE AS \$\$ BEGIN RAISE EXCEPTION '$text'; END \$\$;
EXPLAIN SELECT FROM (VALUES (gen_ulid())) AS v (id) WHERE id <@ window_of();
EXPLAIN SELECT FROM kept WHERE id <@ window_of();
SQL
    is(() = $error =~ /ERROR:  \Q$text\E$/mg, 2, "$name is reported unchanged");
    unlike($output, qr/Filter/, "$name ends the plan");
    return;
}
raised('LATIN1', "caf\xe9");
raised('SQL_ASCII', "\xff\xfe");
raised('EUC_JP', "\xa4\xa2");

# The place of a report is where its function returns the error, and not the code that reports them all.
my %places;
for my $expression ("'01ARYZ6S41TSV4RRFFQ69G5FAU'::ulid", "ulid_from_uuid_v1('01563df3-6481-4676-8c61-efb99302bd5b')",
    "ulid_from_typeid('user_8zzzzzzzzzzzzzzzzzzzzzzzzz')", "ulid_prefix_lower('01U')", "'infinity'::timestamptz::ulid")
{
    my (undef, $error) = run_in('UTF8', "\\set VERBOSITY verbose\nSELECT $expression;\n");
    like($error, qr/^LOCATION:  (?:\w+, )?functions\.rs:\d+$/m, "the report for $expression names the file of its function");
    $places{$_}++ for $error =~ /^LOCATION:.*:(\d+)$/m;
}
is(keys %places, 5, 'each of these functions has a place of its own');

done_testing();
