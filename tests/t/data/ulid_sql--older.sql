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

--
-- Ordered ids and the horizon
--
-- A transaction that has generated an ordered id holds a lock on the sequence ulid_clock until it
-- ends, because pg_sequence_last_value(), like nextval(), takes ROW EXCLUSIVE before it reads. The
-- lock belongs to the top-level transaction: ROLLBACK TO SAVEPOINT and the end of a cursor keep
-- it, PREPARE TRANSACTION hands it over, and a restart restores those of prepared transactions.
-- pg_locks shows it. The horizon is computed from these locks and published in a row of the table
-- ulid_horizon, which consumers read like any other row.
--
-- No row is lost, because:
--
-- I1. A transaction has an xid before it locks ulid_clock, and locks it before it reads it. Its
--     ids are not less than what it has read. It keeps xid and lock until it has ended.
-- I2. ulid_clock never decreases: whoever sets it has locked the row of ulid_horizon, and sets a
--     greater value.
-- I3. The publisher sets ulid_clock to a number m before it looks at pg_locks. So a transaction
--     that it does not see there has ended, or reads at least m.
-- I4. m becomes the horizon only when each transaction that the publisher saw after I3 has ended.
--     Then all ids below m, whether they exist or will be generated, are of transactions that have
--     ended, by I1 to I3.
-- I5. The row of ulid_horizon is committed after that. So every snapshot that sees the row sees
--     those transactions, too: on this server, on a standby, which replays commits in their order,
--     and on a logical subscriber, which applies them in their order.
-- I6. A query reads the horizon and the rows with one snapshot. So no row that appears later has an
--     id below the horizon, and a position that was below the horizon is never passed by such a
--     row.
-- I7. The WAL has the new value of ulid_clock before the row, and the commit of the row is flushed.
--     So what a consumer has read also holds after a crash, a restart and a promotion, whatever
--     the clock of the server says.
--
-- What a role can do: PUBLIC may generate ids and read the horizon. Whoever may call ulid_publish()
-- moves the horizon, but not beyond the clock. An open transaction that has generated an id holds
-- the horizon back, as does one that has read the view pg_sequences with an xid; see the view
-- ulid_horizon_holders. The owner can set the sequence back, which breaks I2, or ahead, which the
-- ids and the horizon follow.
--
-- What is SECURITY DEFINER looks up no name of this schema at run time, because the owner of a
-- schema can rename it and create another of that name. Functions with a body after RETURN or BEGIN
-- ATOMIC hold their objects by OID, and pass them to functions in PL/pgSQL that know pg_catalog
-- alone.

-- Milliseconds since the Unix epoch. The greatest one is of the year 6429: with 16 bits of its
-- fraction it is a positive bigint.
CREATE SEQUENCE ulid_clock MINVALUE 0 MAXVALUE 140737488355327 START 0;
COMMENT ON SEQUENCE ulid_clock IS 'milliseconds; no ordered id generated later is less';
GRANT SELECT ON SEQUENCE ulid_clock TO PUBLIC;

-- One row, which the first publication inserts: a row of this script would be there twice after the
-- restore of an extension. Each publication updates it. Pages are pruned at half, and vacuum neither
-- waits for many dead rows nor truncates, which would lock consumers out. No column is toasted.
CREATE TABLE ulid_horizon (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    horizon uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    published_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- next_ms is the horizon when all holders with an xid of at most next_xid have ended.
    next_ms bigint,
    next_xid bigint,
    -- No id has been generated above the horizon as long as this is the xmax of snapshots.
    idle_xmax bigint,
    -- Xids are of one run of one server, and locks of one database.
    server_started_at timestamptz,
    database oid
) WITH (fillfactor = 50, vacuum_truncate = off, autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_scale_factor = 0, autovacuum_analyze_threshold = 2000000000);
COMMENT ON TABLE ulid_horizon IS 'published horizon, in the only row';
COMMENT ON COLUMN ulid_horizon.one IS 'key, because replication needs one';
COMMENT ON COLUMN ulid_horizon.horizon
    IS 'whoever sees this row sees each ordered id below the horizon that will ever be seen';
