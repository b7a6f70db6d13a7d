-- ulid_sql: the functions of the extension ulid where no library may be installed. They work on
-- core's type uuid, whose 16 bytes and order are those of a ulid, and have the names, results and
-- errors of the native ones. PostgreSQL 15 or newer, PL/pgSQL, and the privilege CREATE on a schema
-- are enough:
--
--     psql -1 -v ON_ERROR_STOP=1 -c 'CREATE SCHEMA ulid_sql' -c 'SET search_path = ulid_sql' \
--         -f sql/ulid_sql.sql
--
-- Everything is created in the first schema of the search_path. CREATE EXTENSION ulid_sql runs the
-- same script.
--
-- A function with a body after RETURN is inlined into the query that calls it, so that the query
-- can use indexes. Its names are resolved when it is created, so operands and literals have the
-- types of what they shall find, and nobody's better match is taken. It is not STRICT, which would
-- prevent inlining. Because an inlined body is planned again for each statement, large functions
-- are in PL/pgSQL instead: without calls to functions of this script, so that they work in any
-- schema, and with a search_path of their own, or names that do not depend on the caller's.
-- Literals have no backslashes but in E'', so that the settings of the session do not matter.

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
    -- The first byte becomes 2 characters, each 5 bytes after it 8. Integers combine 4 characters,
    -- which is faster than ||.
    RETURN encode(int2send((get_byte(c, get_byte(b, 0) >> 5) << 8
            | get_byte(c, get_byte(b, 0) & 31))::smallint)
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

-- The ulid of a value (the text of a ulid, or one that the type uuid reads), of a prefix that the
-- end of the given text continues, or of a TypeID with the given prefix. An input that is not
-- valid, and the prefix of a TypeID always, is an error, or null.
CREATE FUNCTION ulid_sql_parse(kind text, input text, given text, is_required boolean) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    -- a regular expression cannot be applied to a text of 256 MB
    size CONSTANT integer := octet_length(input);
    -- the 26 characters
    b CONSTANT bytea := convert_to(CASE
        WHEN kind = 'value' AND size = 26
            AND input COLLATE "C" ~ '^[0-7ILOilo][0-9A-TV-Za-tv-z]*$'
            THEN input
        WHEN kind = 'prefix' AND size <= 26
            AND input COLLATE "C" ~ '^([0-7ILOilo][0-9A-TV-Za-tv-z]*)?$'
            THEN overlay(given PLACING input FROM 1)
        WHEN kind = 'TypeID' AND size <= 90
            AND input COLLATE "C" ~ '^([a-z]([a-z_]*[a-z])?_)?[0-7][0-9a-hjkmnp-tv-z]{25}$'
            AND left(input, -27) COLLATE "C" = given THEN right(input, 26) END, 'SQL_ASCII');
    -- the value of each byte up to z as a character of either case
    v CONSTANT bytea := decode(repeat('00', 48) || '00010203040506070809' || repeat('00', 7)
        || '0a0b0c0d0e0f101101121301141500161718191a001b1c1d1e1f' || repeat('00', 6)
        || '0a0b0c0d0e0f101101121301141500161718191a001b1c1d1e1f', 'hex');
BEGIN
    IF b IS NOT NULL THEN
        -- 28, 30 and 6 bits, then 4, 30 and 30; an integer combines up to 6 characters
        RETURN encode(
            int8send(((get_byte(v, get_byte(b, 0)) << 5 | get_byte(v, get_byte(b, 1))
                    << 5 | get_byte(v, get_byte(b, 2)) << 5 | get_byte(v, get_byte(b, 3))
                    << 5 | get_byte(v, get_byte(b, 4)) << 5 | get_byte(v, get_byte(b, 5))
                    )::bigint << 30
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
                    << 5 | get_byte(v, get_byte(b, 24)) << 5 | get_byte(v, get_byte(b, 25)))),
            'hex')::uuid;
    ELSIF kind = 'value' AND size BETWEEN 32 AND 41
        AND input COLLATE "C" ~ '^[{]?(?:[0-9A-Fa-f]{4}-?){7}[0-9A-Fa-f]{4}[}]?$'
        AND (input COLLATE "C" ~ '^[{]') = (input COLLATE "C" ~ '[}]$') THEN
        RETURN input::uuid;
    ELSIF NOT is_required THEN
        RETURN NULL;
    END IF;

    -- What remains is the error. All characters before the fault are ASCII, so bytes are counted
    -- like characters. Of a long text, the fault is only sought at the beginning.
    DECLARE
        n integer;                      -- the characters before the fault
        expected text := 'in Crockford''s Base32 alphabet';
        detail text;                    -- of a fault that is not a character
        out_of_range boolean := false;
        sought CONSTANT text := left(input, 1000000);
        suffix CONSTANT text :=
            CASE kind WHEN 'TypeID' THEN split_part(input COLLATE "C", '_', -1) ELSE '' END;
        head CONSTANT text :=
            CASE kind WHEN 'TypeID' THEN left(input, -length(suffix) - 1) ELSE input END;
        m CONSTANT integer :=
            length(substring(left(suffix, 1000000) COLLATE "C" FROM '^[0-9a-hjkmnp-tv-z]*'));
        uuid_part text;                 -- what uuid would accept, from the beginning
        digits integer;
        c text;
    BEGIN
        IF kind = 'value' AND size >= 32 THEN
            uuid_part := substring(sought COLLATE "C" FROM
                '^(?:[{](?:[0-9A-Fa-f]{4}-?){7}[0-9A-Fa-f]{4}[}]|[{]?'
                '(?:[0-9A-Fa-f]{4}-?){0,7}[0-9A-Fa-f]{0,4})');
            n := length(uuid_part);
            digits := length(translate(uuid_part, '{-}', ''));
            expected := CASE
                WHEN digits < 32 AND (digits % 4 > 0 OR uuid_part COLLATE "C" ~ '^[{]?$|-$')
                    THEN 'a hexadecimal digit'
                WHEN digits < 32 THEN 'a hyphen or a hexadecimal digit'
                WHEN uuid_part COLLATE "C" ~ '^[{].*[^}]$' THEN 'a closing brace'
                ELSE 'the end of a UUID' END;
            IF n = size THEN
                detail := format('A%s is missing at position %s.', substr(expected, 2), n + 1);
            END IF;
        ELSIF kind = 'value' AND size <> 26 THEN
            n := length(substring(sought COLLATE "C" FROM E'^[\\x01-\\x7f]*'));
            IF n = length(sought) THEN
                detail := format(
                    'A ULID has 26 characters, or 32 to 41 in the form of a UUID, not %s.', size);
            END IF;
        ELSIF kind IN ('value', 'prefix') THEN
            n := length(substring(sought COLLATE "C" FROM '^[0-9A-TV-Za-tv-z]*'));
            out_of_range := n > 0 AND sought COLLATE "C" ~ '^[^0-7ILOilo]';
            IF n >= 26 THEN
                detail := 'A ULID has 26 characters.';
            END IF;
        ELSE
            n := length(substring(left(head, 1000000) COLLATE "C" FROM '^[a-z_]*'));
            IF kind = 'TypeID' AND size - octet_length(suffix) = 1 THEN
                detail := 'Without a prefix there is no underscore before the suffix.';
            ELSIF n < least(length(head), 1000000) THEN
                expected := 'a lower-case letter or an underscore';
            ELSIF n > 63 THEN
                detail := format('The prefix has at most 63 characters, not %s.', length(head));
            ELSIF head COLLATE "C" ~ '^_|_$' THEN
                detail := 'The prefix must not start or end with an underscore.';
            ELSIF m < least(length(suffix), 1000000) THEN
                n := size - octet_length(suffix) + m;
                expected := 'in Crockford''s Base32 alphabet in lower case';
            ELSIF m <> 26 THEN
                detail := format('The suffix has 26 characters, not %s.', length(suffix));
            ELSIF suffix COLLATE "C" ~ '^[0-7]' THEN
                RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
                    MESSAGE = format(
                        'TypeID "%s" has the prefix "%s", not "%s"', input, head, given);
            ELSE
                out_of_range := true;
            END IF;
        END IF;
        IF out_of_range THEN
            RAISE EXCEPTION USING ERRCODE = 'numeric_value_out_of_range',
                MESSAGE = format('%s "%s" is out of range for type ulid', kind, input),
                DETAIL = 'The first character of a ULID is at most 7.';
        END IF;
        c := substr(input, n + 1, 1);
        RAISE EXCEPTION USING
            ERRCODE = CASE kind WHEN 'prefix of a TypeID' THEN 'invalid_parameter_value'
                ELSE 'invalid_text_representation' END,
            MESSAGE = format('invalid %s: "%s"', CASE kind
                WHEN 'value' THEN 'input syntax for type ulid'
                WHEN 'prefix' THEN 'prefix of a ulid'
                ELSE kind END, input),
            -- what is a character in SQL_ASCII, the client alone knows
            DETAIL = coalesce(detail, format('%s at position %s is not %s.', CASE
                WHEN getdatabaseencoding() = 'SQL_ASCII' AND ascii(c) > 127
                    THEN format('Byte 0x%s', to_hex(ascii(c)))
                ELSE format('Character "%s"', c) END, n + 1, expected));
    END;
END $$;
COMMENT ON FUNCTION ulid_sql_parse(text, text, text, boolean) IS 'ulid that an input stands for';

CREATE FUNCTION ulid_from_text(text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_parse('value', $1, '', true);
COMMENT ON FUNCTION ulid_from_text(text) IS 'ulid of a text that ulid_is_valid accepts';

CREATE FUNCTION ulid_is_valid(text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN octet_length($1) = 26 AND $1 COLLATE "C" ~ '^[0-7ILOilo][0-9A-TV-Za-tv-z]*$'
        OR octet_length($1) BETWEEN 32 AND 41
            AND $1 COLLATE "C" ~ '^[{]?(?:[0-9A-Fa-f]{4}-?){7}[0-9A-Fa-f]{4}[}]?$'
            AND ($1 COLLATE "C" ~ '^[{]') = ($1 COLLATE "C" ~ '[}]$');
COMMENT ON FUNCTION ulid_is_valid(text) IS 'whether the text can be read as a ulid';

--
-- Generators. Without its bytes 7 to 12, which contain version and variant, a uuid of version 4
-- consists of 80 random bits.
--

-- As a default it is called for each row, and setting a search_path takes time: each name has its
-- schema, or is syntax.
CREATE FUNCTION gen_ulid() RETURNS uuid
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
    AS $$
BEGIN
    RETURN pg_catalog.encode(pg_catalog.byteacat(
        substring(pg_catalog.int8send(pg_catalog.float8mul(1000, pg_catalog.date_part('epoch',
            pg_catalog.date_bin('1 ms', pg_catalog.clock_timestamp(), 'epoch')))::bigint) FROM 3),
        overlay(pg_catalog.uuid_send(pg_catalog.gen_random_uuid()) PLACING '' FROM 7 FOR 6)),
        'hex')::pg_catalog.uuid;
END $$;
COMMENT ON FUNCTION gen_ulid() IS 'generate a ulid: the time is now, the randomness 80 fresh bits';

-- Of a time, and what follows it. It is not STRICT, because the latter is null for an infinite
-- time, which is an error.
CREATE FUNCTION ulid_sql_at(timestamptz, randomness bytea) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT isfinite($1) OR $1 < 'epoch' OR $1 >= '10889-08-02 05:31:50.656+00' THEN
        RAISE EXCEPTION USING ERRCODE = 'datetime_field_overflow',
            MESSAGE = 'timestamp out of range for type ulid',
            DETAIL = 'A ULID holds times from 1970-01-01 00:00:00+00'
                ' to 10889-08-02 05:31:50.655+00.';
    END IF;
    RETURN encode(
        substring(int8send((date_part('epoch', date_bin('1 ms', $1, 'epoch')) * 1000)::bigint)
            FROM 3) || randomness, 'hex')::uuid;
END $$;
COMMENT ON FUNCTION ulid_sql_at(timestamptz, bytea) IS 'ulid of a time and 10 bytes';

CREATE FUNCTION gen_ulid(timestamptz) RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN ulid_sql_at($1, overlay(uuid_send(gen_random_uuid()) PLACING ''::bytea FROM 7 FOR 6));
COMMENT ON FUNCTION gen_ulid(timestamptz)
    IS 'generate a ulid of the given time: the randomness is 80 fresh bits';

--
-- Parts and bounds
--

CREATE FUNCTION ulid_extract_unix_ms(uuid) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ('x' || encode(substring(uuid_send($1) FOR 6), 'hex'))::bit(48)::bigint;
COMMENT ON FUNCTION ulid_extract_unix_ms(uuid)
    IS 'extract the time from a ulid, in milliseconds since 1970-01-01 UTC';

-- Exact for each of the 2^48 milliseconds: the error of the float is smaller than what the rounding
-- to milliseconds corrects.
CREATE FUNCTION ulid_extract_timestamp(uuid) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN to_timestamp(('x' || encode(substring(uuid_send($1) FOR 6), 'hex'))
        ::bit(48)::bigint::float / 1000::float)::timestamptz(3);
COMMENT ON FUNCTION ulid_extract_timestamp(uuid) IS 'extract the time from a ulid';

CREATE FUNCTION ulid_extract_randomness(uuid) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN substring(uuid_send($1) FROM 7);
COMMENT ON FUNCTION ulid_extract_randomness(uuid) IS 'extract the randomness from a ulid, 10 bytes';

CREATE FUNCTION ulid_lower_bound(timestamptz) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_at($1, E'\\x00000000000000000000'::bytea);
COMMENT ON FUNCTION ulid_lower_bound(timestamptz)
    IS 'smallest ulid of the millisecond that the time lies in';

CREATE FUNCTION ulid_upper_bound(timestamptz) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_at($1, E'\\xffffffffffffffffffff'::bytea);
COMMENT ON FUNCTION ulid_upper_bound(timestamptz)
    IS 'greatest ulid of the millisecond that the time lies in';

--
-- Windows of time
--

-- The smallest and the greatest ulid made within the range; in an empty window the former is above
-- the latter.
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
COMMENT ON FUNCTION ulid_sql_window(tstzrange)
    IS 'smallest and greatest ulid made within the range';

CREATE FUNCTION ulid_range_lower(tstzrange) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (ulid_sql_window($1))[1];
COMMENT ON FUNCTION ulid_range_lower(tstzrange)
    IS 'smallest ulid made within the range; the greatest of all if there is none';

CREATE FUNCTION ulid_range_upper(tstzrange) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (ulid_sql_window($1))[2];
COMMENT ON FUNCTION ulid_range_upper(tstzrange)
    IS 'greatest ulid made within the range; the smallest of all if there is none';

CREATE FUNCTION ulid_contained_by_range(uuid, tstzrange) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN $1 >= ulid_range_lower($2) AND $1 <= ulid_range_upper($2);
COMMENT ON FUNCTION ulid_contained_by_range(uuid, tstzrange)
    IS 'whether the ulid was made within the range, by an index on it';

--
-- Search by the first characters
--

CREATE FUNCTION ulid_prefix_lower(prefix text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_parse('prefix', prefix, '00000000000000000000000000', true);
COMMENT ON FUNCTION ulid_prefix_lower(text)
    IS 'smallest ulid whose text starts with the characters';

CREATE FUNCTION ulid_prefix_upper(prefix text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_parse('prefix', prefix, '7ZZZZZZZZZZZZZZZZZZZZZZZZZ', true);
COMMENT ON FUNCTION ulid_prefix_upper(text)
    IS 'greatest ulid whose text starts with the characters';

-- The bounds are computed even if there is no id, and for a constant prefix when the query is
-- planned. The native function raises no error then. So an invalid prefix has the bounds of all
-- ids, and raises its error for each of them.
CREATE FUNCTION ulid_starts_with(id uuid, prefix text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN id >= coalesce(ulid_sql_parse('prefix', prefix, '00000000000000000000000000', false),
            '00000000-0000-0000-0000-000000000000')
        AND id <= coalesce(ulid_sql_parse('prefix', prefix, '7ZZZZZZZZZZZZZZZZZZZZZZZZZ', false),
            'ffffffff-ffff-ffff-ffff-ffffffffffff')
        AND (ulid_sql_parse('prefix', prefix, '00000000000000000000000000', false) IS NOT NULL
            OR ulid_sql_parse('prefix', prefix, id::text, true) = id);
COMMENT ON FUNCTION ulid_starts_with(uuid, text)
    IS 'whether the text of the ulid starts with the characters, by an index on it';

--
-- Uuids of version 7
--

-- Version and variant replace 6 bits.
CREATE FUNCTION ulid_to_uuid_v7(uuid) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN encode(set_byte(set_byte(uuid_send($1), 6, get_byte(uuid_send($1), 6) & 15 | 112),
        8, get_byte(uuid_send($1), 8) & 63 | 128), 'hex')::uuid;
COMMENT ON FUNCTION ulid_to_uuid_v7(uuid)
    IS 'version 7 uuid of the same millisecond, with 74 of the 80 bits of randomness';

-- Time, version and fraction; then variant and random bits, which are at the same place in a uuid
-- of version 4.
CREATE FUNCTION gen_uuid_v7(timestamptz) RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN ulid_sql_at($1,
        int2send((28672 + date_part('microseconds', $1)::integer % 1000 * 4096 / 1000)::smallint)
        || substring(uuid_send(gen_random_uuid()) FROM 9));
COMMENT ON FUNCTION gen_uuid_v7(timestamptz)
    IS 'generate a version 7 uuid of the given time: 62 fresh bits of randomness';

--
-- TypeID: the same 128 bits in lower case behind a prefix
--

-- A prefix that is not valid is an error only if there is an id.
CREATE FUNCTION ulid_to_typeid(prefix text, id uuid) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN octet_length(prefix) > 0 THEN prefix || '_' ELSE '' END
        || lower(ulid_to_text(CASE
            WHEN octet_length(prefix) <= 63 AND prefix COLLATE "C" ~ '^([a-z]([a-z_]*[a-z])?)?$'
            THEN id
            ELSE ulid_sql_parse('prefix of a TypeID', prefix, id::text, true) END) COLLATE "C");
COMMENT ON FUNCTION ulid_to_typeid(text, uuid)
    IS 'TypeID of the prefix, which may be empty, and the ulid';

CREATE FUNCTION ulid_from_typeid(typeid text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_parse('TypeID', typeid, left(typeid, -27), true);
COMMENT ON FUNCTION ulid_from_typeid(text) IS 'ulid of a TypeID of any prefix';

CREATE FUNCTION ulid_from_typeid(typeid text, prefix text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_parse('TypeID', typeid, prefix, true);
COMMENT ON FUNCTION ulid_from_typeid(text, text) IS 'ulid of a TypeID that must have this prefix';

CREATE FUNCTION typeid_prefix(typeid text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN ulid_from_typeid(typeid) IS NOT NULL THEN left(typeid, -27) END;
COMMENT ON FUNCTION typeid_prefix(text) IS 'prefix of a TypeID; empty if it has none';
