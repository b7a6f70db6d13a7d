-- 100,000 random ids of each layout: times, order, the way back, and what the query finds
\set rows 100000
\set query `sed '/^[-\\]/d; s/([:]id)/(id)/; s/([:]made)/(made)/; s/[:]from/product/' docs/migrating/which_ids.sql`
SET client_min_messages = warning;
CREATE TABLE sample AS
SELECT made, floor(extract(epoch FROM made) * 1000)::bigint AS ms,
    us, us * 10 + 122192928000000000 AS v1, us % 1000000 * 16777216 / 1000000 AS part,
    uuid_of((us / 10)::bit(48) || B'0100' || substring(r, 53, 12) || B'10' || substring(r, 67))
        AS ordered, B'10' || substring(r, 67) AS rest, (random() * 2 ^ 30)::bigint AS low
FROM (
    SELECT made, (extract(epoch FROM made) * 1000000)::bigint AS us, bits_of(gen_random_uuid()) AS r
    FROM (
        SELECT timestamptz '2021-01-01Z' + (random() * 150000000000)::bigint * interval '1 ms'
            + (1 + random() * 998)::integer * interval '1 us' AS made
        FROM generate_series(1, :rows)
    ) AS t
) AS s;
CREATE FUNCTION mixed(id uuid) RETURNS uuid LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    b bytea := uuid_send(id);
BEGIN
    FOR n IN 0 .. 7 LOOP
        b := set_byte(b, n, get_byte(uuid_send(id), ('{3,2,1,0,5,4,7,6}'::integer[])[n + 1]));
    END LOOP;
    RETURN encode(b, 'hex');
END $$;

CREATE TABLE found (
    layout text, form text, rows bigint, sure text, last timestamptz
);
CREATE PROCEDURE finds(query text, layout text, form text, sure text) LANGUAGE plpgsql AS $$
DECLARE
    best found;
BEGIN
    EXECUTE 'INSERT INTO found ' || query;
    SELECT f.* INTO best FROM found AS f ORDER BY rows DESC, f.layout <> finds.layout LIMIT 1;
    -- what else is found is chance, or has other times
    IF (best.layout, best.form, best.sure) IS DISTINCT FROM (layout, form, sure) OR EXISTS (
        SELECT FROM found AS f WHERE f.layout <> finds.layout AND f.sure ~ '^yes' AND rows > 20)
    THEN
        RAISE EXCEPTION '% % %: found %', layout, form, sure, (SELECT json_agg(f) FROM found AS f);
    END IF;
    TRUNCATE found;
END $$;

