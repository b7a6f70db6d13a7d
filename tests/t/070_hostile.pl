# Hostile input: random bytes and damaged values, as text and in binary, sent to the input and
# receive functions, to COPY, and to every function of the extension, in databases of three
# encodings; large texts. Every answer must be a result or an error of the kinds below, and the
# session must go on. PostgreSQL's protocol is spoken here, as a driver would refuse most of it.
# CASES (1000 for each encoding) and FUZZ_SEED (1, or any if CASES is set) choose the random part.
use strict;
use warnings FATAL => 'all';
use IO::Socket::UNIX;
use ULID;

my $cases = $ENV{CASES}     || 1000;
my $seed  = $ENV{FUZZ_SEED} || ($ENV{CASES} ? time : 1);
my $node  = new_server('hostile', extension => 0);
my $user  = $node->safe_psql('postgres', 'SELECT current_user');

# What is wrong with the value, its encoding or its message. 55000 and 22004: ordered ids have not
# reached a position, or it is null, which the horizon refuses. The last line: it names no consumer,
# type, function, schema or table.
my %SENSIBLE = map { $_ => 1 } qw(
  08P01 22001 22003 22007 22008 22009 2200H 22015 22021 22023 22026 22P02 22P03 22P04 22P05 2202E
  22000 42804 42846 54000 0A000 55000 22004
  42601 42602 42704 42883 3F000 42P01
);

#
# The protocol
#

my $socket;

sub connect_to
{
    my ($database) = @_;
    $socket = IO::Socket::UNIX->new(Peer => $node->host . '/.s.PGSQL.' . $node->port)
      or die "no connection: $!\n";
    binmode $socket;
    my $body = pack("N", 196608) . join "", map { "$_\0" } user => $user, database => $database, "";
    print $socket pack("N", length($body) + 4) . $body;
    answer();
    return;
}

sub message { my ($type, $body) = @_; print $socket $type . pack('N', length($body) + 4) . $body }

# The answer to what was sent: the SQLSTATE, 00000 without an error, and the values of the first
# column.
sub answer
{
    my ($state, $text, @values) = ('00000', '');
    $socket->flush;
    while (1)
    {
        my ($head, $body) = ('', '');
        read($socket, $head, 5) == 5 or die "the server has ended the session\n";
        my ($type, $length) = unpack 'aN', $head;
        $length == 4
          or read($socket, $body, $length - 4) == $length - 4
          or die "the server has ended the session\n";
        if ($type eq 'E')
        {
            my %field = map { substr($_, 0, 1) => substr($_, 1) } split /\0/, $body;
            ($state, $text) = @field{qw(C M)};
        }
        elsif ($type eq 'D')
        {
            my ($size) = unpack 'x2N', $body;
            push @values, $size == 0xffffffff ? undef : substr $body, 6, $size;
        }
        elsif ($type eq 'G')
        {    # it waits for the rows of COPY
            return ('copy', $text);
        }
        elsif ($type eq 'Z')
        {
            return ($state, $text, @values);
        }
    }
}

sub query { my ($sql) = @_; message('Q', "$sql\0"); return answer() }

# A statement that must work.
sub run
{
    my ($state, $text, @values) = query($_[0]);
    $state eq '00000' or die "$state $text: $_[0]\n";
    return @values;
}

