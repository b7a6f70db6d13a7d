-- Functions that convert ids of other layouts to ulids, and back: see other_ids.md. Run this file
-- where you convert a column, and drop afterwards the functions that no view or program needs.

CREATE FUNCTION bits_of(id uuid) RETURNS bit varying LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ('x' || replace(id::text, '-', ''))::bit(128);
CREATE FUNCTION uuid_of(b bit varying) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (lpad(to_hex(substring(b, 1, 64)::bit(64)::bigint), 16, '0')
        || lpad(to_hex(substring(b, 65, 64)::bit(64)::bigint), 16, '0'))::uuid;

-- GUIDs with mixed byte order: the function is its own inverse.
CREATE FUNCTION swap_guid(id uuid) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN
    regexp_replace(id::text, '^(..)(..)(..)(..)-(..)(..)-(..)(..)', '\4\3\2\1-\6\5-\8\7')::uuid;

-- What the conversions below call for an id that cannot have their layout.
CREATE FUNCTION must_be(layout text, id uuid, is_so boolean) RETURNS void
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
    IF NOT is_so THEN
        RAISE invalid_parameter_value
            USING MESSAGE = format('"%s" is not of the layout: %s', id, layout);
    END IF;
END $$;

-- The early draft of version 7, from 2020 on: 36 bits of seconds, 24 bits of their fraction. These
-- conversions, and the next two, keep all bits and the order.
CREATE FUNCTION from_draft_v7(id uuid) RETURNS ulid LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    b bit(128) := bits_of(id);
    seconds bigint := substring(b, 1, 36)::bigint;
    fraction bigint := (substring(b, 37, 12) || substring(b, 53, 12))::bit(24)::bigint;
    ms bigint := fraction * 1000 >> 24;
BEGIN
    PERFORM must_be('UUID version 7 of the early draft', id,
        id::text ~ '^.{14}7.{4}[89ab]' AND seconds >= 1577836800);
    RETURN uuid_of((seconds * 1000 + ms)::bit(48) || (fraction - ((ms << 24) + 999) / 1000)::bit(15)
        || substring(b, 67, 62) || B'000');
END $$;
CREATE FUNCTION to_draft_v7(id ulid) RETURNS uuid LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    b bit(128) := bits_of(id::uuid);
    t bigint := substring(b, 1, 48)::bigint;
    fraction bigint := ((t % 1000 << 24) + 999) / 1000 + substring(b, 49, 15)::bigint;
BEGIN
    RETURN uuid_of((t / 1000)::bit(36) || (fraction >> 12)::bit(12) || B'0111' || fraction::bit(12)
        || B'10' || substring(b, 64, 62));
END $$;

-- Version 7 with seconds in place of milliseconds, or with an inverted first bit.
CREATE FUNCTION from_seconds_v7(id uuid) RETURNS ulid LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    b bit(128) := bits_of(id);
    seconds bigint := substring(b, 1, 48)::bigint;
BEGIN
    PERFORM must_be('UUID version 7 in seconds', id,
        id::text ~ '^.{14}7.{4}[89ab]' AND seconds < 2 ^ 38);
    RETURN uuid_of((seconds * 1000)::bit(48) || substring(b, 49));
END $$;
CREATE FUNCTION to_seconds_v7(id ulid) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT RETURN uuid_of(
    (ulid_extract_unix_ms(id) / 1000)::bit(48) || substring(bits_of(id::uuid), 49));
CREATE FUNCTION invert_first_bit(id uuid) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT
    RETURN uuid_of(set_bit(bits_of(id)::bit(128), 0, 1 - get_bit(bits_of(id)::bit(128), 0)));

-- Milliseconds since the year 1 in place of 1970, as ABP and other programs of .NET write them.
CREATE FUNCTION from_year_1(id uuid) RETURNS ulid LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    ms bigint := substring(bits_of(id), 1, 48)::bigint - 62135596800000;
BEGIN
    PERFORM must_be('GUID with milliseconds since the year 1', id, ms >= 0);
    RETURN uuid_of(ms::bit(48) || substring(bits_of(id), 49));
END $$;
CREATE FUNCTION to_year_1(id ulid) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT RETURN uuid_of(
    (ulid_extract_unix_ms(id) + 62135596800000)::bit(48) || substring(bits_of(id::uuid), 49));

-- Laravel's orderedUuid: time in units of 10 microseconds, from 2017 on. One bit is lost.
CREATE FUNCTION from_ordered_uuid(id uuid) RETURNS ulid LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    b bit(128) := bits_of(id);
    t bigint := substring(b, 1, 48)::bigint;
