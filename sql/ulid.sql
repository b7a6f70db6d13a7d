\echo Use "CREATE EXTENSION ulid" to load this file. \quit

-- The bytes of a ulid are those of a uuid: 16, the most significant first, compared as unsigned. So
-- the functions that PostgreSQL has for uuid are used without change (LANGUAGE internal). The text
-- format, the generators, the functions on times and the conversions, which PostgreSQL does not
-- have, are written in Rust.

--
-- Type
--

CREATE TYPE ulid;

CREATE FUNCTION ulid_in(cstring) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_in';
COMMENT ON FUNCTION ulid_in(cstring) IS 'I/O';

CREATE FUNCTION ulid_out(ulid) RETURNS cstring
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_out';
COMMENT ON FUNCTION ulid_out(ulid) IS 'I/O';

CREATE FUNCTION ulid_recv(internal) RETURNS ulid
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
    AS 'uuid_recv';
COMMENT ON FUNCTION ulid_recv(internal) IS 'I/O';

CREATE FUNCTION ulid_send(ulid) RETURNS bytea
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
    AS 'uuid_send';
COMMENT ON FUNCTION ulid_send(ulid) IS 'I/O';

CREATE TYPE ulid (
    INPUT = ulid_in,
    OUTPUT = ulid_out,
    RECEIVE = ulid_recv,
    SEND = ulid_send,
    LIKE = pg_catalog.uuid
);
COMMENT ON TYPE ulid IS 'ULID: 48 bits of Unix time in milliseconds, then 80 bits of randomness';

CREATE FUNCTION ulid_is_valid(text) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_is_valid';
COMMENT ON FUNCTION ulid_is_valid(text) IS 'whether the text can be read as a ulid';

-- The casts as functions: for views, for tools in which a call is easier to write than a cast, and
-- for queries that also run where only functions on uuid are installed.
CREATE FUNCTION ulid_to_text(ulid) RETURNS text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_to_text';
COMMENT ON FUNCTION ulid_to_text(ulid) IS 'text of the ulid, 26 characters';

CREATE FUNCTION ulid_from_text(text) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_from_text';
COMMENT ON FUNCTION ulid_from_text(text) IS 'ulid of a text that the input function accepts';

--
-- Comparison. The planner support lets an index on a uuid column serve a comparison with a ulid,
-- and another server that has the column compare it as a ulid.
--

