-- ulid_ordered_guard: a trigger that refuses ids which a consumer may have passed.

\pset format unaligned
\pset tuples_only on
SET timezone = 'UTC';
\set old '''01ARYZ6S41TSV4RRFFQ69G5FAV'''
CREATE DOMAIN id_of_event AS ulid;
CREATE DOMAIN uuid_of_event AS uuid CHECK (VALUE IS NOT NULL);
CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), n int);
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON event
    FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('id');

-- without an ordered id in the transaction, no id is accepted, of whatever time
INSERT INTO event VALUES (:old, 0);
\set VERBOSITY sqlstate
INSERT INTO event VALUES ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 0);
INSERT INTO event SELECT gen_ulid(), 0;
\set VERBOSITY default
-- those of the default are
INSERT INTO event (n) VALUES (1), (2);
-- so is one that the transaction has generated before, or that is later by less than a second
BEGIN;
SELECT gen_ordered_ulid() AS id \gset
INSERT INTO event VALUES (:'id', 3), (ulid_lower_bound(:'id'::ulid::timestamptz), 4),
    (ulid_lower_bound(clock_timestamp() + interval '500 ms'), 5);
SAVEPOINT s;
-- an earlier one is not
\set VERBOSITY terse
INSERT INTO event VALUES (:old, 6);
ROLLBACK TO s;
\set VERBOSITY sqlstate
INSERT INTO event
VALUES (ulid_upper_bound(ulid_ordered_since(pg_backend_pid()) - interval '1 ms'), 7);
ROLLBACK TO s;
-- nor is one of a clock that is ahead
INSERT INTO event VALUES (ulid_lower_bound(clock_timestamp() + interval '1 hour'), 7);
ROLLBACK TO s;
\set VERBOSITY terse
INSERT INTO event VALUES ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 7);
ROLLBACK TO s;
-- one of the present is accepted also if nobody has generated an id for more than a second
SELECT FROM pg_sleep(1.001);
INSERT INTO event VALUES (ulid_lower_bound(clock_timestamp()), 5);
DELETE FROM event WHERE n = 5;
COMMIT;
-- one of an earlier transaction is not
DELETE FROM event WHERE n = 3;
\set VERBOSITY sqlstate
INSERT INTO event VALUES (:'id', 3);
\set VERBOSITY terse

-- an UPDATE that does not change the id passes
UPDATE event SET n = n + 10;
UPDATE event SET id = id, n = n - 10;
UPDATE event SET id = :old WHERE n = 1;
UPDATE event SET id = gen_ordered_ulid() WHERE n = 1;
SELECT n FROM event ORDER BY n;

-- whatever triggers make of the id, also in an UPDATE that does not name it
CREATE FUNCTION replace_id() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN NEW.id := '01ARYZ6S41TSV4RRFFQ69G5FAV'; RETURN NEW; END $$;
CREATE TRIGGER zzz BEFORE INSERT OR UPDATE ON event
    FOR EACH ROW EXECUTE FUNCTION replace_id();
INSERT INTO event (n) VALUES (6);
UPDATE event SET n = 6 WHERE n = 4;
DROP TRIGGER zzz ON event;
DROP FUNCTION replace_id;

-- a null, which no consumer would read, also without the constraint
INSERT INTO event VALUES (NULL, 0);
BEGIN;
CREATE TABLE nullable (id ulid, n integer);
INSERT INTO nullable (n) VALUES (1);
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON nullable
    FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('id');
UPDATE nullable SET n = 2;
UPDATE nullable SET id = gen_ordered_ulid();
SAVEPOINT s;
UPDATE nullable SET id = NULL;
ROLLBACK TO s;
INSERT INTO nullable (n) VALUES (2);
ROLLBACK;

-- COPY, MERGE, ON CONFLICT
COPY event (n) FROM STDIN;
8
\.
COPY event FROM STDIN;
01ARYZ6S41TSV4RRFFQ69G5FAV	9
\.
MERGE INTO event USING (VALUES (8), (9)) AS v (n) ON event.n = v.n
WHEN MATCHED THEN UPDATE SET n = 80 WHEN NOT MATCHED THEN INSERT (n) VALUES (v.n);
MERGE INTO event USING (VALUES (10)) AS v (n) ON event.n = v.n
WHEN NOT MATCHED THEN INSERT VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', 10);
MERGE INTO event USING (VALUES (9)) AS v (n) ON event.n = v.n
WHEN MATCHED THEN UPDATE SET id = '01ARYZ6S41TSV4RRFFQ69G5FAV';
BEGIN;
SELECT gen_ordered_ulid() IS NOT NULL;
SAVEPOINT s;
COPY event FROM STDIN;
7ZZZZZZZZZZZZZZZZZZZZZZZZZ	9
\.
ROLLBACK TO s;
MERGE INTO event USING (VALUES (10)) AS v (n) ON event.n = v.n
WHEN NOT MATCHED THEN INSERT VALUES ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 10);
ROLLBACK TO s;
MERGE INTO event USING (VALUES (9)) AS v (n) ON event.n = v.n
WHEN MATCHED THEN UPDATE SET id = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ';
ROLLBACK;
-- where there is a conflict, there is no new row
SELECT id FROM event WHERE n = 80 \gset
\set VERBOSITY sqlstate
INSERT INTO event VALUES (:'id', 0) ON CONFLICT (id) DO UPDATE SET n = 81;
\set VERBOSITY terse
SELECT string_agg(n::text, ' ' ORDER BY n) FROM event;