COMMENT ON COLUMN ulid_horizon.published_at IS 'time of the publication';
COMMENT ON COLUMN ulid_horizon.next_ms
    IS 'next horizon in milliseconds, when the transactions have ended that hold it back';
COMMENT ON COLUMN ulid_horizon.next_xid IS 'the greatest xid of those transactions';
COMMENT ON COLUMN ulid_horizon.idle_xmax
    IS 'xmax of snapshots until the next transaction; null if others were running';
COMMENT ON COLUMN ulid_horizon.server_started_at IS 'when the server was started that published';
COMMENT ON COLUMN ulid_horizon.database IS 'OID of the database of the publication';
GRANT SELECT ON ulid_horizon TO PUBLIC;

-- The value 0 has been used, as pg_sequence_last_value() says nothing of one that has not been.
-- Dumps have the sequence and the row, of an extension too.
DO $$
BEGIN
    PERFORM setval('ulid_clock', 0);
    PERFORM pg_extension_config_dump(objid, '') FROM pg_depend
    WHERE classid = 'pg_class'::regclass AND deptype = 'e'
        AND objid IN ('ulid_clock'::regclass, 'ulid_horizon'::regclass);
END $$;

-- The setting ulid_sql.ordered is the state of the transaction: sequence and xid, the clock at its
-- first id, and the time of its last. It serves the order within the transaction, and the
-- guard. If it is lost or forged, the horizon is as right as before. Variables are assigned, since
-- PL/pgSQL evaluates an assignment without the executor.
CREATE FUNCTION ulid_sql_ordered(clock regclass, is_uuid_v7 boolean) RETURNS uuid
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    -- I1, in this order
    transaction CONSTANT text := clock::oid || '/' || pg_current_xact_id()::text;
    ms CONSTANT bigint := pg_sequence_last_value(clock);
    state text := current_setting('ulid_sql.ordered', true);
    us CONSTANT bigint := date_part('epoch', clock_timestamp()) * 1000000;
    -- milliseconds and their fraction in 65536ths, rounded up, so that the microsecond is read back
    time bigint := greatest(us / 1000 << 16 | ((us % 1000 << 16) + 999) / 1000, ms << 16);
    random CONSTANT bytea := uuid_send(gen_random_uuid());
BEGIN
    IF split_part(state, ' ', 1) = transaction THEN
        time := greatest(time, split_part(state, ' ', 3)::bigint + 1);
        state := set_config('ulid_sql.ordered',
            transaction || ' ' || split_part(state, ' ', 2) || ' ' || time, true);
    ELSE
        state := set_config('ulid_sql.ordered', transaction || ' ' || ms || ' ' || time, true);
    END IF;
    IF ms IS NULL THEN
        -- 42501 before PostgreSQL 17; from then on, null
        IF NOT has_sequence_privilege(clock, 'SELECT, USAGE') THEN
            RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
                MESSAGE = format('permission denied for sequence %s',
                    (SELECT relname FROM pg_class WHERE oid = clock));
        END IF;
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = 'the id clock has no value',
            HINT = 'Set it with setval(''ulid_clock'', …) to milliseconds'
                ' that are not before the horizon.';
    END IF;
    IF is_uuid_v7 THEN
        -- the version before 12 bits of the fraction, the variant before the other 4
        RETURN encode(int8send(time >> 16 << 16 | 28672 | (time >> 4 & 4095))
            || substring(set_byte(random, 8, 128 | (time & 15)::integer << 2
                | (get_byte(random, 8) & 3)) FROM 9), 'hex')::uuid;
    END IF;
    -- without the bytes 6 to 13, in which version and variant are
    RETURN encode(int8send(time) || overlay(random PLACING '' FROM 6 FOR 8), 'hex')::uuid;
END $$;
COMMENT ON FUNCTION ulid_sql_ordered(regclass, boolean)
    IS 'generate an ordered id by this clock';

CREATE FUNCTION gen_ordered_ulid() RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN ulid_sql_ordered('ulid_clock'::regclass, false);
COMMENT ON FUNCTION gen_ordered_ulid()
    IS 'generate a ulid greater than all that the transaction generated with it before';

