-- ulid_sql: the functions of the extension ulid where no library may be installed. They work on core's type uuid, whose
-- 16 bytes and order are those of a ulid, and have the names, results and errors of the native ones. PostgreSQL 15 or
-- newer, PL/pgSQL, and the privilege CREATE on a schema are enough:
--
--     psql -1 -v ON_ERROR_STOP=1 -c 'CREATE SCHEMA ulid_sql' -c 'SET search_path = ulid_sql' -f sql/ulid_sql.sql
--
-- Everything is created in the first schema of the search_path. CREATE EXTENSION ulid_sql runs the same script.
--
-- A function with a body after RETURN is inlined into the query that calls it, so that the query can use indexes. Its names
-- are resolved when it is created, so operands and literals have the types of what they shall find, and nobody's better
-- match is taken. It is not STRICT, which would prevent inlining. Because an inlined body is planned again for each
-- statement, large functions are in PL/pgSQL instead: with a search_path of their own and without calls to functions of this
-- script, so that they work in any schema and with any search_path of the caller. The end of the script replaces that
-- search_path in those that are called for each row. Literals have no backslashes but in E'', so that the settings of the
-- session do not matter.

--
-- Text
--

CREATE FUNCTION ulid_to_text(uuid) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    c CONSTANT bytea := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    b CONSTANT bytea := uuid_send($1);
BEGIN
    -- The first byte becomes 2 characters, each 5 bytes after it 8. Integers combine 4 characters, which is faster than ||.
    RETURN encode(int2send((get_byte(c, get_byte(b, 0) >> 5) << 8 | get_byte(c, get_byte(b, 0) & 31))::smallint)
        || int4send(get_byte(c, get_byte(b, 1) >> 3) << 8
            | get_byte(c, (get_byte(b, 1) & 7) << 2 | (get_byte(b, 2) >> 6)) << 8
            | get_byte(c, get_byte(b, 2) >> 1 & 31) << 8
            | get_byte(c, (get_byte(b, 2) & 1) << 4 | (get_byte(b, 3) >> 4)))
        || int4send(get_byte(c, (get_byte(b, 3) & 15) << 1 | (get_byte(b, 4) >> 7)) << 8
            | get_byte(c, get_byte(b, 4) >> 2 & 31) << 8
            | get_byte(c, (get_byte(b, 4) & 3) << 3 | (get_byte(b, 5) >> 5)) << 8
            | get_byte(c, get_byte(b, 5) & 31))
        || int4send(get_byte(c, get_byte(b, 6) >> 3) << 8
            | get_byte(c, (get_byte(b, 6) & 7) << 2 | (get_byte(b, 7) >> 6)) << 8
            | get_byte(c, get_byte(b, 7) >> 1 & 31) << 8
            | get_byte(c, (get_byte(b, 7) & 1) << 4 | (get_byte(b, 8) >> 4)))
        || int4send(get_byte(c, (get_byte(b, 8) & 15) << 1 | (get_byte(b, 9) >> 7)) << 8
            | get_byte(c, get_byte(b, 9) >> 2 & 31) << 8
            | get_byte(c, (get_byte(b, 9) & 3) << 3 | (get_byte(b, 10) >> 5)) << 8
            | get_byte(c, get_byte(b, 10) & 31))
        || int4send(get_byte(c, get_byte(b, 11) >> 3) << 8
            | get_byte(c, (get_byte(b, 11) & 7) << 2 | (get_byte(b, 12) >> 6)) << 8
            | get_byte(c, get_byte(b, 12) >> 1 & 31) << 8
            | get_byte(c, (get_byte(b, 12) & 1) << 4 | (get_byte(b, 13) >> 4)))
        || int4send(get_byte(c, (get_byte(b, 13) & 15) << 1 | (get_byte(b, 14) >> 7)) << 8
            | get_byte(c, get_byte(b, 14) >> 2 & 31) << 8
            | get_byte(c, (get_byte(b, 14) & 3) << 3 | (get_byte(b, 15) >> 5)) << 8
            | get_byte(c, get_byte(b, 15) & 31)), 'escape');