-- columns of other types
CREATE TABLE of_uuid (id uuid DEFAULT gen_ordered_uuid_v7(), domain id_of_event
    DEFAULT gen_ordered_ulid(), other uuid_of_event DEFAULT gen_ordered_uuid_v7());
CREATE TRIGGER a AFTER INSERT OR UPDATE ON of_uuid
    FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('id');
CREATE TRIGGER b AFTER INSERT OR UPDATE ON of_uuid
    FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('domain');
CREATE TRIGGER c AFTER INSERT OR UPDATE ON of_uuid
    FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('other');
INSERT INTO of_uuid DEFAULT VALUES;
INSERT INTO of_uuid (id, domain, other) VALUES ('01890a5d-ac96-774b-bcce-b302099a8057',
    '01ARYZ6S41TSV4RRFFQ69G5FAV', '01890a5d-ac96-774b-bcce-b302099a8057');
INSERT INTO of_uuid (domain) VALUES (:old);
INSERT INTO of_uuid (other) VALUES ('01890a5d-ac96-774b-bcce-b302099a8057');
-- a UUID of version 4 has no time, and most of them are ahead
BEGIN;
INSERT INTO of_uuid DEFAULT VALUES;
SAVEPOINT s;
INSERT INTO of_uuid (id) VALUES ('f47ac10b-58cc-4372-a567-0e02b2c3d479');
ROLLBACK TO s;
INSERT INTO of_uuid (id) VALUES ('01890a5d-ac96-774b-bcce-b302099a8057');
ROLLBACK TO s;
INSERT INTO of_uuid (id, domain, other)
    SELECT id, id, id FROM (VALUES (ulid_lower_bound(clock_timestamp())::uuid)) AS v (id);
COMMIT;
SELECT count(*) FROM of_uuid;

-- partitions; a row that is moved to another one is inserted there
CREATE TABLE part (id ulid DEFAULT gen_ordered_ulid(), kind text) PARTITION BY LIST (kind);
CREATE TABLE part_a PARTITION OF part FOR VALUES IN ('a');
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON part
    FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('id');
CREATE TABLE part_b PARTITION OF part FOR VALUES IN ('b');
INSERT INTO part (kind) VALUES ('a'), ('b');
INSERT INTO part VALUES (:old, 'b');
INSERT INTO part_a VALUES (:old, 'a');
BEGIN;
INSERT INTO part (kind) VALUES ('b');
SAVEPOINT s;
INSERT INTO part VALUES ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 'b');
ROLLBACK TO s;
INSERT INTO part VALUES (:old, 'b');
ROLLBACK;
UPDATE part SET kind = 'a' WHERE kind = 'a';
SELECT id FROM part WHERE kind = 'a' \gset
\set VERBOSITY sqlstate
UPDATE part SET kind = 'b' WHERE kind = 'a';
BEGIN;
ALTER TABLE part DISABLE TRIGGER guard;
UPDATE part SET kind = 'b' WHERE kind = 'a';
ALTER TABLE part ENABLE TRIGGER guard;
COMMIT;
SELECT count(*) FROM part_b;
INSERT INTO part VALUES (:old, 'b');
\set VERBOSITY terse

-- not fired where rows are replicated, unless it is told to be
SET session_replication_role = replica;
INSERT INTO event VALUES (:old, 7);
ALTER TABLE event ENABLE ALWAYS TRIGGER guard;
INSERT INTO event VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAW', 7);
INSERT INTO event (n) VALUES (7);
RESET session_replication_role;
DELETE FROM event WHERE n = 7;

-- a column that is added or dropped beside it, and another order of columns in a partition
ALTER TABLE event ADD m int;
INSERT INTO event (n, m) VALUES (11, 11);
CREATE TABLE part_c (kind text, gone int, id ulid DEFAULT gen_ordered_ulid());
ALTER TABLE part_c DROP gone;
ALTER TABLE part ATTACH PARTITION part_c FOR VALUES IN ('c');
INSERT INTO part (kind) VALUES ('c');
INSERT INTO part VALUES (:old, 'c');