# A statement with parameters, each the format (0 text, 1 binary), the bytes, and the length if that
# is a false one.
sub call
{
    my ($sql, @parameters) = @_;
    message('P', "\0$sql\0" . pack 'n', 0);
    my $body = "\0\0" . pack('n*', scalar @parameters, map { $_->[0] } @parameters) . pack 'n',
      scalar @parameters;
    for (@parameters)
    {
        my ($format, $bytes, $length) = @$_;
        $body .= defined $bytes ? pack('N', $length // length $bytes) . $bytes : pack 'N',
          0xffffffff;
    }
    message('B', $body . pack 'n2', 1, int rand 2);
    message('E', "\0" . pack 'N',   0);
    message('S', '');
    return answer();
}

# COPY of these bytes.
sub copy
{
    my ($sql,   $bytes) = @_;
    my ($state, $text)  = query($sql);
    $state eq 'copy' or return ($state, $text);
    message('d', $bytes);
    message('c', '');
    return answer();
}

# Stop if an answer is not a sensible one.
sub expect
{
    my ($what, $state, $text) = @_;
    $state eq '00000' or $SENSIBLE{$state} or die "$what: $state $text\n";
    return;
}

#
# Values
#

# Characters of the encoding, some of more than one byte.
my %CHARACTERS = (
    UTF8      => [ "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80" ],
    EUC_JP    => [ "\xa4\xa2", "\x8e\xb1",     "\x8f\xb0\xa1" ],
    SQL_ASCII => [ "\xff",     "\xc3\xa9" ]);
my ($ulid_oid, @characters);
my @digits = (0 .. 9, grep { !/[ILOU]/ } 'A' .. 'Z');

sub one_of { return $_[ rand @_ ] }

sub bytes
{
    return join '', map { chr int rand 256 } 1 .. $_[0];
}

sub text
{
    return join '', map { one_of(@digits) } 1 .. $_[0];
}

# Replace, insert or remove some bytes or characters, or leave them all.
sub damaged
{
    my ($value) = @_;
    for (1 .. one_of(0, 0, 1, 1, 2, 3))
    {
        my $at = int rand(1 + length $value);
        substr $value, $at, int(rand 3),
          one_of('', bytes(1), bytes(4), one_of(@characters), one_of(@digits), "\0", '-', '_', ' ',
            'u');
    }
    return $value;
}

# A text as a function might like it, and then damaged.
sub some_text
{
    return damaged(
        one_of(
            one_of(0 .. 7) . text(25),
            lc(one_of(0 .. 7) . text(25)),
            text(int rand 27),
            bytes(int rand 60),
            '',
            one_of(@characters) x 26,
            join('-', map { unpack 'H*', bytes($_) } 4, 2, 2, 2, 6),
            'prefix_' . lc text(26),
            'a' x (60 + rand 6) . '_' . lc(text(26)),
            '2026-01-01 00:00+00',
            'infinity',
            '["2026-01-01","2026-02-01")',
            'empty',
            '{' . text(26) . ',NULL}',
            '-1',
            '9' x 39));
}

# The same in binary: near the right length of a type, or an array of ids or a range of times with
# false lengths.
sub some_binary
{
    my $length  = one_of(16, 16, 16, int rand 40);
    my $element = pack('N', one_of($length, $length, -1, 0x7fffffff, $length + 1)) . bytes($length);
    return damaged(
        one_of(
            bytes(16),
            bytes(16),
            bytes(8),
            bytes(int rand 40),
            '',
            pack('q>', rand 9e18),
            pack('q>', -rand 9e15),
            pack('N5',
                one_of(1,         0, 7, -1),
                one_of(0,         1, 2),
                one_of($ulid_oid, 0, 2950),
                one_of(0,         1, 2**31 - 1),
                one_of(1,         0))
              . $element,
            chr(int rand 256) . pack('Nq>Nq>', 8, rand 9e14, 8, rand 9e14)));
}

# A parameter: its format, its bytes, sometimes with a false length, sometimes null.
sub parameter
{
    my $binary = int rand 2;
    my $bytes  = rand() < 0.02 ? undef : $binary && rand() < 0.8 ? some_binary() : some_text();
    return [ $binary, $bytes,
        defined $bytes
          && rand() < 0.03 ? one_of(0, 1, length($bytes) + 1, 2**31 - 1, 2**31, 2**32 - 2) : () ];
}

#
# Random input
#

# Send it to a database of this encoding.
sub send_hostile_input
{
    my ($encoding) = @_;
    @characters = @{ $CHARACTERS{$encoding} };
    srand $seed;
    connect_to('hostile_' . lc $encoding);

    # The server's log need not have all of this.
    run('SET log_min_messages = panic');
    run('SET client_min_messages = error');
    run('CREATE TABLE kept (id ulid, ids ulid[])');
    ($ulid_oid) = run("SELECT 'ulid'::regtype::oid");

    # Any bytes as a text, also what is not valid in the encoding, as damaged files and careless
    # functions give it.
    run('CREATE CAST (bytea AS text) WITHOUT FUNCTION');
    my @calls = run(
        q{
        SELECT format('SELECT %s(%s)', p.oid::regproc,
            (SELECT string_agg(format('$%s::%s', n, t::regtype), ', ' ORDER BY n)
                      FROM unnest(p.proargtypes) WITH ORDINALITY AS u (t, n)))
        FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
            AND d.deptype = 'e'
        WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'ulid') AND pronargs > 0
        AND 'internal'::regtype <> ALL (proargtypes) AND prokind = 'f'
        AND 'regclass'::regtype <> ALL (proargtypes) ORDER BY 1});
    @calls > 40 or die "functions are missing\n";
    push @calls,
      map { "SELECT \$1::$_" }
      qw(ulid ulid[] ulid_window text::ulid bpchar::ulid bytea::ulid uuid::ulid timestamptz::ulid
          timestamp::ulid);
    push @calls, map { s/(\$\d)::text/$1::bytea::text/gr } grep { /::text/ } @calls;
    push @calls, "SELECT sql_error_code FROM pg_input_error_info(\$1::text, 'ulid')"
      if $major >= 16;
    my $ignore = $major >= 17 ? ', ON_ERROR ignore' : '';
    for my $case (1 .. $cases)
    {
        # from here on texts are converted
        run("SET client_encoding = 'UTF8'") if $case == int($cases / 2);
        my $call    = one_of(@calls);
        my %numbers = map { $_ => 1 } $call =~ /\$(\d)/g;
        expect($call, call($call, map { parameter() } keys %numbers));
        if ($case % 4 == 0)
        {
            my $rows = join '', map {
                (rand() < 0.5 ? one_of(0 .. 7) . text(25) : some_text())
                  . one_of('', "\t\\N", "\t{}", "\t" . some_text()) . "\n"
            } 0 .. rand 4;
            expect('COPY',
                copy('COPY kept FROM STDIN WITH (FORMAT text' . one_of('', $ignore) . ')', $rows));
        }
        elsif ($case % 4 == 1)
        {
            my $field = sub {
                my $bytes = some_binary();
                pack('N', rand() < 0.9 ? length $bytes : one_of(-1, -2, 0, 17, 2**31 - 1)) . $bytes;
            };
            my $rows = join '', map {
                    pack('n', rand() < 0.9 ? 2 : one_of(-1, 0, 3, 32767))
                  . $field->()
                  . $field->()
            } 0 .. rand 4;
            expect(
                'COPY',
                copy(
                    'COPY kept FROM STDIN WITH (FORMAT binary)',
                    damaged("PGCOPY\n\xff\r\n\0" . pack('N2', 0, 0)) . $rows));
        }
    }

    # the session, and what it stored, can be used
    run('CREATE INDEX ON kept (id)');
    run('SELECT count(*), min(id), max(id) FROM kept');
    return;
}