CREATE FUNCTION gen_ordered_uuid_v7() RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN ulid_sql_ordered('ulid_clock'::regclass, true);
COMMENT ON FUNCTION gen_ordered_uuid_v7()
    IS 'generate a version 7 uuid greater than all that the transaction generated with it before';

-- Whether a publication would tell anything new. It writes nothing: neither WAL nor an xid.
--
-- If no other transaction with an xid was running at the last publication, and none has ended since
-- by the xmax of snapshots, then none that has committed since has generated an id. If transactions
-- hold the next horizon back, they must have ended. Otherwise the row is written once a minute, so
-- that an older published_at tells of a publisher that has stopped.
CREATE FUNCTION ulid_sql_is_due(horizon regclass, clock regclass, published ulid_horizon)
    RETURNS boolean
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    now CONSTANT timestamptz := clock_timestamp();
    xmax CONSTANT bigint := pg_snapshot_xmax(pg_current_snapshot())::text;
    here oid;
    oldest bigint;
BEGIN
    -- the primary server publishes, or the source of the subscription
    IF pg_is_in_recovery()
        OR EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid = horizon) THEN
        RETURN false;
    ELSIF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE EXCEPTION USING ERRCODE = 'active_sql_transaction',
            MESSAGE = 'the horizon must be published in isolation level READ COMMITTED';
    END IF;
    SELECT oid INTO here FROM pg_database WHERE datname = current_database();
    IF published.published_at BETWEEN now - interval '1 minute' AND now
        AND published.server_started_at = pg_postmaster_start_time()
        AND published.database = here THEN
        IF published.idle_xmax = xmax THEN
            RETURN false;
        ELSIF published.next_xid IS NOT NULL THEN
            SELECT min(xid) INTO oldest FROM (
                SELECT min(xmax + ((transactionid::text::bigint - xmax + 2147483648) & 4294967295)
                    - 2147483648) AS xid
                FROM pg_locks
                WHERE granted AND (locktype = 'transactionid' AND mode = 'ExclusiveLock'
                    OR locktype = 'relation' AND mode = 'RowExclusiveLock'
                    AND relation = clock AND database = here)
                GROUP BY virtualtransaction HAVING bool_or(locktype = 'relation')) AS holder;
            RETURN (oldest <= published.next_xid) IS NOT TRUE;
        END IF;
    END IF;
    RETURN true;
END $$;
COMMENT ON FUNCTION ulid_sql_is_due(regclass, regclass, ulid_horizon)
    IS 'whether a publication would tell anything new';

-- The row as it is to be published, of one that is locked. It sets the clock. The caller is a
-- transaction of its own, without an xid before the row was locked, or counts itself.
CREATE FUNCTION ulid_sql_step(clock regclass, published ulid_horizon, is_own boolean)
    RETURNS ulid_horizon
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    me CONSTANT bigint := pg_current_xact_id()::text;
    -- before the time is read, so that ids of those that have ended are below it
    is_alone CONSTANT boolean := pg_snapshot_xmin(pg_current_snapshot()) = pg_current_xact_id();
    before CONSTANT bigint := pg_sequence_last_value(clock);
    now bigint := trunc(date_part('epoch', clock_timestamp()) * 1000);
    here CONSTANT oid := (SELECT oid FROM pg_database WHERE datname = current_database());
    is_shown boolean;           -- whether pg_locks has the lock of this transaction
    oldest bigint;              -- the xids of holders
    newest bigint;
    ms bigint;
    ready bigint;               -- the new horizon
