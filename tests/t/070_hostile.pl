# Hostile input in databases of six encodings: random bytes and damaged values, as text and in binary, sent to the input and
# receive functions, to COPY, and to every function of the extension; large texts; values that are stored compressed or out
# of line; damaged statistics. Every answer must be a result or an error of the kinds below, and the session must go on.
# PostgreSQL's protocol is spoken here, as a driver would refuse most of it. FUZZ_SEED (1) and CASES (1000 for each encoding)
# choose the random part; with LARGE, texts have 100 MB instead of 10, and the seed is any. `make hostile` sends more.
use strict;
use warnings;
use IO::Socket::UNIX;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

my $cases = $ENV{CASES} || 1000;
my $seed = $ENV{FUZZ_SEED} || ($ENV{LARGE} ? time : 1);
my $node = new_server('hostile', extension => 0);
my $user = $node->safe_psql('postgres', 'SELECT current_user');

# What is wrong with the value, its encoding or its message.
my %SENSIBLE = map { $_ => 1 } qw(
    08P01 22001 22003 22007 22008 22009 2200H 22021 22023 22026 22P02 22P03 22P04 22P05 2202E 22000 42804 42846 54000 0A000
);

#
# The protocol
#

my ($socket, %answers);                    # and how often each SQLSTATE came

sub connect_to {
    my ($database) = @_;
    $socket = IO::Socket::UNIX->new(Peer => $node->host . '/.s.PGSQL.' . $node->port) or die "no connection: $!\n";
    binmode $socket;
    my $body = pack("N", 196608) . join "", map { "$_\0" } user => $user, database => $database, "";
    print $socket pack("N", length($body) + 4) . $body;
    answer();
    return;
}

sub message { my ($type, $body) = @_; print $socket $type . pack('N', length($body) + 4) . $body }

# A message of the server: its type and its body.
sub received {
    my ($head, $body) = ('', '');
    read($socket, $head, 5) == 5 or die "the server has ended the session\n";
    my ($type, $length) = unpack 'aN', $head;
    $length == 4 or read($socket, $body, $length - 4) == $length - 4 or die "the server has ended the session\n";
    return ($type, $body);
}

# The answer to what was sent: the SQLSTATE, 00000 without an error, and the values of the first column.
sub answer {
    my ($state, $text, @values) = ('00000', '');
    $socket->flush;
    while (1) {
        my ($type, $body) = received();
        if ($type eq 'E') {
            my %field = map { substr($_, 0, 1) => substr($_, 1) } split /\0/, $body;
            ($state, $text) = ($field{C}, join '|', grep { defined } @field{qw(M D)});
        } elsif ($type eq 'D') {
            my ($length) = unpack 'x2N', $body;
            push @values, $length == 0xffffffff ? undef : substr $body, 6, $length;
        } elsif ($type eq 'G') {             # it waits for the rows of COPY
            return ('copy', $text);
        } elsif ($type eq 'Z') {
            last if $body eq 'I';
            message('Q', "ROLLBACK\0");      # left by an error in a transaction
            $socket->flush;
        }
    }
    return ($state, $text, @values);
}

sub query { my ($sql) = @_; message('Q', "$sql\0"); return answer() }

# The one statement that must work.
sub run { my ($state, $text, @values) = query($_[0]); $state eq '00000' or die "$state $text: $_[0]\n"; return @values }

