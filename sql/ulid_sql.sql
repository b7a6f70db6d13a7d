-- ulid_sql: the functions of the extension ulid where no library may be installed. They work on
-- PostgreSQL's type uuid, whose 16 bytes and order are those of a ulid. They have the names and
-- results of the native ones, and errors of the same SQLSTATE and message. PostgreSQL 15 or newer,
-- PL/pgSQL, and the privilege CREATE on a schema are enough:
--
--     psql -1 -v ON_ERROR_STOP=1 -c 'CREATE SCHEMA ulid_sql' -c 'SET search_path = ulid_sql' \
--         -f sql/ulid_sql.sql
--
-- Everything is created in the first schema of the search_path. CREATE EXTENSION ulid_sql runs the
-- same script.
--
-- The same command without CREATE SCHEMA runs the script over itself: functions are replaced, while
-- tables, rows, rights and the sequence stay. If it ends early, also between two statements, what
-- is there works, or raises an error. A function cannot be replaced by one whose parameters have
-- other names or types: that one needs another name.
--
-- A function with a body after RETURN is inlined into the query that calls it, so that the query
-- can use indexes. Its names are resolved when it is created, so operands have the types of
-- what they shall find, and nobody's better match is taken. It is not STRICT, which would
-- prevent inlining. Because an inlined body is planned again for each statement, large functions
-- are in PL/pgSQL instead: without calls to functions of this script, so that they work in any
-- schema, and with a search_path of their own, or names that do not depend on the caller's.
-- Literals have no backslashes but in E'', so that the settings of the session do not matter.

-- Who replaces the functions must own what they write to, and does not take over what is not of
-- this script, whose functions have comments. PostgreSQL refuses to replace functions of others
-- itself, but not to a superuser, nor those of an extension, unless it creates or updates that one:
-- then it has just written its row.
DO $$
DECLARE
    namespace oid := (SELECT oid FROM pg_catalog.pg_namespace
        WHERE nspname = pg_catalog.current_schema());
    me oid;
    is_superuser boolean;
    object text;
    extension text;
BEGIN
    SELECT oid, rolsuper INTO me, is_superuser
    FROM pg_catalog.pg_roles WHERE rolname = current_user;
    SELECT pg_catalog.pg_describe_object(class, o.oid, 0), e.extname INTO object, extension
    FROM (
        SELECT 'pg_catalog.pg_class'::pg_catalog.regclass::oid, oid, relowner
        FROM pg_catalog.pg_class WHERE relnamespace = namespace AND relname::text
            = ANY ('{ulid_clock, ulid_horizon, ulid_horizon_holders, ulid_consumer,
                ulid_consumer_lag}'::text[])
        UNION ALL
        SELECT 'pg_catalog.pg_proc'::pg_catalog.regclass::oid, oid, proowner
        FROM pg_catalog.pg_proc WHERE pronamespace = namespace
            AND proname::text ~ '^(ulid_|gen_(ordered_)?u|typeid_prefix$)'::text
            AND (is_superuser OR pg_catalog.pg_has_role(proowner, 'USAGE'::text)
                OR pg_catalog.obj_description(oid, 'pg_proc'::name) IS NOT NULL)
    ) AS o (class, oid, owner)
    LEFT JOIN pg_catalog.pg_depend AS d ON d.classid = o.class AND d.objid = o.oid
        AND d.deptype = 'e'::"char"
    LEFT JOIN pg_catalog.pg_extension AS e ON e.oid = d.refobjid
    WHERE o.owner <> me
        OR e.xmin <> pg_catalog.xid(pg_catalog.pg_current_xact_id())
    ORDER BY e.extname IS NULL, o.class, o.oid LIMIT 1;
    IF extension IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = pg_catalog.concat(object, ' belongs to extension "', extension, '"'),
            HINT = 'Run this script in another schema.';
    ELSIF object IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
            MESSAGE = pg_catalog.concat('must be the owner of ', object),
            HINT = 'Run this script as the role that has run it before, or in another schema.';
    END IF;
END $$;

--
-- Text
--

CREATE OR REPLACE FUNCTION ulid_to_text(uuid) RETURNS text
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
CREATE OR REPLACE FUNCTION ulid_sql_parse(kind text, input text, given text, is_required boolean)
    RETURNS uuid
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

    -- What remains is the error. A first character above 7 is out of range.
    IF (kind = 'prefix' OR kind = 'value' AND size = 26)
        AND left(input, 1) COLLATE "C" ~ '[89A-HJKMNP-TV-Za-hjkmnp-tv-z]'
        OR kind = 'TypeID' AND size <= 90 AND input COLLATE "C"
            ~ '^([a-z]([a-z_]*[a-z])?_)?[89a-hjkmnp-tv-z][0-9a-hjkmnp-tv-z]{25}$' THEN
        RAISE EXCEPTION USING ERRCODE = 'numeric_value_out_of_range',
            MESSAGE = format('%s "%s" is out of range for type ulid', kind, input),
            DETAIL = 'The first character of a ULID is at most 7.';
    ELSIF kind = 'TypeID' AND size <= 90 AND input COLLATE "C"
        ~ '^([a-z]([a-z_]*[a-z])?_)?[0-7][0-9a-hjkmnp-tv-z]{25}$' THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('TypeID "%s" has the prefix "%s", not "%s"', input,
                left(input, -27), given);
    END IF;
    RAISE EXCEPTION USING
        ERRCODE = CASE kind WHEN 'prefix of a TypeID' THEN 'invalid_parameter_value'
            ELSE 'invalid_text_representation' END,
        MESSAGE = format('invalid %s: "%s"', CASE kind
            WHEN 'value' THEN 'input syntax for type ulid'
            WHEN 'prefix' THEN 'prefix of a ulid'
            ELSE kind END, input),
        DETAIL = CASE kind
            WHEN 'value' THEN
                'A ULID has 26 characters of Crockford''s Base32 alphabet, or the form of a UUID.'
            WHEN 'prefix' THEN 'It has at most 26 characters of Crockford''s Base32 alphabet.'
            ELSE 'A prefix has at most 63 lower-case letters and underscores, and begins and ends'
                ' with a letter. After an underscore come 26 characters of Crockford''s Base32'
                ' alphabet, in lower case.' END;
END $$;
COMMENT ON FUNCTION ulid_sql_parse(text, text, text, boolean) IS 'ulid that an input stands for';