END $$;
COMMENT ON FUNCTION ulid_to_text(uuid) IS 'text of the ulid, 26 characters';

-- The text is a ULID, or a uuid with hyphens.
CREATE FUNCTION ulid_from_text(text) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    -- the value of each byte up to z as a character of either case
    v CONSTANT bytea := decode(repeat('00', 48) || '00010203040506070809' || repeat('00', 7)
        || '0a0b0c0d0e0f101101121301141500161718191a001b1c1d1e1f' || repeat('00', 6)
        || '0a0b0c0d0e0f101101121301141500161718191a001b1c1d1e1f', 'hex');
    b CONSTANT bytea := convert_to($1, 'SQL_ASCII');
BEGIN
    IF octet_length(b) = 26
        AND octet_length(ltrim(b, '0123456789ABCDEFGHIJKLMNOPQRSTVWXYZabcdefghijklmnopqrstvwxyz')) = 0
        AND get_byte(v, get_byte(b, 0)) <= 7
    THEN
        -- 28, 30 and 6 bits, then 4, 30 and 30; an integer combines up to 6 characters
        RETURN encode(
            int8send(((get_byte(v, get_byte(b, 0)) << 5 | get_byte(v, get_byte(b, 1))
                    << 5 | get_byte(v, get_byte(b, 2)) << 5 | get_byte(v, get_byte(b, 3))
                    << 5 | get_byte(v, get_byte(b, 4)) << 5 | get_byte(v, get_byte(b, 5)))::bigint << 30
                | (get_byte(v, get_byte(b, 6)) << 5 | get_byte(v, get_byte(b, 7))
                    << 5 | get_byte(v, get_byte(b, 8)) << 5 | get_byte(v, get_byte(b, 9))
                    << 5 | get_byte(v, get_byte(b, 10)) << 5 | get_byte(v, get_byte(b, 11)))) << 6
                | (get_byte(v, get_byte(b, 12)) << 1 | (get_byte(v, get_byte(b, 13)) >> 4)))
            || int8send(((get_byte(v, get_byte(b, 13)) & 15)::bigint << 30
                | (get_byte(v, get_byte(b, 14)) << 5 | get_byte(v, get_byte(b, 15))
                    << 5 | get_byte(v, get_byte(b, 16)) << 5 | get_byte(v, get_byte(b, 17))
                    << 5 | get_byte(v, get_byte(b, 18)) << 5 | get_byte(v, get_byte(b, 19)))) << 30
                | (get_byte(v, get_byte(b, 20)) << 5 | get_byte(v, get_byte(b, 21))
                    << 5 | get_byte(v, get_byte(b, 22)) << 5 | get_byte(v, get_byte(b, 23))
                    << 5 | get_byte(v, get_byte(b, 24)) << 5 | get_byte(v, get_byte(b, 25)))), 'hex')::uuid;
    ELSIF octet_length(b) = 36 AND $1 COLLATE "C" ~ '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$' THEN
        RETURN $1::uuid;
    END IF;

    -- What remains is the error. All characters before the fault are ASCII, so bytes are counted like characters.
    DECLARE
        fault integer;
        expected text := 'in Crockford''s Base32 alphabet';
        c text;
        uuid_form CONSTANT text := '00000000-0000-0000-0000-000000000000';
        digits CONSTANT text := '0123456789ABCDEFabcdef';
        utf8 bytea;
    BEGIN
        IF octet_length(b) = 26 THEN
            fault := 27 - octet_length(ltrim(b, '0123456789ABCDEFGHIJKLMNOPQRSTVWXYZabcdefghijklmnopqrstvwxyz'));
            IF fault > 1 AND get_byte(v, get_byte(b, 0)) > 7 THEN
                RAISE EXCEPTION USING ERRCODE = 'numeric_value_out_of_range',
                    MESSAGE = format('value "%s" is out of range for type ulid', $1),
                    DETAIL = 'The first character of a ULID is at most 7.';
            END IF;
        ELSIF octet_length(b) = 36 THEN
            SELECT min(i) INTO fault FROM generate_series(1, 36) AS i
            WHERE translate(substr($1, i, 1), digits, repeat('0', 22)) COLLATE "C" <> substr(uuid_form, i, 1);
            expected := CASE WHEN substr(uuid_form, fault, 1) = '-' THEN 'a hyphen' ELSE 'a hexadecimal digit' END;
        ELSE
            -- Read as LATIN1, each byte that is not ASCII becomes one after c2 or c3, which are nowhere else; and at the end.
            utf8 := convert(b, 'LATIN1', 'UTF8') || E'\\xc2c3';
            fault := least(position(E'\\xc2' IN utf8), position(E'\\xc3' IN utf8));
            IF fault > octet_length(b) THEN
                RAISE EXCEPTION USING ERRCODE = 'invalid_text_representation',
                    MESSAGE = format('invalid input syntax for type ulid: "%s"', $1),
                    DETAIL = format('A ULID has 26 characters, or 36 in the form of a UUID, not %s.', octet_length(b));
            END IF;
        END IF;
        c := substr($1, fault, 1);
        RAISE EXCEPTION USING ERRCODE = 'invalid_text_representation',
            MESSAGE = format('invalid input syntax for type ulid: "%s"', $1),
            -- what is a character in SQL_ASCII, the client alone knows
            DETAIL = format('%s at position %s is not %s.', CASE WHEN getdatabaseencoding() = 'SQL_ASCII' AND ascii(c) > 127
                THEN format('Byte 0x%s', to_hex(ascii(c))) ELSE format('Character "%s"', c) END, fault, expected);
    END;
