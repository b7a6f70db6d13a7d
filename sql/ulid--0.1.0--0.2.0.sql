\echo Use "ALTER EXTENSION ulid UPDATE TO '0.2.0'" to load this file. \quit

--
-- Operator classes
--

CREATE OPERATOR FAMILY ulid_minmax_ops USING brin;
COMMENT ON OPERATOR FAMILY ulid_minmax_ops USING brin IS 'ranges of ulid';

CREATE OPERATOR CLASS ulid_minmax_ops DEFAULT FOR TYPE ulid USING brin FAMILY ulid_minmax_ops AS
    OPERATOR 1 <,
    OPERATOR 2 <=,
    OPERATOR 3 =,
    OPERATOR 4 >=,
    OPERATOR 5 >,
    FUNCTION 1 pg_catalog.brin_minmax_opcinfo(internal),
    FUNCTION 2 pg_catalog.brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 pg_catalog.brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 pg_catalog.brin_minmax_union(internal, internal, internal);
COMMENT ON OPERATOR CLASS ulid_minmax_ops USING brin IS 'one range of ulid for each block range: for rows in the order of their ids';

--
-- Windows of time
--

CREATE FUNCTION ulid_range_lower(tstzrange) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_range_lower';
COMMENT ON FUNCTION ulid_range_lower(tstzrange) IS 'smallest ulid made within the range; the greatest of all if there is none';

CREATE FUNCTION ulid_range_upper(tstzrange) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_range_upper';
COMMENT ON FUNCTION ulid_range_upper(tstzrange) IS 'greatest ulid made within the range; the smallest of all if there is none';