BEGIN
    IF before IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = 'the id clock has no value',
            HINT = 'Let its owner set it with setval() to milliseconds that are not before the'
                ' horizon.';
    END IF;
    IF current_setting('synchronous_commit') = 'off' THEN       -- I7
        PERFORM set_config('synchronous_commit', 'local', true);
    END IF;
    -- The next millisecond, so that the ids of this one are below it. It is a later one than that
    -- of the last publication, and the clock advances by at most a millisecond in a millisecond,
    -- however often it is called. If the time of the server was set back, it goes on slowly.
    IF now < before THEN
        PERFORM pg_sleep(0.001);
        now := trunc(date_part('epoch', clock_timestamp()) * 1000);
    END IF;
    -- The row may be later than the clock where it was replicated, and the clock was not.
    ms := greatest(now, before, ('x' || encode(substring(uuid_send(published.horizon) FOR 6),
        'hex'))::bit(48)::bigint) + 1;
    PERFORM setval(clock, ms);                                  -- I2, I3
    IF published.server_started_at IS DISTINCT FROM pg_postmaster_start_time()
        OR published.database IS DISTINCT FROM here THEN
        published.next_xid := NULL;
    END IF;
    FOR n IN 1 .. 3 LOOP
        -- I3. A holder without an xid has generated nothing yet. Locks of an unnamed owner, as of
        -- prepared transactions, may be of several ones: each xid counts. The xids are those of 64
        -- bits that are nearest to the one of this transaction.
        SELECT bool_or(is_mine), min(first) FILTER (WHERE NOT (is_mine AND is_own)),
            max(last) FILTER (WHERE NOT (is_mine AND is_own))
        INTO is_shown, oldest, newest FROM (
            SELECT coalesce(bool_or(pid = pg_backend_pid()), false) AS is_mine,
                min(xid) AS first, max(xid) AS last
            FROM (SELECT *, me + ((transactionid::text::bigint - me + 2147483648) & 4294967295)
                - 2147483648 AS xid FROM pg_locks) AS lock
            WHERE granted AND (locktype = 'transactionid' AND mode = 'ExclusiveLock'
                OR locktype = 'relation' AND mode = 'RowExclusiveLock'
                AND relation = clock AND database = here)
            GROUP BY virtualtransaction HAVING bool_or(locktype = 'relation')) AS holder;
        IF is_shown IS NOT TRUE THEN
            RAISE EXCEPTION USING ERRCODE = 'feature_not_supported',
                MESSAGE = 'cannot determine the horizon of ordered ids on this server',
                DETAIL = 'Its view pg_locks does not show the locks of sequences.';
        END IF;
        IF oldest IS NULL THEN                                  -- I4
            ready := ms;
            published.next_xid := NULL;
            EXIT;
        ELSIF oldest > published.next_xid THEN                  -- I4
            ready := published.next_ms;
            published.next_xid := NULL;
        END IF;
        EXIT WHEN ready = ms;
        IF published.next_xid IS NULL THEN
            published.next_ms := ms;
            published.next_xid := newest;
        END IF;
        -- Most transactions are short: they are waited for, but not those that were there at the
        -- last publication.
        EXIT WHEN n = 3 OR published.next_ms < ms;
        PERFORM pg_sleep(0.001);
    END LOOP;
    published.horizon := greatest(published.horizon,
        encode(substring(int8send(ready) FROM 3) || E'\\x00000000000000000000', 'hex')::uuid);
    published.published_at := clock_timestamp();
    published.idle_xmax := CASE WHEN is_alone AND ready = ms AND before <= now
        THEN me + 1 END;
    published.server_started_at := pg_postmaster_start_time();
    published.database := here;
    RETURN published;
END $$;
COMMENT ON FUNCTION ulid_sql_step(regclass, ulid_horizon, boolean)
    IS 'set the clock, and compute the row of ulid_horizon';

CREATE FUNCTION ulid_sql_write(ulid_horizon) RETURNS boolean
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
    UPDATE ulid_horizon SET horizon = ($1).horizon, published_at = ($1).published_at,
        next_ms = ($1).next_ms, next_xid = ($1).next_xid, idle_xmax = ($1).idle_xmax,
        server_started_at = ($1).server_started_at, database = ($1).database
    RETURNING true;
END;
COMMENT ON FUNCTION ulid_sql_write(ulid_horizon) IS 'write the row of ulid_horizon';

-- Each function here is a statement with a snapshot of its own, so that the row that is computed
-- and written is the one that is locked. Who finds it locked leaves the work to the other.
CREATE FUNCTION ulid_sql_publish(is_own boolean) RETURNS boolean
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
    INSERT INTO ulid_horizon (one)
    SELECT true WHERE NOT EXISTS (SELECT FROM ulid_horizon) ON CONFLICT DO NOTHING;
    SELECT coalesce((
        SELECT ulid_sql_write(ulid_sql_step('ulid_clock'::regclass, published, is_own))
        FROM (SELECT h AS published FROM ulid_horizon AS h FOR UPDATE SKIP LOCKED) AS locked),
        false);
