-- A table of another schema, with a name in quotes and a uuid key. The second call does nothing.
CREATE SCHEMA archive;
CREATE TABLE archive."Job" (id uuid PRIMARY KEY, n bigint GENERATED ALWAYS AS IDENTITY)
PARTITION BY RANGE (id);
CALL make_partitions('archive."Job"', '2026-01-15', 2);
CALL make_partitions('archive."Job"', '2026-01-15', 2);
INSERT INTO archive."Job" (id) VALUES (ulid_lower_bound('2026-02-28 23:59:59.999Z'));

-- Its partitions are in the tablespace of the table.
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE ulid_docs_partitions LOCATION '';
CREATE TABLE placed (id ulid PRIMARY KEY) PARTITION BY RANGE (id) TABLESPACE ulid_docs_partitions;
CALL make_partitions('placed', '2026-01-15', 1);
DO $$ BEGIN
    ASSERT (SELECT spcname = 'ulid_docs_partitions'
            FROM pg_class AS p JOIN pg_tablespace AS s ON s.oid = reltablespace
            WHERE p.oid = 'placed_2026_01'::regclass);
END $$;
DROP TABLE placed;
DROP TABLESPACE ulid_docs_partitions;

-- The rows of the DEFAULT partition were moved, and what references them is kept. A trigger of the
-- table would refuse it.
DO $$ BEGIN
    ASSERT (SELECT count(*) FROM remark JOIN event_2036_06 ON id = event) = 1;
END $$;
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN RAISE EXCEPTION ''%'', TG_OP; END';
ALTER TABLE remark DROP CONSTRAINT remark_event_fkey;
ALTER TABLE event DETACH PARTITION event_2036_06;
INSERT INTO event (id, what) SELECT id, what FROM event_2036_06;
DROP TABLE event_2036_06;
ALTER TABLE remark ADD CONSTRAINT remark_event_fkey
    FOREIGN KEY (event) REFERENCES event ON DELETE CASCADE;
CREATE TRIGGER refuse BEFORE INSERT OR DELETE ON event
    FOR EACH ROW EXECUTE FUNCTION refuse();
:block_6
DO $$ BEGIN
    ASSERT (SELECT count(*) FROM remark JOIN event_2036_06 ON id = event) = 1;
    ASSERT (SELECT bool_and(tgenabled = 'O') FROM pg_trigger WHERE tgname = 'refuse');
END $$;

-- pg_partman: rows are in the partition of their month.
SELECT to_regclass('public.visit') IS NOT NULL AS has_partman
\gset
\if :has_partman
INSERT INTO visit
SELECT gen_ulid(now() + n * interval '1 hour'), 'visit ' || n FROM generate_series(-1400, 0) AS n;
DO $$ BEGIN
    ASSERT (SELECT bool_and(tableoid::regclass::text
                            = to_char(ulid_extract_timestamp(id), '"visit_p"YYYYMM01'))
            FROM visit), 'a row is not in the partition of its month';
END $$;
\endif