-- wrong uses
CREATE TABLE wrong (id ulid, n int, t text);
\set VERBOSITY default
SELECT ulid_ordered_guard();
\set VERBOSITY terse
CREATE TRIGGER wrong BEFORE INSERT ON wrong FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('id');
INSERT INTO wrong VALUES (NULL);
\echo :LAST_ERROR_SQLSTATE
DROP TRIGGER wrong ON wrong;
CREATE TRIGGER wrong AFTER INSERT ON wrong EXECUTE FUNCTION ulid_ordered_guard('id');
INSERT INTO wrong VALUES (NULL);
DROP TRIGGER wrong ON wrong;
CREATE TRIGGER wrong AFTER INSERT OR DELETE ON wrong
    FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('id');
INSERT INTO wrong VALUES (gen_ordered_ulid());
DELETE FROM wrong;
DROP TRIGGER wrong ON wrong;
CREATE TRIGGER wrong AFTER INSERT ON wrong FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard();
INSERT INTO wrong VALUES (NULL);
DROP TRIGGER wrong ON wrong;
CREATE TRIGGER wrong AFTER INSERT ON wrong FOR EACH ROW
    EXECUTE FUNCTION ulid_ordered_guard('id', 'n');
INSERT INTO wrong VALUES (NULL);
DROP TRIGGER wrong ON wrong;
CREATE TRIGGER wrong AFTER INSERT ON wrong FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('m');
INSERT INTO wrong VALUES (NULL);
\echo :LAST_ERROR_SQLSTATE
DROP TRIGGER wrong ON wrong;
CREATE TRIGGER wrong AFTER INSERT ON wrong FOR EACH ROW
    EXECUTE FUNCTION ulid_ordered_guard('xmin');
INSERT INTO wrong VALUES (NULL);
DROP TRIGGER wrong ON wrong;
CREATE TRIGGER wrong AFTER INSERT ON wrong FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('t');
INSERT INTO wrong VALUES (NULL);
\echo :LAST_ERROR_SQLSTATE
CREATE TABLE generated (of uuid, id uuid GENERATED ALWAYS AS (of) STORED);
CREATE TRIGGER wrong AFTER INSERT ON generated
    FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('id');
INSERT INTO generated VALUES ('01563df3-6481-d676-4c61-efb99302bd5b');
-- a virtual column, which PostgreSQL has from 18 on
SELECT current_setting('server_version_num')::integer >= 180000 AS has_virtual \gset
\if :has_virtual
CREATE TABLE computed (of uuid, id uuid GENERATED ALWAYS AS (of) VIRTUAL);
CREATE TRIGGER wrong AFTER INSERT ON computed
    FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('id');
\else
CREATE TABLE computed (of uuid);
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE SQLSTATE '42P10' USING
        MESSAGE = 'column "id" of relation "computed" is a virtual generated column'; END $$;
CREATE TRIGGER wrong BEFORE INSERT ON computed FOR EACH ROW EXECUTE FUNCTION refuse();
\endif
INSERT INTO computed VALUES ('01563df3-6481-d676-4c61-efb99302bd5b');
\echo :LAST_ERROR_SQLSTATE
-- nor does it tell what a consumer has not read
DO $$ BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        PERFORM ulid_consumer_first('computed'::regclass, 2,
            '00000000-0000-0000-0000-000000000000');
        RAISE 'read';
    END IF;
EXCEPTION WHEN invalid_column_reference THEN
    NULL;
END $$;
DROP TABLE computed;
\if :has_virtual
\else
DROP FUNCTION refuse;
\endif
\set VERBOSITY terse
CREATE VIEW view_of_event AS SELECT * FROM event;
CREATE TRIGGER wrong INSTEAD OF INSERT ON view_of_event
    FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('id');
INSERT INTO view_of_event (n) VALUES (0);

-- whoever inserts needs no privilege on the function
CREATE ROLE ulid_regress_writer;
GRANT INSERT ON event TO ulid_regress_writer;
REVOKE EXECUTE ON FUNCTION ulid_ordered_guard() FROM PUBLIC;
SET ROLE ulid_regress_writer;
INSERT INTO event (n) VALUES (12);
INSERT INTO event (id) VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV');
RESET ROLE;
GRANT EXECUTE ON FUNCTION ulid_ordered_guard() TO PUBLIC;
DROP TABLE event, of_uuid, part, wrong, generated CASCADE;
DROP DOMAIN id_of_event, uuid_of_event;
DROP ROLE ulid_regress_writer;
