-- Partitions by the time of a key of type ulid or uuid: see partitioning.md. What is called is what
-- the search_path of this session finds, whatever that of a caller is.

-- The partitions of a table, with the times of their bounds, and whether all consumers of the table
-- have passed them, which is not known of consumers by another column.
CREATE OR REPLACE FUNCTION partitions_of(parent regclass)
RETURNS TABLE (partition regclass, starts timestamptz, ends timestamptz, are_read boolean)
LANGUAGE sql
BEGIN ATOMIC
    SELECT pg_class.oid::regclass,
           ulid_extract_timestamp(substring(bounds FROM 'FROM \(''(.*?)''\)')::ulid),
           ulid_extract_timestamp(substring(bounds FROM 'TO \(''(.*?)''\)')::ulid),
           coalesce(substring(bounds FROM 'TO \(''(.*?)''\)')::ulid <= r.position::ulid
                    AND r.key = attname, r.position IS NULL)
    FROM pg_inherits JOIN pg_class ON oid = inhrelid
    JOIN pg_partitioned_table ON partrelid = inhparent
    LEFT JOIN pg_attribute ON attrelid = inhparent AND attnum = partattrs[0]
    CROSS JOIN pg_get_expr(relpartbound, pg_class.oid) AS bounds
    CROSS JOIN ulid_consumer_read_by(parent) AS r
    WHERE inhparent = parent ORDER BY 2, 3;
END;

-- Create a partition for each month, in UTC, that has none. A name has at most 63 bytes, so that of
-- the parent is cut to 55 in those of the partitions.
CREATE OR REPLACE PROCEDURE make_partitions(parent regclass, first_day date, months integer)
LANGUAGE plpgsql SET lock_timeout = '2s' SET search_path FROM CURRENT AS $$
DECLARE
    name text := (
        SELECT left(relname, n) FROM pg_class, generate_series(55, 1, -1) AS n
        WHERE oid = parent AND octet_length(left(relname, n)) <= 55 ORDER BY n DESC LIMIT 1);
    first timestamp := date_trunc('month', first_day::timestamp);
    first_month timestamptz;
    next_month timestamptz;
    partition text;
BEGIN
    FOR n IN 0 .. months - 1 LOOP
        first_month := (first + n * interval '1 month') AT TIME ZONE 'UTC';
        next_month := (first + (n + 1) * interval '1 month') AT TIME ZONE 'UTC';
        CONTINUE WHEN EXISTS (
            SELECT FROM partitions_of(parent) WHERE starts = first_month AND ends = next_month);
        SELECT format('%s.%I', relnamespace::regnamespace,
                      name || to_char(first_month AT TIME ZONE 'UTC', '_YYYY_MM'))
        INTO partition FROM pg_class WHERE oid = parent;
        EXECUTE format('CREATE TABLE %s (LIKE %s INCLUDING ALL EXCLUDING IDENTITY'
                       ' EXCLUDING INDEXES)%s%s', partition, parent,
            (SELECT format(' USING %I', amname)
             FROM pg_class AS p JOIN pg_am ON pg_am.oid = p.relam WHERE p.oid = parent),
            (SELECT format(' TABLESPACE %I', spcname)
             FROM pg_class AS p JOIN pg_tablespace AS s ON s.oid = p.reltablespace
             WHERE p.oid = parent));
        EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%L) TO (%L)',
            parent, partition,    -- the bounds are for a column of either type
            ulid_lower_bound(first_month)::uuid, ulid_lower_bound(next_month)::uuid);
    END LOOP;
END $$;

-- Drop the partitions whose rows are all older than a time, and which consumers have passed;
-- dry_run only lists them. Since a procedure that commits can have no SET, the schema of
-- partitions_of is written into it.
DO $do$ BEGIN EXECUTE replace($sql$
CREATE OR REPLACE PROCEDURE drop_partitions(
    parent regclass, before timestamptz, dry_run boolean DEFAULT true) LANGUAGE plpgsql AS $$
DECLARE
    old regclass;
    is_read boolean;
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE EXCEPTION 'partitions must be dropped in isolation level READ COMMITTED'
            USING ERRCODE = 'active_sql_transaction';
    END IF;
    FOR old, is_read IN
        SELECT partition, are_read FROM SCHEMA.partitions_of(parent) WHERE ends <= before
    LOOP
        IF is_read AND NOT dry_run THEN
            SET LOCAL lock_timeout = '2s';
            EXECUTE format('LOCK TABLE ONLY %s, %s IN ACCESS EXCLUSIVE MODE', parent, old);
            -- Whoever has inserted rows with old ids meanwhile has moved the consumers back.
            is_read := EXISTS (
                SELECT FROM SCHEMA.partitions_of(parent) WHERE partition = old AND are_read);
        END IF;
        IF NOT is_read THEN
            RAISE NOTICE 'keeping %, which a consumer has not read', old;
        ELSIF dry_run THEN
            RAISE NOTICE 'would drop %', old;
        ELSE
            RAISE NOTICE 'dropping %', old;
            EXECUTE format('ALTER TABLE %s DETACH PARTITION %s', parent, old);
            EXECUTE format('DROP TABLE %s', old);
        END IF;
        CONTINUE WHEN dry_run;
        COMMIT;
    END LOOP;
END $$;
$sql$, 'SCHEMA', quote_ident(current_schema())); END $do$;
