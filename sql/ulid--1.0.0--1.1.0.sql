\echo Use "ALTER EXTENSION ulid UPDATE TO '1.1.0'" to load this file. \quit

--
-- Each update script begins with this section verbatim, because other software installs an extension of the same name with
-- another type.
--

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_type AS t
                   JOIN pg_catalog.pg_proc AS p ON p.oid = t.typreceive::pg_catalog.oid
                   JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
                   JOIN pg_catalog.pg_depend AS d ON d.objid = t.oid
                   JOIN pg_catalog.pg_extension AS e ON e.oid = d.refobjid
                   WHERE d.classid = 'pg_catalog.pg_type'::pg_catalog.regclass::pg_catalog.oid
                   AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
                   AND d.deptype = 'e' AND e.extname = 'ulid' AND t.typname = 'ulid'
                   AND t.typlen = 16 AND p.prosrc = 'uuid_recv' AND l.lanname = 'internal')
    THEN
        RAISE EXCEPTION USING
            ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = 'extension "ulid" in this database is not the one that this script updates',
            DETAIL = 'Its type ulid does not have the 16 bytes and the receive function of uuid. It may be that of pgx_ulid.',
            HINT = 'See docs/migrating.md of this extension for how to bring such a database along.';
    END IF;
END $$;

--
-- Comparison. The planner support lets an index on a uuid column serve a comparison with a ulid.
--

-- A session keeps the library that it has loaded, also when its file is replaced. An older one does not have the function.
DO $$
BEGIN
    CREATE FUNCTION ulid_comparison_support(internal) RETURNS internal
        LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
        AS 'MODULE_PATHNAME', 'ulid_comparison_support';
EXCEPTION WHEN undefined_function THEN
    RAISE EXCEPTION USING
        ERRCODE = 'object_not_in_prerequisite_state',
        MESSAGE = 'the library of extension "ulid" in this session is older than version 1.1.0',
        DETAIL = pg_catalog.format('The server reports: %s.', SQLERRM),
        HINT = 'Restart the server if it preloads the library, otherwise reconnect. All sessions that have the older library must end before the update.';
END $$;
COMMENT ON FUNCTION ulid_comparison_support(internal) IS 'planner support for comparisons of a uuid column with a ulid';

ALTER FUNCTION ulid_lt(ulid, ulid) SUPPORT ulid_comparison_support;
ALTER FUNCTION ulid_le(ulid, ulid) SUPPORT ulid_comparison_support;
ALTER FUNCTION ulid_eq(ulid, ulid) SUPPORT ulid_comparison_support;
ALTER FUNCTION ulid_ge(ulid, ulid) SUPPORT ulid_comparison_support;
ALTER FUNCTION ulid_gt(ulid, ulid) SUPPORT ulid_comparison_support;

--
-- Type
--

-- The casts as functions: for views, for tools in which a call is easier to write than a cast, and for queries that also run
-- where only functions on uuid are installed.
CREATE FUNCTION ulid_to_text(ulid) RETURNS text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_to_text';
COMMENT ON FUNCTION ulid_to_text(ulid) IS 'text of the ulid, 26 characters';

CREATE FUNCTION ulid_from_text(text) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_from_text';
COMMENT ON FUNCTION ulid_from_text(text) IS 'ulid of a text that the input function accepts';

--
-- Generators
--

-- The order is that of the server, so any worker may run this function.
CREATE FUNCTION gen_ordered_ulid() RETURNS ulid
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gen_ordered_ulid';
COMMENT ON FUNCTION gen_ordered_ulid() IS 'generate a ulid greater than all that any session of this server generated with it before';

CREATE FUNCTION gen_ordered_uuid_v7() RETURNS uuid
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gen_ordered_uuid_v7';
COMMENT ON FUNCTION gen_ordered_uuid_v7() IS 'generate a version 7 uuid greater than all that any session of this server generated with it before';

-- The state of the order belongs to the server: every role may see it, and a worker sees the same.
CREATE FUNCTION ulid_ordered_time() RETURNS timestamptz
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_ordered_time';
COMMENT ON FUNCTION ulid_ordered_time() IS 'time of the last ordered id; null if there was none since the server started';

-- These two change the order for all sessions, so they are for the administrator of the server, and never for a worker.
CREATE FUNCTION ulid_advance_ordered_time(id ulid, force boolean DEFAULT false) RETURNS timestamptz
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'ulid_advance_ordered_time';
COMMENT ON FUNCTION ulid_advance_ordered_time(ulid, boolean) IS 'let ordered ids continue after this id, which may be of either kind';
REVOKE ALL ON FUNCTION ulid_advance_ordered_time(ulid, boolean) FROM PUBLIC;

CREATE FUNCTION ulid_reset_ordered_time() RETURNS void
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'ulid_reset_ordered_time';
COMMENT ON FUNCTION ulid_reset_ordered_time() IS 'let ordered ids continue from the clock';
REVOKE ALL ON FUNCTION ulid_reset_ordered_time() FROM PUBLIC;

-- It has no sequence, so any worker may run it.
CREATE FUNCTION gen_uuid_v7(timestamptz) RETURNS uuid
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gen_uuid_v7_at';
COMMENT ON FUNCTION gen_uuid_v7(timestamptz) IS 'generate a version 7 uuid of the given time: 62 fresh bits of randomness';

--
-- Search by the first characters. A function and not an operator, which would make uuid ^@ text resolve for every uuid.
--

CREATE FUNCTION ulid_prefix_lower(prefix text) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_prefix_lower';
COMMENT ON FUNCTION ulid_prefix_lower(text) IS 'smallest ulid whose text starts with the characters';

CREATE FUNCTION ulid_prefix_upper(prefix text) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_prefix_upper';
COMMENT ON FUNCTION ulid_prefix_upper(text) IS 'greatest ulid whose text starts with the characters';

CREATE FUNCTION ulid_starts_with_support(internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_starts_with_support';
COMMENT ON FUNCTION ulid_starts_with_support(internal) IS 'planner support for ulid_starts_with';

CREATE FUNCTION ulid_starts_with(id ulid, prefix text) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    SUPPORT ulid_starts_with_support
    AS 'MODULE_PATHNAME', 'ulid_starts_with';
COMMENT ON FUNCTION ulid_starts_with(ulid, text) IS 'whether the text of the ulid starts with the characters';

--
-- TypeID: the same 128 bits in lower case behind a prefix
--

CREATE FUNCTION ulid_to_typeid(prefix text, id ulid) RETURNS text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_to_typeid';
COMMENT ON FUNCTION ulid_to_typeid(text, ulid) IS 'TypeID of the prefix, which may be empty, and the ulid';

CREATE FUNCTION ulid_from_typeid(typeid text) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_from_typeid';
COMMENT ON FUNCTION ulid_from_typeid(text) IS 'ulid of a TypeID of any prefix';

CREATE FUNCTION ulid_from_typeid(typeid text, prefix text) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_from_typeid_of';
COMMENT ON FUNCTION ulid_from_typeid(text, text) IS 'ulid of a TypeID that must have this prefix';

CREATE FUNCTION typeid_prefix(typeid text) RETURNS text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'typeid_prefix';
COMMENT ON FUNCTION typeid_prefix(text) IS 'prefix of a TypeID; empty if it has none';

--
-- Objects that need a newer server. pg_upgrade runs no script, so each update script repeats this section verbatim, and
-- ulid--VERSION-recheck--VERSION.sql consists of it: it creates what the server supports and the database lacks.
--

DO $$
BEGIN
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