END;
COMMENT ON FUNCTION ulid_sql_publish(boolean) IS 'publish the horizon';

CREATE FUNCTION ulid_publish() RETURNS boolean
    LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    RETURN (
        SELECT CASE WHEN ulid_sql_is_due('ulid_horizon'::regclass, 'ulid_clock'::regclass, h)
            THEN ulid_sql_publish(pg_current_xact_id_if_assigned() IS NULL)
            ELSE false END
        FROM (VALUES (1)) AS v (n) LEFT JOIN ulid_horizon AS h ON true);
COMMENT ON FUNCTION ulid_publish()
    IS 'publish the horizon; false if there is nothing new, or another session publishes it';

-- The default of the argument is bound, and does the work before the body runs, which only commits
-- and looks up no name: a procedure that commits can have no search_path of its own. In a
-- transaction block the COMMIT is an error, so that nobody keeps the row locked.
CREATE PROCEDURE ulid_publish_horizon(is_published boolean DEFAULT ulid_publish())
    LANGUAGE plpgsql
    AS 'BEGIN COMMIT; END';
COMMENT ON PROCEDURE ulid_publish_horizon(boolean)
    IS 'publish the horizon and commit; takes the privilege EXECUTE on ulid_publish()';

--
-- The published horizon. A query reads the row with its own snapshot, as does each of its workers.
--

CREATE FUNCTION ulid_sql_horizon_error(last uuid, horizon uuid) RETURNS uuid
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF horizon IS NULL THEN
        RAISE EXCEPTION 'no horizon of ordered ids has been published'
            USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'CALL ulid_publish_horizon(), on the primary or the publisher of this server.';
    ELSIF last IS NULL THEN
        RAISE EXCEPTION 'position of a consumer must not be null'
            USING ERRCODE = 'null_value_not_allowed',
            HINT = 'The position before all rows is ''00000000-0000-0000-0000-000000000000''.';
    END IF;
    RAISE EXCEPTION 'position "%" is ahead of the published horizon "%"', last, horizon
        USING ERRCODE = 'object_not_in_prerequisite_state',
        HINT = 'The position is of another server, or of before a restore.';
END $$;
COMMENT ON FUNCTION ulid_sql_horizon_error(uuid, uuid)
    IS 'error of a horizon that is not published, or is less than the position';

CREATE FUNCTION ulid_published_horizon() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN coalesce((SELECT horizon FROM ulid_horizon), ulid_sql_horizon_error(NULL, NULL));
COMMENT ON FUNCTION ulid_published_horizon()
    IS 'ulid below which the present query sees each ordered id that will ever be seen, '
        'as published';

-- The first publications may find a horizon of zero. During recovery, the consumer may have read
-- from a server that has replayed more.
CREATE FUNCTION ulid_published_horizon(last uuid) RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT CASE WHEN last <= horizon OR last IS NOT NULL
            AND (horizon = '00000000-0000-0000-0000-000000000000' OR pg_is_in_recovery())
            THEN horizon ELSE ulid_sql_horizon_error(last, horizon) END
        FROM (SELECT ulid_published_horizon()) AS published (horizon));
COMMENT ON FUNCTION ulid_published_horizon(uuid)
    IS 'the same for a consumer at this position; an error if new ids could be less than it';

-- The native functions of these names ask the server. Here, there is only what is published.
CREATE FUNCTION ulid_ordered_horizon() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ulid_published_horizon();
COMMENT ON FUNCTION ulid_ordered_horizon()
    IS 'ulid below which the present query sees each ordered id that will ever be seen';

CREATE FUNCTION ulid_ordered_horizon(last uuid) RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ulid_published_horizon(last);
COMMENT ON FUNCTION ulid_ordered_horizon(uuid)
    IS 'the same for a consumer at this position; an error if new ids could be less than it';