CREATE OR REPLACE FUNCTION ulid_from_text(text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_parse('value', $1, '', true);
COMMENT ON FUNCTION ulid_from_text(text) IS 'ulid of a text that ulid_is_valid accepts';

CREATE OR REPLACE FUNCTION ulid_is_valid(text) RETURNS boolean
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
CREATE OR REPLACE FUNCTION gen_ulid() RETURNS uuid
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
CREATE OR REPLACE FUNCTION ulid_sql_at(timestamptz, randomness bytea) RETURNS uuid
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

CREATE OR REPLACE FUNCTION gen_ulid(timestamptz) RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN ulid_sql_at($1, overlay(uuid_send(gen_random_uuid()) PLACING ''::bytea FROM 7 FOR 6));
COMMENT ON FUNCTION gen_ulid(timestamptz)
    IS 'generate a ulid of the given time: the randomness is 80 fresh bits';

--
-- Parts and bounds
--

CREATE OR REPLACE FUNCTION ulid_extract_unix_ms(uuid) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ('x' || encode(substring(uuid_send($1) FOR 6), 'hex'))::bit(48)::bigint;
COMMENT ON FUNCTION ulid_extract_unix_ms(uuid)
    IS 'extract the time from a ulid, in milliseconds since 1970-01-01 UTC';

-- Exact for each of the 2^48 milliseconds: the error of the float is smaller than what the rounding
-- to milliseconds corrects.
CREATE OR REPLACE FUNCTION ulid_extract_timestamp(uuid) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN to_timestamp(('x' || encode(substring(uuid_send($1) FOR 6), 'hex'))
        ::bit(48)::bigint::float / 1000::float)::timestamptz(3);
COMMENT ON FUNCTION ulid_extract_timestamp(uuid) IS 'extract the time from a ulid';

CREATE OR REPLACE FUNCTION ulid_extract_randomness(uuid) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN substring(uuid_send($1) FROM 7);
COMMENT ON FUNCTION ulid_extract_randomness(uuid) IS 'extract the randomness from a ulid, 10 bytes';

CREATE OR REPLACE FUNCTION ulid_lower_bound(timestamptz) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_at($1, E'\\x00000000000000000000'::bytea);
COMMENT ON FUNCTION ulid_lower_bound(timestamptz)
    IS 'smallest ulid of the millisecond that the time lies in';

CREATE OR REPLACE FUNCTION ulid_upper_bound(timestamptz) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_at($1, E'\\xffffffffffffffffffff'::bytea);
COMMENT ON FUNCTION ulid_upper_bound(timestamptz)
    IS 'greatest ulid of the millisecond that the time lies in';

--
-- Windows of time
--

-- The smallest and the greatest ulid made within the range; in an empty window the former is above
-- the latter.
CREATE OR REPLACE FUNCTION ulid_sql_window(tstzrange) RETURNS uuid[]
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

CREATE OR REPLACE FUNCTION ulid_range_lower(tstzrange) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (ulid_sql_window($1))[1];
COMMENT ON FUNCTION ulid_range_lower(tstzrange)
    IS 'smallest ulid made within the range; the greatest of all if there is none';

CREATE OR REPLACE FUNCTION ulid_range_upper(tstzrange) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (ulid_sql_window($1))[2];
COMMENT ON FUNCTION ulid_range_upper(tstzrange)
    IS 'greatest ulid made within the range; the smallest of all if there is none';

CREATE OR REPLACE FUNCTION ulid_contained_by_range(uuid, tstzrange) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN $1 >= ulid_range_lower($2) AND $1 <= ulid_range_upper($2);
COMMENT ON FUNCTION ulid_contained_by_range(uuid, tstzrange)
    IS 'whether the ulid was made within the range, by an index on it';

--
-- Search by the first characters
--

CREATE OR REPLACE FUNCTION ulid_prefix_lower(prefix text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_parse('prefix', prefix, '00000000000000000000000000', true);
COMMENT ON FUNCTION ulid_prefix_lower(text)
    IS 'smallest ulid whose text starts with the characters';

CREATE OR REPLACE FUNCTION ulid_prefix_upper(prefix text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_parse('prefix', prefix, '7ZZZZZZZZZZZZZZZZZZZZZZZZZ', true);
COMMENT ON FUNCTION ulid_prefix_upper(text)
    IS 'greatest ulid whose text starts with the characters';

-- The bounds are computed even if there is no id, and for a constant prefix when the query is
-- planned. The native function raises no error then. So an invalid prefix has the bounds of all
-- ids, and raises its error for each of them.
CREATE OR REPLACE FUNCTION ulid_starts_with(id uuid, prefix text) RETURNS boolean
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
CREATE OR REPLACE FUNCTION ulid_to_uuid_v7(uuid) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN encode(set_byte(set_byte(uuid_send($1), 6, get_byte(uuid_send($1), 6) & 15 | 112),
        8, get_byte(uuid_send($1), 8) & 63 | 128), 'hex')::uuid;
COMMENT ON FUNCTION ulid_to_uuid_v7(uuid)
    IS 'version 7 uuid of the same millisecond, with 74 of the 80 bits of randomness';

-- Time, version and fraction; then variant and random bits, which are at the same place in a uuid
-- of version 4.
CREATE OR REPLACE FUNCTION gen_uuid_v7(timestamptz) RETURNS uuid
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
CREATE OR REPLACE FUNCTION ulid_to_typeid(prefix text, id uuid) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN octet_length(prefix) > 0 THEN prefix || '_' ELSE '' END
        || lower(ulid_to_text(CASE
            WHEN octet_length(prefix) <= 63 AND prefix COLLATE "C" ~ '^([a-z]([a-z_]*[a-z])?)?$'
            THEN id
            ELSE ulid_sql_parse('prefix of a TypeID', prefix, id::text, true) END) COLLATE "C");
COMMENT ON FUNCTION ulid_to_typeid(text, uuid)
    IS 'TypeID of the prefix, which may be empty, and the ulid';

CREATE OR REPLACE FUNCTION ulid_from_typeid(typeid text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_parse('TypeID', typeid, left(typeid, -27), true);
COMMENT ON FUNCTION ulid_from_typeid(text) IS 'ulid of a TypeID of any prefix';

CREATE OR REPLACE FUNCTION ulid_from_typeid(typeid text, prefix text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_parse('TypeID', typeid, prefix, true);
COMMENT ON FUNCTION ulid_from_typeid(text, text) IS 'ulid of a TypeID that must have this prefix';

CREATE OR REPLACE FUNCTION typeid_prefix(typeid text) RETURNS text
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
-- pg_locks shows it. The horizon is computed from these locks and written into a row of the table
-- ulid_horizon, which consumers read like any other row.
--
-- No row is lost, because:
--
-- I1. A transaction has an xid before it locks ulid_clock, and locks it before it reads it. Its
--     ids are not less than what it has read. It keeps xid and lock until it has ended.
-- I2. ulid_clock never decreases: whoever sets it has locked the row of ulid_horizon, and sets a
--     greater value. A reset breaks this, so positions must be set back with it. If it is rolled
--     back, the row returns, and no id is generated until the next refresh.
-- I3. Whoever refreshes sets ulid_clock to a number m before it looks at pg_locks. So a transaction
--     that it does not see there has ended, or reads at least m.
-- I4. m becomes the horizon only when each transaction that it saw after I3 has ended.
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
-- What a role can do: PUBLIC may generate ids and read the horizon. Whoever may call ulid_refresh()
-- moves the horizon, but not beyond the system clock. An open transaction that has generated an id
-- holds the horizon back, as does one that has read the view pg_sequences with an xid; see the view
-- ulid_horizon_holders. The owner can set the sequence back, which breaks I2, or ahead, which the
-- ids and the horizon follow.
--
-- What is SECURITY DEFINER looks up no name of this schema at run time, because the owner of a
-- schema can rename it and create another of that name. Functions with a body after RETURN or BEGIN
-- ATOMIC hold their objects by OID, and pass them to functions in PL/pgSQL that know pg_catalog
-- alone.

-- Milliseconds since the Unix epoch. The greatest one is of the year 6429: with 16 bits of its
-- fraction it is a positive bigint.
--
-- The value 0 has been used, as pg_sequence_last_value() says nothing of one that has not been. A
-- sequence that is there is never set (I2).
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.relname = 'ulid_clock'::name AND n.nspname = pg_catalog.current_schema()) THEN
        CREATE SEQUENCE ulid_clock MINVALUE 0 MAXVALUE 140737488355327 START 0;
        -- Where there is a horizon, the next refresh sets it to a greater value.
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_class AS c
            JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE c.relname = 'ulid_horizon'::name AND n.nspname = pg_catalog.current_schema()) THEN
            PERFORM pg_catalog.setval('ulid_clock'::pg_catalog.regclass, 0::bigint);
        END IF;
    END IF;
END $$;
COMMENT ON SEQUENCE ulid_clock IS 'milliseconds; no ordered id generated later is less';
GRANT SELECT ON SEQUENCE ulid_clock TO PUBLIC;

-- One row, which the first refresh inserts: a row of this script would be there twice after
-- the restore of an extension. Each refresh updates it. A page is pruned when it is half full.
-- Vacuum neither waits for many dead rows nor truncates, which would lock consumers out. No column
-- is toasted.
CREATE TABLE IF NOT EXISTS ulid_horizon (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    horizon uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    refreshed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
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
COMMENT ON TABLE ulid_horizon IS 'ulid_sql 1.0.0: the horizon of ordered ids, in the only row';
COMMENT ON COLUMN ulid_horizon.one IS 'key, because replication needs one';
COMMENT ON COLUMN ulid_horizon.horizon
    IS 'whoever sees this row sees each ordered id below the horizon that will ever be seen';
COMMENT ON COLUMN ulid_horizon.next_ms
    IS 'next horizon in milliseconds, when the transactions have ended that hold it back';
COMMENT ON COLUMN ulid_horizon.next_xid IS 'the greatest xid of those transactions';
COMMENT ON COLUMN ulid_horizon.idle_xmax
    IS 'xmax of snapshots until the next transaction; null if others were running';
COMMENT ON COLUMN ulid_horizon.server_started_at IS 'when the server was started that refreshed it';
COMMENT ON COLUMN ulid_horizon.database IS 'OID of the database in which it was refreshed';
GRANT SELECT ON ulid_horizon TO PUBLIC;

-- Dumps have the sequence and the row, of an extension too.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_depend
        WHERE classid = 'pg_catalog.pg_class'::pg_catalog.regclass::oid
        AND objid = 'ulid_clock'::pg_catalog.regclass::oid
            AND deptype = 'e') THEN
        PERFORM pg_catalog.pg_extension_config_dump(
            'ulid_clock'::pg_catalog.regclass, ''::text);
        PERFORM pg_catalog.pg_extension_config_dump(
            'ulid_horizon'::pg_catalog.regclass, ''::text);
    END IF;
END $$;

-- The setting ulid_sql.ordered is the state of the transaction: sequence and xid, the id clock at
-- its first id, and the time of its last, in 65536ths of a millisecond. It serves the order within
-- the transaction, and the guard. If it is lost or forged, the horizon is as right as before.
-- Variables are assigned, since PL/pgSQL evaluates an assignment without the executor.
CREATE OR REPLACE FUNCTION ulid_sql_ordered(clock regclass, is_uuid_v7 boolean) RETURNS uuid
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    -- I1, in this order
    transaction CONSTANT text := clock::oid || '/' || pg_current_xact_id()::text;
    ms bigint := pg_sequence_last_value(clock);
    first bigint := ms;
    horizon regclass;
    is_known boolean;
    state text := current_setting('ulid_sql.ordered', true);
    -- microseconds, at most 2^32 - 1 before the id clock
    us bigint := greatest((date_part('epoch', clock_timestamp()) * 1000000)::bigint,
        ms * 1000 - 4294967295);
    -- milliseconds and their fraction in 65536ths
    time bigint;
    -- 8 bytes, without those in which version and variant are
    random bytea := overlay(uuid_send(gen_random_uuid()) PLACING '' FROM 6 FOR 8);
BEGIN
    IF ms IS NULL THEN
        -- 42501 before PostgreSQL 17; from then on, null
        IF NOT has_sequence_privilege(clock, 'SELECT, USAGE') THEN
            RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
                MESSAGE = format('permission denied for sequence %s',
                    (SELECT relname FROM pg_class WHERE oid = clock));
        END IF;
        -- As of a dump without data. While there is no horizon, either, no id is too small. The
        -- first refresh gives it a value, and has to wait for this transaction. An empty table is
        -- not read, for which the role may lack the right.
        SELECT h.oid INTO horizon FROM pg_class AS c
        JOIN pg_class AS h ON h.relnamespace = c.relnamespace AND h.relname = 'ulid_horizon'
        WHERE c.oid = clock;
        IF pg_relation_size(horizon) > 0 THEN
            EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE horizon > $1)', horizon)
                INTO is_known USING '00000000-0000-0000-0000-000000000000'::uuid;
        END IF;
        IF is_known THEN
            RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
                MESSAGE = 'the id clock has no value',
                DETAIL = 'It was reset or restored, and the horizon was not.',
                HINT = 'CALL ulid_refresh_horizon().';
        END IF;
        ms := 0;
        first := 0;
    END IF;
    IF split_part(state, ' ', 1) = transaction THEN
        first := split_part(state, ' ', 2);
        time := split_part(state, ' ', 3);
        us := greatest(us, (time >> 16) * 1000 + ((time & 65535) * 1000 >> 16) + 1);
    END IF;
    -- rounded up, so that the microsecond is read back
    time := us / 1000 << 16 | ((us % 1000 << 16) + 999) / 1000;
    state := set_config('ulid_sql.ordered', transaction || ' ' || first || ' ' || time, true);
    IF us <= ms * 1000 THEN
        -- The id clock is ahead, at least by the rest of a millisecond, as after each refresh.
        -- The microseconds are in place of random bits, so that ids are in their order: 32 bits, in
        -- a uuid after a byte for the variant.
        time := ms << 16;
        random := overlay(random PLACING substring(int8send(us - ms * 1000 + 4294967295)
            FROM 5 - is_uuid_v7::integer) FROM 1);
    END IF;
    IF is_uuid_v7 THEN
        -- the version before 12 bits of the fraction, the variant before the other 4
        RETURN encode(int8send(time >> 16 << 16 | 28672 | (time >> 4 & 4095))
            || set_byte(random, 0, 128 | ((time & 15) << 2)::integer | (get_byte(random, 0) & 3)),
            'hex')::uuid;
    END IF;
    RETURN encode(int8send(time) || random, 'hex')::uuid;
END $$;
COMMENT ON FUNCTION ulid_sql_ordered(regclass, boolean)
    IS 'generate an ordered id by this id clock';

CREATE OR REPLACE FUNCTION gen_ordered_ulid() RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN ulid_sql_ordered('ulid_clock'::regclass, false);
COMMENT ON FUNCTION gen_ordered_ulid()
    IS 'generate a ulid greater than all that the transaction generated with it before';

CREATE OR REPLACE FUNCTION gen_ordered_uuid_v7() RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN ulid_sql_ordered('ulid_clock'::regclass, true);
COMMENT ON FUNCTION gen_ordered_uuid_v7()
    IS 'generate a version 7 uuid greater than all that the transaction generated with it before';

-- Whether a refresh would tell anything new. It writes nothing: neither WAL nor an xid.
--
-- If no other transaction with an xid was running at the last refresh, and none has ended since
-- by the xmax of snapshots, then none that has committed since has generated an id. If transactions
-- hold the next horizon back, they must have ended. Otherwise the row is written once a minute, so
-- that an older refreshed_at tells that nobody refreshes any more. The ids that a transaction
-- generates after it has refreshed are noticed when another one ends, or after that minute.
CREATE OR REPLACE FUNCTION ulid_sql_is_stale(horizon regclass, id_clock regclass, old ulid_horizon)
    RETURNS boolean
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    now CONSTANT timestamptz := clock_timestamp();
    xmax CONSTANT bigint := pg_snapshot_xmax(pg_current_snapshot())::text;
    here oid;
    oldest bigint;
    has_value boolean;
    subscription name;
BEGIN
    -- The primary server refreshes, or the source of the subscription. Nobody knows whether a
    -- subscription without tables, as that of a dump which was restored, will bring the horizon.
    IF pg_is_in_recovery()
        OR EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid = horizon) THEN
        RETURN false;
    ELSIF current_setting('transaction_isolation')
        NOT IN ('read committed', 'read uncommitted') THEN
        RAISE EXCEPTION USING ERRCODE = 'active_sql_transaction',
            MESSAGE = 'the horizon must be refreshed in isolation level READ COMMITTED';
    END IF;
    SELECT oid INTO here FROM pg_database WHERE datname = current_database();
    SELECT subname INTO subscription FROM pg_subscription AS s
    WHERE subdbid = here
        AND NOT EXISTS (SELECT FROM pg_subscription_rel WHERE srsubid = s.oid) LIMIT 1;
    IF subscription IS NOT NULL THEN
        RAISE EXCEPTION 'subscription "%" has no tables', subscription
            USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'It could bring the horizon of another server.',
            HINT = format('ALTER SUBSCRIPTION %1$I ENABLE, then ALTER SUBSCRIPTION %1$I REFRESH'
                ' PUBLICATION; or drop it.', subscription);
    END IF;
    -- not after a reset that was rolled back
    EXECUTE format('SELECT is_called FROM %s', id_clock) INTO has_value;
    IF has_value AND old.refreshed_at BETWEEN now - interval '1 minute' AND now
        AND old.server_started_at = pg_postmaster_start_time()
        AND old.database = here THEN
        IF old.idle_xmax = xmax THEN
            RETURN false;
        ELSIF old.next_xid IS NOT NULL THEN
            SELECT min(xid) INTO oldest FROM (
                SELECT min(xmax + ((transactionid::text::bigint - xmax + 2147483648) & 4294967295)
                    - 2147483648) AS xid
                FROM pg_locks
                WHERE granted AND (locktype = 'transactionid' AND mode = 'ExclusiveLock'
                    OR locktype = 'relation' AND mode = 'RowExclusiveLock'
                    AND relation = id_clock AND database = here)
                GROUP BY virtualtransaction HAVING bool_or(locktype = 'relation')) AS holder;
            RETURN (oldest <= old.next_xid) IS NOT TRUE;
        END IF;
    END IF;
    RETURN true;
END $$;

-- The row as it is to be written, of one that is locked. It sets the id clock. The caller is a
-- transaction of its own, without an xid before the row was locked, or counts itself.
CREATE OR REPLACE FUNCTION ulid_sql_compute(id_clock regclass, old ulid_horizon, is_own boolean)
    RETURNS ulid_horizon
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    me CONSTANT bigint := pg_current_xact_id()::text;
    -- before the time is read, so that ids of those that have ended are below it
    is_alone CONSTANT boolean := pg_snapshot_xmin(pg_current_snapshot()) = pg_current_xact_id();
    -- without a value, it is set behind the horizon
    before CONSTANT bigint := coalesce(pg_sequence_last_value(id_clock), 0);
    now bigint := trunc(date_part('epoch', clock_timestamp()) * 1000);
    here CONSTANT oid := (SELECT oid FROM pg_database WHERE datname = current_database());
    is_shown boolean;           -- whether pg_locks has the lock of this transaction
    oldest bigint;              -- the xids of holders
    newest bigint;
    ms bigint;
    ready bigint;               -- the new horizon
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN       -- I7
        PERFORM set_config('synchronous_commit', 'local', true);
    END IF;
    -- The next millisecond, so that the ids of this one are below it. It is a later one than that
    -- of the last refresh, and the id clock advances by at most a millisecond in a millisecond,
    -- however often it is called. If the time of the server was set back, it goes on slowly.
    IF now < before THEN
        PERFORM pg_sleep(0.001);
        now := trunc(date_part('epoch', clock_timestamp()) * 1000);
    END IF;
    -- The row may be later than the id clock where it was replicated, and the clock was not.
    ms := ('x' || encode(substring(uuid_send(old.horizon) FOR 6), 'hex'))::bit(48)::bigint;
    IF ms > greatest(now, before) + 86400000 THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = format('horizon "%s" is more than a day ahead of the clock', old.horizon),
            HINT = 'If that is right, run ulid_advance_ordered_time(horizon, true) before.';
    END IF;
    ms := greatest(now, before, ms) + 1;
    PERFORM setval(id_clock, ms);                               -- I2, I3
    -- The id clock is behind the next horizon if a reset was rolled back.
    IF old.server_started_at IS DISTINCT FROM pg_postmaster_start_time()
        OR old.database IS DISTINCT FROM here OR before < old.next_ms THEN
        old.next_xid := NULL;
    END IF;
    PERFORM pg_stat_clear_snapshot();
    FOR n IN 1 .. 3 LOOP
        -- I3. A holder without an xid has generated nothing yet. Its xid has no lock if the lock
        -- table was full. Locks of an unnamed owner, as of
        -- prepared transactions, may be of several ones: each xid counts. The xids are those of 64
        -- bits that are nearest to the one of this transaction.
        SELECT bool_or(is_mine), min(first) FILTER (WHERE NOT (is_mine AND is_own)),
            max(last) FILTER (WHERE NOT (is_mine AND is_own))
        INTO is_shown, oldest, newest FROM (
            SELECT coalesce(bool_or(pid = pg_backend_pid()), false) AS is_mine,
                min(xid) AS first, max(xid) AS last
            FROM (SELECT *, me + ((coalesce(transactionid,
                    CASE WHEN relation = id_clock AND database = here AND pid > 0
                        THEN (SELECT backend_xid FROM pg_stat_get_activity(lock.pid)) END
                    )::text::bigint - me + 2147483648) & 4294967295) - 2147483648 AS xid
                FROM pg_locks AS lock) AS lock
            WHERE granted AND (locktype = 'transactionid' AND mode = 'ExclusiveLock'
                OR locktype = 'relation' AND mode = 'RowExclusiveLock'
                AND relation = id_clock AND database = here)
            GROUP BY virtualtransaction HAVING bool_or(locktype = 'relation')) AS holder;
        IF is_shown IS NOT TRUE THEN
            RAISE EXCEPTION USING ERRCODE = 'feature_not_supported',
                MESSAGE = 'cannot determine the horizon of ordered ids on this server',
                DETAIL = 'Its view pg_locks does not show the locks of sequences.';
        END IF;
        IF oldest IS NULL THEN                                  -- I4
            ready := ms;
            old.next_xid := NULL;
            EXIT;
        ELSIF oldest > old.next_xid THEN                  -- I4
            ready := old.next_ms;
            old.next_xid := NULL;
        END IF;
        EXIT WHEN ready = ms;
        IF old.next_xid IS NULL THEN
            old.next_ms := ms;
            old.next_xid := newest;
        END IF;
        -- Most transactions are short: they are waited for, but not those that were there at the
        -- last refresh.
        EXIT WHEN n = 3 OR old.next_ms < ms;
        PERFORM pg_sleep(0.001);
    END LOOP;
    old.horizon := greatest(old.horizon,
        encode(substring(int8send(ready) FROM 3) || E'\\x00000000000000000000', 'hex')::uuid);
    old.refreshed_at := clock_timestamp();
    old.idle_xmax := CASE WHEN is_alone AND ready = ms AND before <= now
        THEN me + 1 END;
    old.server_started_at := pg_postmaster_start_time();
    old.database := here;
    RETURN old;
END $$;

COMMENT ON COLUMN ulid_horizon.refreshed_at IS 'time of the last refresh';

CREATE OR REPLACE FUNCTION ulid_sql_write(ulid_horizon) RETURNS boolean
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
    UPDATE ulid_horizon SET horizon = ($1).horizon, refreshed_at = ($1).refreshed_at,
        next_ms = ($1).next_ms, next_xid = ($1).next_xid, idle_xmax = ($1).idle_xmax,
        server_started_at = ($1).server_started_at, database = ($1).database
    RETURNING true;
END;

-- Each function here is a statement with a snapshot of its own, so that the row that is computed
-- and written is the one that is locked (I2), and is written last (I5). Who finds it locked leaves
-- the work to the other.
CREATE OR REPLACE FUNCTION ulid_sql_refresh(is_own boolean) RETURNS boolean
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
    INSERT INTO ulid_horizon (one)
    SELECT true WHERE NOT EXISTS (SELECT FROM ulid_horizon) ON CONFLICT DO NOTHING;
    SELECT coalesce((
        SELECT ulid_sql_write(ulid_sql_compute('ulid_clock'::regclass, old, is_own))
        FROM (SELECT h AS old FROM ulid_horizon AS h FOR UPDATE SKIP LOCKED) AS locked),
        false);
END;

CREATE OR REPLACE FUNCTION ulid_refresh() RETURNS boolean
    LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    RETURN (
        SELECT CASE WHEN ulid_sql_is_stale('ulid_horizon'::regclass, 'ulid_clock'::regclass, h)
            THEN ulid_sql_refresh(pg_current_xact_id_if_assigned() IS NULL)
            ELSE false END
        FROM (VALUES (1)) AS v (n) LEFT JOIN ulid_horizon AS h ON true);

-- The default of the argument is bound, and does the work before the body runs, which only commits
-- and looks up no name: a procedure that commits can have no search_path of its own. In a
-- transaction block the COMMIT is an error, so that nobody keeps the row locked.
CREATE OR REPLACE PROCEDURE ulid_refresh_horizon(is_refreshed boolean DEFAULT ulid_refresh())
    LANGUAGE plpgsql
    AS 'BEGIN COMMIT; END';
COMMENT ON PROCEDURE ulid_refresh_horizon(boolean)
    IS 'refresh the horizon and commit; takes the privilege EXECUTE on ulid_refresh()';

--
-- The horizon. A query reads the row with its own snapshot, as does each of its workers
-- (I6): the functions are STABLE.
--

CREATE OR REPLACE FUNCTION ulid_sql_horizon_error(last uuid, horizon uuid) RETURNS uuid
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF horizon IS NULL THEN
        RAISE EXCEPTION 'the horizon of ordered ids is not known yet'
            USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'CALL ulid_refresh_horizon(), on the primary or the publisher of this server.';
    ELSIF last IS NULL THEN
        RAISE EXCEPTION 'position of a consumer must not be null'
            USING ERRCODE = 'null_value_not_allowed',
            HINT = 'The position before all rows is ''00000000-0000-0000-0000-000000000000''.';
    END IF;
    RAISE EXCEPTION 'position "%" is ahead of the horizon "%"', last, horizon
        USING ERRCODE = 'object_not_in_prerequisite_state',
        HINT = 'The position is of another server, or of before a restore or a reset.';
END $$;
COMMENT ON FUNCTION ulid_sql_horizon_error(uuid, uuid)
    IS 'error of a horizon that is not known, or is less than the position';

CREATE OR REPLACE FUNCTION ulid_current_horizon() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN coalesce((SELECT horizon FROM ulid_horizon),
        ulid_sql_horizon_error(NULL::uuid, NULL::uuid));
COMMENT ON FUNCTION ulid_current_horizon()
    IS 'ulid below which the present query sees each ordered id that will ever be seen';

-- The first refreshes may find a horizon of zero. During recovery, the consumer may have read
-- from a server that has replayed more.
CREATE OR REPLACE FUNCTION ulid_current_horizon(last uuid) RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT CASE WHEN last <= horizon OR last IS NOT NULL
            AND (horizon = '00000000-0000-0000-0000-000000000000' OR pg_is_in_recovery())
            THEN horizon ELSE ulid_sql_horizon_error(last, horizon) END
        FROM (SELECT ulid_current_horizon()) AS h (horizon));