CREATE FUNCTION ulid_comparison_support(internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_comparison_support';
COMMENT ON FUNCTION ulid_comparison_support(internal)
    IS 'planner support for comparisons of a uuid column with a ulid';

CREATE FUNCTION ulid_lt(ulid, ulid) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulid_comparison_support
    AS 'uuid_lt';
COMMENT ON FUNCTION ulid_lt(ulid, ulid) IS 'implementation of < operator';

CREATE FUNCTION ulid_le(ulid, ulid) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulid_comparison_support
    AS 'uuid_le';
COMMENT ON FUNCTION ulid_le(ulid, ulid) IS 'implementation of <= operator';

CREATE FUNCTION ulid_eq(ulid, ulid) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulid_comparison_support
    AS 'uuid_eq';
COMMENT ON FUNCTION ulid_eq(ulid, ulid) IS 'implementation of = operator';

CREATE FUNCTION ulid_ge(ulid, ulid) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulid_comparison_support
    AS 'uuid_ge';
COMMENT ON FUNCTION ulid_ge(ulid, ulid) IS 'implementation of >= operator';

CREATE FUNCTION ulid_gt(ulid, ulid) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulid_comparison_support
    AS 'uuid_gt';
COMMENT ON FUNCTION ulid_gt(ulid, ulid) IS 'implementation of > operator';

CREATE FUNCTION ulid_ne(ulid, ulid) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulid_comparison_support
    AS 'uuid_ne';
COMMENT ON FUNCTION ulid_ne(ulid, ulid) IS 'implementation of <> operator';

-- The operators are in pg_catalog, where every search_path finds them. IS DISTINCT FROM, NULLIF,
-- CASE and JOIN USING name no operator and are dumped without a schema, so a dump that contains
-- them can only be restored this way.
CREATE OPERATOR pg_catalog.< (
    LEFTARG = ulid, RIGHTARG = ulid, FUNCTION = ulid_lt,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR pg_catalog.< (ulid, ulid) IS 'less than';

CREATE OPERATOR pg_catalog.<= (
    LEFTARG = ulid, RIGHTARG = ulid, FUNCTION = ulid_le,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR pg_catalog.<= (ulid, ulid) IS 'less than or equal';

CREATE OPERATOR pg_catalog.= (
    LEFTARG = ulid, RIGHTARG = ulid, FUNCTION = ulid_eq,
    COMMUTATOR = OPERATOR(pg_catalog.=), NEGATOR = OPERATOR(pg_catalog.<>),
    RESTRICT = eqsel, JOIN = eqjoinsel,
    HASHES, MERGES
);
COMMENT ON OPERATOR pg_catalog.= (ulid, ulid) IS 'equal';

CREATE OPERATOR pg_catalog.>= (
    LEFTARG = ulid, RIGHTARG = ulid, FUNCTION = ulid_ge,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR pg_catalog.>= (ulid, ulid) IS 'greater than or equal';

CREATE OPERATOR pg_catalog.> (
    LEFTARG = ulid, RIGHTARG = ulid, FUNCTION = ulid_gt,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR pg_catalog.> (ulid, ulid) IS 'greater than';

CREATE OPERATOR pg_catalog.<> (
    LEFTARG = ulid, RIGHTARG = ulid, FUNCTION = ulid_ne,
    COMMUTATOR = OPERATOR(pg_catalog.<>), NEGATOR = OPERATOR(pg_catalog.=),
    RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR pg_catalog.<> (ulid, ulid) IS 'not equal';

--
-- Operator classes in separate families: a member added to PostgreSQL's uuid families would be lost
-- by pg_upgrade
--

CREATE FUNCTION ulid_cmp(ulid, ulid) RETURNS integer
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    AS 'uuid_cmp';
COMMENT ON FUNCTION ulid_cmp(ulid, ulid) IS 'less-equal-greater';

CREATE FUNCTION ulid_sortsupport(internal) RETURNS void
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
    AS 'uuid_sortsupport';
COMMENT ON FUNCTION ulid_sortsupport(internal) IS 'sort support';

CREATE FUNCTION ulid_hash(ulid) RETURNS integer
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    AS 'uuid_hash';
COMMENT ON FUNCTION ulid_hash(ulid) IS 'hash';

CREATE FUNCTION ulid_hash_extended(ulid, bigint) RETURNS bigint
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    AS 'uuid_hash_extended';
COMMENT ON FUNCTION ulid_hash_extended(ulid, bigint) IS 'hash';

CREATE OPERATOR FAMILY ulid_ops USING btree;
COMMENT ON OPERATOR FAMILY ulid_ops USING btree IS 'order of ulid';

CREATE OPERATOR CLASS ulid_ops DEFAULT FOR TYPE ulid USING btree FAMILY ulid_ops AS
    OPERATOR 1 pg_catalog.<,
    OPERATOR 2 pg_catalog.<=,
    OPERATOR 3 pg_catalog.=,
    OPERATOR 4 pg_catalog.>=,
    OPERATOR 5 pg_catalog.>,
    FUNCTION 1 ulid_cmp(ulid, ulid),
    FUNCTION 2 ulid_sortsupport(internal),
    FUNCTION 4 pg_catalog.btequalimage(oid);
COMMENT ON OPERATOR CLASS ulid_ops USING btree
    IS 'order of ulid: with abbreviated keys and deduplication';

CREATE OPERATOR FAMILY ulid_ops USING hash;
COMMENT ON OPERATOR FAMILY ulid_ops USING hash IS 'hashing of ulid';

CREATE OPERATOR CLASS ulid_ops DEFAULT FOR TYPE ulid USING hash FAMILY ulid_ops AS
    OPERATOR 1 pg_catalog.=,
    FUNCTION 1 ulid_hash(ulid),
    FUNCTION 2 ulid_hash_extended(ulid, bigint);
COMMENT ON OPERATOR CLASS ulid_ops USING hash
    IS 'hashing of ulid: for indexes, joins and partitions';

-- Core's minmax functions look for operators of the type of the column: these refuse types that the
-- classes have none for.
CREATE FUNCTION ulid_brin_minmax_opcinfo(internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_brin_minmax_opcinfo';
COMMENT ON FUNCTION ulid_brin_minmax_opcinfo(internal)
    IS 'BRIN minmax support, for a column of ulid itself';

CREATE OPERATOR FAMILY ulid_minmax_ops USING brin;
COMMENT ON OPERATOR FAMILY ulid_minmax_ops USING brin IS 'ranges of ulid';

CREATE OPERATOR CLASS ulid_minmax_ops DEFAULT FOR TYPE ulid USING brin FAMILY ulid_minmax_ops AS
    OPERATOR 1 pg_catalog.<,
    OPERATOR 2 pg_catalog.<=,
    OPERATOR 3 pg_catalog.=,
    OPERATOR 4 pg_catalog.>=,
    OPERATOR 5 pg_catalog.>,
    FUNCTION 1 ulid_brin_minmax_opcinfo(internal),
    FUNCTION 2 pg_catalog.brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 pg_catalog.brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 pg_catalog.brin_minmax_union(internal, internal, internal);
COMMENT ON OPERATOR CLASS ulid_minmax_ops USING brin
    IS 'one range of ulid for each block range: for rows in the order of their ids';

CREATE FUNCTION ulid_brin_minmax_multi_opcinfo(internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_brin_minmax_multi_opcinfo';
COMMENT ON FUNCTION ulid_brin_minmax_multi_opcinfo(internal)
    IS 'BRIN multi minmax support, for a column of ulid itself';

CREATE OPERATOR FAMILY ulid_minmax_multi_ops USING brin;
COMMENT ON OPERATOR FAMILY ulid_minmax_multi_ops USING brin IS 'several ranges of ulid';

CREATE OPERATOR CLASS ulid_minmax_multi_ops FOR TYPE ulid USING brin FAMILY ulid_minmax_multi_ops AS
    OPERATOR 1 pg_catalog.<,
    OPERATOR 2 pg_catalog.<=,
    OPERATOR 3 pg_catalog.=,
    OPERATOR 4 pg_catalog.>=,
    OPERATOR 5 pg_catalog.>,
    FUNCTION 1 ulid_brin_minmax_multi_opcinfo(internal),
    FUNCTION 2 pg_catalog.brin_minmax_multi_add_value(internal, internal, internal, internal),
    FUNCTION 3 pg_catalog.brin_minmax_multi_consistent(internal, internal, internal, integer),
    FUNCTION 4 pg_catalog.brin_minmax_multi_union(internal, internal, internal),
    FUNCTION 5 pg_catalog.brin_minmax_multi_options(internal),
    FUNCTION 11 pg_catalog.brin_minmax_multi_distance_uuid(internal, internal);
COMMENT ON OPERATOR CLASS ulid_minmax_multi_ops USING brin
    IS 'several ranges of ulid for each block range: for rows mostly in the order of their ids';

CREATE OPERATOR FAMILY ulid_bloom_ops USING brin;
COMMENT ON OPERATOR FAMILY ulid_bloom_ops USING brin IS 'Bloom filters of ulid';

CREATE OPERATOR CLASS ulid_bloom_ops FOR TYPE ulid USING brin FAMILY ulid_bloom_ops AS
    OPERATOR 1 pg_catalog.=,
    FUNCTION 1 pg_catalog.brin_bloom_opcinfo(internal),
    FUNCTION 2 pg_catalog.brin_bloom_add_value(internal, internal, internal, internal),
    FUNCTION 3 pg_catalog.brin_bloom_consistent(internal, internal, internal, integer),
    FUNCTION 4 pg_catalog.brin_bloom_union(internal, internal, internal),
    FUNCTION 5 pg_catalog.brin_bloom_options(internal),
    FUNCTION 11 ulid_hash(ulid);
COMMENT ON OPERATOR CLASS ulid_bloom_ops USING brin
    IS 'a Bloom filter of ulid for each block range: for equality, with rows in any order';

--
-- Aggregates
--

CREATE FUNCTION ulid_smaller(ulid, ulid) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_smaller';
COMMENT ON FUNCTION ulid_smaller(ulid, ulid) IS 'smaller of two';

CREATE FUNCTION ulid_larger(ulid, ulid) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_larger';
COMMENT ON FUNCTION ulid_larger(ulid, ulid) IS 'larger of two';

CREATE AGGREGATE min(ulid) (
    SFUNC = ulid_smaller, STYPE = ulid, COMBINEFUNC = ulid_smaller, PARALLEL = SAFE,
    SORTOP = OPERATOR(pg_catalog.<)
);
COMMENT ON AGGREGATE min(ulid) IS 'minimum value of all ulid input values';

CREATE AGGREGATE max(ulid) (
    SFUNC = ulid_larger, STYPE = ulid, COMBINEFUNC = ulid_larger, PARALLEL = SAFE,
    SORTOP = OPERATOR(pg_catalog.>)
);
COMMENT ON AGGREGATE max(ulid) IS 'maximum value of all ulid input values';

-- The same for uuid, which PostgreSQL has from 20 on. Otherwise, the implicit cast would make
-- max(uuid) a ulid. They are not in pg_catalog: there they would hide those that a database has of
-- its own, and pg_upgrade to 20 could not create them. On 20, a dump of an older server still names
-- these.
CREATE FUNCTION ulid_smaller(uuid, uuid) RETURNS uuid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_smaller_uuid';
COMMENT ON FUNCTION ulid_smaller(uuid, uuid) IS 'smaller of two';

CREATE FUNCTION ulid_larger(uuid, uuid) RETURNS uuid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_larger_uuid';
COMMENT ON FUNCTION ulid_larger(uuid, uuid) IS 'larger of two';

-- Many databases have such aggregates in this schema already, which stay what they are.
DO $$
DECLARE
    aggregate pg_catalog.text[];
BEGIN
    FOREACH aggregate SLICE 1 IN ARRAY ARRAY[
        ['min', 'ulid_smaller', '<', 'minimum'], ['max', 'ulid_larger', '>', 'maximum']]
    LOOP
        BEGIN
            EXECUTE pg_catalog.format($create$
                CREATE AGGREGATE %1$I.%2$s(pg_catalog.uuid) (
                    SFUNC = %1$I.%3$s, STYPE = pg_catalog.uuid, COMBINEFUNC = %1$I.%3$s,
                    PARALLEL = SAFE, SORTOP = OPERATOR(pg_catalog.%4$s)
                );
                COMMENT ON AGGREGATE %1$I.%2$s(pg_catalog.uuid)
                    IS '%5$s value of all uuid input values'
            $create$, pg_catalog.current_schema(), aggregate[1], aggregate[2], aggregate[3],
                aggregate[4]);
        EXCEPTION WHEN duplicate_function THEN
            -- not a notice, which CREATE EXTENSION hides
            RAISE WARNING USING
                ERRCODE = 'duplicate_function',
                MESSAGE = pg_catalog.format('aggregate %I.%s(uuid) already exists, skipping',
                    pg_catalog.current_schema(), aggregate[1]),
                HINT = 'In another schema, the extension would not conflict with it when a dump is'
                    ' restored.';
        END;
    END LOOP;
END $$;

--
-- Generators
--

CREATE FUNCTION gen_ulid() RETURNS ulid
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gen_ulid';
COMMENT ON FUNCTION gen_ulid() IS 'generate a ulid: the time is now, the randomness 80 fresh bits';

CREATE FUNCTION gen_ulid(timestamptz) RETURNS ulid
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gen_ulid_at';
COMMENT ON FUNCTION gen_ulid(timestamptz)
    IS 'generate a ulid of the given time: the randomness is 80 fresh bits';

-- The last value belongs to one backend, so a parallel worker must not run this function.
CREATE FUNCTION gen_monotonic_ulid() RETURNS ulid
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'gen_monotonic_ulid';
COMMENT ON FUNCTION gen_monotonic_ulid()
    IS 'generate a ulid greater than all that this backend generated with it before';

-- The leader ends the transaction, so its entry in shared memory is what the horizon waits for; the
-- ids of a worker would have none. Besides, a worker would make ids for rows that a Gather Merge
-- above it puts in another order.
CREATE FUNCTION gen_ordered_ulid() RETURNS ulid
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'gen_ordered_ulid';
COMMENT ON FUNCTION gen_ordered_ulid()
    IS 'generate a ulid greater than all that any session of this server generated with it before';

CREATE FUNCTION gen_ordered_uuid_v7() RETURNS uuid
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'gen_ordered_uuid_v7';
COMMENT ON FUNCTION gen_ordered_uuid_v7()
    IS 'generate a version 7 uuid greater than all that any session of this server '
        'generated with it before';

-- Creating a trigger needs EXECUTE; firing it does not.
CREATE FUNCTION ulid_ordered_guard() RETURNS trigger
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'ulid_ordered_guard';
COMMENT ON FUNCTION ulid_ordered_guard()
    IS 'trigger that refuses ids below those that the transaction generates, and ids far ahead';

-- What holds the horizon: a session, and a prepared transaction. As in pg_stat_activity, the times
-- of other roles' transactions are for those who may read all statistics. They are of all
-- databases.
CREATE FUNCTION ulid_ordered_since(pid integer) RETURNS timestamptz
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_ordered_since';
COMMENT ON FUNCTION ulid_ordered_since(integer)
    IS 'time at which the transaction of this process holds the horizon; null if it does not';
REVOKE ALL ON FUNCTION ulid_ordered_since(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ulid_ordered_since(integer) TO pg_read_all_stats;
CREATE FUNCTION ulid_ordered_since(transaction xid) RETURNS timestamptz
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_ordered_since_prepared';
COMMENT ON FUNCTION ulid_ordered_since(xid)
    IS 'time at which this prepared transaction holds the horizon; null if it does not';
REVOKE ALL ON FUNCTION ulid_ordered_since(xid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ulid_ordered_since(xid) TO pg_read_all_stats;

-- The id clock belongs to the server: every role may see it, and a worker sees the same.
CREATE FUNCTION ulid_ordered_time() RETURNS timestamptz
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_ordered_time';
COMMENT ON FUNCTION ulid_ordered_time()
    IS 'the id clock: time of the last ordered id or horizon; null if there was neither since '
        'the start of the server or the last reset';

-- These two change the id clock for all sessions, so they are for the administrator of the server,
-- and never for a worker.
CREATE FUNCTION ulid_advance_ordered_time(id ulid, force boolean DEFAULT false) RETURNS timestamptz
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'ulid_advance_ordered_time';
COMMENT ON FUNCTION ulid_advance_ordered_time(ulid, boolean)
    IS 'advance the id clock to this id, of either kind, so that ordered ids are greater';
REVOKE ALL ON FUNCTION ulid_advance_ordered_time(ulid, boolean) FROM PUBLIC;

CREATE FUNCTION ulid_reset_id_clock() RETURNS void
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'ulid_reset_id_clock';
COMMENT ON FUNCTION ulid_reset_id_clock()
    IS 'set the id clock back to the system clock when the transaction commits, without the row';
REVOKE ALL ON FUNCTION ulid_reset_id_clock() FROM PUBLIC;

--
-- Parts and bounds
--

CREATE FUNCTION ulid_extract_timestamp(ulid) RETURNS timestamptz
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_extract_timestamp';
COMMENT ON FUNCTION ulid_extract_timestamp(ulid) IS 'extract the time from a ulid';

CREATE FUNCTION ulid_extract_unix_ms(ulid) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_extract_unix_ms';
COMMENT ON FUNCTION ulid_extract_unix_ms(ulid)
    IS 'extract the time from a ulid, in milliseconds since 1970-01-01 UTC';

CREATE FUNCTION ulid_extract_randomness(ulid) RETURNS bytea
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_extract_randomness';
COMMENT ON FUNCTION ulid_extract_randomness(ulid) IS 'extract the randomness from a ulid, 10 bytes';

CREATE FUNCTION ulid_lower_bound(timestamptz) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_lower_bound';
COMMENT ON FUNCTION ulid_lower_bound(timestamptz)
    IS 'smallest ulid of the millisecond that the time lies in';

CREATE FUNCTION ulid_upper_bound(timestamptz) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_upper_bound';
COMMENT ON FUNCTION ulid_upper_bound(timestamptz)
    IS 'greatest ulid of the millisecond that the time lies in';

--
-- The horizon, in a row that every server has that has the rows. It was computed before it was
-- committed. So each snapshot that sees it also sees every transaction that had ended by then. That
-- holds at every isolation level, on standbys, and for the rows that subscribers apply in the order
-- of their commits. The computation is in src/ordered/horizon.rs and in horizon/.
--

-- The first refresh inserts the row, not this script, since a dump has the row. Its primary key
-- lets it be replicated. Its versions stay in one page, as no index has the columns that change.
-- Autovacuum must not truncate the table, which cancels queries on standbys, nor analyze it.
-- src/ordered/row.rs reads the table by its name, and the second column.
CREATE TABLE ulid_horizon (
    one boolean DEFAULT true PRIMARY KEY CHECK (one),
    horizon ulid NOT NULL,
    refreshed_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
) WITH (
    vacuum_truncate = off,
    autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0,
    autovacuum_analyze_threshold = 2000000000
);
COMMENT ON TABLE ulid_horizon IS 'the horizon of ordered ids, one row';
SELECT pg_catalog.pg_extension_config_dump('ulid_horizon', '');
REVOKE ALL ON ulid_horizon FROM PUBLIC;
GRANT SELECT ON ulid_horizon TO PUBLIC;

-- The id clock follows the row, and it is that of all databases. So a row that is far ahead must
-- not come in: not from a dump, nor from a subscription, nor by hand. What
-- ulid_advance_ordered_time(ulid, true) has set is not ahead of the id clock. A subscription skips
-- the update: otherwise it would fail there again and again, and bring no other row, also after a
-- reset on the publisher. It does not skip the first row, since updates would then find none.
CREATE FUNCTION ulid_horizon_refuse() RETURNS trigger
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND current_setting('session_replication_role') = 'replica' AND EXISTS
        (SELECT FROM pg_stat_get_subscription(NULL) WHERE pid = pg_backend_pid()) THEN
        IF current_setting('ulid_horizon.is_refused', true) IS DISTINCT FROM 'true' THEN
            RAISE WARNING 'horizon "%" is more than a day ahead of the clock', NEW.horizon
                USING DETAIL = 'Consumers on this server wait.';
            PERFORM set_config('ulid_horizon.is_refused', 'true', false);
        END IF;
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'horizon "%" is more than a day ahead of the clock', NEW.horizon
        USING ERRCODE = 'object_not_in_prerequisite_state',
        DETAIL = 'All ordered ids of this server would be later.',
        HINT = 'If that is right, run ulid_advance_ordered_time(horizon, true) before.';
END $$;
COMMENT ON FUNCTION ulid_horizon_refuse() IS 'trigger that refuses a horizon that is far ahead';
REVOKE ALL ON FUNCTION ulid_horizon_refuse() FROM PUBLIC;
CREATE TRIGGER ulid_horizon_a_refuse BEFORE INSERT OR UPDATE ON ulid_horizon
    FOR EACH ROW
    WHEN (NEW.horizon > ulid_upper_bound(least(
        greatest(pg_catalog.clock_timestamp(), ulid_ordered_time()) + interval '1 day',
        ulid_extract_timestamp('7ZZZZZZZZZZZZZZZZZZZZZZZZZ'))))
    EXECUTE FUNCTION ulid_horizon_refuse();
ALTER TABLE ulid_horizon ENABLE ALWAYS TRIGGER ulid_horizon_a_refuse;
COMMENT ON TRIGGER ulid_horizon_a_refuse ON ulid_horizon IS 'refuses a horizon that is far ahead';

-- A dump that the owner of the database restores must not fail at the row. But with a horizon that
-- is too high, consumers miss rows, and the id clock belongs to the server. So only a superuser
-- restores it, and only a superuser's subscription inserts it. The id clock advances to it at once,
-- for sessions that have read the row before. Where there is a row already, a session restores the
-- greater one. The initial copy of a subscription fails: a greater one that
-- is there could be above rows of the publisher that are still to come. The row of the first
-- refresh is zero.
GRANT INSERT ON ulid_horizon TO pg_database_owner;
CREATE FUNCTION ulid_horizon_restore() RETURNS trigger
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    is_there boolean;
BEGIN
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        RETURN NULL;
    ELSIF current_setting('session_replication_role') = 'replica' THEN
        RETURN NEW;
    END IF;
    EXECUTE format('SELECT %I.ulid_advance_ordered_time($1, true)', TG_TABLE_SCHEMA)
        USING NEW.horizon;
    EXECUTE format('UPDATE %I.%I SET horizon = greatest(horizon, $1) RETURNING true',
        TG_TABLE_SCHEMA, TG_TABLE_NAME) INTO is_there USING NEW.horizon;
    IF is_there THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION ulid_horizon_restore()
    IS 'trigger that decides who restores a horizon, and how';
REVOKE ALL ON FUNCTION ulid_horizon_restore() FROM PUBLIC;
CREATE TRIGGER ulid_horizon_b_restore BEFORE INSERT ON ulid_horizon
    FOR EACH ROW WHEN (NEW.horizon > '00000000000000000000000000')
    EXECUTE FUNCTION ulid_horizon_restore();
ALTER TABLE ulid_horizon ENABLE ALWAYS TRIGGER ulid_horizon_b_restore;
COMMENT ON TRIGGER ulid_horizon_b_restore ON ulid_horizon
    IS 'decides who restores a horizon, and how';

CREATE FUNCTION ulid_is_refresh_due(horizon ulid) RETURNS boolean
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'ulid_is_refresh_due';
COMMENT ON FUNCTION ulid_is_refresh_due(ulid)
    IS 'whether an ordered id may have been generated since the horizon was set to this';
CREATE FUNCTION ulid_next_horizon(horizon ulid) RETURNS ulid
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'ulid_next_horizon';
COMMENT ON FUNCTION ulid_next_horizon(ulid)
    IS 'horizon in place of this one, whose row is locked; null if it has not advanced';

-- What runs with the rights of the functions' owner, the bootstrap superuser, looks up no name of
-- this schema when it runs, since the owner of the schema can rename that, and create another one
-- of the old name. The names in bodies of SQL are resolved when a function is created. PL/pgSQL
-- finds names in pg_catalog, then in pg_temp.

-- The primary refreshes, or the server that this one subscribes to. Nobody knows whether a
-- subscription without tables, as that of a dump which was restored, will bring the horizon.
CREATE FUNCTION ulid_refreshes(horizon regclass) RETURNS boolean
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    subscription name;
BEGIN
    IF pg_is_in_recovery()
        OR EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid = horizon::oid) THEN
        RETURN false;
    ELSIF current_setting('transaction_isolation')
        NOT IN ('read committed', 'read uncommitted') THEN
        RAISE EXCEPTION 'the horizon must be refreshed in isolation level READ COMMITTED'
            USING ERRCODE = 'active_sql_transaction';
    END IF;
    SELECT subname INTO subscription FROM pg_subscription AS s
    JOIN pg_database AS d ON d.oid = subdbid
    WHERE datname = current_database()
        AND NOT EXISTS (SELECT FROM pg_subscription_rel WHERE srsubid = s.oid) LIMIT 1;
    IF subscription IS NOT NULL THEN
        RAISE EXCEPTION 'subscription "%" has no tables', subscription
            USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'It could bring the horizon of another server.',
            HINT = format('ALTER SUBSCRIPTION %1$I ENABLE, then ALTER SUBSCRIPTION %1$I REFRESH'
                ' PUBLICATION; or drop it.', subscription);
    END IF;
    RETURN true;
END $$;
COMMENT ON FUNCTION ulid_refreshes(regclass) IS 'whether this server refreshes the horizon';

-- A crash must not lose what a consumer has read.
CREATE FUNCTION ulid_refresh_write(next_horizon ulid) RETURNS boolean
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT pg_catalog.set_config('synchronous_commit', 'local', true)
    WHERE next_horizon IS NOT NULL AND pg_catalog.current_setting('synchronous_commit') = 'off';
    UPDATE ulid_horizon SET horizon = next_horizon, refreshed_at = pg_catalog.clock_timestamp()
    WHERE next_horizon IS NOT NULL
    RETURNING true;
END;
COMMENT ON FUNCTION ulid_refresh_write(ulid) IS 'write this horizon into the row, which is locked';

-- One at a time: if another one refreshes, its horizon will do. The row is locked before the id
-- clock is touched, so that a reset, which has locked it, is not undone.
CREATE FUNCTION ulid_refresh_locked() RETURNS boolean
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
    INSERT INTO ulid_horizon (horizon) SELECT '00000000000000000000000000'::ulid
    WHERE NOT EXISTS (SELECT FROM ulid_horizon) ON CONFLICT DO NOTHING;
    SELECT coalesce((SELECT ulid_refresh_write(ulid_next_horizon(horizon)) FROM (
        SELECT horizon FROM ulid_horizon FOR UPDATE SKIP LOCKED) AS locked), false);
END;
COMMENT ON FUNCTION ulid_refresh_locked() IS 'refresh the horizon, unless another one does';

-- It writes nothing, not even a lock, while no ordered id is generated.
CREATE FUNCTION ulid_refresh() RETURNS boolean
    LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    RETURN CASE WHEN ulid_refreshes('ulid_horizon'::regclass)
            AND ulid_is_refresh_due((SELECT horizon FROM ulid_horizon))
        THEN ulid_refresh_locked() ELSE false END;
COMMENT ON FUNCTION ulid_refresh()
    IS 'refresh the horizon of ordered ids in this transaction; false if there is no need';
REVOKE ALL ON FUNCTION ulid_is_refresh_due(ulid), ulid_next_horizon(ulid), ulid_refreshes(regclass),
    ulid_refresh_write(ulid), ulid_refresh_locked(), ulid_refresh() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ulid_refresh() TO pg_database_owner WITH GRANT OPTION;

-- A refresh holds the lock on the row until its transaction ends. So the procedure ends it, and is
-- an error in a transaction block. A procedure that commits looks up the names in its body with the
-- caller's search_path. So its body has none, and the default of its argument, which is resolved
-- when it is created, refreshes.
CREATE PROCEDURE ulid_refresh_horizon(is_refreshed boolean DEFAULT ulid_refresh())
    LANGUAGE plpgsql
    AS 'BEGIN COMMIT; END';
COMMENT ON PROCEDURE ulid_refresh_horizon(boolean)
    IS 'refresh the horizon of ordered ids, and commit; call it without arguments, or with '
    'ulid_refresh()';

CREATE FUNCTION ulid_current_horizon_error(last ulid, horizon ulid, row_of regclass) RETURNS ulid
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
            HINT = 'The position before all rows is ''00000000000000000000000000''.';
    ELSIF EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid = row_of::oid) THEN
        RAISE EXCEPTION 'position "%" is ahead of the horizon "%" of this subscriber', last, horizon
            USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'If this server has crashed, it applies again what it has lost: wait. Otherwise '
                'the position is of another server, or of before a restore.';
    END IF;
    RAISE EXCEPTION 'position "%" is ahead of the horizon "%"', last, horizon
        USING ERRCODE = 'object_not_in_prerequisite_state',
        HINT = 'The position is of another server, or of before a restore or a reset.';
END $$;
COMMENT ON FUNCTION ulid_current_horizon_error(ulid, ulid, regclass)
    IS 'error of a horizon that is not known, or is less than the position';

-- A query reads the row with its own snapshot. So each worker reads the same. The names are not
-- that of the table: with one argument, that would be a cast to its row type.
CREATE FUNCTION ulid_current_horizon() RETURNS ulid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN coalesce((SELECT nullif(horizon, '00000000000000000000000000') FROM ulid_horizon),
        ulid_current_horizon_error(NULL::ulid, NULL::ulid, NULL::regclass));
COMMENT ON FUNCTION ulid_current_horizon()
    IS 'ulid below which the present query sees each ordered id that will ever be seen';

-- Not STRICT: with a position that is null, a consumer would read nothing for ever. There is no
-- second one for uuid: a plain literal or an untyped parameter could be either. During recovery,
-- the consumer may have read from a server that has replayed more.
CREATE FUNCTION ulid_current_horizon(last ulid) RETURNS ulid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT CASE WHEN last <= horizon OR last IS NOT NULL AND pg_catalog.pg_is_in_recovery()
            THEN horizon
            ELSE ulid_current_horizon_error(last, horizon, 'ulid_horizon'::regclass) END
        FROM (SELECT ulid_current_horizon()) AS row (horizon));
COMMENT ON FUNCTION ulid_current_horizon(ulid)
    IS 'the same for a consumer at this position; an error if that is ahead of the horizon';

-- As ulid_ordered_since(), for those who may read all statistics. A transaction holds the horizon
-- from its first ordered id on, or since it has refreshed: then it has ROW EXCLUSIVE on the table,
-- as has whoever locks the row in another way; also where the subtransaction that has locked the
-- row has ended. Such a transaction is never prepared.
CREATE VIEW ulid_horizon_holders AS
    WITH refresher AS MATERIALIZED (
        SELECT pid FROM pg_catalog.pg_locks
        WHERE relation = 'ulid_horizon'::regclass::oid AND granted AND pid IS NOT NULL
            AND mode NOT IN ('AccessShareLock', 'ShareUpdateExclusiveLock')
            AND database = (SELECT oid FROM pg_catalog.pg_database
                WHERE datname = pg_catalog.current_database()))
    SELECT pid, backend_xid AS transaction, NULL::text AS prepared,
        coalesce(ulid_ordered_since(pid), xact_start) AS since,
        pid IN (SELECT pid FROM refresher) AS refreshes,
        usename, application_name, state, query
    FROM pg_catalog.pg_stat_activity
    WHERE datname = pg_catalog.current_database() AND (ulid_ordered_since(pid) IS NOT NULL
        OR pid IN (SELECT pid FROM refresher))
    UNION ALL
    SELECT NULL, transaction, gid, ulid_ordered_since(transaction), false, owner, NULL, NULL, NULL
    FROM pg_catalog.pg_prepared_xacts
    WHERE database = pg_catalog.current_database() AND ulid_ordered_since(transaction) IS NOT NULL;
COMMENT ON VIEW ulid_horizon_holders
    IS 'transactions that hold back the horizon of this database, and since when';
REVOKE ALL ON ulid_horizon_holders FROM PUBLIC;
GRANT SELECT ON ulid_horizon_holders TO pg_read_all_stats;

--
-- Windows of time
--

-- Leakproof, as the operators are: no range is an error, nor is any ulid. Bounds take the place of
-- a leakproof condition, so they have the same label.
CREATE FUNCTION ulid_range_lower(tstzrange) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_range_lower';
COMMENT ON FUNCTION ulid_range_lower(tstzrange)
    IS 'smallest ulid made within the range; the greatest of all if there is none';

CREATE FUNCTION ulid_range_upper(tstzrange) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_range_upper';
COMMENT ON FUNCTION ulid_range_upper(tstzrange)
    IS 'greatest ulid made within the range; the smallest of all if there is none';

CREATE FUNCTION ulid_range_support(internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_range_support';
COMMENT ON FUNCTION ulid_range_support(internal)
    IS 'planner support for a ulid made within a range';

CREATE FUNCTION ulid_range_sel(internal, oid, internal, integer) RETURNS double precision
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_range_sel';
COMMENT ON FUNCTION ulid_range_sel(internal, oid, internal, integer)
    IS 'restriction selectivity of a ulid made within a range';

-- The range is a domain. With tstzrange, the untyped literal in '[2026-01-01, 2026-02-01)' <@
-- period, which is a range today, would be read as a ulid, because an operator with an exact match
-- is preferred. With anyrange, uuid <@ uuidrange would have two candidates and fail. A tstzrange is
-- coerced to the domain, no other range is, and the domain matches nothing exactly.
CREATE DOMAIN ulid_window AS tstzrange;
COMMENT ON DOMAIN ulid_window IS 'range of time that a ulid is made within';

CREATE FUNCTION ulid_contained_by_range(ulid, ulid_window) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulid_range_support
    AS 'MODULE_PATHNAME', 'ulid_contained_by_range';
COMMENT ON FUNCTION ulid_contained_by_range(ulid, ulid_window) IS 'implementation of <@ operator';

CREATE FUNCTION range_contains_ulid(ulid_window, ulid) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
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
-- Search by the first characters. A function and not an operator, which would make uuid ^@ text
-- resolve for every uuid.
--

CREATE FUNCTION ulid_prefix_lower(prefix text) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_prefix_lower';
COMMENT ON FUNCTION ulid_prefix_lower(text)
    IS 'smallest ulid whose text starts with the characters';

CREATE FUNCTION ulid_prefix_upper(prefix text) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_prefix_upper';
COMMENT ON FUNCTION ulid_prefix_upper(text)
    IS 'greatest ulid whose text starts with the characters';

-- The planner puts these in the place of a condition whose prefix it does not know. An index or a
-- partition needs bounds even if there is no row, and only a row raises the error of the prefix.
CREATE FUNCTION ulid_starts_with_lower(prefix text) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_starts_with_lower';
COMMENT ON FUNCTION ulid_starts_with_lower(text)
    IS 'ulid_prefix_lower, or the smallest ulid of all if that is an error';

CREATE FUNCTION ulid_starts_with_upper(prefix text) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_starts_with_upper';
COMMENT ON FUNCTION ulid_starts_with_upper(text)
    IS 'ulid_prefix_upper, or the greatest ulid of all if that is an error';

CREATE FUNCTION ulid_starts_with_check(id ulid, prefix text) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_starts_with_check';
COMMENT ON FUNCTION ulid_starts_with_check(ulid, text)
    IS 'true; an error if no text of a ulid starts with the characters';

CREATE FUNCTION ulid_starts_with_support(internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_starts_with_support';
COMMENT ON FUNCTION ulid_starts_with_support(internal) IS 'planner support for ulid_starts_with';

CREATE FUNCTION ulid_starts_with(id ulid, prefix text) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    SUPPORT ulid_starts_with_support
    AS 'MODULE_PATHNAME', 'ulid_starts_with';
COMMENT ON FUNCTION ulid_starts_with(ulid, text)
    IS 'whether the text of the ulid starts with the characters';

--
-- Ids of other kinds: the conversions are lossless and keep the order
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

-- This one is lossy: version and variant replace 6 bits. The cast to uuid replaces none.
CREATE FUNCTION ulid_to_uuid_v7(ulid) RETURNS uuid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_to_uuid_v7';
COMMENT ON FUNCTION ulid_to_uuid_v7(ulid)
    IS 'version 7 uuid of the same millisecond, with 74 of the 80 bits of randomness';

-- The defaults are Twitter's epoch, in a form that does not depend on any setting of the session.
-- They are stored as a timestamp, not as text.
CREATE FUNCTION ulid_from_snowflake(
        id bigint, epoch timestamptz DEFAULT '2010-11-04 01:42:54.657+00'
    ) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_from_snowflake';
COMMENT ON FUNCTION ulid_from_snowflake(bigint, timestamptz)
    IS 'ulid of a snowflake: exactly 22 bits below a time that counts from the epoch';

CREATE FUNCTION ulid_to_snowflake(
        id ulid, epoch timestamptz DEFAULT '2010-11-04 01:42:54.657+00'
    ) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_to_snowflake';
COMMENT ON FUNCTION ulid_to_snowflake(ulid, timestamptz) IS 'snowflake that the ulid was made from';

-- In its own time as the epoch, a snowflake is nothing but the parts after the time. The argument
-- has a name because pg_upgrade would restore one without a name as "". Each operator has
-- PostgreSQL's types exactly: otherwise, one that somebody has made in this schema could match
-- better, and would run as whoever calls the function.
CREATE FUNCTION ulid_snowflake_parts(id ulid)
    RETURNS TABLE (created_at timestamptz, datacenter integer, worker integer, sequence integer)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 1
    BEGIN ATOMIC
        SELECT t, (parts >> 17)::integer,
            (parts >> 12 & 31::bigint)::integer, (parts & 4095::bigint)::integer
        FROM (SELECT ulid_extract_timestamp(id), ulid_to_snowflake(id, ulid_extract_timestamp(id)))
            AS s (t, parts);
    END;
COMMENT ON FUNCTION ulid_snowflake_parts(ulid)
    IS 'parts of the snowflake that the ulid was made from';

CREATE FUNCTION ulid_from_parts(created_at timestamptz, key bigint) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_from_key';
COMMENT ON FUNCTION ulid_from_parts(timestamptz, bigint)
    IS 'ulid of the time and a key that is not negative';

CREATE FUNCTION ulid_from_parts(created_at timestamptz, randomness bytea) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_from_bytes';
COMMENT ON FUNCTION ulid_from_parts(timestamptz, bytea) IS 'ulid of the time and exactly 10 bytes';

CREATE FUNCTION ulid_to_key(ulid) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_to_key';
COMMENT ON FUNCTION ulid_to_key(ulid) IS 'key that the ulid was made from, with the time';

-- Restricted like gen_monotonic_ulid, for the same reason: the last value belongs to one backend.
CREATE FUNCTION gen_uuid_v7() RETURNS uuid
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'gen_uuid_v7';
COMMENT ON FUNCTION gen_uuid_v7()
    IS 'generate a version 7 uuid greater than all that this backend generated with it before';

-- It has no last value, so any worker may run it.
CREATE FUNCTION gen_uuid_v7(timestamptz) RETURNS uuid
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'gen_uuid_v7_at';
COMMENT ON FUNCTION gen_uuid_v7(timestamptz)
    IS 'generate a version 7 uuid of the given time: 62 fresh bits of randomness';

--
-- TypeID: the same 128 bits in lower case behind a prefix
--

CREATE FUNCTION ulid_to_typeid(prefix text, id ulid) RETURNS text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_to_typeid';
COMMENT ON FUNCTION ulid_to_typeid(text, ulid)
    IS 'TypeID of the prefix, which may be empty, and the ulid';

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
-- Casts. The rule: no query that worked before this extension was created changes its result.
--

-- Implicit, and only in this direction: ulid = uuid, ANY(uuid[]), USING and foreign keys from uuid
-- then find the operators and indexes of ulid, and a column can be altered in place. If the other
-- direction were implicit too, ulid = uuid would be ambiguous.
CREATE CAST (uuid AS ulid) WITHOUT FUNCTION AS IMPLICIT;
COMMENT ON CAST (uuid AS ulid) IS 'same bytes';

-- Assignment: a ulid can be stored in a uuid column, and nothing else changes.
CREATE CAST (ulid AS uuid) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (ulid AS uuid) IS 'same bytes';

-- Assignment: drivers that send values of type text can insert. An implicit cast would make text =
-- ulid a runtime error, and together with uuid AS ulid it would make uuid = text resolve to our
-- operator. The cast to text is PostgreSQL's own.
CREATE CAST (text AS ulid) WITH INOUT AS ASSIGNMENT;
COMMENT ON CAST (text AS ulid) IS 'by the input function';

CREATE CAST (varchar AS ulid) WITH INOUT AS ASSIGNMENT;
COMMENT ON CAST (varchar AS ulid) IS 'by the input function';

CREATE CAST (bpchar AS ulid) WITH INOUT AS ASSIGNMENT;
COMMENT ON CAST (bpchar AS ulid) IS 'by the input function';

CREATE FUNCTION bytea_to_ulid(bytea) RETURNS ulid
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'bytea_to_ulid';
COMMENT ON FUNCTION bytea_to_ulid(bytea) IS 'ulid of exactly 16 bytes';

CREATE CAST (bytea AS ulid) WITH FUNCTION bytea_to_ulid(bytea) AS ASSIGNMENT;
COMMENT ON CAST (bytea AS ulid) IS 'exactly 16 bytes';

-- Explicit, like all casts from here on: a ulid is none of these.
CREATE CAST (ulid AS bytea) WITH FUNCTION ulid_send(ulid);
COMMENT ON CAST (ulid AS bytea) IS '16 bytes';

CREATE CAST (ulid AS timestamptz) WITH FUNCTION ulid_extract_timestamp(ulid);
COMMENT ON CAST (ulid AS timestamptz) IS 'time of the ulid';

CREATE CAST (timestamptz AS ulid) WITH FUNCTION ulid_lower_bound(timestamptz);
COMMENT ON CAST (timestamptz AS ulid) IS 'smallest ulid of the millisecond';

-- These two depend on the time zone of the session, so they are STABLE, as PostgreSQL's casts
-- through timestamptz are.
CREATE FUNCTION ulid_to_timestamp(ulid) RETURNS timestamp
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ulid_to_timestamp';
COMMENT ON FUNCTION ulid_to_timestamp(ulid) IS 'time of the ulid in the time zone of the session';

CREATE CAST (ulid AS timestamp) WITH FUNCTION ulid_to_timestamp(ulid);
COMMENT ON CAST (ulid AS timestamp) IS 'time of the ulid in the time zone of the session';

CREATE FUNCTION timestamp_to_ulid(timestamp) RETURNS ulid
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'timestamp_to_ulid';
COMMENT ON FUNCTION timestamp_to_ulid(timestamp)
    IS 'smallest ulid of the millisecond, in the time zone of the session';

CREATE CAST (timestamp AS ulid) WITH FUNCTION timestamp_to_ulid(timestamp);
COMMENT ON CAST (timestamp AS ulid)
    IS 'smallest ulid of the millisecond, in the time zone of the session';

--
-- How the part about consumers reads a table of another role. In ulid_sql.sql, that takes a query.
--

-- Whether the present role can read a table without running functions of others. Who plans a query
-- evaluates what is constant in the expressions of indexes and of keys, also of the tables above;
-- policies call functions, too, and so may another server. If the owners of all tables can become
-- the present role, nothing is gained. A superuser trusts no others, as one of these could create
-- an index between this question and the query. A function of an extension that takes any type may
-- call the functions of that.
CREATE FUNCTION ulid_consumer_is_trusted(relation regclass) RETURNS boolean
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

CREATE FUNCTION ulid_consumer_first(relation oid, number integer, "position" uuid)
    RETURNS uuid
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'ulid_consumer_first';
COMMENT ON FUNCTION ulid_consumer_first(oid, integer, uuid)
    IS 'first id of a column from this one on, without a query, so without functions of others';

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
CREATE TABLE ulid_consumer (
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

CREATE FUNCTION ulid_consumer_change() RETURNS trigger
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
CREATE TRIGGER ulid_consumer_change BEFORE INSERT OR UPDATE OR DELETE ON ulid_consumer
    FOR EACH ROW EXECUTE FUNCTION ulid_consumer_change();
ALTER TABLE ulid_consumer ENABLE ALWAYS TRIGGER ulid_consumer_change;
COMMENT ON TRIGGER ulid_consumer_change ON ulid_consumer
    IS 'lets a role change its own consumers only';

CREATE FUNCTION ulid_consumer_find(consumer text, consumers regclass)
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
CREATE FUNCTION ulid_consumer_cast(relation regclass, key name, id_type regtype,
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
CREATE FUNCTION ulid_consumer_storage(relation oid, known bigint[]) RETURNS bigint[]
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
CREATE FUNCTION ulid_consumer_storage_hash(relation oid) RETURNS bigint
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
CREATE PROCEDURE ulid_next_batch(consumer text, max_rows integer DEFAULT 1000,
        up_to ulid DEFAULT NULL, INOUT batch_start uuid DEFAULT NULL,
        INOUT batch_end uuid DEFAULT NULL,
        consumers regclass DEFAULT 'ulid_consumer'::regclass,
        horizons regclass DEFAULT 'ulid_horizon'::regclass,
        id_type regtype DEFAULT 'ulid'::regtype,
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
COMMENT ON PROCEDURE ulid_next_batch(text, integer, ulid, uuid, uuid, regclass, regclass, regtype,
    regproc, regproc, regproc, regproc)
    IS 'begin a batch: two ids between which lie the next rows of a consumer';

-- The batch of this transaction; an error if it is none of this consumer, or if the storage of its
-- table has changed since it began.
CREATE FUNCTION ulid_consumer_batch(consumer text, relation regclass, hash_of regproc)
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
CREATE FUNCTION ulid_finish_batch(consumer text, batch json DEFAULT NULL,
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
CREATE FUNCTION ulid_defer_batch(consumer text,
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
CREATE FUNCTION ulid_consumer_unguarded(relation oid, key name, guard oid)
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
CREATE FUNCTION ulid_consumer_is_ordered(relation oid, key name, guard oid,
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
CREATE FUNCTION ulid_consumer_key(name text, relation regclass, key name) RETURNS name
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
CREATE FUNCTION ulid_consumer_check(relation regclass, key name, is_ordered boolean)
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
CREATE FUNCTION ulid_consumer_guard(relation regclass, key name, unguarded regclass[],
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

CREATE FUNCTION ulid_consumer_create(name text, relation regclass, key name, start uuid,
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

CREATE FUNCTION ulid_create_consumer(name text, relation regclass, key name DEFAULT NULL,
        start ulid DEFAULT NULL, guard boolean DEFAULT true) RETURNS void
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
        CROSS JOIN LATERAL ulid_consumer_cast(relation, column_, 'ulid'::regtype) AS cast_
        CROSS JOIN LATERAL ulid_consumer_check(relation, column_, ulid_consumer_is_ordered(
            relation::oid, column_, 'ulid_ordered_guard'::regproc::oid,
            ARRAY['gen_ordered_ulid'::regproc, 'gen_ordered_uuid_v7'::regproc]::oid[])) AS is_right
        CROSS JOIN LATERAL ulid_consumer_storage(relation::oid, NULL::bigint[]) AS storage
        WHERE cast_ IS NOT NULL AND is_right AND storage IS NOT NULL);
COMMENT ON FUNCTION ulid_create_consumer(text, regclass, name, ulid, boolean)
    IS 'create a consumer of a table, from the horizon on or from an id on, and guard the table';

-- The first id that a consumer has not read, or null; whether this is known, which it is not if the
-- table is gone or locked, or may not be read; whether another table has its name, so that the
-- consumer reads nothing until it is moved; and the cast of ulid_consumer_cast(). Whatever a role
-- has made of its table, it is neither an error of whoever reads the view of all consumers, nor is
-- a lock waited for or kept, nor does ulid_consumer_first() run a function of that role.
CREATE FUNCTION ulid_consumer_unread(c ulid_consumer, id_type regtype, cast_of regproc,
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

CREATE FUNCTION ulid_consumer_move(c ulid_consumer, "position" uuid, relation regclass,
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
CREATE FUNCTION ulid_move_consumer(consumer text, "position" ulid DEFAULT NULL,
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
                ulid_consumer_unread(c, 'ulid'::regtype, 'ulid_consumer_cast'::regproc,
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
            c.key, 'ulid'::regtype) AS cast_
        WHERE cast_ IS NOT NULL);
COMMENT ON FUNCTION ulid_move_consumer(text, ulid, regclass)
    IS 'let a consumer go on from this id, or read another table, or both';

-- At a reset of the id clock: new ids are less than some positions. None finishes a batch that it
-- has begun or deferred before, since rows can get ids between its ends now. Whoever creates, moves
-- or reads by a consumer is waited for, or waits, and looks at the horizon again.
CREATE FUNCTION ulid_consumer_reset(clock uuid, consumers regclass) RETURNS void
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

CREATE FUNCTION ulid_consumer_drop(c ulid_consumer, consumers regclass) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    EXECUTE format('DELETE FROM %s WHERE name = $1', consumers) USING c.name;
END $$;
COMMENT ON FUNCTION ulid_consumer_drop(ulid_consumer, regclass) IS 'what ulid_drop_consumer() does';
CREATE FUNCTION ulid_drop_consumer(consumer text) RETURNS void
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN ulid_consumer_drop(ulid_consumer_find(consumer, 'ulid_consumer'::regclass),
        'ulid_consumer'::regclass);
COMMENT ON FUNCTION ulid_drop_consumer(text) IS 'drop a consumer';

-- Consumers of the relation, of tables below it, and of all tables above these count; so do those
-- that are still to be moved to a table that has replaced theirs. The key is
-- null if they read by several columns, or if neither the relation nor one above it has a consumer.
-- One that is ahead of the horizon, as after a reset, has read no row that anybody knows of.
CREATE FUNCTION ulid_consumer_read_by(relation regclass,
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
CREATE FUNCTION ulid_read_by_all(relation regclass) RETURNS uuid
    LANGUAGE sql STABLE PARALLEL UNSAFE COST 10000
    RETURN (SELECT "position" FROM ulid_consumer_read_by(relation));
COMMENT ON FUNCTION ulid_read_by_all(regclass)
    IS 'id below which all consumers of a table have read its rows; null if it has no consumer';

-- Whoever inserts rows below the positions moves the consumers back in the same transaction. It
-- may commit while this waits for a lock, or between two of its statements.
CREATE FUNCTION ulid_consumer_delete(relation regclass, key name, cast_ text,
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
CREATE FUNCTION ulid_delete_read(relation regclass, max_rows integer DEFAULT 10000)
    RETURNS bigint
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN (SELECT ulid_consumer_delete(relation, k.key, CASE WHEN k.key IS NOT NULL
                THEN ulid_consumer_cast(relation, k.key, 'ulid'::regtype) END,
            max_rows, k."position", 'ulid_consumer_read_by'::regproc)
        FROM ulid_consumer_read_by(relation) AS k);
COMMENT ON FUNCTION ulid_delete_read(regclass, integer)
    IS 'delete the first rows that all consumers of a table have read; returns their number';

-- An idle consumer is not behind, however old its position is.
CREATE VIEW ulid_consumer_lag AS
    SELECT c.name, c.owner, c.relation, c.key, c."position"::ulid AS "position",
        ulid_extract_timestamp(c."position"::ulid) AS position_time, c.moved_at,
        first.id::ulid AS unread,
        CASE WHEN first.is_known AND NOT first.is_replaced
                AND (c."position" > (SELECT horizon::uuid FROM ulid_horizon)) IS NOT TRUE
            THEN coalesce(pg_catalog.clock_timestamp() - ulid_extract_timestamp(first.id::ulid),
                interval '0') END AS behind,
        (SELECT ulid_extract_timestamp(horizon) FROM ulid_horizon) AS horizon_time,
        ulid_consumer_unguarded(c.relation::oid, c.key, 'ulid_ordered_guard'::regproc::oid)
            IS NULL OR EXISTS (SELECT FROM pg_catalog.pg_subscription_rel
            WHERE srrelid = c.relation::oid) AS is_guarded
    FROM ulid_consumer AS c CROSS JOIN LATERAL ulid_consumer_unread(c, 'ulid'::regtype,
        'ulid_consumer_cast'::regproc, 'ulid_consumer_first'::regproc) AS first;
COMMENT ON VIEW ulid_consumer_lag IS 'consumers, their positions, and how far they are behind';
GRANT SELECT ON ulid_consumer_lag TO PUBLIC;

CREATE FUNCTION ulid_consumer_wait(consumer text, id uuid, timeout interval,
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
CREATE FUNCTION ulid_wait_for_consumer(consumer text, id ulid,
        timeout interval DEFAULT '10 seconds') RETURNS boolean
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN ulid_consumer_wait(consumer, id::uuid, timeout, 'ulid_consumer'::regclass,
        'ulid_horizon'::regclass, 'ulid'::regtype, 'ulid_consumer_find'::regproc,
        'ulid_consumer_unread'::regproc, 'ulid_consumer_cast'::regproc,
        'ulid_consumer_first'::regproc);
COMMENT ON FUNCTION ulid_wait_for_consumer(text, ulid, interval)
    IS 'wait until a consumer has read this id; false after the timeout';
SELECT pg_catalog.pg_extension_config_dump('ulid_consumer', '');

-- The row is set to zero, since consumers would wait for the clock to reach the horizon otherwise.
-- A first refresh that has not ended is waited for. The id clock is set back when the transaction
-- has committed; from before that on, there is no horizon. A superuser can grant EXECUTE alone.
CREATE FUNCTION ulid_reset_ordered_time() RETURNS void
    LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO ulid_horizon (horizon) SELECT '00000000000000000000000000'::ulid
    WHERE NOT EXISTS (SELECT FROM ulid_horizon) ON CONFLICT DO NOTHING;
    UPDATE ulid_horizon SET horizon = '00000000000000000000000000'::ulid;
    SELECT ulid_consumer_reset(ulid_lower_bound(pg_catalog.clock_timestamp())::uuid,
        'ulid_consumer'::regclass);
    SELECT ulid_reset_id_clock();
END;
COMMENT ON FUNCTION ulid_reset_ordered_time()
    IS 'set the id clock back to the system clock when the transaction commits, and forget the '
        'horizon';
REVOKE ALL ON FUNCTION ulid_reset_ordered_time() FROM PUBLIC;

--
-- Objects that need a newer server. pg_upgrade runs no script, so the next update script creates
-- those that are missing.
--

DO $$
BEGIN
    -- PostgreSQL 18
    IF pg_catalog.to_regprocedure('pg_catalog.uuid_skipsupport(internal)') IS NOT NULL THEN
        ALTER OPERATOR FAMILY ulid_ops USING btree
            ADD FUNCTION 6 (ulid, ulid) pg_catalog.uuid_skipsupport(internal);
    END IF;
END $$;
