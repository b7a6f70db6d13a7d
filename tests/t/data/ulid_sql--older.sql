-- An older sql/ulid_sql.sql, over which the present one is run: all its objects, and the bodies of
-- those functions that run before they are replaced. Of the others, what they return and depend on.

CREATE FUNCTION ulid_to_text(uuid) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS 'BEGIN RETURN NULL; END';

CREATE FUNCTION ulid_sql_parse(kind text, input text, given text, is_required boolean) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS 'BEGIN RETURN NULL; END';

CREATE FUNCTION ulid_from_text(text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_parse('value', $1, '', true);

CREATE FUNCTION ulid_is_valid(text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN true;

CREATE FUNCTION gen_ulid() RETURNS uuid
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
    AS 'BEGIN RETURN NULL; END';

CREATE FUNCTION ulid_sql_at(timestamptz, randomness bytea) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT isfinite($1) OR $1 < 'epoch' OR $1 >= '10889-08-02 05:31:50.656+00' THEN
        RAISE EXCEPTION USING ERRCODE = 'datetime_field_overflow',
            MESSAGE = 'timestamp out of range for type ulid';
    END IF;
    RETURN encode(
        substring(int8send((date_part('epoch', date_bin('1 ms', $1, 'epoch')) * 1000)::bigint)
            FROM 3) || randomness, 'hex')::uuid;
END $$;

CREATE FUNCTION gen_ulid(timestamptz) RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN ulid_sql_at($1, overlay(uuid_send(gen_random_uuid()) PLACING ''::bytea FROM 7 FOR 6));

CREATE FUNCTION ulid_extract_unix_ms(uuid) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 0::bigint;

CREATE FUNCTION ulid_extract_timestamp(uuid) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN now();

CREATE FUNCTION ulid_extract_randomness(uuid) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN NULL::bytea;

CREATE FUNCTION ulid_lower_bound(timestamptz) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_at($1, E'\\x00000000000000000000'::bytea);

CREATE FUNCTION ulid_upper_bound(timestamptz) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_at($1, E'\\xffffffffffffffffffff'::bytea);

CREATE FUNCTION ulid_sql_window(tstzrange) RETURNS uuid[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS 'BEGIN RETURN NULL; END';

CREATE FUNCTION ulid_range_lower(tstzrange) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (ulid_sql_window($1))[1];

CREATE FUNCTION ulid_range_upper(tstzrange) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (ulid_sql_window($1))[2];

CREATE FUNCTION ulid_contained_by_range(uuid, tstzrange) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN $1 >= ulid_range_lower($2) AND $1 <= ulid_range_upper($2);

CREATE FUNCTION ulid_prefix_lower(prefix text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_parse('prefix', prefix, '00000000000000000000000000', true);

CREATE FUNCTION ulid_prefix_upper(prefix text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_parse('prefix', prefix, '7ZZZZZZZZZZZZZZZZZZZZZZZZZ', true);

CREATE FUNCTION ulid_starts_with(id uuid, prefix text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_parse('prefix', prefix, id::text, true) = id;

CREATE FUNCTION ulid_to_uuid_v7(uuid) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN $1;

CREATE FUNCTION gen_uuid_v7(timestamptz) RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN ulid_sql_at($1, NULL::bytea);

CREATE FUNCTION ulid_to_typeid(prefix text, id uuid) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_to_text(ulid_sql_parse('prefix of a TypeID', prefix, id::text, true));

CREATE FUNCTION ulid_from_typeid(typeid text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_parse('TypeID', typeid, left(typeid, -27), true);

CREATE FUNCTION ulid_from_typeid(typeid text, prefix text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ulid_sql_parse('TypeID', typeid, prefix, true);

CREATE FUNCTION typeid_prefix(typeid text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN ulid_from_typeid(typeid) IS NOT NULL THEN left(typeid, -27) END;

CREATE SEQUENCE ulid_clock MINVALUE 0 MAXVALUE 140737488355327 START 0;
GRANT SELECT ON SEQUENCE ulid_clock TO PUBLIC;

CREATE TABLE ulid_horizon (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    horizon uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    published_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    next_ms bigint,
    next_xid bigint,
    idle_xmax bigint,
    server_started_at timestamptz,
    database oid
) WITH (fillfactor = 50, vacuum_truncate = off, autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_scale_factor = 0, autovacuum_analyze_threshold = 2000000000);
GRANT SELECT ON ulid_horizon TO PUBLIC;

DO $$
BEGIN
    PERFORM setval('ulid_clock', 0);
    PERFORM pg_extension_config_dump(objid, '') FROM pg_depend
    WHERE classid = 'pg_class'::regclass AND deptype = 'e'
        AND objid IN ('ulid_clock'::regclass, 'ulid_horizon'::regclass);
END $$;

CREATE FUNCTION ulid_sql_ordered(clock regclass, is_uuid_v7 boolean) RETURNS uuid
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    transaction CONSTANT text := clock::oid || '/' || pg_current_xact_id()::text;
    ms CONSTANT bigint := pg_sequence_last_value(clock);
    state text := current_setting('ulid_sql.ordered', true);
    us CONSTANT bigint := date_part('epoch', clock_timestamp()) * 1000000;
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
        IF NOT has_sequence_privilege(clock, 'SELECT, USAGE') THEN
            RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
                MESSAGE = format('permission denied for sequence %s',
                    (SELECT relname FROM pg_class WHERE oid = clock));
        END IF;
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = 'the id clock has no value';
    END IF;
    IF is_uuid_v7 THEN
        RETURN encode(int8send(time >> 16 << 16 | 28672 | (time >> 4 & 4095))
            || substring(set_byte(random, 8, 128 | (time & 15)::integer << 2
                | (get_byte(random, 8) & 3)) FROM 9), 'hex')::uuid;
    END IF;
    RETURN encode(int8send(time) || overlay(random PLACING '' FROM 6 FOR 8), 'hex')::uuid;
END $$;

CREATE FUNCTION gen_ordered_ulid() RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN ulid_sql_ordered('ulid_clock'::regclass, false);

CREATE FUNCTION gen_ordered_uuid_v7() RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN ulid_sql_ordered('ulid_clock'::regclass, true);

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

CREATE FUNCTION ulid_sql_step(clock regclass, published ulid_horizon, is_own boolean)
    RETURNS ulid_horizon
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    me CONSTANT bigint := pg_current_xact_id()::text;
    is_alone CONSTANT boolean := pg_snapshot_xmin(pg_current_snapshot()) = pg_current_xact_id();
    before CONSTANT bigint := pg_sequence_last_value(clock);
    now bigint := trunc(date_part('epoch', clock_timestamp()) * 1000);
    here CONSTANT oid := (SELECT oid FROM pg_database WHERE datname = current_database());
    is_shown boolean;
    oldest bigint;
    newest bigint;
    ms bigint;
    ready bigint;
BEGIN
    IF before IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = 'the id clock has no value';
    END IF;
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'local', true);
    END IF;
    IF now < before THEN
        PERFORM pg_sleep(0.001);
        now := trunc(date_part('epoch', clock_timestamp()) * 1000);
    END IF;
    ms := greatest(now, before, ('x' || encode(substring(uuid_send(published.horizon) FOR 6),
        'hex'))::bit(48)::bigint) + 1;
    PERFORM setval(clock, ms);
    IF published.server_started_at IS DISTINCT FROM pg_postmaster_start_time()
        OR published.database IS DISTINCT FROM here THEN
        published.next_xid := NULL;
    END IF;
    FOR n IN 1 .. 3 LOOP
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
                MESSAGE = 'cannot determine the horizon of ordered ids on this server';
        END IF;
        IF oldest IS NULL THEN
            ready := ms;
            published.next_xid := NULL;
            EXIT;
        ELSIF oldest > published.next_xid THEN
            ready := published.next_ms;
            published.next_xid := NULL;
        END IF;
        EXIT WHEN ready = ms;
        IF published.next_xid IS NULL THEN
            published.next_ms := ms;
            published.next_xid := newest;
        END IF;
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

CREATE FUNCTION ulid_sql_write(ulid_horizon) RETURNS boolean
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
    UPDATE ulid_horizon SET horizon = ($1).horizon, published_at = ($1).published_at,
        next_ms = ($1).next_ms, next_xid = ($1).next_xid, idle_xmax = ($1).idle_xmax,
        server_started_at = ($1).server_started_at, database = ($1).database
    RETURNING true;
END;

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

CREATE FUNCTION ulid_publish() RETURNS boolean
    LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    RETURN (
        SELECT CASE WHEN ulid_sql_is_due('ulid_horizon'::regclass, 'ulid_clock'::regclass, h)
            THEN ulid_sql_publish(pg_current_xact_id_if_assigned() IS NULL)
            ELSE false END
        FROM (VALUES (1)) AS v (n) LEFT JOIN ulid_horizon AS h ON true);

CREATE PROCEDURE ulid_publish_horizon(is_published boolean DEFAULT ulid_publish())
    LANGUAGE plpgsql
    AS 'BEGIN COMMIT; END';

CREATE FUNCTION ulid_sql_horizon_error(last uuid, horizon uuid) RETURNS uuid
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS 'BEGIN RETURN NULL; END';

CREATE FUNCTION ulid_published_horizon() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN coalesce((SELECT horizon FROM ulid_horizon), ulid_sql_horizon_error(NULL, NULL));

CREATE FUNCTION ulid_published_horizon(last uuid) RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT CASE WHEN last <= horizon OR last IS NOT NULL
            AND (horizon = '00000000-0000-0000-0000-000000000000' OR pg_is_in_recovery())
            THEN horizon ELSE ulid_sql_horizon_error(last, horizon) END
        FROM (SELECT ulid_published_horizon()) AS published (horizon));

CREATE FUNCTION ulid_ordered_horizon() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ulid_published_horizon();

CREATE FUNCTION ulid_ordered_horizon(last uuid) RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ulid_published_horizon(last);

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
GRANT SELECT ON ulid_horizon_holders TO pg_read_all_stats;

CREATE FUNCTION ulid_ordered_guard() RETURNS trigger
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    state CONSTANT text := current_setting('ulid_sql.ordered', true);
    transaction CONSTANT text[] := string_to_array(split_part(state, ' ', 1), '/');
    first bigint;
    latest bigint;
    ms bigint;
    value text;
    id uuid;
BEGIN
    value := to_jsonb(NEW) ->> TG_ARGV[0];
    id := value;
    IF TG_OP = 'UPDATE' THEN
        IF id = (to_jsonb(OLD) ->> TG_ARGV[0])::uuid THEN
            RETURN NEW;
        END IF;
    END IF;
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
                    TG_TABLE_NAME, id);
        END IF;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'check_violation',
        MESSAGE = format('consumers of relation "%s" may have passed uuid "%s"', TG_TABLE_NAME, id);
END $$;

CREATE FUNCTION ulid_sql_advance(clock regclass, id uuid, force boolean) RETURNS timestamptz
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    ms bigint := ('x' || encode(substring(uuid_send(id) FOR 6), 'hex'))::bit(48)::bigint + 1;
BEGIN
    IF NOT force AND to_timestamp(ms / 1000::float) > clock_timestamp() + interval '1 day' THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('uuid "%s" is more than a day ahead of the clock', id);
    END IF;
    ms := setval(clock, greatest(pg_sequence_last_value(clock), ms));
    RETURN to_timestamp(ms / 1000::float)::timestamptz(3);
END $$;

CREATE FUNCTION ulid_advance_ordered_time(id uuid, force boolean DEFAULT false) RETURNS timestamptz
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
    INSERT INTO ulid_horizon (one)
    SELECT true WHERE NOT EXISTS (SELECT FROM ulid_horizon) ON CONFLICT DO NOTHING;
    SELECT ulid_sql_advance('ulid_clock'::regclass, id, force)
    FROM (SELECT FROM ulid_horizon FOR UPDATE) AS locked;
END;

CREATE FUNCTION ulid_reset_ordered_time() RETURNS void
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
    DELETE FROM ulid_horizon;
    SELECT setval('ulid_clock'::regclass, 0);
END;

REVOKE ALL ON FUNCTION ulid_sql_is_due(regclass, regclass, ulid_horizon),
    ulid_sql_step(regclass, ulid_horizon, boolean), ulid_sql_write(ulid_horizon),
    ulid_sql_publish(boolean), ulid_publish(), ulid_sql_advance(regclass, uuid, boolean),
    ulid_advance_ordered_time(uuid, boolean), ulid_reset_ordered_time() FROM PUBLIC;

DO $$
DECLARE
    f regprocedure;
BEGIN
    FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace LOOP
        EXECUTE format('COMMENT ON ROUTINE %s IS ''of the older script''', f);
    END LOOP;
END $$;