COMMENT ON FUNCTION ulid_current_horizon(uuid)
    IS 'the same for a consumer at this position; an error if that is ahead of the horizon';

-- Sessions and prepared transactions. The locks of prepared transactions have no pid, and may have
-- a number that others have, too: then those are also listed.
CREATE OR REPLACE VIEW ulid_horizon_holders AS
    SELECT h.pid, t.xid AS transaction, p.gid AS prepared,
        coalesce(a.xact_start, p.prepared) AS since, coalesce(a.usename, p.owner) AS usename,
        a.application_name, a.state, a.query
    FROM (SELECT DISTINCT virtualtransaction, pid FROM pg_locks
        WHERE granted AND locktype = 'relation' AND mode = 'RowExclusiveLock'
            AND relation = 'ulid_clock'::regclass::oid
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

-- It serves against mistakes only, as it trusts the state of the transaction. A text of another
-- type than uuid has another length. Only then, or without a value, the catalog is asked about the
-- column.
CREATE OR REPLACE FUNCTION ulid_ordered_guard() RETURNS trigger
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    state CONSTANT text := current_setting('ulid_sql.ordered', true);
    -- sequence and xid
    transaction text[] := string_to_array(split_part(state, ' ', 1), '/');
    -- what this session has last found to be of one schema
    checked CONSTANT text := TG_RELID || '/' || TG_NAME || '/' || transaction[1];
    first bigint;               -- in milliseconds, as what follows
    latest bigint;
    ms bigint;
    value text;
    id uuid;
    fault text := CASE WHEN TG_WHEN <> 'AFTER' OR TG_LEVEL <> 'ROW' THEN 'be fired AFTER ROW'
        WHEN TG_OP NOT IN ('INSERT', 'UPDATE') THEN 'be fired for INSERT or UPDATE'
        WHEN TG_NARGS <> 1 THEN 'have one argument, the name of a column' END;
    type oid;
    is_generated boolean;
BEGIN
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'trigger_protocol_violated',
            MESSAGE = format('function "ulid_ordered_guard" must %s', fault),
            HINT = 'It is for CREATE TRIGGER name AFTER INSERT OR UPDATE ON table'
                ' FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard(''column'').';
    END IF;
    value := to_jsonb(NEW) ->> TG_ARGV[0];
    IF length(value) = 36 IS NOT TRUE THEN
        SELECT coalesce(nullif(typbasetype, 0), t.oid), attgenerated = 'v'
        INTO type, is_generated FROM pg_attribute JOIN pg_type AS t ON t.oid = atttypid
        WHERE attrelid = TG_RELID AND attname = TG_ARGV[0] AND attnum > 0;
        fault := format('column "%s" of relation "%s" ', TG_ARGV[0], TG_TABLE_NAME);
        IF type IS NULL THEN
            RAISE EXCEPTION USING ERRCODE = 'undefined_column', MESSAGE = fault || 'does not exist';
        ELSIF is_generated THEN
            RAISE EXCEPTION USING ERRCODE = 'invalid_column_reference',
                MESSAGE = fault || 'is a virtual generated column',
                DETAIL = 'The row does not have its value, which the trigger could check.';
        ELSIF type <> 'uuid'::regtype THEN
            RAISE EXCEPTION USING ERRCODE = 'datatype_mismatch',
                MESSAGE = format('%sis of type %s, not uuid', fault, type::regtype);
        END IF;
        IF TG_OP = 'UPDATE' THEN
            IF to_jsonb(OLD) ->> TG_ARGV[0] IS NULL THEN
                RETURN NEW;
            END IF;
        END IF;
        RAISE EXCEPTION USING ERRCODE = 'not_null_violation',
            MESSAGE = format('null value in column "%s" of relation "%s"', TG_ARGV[0],
                TG_TABLE_NAME),
            DETAIL = 'Consumers would never read the row.';
    END IF;
    id := value;
    IF TG_OP = 'UPDATE' THEN
        IF id = (to_jsonb(OLD) ->> TG_ARGV[0])::uuid THEN
            RETURN NEW;
        END IF;
    END IF;
    -- Another copy of this script has another id clock, and another horizon.
    IF current_setting('ulid_sql.checked', true) IS DISTINCT FROM checked THEN
        IF EXISTS (SELECT FROM pg_trigger JOIN pg_proc AS p ON p.oid = tgfoid
            JOIN pg_class AS c ON c.oid = transaction[1]::oid
            WHERE tgrelid = TG_RELID AND tgname = TG_NAME AND relnamespace = pronamespace) THEN
            PERFORM set_config('ulid_sql.checked', checked, false);
        ELSE
            transaction := NULL;
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

-- The part about consumers takes the rights on its table from PUBLIC. What it has been granted
-- since the table was created, it is granted again at the end of this script.
DO $$
BEGIN
    PERFORM pg_catalog.set_config('ulid_sql.granted'::text, (
        SELECT coalesce(pg_catalog.string_agg(privilege_type, ', '::text), ''::text)
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace,
            pg_catalog.aclexplode(c.relacl)
        WHERE c.relname = 'ulid_consumer'::name AND n.nspname = pg_catalog.current_schema()
            AND grantee = 0::oid), false);
END $$;

--
-- How the part about consumers reads a table of another role. In ulid.sql, that takes no query.
--

-- Whether the present role can read a table without running functions of others. Who plans a query
-- evaluates what is constant in the expressions of indexes and of keys, also of the tables above;
-- policies call functions, too, and so may another server. If the owners of all tables can become
-- the present role, nothing is gained. A superuser trusts no others, as one of these could create
-- an index between this question and the query. A function of an extension that takes any type may
-- call the functions of that.
CREATE OR REPLACE FUNCTION ulid_consumer_is_trusted(relation regclass) RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    are_owners boolean;
    is_foreign boolean;
    tables oid[];
BEGIN
    WITH RECURSIVE below (oid) AS (
        SELECT relation::oid
        UNION SELECT inhrelid FROM pg_inherits JOIN below ON inhparent = below.oid
    ), tree (oid) AS (
        SELECT oid FROM below
        UNION SELECT inhparent FROM pg_inherits JOIN tree ON inhrelid = tree.oid
    )
    SELECT bool_and(pg_has_role(relowner, current_user, 'USAGE')), bool_or(relkind = 'f'),
        array_agg(tree.oid)
    INTO are_owners, is_foreign, tables FROM tree JOIN pg_class AS c ON c.oid = tree.oid;
    IF are_owners THEN
        RETURN true;
    ELSIF is_foreign OR row_security_active(relation)
        OR (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        RETURN false;
    END IF;
    RETURN NOT EXISTS (
        WITH part (class, oid) AS (
            SELECT 'pg_class'::regclass::oid, unnest(tables)
            UNION ALL SELECT 'pg_class'::regclass, indexrelid
            FROM pg_index WHERE indrelid = ANY (tables)
            UNION ALL SELECT 'pg_constraint'::regclass, c.oid
            FROM pg_constraint AS c WHERE conrelid = ANY (tables)
            UNION ALL SELECT 'pg_statistic_ext'::regclass, s.oid
            FROM pg_statistic_ext AS s WHERE stxrelid = ANY (tables)
        )
        SELECT FROM part JOIN pg_depend ON classid = class AND objid = part.oid
        LEFT JOIN pg_operator AS o ON refclassid = 'pg_operator'::regclass AND o.oid = refobjid
        JOIN pg_proc AS p ON p.oid = coalesce(oprcode::oid, refobjid)
        WHERE refclassid IN ('pg_operator'::regclass, 'pg_proc'::regclass)
            -- from 16384 on, an OID is not PostgreSQL's own
            AND (NOT pg_has_role(proowner, current_user, 'USAGE') OR p.oid >= 16384
                AND EXISTS (SELECT FROM pg_type AS t
                    WHERE t.oid = ANY (proargtypes) AND typtype = 'p')));
END $$;
COMMENT ON FUNCTION ulid_consumer_is_trusted(regclass)
    IS 'whether reading the table of a consumer runs no functions of other roles';

CREATE OR REPLACE FUNCTION ulid_sql_first(relation regclass, number integer, "position" uuid,
        is_trusted boolean)
    RETURNS uuid
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    id uuid;
BEGIN
    -- After the question whether the table can be trusted, its owner could have created an index
    -- that calls a function.
    IF is_trusted IS NOT TRUE OR row_security_active(relation)
        OR (SELECT rolsuper AND NOT pg_has_role(relowner, r.oid, 'USAGE')
            FROM pg_roles AS r, pg_class AS c WHERE rolname = current_user AND c.oid = relation)
    THEN
        RAISE EXCEPTION 'permission denied for table %', relation
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    EXECUTE format('SELECT %1$I FROM %2$s WHERE %1$I >= $1::uuid ORDER BY %1$I LIMIT 1',
        (SELECT attname FROM pg_attribute WHERE attrelid = relation AND attnum = number),
        relation) INTO id USING "position";
    RETURN id;
END $$;
-- Whoever calls it has waited for locks before, since a lock could end with such an index.
CREATE OR REPLACE FUNCTION ulid_consumer_first(relation oid, number integer, "position" uuid)
    RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN ulid_sql_first(relation::regclass, number, "position",
        ulid_consumer_is_trusted(relation::regclass));
COMMENT ON FUNCTION ulid_consumer_first(oid, integer, uuid)
    IS 'first id of a column from this one on; an error if that could run functions of others';

--
-- Consumers: who reads the rows of a table in the order of their ids, and how far. The text from
-- here to the end of this part is the same in ulid.sql and in ulid_sql.sql, where an id is a uuid.
--
-- A batch is two ids between which the next rows lie. The client reads it with a query of its own.
-- No row is lost, because:
--
-- - The batch ends below the horizon, which was read before. So the client's query sees each row of
--   it that will ever be seen.
-- - The position moves in the transaction that has read the batch, and only from where the batch
--   began.
-- - A statement can be planned before a partition is attached or rewritten, and then be executed
--   with a later snapshot: it does not see the rows that were moved. So the storage of the table
--   (OIDs, files and attachments of its tree) is compared at the beginning and at the end. The
--   change of a catalog is visible before its invalidation messages are sent. Whoever has made it
--   still holds the lock then, and is waited for.
--
-- Both ends are ids between two rows, so that < and <=, > and >= read the same. A batch ends after
-- its last row, never at the horizon: where there is no row, nothing is written.
--
-- Nobody is stopped: the look for the end of a batch keeps no lock, since its subtransaction is
-- rolled back. With a lock that was taken before, the client's statement would not notice a change,
-- either.
--
-- Ids are uuid in what is returned, since a uuid can be compared with both types. Bodies of
-- PL/pgSQL know pg_catalog alone. What is of this schema is passed to them, tables as regclass and
-- functions as regproc: by functions of SQL, whose names are resolved when they are created, or,
-- where each call counts, by the defaults of arguments that nobody else sets.
--

-- Whoever is granted INSERT, UPDATE and DELETE may have consumers; the trigger below lets a role
-- change its own only. A position belongs to a database, so a subscription does not bring it.
CREATE TABLE IF NOT EXISTS ulid_consumer (
    name text PRIMARY KEY CHECK (name <> ''),
    owner name NOT NULL DEFAULT current_user,
    relation regclass NOT NULL,
    -- the name when the consumer was let read it: another table that has the name now is not it
    relation_name text NOT NULL,
    key name NOT NULL,
    position uuid NOT NULL,
    moved_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    -- when batches from this position were deferred, the last first: a copy of the server may lack
    -- some
    deferred_at timestamptz[],
    -- by ulid_consumer_storage(), when whoever had changed it had ended
    storage bigint[],
    storage_hash bigint
) WITH (
    fillfactor = 50, vacuum_truncate = off,
    autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0,
    autovacuum_analyze_threshold = 2000000000
);
COMMENT ON TABLE ulid_consumer IS 'consumers of tables with ordered ids, and their positions';
COMMENT ON COLUMN ulid_consumer.position IS 'all rows with a lesser id have been read';
REVOKE ALL ON ulid_consumer FROM PUBLIC;
GRANT SELECT ON ulid_consumer TO PUBLIC;
GRANT INSERT, UPDATE, DELETE ON ulid_consumer TO pg_database_owner WITH GRANT OPTION;

CREATE OR REPLACE FUNCTION ulid_consumer_change() RETURNS trigger
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    -- The owner of the database, and of this table, as whoever has run the script. Whoever makes a
    -- consumer read a table of his could have it run functions of his. So not even these do that in
    -- the name of a role that they cannot become.
    is_administrator boolean;
    -- From PostgreSQL 16 on, not every member can become the role.
    become CONSTANT text := CASE WHEN current_setting('server_version_num')::integer >= 160000
        THEN 'SET' ELSE 'MEMBER' END;
    is_member boolean;
    horizon uuid;
BEGIN
    IF current_setting('session_replication_role') = 'replica' THEN
        -- The type is null if this role may not see it.
        IF EXISTS (SELECT FROM pg_stat_get_activity(pg_backend_pid())
            WHERE backend_type = 'client backend' OR backend_type IS NULL AND NOT EXISTS
                (SELECT FROM pg_stat_get_subscription(NULL) WHERE pid = pg_backend_pid())) THEN
            RAISE EXCEPTION 'cannot change consumers while "session_replication_role" is "replica"'
                USING ERRCODE = 'object_not_in_prerequisite_state';
        END IF;
        -- what a subscription brings
        RETURN NULL;
    END IF;
    -- The functions have compared the position themselves, and set the time to one after the
    -- beginning of the statement.
    IF TG_OP = 'UPDATE' AND NEW.position > OLD.position
        AND NEW.moved_at <= statement_timestamp() THEN
        EXECUTE format('SELECT horizon::uuid FROM %I.ulid_horizon', TG_TABLE_SCHEMA) INTO horizon;
        IF NEW.position > coalesce(horizon, '00000000-0000-0000-0000-000000000000') THEN
            RAISE EXCEPTION 'a consumer cannot be above the horizon'
                USING ERRCODE = 'invalid_parameter_value',
                DETAIL = format('The horizon is "%s".', horizon),
                HINT = 'Refresh the horizon until it has passed the id.';
        END IF;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        SELECT pg_has_role(oid, become) INTO is_member FROM pg_roles WHERE rolname = OLD.owner;
        IF is_member AND TG_OP = 'UPDATE' AND (NEW.owner, NEW.relation::oid)
            = (OLD.owner, OLD.relation::oid) THEN
            -- as each batch does
            RETURN NEW;
        END IF;
    END IF;
    is_administrator := pg_has_role('pg_database_owner', 'USAGE')
        OR pg_has_role((SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE');
    IF TG_OP <> 'INSERT' THEN
        -- A role that was renamed is none of the rows any more, until its new name is set.
        IF is_member IS NOT TRUE AND NOT (is_administrator AND (TG_OP = 'DELETE'
            OR (NEW.owner, NEW.relation::oid, NEW.key) = (OLD.owner, OLD.relation::oid, OLD.key)
            OR NEW.owner = current_user OR is_member IS NULL
                AND (NEW.relation::oid, NEW.key) = (OLD.relation::oid, OLD.key))) THEN
            RAISE EXCEPTION 'must be owner of consumer "%"', OLD.name
                USING ERRCODE = 'insufficient_privilege';
        ELSIF TG_OP = 'DELETE' THEN
            RETURN OLD;
        END IF;
    END IF;
    IF TG_OP = 'INSERT' OR NEW.owner <> OLD.owner THEN
        SELECT pg_has_role(oid, become) INTO is_member FROM pg_roles WHERE rolname = NEW.owner;
        IF TG_OP = 'INSERT' AND (is_member IS NULL OR is_member IS FALSE AND is_administrator) THEN
            -- a dump that is restored where this role does not exist, or by another role
            NEW.owner := current_user;
        ELSIF is_member IS NOT TRUE THEN
            RAISE EXCEPTION 'must be able to SET ROLE "%"', NEW.owner
                USING ERRCODE = 'insufficient_privilege';
        END IF;
    END IF;
    IF TG_OP = 'INSERT' OR NEW.relation::oid <> OLD.relation::oid THEN
        IF TG_OP = 'UPDATE' OR NEW.relation_name IS NULL THEN
            -- A dump has the name, which another table may have by now.
            NEW.relation_name := NEW.relation;
        END IF;
        IF NOT is_administrator
            AND has_any_column_privilege(NEW.relation, 'SELECT') IS NOT TRUE THEN
            RAISE EXCEPTION 'permission denied for table %', NEW.relation
                USING ERRCODE = 'insufficient_privilege';
        END IF;
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION ulid_consumer_change()
    IS 'trigger that lets a role change its own consumers only, and moves none above the horizon';
CREATE OR REPLACE TRIGGER ulid_consumer_change BEFORE INSERT OR UPDATE OR DELETE ON ulid_consumer
    FOR EACH ROW EXECUTE FUNCTION ulid_consumer_change();
ALTER TABLE ulid_consumer ENABLE ALWAYS TRIGGER ulid_consumer_change;
COMMENT ON TRIGGER ulid_consumer_change ON ulid_consumer
    IS 'lets a role change its own consumers only';

CREATE OR REPLACE FUNCTION ulid_consumer_find(consumer text, consumers regclass)
    RETURNS ulid_consumer
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    c record;
BEGIN
    EXECUTE format('SELECT * FROM %s WHERE name = $1', consumers) INTO c USING consumer;
    IF c.name IS NULL THEN
        RAISE EXCEPTION 'consumer "%" does not exist', consumer USING ERRCODE = 'undefined_object';
    END IF;
    RETURN c;
END $$;
COMMENT ON FUNCTION ulid_consumer_find(text, regclass) IS 'the consumer of this name';

-- The cast of an id that is compared with the column. An error if the relation or the column is not
-- what a consumer can read. So whatever a role has made of its table, no operator of its own is
-- called. Also an error if a subscription brings the rows without the horizon.
CREATE OR REPLACE FUNCTION ulid_consumer_cast(relation regclass, key name, id_type regtype,
        horizons regclass DEFAULT 'ulid_horizon'::regclass)
    RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    kind "char";
    persistence "char";
    type oid;
    base oid;
    with_table oid[];
    with_tree oid[];
    with_horizon oid[];
    is_copied boolean;
BEGIN
    SELECT relkind, relpersistence, atttypid INTO kind, persistence, type FROM pg_class AS c
    LEFT JOIN pg_attribute ON attrelid = c.oid AND attname = key AND attnum > 0 AND NOT attisdropped
    WHERE c.oid = relation;
    IF kind IS NULL THEN
        RAISE EXCEPTION 'the table of the consumer does not exist any more'
            USING ERRCODE = 'undefined_table',
            HINT = 'If another table has taken its place, ulid_move_consumer() sets it.';
    ELSIF kind NOT IN ('r', 'p') THEN
        RAISE EXCEPTION '"%" is not a table', relation
            USING ERRCODE = 'wrong_object_type',
            HINT = 'Let the consumer read the table, and the query between the ids the view.';
    ELSIF persistence = 't' THEN
        RAISE EXCEPTION '"%" is a temporary table', relation USING ERRCODE = 'wrong_object_type';
    ELSIF type IS NULL THEN
        RAISE EXCEPTION 'column "%" of relation "%" does not exist', key, relation
            USING ERRCODE = 'undefined_column';
    ELSIF EXISTS (SELECT FROM pg_subscription_rel) THEN
        WITH RECURSIVE above (oid) AS (
            SELECT relation::oid UNION SELECT relid::oid FROM pg_partition_ancestors(relation)
        ), tree (oid) AS (
            SELECT relation::oid
            UNION SELECT inhrelid FROM pg_inherits JOIN tree ON inhparent = tree.oid
        )
        SELECT array_agg(DISTINCT srsubid) FILTER (WHERE srrelid IN (SELECT oid FROM above)),
            array_agg(DISTINCT srsubid) FILTER (WHERE srrelid <> horizons),
            array_agg(DISTINCT srsubid) FILTER (WHERE srrelid = horizons),
            bool_and(srsubstate = 'r')
        INTO with_table, with_tree, with_horizon, is_copied FROM pg_subscription_rel
        WHERE srrelid = horizons OR srrelid IN (SELECT oid FROM above UNION SELECT oid FROM tree);
        IF with_table IS DISTINCT FROM with_horizon OR with_tree IS DISTINCT FROM with_horizon
            OR cardinality(with_horizon) > 1 THEN
            RAISE EXCEPTION 'relation "%" and the horizon do not come by the same subscription',
                relation
                USING ERRCODE = 'object_not_in_prerequisite_state',
                DETAIL = 'Rows could come after a horizon that is greater than their ids.',
                HINT = format('If another server generates all ids, add %s and %s to one'
                    ' publication, with publish_via_partition_root, and run ALTER SUBSCRIPTION ...'
                    ' REFRESH PUBLICATION here.', relation, horizons);
        ELSIF NOT is_copied THEN
            RAISE EXCEPTION 'the initial copy of relation "%", or of the horizon, has not ended',
                relation
                USING ERRCODE = 'object_not_in_prerequisite_state',
                HINT = 'Wait, or see the log for errors of the subscription.';
        END IF;
    END IF;
    LOOP
        IF type = 'uuid'::regtype THEN
            RETURN '::uuid';
        ELSIF type = id_type THEN
            RETURN format('::%s', id_type);
        END IF;
        SELECT nullif(typbasetype, 0) INTO base FROM pg_type WHERE oid = type AND typtype = 'd';
        EXIT WHEN base IS NULL;
        type := base;
    END LOOP;
    RAISE EXCEPTION 'column "%" of relation "%" is of type %, not of a type of ids', key, relation,
        type::regtype USING ERRCODE = 'datatype_mismatch';
END $$;
COMMENT ON FUNCTION ulid_consumer_cast(regclass, name, regtype, regclass)
    IS 'cast to the type of the column that a consumer reads';

-- One number for each table in the tree of a relation, which changes when the table is rewritten,
-- attached or detached, also if it is attached again. Waits for whoever has changed a table that is
-- not among the known ones. pg_partition_tree() leaves out children by INHERIT, which can have
-- several parents. relhassubclass is never false where there are children.
CREATE OR REPLACE FUNCTION ulid_consumer_storage(relation oid, known bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    storage bigint[];
    is_foreign boolean;
BEGIN
    LOOP
        WITH RECURSIVE tree (oid, parent, row_version, is_detached) AS (
            SELECT relation, 0::oid, '0'::xid, false
            UNION
            SELECT inhrelid, inhparent, i.xmin, inhdetachpending
            FROM pg_inherits AS i JOIN tree ON inhparent = tree.oid
        ), one AS (
            -- a third of the time of a text
            SELECT relkind, hash_record_extended(ROW(tree.*, relfilenode), 0) AS number
            FROM tree JOIN pg_class AS c ON c.oid = tree.oid
        )
        SELECT array_agg(number ORDER BY number), bool_or(relkind = 'f')
        INTO storage, is_foreign FROM one;
        IF is_foreign THEN
            -- The other server's snapshot is that of the first statement of the transaction.
            RAISE EXCEPTION 'relation "%" has a foreign partition', relation::regclass
                USING ERRCODE = 'feature_not_supported',
                HINT = 'Let consumers of the other server read it.';
        END IF;
        EXIT WHEN storage = known OR storage IS NULL;
        -- It locks the table, and releases the lock at once.
        WITH RECURSIVE tree (oid, parent, row_version, is_detached) AS (
            SELECT relation, 0::oid, '0'::xid, false
            UNION
            SELECT inhrelid, inhparent, i.xmin, inhdetachpending
            FROM pg_inherits AS i JOIN tree ON inhparent = tree.oid
        )
        SELECT bool_or(pg_relation_size(c.oid) > 0) INTO is_foreign
        FROM tree JOIN pg_class AS c ON c.oid = tree.oid
        WHERE known IS NULL
            OR hash_record_extended(ROW(tree.*, relfilenode), 0) <> ALL (known);
        known := storage;
    END LOOP;
    RETURN storage;
END $$;
COMMENT ON FUNCTION ulid_consumer_storage(oid, bigint[])
    IS 'what tells whether the tables of a tree have been rewritten, attached or detached';

-- The exclusive or of these numbers, which waits for nobody. Each batch compares it twice, so the
-- catalogs are read once for each level of the tree, in no order.
CREATE OR REPLACE FUNCTION ulid_consumer_storage_hash(relation oid) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    hash bigint := (SELECT hash_record_extended(ROW(oid, 0::oid, '0'::xid, false, relfilenode), 0)
        FROM pg_class WHERE oid = relation);
    level bigint;
    parents oid[] := ARRAY[relation];
    seen oid[];
BEGIN
    WHILE parents IS NOT NULL LOOP
        seen := seen || parents;
        SELECT bit_xor(hash_record_extended(ROW(c.oid, inhparent, i.xmin, inhdetachpending,
                relfilenode), 0)),
            array_agg(c.oid) FILTER (WHERE relhassubclass AND c.oid <> ALL (seen))
        INTO level, parents
        FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = inhrelid
        WHERE inhparent = ANY (parents);
        hash := hash # coalesce(level, 0);
    END LOOP;
    RETURN hash;
END $$;
COMMENT ON FUNCTION ulid_consumer_storage_hash(oid) IS 'a hash of ulid_consumer_storage()';

-- A procedure, since a function could be called in the statement that reads the rows, or in a
-- function of LANGUAGE sql with it: then its horizon is later than the snapshot of the rows.
CREATE OR REPLACE PROCEDURE ulid_next_batch(consumer text, max_rows integer DEFAULT 1000,
        up_to uuid DEFAULT NULL, INOUT batch_start uuid DEFAULT NULL,
        INOUT batch_end uuid DEFAULT NULL,
        consumers regclass DEFAULT 'ulid_consumer'::regclass,
        horizons regclass DEFAULT 'ulid_horizon'::regclass,
        id_type regtype DEFAULT 'uuid'::regtype,
        cast_of regproc DEFAULT 'ulid_consumer_cast'::regproc,
        trust_of regproc DEFAULT 'ulid_consumer_is_trusted'::regproc,
        storage_of regproc DEFAULT 'ulid_consumer_storage'::regproc,
        hash_of regproc DEFAULT 'ulid_consumer_storage_hash'::regproc)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    none CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
    -- without the column storage, which can be long
    columns CONSTANT text := 'name, owner, relation, relation_name, key, position, moved_at,'
        ' storage_hash';
    c record;
    base oid;
    number bigint;
    cast_ text;
    is_trusted boolean;
    below uuid := up_to;
    ids uuid[];
    next_id uuid;
    after_last uuid;
    last_id uuid;
    chunk integer;
    is_locked boolean := false;
    hash bigint;
    known bigint;
    moved_at timestamptz;
    is_below boolean;
    bytes bytea;
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE EXCEPTION 'a batch must be read in isolation level READ COMMITTED'
            USING ERRCODE = 'active_sql_transaction';
    ELSIF max_rows IS NULL OR max_rows < 1 THEN
        RAISE EXCEPTION 'a batch must have at least one row'
            USING ERRCODE = 'invalid_parameter_value';
    ELSIF nullif(current_setting('ulid_consumer.batch', true), '')::json ->> 'hash' IS NOT NULL
    THEN
        RAISE EXCEPTION 'this transaction has a batch already'
            USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'Finish it before the next one.';
    END IF;
    EXECUTE format('SELECT %s, (SELECT horizon::uuid FROM %s) AS horizon FROM %s WHERE name = $1',
        columns, horizons, consumers) INTO c USING consumer;
    IF c.name IS NULL THEN
        RAISE EXCEPTION 'consumer "%" does not exist', consumer USING ERRCODE = 'undefined_object';
    END IF;
    -- The cast is found here if nothing is special, since each call counts.
    SELECT atttypid INTO base FROM pg_class
    JOIN pg_attribute ON attrelid = pg_class.oid AND attname = c.key AND attnum > 0
        AND NOT attisdropped
    WHERE pg_class.oid = c.relation AND relkind IN ('r', 'p') AND relpersistence <> 't'
        AND NOT EXISTS (SELECT FROM pg_subscription_rel);
    IF base = 'uuid'::regtype THEN
        cast_ := '::uuid';
    ELSIF base = id_type THEN
        cast_ := format('::%s', id_type);
    ELSE
        EXECUTE format('SELECT %s($1, $2, $3)', cast_of) INTO cast_
            USING c.relation, c.key, id_type;
    END IF;
    IF c.relation_name <> c.relation::text AND EXISTS (
        SELECT FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
        WHERE relname = (parse_ident(c.relation_name))[2]
            AND nspname = (parse_ident(c.relation_name))[1] AND pg_class.oid <> c.relation) THEN
        RAISE EXCEPTION 'relation "%" is not the table of consumer "%" any more',
            c.relation_name, consumer
            USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'SELECT ulid_move_consumer(consumer, relation => table).';
    ELSIF coalesce(c.horizon, none) = none THEN
        RAISE EXCEPTION 'the horizon of ordered ids is not known yet'
            USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'CALL ulid_refresh_horizon().';
    ELSIF c.position > c.horizon THEN
        RAISE EXCEPTION 'position "%" of consumer "%" is ahead of the horizon "%"', c.position,
            consumer, c.horizon
            USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'If the id clock was reset, move the consumer.';
    ELSIF below < c.position THEN
        RAISE EXCEPTION 'consumer "%" has passed id "%"', consumer, below
            USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('Its position is "%s".', c.position);
    END IF;
    -- A synchronous standby shows a horizon before the primary does.
    below := least(below, c.horizon);
    LOOP
        batch_start := c.position;
        known := c.storage_hash;
        moved_at := c.moved_at;
        after_last := NULL;
        BEGIN
            IF c.owner <> current_user THEN
                -- Whoever has made somebody wait has had time to create an index.
                PERFORM pg_relation_size(c.relation);
                EXECUTE format('SELECT %s($1)', trust_of) INTO is_trusted USING c.relation;
                IF NOT is_trusted THEN
                    RAISE EXCEPTION 'permission denied for consumer "%"', consumer
                        USING ERRCODE = 'insufficient_privilege',
                        DETAIL = format('To read "%s" could run functions of other roles.',
                            c.relation),
                        HINT = format('SET ROLE %I', c.owner);
                END IF;
            END IF;
            -- the last id of the batch, and the one after it, if there is one
            EXECUTE format('SELECT (array_agg(id ORDER BY id DESC))[:2], count(*) FROM ('
                'SELECT %1$I AS id FROM %2$s WHERE %1$I >= $1%3$s AND %1$I < $2%3$s'
                ' ORDER BY %1$I LIMIT $3::bigint + 1) AS r', c.key, c.relation, cast_)
                INTO ids, number USING batch_start, below, max_rows;
            IF number <= max_rows THEN
                ids := array_prepend(NULL::uuid, ids);
            END IF;
            next_id := ids[1];
            last_id := ids[2];
            -- The batch ends at the id after its last row, and after those that follow without a
            -- gap.
            ids := NULL;
            number := 0;
            chunk := 1;
            WHILE last_id IS NOT NULL LOOP
                bytes := uuid_send(last_id);
                FOR i IN REVERSE 15 .. 0 LOOP
                    bytes := set_byte(bytes, i, (get_byte(bytes, i) + 1) & 255);
                    EXIT WHEN get_byte(bytes, i) > 0;
                END LOOP;
                after_last := encode(bytes, 'hex')::uuid;
                EXIT WHEN (next_id <= after_last) IS NOT TRUE;
                -- past the rows of the same id
                LOOP
                    IF number = coalesce(cardinality(ids), 0) THEN
                        EXECUTE format('SELECT array_agg(id) FROM (SELECT %1$I AS id FROM %2$s'
                            ' WHERE %1$I >= $1%3$s AND %1$I < $2%3$s ORDER BY %1$I LIMIT $3) AS r',
                            c.key, c.relation, cast_) INTO ids USING after_last, below, chunk;
                        number := 0;
                        chunk := 1000;
                    END IF;
                    number := number + 1;
                    next_id := ids[number];
                    EXIT WHEN (next_id < after_last) IS NOT TRUE;
                END LOOP;
                EXIT WHEN (next_id = after_last) IS NOT TRUE;
                last_id := next_id;
            END LOOP;
            RAISE SQLSTATE 'ULID0';
        EXCEPTION WHEN SQLSTATE 'ULID0' THEN
            NULL;
        END;
        EXIT WHEN after_last IS NULL OR is_locked;
        -- Another session of the same consumer waits here.
        EXECUTE format('SELECT %s FROM %s WHERE name = $1 AND relation = $2 AND key = $3'
            ' FOR NO KEY UPDATE', columns, consumers) INTO c USING consumer, c.relation, c.key;
        IF c.name IS NULL THEN
            RAISE EXCEPTION 'the consumer has been dropped, or reads another table or column now'
                USING ERRCODE = 'serialization_failure';
        END IF;
        -- as ulid_consumer_storage_hash(), where there is one table
        SELECT hash_record_extended(ROW(oid, 0::oid, '0'::xid, false, relfilenode), 0)
        INTO hash FROM pg_class WHERE oid = c.relation AND NOT relhassubclass;
        IF hash IS NULL THEN
            EXECUTE format('SELECT %s($1)', hash_of) INTO hash USING c.relation::oid;
        END IF;
        IF hash IS NULL THEN
            -- an error: the table was dropped while the lock was waited for
            EXECUTE format('SELECT %s($1, $2, $3)', cast_of) USING c.relation, c.key, id_type;
        END IF;
        -- What was found before the lock is right if neither the consumer nor the storage has
        -- changed since they were read. Otherwise it is looked for again, below the same horizon,
        -- unless whoever has moved the consumer has reset the id clock.
        EXIT WHEN c.position = batch_start AND c.moved_at = moved_at AND hash = known;
        is_locked := true;
        EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE horizon::uuid >= $1)', horizons)
            INTO is_below USING below;
        IF NOT is_below THEN
            RAISE EXCEPTION 'the id clock has been reset meanwhile'
                USING ERRCODE = 'serialization_failure';
        END IF;
        IF hash IS DISTINCT FROM c.storage_hash THEN
            EXECUTE format('UPDATE %s SET (storage, storage_hash) = (SELECT array_agg(number),'
                ' bit_xor(number) FROM unnest(%s($2, storage)) AS number)'
                ' WHERE name = $1 RETURNING storage_hash', consumers, storage_of)
                INTO hash USING consumer, c.relation::oid;
        END IF;
    END LOOP;
    batch_end := coalesce(after_last, batch_start);
    PERFORM set_config('ulid_consumer.batch', json_build_object('consumer', consumer,
        'start', batch_start, 'end', batch_end, 'moved_at', c.moved_at, 'hash',
        CASE WHEN batch_start < batch_end THEN hash END,
        -- the name of the table, and the one that it had before it was renamed
        'name', c.relation::text, 'old_name', c.relation_name)::text, true);
END $$;
COMMENT ON PROCEDURE ulid_next_batch(text, integer, uuid, uuid, uuid, regclass, regclass, regtype,
    regproc, regproc, regproc, regproc)
    IS 'begin a batch: two ids between which lie the next rows of a consumer';

-- The batch of this transaction; an error if it is none of this consumer, or if the storage of its
-- table has changed since it began.
CREATE OR REPLACE FUNCTION ulid_consumer_batch(consumer text, relation regclass, hash_of regproc)
    RETURNS json
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    batch json := nullif(current_setting('ulid_consumer.batch', true), '');
    hash bigint;
BEGIN
    IF (batch ->> 'consumer' = consumer) IS NOT TRUE THEN
        RAISE EXCEPTION 'consumer "%" has no batch in this transaction', consumer
            USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'CALL ulid_next_batch() in the same transaction. With autocommit, each statement'
                ' is a transaction.';
    ELSIF batch ->> 'hash' IS NOT NULL THEN
        SELECT hash_record_extended(ROW(oid, 0::oid, '0'::xid, false, relfilenode), 0)
        INTO hash FROM pg_class WHERE oid = relation AND NOT relhassubclass;
        IF hash IS NULL THEN
            EXECUTE format('SELECT %s($1)', hash_of) INTO hash USING relation::oid;
        END IF;
        IF (batch ->> 'hash' = hash::text) IS NOT TRUE
            OR EXISTS (SELECT FROM unnest(ARRAY[batch ->> 'name', batch ->> 'old_name']) AS name
                JOIN pg_class ON relname = (parse_ident(name))[2]
                JOIN pg_namespace AS n ON n.oid = relnamespace AND nspname = (parse_ident(name))[1]
                WHERE pg_class.oid <> relation) THEN
            RAISE EXCEPTION 'relation "%" has changed while consumer "%" has read it', relation,
                consumer
                USING ERRCODE = 'serialization_failure',
                DETAIL = 'It was rewritten or replaced, or a partition was attached or detached.',
                HINT = 'Roll back, and read the batch again.';
        END IF;
    END IF;
    PERFORM set_config('ulid_consumer.batch', '', true);
    RETURN batch;
END $$;
COMMENT ON FUNCTION ulid_consumer_batch(text, regclass, regproc)
    IS 'the batch of this transaction, which has been read rightly';

-- With a batch that was deferred, or with that of this transaction.
CREATE OR REPLACE FUNCTION ulid_finish_batch(consumer text, batch json DEFAULT NULL,
        consumers regclass DEFAULT 'ulid_consumer'::regclass,
        batch_of regproc DEFAULT 'ulid_consumer_batch'::regproc,
        hash_of regproc DEFAULT 'ulid_consumer_storage_hash'::regproc) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    is_own CONSTANT boolean := batch IS NULL;
    check_ CONSTANT text := format('%s(name, relation, $2)', batch_of);
    is_moved boolean;
BEGIN
    IF is_own THEN
        batch := nullif(current_setting('ulid_consumer.batch', true), '');
    END IF;
    IF batch ->> 'consumer' = consumer AND batch ->> 'start' = batch ->> 'end' THEN
        IF is_own THEN
            PERFORM set_config('ulid_consumer.batch', '', true);
        END IF;
        RETURN;
    ELSIF (batch ->> 'consumer' = consumer) IS NOT TRUE THEN
        IF is_own THEN
            EXECUTE format('SELECT %s FROM %s WHERE name = $1', check_, consumers)
                USING consumer, hash_of;
            RAISE EXCEPTION 'consumer "%" does not exist', consumer
                USING ERRCODE = 'undefined_object';
        END IF;
        RAISE EXCEPTION 'the batch is not one of consumer "%"', consumer
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- A consumer that was moved has another time, also if the position is the same. The program has
    -- read the table by the name that it had then, which another table could have next.
    EXECUTE format('UPDATE %s SET position = $5, moved_at = clock_timestamp(),'
        ' relation_name = coalesce($6, relation_name), deferred_at = NULL'
        ' WHERE name = $1 AND position = $3 AND moved_at = $4 AND (%s) RETURNING %s IS NOT NULL',
        consumers, CASE WHEN is_own THEN 'true' ELSE '$7 = ANY (deferred_at)' END,
        CASE WHEN is_own THEN check_ ELSE 'true' END) INTO is_moved
        USING consumer, hash_of, (batch ->> 'start')::uuid, (batch ->> 'moved_at')::timestamptz,
        (batch ->> 'end')::uuid, batch ->> 'name', (batch ->> 'deferred_at')::timestamptz;
    IF is_moved IS NULL THEN
        RAISE EXCEPTION 'consumer "%" is not where the batch began any more', consumer
            USING ERRCODE = 'serialization_failure',
            DETAIL = 'Another session has finished the batch, or has moved the consumer, or this'
                ' server is a copy that lacks the batch.',
            HINT = 'Roll back, and read the next batch.';
    END IF;
END $$;
COMMENT ON FUNCTION ulid_finish_batch(text, json, regclass, regproc, regproc)
    IS 'move a consumer behind a batch, when the transaction commits';

-- For work that takes long: the transaction that has read the batch ends before the work begins.
-- It writes when: a standby that is promoted, or a backup that is restored, has the rows of the
-- batch if it has this. Of several sessions that defer batches from one position, whichever is the
-- first to finish its batch moves the consumer.
CREATE OR REPLACE FUNCTION ulid_defer_batch(consumer text,
        consumers regclass DEFAULT 'ulid_consumer'::regclass,
        batch_of regproc DEFAULT 'ulid_consumer_batch'::regproc,
        hash_of regproc DEFAULT 'ulid_consumer_storage_hash'::regproc) RETURNS json
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    batch json;
    deferred_at timestamptz;
BEGIN
    EXECUTE format('SELECT %s(name, relation, $2) FROM %s WHERE name = $1', batch_of, consumers)
        INTO batch USING consumer, hash_of;
    IF batch IS NULL THEN
        RAISE EXCEPTION 'consumer "%" does not exist', consumer USING ERRCODE = 'undefined_object';
    ELSIF batch ->> 'hash' IS NOT NULL THEN
        EXECUTE format('UPDATE %s SET deferred_at = (clock_timestamp() || deferred_at)[:100]'
            ' WHERE name = $1 RETURNING deferred_at[1]', consumers)
            INTO deferred_at USING consumer;
    END IF;
    RETURN batch::jsonb || jsonb_build_object('deferred_at', deferred_at);
END $$;
COMMENT ON FUNCTION ulid_defer_batch(text, regclass, regproc, regproc)
    IS 'the batch of this transaction, to be finished by a later one';

-- Those tables of the tree of a relation that have no guard of a column. Partitions have a clone of
-- the guard of their table, and other children need one each.
CREATE OR REPLACE FUNCTION ulid_consumer_unguarded(relation oid, key name, guard oid)
    RETURNS regclass[]
    LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    WITH RECURSIVE tree (oid) AS (
        SELECT relation
        UNION SELECT inhrelid FROM pg_catalog.pg_inherits JOIN tree ON inhparent = tree.oid
    )
    SELECT pg_catalog.array_agg(tree.oid::regclass) FROM tree
    WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_trigger
        WHERE tgrelid = tree.oid AND tgfoid = guard AND tgenabled IN ('O', 'A')
            -- AFTER INSERT OR UPDATE, FOR EACH ROW
            AND tgtype::integer & 87 = 21 AND tgqual IS NULL AND NOT tgdeferrable
            AND pg_catalog.cardinality(tgattr) = 0
            AND tgargs = pg_catalog.convert_to(key::text, pg_catalog.getdatabaseencoding())
                || pg_catalog.decode('00', 'hex'));
END;
COMMENT ON FUNCTION ulid_consumer_unguarded(oid, name, oid)
    IS 'tables of a tree that have no guard; null if all have one';

-- Whether something lets only ordered ids into the column: its default, a trigger that sets it, or
-- the guard; or a subscription brings the rows.
CREATE OR REPLACE FUNCTION ulid_consumer_is_ordered(relation oid, key name, guard oid,
        generators oid[])
    RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT EXISTS (SELECT FROM pg_catalog.pg_attrdef AS d
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid = adrelid AND attnum = adnum
            JOIN pg_catalog.pg_depend ON classid = 'pg_catalog.pg_attrdef'::regclass::oid
                AND objid = d.oid AND refclassid = 'pg_catalog.pg_proc'::regclass::oid
                AND refobjid = ANY (generators)
            WHERE adrelid = relation AND attname = key)
        OR ulid_consumer_unguarded(relation, key, guard) IS NULL
        OR EXISTS (SELECT FROM pg_catalog.pg_trigger
            JOIN pg_catalog.pg_proc AS p ON p.oid = tgfoid
            WHERE tgrelid = relation AND tgenabled IN ('O', 'A') AND tgtype::integer & 7 = 7
                AND prosrc ~ 'gen_ordered_u(lid|uid)')
        OR EXISTS (SELECT FROM pg_catalog.pg_subscription_rel WHERE srrelid = relation);
END;
COMMENT ON FUNCTION ulid_consumer_is_ordered(oid, name, oid, oid[])
    IS 'whether only ordered ids come into a column';

-- The column that a consumer reads: the one that is named, or the primary key.
CREATE OR REPLACE FUNCTION ulid_consumer_key(name text, relation regclass, key name) RETURNS name
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    primary_key name := (SELECT attname FROM pg_index
        JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
        WHERE indrelid = relation AND indisprimary AND indnkeyatts = 1);
BEGIN
    IF name IS NULL OR relation IS NULL THEN
        RAISE EXCEPTION 'a consumer must have a name and a table'
            USING ERRCODE = 'null_value_not_allowed';
    ELSIF coalesce(key, primary_key) IS NULL THEN
        RAISE EXCEPTION 'relation "%" has no primary key of one column', relation
            USING ERRCODE = 'undefined_column',
            HINT = 'Name the column of ids: key => ''column''.';
    END IF;
    RETURN coalesce(key, primary_key);
END $$;
COMMENT ON FUNCTION ulid_consumer_key(text, regclass, name) IS 'the column that a consumer reads';

-- Whether consumers of the present role would read each row.
CREATE OR REPLACE FUNCTION ulid_consumer_check(relation regclass, key name, is_ordered boolean)
    RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    is_null boolean;
    number smallint;
BEGIN
    IF NOT has_column_privilege(relation, key, 'SELECT') THEN
        RAISE EXCEPTION 'permission denied for table %', relation
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    -- From PostgreSQL 18 on, NOT NULL can be NOT VALID or NO INHERIT.
    SELECT NOT attnotnull OR EXISTS (SELECT FROM pg_constraint
            WHERE conrelid = relation AND contype = 'n' AND (NOT convalidated OR connoinherit)
                AND conkey = ARRAY[attnum]), attnum
    INTO is_null, number FROM pg_attribute WHERE attrelid = relation AND attname = key;
    IF is_null THEN
        RAISE EXCEPTION 'column "%" of relation "%" can be null', key, relation
            USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'No consumer would read such a row.',
            HINT = format('ALTER TABLE %s ALTER %I SET NOT NULL', relation, key);
    ELSIF NOT EXISTS (SELECT FROM pg_index JOIN pg_class ON oid = indexrelid
        JOIN pg_am AS am ON am.oid = relam
        WHERE indrelid = relation AND indkey[0] = number AND indisvalid AND indpred IS NULL
            AND amname = 'btree') THEN
        RAISE EXCEPTION 'column "%" of relation "%" has no index', key, relation
            USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('CREATE INDEX ON %s (%I)', relation, key);
    ELSIF NOT is_ordered THEN
        RAISE EXCEPTION 'ids of column "%" of relation "%" are not ordered', key, relation
            USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'A consumer would pass rows that are committed later.',
            HINT = format('ALTER TABLE %s ALTER %I SET DEFAULT gen_ordered_ulid(), or'
                ' gen_ordered_uuid_v7(); older rows are read, too, if their ids are not ahead of'
                ' the clock.', relation, key);
    END IF;
    RETURN true;
END $$;
COMMENT ON FUNCTION ulid_consumer_check(regclass, name, boolean)
    IS 'an error if a consumer would not read each row of a table';

-- The guard of a table, and of its children. Partitions get that of their table. One that is
-- disabled stays so. A table of a subscription needs none. CREATE TRIGGER evaluates what
-- is constant in the keys of partitions, so whoever has rights on tables of other roles, as a
-- superuser, does not create it there.
CREATE OR REPLACE FUNCTION ulid_consumer_guard(relation regclass, key name, unguarded regclass[],
        guard_function regproc DEFAULT 'ulid_ordered_guard'::regproc,
        unguarded_of regproc DEFAULT 'ulid_consumer_unguarded'::regproc)
    RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    child regclass;
    is_owner boolean;
    is_unguarded boolean;
    guard_name text;
    create_guard text;
    disabled name;
    old_timeout CONSTANT text := current_setting('lock_timeout');
BEGIN
    IF old_timeout = '0' THEN
        PERFORM set_config('lock_timeout', '2s', true);
    END IF;
    FOR child IN SELECT oid FROM pg_class
        WHERE oid = ANY (unguarded) AND (oid = relation OR NOT relispartition
                OR NOT EXISTS (SELECT FROM pg_inherits
                    WHERE inhrelid = pg_class.oid AND inhparent = ANY (unguarded)))
            AND relpersistence <> 't'
            AND NOT EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid = relation)
    LOOP
        WITH RECURSIVE tree (oid, owner) AS (
            SELECT oid, relowner FROM pg_class WHERE oid = child
            UNION SELECT c.oid, relowner FROM tree JOIN pg_inherits ON inhparent = tree.oid
            JOIN pg_class AS c ON c.oid = inhrelid AND relispartition
        )
        SELECT bool_and(owner = (SELECT oid FROM pg_roles WHERE rolname = current_user))
        INTO is_owner FROM tree;
        SELECT tgname INTO disabled FROM pg_trigger
        WHERE tgrelid = child AND tgfoid = guard_function AND tgenabled IN ('D', 'R')
            AND tgtype::integer & 87 = 21 AND tgqual IS NULL AND NOT tgdeferrable
            AND cardinality(tgattr) = 0
            AND tgargs = convert_to(key::text, getdatabaseencoding()) || decode('00', 'hex')
        LIMIT 1;
        IF is_owner AND disabled IS NULL THEN
            -- Another session may be creating it.
            EXECUTE format('LOCK TABLE ONLY %s IN SHARE ROW EXCLUSIVE MODE', child);
            EXECUTE format('SELECT $1 = ANY (%s($1::oid, $2, $3))', unguarded_of) INTO is_unguarded
                USING child, key, guard_function::oid;
            CONTINUE WHEN is_unguarded IS NOT TRUE;
        END IF;
        guard_name := 'ulid_ordered_guard';
        -- A trigger of a partitioned table has a clone of its name on each partition.
        IF EXISTS (SELECT FROM pg_trigger WHERE tgname = guard_name AND (tgrelid = child
            OR tgrelid IN (SELECT relid FROM pg_partition_tree(child)))) THEN
            guard_name := format('%s_%s_%s', guard_name, child::oid, key);
        END IF;
        create_guard := format('CREATE TRIGGER %I AFTER INSERT OR UPDATE ON %s'
            ' FOR EACH ROW EXECUTE FUNCTION %s(%L)', guard_name, child, guard_function, key);
        IF is_owner AND disabled IS NULL THEN
            EXECUTE create_guard;
        ELSE
            RAISE WARNING 'relation "%" has no guard', child
                USING DETAIL = 'A row with an id from elsewhere that is committed late is not'
                    ' read.',
                HINT = format('Let its owner run %s.', coalesce(
                    format('ALTER TABLE %s ENABLE TRIGGER ', child) || quote_ident(disabled),
                    create_guard));
        END IF;
    END LOOP;
    PERFORM set_config('lock_timeout', old_timeout, true);
END $$;
COMMENT ON FUNCTION ulid_consumer_guard(regclass, name, regclass[], regproc, regproc)
    IS 'create the guard of a table where it is missing';

CREATE OR REPLACE FUNCTION ulid_consumer_create(name text, relation regclass, key name, start uuid,
        unguarded regclass[], ahead uuid, horizon uuid, consumers regclass, horizons regclass,
        guard_of regproc, first_of regproc)
    RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    is_ahead boolean;
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE EXCEPTION 'a consumer must be created in isolation level READ COMMITTED'
            USING ERRCODE = 'active_sql_transaction';
    ELSIF start IS NULL AND coalesce(horizon, '00000000-0000-0000-0000-000000000000')
        = '00000000-0000-0000-0000-000000000000' THEN
        RAISE EXCEPTION 'the horizon of ordered ids is not known yet'
            USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'CALL ulid_refresh_horizon(), or name the first id: start => ''...''.';
    ELSIF start > coalesce(horizon, '00000000-0000-0000-0000-000000000000') THEN
        RAISE EXCEPTION 'a consumer cannot start above the horizon'
            USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('The horizon is "%s".', horizon),
            HINT = 'Refresh the horizon until it has passed the id.';
    END IF;
    -- Before the table is locked, since a consumer of this name may be waited for.
    EXECUTE format('INSERT INTO %s (name, relation, key, position) VALUES ($1, $2, $3, $4)',
        consumers) USING name, relation, key, coalesce(start, horizon);
    -- It may have waited for a reset.
    EXECUTE format('SELECT NOT EXISTS (SELECT FROM %s WHERE horizon::uuid >= $1)', horizons)
        INTO is_ahead USING coalesce(start, horizon);
    IF is_ahead AND horizon IS NOT NULL THEN
        RAISE EXCEPTION 'the id clock has been reset meanwhile'
            USING ERRCODE = 'serialization_failure';
    END IF;
    EXECUTE format('SELECT %s($1, $2, $3)', guard_of) USING relation, key, unguarded;
    BEGIN
        EXECUTE format('SELECT %s($1, attnum::integer, $3) IS NOT NULL FROM pg_attribute'
            ' WHERE attrelid = $1 AND attname = $2', first_of) INTO is_ahead
            USING relation::oid, key, ahead;
    EXCEPTION WHEN insufficient_privilege THEN
        NULL;
    END;
    IF is_ahead THEN
        RAISE WARNING 'consumer "%" does not read all rows of relation "%"', name, relation
            USING DETAIL = format('Column "%s" has ids that are more than a day ahead, as most of'
                ' version 4 are.', key),
            HINT = 'Let it read a second column.';
    END IF;
EXCEPTION WHEN unique_violation THEN
    RAISE EXCEPTION 'consumer "%" exists already', name USING ERRCODE = 'duplicate_object';
END $$;
COMMENT ON FUNCTION ulid_consumer_create(text, regclass, name, uuid, regclass[], uuid, uuid,
    regclass, regclass, regproc, regproc)
    IS 'what ulid_create_consumer() does';

CREATE OR REPLACE FUNCTION ulid_create_consumer(name text, relation regclass, key name DEFAULT NULL,
        start uuid DEFAULT NULL, guard boolean DEFAULT true) RETURNS void
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN (SELECT ulid_consumer_create(name, relation, column_, start::uuid,
            CASE WHEN guard THEN ulid_consumer_unguarded(relation::oid, column_,
                'ulid_ordered_guard'::regproc::oid) END,
            ulid_lower_bound(greatest(clock_timestamp(),
                (SELECT ulid_extract_timestamp(horizon) FROM ulid_horizon))
                + '1 day'::interval)::uuid,
            (SELECT horizon::uuid FROM ulid_horizon), 'ulid_consumer'::regclass,
            'ulid_horizon'::regclass, 'ulid_consumer_guard'::regproc,
            'ulid_consumer_first'::regproc)
        FROM ulid_consumer_key(name, relation, key) AS column_
        CROSS JOIN LATERAL ulid_consumer_cast(relation, column_, 'uuid'::regtype) AS cast_
        CROSS JOIN LATERAL ulid_consumer_check(relation, column_, ulid_consumer_is_ordered(
            relation::oid, column_, 'ulid_ordered_guard'::regproc::oid,
            ARRAY['gen_ordered_ulid'::regproc, 'gen_ordered_uuid_v7'::regproc]::oid[])) AS is_right
        CROSS JOIN LATERAL ulid_consumer_storage(relation::oid, NULL::bigint[]) AS storage
        WHERE cast_ IS NOT NULL AND is_right AND storage IS NOT NULL);
COMMENT ON FUNCTION ulid_create_consumer(text, regclass, name, uuid, boolean)
    IS 'create a consumer of a table, from the horizon on or from an id on, and guard the table';

-- The first id that a consumer has not read, or null; whether this is known, which it is not if the
-- table is gone or locked, or may not be read; whether another table has its name, so that the
-- consumer reads nothing until it is moved; and the cast of ulid_consumer_cast(). Whatever a role
-- has made of its table, it is neither an error of whoever reads the view of all consumers, nor is
-- a lock waited for or kept, nor does ulid_consumer_first() run a function of that role.
CREATE OR REPLACE FUNCTION ulid_consumer_unread(c ulid_consumer, id_type regtype, cast_of regproc,
        first_of regproc, OUT id uuid, OUT is_known boolean, OUT is_replaced boolean,
        OUT cast_ text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    is_known := false;
    PERFORM set_config('lock_timeout', '100ms', true);
    PERFORM pg_relation_size(c.relation);
    PERFORM set_config('lock_timeout', '1ms', true);
    EXECUTE format('SELECT %s($1, $2, $3)', cast_of) INTO cast_ USING c.relation, c.key, id_type;
    EXECUTE format('SELECT %s($1, $2, $3)', first_of) INTO id USING c.relation::oid,
        (SELECT attnum::integer FROM pg_attribute WHERE attrelid = c.relation AND attname = c.key),
        c.position;
    is_replaced := EXISTS (
        SELECT FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
        WHERE relname = (parse_ident(c.relation_name))[2]
            AND nspname = (parse_ident(c.relation_name))[1] AND pg_class.oid <> c.relation);
    is_known := true;
    -- It takes the settings and the locks back.
    RAISE SQLSTATE 'ULID0';
EXCEPTION WHEN OTHERS THEN
    NULL;
END $$;
COMMENT ON FUNCTION ulid_consumer_unread(ulid_consumer, regtype, regproc, regproc)
    IS 'the first id of its table that a consumer has not read';

CREATE OR REPLACE FUNCTION ulid_consumer_move(c ulid_consumer, "position" uuid, relation regclass,
        horizon uuid, is_right boolean, is_trusted boolean, unread record, unguarded regclass[],
        consumers regclass, horizons regclass, guard_of regproc, trust_of regproc)
    RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    is_there boolean;
    number bigint;
BEGIN
    IF relation IS NOT NULL AND "position" IS NULL THEN
        -- An older snapshot lacks rows.
        IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted')
        THEN
            RAISE EXCEPTION 'a consumer must be moved to another table in isolation level READ'
                ' COMMITTED' USING ERRCODE = 'active_sql_transaction';
        END IF;
        IF unread.id IS NOT NULL AND is_trusted THEN
            -- Whoever has made somebody wait has had time to create an index.
            PERFORM pg_relation_size(c.relation), pg_relation_size(relation);
            EXECUTE format('SELECT %1$s($1) AND %1$s($2)', trust_of) INTO is_trusted
                USING c.relation, relation;
        END IF;
        IF unread.id IS NOT NULL AND is_trusted THEN
            EXECUTE format('SELECT NOT EXISTS (SELECT FROM %2$s AS old WHERE old.%1$I >= $1%4$s'
                ' AND NOT EXISTS (SELECT FROM %3$s AS new WHERE new.%1$I = old.%1$I))', c.key,
                c.relation, relation, unread.cast_) INTO is_there USING c.position;
        ELSE
            is_there := unread.is_known AND unread.id IS NULL
                OR NOT EXISTS (SELECT FROM pg_class WHERE oid = c.relation);
        END IF;
        IF is_there IS NOT TRUE THEN
            RAISE EXCEPTION 'consumer "%" may not have read all rows of "%"', c.name, c.relation
                USING ERRCODE = 'object_not_in_prerequisite_state',
                DETAIL = CASE WHEN unread.is_known AND is_trusted
                    THEN 'The other table lacks a row that is left.'
                    ELSE 'The table is locked, or cannot be read by this role.' END,
                HINT = 'Copy the rows into the other table, or let the consumer read them before'
                    ' that has the name, or pass a position to leave them out.';
        END IF;
    END IF;
    IF "position" > coalesce(horizon, '00000000-0000-0000-0000-000000000000') THEN
        RAISE EXCEPTION 'a consumer cannot be above the horizon'
            USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('The horizon is "%s".', horizon),
            HINT = 'Refresh the horizon until it has passed the id.';
    END IF;
    EXECUTE format('UPDATE %s SET position = coalesce($2, position),'
        ' relation = coalesce($3, relation), relation_name = coalesce($3::text, relation_name),'
        ' storage = NULL, storage_hash = NULL, deferred_at = NULL, moved_at = clock_timestamp()'
        ' WHERE name = $1 AND ($3 IS NULL'
        ' OR relation::oid = $4 AND key = $5 AND position >= $6)', consumers)
        USING c.name, "position", relation, c.relation::oid, c.key, c.position;
    GET DIAGNOSTICS number = ROW_COUNT;
    IF number = 0 THEN
        RAISE EXCEPTION 'consumer "%" has been moved or dropped by another session', c.name
            USING ERRCODE = 'serialization_failure';
    END IF;
    -- It may have waited for a reset.
    EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE horizon::uuid >= $1)', horizons)
        INTO is_there USING "position";
    IF "position" > '00000000-0000-0000-0000-000000000000' AND NOT is_there THEN
        RAISE EXCEPTION 'the id clock has been reset meanwhile'
            USING ERRCODE = 'serialization_failure';
    END IF;
    EXECUTE format('SELECT %s($1, $2, $3)', guard_of) USING relation, c.key, unguarded;
END $$;
COMMENT ON FUNCTION ulid_consumer_move(ulid_consumer, uuid, regclass, uuid, boolean, boolean,
    record, regclass[], regclass, regclass, regproc, regproc)
    IS 'what ulid_move_consumer() does';
CREATE OR REPLACE FUNCTION ulid_move_consumer(consumer text, "position" uuid DEFAULT NULL,
        relation regclass DEFAULT NULL) RETURNS void
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN (SELECT ulid_consumer_move(c, ulid_move_consumer."position"::uuid,
            ulid_move_consumer.relation, (SELECT horizon::uuid FROM ulid_horizon),
            CASE WHEN ulid_move_consumer.relation IS NOT NULL THEN
                ulid_consumer_check(ulid_move_consumer.relation, c.key, ulid_consumer_is_ordered(
                ulid_move_consumer.relation::oid, c.key, 'ulid_ordered_guard'::regproc::oid,
                ARRAY['gen_ordered_ulid'::regproc, 'gen_ordered_uuid_v7'::regproc]::oid[])) END,
            CASE WHEN ulid_move_consumer.relation IS NOT NULL THEN
                ulid_consumer_is_trusted(c.relation)
                    AND ulid_consumer_is_trusted(ulid_move_consumer.relation) END,
            CASE WHEN ulid_move_consumer.relation IS NOT NULL THEN
                ulid_consumer_unread(c, 'uuid'::regtype, 'ulid_consumer_cast'::regproc,
                    'ulid_consumer_first'::regproc) END,
            -- if the table that it has read has a guard, or is not known any more
            CASE WHEN (c.relation::oid = ANY (ulid_consumer_unguarded(c.relation::oid, c.key,
                    'ulid_ordered_guard'::regproc::oid)::oid[])) IS NOT TRUE
                OR NOT EXISTS (SELECT FROM pg_catalog.pg_class WHERE oid = c.relation::oid)
                THEN ulid_consumer_unguarded(ulid_move_consumer.relation::oid, c.key,
                    'ulid_ordered_guard'::regproc::oid) END,
            'ulid_consumer'::regclass, 'ulid_horizon'::regclass, 'ulid_consumer_guard'::regproc,
            'ulid_consumer_is_trusted'::regproc)
        FROM ulid_consumer_find(consumer, 'ulid_consumer'::regclass) AS c
        CROSS JOIN LATERAL ulid_consumer_cast(coalesce(ulid_move_consumer.relation, c.relation),
            c.key, 'uuid'::regtype) AS cast_
        WHERE cast_ IS NOT NULL);
COMMENT ON FUNCTION ulid_move_consumer(text, uuid, regclass)
    IS 'let a consumer go on from this id, or read another table, or both';

-- At a reset of the id clock: new ids are less than some positions. None finishes a batch that it
-- has begun or deferred before, since rows can get ids between its ends now. Whoever creates, moves
-- or reads by a consumer is waited for, or waits, and looks at the horizon again.
CREATE OR REPLACE FUNCTION ulid_consumer_reset(clock uuid, consumers regclass) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE EXCEPTION 'the id clock must be reset in isolation level READ COMMITTED'
            USING ERRCODE = 'active_sql_transaction';
    END IF;
    EXECUTE format('LOCK TABLE %s IN EXCLUSIVE MODE', consumers);
    EXECUTE format('UPDATE %s SET position = least(position, $1), moved_at = clock_timestamp(),'
        ' deferred_at = NULL', consumers) USING clock;
END $$;
COMMENT ON FUNCTION ulid_consumer_reset(uuid, regclass)
    IS 'set consumers back to the clock, and void their batches';

CREATE OR REPLACE FUNCTION ulid_consumer_drop(c ulid_consumer, consumers regclass) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    EXECUTE format('DELETE FROM %s WHERE name = $1', consumers) USING c.name;
END $$;
COMMENT ON FUNCTION ulid_consumer_drop(ulid_consumer, regclass) IS 'what ulid_drop_consumer() does';
CREATE OR REPLACE FUNCTION ulid_drop_consumer(consumer text) RETURNS void
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN ulid_consumer_drop(ulid_consumer_find(consumer, 'ulid_consumer'::regclass),
        'ulid_consumer'::regclass);
COMMENT ON FUNCTION ulid_drop_consumer(text) IS 'drop a consumer';

-- Consumers of the relation, of tables below it, and of all tables above these count; so do those
-- that are still to be moved to a table that has replaced theirs. The key is
-- null if they read by several columns, or if neither the relation nor one above it has a consumer.
-- One that is ahead of the horizon, as after a reset, has read no row that anybody knows of.
CREATE OR REPLACE FUNCTION ulid_consumer_read_by(relation regclass,
        OUT "position" uuid, OUT key name)
    LANGUAGE sql STABLE PARALLEL UNSAFE
BEGIN ATOMIC
    WITH RECURSIVE above (oid) AS (
        SELECT relation::oid
        UNION SELECT inhparent FROM pg_catalog.pg_inherits JOIN above ON inhrelid = above.oid
    ), below (oid) AS (
        SELECT relation::oid
        UNION SELECT inhrelid FROM pg_catalog.pg_inherits JOIN below ON inhparent = below.oid
    ), tree (oid) AS (
        SELECT oid FROM below
        UNION SELECT inhparent FROM pg_catalog.pg_inherits JOIN tree ON inhrelid = tree.oid
    )
    SELECT (pg_catalog.array_agg(p."position" ORDER BY p."position"))[1],
        CASE WHEN pg_catalog.count(DISTINCT c.key::text) = 1
            AND pg_catalog.bool_or(c.relation::oid IN (SELECT oid FROM above))
            THEN pg_catalog.min(c.key::text)::name END
    FROM ulid_consumer AS c LEFT JOIN ulid_horizon ON true
    CROSS JOIN LATERAL (SELECT CASE WHEN c."position" <= horizon::uuid THEN c."position"
        ELSE '00000000-0000-0000-0000-000000000000'::uuid END) AS p ("position")
    WHERE c.relation::oid IN (SELECT oid FROM tree)
        -- The name is quoted or not, and is what its role has set it to.
        OR EXISTS (SELECT FROM pg_catalog.pg_class AS r
            JOIN pg_catalog.pg_namespace AS n ON n.oid = relnamespace
            WHERE r.oid IN (SELECT oid FROM tree)
                AND pg_catalog.replace(c.relation_name, '"', '')
                    = pg_catalog.replace(nspname::text || '.'::text || relname::text, '"', '')
                AND NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = c.owner
                    AND NOT pg_catalog.has_any_column_privilege(pg_roles.oid, r.oid, 'SELECT')));
END;
COMMENT ON FUNCTION ulid_consumer_read_by(regclass)
    IS 'id below which all consumers of a table have read its rows, and the column that they read';
-- It reads catalogs. Its cost makes a query that compares rows with it scan an index and not the
-- table, since an index scan evaluates it once.
CREATE OR REPLACE FUNCTION ulid_read_by_all(relation regclass) RETURNS uuid
    LANGUAGE sql STABLE PARALLEL UNSAFE COST 10000
    RETURN (SELECT "position" FROM ulid_consumer_read_by(relation));
COMMENT ON FUNCTION ulid_read_by_all(regclass)
    IS 'id below which all consumers of a table have read its rows; null if it has no consumer';

-- Whoever inserts rows below the positions moves the consumers back in the same transaction. It
-- may commit while this waits for a lock, or between two of its statements.
CREATE OR REPLACE FUNCTION ulid_consumer_delete(relation regclass, key name, cast_ text,
        max_rows integer, below uuid, read_by_of regproc)
    RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    setting CONSTANT text := 'ulid_consumer.deleted_' || relation::oid;
    deleted CONSTANT text := current_setting(setting, true);
    above uuid;
    last_id uuid;
    number bigint;
    is_unread boolean;
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE EXCEPTION 'rows must be deleted in isolation level READ COMMITTED'
            USING ERRCODE = 'active_sql_transaction';
    ELSIF key IS NULL THEN
        RAISE EXCEPTION 'relation "%" has no consumers, or they read it by several columns',
            relation USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'If they do, delete rows that are below the positions by each column.';
    ELSIF max_rows IS NULL OR max_rows < 1 THEN
        RAISE EXCEPTION 'at least one row must be deleted'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- The session remembers where it has ended, since the index still has the rows that were
    -- deleted until they are vacuumed. A consumer that was set back has less.
    above := CASE WHEN substr(deleted, 38) = key
        AND left(deleted, 36) ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        THEN left(deleted, 36)::uuid END;
    IF (above < below) IS NOT TRUE THEN
        above := '00000000-0000-0000-0000-000000000000';
    END IF;
    EXECUTE format('SELECT id FROM (SELECT %1$I AS id FROM %2$s WHERE %1$I >= $1%3$s'
        ' AND %1$I < $2%3$s ORDER BY %1$I LIMIT $3) AS r ORDER BY id DESC LIMIT 1', key, relation,
        cast_) INTO last_id USING above, below, max_rows;
    EXECUTE format('DELETE FROM %2$s WHERE %1$I >= $1%3$s AND %1$I <= $2%3$s', key, relation, cast_)
        USING above, last_id;
    GET DIAGNOSTICS number = ROW_COUNT;
    EXECUTE format('SELECT "position" < $2 OR key IS DISTINCT FROM $3 FROM %s($1)', read_by_of)
        INTO is_unread USING relation, below, key;
    IF is_unread THEN
        RAISE EXCEPTION 'a consumer of relation "%" has been created or moved back meanwhile',
            relation USING ERRCODE = 'serialization_failure', HINT = 'Delete again.';
    END IF;
    PERFORM set_config(setting, last_id || ' ' || key, false) WHERE last_id IS NOT NULL;
    RETURN number;
END $$;
COMMENT ON FUNCTION ulid_consumer_delete(regclass, name, text, integer, uuid, regproc)
    IS 'what ulid_delete_read() does';
CREATE OR REPLACE FUNCTION ulid_delete_read(relation regclass, max_rows integer DEFAULT 10000)
    RETURNS bigint
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN (SELECT ulid_consumer_delete(relation, k.key, CASE WHEN k.key IS NOT NULL
                THEN ulid_consumer_cast(relation, k.key, 'uuid'::regtype) END,
            max_rows, k."position", 'ulid_consumer_read_by'::regproc)
        FROM ulid_consumer_read_by(relation) AS k);
COMMENT ON FUNCTION ulid_delete_read(regclass, integer)
    IS 'delete the first rows that all consumers of a table have read; returns their number';

-- An idle consumer is not behind, however old its position is.
CREATE OR REPLACE VIEW ulid_consumer_lag AS
    SELECT c.name, c.owner, c.relation, c.key, c."position"::uuid AS "position",
        ulid_extract_timestamp(c."position"::uuid) AS position_time, c.moved_at,
        first.id::uuid AS unread,
        CASE WHEN first.is_known AND NOT first.is_replaced
                AND (c."position" > (SELECT horizon::uuid FROM ulid_horizon)) IS NOT TRUE
            THEN coalesce(pg_catalog.clock_timestamp() - ulid_extract_timestamp(first.id::uuid),
                interval '0') END AS behind,
        (SELECT ulid_extract_timestamp(horizon) FROM ulid_horizon) AS horizon_time,
        ulid_consumer_unguarded(c.relation::oid, c.key, 'ulid_ordered_guard'::regproc::oid)
            IS NULL OR EXISTS (SELECT FROM pg_catalog.pg_subscription_rel
            WHERE srrelid = c.relation::oid) AS is_guarded
    FROM ulid_consumer AS c CROSS JOIN LATERAL ulid_consumer_unread(c, 'uuid'::regtype,
        'ulid_consumer_cast'::regproc, 'ulid_consumer_first'::regproc) AS first;
COMMENT ON VIEW ulid_consumer_lag IS 'consumers, their positions, and how far they are behind';
GRANT SELECT ON ulid_consumer_lag TO PUBLIC;

CREATE OR REPLACE FUNCTION ulid_consumer_wait(consumer text, id uuid, timeout interval,
        consumers regclass, horizons regclass, id_type regtype, find regproc, unread_of regproc,
        cast_of regproc, first_of regproc)
    RETURNS boolean
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    deadline CONSTANT timestamptz := clock_timestamp() + timeout;
    c record;
    has_passed boolean;
    is_behind boolean;
    unread record;
BEGIN
    IF id IS NULL OR timeout IS NULL THEN
        RAISE EXCEPTION 'neither the id nor the timeout may be null'
            USING ERRCODE = 'null_value_not_allowed';
    ELSIF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted')
        OR pg_current_xact_id_if_assigned() IS NOT NULL THEN
        RAISE EXCEPTION 'cannot wait for a consumer in a transaction that writes, or is not READ'
            ' COMMITTED' USING ERRCODE = 'active_sql_transaction';
    END IF;
    LOOP
        EXECUTE format('SELECT * FROM %s($1, $2)', find) INTO c USING consumer, consumers;
        EXECUTE format('SELECT horizon > $1%1$s, horizon >= $2%1$s FROM %2$s',
            '::' || id_type::text, horizons) INTO has_passed, is_behind USING id, c.position;
        IF is_behind AND c.position > id THEN
            RETURN true;
        END IF;
        -- A consumer that has nothing to read does not move. One that is ahead of the horizon, as
        -- after a reset, has read no row that anybody knows of.
        IF is_behind AND has_passed THEN
            EXECUTE format('SELECT r.* FROM %s AS c, %s(c, $2, $3, $4) AS r WHERE c.name = $1',
                consumers, unread_of) INTO unread USING consumer, id_type, cast_of, first_of;
            IF unread.is_known AND NOT unread.is_replaced AND (unread.id <= id) IS NOT TRUE THEN
                RETURN true;
            END IF;
        END IF;
        IF clock_timestamp() >= deadline THEN
            RETURN false;
        END IF;
        PERFORM pg_sleep(0.01);
    END LOOP;
END $$;
COMMENT ON FUNCTION ulid_consumer_wait(text, uuid, interval, regclass, regclass, regtype, regproc,
    regproc, regproc, regproc)
    IS 'what ulid_wait_for_consumer() does';
CREATE OR REPLACE FUNCTION ulid_wait_for_consumer(consumer text, id uuid,
        timeout interval DEFAULT '10 seconds') RETURNS boolean
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN ulid_consumer_wait(consumer, id::uuid, timeout, 'ulid_consumer'::regclass,
        'ulid_horizon'::regclass, 'uuid'::regtype, 'ulid_consumer_find'::regproc,
        'ulid_consumer_unread'::regproc, 'ulid_consumer_cast'::regproc,
        'ulid_consumer_first'::regproc);
COMMENT ON FUNCTION ulid_wait_for_consumer(text, uuid, interval)
    IS 'wait until a consumer has read this id; false after the timeout';

-- Dumps of an extension have the positions, too.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_depend
        WHERE classid = 'pg_catalog.pg_class'::pg_catalog.regclass::oid
        AND objid = 'ulid_consumer'::pg_catalog.regclass::oid
            AND deptype = 'e') THEN
        PERFORM pg_catalog.pg_extension_config_dump(
            'ulid_consumer'::pg_catalog.regclass, ''::text);
    END IF;