-- Sessions and prepared transactions. The locks of prepared transactions have no pid, and may have
-- a number that others have, too: then those are also listed.
CREATE VIEW ulid_horizon_holders AS
    SELECT h.pid, t.xid AS transaction, p.gid AS prepared,
        coalesce(a.xact_start, p.prepared) AS since, coalesce(a.usename, p.owner) AS usename,
        a.application_name, a.state, a.query
    FROM (SELECT DISTINCT virtualtransaction, pid FROM pg_locks
        WHERE granted AND locktype = 'relation' AND mode = 'RowExclusiveLock'
            AND relation = 'ulid_clock'::regclass
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS h
    JOIN (SELECT virtualtransaction, pid, transactionid AS xid FROM pg_locks
        WHERE granted AND locktype = 'transactionid' AND mode = 'ExclusiveLock') AS t
        ON t.virtualtransaction = h.virtualtransaction AND t.pid IS NOT DISTINCT FROM h.pid
    LEFT JOIN pg_prepared_xacts AS p ON h.pid IS NULL AND p.transaction = t.xid
    LEFT JOIN pg_stat_activity AS a ON a.pid = h.pid
    WHERE coalesce(a.backend_xid, p.transaction) = t.xid;
COMMENT ON VIEW ulid_horizon_holders
    IS 'transactions that hold back the horizon of this database, and since when';
GRANT SELECT ON ulid_horizon_holders TO pg_read_all_stats;

--
-- The guard
--

-- It serves against mistakes only, as it trusts the state of the transaction. A text of another type
-- than uuid has another length. The catalog is asked about the column only then, or without a value.
CREATE FUNCTION ulid_ordered_guard() RETURNS trigger
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    state CONSTANT text := current_setting('ulid_sql.ordered', true);
    -- sequence and xid
    transaction CONSTANT text[] := string_to_array(split_part(state, ' ', 1), '/');
    first bigint;               -- in milliseconds, as what follows
    latest bigint;
    ms bigint;
    value text;
    id uuid;
    fault text := CASE WHEN TG_WHEN <> 'BEFORE' OR TG_LEVEL <> 'ROW' THEN 'be fired BEFORE ROW'
        WHEN TG_OP NOT IN ('INSERT', 'UPDATE') THEN 'be fired for INSERT or UPDATE'
        WHEN TG_NARGS <> 1 THEN 'have one argument, the name of a column' END;
    type oid;
    is_generated boolean;
BEGIN
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'trigger_protocol_violated',
            MESSAGE = format('function "ulid_ordered_guard" must %s', fault),
            HINT = 'It is for CREATE TRIGGER name BEFORE INSERT OR UPDATE OF column ON table'
                ' FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard(''column'').';
    END IF;
    value := to_jsonb(NEW) ->> TG_ARGV[0];
    IF length(value) = 36 IS NOT TRUE THEN
        SELECT coalesce(nullif(typbasetype, 0), t.oid), attgenerated <> ''
        INTO type, is_generated FROM pg_attribute JOIN pg_type AS t ON t.oid = atttypid
        WHERE attrelid = TG_RELID AND attname = TG_ARGV[0] AND attnum > 0;
        fault := format('column "%s" of relation "%s" ', TG_ARGV[0], TG_TABLE_NAME);
        IF type IS NULL THEN
            RAISE EXCEPTION USING ERRCODE = 'undefined_column', MESSAGE = fault || 'does not exist';
        ELSIF is_generated THEN
            RAISE EXCEPTION USING ERRCODE = 'invalid_column_reference',
                MESSAGE = fault || 'is a generated column',
                DETAIL = 'Its value is computed after the trigger, which could not check it.';
        ELSIF type <> 'uuid'::regtype THEN
            RAISE EXCEPTION USING ERRCODE = 'datatype_mismatch',
                MESSAGE = format('%sis of type %s, not uuid', fault, type::regtype);
        END IF;
        -- A consumer never reads a null. A NOT NULL constraint can refuse it.
        RETURN NEW;
    END IF;
    id := value;
    IF TG_OP = 'UPDATE' THEN
        IF id = (to_jsonb(OLD) ->> TG_ARGV[0])::uuid THEN
            RETURN NEW;
        END IF;
    END IF;
    -- A transaction that has generated no id does not hold the horizon.
    IF transaction[2] = pg_current_xact_id_if_assigned()::text THEN
        ms := ('x' || encode(substring(uuid_send(id) FOR 6), 'hex'))::bit(48)::bigint;
        first := split_part(state, ' ', 2);
        latest := greatest(date_part('epoch', clock_timestamp()) * 1000,
            pg_sequence_last_value(transaction[1]::oid), split_part(state, ' ', 3)::bigint >> 16)
            + 1000;
        IF ms BETWEEN first AND latest THEN
            RETURN NEW;
        ELSIF ms > latest THEN
            RAISE EXCEPTION USING ERRCODE = 'check_violation',
                MESSAGE = format('consumers of relation "%s" cannot reach uuid "%s" yet',
                    TG_TABLE_NAME, id),
                DETAIL = format('Its time is after %s, a second after the id clock and the system'
                    ' clock.', to_timestamp(latest / 1000::float)),
                HINT = 'Let the default of the column generate the id.';
        END IF;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'check_violation',
        MESSAGE = format('consumers of relation "%s" may have passed uuid "%s"', TG_TABLE_NAME, id),
        DETAIL = CASE WHEN first IS NULL THEN 'This transaction has generated no ordered id.'
            ELSE format('When this transaction generated its first ordered id, the id clock was at'
                ' %s.', to_timestamp(first / 1000::float)) END,
        HINT = 'Let the default of the column generate the id.';
END $$;
COMMENT ON FUNCTION ulid_ordered_guard()
    IS 'trigger that refuses ids below those that the transaction generates, and ids far ahead';

--
-- The id clock, for the owner
--

-- After a restore to an earlier time, on a server whose clock is behind, new ids would be less than
-- the positions of consumers. setval() alone could be undone by a publisher, without the lock.
CREATE FUNCTION ulid_sql_advance(clock regclass, id uuid, force boolean) RETURNS timestamptz
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    ms bigint := ('x' || encode(substring(uuid_send(id) FOR 6), 'hex'))::bit(48)::bigint + 1;
BEGIN
    IF NOT force AND to_timestamp(ms / 1000::float) > clock_timestamp() + interval '1 day' THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('uuid "%s" is more than a day ahead of the clock', id),
            HINT = 'To continue after it anyway, pass true as the second argument.';
    END IF;
    ms := setval(clock, greatest(pg_sequence_last_value(clock), ms));
    RETURN to_timestamp(ms / 1000::float)::timestamptz(3);
END $$;
COMMENT ON FUNCTION ulid_sql_advance(regclass, uuid, boolean)
    IS 'let the clock continue after this id';

CREATE FUNCTION ulid_advance_ordered_time(id uuid, force boolean DEFAULT false) RETURNS timestamptz
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
    INSERT INTO ulid_horizon (one)
    SELECT true WHERE NOT EXISTS (SELECT FROM ulid_horizon) ON CONFLICT DO NOTHING;
    SELECT ulid_sql_advance('ulid_clock'::regclass, id, force)
    FROM (SELECT FROM ulid_horizon FOR UPDATE) AS locked;
END;
COMMENT ON FUNCTION ulid_advance_ordered_time(uuid, boolean)
    IS 'let ordered ids continue after this id, which may be of either kind';

-- For a clock that has jumped ahead: positions above the new ids must be set back, too.
CREATE FUNCTION ulid_reset_ordered_time() RETURNS void
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
    DELETE FROM ulid_horizon;
    SELECT setval('ulid_clock'::regclass, 0);
END;
COMMENT ON FUNCTION ulid_reset_ordered_time()
    IS 'let ordered ids continue from the clock, and forget the published horizon';

REVOKE ALL ON FUNCTION ulid_sql_is_due(regclass, regclass, ulid_horizon),
    ulid_sql_step(regclass, ulid_horizon, boolean), ulid_sql_write(ulid_horizon),
    ulid_sql_publish(boolean), ulid_publish(), ulid_sql_advance(regclass, uuid, boolean),
    ulid_advance_ordered_time(uuid, boolean), ulid_reset_ordered_time() FROM PUBLIC;
