\echo Use "ALTER EXTENSION ulid UPDATE TO '0.2.0'" to load this file. \quit

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

-- The range is an anyrange, though only a tstzrange has an answer: with tstzrange here, PostgreSQL would take the
-- untyped literal of '[2026-01-01, 2026-02-01)' <@ period, which is a range today, for a ulid.
CREATE FUNCTION ulid_contained_by_range(ulid, anyrange) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    SUPPORT ulid_range_support
    AS 'MODULE_PATHNAME', 'ulid_contained_by_range';
COMMENT ON FUNCTION ulid_contained_by_range(ulid, anyrange) IS 'implementation of <@ operator';

CREATE FUNCTION range_contains_ulid(anyrange, ulid) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    SUPPORT ulid_range_support
    AS 'MODULE_PATHNAME', 'range_contains_ulid';
COMMENT ON FUNCTION range_contains_ulid(anyrange, ulid) IS 'implementation of @> operator';

CREATE OPERATOR <@ (
    LEFTARG = ulid, RIGHTARG = anyrange, FUNCTION = ulid_contained_by_range,
    COMMUTATOR = @>,
    RESTRICT = ulid_range_sel, JOIN = contjoinsel
);
COMMENT ON OPERATOR <@ (ulid, anyrange) IS 'made within a range of time';

CREATE OPERATOR @> (
    LEFTARG = anyrange, RIGHTARG = ulid, FUNCTION = range_contains_ulid,
    COMMUTATOR = <@,
    RESTRICT = ulid_range_sel, JOIN = contjoinsel
);
COMMENT ON OPERATOR @> (anyrange, ulid) IS 'range of time in which the ulid was made';