END $$;

--
-- The id clock, for the owner
--

-- After a restore to an earlier time, on a server whose clock is behind, new ids would be less than
-- the positions of consumers. setval() alone could be undone by a refresh, without the lock.
CREATE OR REPLACE FUNCTION ulid_sql_advance(clock regclass, id uuid, force boolean,
        horizon_ms bigint)
    RETURNS timestamptz
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
    -- The sequence has no value after a reset that was rolled back.
    ms := setval(clock, greatest(pg_sequence_last_value(clock), horizon_ms, ms));
    RETURN to_timestamp(ms / 1000::float)::timestamptz(3);
END $$;

CREATE OR REPLACE FUNCTION ulid_advance_ordered_time(id uuid, force boolean DEFAULT false)
    RETURNS timestamptz
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
    INSERT INTO ulid_horizon (one)
    SELECT true WHERE NOT EXISTS (SELECT FROM ulid_horizon) ON CONFLICT DO NOTHING;
    SELECT ulid_sql_advance('ulid_clock'::regclass, id, force, ulid_extract_unix_ms(horizon))
    FROM (SELECT horizon FROM ulid_horizon FOR UPDATE) AS locked;
END;

-- For a clock that has jumped ahead. A first refresh that has not ended is waited for: the row that
-- it inserts would stay otherwise. The sequence has no value then, so that a reset that is rolled
-- back leads to an error, and not to ids below the horizon.
CREATE OR REPLACE FUNCTION ulid_reset_ordered_time() RETURNS void
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
    INSERT INTO ulid_horizon (one)
    SELECT true WHERE NOT EXISTS (SELECT FROM ulid_horizon) ON CONFLICT DO NOTHING;
    DELETE FROM ulid_horizon;
    SELECT ulid_consumer_reset(ulid_lower_bound(pg_catalog.clock_timestamp()),
        'ulid_consumer'::regclass);
    SELECT pg_catalog.setval('ulid_clock'::regclass, 0::bigint, false);