-- from the id of a sample, its conversion and the way back; ms is exact by the unit
CREATE TABLE layout (
    layout text, form text, id text, convert text, back text, unit integer, sorts boolean
);
INSERT INTO layout VALUES
    ('ULID', 'uuid', 'gen_ulid(made)::uuid', 'id::ulid', 'ulid::uuid', 1, true),
    ('UUID version 7', 'uuid', 'gen_uuid_v7(made)', 'id::ulid', 'ulid::uuid', 1, true),
    ('UUID version 1', 'uuid',
        'uuid_of(v1::bit(32) || (v1 >> 32)::bit(16) || B''0001'' || (v1 >> 48)::bit(12) || rest)',
        'ulid_from_uuid_v1(id)', 'ulid_to_uuid_v1(ulid)', 1, false),
    ('UUID version 6', 'uuid', 'uuid_of((v1 >> 12)::bit(48) || B''0110'' || v1::bit(12) || rest)',
        'ulid_from_uuid_v6(id)', 'ulid_to_uuid_v6(ulid)', 1, true),
    ('UUID version 7, early draft', 'uuid',
        'uuid_of((us / 1000000)::bit(36) || (part >> 12)::bit(12) || B''0111'' || part::bit(12)
            || rest)',
        'from_draft_v7(id)', 'to_draft_v7(ulid)', 1, true),
    ('UUID version 7, in seconds', 'uuid',
        'uuid_of((ms / 1000)::bit(48) || B''0111'' || substring(bits_of(gen_random_uuid()), 53, 12)
            || rest)',
        'from_seconds_v7(id)', 'to_seconds_v7(ulid)', 1000, true),
    ('UUID version 7, first bit inverted', 'uuid', 'invert_first_bit(gen_uuid_v7(made))',
        'invert_first_bit(id)::ulid', 'invert_first_bit(ulid::uuid)', 1, true),
    ('orderedUuid of Laravel', 'uuid', 'ordered', 'from_ordered_uuid(id)',
        -- all but the last bit
        '(SELECT uuid_of(
            (ulid_extract_unix_ms(ulid) * 100 + substring(b, 49, 7)::integer)::bit(48) || B''0100''
            || substring(b, 56, 12) || B''10'' || substring(b, 68) || substring(bits_of(id), 128))
        FROM bits_of(ulid::uuid) AS b)', 1, true),
    ('ULID, mixed byte order', 'uuid', 'mixed(gen_ulid(made)::uuid)', 'swap_guid(id)::ulid',
        'swap_guid(ulid::uuid)', 1, false),
    ('UUID version 7, mixed byte order', 'uuid', 'mixed(gen_uuid_v7(made))', 'swap_guid(id)::ulid',
        'swap_guid(ulid::uuid)', 1, false),
    ('snowflake of Twitter', 'bigint', 'ms - 1288834974657 << 22 | (low & 4194303)',
        'ulid_from_snowflake(id)', 'ulid_to_snowflake(ulid)', 1, true),
    ('snowflake of Discord', 'bigint', 'ms - 1420070400000 << 22 | (low & 4194303)',
        'ulid_from_snowflake(id, ''2015-01-01Z'')', 'ulid_to_snowflake(ulid, ''2015-01-01Z'')',
        1, true),
    ('Mastodon', 'bigint', 'ms << 16 | (low & 65535)', 'ulid_from_bigint(id, 16, 0)',
        'ulid_to_bigint(ulid, 16, 0)', 1, true),
    ('Instagram', 'bigint', 'ms - 1314220021721 << 23 | (low & 8388607)',
        'ulid_from_bigint(id, 23, 1314220021721)', 'ulid_to_bigint(ulid, 23, 1314220021721)',
        1, true),
    ('TSID', 'bigint', 'ms - 1577836800000 << 22 | (low & 4194303)',
        'ulid_from_snowflake(id, ''2020-01-01Z'')', 'ulid_to_snowflake(ulid, ''2020-01-01Z'')',
        1, true),
    ('Sonyflake 1', 'bigint', '(ms - 1409529600000) / 10 << 24 | (low & 16777215)',
        'ulid_from_bigint(id, 24, 1409529600000, 10)',
        'ulid_to_bigint(ulid, 24, 1409529600000, 10)', 10, true),
    ('Sonyflake 2', 'bigint',
        'CASE WHEN ms > 1735690000000
            THEN (ms - 1735689600000) / 10 << 24 | (low & 16777215) END',
        'ulid_from_bigint(id, 24, 1735689600000, 10)',
        'ulid_to_bigint(ulid, 24, 1735689600000, 10)', 10, true),
    ('milliseconds since the year 1', 'uuid',
        'uuid_of((ms + 62135596800000)::bit(48) || substring(bits_of(md5(low::text)::uuid), 49))',
        'from_year_1(id)', 'to_year_1(ulid)', 1, true),
    ('ULID', 'Crockford', 'lower(gen_ulid(made)::text) COLLATE "C"', 'id::ulid',
        'lower(ulid::text)', 1, true),
    ('ULID', 'Crockford, left-aligned',
        format('lower(uuid_to_digits(gen_ulid(made)::uuid, %L, 26, 4)) COLLATE "C"', :'crockford'),
        format('uuid_from_digits(upper(id), %L, 4)::ulid', :'crockford'),
        format('lower(uuid_to_digits(ulid::uuid, %L, 26, 4))', :'crockford'), 1, true),
    ('ULID', 'prefix, Crockford', '(''pgla_'' || gen_ulid(made)::text) COLLATE "C"',
        'substring(id FROM ''[^_]*$'')::ulid', '''pgla_'' || ulid::text', 1, true),
    ('UUID version 7', 'prefix, uuid', '(''a_user_'' || gen_uuid_v7(made)::text) COLLATE "C"',
        'substring(id FROM ''[^_]*$'')::ulid', '''a_user_'' || ulid::uuid', 1, true),
    ('UUID version 7', 'base32hex',
        format('uuid_to_digits(gen_uuid_v7(made), %L, 26, 4) COLLATE "C"', :'base32hex'),
        format('uuid_from_digits(id, %L, 4)::ulid', :'base32hex'),
        format('uuid_to_digits(ulid::uuid, %L, 26, 4)', :'base32hex'), 1, true),
    ('UUID version 7', 'base32hex',
        format('lower(uuid_to_digits(gen_uuid_v7(made), %L, 26, 4)) || ''======'' COLLATE "C"',
            :'base32hex'),
        format('uuid_from_digits(upper(rtrim(id, ''='')), %L, 4)::ulid', :'base32hex'),
        format('lower(uuid_to_digits(ulid::uuid, %L, 26, 4)) || ''======''', :'base32hex'),
        1, true),
    ('ULID', 'base58',
        format('uuid_to_digits(gen_ulid(made)::uuid, %L, 22) COLLATE "C"', :'base58'),
        format('uuid_from_digits(id, %L)::ulid', :'base58'),
        format('uuid_to_digits(ulid::uuid, %L, 22)', :'base58'), 1, true),
    ('UUID version 7', 'base58',
        format('uuid_to_digits(gen_uuid_v7(made), %L, 0) COLLATE "C"', :'base58'),
        format('uuid_from_digits(id, %L)::ulid', :'base58'),
        format('uuid_to_digits(ulid::uuid, %L, 0)', :'base58'), 1, true);

CREATE PROCEDURE holds(query text) LANGUAGE plpgsql AS $$
DECLARE
    l layout;
    broken record;
BEGIN
    FOR l IN SELECT * FROM layout LOOP
        EXECUTE format('
            CREATE TABLE ids AS SELECT made, ms / %2$s * %2$s AS ms, %1$s AS id FROM sample',
            l.id, l.unit);
        EXECUTE format('
            SELECT count(*) FILTER (WHERE back IS DISTINCT FROM id) AS other_id,
                count(*) FILTER (WHERE ulid_extract_unix_ms(ulid) <> ms) AS other_time,
                count(*) FILTER (WHERE %L AND ulid < last) AS other_order,
                count(DISTINCT id) - count(DISTINCT ulid) AS merged
            FROM (SELECT *, lag(ulid) OVER (ORDER BY id) AS last
                  FROM (SELECT *, %s AS back FROM (SELECT *, %s AS ulid FROM ids) AS c) AS b) AS s',
            l.sorts, l.back, l.convert) INTO broken;
        IF (broken.other_id, broken.other_time, broken.other_order, broken.merged) <> (0, 0, 0, 0)
        THEN
            RAISE EXCEPTION '%: %', l.convert, broken;
        END IF;
        DROP TABLE product;
        CREATE TABLE product AS SELECT id, made FROM ids WHERE id IS NOT NULL LIMIT 2000;
        DROP TABLE ids;
        CALL finds(query, l.layout, l.form, 'yes: the times of the rows');
        IF l.form <> 'bigint' THEN
            UPDATE product SET made = NULL;
            CALL finds(query, l.layout, l.form, 'yes');
        END IF;
    END LOOP;
END $$;
CALL holds(:'query');
DROP TABLE product;
CREATE TABLE product AS
SELECT uuid_send(gen_random_uuid()) AS id, NULL::timestamptz AS made FROM sample LIMIT 2000;
CALL finds(:'query', 'UUID version 4', 'uuid', 'yes');
-- aligned to the left, the first of its 26 digits can be each of 32
DROP TABLE product;
CREATE TABLE product AS
SELECT uuid_to_digits(gen_random_uuid(), :'crockford', 26, 4) AS id, NULL::timestamptz AS made
FROM sample LIMIT 2000;
CALL finds(:'query', 'UUID version 4', 'Crockford, left-aligned', 'yes');

-- 2,000 ids of each layout that the query does not know: chance must not look like one that it does
CREATE TABLE alphabet (name text, digits text);
INSERT INTO alphabet VALUES ('base58', :'base58'), ('crockford', :'crockford'),
    ('flickr', '123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ'),
    ('base57', '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'),
    ('base62', '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'),
    ('base64', '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz'),
    ('base32', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'), ('decimal', '0123456789'),
    ('base36', '0123456789abcdefghijklmnopqrstuvwxyz');
CREATE FUNCTION written(id uuid, name text, size integer) RETURNS text LANGUAGE sql STABLE
    RETURN (SELECT uuid_to_digits(id, digits, size) FROM alphabet AS a WHERE a.name = written.name);
CREATE FUNCTION any_of(name text, size integer) RETURNS text LANGUAGE sql VOLATILE RETURN (
    SELECT string_agg(substr(digits, 1 + floor(random() * length(digits))::integer, 1), '')
    FROM alphabet AS a, generate_series(1, size) WHERE a.name = any_of.name);
CREATE FUNCTION reversed(id uuid) RETURNS uuid LANGUAGE sql IMMUTABLE RETURN uuid_of((
    SELECT string_agg(substring(bits_of(id), i, 8)::text, '' ORDER BY i DESC)
    FROM generate_series(1, 121, 8) AS i)::bit(128));
CREATE TABLE unknown_layout (layout text, id text);
INSERT INTO unknown_layout VALUES
    ('version 1, swapped by MySQL',
        'uuid_of(B''0001'' || (v1 >> 48)::bit(12) || (v1 >> 32)::bit(16) || v1::bit(32) || rest)'),
    ('version 1, mixed byte order',
        'mixed(uuid_of(v1::bit(32) || (v1 >> 32)::bit(16) || B''0001'' || (v1 >> 48)::bit(12)
            || rest))'),
    ('ticks since the year 1',
        'uuid_of((us * 10 + 621355968000000000)::bit(64) || substring(bits_of(r), 65))'),
    ('time in the last 48 bits', 'uuid_of(substring(bits_of(r), 1, 80) || ms::bit(48))'),
    ('seconds in the first 32 bits', 'uuid_of((ms / 1000)::bit(32) || substring(bits_of(r), 33))'),
    ('random bits', 'r'),
    ('version 4, a counter in its second half',
        'uuid_of(substring(bits_of(v4), 1, 64) || n::bit(16) || (us * 10)::bit(48))'),
    ('version 7, all bytes reversed', 'reversed(gen_uuid_v7(made))'),
    ('version 8',
        'uuid_of(substring(bits_of(v4), 1, 48) || B''1000'' || substring(bits_of(v4), 53))'),
    ('version 4 in the alphabet of Flickr', 'written(v4, ''flickr'', 22)'),
    ('version 7 in the alphabet of Flickr', 'written(gen_uuid_v7(made), ''flickr'', 0)'),
    ('version 4 in base57', 'written(v4, ''base57'', 22)'),
    ('version 4 in base62', 'written(v4, ''base62'', 22)'),
    ('version 7 in base62', 'written(gen_uuid_v7(made), ''base62'', 22)'),
    ('version 4 in base64url',
        'translate(rtrim(encode(uuid_send(v4), ''base64''), ''=''), ''+/'', ''-_'')'),
    ('version 7 in base32', 'written(gen_uuid_v7(made), ''base32'', 26)'),
    ('NanoID', 'any_of(''base64'', 21)'),
    ('22 of 62 characters', 'any_of(''base62'', 22)'),
    ('21 of 58 characters', 'any_of(''base58'', 21)'),
    ('22 of 58 characters', 'any_of(''base58'', 22)'),
    ('26 of 36 characters', 'any_of(''base36'', 26)'),
    ('26 of 32 characters', 'any_of(''crockford'', 26)'),
    ('26 decimal digits', 'any_of(''decimal'', 26)'),
    ('a decimal time in 26 digits',
        'to_char(made, ''YYYYMMDDHH24MISSUS'') || any_of(''decimal'', 6)'),
    ('25 of 32 characters behind a zero', '''0'' || any_of(''crockford'', 25)'),
    ('milliseconds in 6 bytes, the least one first',
        'uuid_of(substring(bits_of(reversed(uuid_of(0::bit(80) || ms::bit(48)))), 1, 48)
            || substring(bits_of(r), 49))'),
    ('27 of 62 characters', 'any_of(''base62'', 27)'),
    ('43 of 64 characters', 'any_of(''base64'', 43)'),
    ('32 hexadecimal digits behind a prefix', '''key_'' || replace(r::text, ''-'', '''')'),
    ('an integer', '(random() * 9000000000000000000)::bigint');
CREATE PROCEDURE finds_none(query text) LANGUAGE plpgsql AS $$
DECLARE
    u unknown_layout;
BEGIN
    FOR u IN SELECT * FROM unknown_layout LOOP
        DROP TABLE product;
        EXECUTE format('
            CREATE TABLE product AS SELECT %s AS id, CASE WHEN null THEN made END AS made
            FROM (SELECT *, row_number() OVER () AS n, gen_random_uuid() AS v4,
                    md5(random()::text || us)::uuid AS r FROM sample LIMIT 2000) AS s', u.id);
        EXECUTE 'INSERT INTO found ' || query;
        IF EXISTS (SELECT FROM found WHERE sure ~ '^yes') THEN
            RAISE EXCEPTION '%: found %', u.layout, (SELECT json_agg(f) FROM found AS f);
        END IF;
        TRUNCATE found;
    END LOOP;
END $$;
CALL finds_none(:'query');

-- what the digits of an alphabet refuse
CREATE PROCEDURE refuses(digits text, alphabet text, times integer, state text)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM uuid_from_digits(digits, alphabet, times);
    RAISE EXCEPTION '"%" is accepted', digits;
EXCEPTION WHEN invalid_text_representation OR numeric_value_out_of_range THEN
    IF SQLSTATE <> state THEN RAISE; END IF;
END $$;
CALL refuses('28V4APV8JC9D792M89J185Q00W', :'base32hex', 4, '22P02');
CALL refuses('28V4APV8JC9D792M89J185Q001', :'base32hex', 4, '22003');
CALL refuses('28V4APV8JC9D792M89J185Q0000', :'base32hex', 4, '22003');
CALL refuses('28V4APV8JC9D792M89J185Q0', :'base32hex', 4, '22003');
CALL refuses('', :'base58', 1, '22003');
CALL refuses('zzzzzzzzzzzzzzzzzzzzzz', :'base58', 1, '22003');
CALL refuses('1BKocMc5BnrVcuq2ti4EqO', :'base58', 1, '22P02');

-- a column of another type than the conversion takes
DO $$ BEGIN
    ASSERT (SELECT bool_and(swap_guid(text::ulid::uuid) = swap_guid(id))
        FROM sample, mixed(ordered) AS id, LATERAL (VALUES (upper(id::text)), (format('{%s}', id)),
            (replace(id::text, '-', ''))) AS v (text));
    ASSERT (SELECT bool_and(swap_guid(uuid_send(ordered)::ulid::uuid) = swap_guid(ordered))
        FROM sample);
    ASSERT from_object_id(decode('507f1f77bcf86cd799439011', 'hex'))
        = ulid_from_parts('2012-10-17 21:13:27Z', '\xbcf86cd7994390110000'::bytea);
END $$;

-- the text of a TSID
DO $$ BEGIN
    ASSERT ulid_to_snowflake(from_tsid('0AWE5HZP3SKTK'), '2020-01-01Z') = 392311864492347219;
    ASSERT (SELECT bool_and(to_tsid(from_tsid(text)) = text AND from_tsid(lower(text)) = ulid)
        FROM (SELECT ulid_from_snowflake((ms - 1577836800000) << 22 | (low & 4194303),
                  '2020-01-01Z') AS ulid FROM sample) AS s, to_tsid(ulid) AS text);
END $$;

-- what cannot have the layout that a conversion expects
CREATE PROCEDURE refuses_id(call text, state text) LANGUAGE plpgsql AS $$
DECLARE
    got text;
BEGIN
    EXECUTE 'SELECT ' || call INTO got;
    RAISE EXCEPTION '% is %', call, got;
EXCEPTION WHEN OTHERS THEN
    IF SQLSTATE <> state THEN RAISE; END IF;
END $$;
CALL refuses_id('from_draft_v7(gen_random_uuid())', '22023');
CALL refuses_id('from_draft_v7(gen_uuid_v7())', '22023');
CALL refuses_id('from_seconds_v7(gen_uuid_v7())', '22023');
CALL refuses_id('from_ordered_uuid(gen_uuid_v7())', '22023');
CALL refuses_id('from_ordered_uuid(''01563df3-6481-4676-8c61-efb99302bd5b'')', '22023');
CALL refuses_id('from_year_1(gen_uuid_v7())', '22023');
CALL refuses_id('from_object_id(decode(repeat(''6a'', 16), ''hex''))', '22P03');
CALL refuses_id('from_object_id(decode(repeat(''6a'', 11), ''hex''))', '22P03');
CALL refuses_id('ulid_from_snowflake(1, ''1900-01-01Z'')', '22008');
CALL refuses_id('from_tsid(''8AWE5HZP3SKTK'')', '22P02');
CALL refuses_id('from_tsid(''0AWE5HZP3SKT'')', '22P02');
CALL refuses_id('from_tsid(''0AWE5HZP3SKTU'')', '22P02');

-- an id with leading zero bytes, without padding
DO $$ BEGIN
    ASSERT (SELECT bool_and(uuid_from_digits(text, digits) = id AND length(text) = size)
        FROM alphabet, LATERAL (VALUES ('00000000-0000-0000-0000-000000000000'::uuid, 16),
            ('0000ffff-ffff-ffff-ffff-ffffffffffff', 22),
            ('01ffffff-ffff-ffff-ffff-ffffffffffff', 21)
        ) AS v (id, size), uuid_to_digits(id, digits, 0) AS text WHERE name = 'base58');
END $$;

-- the ids of the report about the draft
DO $$ BEGIN
    ASSERT (SELECT count(*) = 4 AND bool_and(in_order)
            FROM (SELECT ulid > lag(ulid) OVER (ORDER BY id) IS NOT FALSE AS in_order
                  FROM (SELECT id, from_draft_v7(id) AS ulid FROM unnest(ARRAY[
                    '061cb26a-54b8-7a52-8000-2124e7041024', '061cb8fe-0f0b-7c39-8003-d44a7ee0bdf6',
                    '061cb8fe-0f0b-7c39-8004-0489578299f6', '061cb8fe-0f0f-7df2-8000-afd57c2bf446'
                  ]::uuid[]) AS id) AS c) AS s);
END $$;