BEGIN
    PERFORM must_be('orderedUuid of Laravel', id,
        id::text ~ '^.{14}4.{4}[89ab]' AND t / 100 >= 1483228800000);
    RETURN uuid_of((t / 100)::bit(48) || (t % 100)::bit(7)
        || substring(b, 53, 12) || substring(b, 67, 61));
END $$;

-- Integers with another number of bits below the time than a snowflake, whose 22 would give them
-- wrong times; epoch and unit are in ms. If your generator has an epoch of its own, pass that.
CREATE FUNCTION ulid_from_bigint(id bigint, bits integer, epoch bigint, unit integer DEFAULT 1)
RETURNS ulid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN ulid_from_parts(
    to_timestamp(((id >> bits) * unit + epoch) / 1000.0), id & ((bigint '1' << bits) - 1));
CREATE FUNCTION ulid_to_bigint(id ulid, bits integer, epoch bigint, unit integer DEFAULT 1)
RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ((ulid_extract_unix_ms(id) - epoch) / unit << bits) | ulid_to_key(id);

-- The digits of any alphabet, such as base58 of Bitcoin and Symfony:
--   uuid_from_digits(id, '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz')
--   uuid_to_digits(id, '1234…', 22)    or 0, without padding: a digit for each leading zero byte
-- base32hex and left-aligned Crockford have two zero bits after the last bit, so times is 4, and
-- the text has 26 characters:
--   uuid_from_digits(id, '0123456789ABCDEFGHIJKLMNOPQRSTUV', 4)
--   uuid_to_digits(id, '0123…', 26, 4)
CREATE FUNCTION uuid_from_digits(digits text, alphabet text, times integer DEFAULT 1) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    number numeric := 0;
    digit text;
    hex text := '';
BEGIN
    FOREACH digit IN ARRAY string_to_array(digits, NULL) LOOP
        IF strpos(alphabet, digit) = 0 THEN
            RAISE invalid_text_representation
                USING MESSAGE = format('invalid digit "%s" in "%s"', digit, digits);
        END IF;
        number := number * length(alphabet) + strpos(alphabet, digit) - 1;
    END LOOP;
    IF mod(number, times) <> 0 OR number >= times * 2 ^ 128.0
        OR digits = '' OR times > 1 AND length(digits) <> 26
    THEN
        RAISE numeric_value_out_of_range
            USING MESSAGE = format('"%s" does not have 128 bits', digits);
    END IF;
    number := div(number, times);
    FOR n IN 1 .. 4 LOOP
        hex := lpad(to_hex(mod(number, 4294967296)::bigint), 8, '0') || hex;
        number := div(number, 4294967296);
    END LOOP;
    RETURN hex;
END $$;
CREATE FUNCTION uuid_to_digits(id uuid, alphabet text, size integer, times integer DEFAULT 1)
RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    number numeric := 0;
    digits text := '';
BEGIN
    FOR n IN 0 .. 3 LOOP
        number := number * 4294967296 + substring(bits_of(id), n * 32 + 1, 32)::bigint;
    END LOOP;
    number := number * times;
    WHILE length(digits) < size OR size = 0 AND number > 0 LOOP
        digits := substr(alphabet, mod(number, length(alphabet))::integer + 1, 1) || digits;
        number := div(number, length(alphabet));
    END LOOP;
    IF size = 0 THEN
        FOR n IN 0 .. 15 LOOP
            EXIT WHEN get_byte(uuid_send(id), n) <> 0;
            digits := left(alphabet, 1) || digits;
        END LOOP;
    END IF;
    RETURN digits;
END $$;

-- A TSID as 13 characters of Crockford's alphabet.
CREATE FUNCTION from_tsid(id text) RETURNS ulid LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
    IF id !~* '^[0-7][0-9a-hjkmnp-tv-z]{12}$' THEN
        RAISE invalid_text_representation USING MESSAGE = format('"%s" is not a TSID', id);
    END IF;
    RETURN ulid_from_snowflake(substring(bits_of(
        uuid_from_digits(upper(id), '0123456789ABCDEFGHJKMNPQRSTVWXYZ')), 65)::bit(64)::bigint,
        '2020-01-01Z');
END $$;
CREATE FUNCTION to_tsid(id ulid) RETURNS text LANGUAGE sql IMMUTABLE STRICT RETURN uuid_to_digits(
    uuid_of(0::bit(64) || ulid_to_snowflake(id, '2020-01-01Z')::bit(64)),
    '0123456789ABCDEFGHJKMNPQRSTVWXYZ', 13);

-- MongoDB's ObjectId.
CREATE FUNCTION from_object_id(b bytea) RETURNS ulid LANGUAGE sql IMMUTABLE STRICT RETURN
    ulid_from_parts(to_timestamp(('x' || encode(substring(b FOR 4), 'hex'))::bit(32)::bigint),
        substring(b FROM 5) || '\x0000');