# A statement with parameters, each the format (0 text, 1 binary), the bytes, and the length if that is a false one.
sub call {
    my ($sql, @parameters) = @_;
    message('P', "\0$sql\0" . pack 'n', 0);
    my $body = "\0\0" . pack('n*', scalar @parameters, map { $_->[0] } @parameters) . pack 'n', scalar @parameters;
    for (@parameters) {
        my ($format, $bytes, $length) = @$_;
        $body .= defined $bytes ? pack('N', $length // length $bytes) . $bytes : pack 'N', 0xffffffff;
    }
    message('B', $body . pack 'n2', 1, int rand 2);
    message('E', "\0" . pack 'N', 0);
    message('S', '');
    return answer();
}

# COPY of these bytes.
sub copy {
    my ($sql, $bytes) = @_;
    my ($state, $text) = query($sql);
    $state eq 'copy' or return ($state, $text);
    message('d', $_) for unpack '(a65536)*', $bytes;
    message('c', '');
    return answer();
}

# Count an answer, and stop if it is not a sensible one.
sub expect {
    my ($what, $state, $text) = @_;
    $answers{$state}++;
    $state eq '00000' or $SENSIBLE{$state} or die "$what: $state $text\n";
}

#
# Values
#

# Characters of the encoding, some of more than one byte.
my %CHARACTERS = (
    UTF8 => ["\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xef\xbc\xa1"], EUC_JP => ["\xa4\xa2", "\x8e\xb1", "\x8f\xb0\xa1"],
    EUC_KR => ["\xb0\xa1", "\xc8\xfe"], LATIN1 => ["\xe9", "\xff"], WIN1252 => ["\x80", "\xe9"], SQL_ASCII => ["\xff", "\xc3\xa9"],
);
my @characters;
my @digits = (0 .. 9, grep { !/[ILOU]/ } 'A' .. 'Z');

sub one_of { $_[rand @_] }
sub bytes { join '', map { chr int rand 256 } 1 .. $_[0] }
sub text { join '', map { one_of(@digits) } 1 .. $_[0] }

# Replace, insert or remove some bytes or characters, or leave them all.
sub damaged {
    my ($value) = @_;
    for (1 .. one_of(0, 0, 1, 1, 2, 3)) {
        my $at = int rand(1 + length $value);
        substr $value, $at, int(rand 3), one_of('', bytes(1), bytes(4), one_of(@characters), one_of(@digits), "\0", '-', '_', ' ', 'u');
    }
    return $value;
}

# A text as a function might like it, and then damaged.
sub some_text {
    return damaged(one_of(
        one_of(0 .. 7) . text(25), lc(one_of(0 .. 7) . text(25)), text(int rand 27), bytes(int rand 60), '', one_of(@characters) x 26,
        join('-', map { unpack 'H*', bytes($_) } 4, 2, 2, 2, 6), 'prefix_' . lc text(26), 'a' x (60 + rand 6) . '_' . lc(text(26)), 'a' x rand 20000,
        '2026-01-01 00:00+00', 'infinity', '["2026-01-01","2026-02-01")', 'empty', '{' . text(26) . ',NULL}', '-1', '170141183460469231731687303715884105727',
    ));
}

# The same in binary: near the right length of a type, or what it is made of.
sub some_binary {
    my ($ulid_oid) = @_;
    my $element = sub { my $length = one_of(16, 16, 16, int rand 40); pack('N', one_of($length, $length, -1, 0x7fffffff, $length + 1)) . bytes($length) };
    return damaged(one_of(
        bytes(16), bytes(16), bytes(8), bytes(int rand 40), '', pack('q>', rand 9e18), pack('q>', -rand 9e15),
        pack('N5', one_of(1, 1, 0, 2, 7, -1), one_of(0, 1, 2), one_of($ulid_oid, 0, 2950, 2**32 - 1), one_of(0, 1, 2, 2**31 - 1), one_of(1, 0, 2**31 - 1)) . join('', map { $element->() } 1 .. rand 4),
        chr(int rand 256) . pack('Nq>Nq>', 8, rand 9e14, 8, rand 9e14), pack('NNN', 1, $ulid_oid, 16) . bytes(16),
    ));
}

# The parameter for a type: its format, its bytes, sometimes with a false length, sometimes null.
sub parameter {
    my ($ulid_oid) = @_;
    my $binary = int rand 2;
    my $bytes = rand() < 0.02 ? undef : $binary && rand() < 0.8 ? some_binary($ulid_oid) : some_text();
    return [$binary, $bytes, defined $bytes && rand() < 0.03 ? one_of(0, 1, length($bytes) + 1, 2**31 - 1, 2**31, 2**32 - 2) : ()];
}

#
# Random input
#

# Send it to a database of this encoding.
sub send_hostile_input {
    my ($encoding) = @_;
    @characters = @{ $CHARACTERS{$encoding} };
    %answers = ();
    srand $seed;
    connect_to('hostile_' . lc $encoding);

    # The server's log need not have all of this.
    run('SET log_min_messages = panic');
    run('SET client_min_messages = error');
    run('DROP TABLE IF EXISTS kept');
    run('CREATE TABLE kept (id ulid, ids ulid[])');
    my ($ulid_oid) = run("SELECT 'ulid'::regtype::oid");
    my ($version) = run('SHOW server_version_num');
    # Any bytes as a text, also what is not valid in the encoding, as damaged files and careless functions give it.
    run('CREATE CAST (bytea AS text) WITHOUT FUNCTION');
    my @functions = run(q{
        SELECT format('SELECT %s(%s)', p.oid::regproc, (SELECT string_agg(format('$%s::%s', n, t::regtype), ', ' ORDER BY n) FROM unnest(p.proargtypes) WITH ORDINALITY AS u (t, n)))
        FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
        WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'ulid') AND pronargs > 0
        AND 'internal'::regtype <> ALL (proargtypes) AND prokind = 'f' ORDER BY 1});
    @functions > 40 or die "functions are missing\n";
    push @functions, map { "SELECT \$1::$_" } qw(ulid ulid[] ulid_window text::ulid varchar::ulid bpchar::ulid bytea::ulid uuid::ulid timestamptz::ulid timestamp::ulid text::ulid[] text::ulid_window);
    push @functions, 'SELECT ($1::kept).id';
    push @functions, map { my $f = $_; $f =~ s/(\$\d)::text/$1::bytea::text/g; $f eq $_ ? () : $f } @functions;
    push @functions, 'SELECT pg_input_is_valid($1::text, $2::text)', "SELECT sql_error_code FROM pg_input_error_info(\$1::text, 'ulid')" if $version >= 160000;

    my $soft = $version >= 170000 ? ', ON_ERROR ignore' : '';
    for my $case (1 .. $cases) {
        run("SET client_encoding = 'UTF8'") if $case == int($cases / 2);  # from here on texts are converted
        my $function = one_of(@functions);
        if ($function =~ /pg_input_is_valid/) {
            expect($function, call($function, [0, some_text()], [0, one_of('ulid', 'ulid[]', 'ulid_window')]));
        } else {
            my %numbers = map { $_ => 1 } $function =~ /\$(\d)/g;
            expect($function, call($function, map { parameter($ulid_oid) } 1 .. keys %numbers));
        }
        if ($case % 4 == 0) {
            my $rows = join '', map { (rand() < 0.5 ? one_of(0 .. 7) . text(25) : some_text()) . (rand() < 0.9 ? "\t" . one_of('\N', '{}', some_text()) : '') . "\n" } 0 .. rand 4;
            expect('COPY', copy('COPY kept FROM STDIN WITH (FORMAT text' . one_of('', $soft) . ')', $rows));
            expect('COPY', copy('COPY kept FROM STDIN WITH (FORMAT csv' . one_of('', $soft) . ')', $rows =~ tr/\t/,/r));
        }
        if ($case % 4 == 1) {
            my $field = sub { my $bytes = one_of(bytes(16), some_binary($ulid_oid)); pack('N', rand() < 0.9 ? length $bytes : one_of(-1, -2, 0, 17, 2**31 - 1)) . $bytes };
            my $rows = join '', map { pack('n', rand() < 0.9 ? 2 : one_of(-1, 0, 1, 3, 32767)) . join '', map { $field->() } 1, 2 } 0 .. rand 4;
            expect('COPY', copy('COPY kept FROM STDIN WITH (FORMAT binary)', damaged("PGCOPY\n\xff\r\n\0" . pack('N2', 0, 0)) . $rows . one_of('', pack 'n', -1)));
        }
        if ($case % 10 == 0) {                   # within the text of a query, as far as a quoted text can be
            my $text = some_text() =~ s/['\0]//gr;
            expect('a literal', query("SET standard_conforming_strings = on; SELECT '$text'::ulid"));
        }
    }
    run('DROP CAST (bytea AS text)');
    # the session, and what it stored, can be used
    run("INSERT INTO kept (id) SELECT gen_ulid() FROM generate_series(1, 100)");
    run('CREATE INDEX ON kept (id)');
    run('SELECT count(*), min(id), max(id) FROM kept');
    return;
}

note("seed $seed");
for my $encoding (sort keys %CHARACTERS) {
    my $database = 'hostile_' . lc $encoding;
    $node->safe_psql('postgres', "CREATE DATABASE $database ENCODING '$encoding' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    $node->safe_psql($database, 'CREATE EXTENSION ulid');
    my $fault = eval { send_hostile_input($encoding); '' } // $@;
    is($fault, '', "$encoding: $cases cases of seed $seed have sensible answers, and the session goes on");
    note("$encoding: ", join ', ', map { "$_ $answers{$_}" } sort keys %answers);
}

#
# Large texts and bytes
#

my $zeros = $ENV{LARGE} ? '00000000' : '0000000';  # a message of 100 MB takes five seconds
$node->safe_psql('hostile_utf8', <<'SQL');
CREATE FUNCTION state(expression text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'SELECT ' || expression;
    RETURN '00000';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;
SQL
my @LARGE = split /\n/, <<'END';
22P02 ulid(repeat('0', 100000000))
22P02 repeat('0', 100000000)::varchar::ulid
22P02 (repeat(' ', 100000000) || '01ARYZ6S41TSV4RRFFQ69G5FAV')::bpchar::ulid
22P02 ulid(repeat('é', 50000000))
22P02 ulid(repeat('01563df3-6481-d676-4c61-efb99302bd5b', 2800000))
00000 ulid_is_valid(repeat('0', 100000000))
22P02 ulid_from_typeid(repeat('a', 100000000))
22P02 ulid_from_typeid(repeat('a', 100000000) || '_01h455vb4pex5vsknk084sn02q')
22P02 typeid_prefix(repeat('_', 100000000))
22023 ulid_from_typeid('a_01h455vb4pex5vsknk084sn02q', repeat('a', 100000000))
22023 ulid_to_typeid(repeat('é', 50000000), gen_ulid())
22P02 ulid_prefix_lower(repeat('0', 100000000))
22P02 ulid_prefix_upper(repeat('é', 50000000))
22P02 ulid_starts_with(gen_ulid(), repeat('0', 100000000))
22P02 id FROM kept WHERE ulid_starts_with(id, repeat('0', 100000000))
22P03 convert_to(repeat('0', 100000000), 'UTF8')::ulid
22P03 ulid_from_parts('2026-01-01', convert_to(repeat('0', 100000000), 'UTF8'))
22P02 ulid_in(repeat('0', 100000000)::cstring)
22P02 repeat('0', 100000000)::ulid[]
22P02 ('{' || repeat('0', 100000000) || '}')::ulid[]
00000 ('{' || repeat('01ARYZ6S41TSV4RRFFQ69G5FAV,', 3700000) || 'NULL}')::ulid[]
22P02 repeat('[', 100000000)::ulid_window
END
for (@LARGE) {
    my ($state, $expression) = /^(\w+) (.*)$/;
    $expression =~ s/0\)/)/g if !$ENV{LARGE};
    is($node->safe_psql('hostile_utf8', "SELECT state(\$\$$expression\$\$)"), $state, "$state for $expression");
}
for my $format (qw(text csv)) {
    my $digits = '0' x "1$zeros";
    my (undef, undef, $error) = $node->psql('hostile_utf8', "\\set VERBOSITY sqlstate\nCOPY kept (id) FROM STDIN (FORMAT $format);\n$digits\n\\.\n");
    like($error, qr/ERROR:  22P02$/m, "22P02 for so many digits by COPY, as $format");
}

#
# Values that are stored compressed and out of line
#

is($node->safe_psql('hostile_utf8', <<'SQL'), <<'END' =~ s/\n\z//r, 'values stored compressed and out of line are those that were stored');
-- Sixty columns, which do not fit a page in line. A TypeID of 90 characters compresses.
SELECT format('CREATE TABLE %s (%s) WITH (toast_tuple_target = 128)', name, string_agg(format('c%s text', n), ', ' ORDER BY n)) FROM unnest('{external,compressed}'::text[]) AS name, generate_series(1, 60) AS n GROUP BY name \gexec
SELECT format('ALTER TABLE external ALTER c%s SET STORAGE EXTERNAL', n) FROM generate_series(1, 60) AS n \gexec
SELECT format('ALTER TABLE compressed ALTER c%s SET COMPRESSION lz4', n) FROM generate_series(2, 60, 2) AS n
WHERE (SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression') \gexec
CREATE TABLE source AS SELECT r, n, gen_ulid() AS id FROM generate_series(1, 100) AS r, generate_series(1, 60) AS n;
SELECT format('INSERT INTO external SELECT %s FROM source GROUP BY r', string_agg(format('max(id::uuid::text) FILTER (WHERE n = %s)', n), ', ' ORDER BY n)) FROM generate_series(1, 60) AS n \gexec
SELECT format('INSERT INTO compressed SELECT %s FROM source GROUP BY r', string_agg(format('max(ulid_to_typeid(repeat(''a'', 63), id)) FILTER (WHERE n = %s)', n), ', ' ORDER BY n)) FROM generate_series(1, 60) AS n \gexec
SELECT pg_relation_size(reltoastrelid) > 100 * 60 * 36 FROM pg_class WHERE oid = 'external'::regclass;
SELECT pg_column_size(c1) < 60 AND pg_column_size(c2) < 70 FROM compressed LIMIT 1;
SELECT format('SELECT count(*) FROM (SELECT %s AS id FROM %s EXCEPT SELECT id FROM source) AS s',
              format(read, 'c' || n), name), format('SELECT count(DISTINCT %s) FROM %s', format(read, 'c' || n), name)
FROM (VALUES ('external', '%s::ulid', 1), ('external', '%s::ulid', 60), ('compressed', 'ulid_from_typeid(%s)', 1), ('compressed', 'ulid_from_typeid(%s, repeat(''a'', 63))', 2)) AS v (name, read, n) \gexec
SELECT count(DISTINCT typeid_prefix(c1)) FROM compressed;
CREATE TABLE many (ids ulid[]);
ALTER TABLE many ALTER ids SET STORAGE EXTERNAL;
INSERT INTO many SELECT array_agg(id ORDER BY id) FROM source GROUP BY r;
INSERT INTO many SELECT array_fill('01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid, '{100000}');
ALTER TABLE many ALTER ids SET STORAGE EXTENDED;
INSERT INTO many SELECT array_fill('01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid, '{100000}');
SELECT count(DISTINCT ids) FROM many;
SELECT count(DISTINCT id), count(*) FILTER (WHERE id = '01ARYZ6S41TSV4RRFFQ69G5FAV') FROM many, unnest(ids) AS id;
SQL
t
t
0
100
0
100
0
100
0
100
1
101
6001|200000
END

#
# Statistics that no ANALYZE would write, as the owner of a table can restore them
#

SKIP: {
    skip('no pg_restore_attribute_stats before PostgreSQL 18', 1) if $major < 18;
    is($node->safe_psql('hostile_utf8', <<'SQL'), 1000, 'estimates with damaged statistics are between 1 and all rows');
CREATE TABLE measured (id ulid);
INSERT INTO measured SELECT gen_ulid() FROM generate_series(1, 1000);
ANALYZE measured;
CREATE INDEX ON measured (id);
DO $$
DECLARE
    damaged record;
    condition text;
    plan json;
BEGIN
    FOR damaged IN SELECT * FROM (VALUES
        (0::real, NULL, NULL, '{01ARYZ6S41TSV4RRFFQ69G5FAV}'),
        (0, NULL, NULL, '{7ZZZZZZZZZZZZZZZZZZZZZZZZZ,01ARYZ6S41TSV4RRFFQ69G5FAV,00000000000000000000000000}'),
        ('NaN', '{01ARYZ6S41TSV4RRFFQ69G5FAV}', '{NaN}', NULL),
        (2, '{01ARYZ6S41TSV4RRFFQ69G5FAV}', '{5}', '{01ARYZ6S41TSV4RRFFQ69G5FAV,01ARYZ6S41TSV4RRFFQ69G5FAV}'),
        (-1, '{01ARYZ6S41TSV4RRFFQ69G5FAV,7ZZZZZZZZZZZZZZZZZZZZZZZZZ}', '{-1,Infinity}', '{00000000000000000000000000,00000000000000000000000000}')
    ) AS v (nulls, common, frequencies, histogram) LOOP
        PERFORM pg_restore_attribute_stats('schemaname', 'public', 'relname', 'measured', 'attname', 'id', 'inherited', false,
            'version', 180000, 'null_frac', damaged.nulls, 'avg_width', 16, 'n_distinct', '-1'::real, 'most_common_vals', damaged.common,
            'most_common_freqs', damaged.frequencies::real[], 'histogram_bounds', damaged.histogram);
        FOREACH condition IN ARRAY ARRAY['id <@ tstzrange(''2016-01-01'', ''2017-01-01'')', 'id <@ tstzrange(NULL, NULL)', 'id <@ ''empty''',
            'id <@ tstzrange(''2016-07-30 23:54:10.259+00'', ''2016-07-30 23:54:10.259+00'', ''[]'')', 'ulid_starts_with(id, ''01'')'] LOOP
            EXECUTE 'EXPLAIN (FORMAT json) SELECT FROM measured WHERE ' || condition INTO plan;
            IF (plan -> 0 -> 'Plan' ->> 'Plan Rows')::float8 NOT BETWEEN 1 AND 1000 THEN
                RAISE 'estimate % of % with %', plan -> 0 -> 'Plan' ->> 'Plan Rows', condition, damaged;
            END IF;
        END LOOP;
    END LOOP;
END $$;
SELECT count(*) FROM measured WHERE id <@ tstzrange('2016-01-01', NULL);
SQL
}

done_testing();
