-- A table of another schema, with a name in quotes and a uuid key. The second call does nothing.
CREATE SCHEMA archive;
CREATE TABLE archive."Job" (id uuid PRIMARY KEY, n bigint GENERATED ALWAYS AS IDENTITY)
PARTITION BY RANGE (id);
CALL make_partitions('archive."Job"', '2026-01-15', 2);
CALL make_partitions('archive."Job"', '2026-01-15', 2);
INSERT INTO archive."Job" (id) VALUES (ulid_lower_bound('2026-02-28 23:59:59.999Z'));

-- pg_partman: rows are in the partition of their month, and move there from the DEFAULT partition.
SELECT to_regclass('public.visit') IS NOT NULL AS has_partman
\gset
\if :has_partman
INSERT INTO visit
SELECT gen_ulid(now() + n * interval '1 hour'), 'visit ' || n FROM generate_series(-1400, 0) AS n;
INSERT INTO visit VALUES (gen_ulid('2036-06-15 00:00Z'), 'far ahead');
BEGIN;
LOCK TABLE visit IN ACCESS EXCLUSIVE MODE;
CREATE TEMP TABLE moved ON COMMIT DROP AS SELECT * FROM visit WITH NO DATA;
WITH deleted AS (
    DELETE FROM visit_default WHERE id <@ tstzrange('2036-06-01 00:00Z', '2036-07-01 00:00Z')
    RETURNING *
)
INSERT INTO moved SELECT * FROM deleted;
DO $$ BEGIN
    PERFORM partman.create_partition_time('public.visit', ARRAY['2036-06-01 00:00Z'::timestamptz]);
END $$;
INSERT INTO visit SELECT * FROM moved;
COMMIT;
DO $$ BEGIN
    ASSERT (SELECT bool_and(tableoid::regclass::text
                            = to_char(ulid_extract_timestamp(id), '"visit_p"YYYYMM01'))
            FROM visit), 'a row is not in the partition of its month';
END $$;
\endif