END $$;
COMMENT ON FUNCTION ulid_from_text(text) IS 'ulid of a text that ulid_is_valid accepts';

CREATE FUNCTION ulid_is_valid(text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN CASE
        WHEN octet_length($1) = 26 THEN $1 COLLATE "C" ~ '^[0-7ILOilo][0-9A-TV-Za-tv-z]*$'
        WHEN octet_length($1) = 36 THEN $1 COLLATE "C" ~ '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$'
        ELSE false
    END;
END $$;
COMMENT ON FUNCTION ulid_is_valid(text) IS 'whether the text can be read as a ulid';

--
-- Generators. Without its bytes 7 to 12, which contain version and variant, a uuid of version 4 consists of 80 random bits.
--

CREATE FUNCTION gen_ulid() RETURNS uuid
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN encode(substring(int8send((date_part('epoch', date_bin('1 ms', clock_timestamp(), 'epoch')) * 1000)::bigint) FROM 3)
        || overlay(uuid_send(gen_random_uuid()) PLACING ''::bytea FROM 7 FOR 6), 'hex')::uuid;
END $$;
COMMENT ON FUNCTION gen_ulid() IS 'generate a ulid: the time is now, the randomness 80 fresh bits';

-- Of a time, and what follows it. It is not STRICT, because the latter is null for an infinite time, which is an error.
CREATE FUNCTION ulid_sql_at(timestamptz, randomness bytea) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT isfinite($1) OR $1 < 'epoch' OR $1 >= '10889-08-02 05:31:50.656+00' THEN
        RAISE EXCEPTION USING ERRCODE = 'datetime_field_overflow',
            MESSAGE = 'timestamp out of range for type ulid',
            DETAIL = 'A ULID holds times from 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655+00.';
    END IF;
    RETURN encode(substring(int8send((date_part('epoch', date_bin('1 ms', $1, 'epoch')) * 1000)::bigint) FROM 3)
        || randomness, 'hex')::uuid;
END $$;
COMMENT ON FUNCTION ulid_sql_at(timestamptz, bytea) IS 'ulid of a time and 10 bytes';

CREATE FUNCTION gen_ulid(timestamptz) RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN ulid_sql_at($1, overlay(uuid_send(gen_random_uuid()) PLACING ''::bytea FROM 7 FOR 6));
COMMENT ON FUNCTION gen_ulid(timestamptz) IS 'generate a ulid of the given time: the randomness is 80 fresh bits';

--
-- Parts and bounds
--

CREATE FUNCTION ulid_extract_unix_ms(uuid) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ('x' || encode(substring(uuid_send($1) FOR 6), 'hex'))::bit(48)::bigint;
COMMENT ON FUNCTION ulid_extract_unix_ms(uuid) IS 'extract the time from a ulid, in milliseconds since 1970-01-01 UTC';

-- Exact for each of the 2^48 milliseconds: the error of the float is smaller than what the rounding to milliseconds corrects.
CREATE FUNCTION ulid_extract_timestamp(uuid) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN to_timestamp(('x' || encode(substring(uuid_send($1) FOR 6), 'hex'))::bit(48)::bigint::float / 1000::float)::timestamptz(3);
COMMENT ON FUNCTION ulid_extract_timestamp(uuid) IS 'extract the time from a ulid';

CREATE FUNCTION ulid_extract_randomness(uuid) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN substring(uuid_send($1) FROM 7);
COMMENT ON FUNCTION ulid_extract_randomness(uuid) IS 'extract the randomness from a ulid, 10 bytes';

CREATE FUNCTION ulid_lower_bound(timestamptz) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_at($1, E'\\x00000000000000000000'::bytea);
COMMENT ON FUNCTION ulid_lower_bound(timestamptz) IS 'smallest ulid of the millisecond that the time lies in';

CREATE FUNCTION ulid_upper_bound(timestamptz) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_at($1, E'\\xffffffffffffffffffff'::bytea);
COMMENT ON FUNCTION ulid_upper_bound(timestamptz) IS 'greatest ulid of the millisecond that the time lies in';

--
-- Windows of time
--

-- The smallest and the greatest ulid made within the range; in an empty window the former is above the latter.
CREATE FUNCTION ulid_sql_window(tstzrange) RETURNS uuid[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    latest CONSTANT timestamptz := '10889-08-02 05:31:50.655+00';
    -- the milliseconds from first to last, initially all
    first bigint := 0;
    last bigint := 281474976710655;
    bound timestamptz;                  -- rounded down to the millisecond
BEGIN
    IF isempty($1) OR lower($1) > latest OR upper($1) < 'epoch' THEN
        last := -1;
    ELSE
        IF lower($1) >= 'epoch' THEN
            bound := date_bin('1 ms', lower($1), 'epoch');
            first := date_part('epoch', bound) * 1000;
            IF bound < lower($1) OR NOT lower_inc($1) THEN
                first := first + 1;
            END IF;
        END IF;
        IF upper($1) <= latest THEN
            bound := date_bin('1 ms', upper($1), 'epoch');
            last := date_part('epoch', bound) * 1000;
            IF bound = upper($1) AND NOT upper_inc($1) THEN
                last := last - 1;
            END IF;
        END IF;
    END IF;
    IF first > last THEN
        RETURN '{ffffffff-ffff-ffff-ffff-ffffffffffff, 00000000-0000-0000-0000-000000000000}';
    END IF;
    RETURN ARRAY[
        encode(substring(int8send(first) FROM 3) || E'\\x00000000000000000000', 'hex')::uuid,
        encode(substring(int8send(last) FROM 3) || E'\\xffffffffffffffffffff', 'hex')::uuid];
END $$;
COMMENT ON FUNCTION ulid_sql_window(tstzrange) IS 'smallest and greatest ulid made within the range';

CREATE FUNCTION ulid_range_lower(tstzrange) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (ulid_sql_window($1))[1];
COMMENT ON FUNCTION ulid_range_lower(tstzrange) IS 'smallest ulid made within the range; the greatest of all if there is none';

CREATE FUNCTION ulid_range_upper(tstzrange) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (ulid_sql_window($1))[2];
COMMENT ON FUNCTION ulid_range_upper(tstzrange) IS 'greatest ulid made within the range; the smallest of all if there is none';

CREATE FUNCTION ulid_contained_by_range(uuid, tstzrange) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN $1 >= ulid_range_lower($2) AND $1 <= ulid_range_upper($2);
COMMENT ON FUNCTION ulid_contained_by_range(uuid, tstzrange) IS 'whether the ulid was made within the range, by an index on it';

--
-- Search by the first characters
--

-- The prefix, padded to the 26 characters of a ulid. If no ulid can start with it: an error, or null.
CREATE FUNCTION ulid_sql_fill(prefix text, filler text, is_required boolean) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    -- the number of characters at the beginning that a ulid can contain, as far as it matters
    n integer;
    c text;
BEGIN
    IF octet_length(prefix) = 0 THEN
        RETURN least(filler COLLATE "C", '7') || repeat(filler, 25);
    ELSIF octet_length(prefix) <= 26 AND prefix COLLATE "C" ~ '^[0-7ILOilo][0-9A-TV-Za-tv-z]*$' THEN
        RETURN rpad(prefix, 26, filler);
    ELSIF NOT is_required THEN
        RETURN NULL;
    END IF;
    n := length(substring(left(prefix, 27) COLLATE "C" FROM '^[0-9A-TV-Za-tv-z]*'));
    IF n > 0 AND left(prefix, 1) COLLATE "C" !~ '[0-7ILOilo]' THEN
        RAISE EXCEPTION USING ERRCODE = 'numeric_value_out_of_range',
            MESSAGE = format('prefix "%s" is out of range for type ulid', prefix),
            DETAIL = 'The first character of a ULID is at most 7.';
    END IF;
    c := substr(prefix, n + 1, 1);
    RAISE EXCEPTION USING ERRCODE = 'invalid_text_representation',
        MESSAGE = format('invalid prefix of a ulid: "%s"', prefix),
        DETAIL = CASE WHEN n >= 26 THEN 'A ULID has 26 characters.' ELSE format(
            '%s at position %s is not in Crockford''s Base32 alphabet.', CASE
                WHEN getdatabaseencoding() = 'SQL_ASCII' AND ascii(c) > 127 THEN format('Byte 0x%s', to_hex(ascii(c)))
                ELSE format('Character "%s"', c) END, n + 1) END;
END $$;
COMMENT ON FUNCTION ulid_sql_fill(text, text, boolean) IS 'first characters of a ulid, filled up';

CREATE FUNCTION ulid_prefix_lower(prefix text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_from_text(ulid_sql_fill(prefix, '0', true));
COMMENT ON FUNCTION ulid_prefix_lower(text) IS 'smallest ulid whose text starts with the characters';

CREATE FUNCTION ulid_prefix_upper(prefix text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_from_text(ulid_sql_fill(prefix, 'Z', true));
COMMENT ON FUNCTION ulid_prefix_upper(text) IS 'greatest ulid whose text starts with the characters';

-- Because it is STRICT and does not use the id, it is not inlined.
CREATE FUNCTION ulid_sql_refuse_prefix(prefix text, id uuid) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ulid_sql_fill(prefix, '0', true) IS NULL;
COMMENT ON FUNCTION ulid_sql_refuse_prefix(text, uuid) IS 'error for an id and characters that no ulid starts with';

-- The bounds are computed even if there is no id, and for a constant prefix when the query is planned. The native function
-- raises no error then. So an invalid prefix has the bounds of all ids, and raises its error for each of them.
CREATE FUNCTION ulid_starts_with(id uuid, prefix text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN id >= coalesce(ulid_from_text(ulid_sql_fill(prefix, '0', false)), '00000000-0000-0000-0000-000000000000')
        AND id <= coalesce(ulid_from_text(ulid_sql_fill(prefix, 'Z', false)), 'ffffffff-ffff-ffff-ffff-ffffffffffff')
        AND (ulid_sql_fill(prefix, '0', false) IS NOT NULL OR ulid_sql_refuse_prefix(prefix, id));
COMMENT ON FUNCTION ulid_starts_with(uuid, text) IS 'whether the text of the ulid starts with the characters, by an index on it';

--
-- Uuids of version 7
--

-- Version and variant replace 6 bits.
CREATE FUNCTION ulid_to_uuid_v7(uuid) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN encode(set_byte(set_byte(uuid_send($1), 6, get_byte(uuid_send($1), 6) & 15 | 112),
        8, get_byte(uuid_send($1), 8) & 63 | 128), 'hex')::uuid;
COMMENT ON FUNCTION ulid_to_uuid_v7(uuid) IS 'version 7 uuid of the same millisecond, with 74 of the 80 bits of randomness';

-- Time, version and fraction; then variant and random bits, which are at the same place in a uuid of version 4.
CREATE FUNCTION gen_uuid_v7(timestamptz) RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN ulid_sql_at($1, int2send((28672 + date_part('microseconds', $1)::integer % 1000 * 4096 / 1000)::smallint)
        || substring(uuid_send(gen_random_uuid()) FROM 9));
COMMENT ON FUNCTION gen_uuid_v7(timestamptz) IS 'generate a version 7 uuid of the given time: 62 fresh bits of randomness';

--
-- TypeID: the same 128 bits in lower case behind a prefix
--

-- The prefix with its underscore; empty if the prefix is, null if it is invalid.
CREATE FUNCTION ulid_sql_typeid_prefix(prefix text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN CASE
        WHEN octet_length(prefix) = 0 THEN ''
        WHEN octet_length(prefix) > 63 THEN NULL
        WHEN prefix COLLATE "C" ~ '^[a-z]([a-z_]*[a-z])?$' THEN prefix || '_'
    END;
END $$;
COMMENT ON FUNCTION ulid_sql_typeid_prefix(text) IS 'prefix of a TypeID, and the underscore after it';

-- The TypeID, from what ulid_sql_typeid_prefix makes of the prefix. If that is null: the error, unless there is no suffix.
CREATE FUNCTION ulid_sql_typeid(head text, suffix text, prefix text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF head IS NULL AND suffix IS NOT NULL AND prefix IS NOT NULL THEN
        DECLARE
            -- a regular expression cannot be applied to a text of 256 MB, so a fault is only sought at its beginning
            sought CONSTANT text := left(prefix, 1000000);
            n CONSTANT integer := length(substring(sought COLLATE "C" FROM '^[a-z_]*'));
            c CONSTANT text := substr(prefix, n + 1, 1);
        BEGIN
            RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
                MESSAGE = format('invalid prefix of a TypeID: "%s"', prefix),
                DETAIL = CASE
                    WHEN n < length(sought) THEN format('%s at position %s is not a lower-case letter or an underscore.', CASE
                        WHEN getdatabaseencoding() = 'SQL_ASCII' AND ascii(c) > 127 THEN format('Byte 0x%s', to_hex(ascii(c)))
                        ELSE format('Character "%s"', c) END, n + 1)
                    WHEN n > 63 THEN format('The prefix has at most 63 characters, not %s.', length(prefix))
                    ELSE 'The prefix must not start or end with an underscore.'
                END;
        END;
    END IF;
    RETURN head || lower(suffix COLLATE "C");
END $$;
COMMENT ON FUNCTION ulid_sql_typeid(text, text, text) IS 'TypeID of its parts';

-- Prefix and suffix of a TypeID; if a prefix is given, the TypeID must have it.
CREATE FUNCTION ulid_sql_typeid_parts(typeid text, prefix text, is_given boolean) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    suffix CONSTANT text := split_part(typeid COLLATE "C", '_', -1);
    head CONSTANT text := left(typeid, -length(suffix) - 1);
    start CONSTANT integer := octet_length(typeid) - octet_length(suffix);
    -- as above
    sought CONSTANT text := left(head, 1000000);
    n CONSTANT integer := length(substring(sought COLLATE "C" FROM '^[a-z_]*'));
    m CONSTANT integer := length(substring(left(suffix, 1000000) COLLATE "C" FROM '^[0-9a-hjkmnp-tv-z]*'));
    c text;
    detail CONSTANT text := CASE
        WHEN start = 1 THEN 'Without a prefix there is no underscore before the suffix.'
        WHEN n < length(sought) THEN format('%%s at position %s is not a lower-case letter or an underscore.', n + 1)
        WHEN n > 63 THEN format('The prefix has at most 63 characters, not %s.', length(head))
        WHEN head COLLATE "C" ~ '^_|_$' THEN 'The prefix must not start or end with an underscore.'
        WHEN m < least(length(suffix), 1000000) THEN format(
            '%%s at position %s is not in Crockford''s Base32 alphabet in lower case.', start + m + 1)
        WHEN m <> 26 THEN format('The suffix has 26 characters, not %s.', length(suffix))
    END;
BEGIN
    IF detail IS NOT NULL THEN
        c := CASE WHEN n < length(sought) THEN substr(head, n + 1, 1) ELSE substr(suffix, m + 1, 1) END;
        RAISE EXCEPTION USING ERRCODE = 'invalid_text_representation',
            MESSAGE = format('invalid TypeID: "%s"', typeid),
            DETAIL = format(detail, CASE
                WHEN getdatabaseencoding() = 'SQL_ASCII' AND ascii(c) > 127 THEN format('Byte 0x%s', to_hex(ascii(c)))
                ELSE format('Character "%s"', c) END);
    ELSIF suffix COLLATE "C" !~ '^[0-7]' THEN
        RAISE EXCEPTION USING ERRCODE = 'numeric_value_out_of_range',
            MESSAGE = format('TypeID "%s" is out of range for type ulid', typeid),
            DETAIL = 'The first character of a ULID is at most 7.';
    ELSIF is_given AND head COLLATE "C" <> prefix THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('TypeID "%s" has the prefix "%s", not "%s"', typeid, head, prefix);
    END IF;
    RETURN ARRAY[head, suffix];
END $$;
COMMENT ON FUNCTION ulid_sql_typeid_parts(text, text, boolean) IS 'prefix and suffix of a TypeID';

CREATE FUNCTION ulid_to_typeid(prefix text, id uuid) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_typeid(ulid_sql_typeid_prefix(prefix), ulid_to_text(id), prefix);
COMMENT ON FUNCTION ulid_to_typeid(text, uuid) IS 'TypeID of the prefix, which may be empty, and the ulid';

CREATE FUNCTION ulid_from_typeid(typeid text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_from_text((ulid_sql_typeid_parts(typeid, '', false))[2]);
COMMENT ON FUNCTION ulid_from_typeid(text) IS 'ulid of a TypeID of any prefix';

CREATE FUNCTION ulid_from_typeid(typeid text, prefix text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_from_text((ulid_sql_typeid_parts(typeid, prefix, true))[2]);
COMMENT ON FUNCTION ulid_from_typeid(text, text) IS 'ulid of a TypeID that must have this prefix';

CREATE FUNCTION typeid_prefix(typeid text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (ulid_sql_typeid_parts(typeid, '', false))[1];
COMMENT ON FUNCTION typeid_prefix(text) IS 'prefix of a TypeID; empty if it has none';

--
-- Speed
--

-- Setting a search_path takes 0.3 to 3 microseconds for each call, the most before PostgreSQL 17. The functions that are called
-- for each row go without: here every function, operator, type and collation in them is qualified. An operator in OPERATOR()
-- has the precedence of <<, so others than << >> & | || need parentheses beside them. CASE with an operand and IN look
-- up = by their own; they must not occur. (The IN of position does not.)
DO $$
DECLARE
    f record;
BEGIN
    -- qualified, because a function or an operator that somebody has made in this schema could match better
    FOR f IN SELECT oid, prosrc FROM pg_catalog.pg_proc
        WHERE oid OPERATOR(pg_catalog.=) ANY ('{gen_ulid(), ulid_to_text(uuid), ulid_from_text(text), ulid_is_valid(text),
            "ulid_sql_typeid(text, text, text)"}'::pg_catalog.regprocedure[]::pg_catalog.oid[])
    LOOP
        EXECUTE pg_catalog.replace(pg_catalog.pg_get_functiondef(f.oid), f.prosrc,
            pg_catalog.regexp_replace(pg_catalog.regexp_replace(pg_catalog.regexp_replace(f.prosrc,
                E'\\m(?!substring|overlay|position|least)([a-z_0-9]+\\()', E'pg_catalog.\\1', 'g'),  -- these four are syntax
                -- but not MESSAGE = in RAISE
                E'(?<![A-Z]) (<<|>>|<>|<=|\\|\\||[&|=<>~*+-]) ', E' OPERATOR(pg_catalog.\\1) ', 'g'),
                E'(\\m(text|bytea|uuid)\\M|"C")', E'pg_catalog.\\1', 'g'));
        EXECUTE pg_catalog.format('ALTER FUNCTION %s RESET search_path', f.oid::pg_catalog.regprocedure);
    END LOOP;
END $$;