CREATE FUNCTION ulid_range_support(internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_range_support';
COMMENT ON FUNCTION ulid_range_support(internal) IS 'planner support for a ulid made within a range';

CREATE FUNCTION ulid_range_sel(internal, oid, internal, integer) RETURNS double precision
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_range_sel';
COMMENT ON FUNCTION ulid_range_sel(internal, oid, internal, integer) IS 'restriction selectivity of a ulid made within a range';

-- The range is a domain. With tstzrange, PostgreSQL would take the untyped literal of '[2026-01-01, 2026-02-01)' <@
-- period, which is a range today, for a ulid, as an operand that matches exactly wins; with anyrange, uuid <@ uuidrange
-- would have two candidates and fail. A tstzrange is coerced to the domain, no other range is, and it matches nothing
-- exactly.
CREATE DOMAIN ulid_window AS tstzrange;
COMMENT ON DOMAIN ulid_window IS 'range of time that a ulid is made within';

CREATE FUNCTION ulid_contained_by_range(ulid, ulid_window) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    SUPPORT ulid_range_support
    AS 'MODULE_PATHNAME', 'ulid_contained_by_range';
COMMENT ON FUNCTION ulid_contained_by_range(ulid, ulid_window) IS 'implementation of <@ operator';

CREATE FUNCTION range_contains_ulid(ulid_window, ulid) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    SUPPORT ulid_range_support
    AS 'MODULE_PATHNAME', 'range_contains_ulid';
COMMENT ON FUNCTION range_contains_ulid(ulid_window, ulid) IS 'implementation of @> operator';

CREATE OPERATOR <@ (
    LEFTARG = ulid, RIGHTARG = ulid_window, FUNCTION = ulid_contained_by_range,
    COMMUTATOR = @>,
    RESTRICT = ulid_range_sel, JOIN = contjoinsel
);
COMMENT ON OPERATOR <@ (ulid, ulid_window) IS 'made within a range of time';

CREATE OPERATOR @> (
    LEFTARG = ulid_window, RIGHTARG = ulid, FUNCTION = range_contains_ulid,
    COMMUTATOR = <@,
    RESTRICT = ulid_range_sel, JOIN = contjoinsel
);
COMMENT ON OPERATOR @> (ulid_window, ulid) IS 'range of time in which the ulid was made';

--
-- Ids of other kinds: nothing is lost, and their order is that of the ulids
--

CREATE FUNCTION ulid_from_uuid_v1(uuid) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_from_uuid_v1';
COMMENT ON FUNCTION ulid_from_uuid_v1(uuid) IS 'ulid of a version 1 uuid, in the order of time';

CREATE FUNCTION ulid_to_uuid_v1(ulid) RETURNS uuid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_to_uuid_v1';
COMMENT ON FUNCTION ulid_to_uuid_v1(ulid) IS 'version 1 uuid that the ulid was made from';

CREATE FUNCTION ulid_from_uuid_v6(uuid) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_from_uuid_v6';
COMMENT ON FUNCTION ulid_from_uuid_v6(uuid) IS 'ulid of a version 6 uuid, in the order of time';

CREATE FUNCTION ulid_to_uuid_v6(ulid) RETURNS uuid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_to_uuid_v6';
COMMENT ON FUNCTION ulid_to_uuid_v6(ulid) IS 'version 6 uuid that the ulid was made from';

-- The one that loses something: version and variant take 6 bits. The cast to uuid takes none.
CREATE FUNCTION ulid_to_uuid_v7(ulid) RETURNS uuid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_to_uuid_v7';
COMMENT ON FUNCTION ulid_to_uuid_v7(ulid) IS 'version 7 uuid of the same millisecond, with 74 of the 80 bits of randomness';

-- The defaults are Twitter's epoch. They are written so that no setting of a session changes what is read, and are
-- kept as the moment, not as the text.
CREATE FUNCTION ulid_from_snowflake(id bigint, epoch timestamptz DEFAULT '2010-11-04 01:42:54.657+00') RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_from_snowflake';
COMMENT ON FUNCTION ulid_from_snowflake(bigint, timestamptz) IS 'ulid of a snowflake whose time counts from the epoch';

CREATE FUNCTION ulid_to_snowflake(id ulid, epoch timestamptz DEFAULT '2010-11-04 01:42:54.657+00') RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_to_snowflake';
COMMENT ON FUNCTION ulid_to_snowflake(ulid, timestamptz) IS 'snowflake that the ulid was made from';

CREATE FUNCTION ulid_snowflake_parts(
    ulid, OUT created_at timestamptz, OUT datacenter integer, OUT worker integer, OUT sequence integer
)
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_snowflake_parts';
COMMENT ON FUNCTION ulid_snowflake_parts(ulid) IS 'parts of the snowflake that the ulid was made from';

CREATE FUNCTION ulid_from_parts(created_at timestamptz, key bigint) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_from_key';
COMMENT ON FUNCTION ulid_from_parts(timestamptz, bigint) IS 'ulid of the time and a key that is not negative';

CREATE FUNCTION ulid_from_parts(created_at timestamptz, randomness bytea) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_from_bytes';
COMMENT ON FUNCTION ulid_from_parts(timestamptz, bytea) IS 'ulid of the time and exactly 10 bytes';

CREATE FUNCTION ulid_to_key(ulid) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_to_key';
COMMENT ON FUNCTION ulid_to_key(ulid) IS 'key that the ulid was made from, with the time';

-- As gen_monotonic_ulid, and for the same reason: the sequence is that of one backend.
CREATE FUNCTION gen_uuid_v7() RETURNS uuid
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'gen_uuid_v7';
COMMENT ON FUNCTION gen_uuid_v7() IS 'generate a version 7 uuid greater than all that this backend generated with it before';

--
-- What newer servers offer. pg_upgrade runs no script, so each update script repeats this section to the letter, and
-- ulid--VERSION-recheck--VERSION.sql is this section: it makes what the server has and the database lacks.
--

DO $$
BEGIN
    -- PostgreSQL 14
    IF pg_catalog.to_regprocedure('pg_catalog.brin_minmax_multi_distance_uuid(internal, internal)') IS NOT NULL
        AND NOT EXISTS (SELECT FROM pg_catalog.pg_opclass
                        WHERE opcname = 'ulid_minmax_multi_ops' AND opcintype = 'ulid'::pg_catalog.regtype::pg_catalog.oid)
    THEN
        CREATE OPERATOR FAMILY ulid_minmax_multi_ops USING brin;
        COMMENT ON OPERATOR FAMILY ulid_minmax_multi_ops USING brin IS 'several ranges of ulid';

        CREATE OPERATOR CLASS ulid_minmax_multi_ops FOR TYPE ulid USING brin FAMILY ulid_minmax_multi_ops AS
            OPERATOR 1 <,
            OPERATOR 2 <=,
            OPERATOR 3 =,
            OPERATOR 4 >=,
            OPERATOR 5 >,
            FUNCTION 1 pg_catalog.brin_minmax_multi_opcinfo(internal),
            FUNCTION 2 pg_catalog.brin_minmax_multi_add_value(internal, internal, internal, internal),
            FUNCTION 3 pg_catalog.brin_minmax_multi_consistent(internal, internal, internal, integer),
            FUNCTION 4 pg_catalog.brin_minmax_multi_union(internal, internal, internal),
            FUNCTION 5 pg_catalog.brin_minmax_multi_options(internal),
            FUNCTION 11 pg_catalog.brin_minmax_multi_distance_uuid(internal, internal);
        COMMENT ON OPERATOR CLASS ulid_minmax_multi_ops USING brin
            IS 'several ranges of ulid for each block range: for rows mostly in the order of their ids';
    END IF;

    IF pg_catalog.to_regprocedure('pg_catalog.brin_bloom_opcinfo(internal)') IS NOT NULL
        AND NOT EXISTS (SELECT FROM pg_catalog.pg_opclass
                        WHERE opcname = 'ulid_bloom_ops' AND opcintype = 'ulid'::pg_catalog.regtype::pg_catalog.oid)
    THEN
        CREATE OPERATOR FAMILY ulid_bloom_ops USING brin;
        COMMENT ON OPERATOR FAMILY ulid_bloom_ops USING brin IS 'Bloom filters of ulid';

        CREATE OPERATOR CLASS ulid_bloom_ops FOR TYPE ulid USING brin FAMILY ulid_bloom_ops AS
            OPERATOR 1 =,
            FUNCTION 1 pg_catalog.brin_bloom_opcinfo(internal),
            FUNCTION 2 pg_catalog.brin_bloom_add_value(internal, internal, internal, internal),
            FUNCTION 3 pg_catalog.brin_bloom_consistent(internal, internal, internal, integer),
            FUNCTION 4 pg_catalog.brin_bloom_union(internal, internal, internal),
            FUNCTION 5 pg_catalog.brin_bloom_options(internal),
            FUNCTION 11 ulid_hash(ulid);
        COMMENT ON OPERATOR CLASS ulid_bloom_ops USING brin
            IS 'a Bloom filter of ulid for each block range: for equality, with rows in any order';
    END IF;

    -- PostgreSQL 18
    IF pg_catalog.to_regprocedure('pg_catalog.uuid_skipsupport(internal)') IS NOT NULL
        AND NOT EXISTS (SELECT FROM pg_catalog.pg_amproc AS p
                        JOIN pg_catalog.pg_opclass AS c ON c.opcfamily = p.amprocfamily
                        JOIN pg_catalog.pg_am AS am ON am.oid = c.opcmethod
                        WHERE am.amname = 'btree' AND c.opcname = 'ulid_ops' AND p.amprocnum = 6
                        AND c.opcintype = 'ulid'::pg_catalog.regtype::pg_catalog.oid)
    THEN
        ALTER OPERATOR FAMILY ulid_ops USING btree ADD FUNCTION 6 (ulid, ulid) pg_catalog.uuid_skipsupport(internal);
    END IF;
END $$;