for my $encoding (sort keys %CHARACTERS)
{
    my $database = 'hostile_' . lc $encoding;
    $node->safe_psql('postgres',
        "CREATE DATABASE $database ENCODING '$encoding' LC_COLLATE 'C' LC_CTYPE 'C'
            TEMPLATE template0"
    );
    $node->safe_psql($database, 'CREATE EXTENSION ulid');
    my $fault = eval { send_hostile_input($encoding); '' } // $@;
    is($fault, '',
        "$encoding: $cases cases of seed $seed have sensible answers, and the session goes on");
}

#
# Texts of 10 MB, which a message must not repeat
#

my $digits = q{repeat('0', 10000000)};
for my $expression (
    "$digits\::ulid",                        "repeat('é', 5000000)::ulid",
    "$digits\::ulid[]",                      "ulid_from_typeid(repeat('a', 10000000))",
    "typeid_prefix(repeat('_', 10000000))",  "ulid_prefix_lower($digits)",
    "ulid_starts_with(gen_ulid(), $digits)", "ulid_in($digits\::cstring)")
{
    my (undef, undef, $error) =
      $node->psql('hostile_utf8', "\\set VERBOSITY sqlstate\nSELECT $expression");
    is($error, 'psql:<stdin>:2: ERROR:  22P02', "$expression is refused");
}

done_testing();
