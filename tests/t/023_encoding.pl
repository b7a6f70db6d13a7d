# Databases and clients of every pair of encodings: an invalid ULID is rejected as an invalid uuid
# is, quoted unchanged, with the character at fault and its position.
use strict;
use warnings FATAL => 'all';
use ULID;

my $node = new_server('encoding', extension => 0);

# A character of each encoding, by which a client with that encoding knows it.
my %character = (
    UTF8      => "\xe2\x82\xac",
    EUC_JP    => "\xa4\xa2",
    EUC_KR    => "\xb0\xa1",
    LATIN1    => "\xe9",
    WIN1252   => "\x80",
    SQL_ASCII => "\xff");
for my $encoding (sort keys %character)
{
    $node->safe_psql('postgres',
        "CREATE DATABASE \L$encoding\E ENCODING '$encoding' LOCALE 'C' TEMPLATE template0");
    $node->safe_psql(lc $encoding, 'CREATE EXTENSION ulid');
}

# The errors of SQL, in bytes, in a database from a client with an encoding. Not by the environment:
# where PostgreSQL has no conversion, there would be no session.
sub reported
{
    my ($server, $client, $sql)   = @_;
    my (undef,   undef,   $error) = $node->psql(
        lc $server,
        "\\set VERBOSITY verbose\nSET client_encoding = '$client';\n$sql;\n",
        on_error_stop => 1);
    return $error;
}
sub sqlstate_of { return $_[0] =~ /ERROR:  (\w{5}): / ? $1 : 'none' }

# The character and its position, or the byte where the client alone knows what is a character.
my $digits = '01ARYZ6S41TSV4RRFFQ69G5FA';
my $suffix = '01h455vb4pex5vsknk084sn02q';
for my $case (
    [ 'LATIN1', 'ulid', "$digits\xe9", qq(Character "\xe9" at position 26 is not in Crockford) ],
    [
        'LATIN1', 'ulid',
        "01563df3-6481-d676-4c61-efb99302bd5\xe9",
        qq(Character "\xe9" at position 36 is not a hexadecimal digit)
    ],
    [
        'LATIN1', 'ulid',
        "{01563df3-6481-d676-4c61-efb99302bd5b\xe9",
        qq(Character "\xe9" at position 38 is not a closing brace)
    ],
    [
        'EUC_JP', 'ulid',
        "01563df36481d6764c61\xa4\xa2efb99302bd5b",
        qq(Character "\xa4\xa2" at position 21 is not a hyphen or)
    ],
    [
        'SQL_ASCII', 'ulid',
        "01563df36481d6764c61efb99302bd5b\xff",
        'Byte 0xff at position 33 is not the end of a UUID'
    ],
    [
        'EUC_JP',          'ulid',
        "$digits\xa4\xa2", qq(Character "\xa4\xa2" at position 26 is not in Crockford)
    ],
    [ 'SQL_ASCII', 'ulid',              "\xff\xfe", 'Byte 0xff at position 1 is not in Crockford' ],
    [ 'SQL_ASCII', 'ulid_prefix_lower', '01U', 'Character "U" at position 3 is not in Crockford' ],
    [
        'EUC_JP',            'ulid_prefix_lower',
        "01ARYZ6S4\xa4\xa2", qq(Character "\xa4\xa2" at position 10 is not in Crockford)
    ],
    [
        'LATIN1',          'ulid_from_typeid',
        "us\xe9r_$suffix", qq(Character "\xe9" at position 3 is not a lower-case letter)
    ],
    [
        'EUC_JP', 'typeid_prefix',
        "user_01h455vb4pex5vsknk084sn02\xa4\xa2",
        qq(Character "\xa4\xa2" at position 31 is not in Crockford)
    ],)
{
    my ($encoding, $function, $text, $detail) = @$case;
    my $error = reported($encoding, $encoding, "SELECT $function('$text')");
    like(
        $error,
        qr/ERROR:  22P02: [^\n]*"\Q$text\E"\n.*DETAIL:  \Q$detail\E/s,
        "$encoding: $function quotes the text, and says what is wrong");
    is( $node->safe_psql(
            lc $encoding, "SET client_encoding = '$encoding'; SELECT ulid_is_valid('$text')"),
        'f',
        "$encoding: ulid_is_valid says no");
}

# With 22P02 and the text, or, where PostgreSQL cannot convert or verify it, with its own error.
my $as_invalid = 0;
for my $server (sort keys %character)
{
    for my $client (sort keys %character)
    {
        my $text     = "01ARYZ6S41TSV4RRFFQ69G5$character{$client}";
        my $expected = sqlstate_of(reported($server, $client, "SELECT '$text'::uuid"));
        for my $function (qw(ulid ulid_prefix_lower ulid_from_typeid))
        {
            my $error = reported($server, $client, "SELECT $function('$text')");
            is(sqlstate_of($error), $expected,
                "$client in $server: $function reports what uuid does");
            like($error, qr/\Q"$text"\E$/m, "$client in $server: $function quotes the text")
              if $expected eq '22P02';
            $as_invalid++ if $expected eq '22P02';
        }
    }
}
cmp_ok(
    $as_invalid, '>=',
    3 * 2 * 6,
    'at least each encoding with itself and with SQL_ASCII is read');

# An ERROR of PostgreSQL passes through our estimator, which evaluates what is stable, with all its
# fields and bytes.
$node->safe_psql('latin1', <<"SQL");
SET client_encoding = 'LATIN1';
CREATE TABLE estimated (id ulid);
CREATE FUNCTION caf\xe9() RETURNS tstzrange STABLE LANGUAGE plpgsql AS \$\$ BEGIN
    RAISE EXCEPTION 'message \xe9' USING ERRCODE = 'UL001',
        DETAIL = 'detail \xe9', HINT = 'hint \xe9',
        CONSTRAINT = 'constraint \xe9', COLUMN = 'column \xe9';
END \$\$;
SQL
my $error = reported('LATIN1', 'LATIN1', "EXPLAIN SELECT FROM estimated WHERE id <@ caf\xe9()");
like($error, qr/ERROR:  UL001: message \xe9$/m, 'an error in the estimator has its SQLSTATE');
for my $line (
    "DETAIL:  detail \xe9",
    "HINT:  hint \xe9",
    qq(CONTEXT:  PL/pgSQL function "caf\xe9"() line 2 at RAISE),
    "COLUMN NAME:  column \xe9",
    "CONSTRAINT NAME:  constraint \xe9",)
{
    like($error, qr/^\Q$line\E$/m, "and $line");
}

done_testing();
