# The conformance vectors, through COPY: values, texts to be accepted, texts to be rejected with their SQLSTATE.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ULID;

my $node = new_server('vectors');
my $sql = sub { return $node->safe_psql('postgres', @_) };

my %columns = (
    valid => 'id ulid, bytes uuid, ms bigint',
    lenient => 'input text, canonical text',
    invalid => 'input text, fault text, at text',
    uuid_v1_v6 => 'v1 uuid, v6 uuid, ticks bigint, clock_seq int, node text, ms bigint, id ulid',
    uuid_v7 => 'id ulid, v7 uuid',
    typeid => 'typeid text, prefix text, uuid uuid',
    typeid_invalid => 'input text, fault text',
    snowflake => 'snowflake bigint, epoch_ms bigint, ms bigint, datacenter int, worker int, sequence int, id ulid',
);
for my $name (sort keys %columns) {
    my $rows = slurp_file("$root/core/tests/data/$name.tsv");
    $rows =~ s/^#.*\n//mg;
    $rows =~ s/\\u00e9/\xc3\xa9/g;
    $sql->("CREATE TABLE $name ($columns{$name});\nCOPY $name FROM STDIN;\n$rows\\.\n");
    is($sql->("SELECT count(*) FROM $name"), $rows =~ tr/\n//, "every row of $name.tsv is read");
}

is($sql->('SELECT count(*) > 100 AND bool_and(id = bytes AND bytes::ulid::text = id::text AND ulid_extract_unix_ms(id) = ms) FROM valid'),
    't', 'texts have the bytes and the milliseconds of the vectors');
is($sql->('SELECT bool_and(input::ulid::text = canonical AND ulid_is_valid(input)) FROM lenient'), 't', 'lenient texts are read');
is($sql->(q{SELECT bool_and(ulid_from_uuid_v1(v1) = id AND ulid_from_uuid_v6(v6) = id AND ulid_to_uuid_v1(id) = v1
    AND ulid_to_uuid_v6(id) = v6 AND ulid_extract_unix_ms(id) = ms) FROM uuid_v1_v6}), 't', 'UUIDs of versions 1 and 6 are converted, and back');
is($sql->('SELECT bool_and(ulid_to_uuid_v7(id) = v7) FROM uuid_v7'), 't', 'UUIDs of version 7 are made');
is($sql->(q{SELECT bool_and(ulid_from_snowflake(snowflake, epoch) = id AND ulid_to_snowflake(id, epoch) = snowflake
        AND parts = (id::timestamptz, datacenter, worker, sequence) AND ulid_extract_unix_ms(id) = ms)
    FROM (SELECT *, 'epoch'::timestamptz + epoch_ms / 1000 * interval '1 second' + epoch_ms % 1000 * interval '1 millisecond' AS epoch,
        ulid_snowflake_parts(id) AS parts FROM snowflake) AS s}), 't', 'snowflakes are converted, and back, and have their parts');
is($sql->(q{SELECT count(*) > 60 AND bool_and(ulid_from_typeid(typeid) = uuid AND ulid_from_typeid(typeid, prefix) = uuid
    AND typeid_prefix(typeid) = prefix AND ulid_to_typeid(prefix, uuid) = typeid) FROM typeid}), 't', 'TypeIDs are read and made');
is($sql->(<<'SQL'), 't', 'TypeIDs that are none are rejected for the reason of the vectors');
CREATE FUNCTION typeid_fault(input text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
BEGIN
    PERFORM ulid_from_typeid(input);
    RETURN 'none';
EXCEPTION WHEN numeric_value_out_of_range THEN
    RETURN 'overflow';
WHEN invalid_text_representation THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN CASE WHEN detail ~ '^Without a prefix' THEN 'separator' WHEN detail ~ '^The suffix has' THEN 'length'
                WHEN detail ~ 'alphabet' THEN 'suffix' WHEN detail ~ 'prefix|underscore' THEN 'prefix'
                ELSE 'other: ' || detail END;
END $$;
SELECT count(*) > 40 AND bool_and(typeid_fault(input) = fault) FROM typeid_invalid;
SQL
$sql->(<<'SQL');
CREATE FUNCTION fault(input text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
BEGIN
    PERFORM input::ulid;
    RETURN 'none';
EXCEPTION WHEN numeric_value_out_of_range THEN
    RETURN 'overflow 1';
WHEN invalid_text_representation THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN coalesce('character ' || substring(detail FROM 'at position (\d+) is not'), 'length ');
END $$;
SQL
is($sql->('SELECT count(*) > 25, count(*) FILTER (WHERE ulid_is_valid(input)) FROM invalid'), 't|0', 'ulid_is_valid finds no invalid text valid');
is($sql->(q{SELECT input, fault, at, fault(input) FROM invalid WHERE fault(input) <> fault || ' ' || at AND fault <> 'any' OR fault(input) = 'none'}), '',
    'invalid texts are rejected for the reason, and at the position, of the vectors');

done_testing();
