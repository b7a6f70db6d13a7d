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
    ('Sonyflake', 'bigint', '(ms - 1409529600000) / 10 << 24 | (low & 16777215)',
        'ulid_from_bigint(id, 24, 1409529600000, 10)',
        'ulid_to_bigint(ulid, 24, 1409529600000, 10)', 10, true),
    ('ULID', 'Crockford', 'lower(gen_ulid(made)::text) COLLATE "C"', 'id::ulid',
        'lower(ulid::text)', 1, true),
    ('ULID', 'Crockford, left-aligned',
        format('uuid_to_digits(gen_ulid(made)::uuid, %L, 26, 4) COLLATE "C"', :'crockford'),
        format('uuid_from_digits(id, %L, 4)::ulid', :'crockford'),
        format('uuid_to_digits(ulid::uuid, %L, 26, 4)', :'crockford'), 1, true),
    ('ULID', 'prefix, Crockford', '(''pgla_'' || gen_ulid(made)::text) COLLATE "C"',
        'right(id, 26)::ulid', '''pgla_'' || ulid::text', 1, true),
    ('UUID version 7', 'prefix, uuid', '(''a_user_'' || gen_uuid_v7(made)::text) COLLATE "C"',
        'right(id, 36)::ulid', '''a_user_'' || ulid::uuid', 1, true),
    ('UUID version 7', 'base32hex',
        format('uuid_to_digits(gen_uuid_v7(made), %L, 26, 4) COLLATE "C"', :'base32hex'),
        format('uuid_from_digits(id, %L, 4)::ulid', :'base32hex'),
        format('uuid_to_digits(ulid::uuid, %L, 26, 4)', :'base32hex'), 1, true),
    ('ULID', 'base58',
        format('uuid_to_digits(gen_ulid(made)::uuid, %L, 22) COLLATE "C"', :'base58'),
        format('uuid_from_digits(id, %L)::ulid', :'base58'),
        format('uuid_to_digits(ulid::uuid, %L, 22)', :'base58'), 1, true);

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
        CREATE TABLE product AS SELECT id, made FROM ids LIMIT 2000;
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
CALL refuses('zzzzzzzzzzzzzzzzzzzzzz', :'base58', 1, '22003');
CALL refuses('1BKocMc5BnrVcuq2ti4EqO', :'base58', 1, '22P02');

-- the ids of the report about the draft
DO $$ BEGIN
    ASSERT (SELECT count(*) = 4 AND bool_and(in_order)
            FROM (SELECT ulid > lag(ulid) OVER (ORDER BY id) IS NOT FALSE AS in_order
                  FROM (SELECT id, from_draft_v7(id) AS ulid FROM unnest(ARRAY[
                    '061cb26a-54b8-7a52-8000-2124e7041024', '061cb8fe-0f0b-7c39-8003-d44a7ee0bdf6',
                    '061cb8fe-0f0b-7c39-8004-0489578299f6', '061cb8fe-0f0f-7df2-8000-afd57c2bf446'
                  ]::uuid[]) AS id) AS c) AS s);
END $$;
