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

-- The longest names of parents, in letters of one byte and of two: a partition for each month.
CREATE TABLE a_name_of_fifty_six_bytes_which_is_too_long_for_the_month (id ulid PRIMARY KEY)
PARTITION BY RANGE (id);
CREATE TABLE archive.xäääääääääääääääääääääääääääääää
(id ulid PRIMARY KEY) PARTITION BY RANGE (id);
CALL make_partitions('a_name_of_fifty_six_bytes_which_is_too_long_for_the_month', '2026-01-01', 12);
CALL make_partitions(
    'archive.xäääääääääääääääääääääääääääääää', '2026-01-01', 12);
DO $$ BEGIN
    ASSERT (SELECT count(*) = 24 AND min(octet_length(relname)) >= 62
                AND bool_and(relname ~ '^(a_name_of|xä).*_2026_[01]\d$')
            FROM pg_inherits JOIN pg_class AS p ON p.oid = inhrelid
            WHERE inhparent IN (
            'a_name_of_fifty_six_bytes_which_is_too_long_for_the_month'::regclass,
            'archive.xäääääääääääääääääääääääääääääää'::regclass));
END $$;
DROP TABLE a_name_of_fifty_six_bytes_which_is_too_long_for_the_month,
    archive.xäääääääääääääääääääääääääääääää;

-- The search_path of the caller does not decide what is called, and no lock is waited for without
-- end.
CREATE TABLE waited (lock_timeout text);
CREATE FUNCTION note_wait() RETURNS event_trigger LANGUAGE plpgsql AS
'BEGIN INSERT INTO public.waited VALUES (current_setting(''lock_timeout'')); END';
CREATE EVENT TRIGGER note_wait ON ddl_command_end EXECUTE FUNCTION note_wait();
CREATE SCHEMA caller;
CREATE FUNCTION caller.partitions_of(regclass) RETURNS TABLE (partition regclass, ends timestamptz)
LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''called''; END';
CREATE FUNCTION caller.ulid_lower_bound(timestamptz) RETURNS public.ulid LANGUAGE plpgsql AS
'BEGIN RAISE EXCEPTION ''called''; END';
CREATE FUNCTION caller.ulid_extract_timestamp(public.ulid) RETURNS timestamptz LANGUAGE plpgsql AS
'BEGIN RAISE EXCEPTION ''called''; END';
DELETE FROM waited;
SET search_path = caller;
SET client_min_messages = warning;
CALL public.make_partitions('public.event', '2020-01-01', 2);
CALL public.drop_partitions('public.event', '2020-04-01Z', dry_run => false);
RESET search_path;
DROP EVENT TRIGGER note_wait;
DO $$ BEGIN
    ASSERT (SELECT count(*) >= 6 AND bool_and(lock_timeout = '2s') FROM waited);
    ASSERT to_regclass('event_2020_01') IS NULL;
END $$;
DROP SCHEMA caller CASCADE;

-- A partition that a consumer has not read is kept.
CREATE TABLE polled (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(),
    changed ulid NOT NULL DEFAULT gen_ordered_ulid()) PARTITION BY RANGE (id);
CREATE INDEX ON polled (changed);
CALL make_partitions('polled', '2020-01-01', 2);
CALL ulid_refresh_horizon();
SELECT ulid_create_consumer('changed', 'polled', 'changed',
    start => ulid_lower_bound('2020-02-01Z')) AS nothing
\gset
CALL drop_partitions('polled', '2020-03-01Z', dry_run => false);
DO $$ BEGIN
    ASSERT to_regclass('polled_2020_01') IS NOT NULL;
END $$;
SELECT ulid_drop_consumer('changed') AS nothing
\gset
SELECT ulid_create_consumer('polled', 'polled', start => ulid_lower_bound('2020-02-01Z')) AS nothing
\gset
CALL drop_partitions('polled', '2020-03-01Z', dry_run => false);
DO $$ BEGIN
    ASSERT to_regclass('polled_2020_01') IS NULL AND to_regclass('polled_2020_02') IS NOT NULL;
END $$;
SELECT ulid_move_consumer('polled', ulid_lower_bound('2020-03-01Z')) AS nothing
\gset
CALL drop_partitions('polled', '2020-03-01Z', dry_run => false);
DO $$ BEGIN
    ASSERT to_regclass('polled_2020_02') IS NULL;
END $$;
SELECT ulid_drop_consumer('polled') AS nothing
\gset
DROP TABLE polled;
RESET client_min_messages;

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