END;

-- What is not for PUBLIC, with its comments. A function that has one was there before this run:
-- what has been granted on it since then stays, unless nothing has been revoked, as after a restore
-- without privileges.
DO $$
DECLARE
    here text := pg_catalog.quote_ident(pg_catalog.current_schema()::text);
    function text[];
    f text;
BEGIN
    FOREACH function SLICE 1 IN ARRAY ARRAY[
        ['ulid_sql_is_stale(regclass, regclass, ulid_horizon)',
            'whether a refresh would tell anything new'],
        ['ulid_sql_compute(regclass, ulid_horizon, boolean)',
            'set the id clock, and compute the row of ulid_horizon'],
        ['ulid_sql_write(ulid_horizon)',
            'write the row of ulid_horizon'],
        ['ulid_sql_refresh(boolean)',
            'refresh the horizon'],
        ['ulid_refresh()',
            'refresh the horizon; false if there is nothing new, or another session refreshes it'],
        ['ulid_sql_advance(regclass, uuid, boolean, bigint)',
            'let the id clock continue after this id'],
        ['ulid_advance_ordered_time(uuid, boolean)',
            'let ordered ids continue after this id, which may be of either kind'],
        ['ulid_reset_ordered_time()',
            'let ordered ids continue from the clock, and forget the horizon']
    ]::text[] LOOP
        f := pg_catalog.concat(here, '.', function[1]);
        CONTINUE WHEN pg_catalog.to_regprocedure(f) IS NULL;
        IF pg_catalog.obj_description(pg_catalog.to_regprocedure(f)::oid, 'pg_proc'::name) IS NULL
            OR EXISTS (SELECT FROM pg_catalog.pg_proc
                WHERE oid = pg_catalog.to_regprocedure(f) AND proacl IS NULL) THEN
            EXECUTE pg_catalog.concat('REVOKE ALL ON FUNCTION ', f, ' FROM PUBLIC');
        END IF;
        EXECUTE pg_catalog.concat('COMMENT ON FUNCTION ', f, ' IS ',
            pg_catalog.quote_literal(function[2]));
    END LOOP;
END $$;

DO $$
DECLARE
    granted text := pg_catalog.current_setting('ulid_sql.granted'::text, true);
BEGIN
    IF granted <> ''::text THEN
        EXECUTE pg_catalog.concat('GRANT ', granted, ' ON ulid_consumer TO PUBLIC');
    END IF;
END $$;
