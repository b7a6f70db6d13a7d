-- The list of step 1 has every object that DROP SCHEMA would drop, also on a table and a view of
-- the schema, and none of the schema itself.
RESET search_path;
CREATE VIEW watch AS SELECT * FROM ulid_sql.ulid_horizon;
CREATE VIEW holders AS SELECT count(*) FROM ulid_sql.ulid_horizon_holders;
CREATE MATERIALIZED VIEW clock AS SELECT last_value FROM ulid_sql.ulid_clock;
CREATE FUNCTION now_as_id() RETURNS uuid LANGUAGE sql RETURN ulid_sql.ulid_lower_bound(now());
CREATE TEMP TABLE listed AS :block_7
DO $$ BEGIN
    ASSERT (SELECT array_agg(object ORDER BY object) = ARRAY['function now_as_id()',
                'rule _RETURN on materialized view clock', 'rule _RETURN on view holders',
                'rule _RETURN on view watch']
            FROM (SELECT DISTINCT object FROM listed) AS l), (SELECT array_agg(object) FROM listed);
END $$;
SET client_min_messages = warning;
DROP SCHEMA ulid_sql CASCADE;
DO $$ BEGIN
    ASSERT (SELECT count(*) = 0 FROM pg_class WHERE relname IN ('watch', 'holders', 'clock'))
        AND to_regprocedure('now_as_id()') IS NULL AND to_regclass('ticket') IS NOT NULL;
END $$;
