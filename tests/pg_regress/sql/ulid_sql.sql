-- Ordered ids and the horizon of ulid_sql: errors and rights, and what is below the horizon.

\pset format unaligned
\pset tuples_only on
\set SHOW_CONTEXT never
SET timezone = 'UTC';
CREATE SCHEMA by_sql;
CREATE EXTENSION ulid_sql SCHEMA by_sql;
SET search_path = by_sql;
\set none '''00000000-0000-0000-0000-000000000000'''
CREATE TABLE event (id uuid PRIMARY KEY DEFAULT gen_ordered_ulid(), n int);

-- before the first refresh
SELECT ulid_current_horizon();
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY terse
SELECT ulid_current_horizon(:none);
\set VERBOSITY default
SELECT count(*) FROM ulid_horizon;

-- a row that was inserted before is below the horizon, one that is inserted later is not
INSERT INTO event (n) VALUES (1);
CALL ulid_refresh_horizon();
SELECT horizon = ulid_current_horizon(), refreshed_at <= clock_timestamp() FROM ulid_horizon;
SELECT n FROM event WHERE id < (SELECT ulid_current_horizon(:none)) ORDER BY id;
INSERT INTO event (n) VALUES (2);
SELECT n FROM event WHERE id < (SELECT ulid_current_horizon(:none)) ORDER BY id;
SELECT ulid_refresh();
SELECT n FROM event WHERE id < (SELECT ulid_current_horizon(:none)) ORDER BY id;

-- positions
SELECT ulid_current_horizon(NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_current_horizon(ulid_current_horizon()) = ulid_current_horizon();
BEGIN;
UPDATE ulid_horizon SET horizon = '01563df3-6481-d676-4c61-efb99302bd5b';
SELECT ulid_current_horizon('01563df3-6481-d676-4c61-efb99302bd5c');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;

-- ids of a transaction increase, whatever the clock says, and have the time of the clock
BEGIN;
SELECT gen_ordered_ulid() AS first \gset
SELECT gen_ordered_ulid() > :'first';
SELECT bool_and(id > before) FROM (
    SELECT id, lag(id, 1, :'first') OVER (ORDER BY n) AS before
    FROM (SELECT n, gen_ordered_ulid() AS id FROM generate_series(1, 1000) AS n) AS s) AS s;
SELECT bool_and(id > before) FROM (
    SELECT id, lag(id) OVER (ORDER BY n) AS before
    FROM (SELECT n, gen_ordered_uuid_v7() AS id FROM generate_series(1, 1000) AS n) AS s) AS s;
SELECT ulid_extract_timestamp(gen_ordered_ulid())
    BETWEEN now() - interval '10 s' AND clock_timestamp() + interval '1 s';
COMMIT;
-- version 7, and random bits, each set in some and unset in others
SELECT count(DISTINCT (k, get_bit(uuid_send(gen_ordered_ulid()), k)))
FROM generate_series(64, 127) AS k, generate_series(1, 100);
SELECT count(DISTINCT (k, get_bit(uuid_send(gen_ordered_uuid_v7()), k)))
FROM unnest('{64, 65}' || ARRAY(SELECT generate_series(72, 127))) AS k, generate_series(1, 100);
SELECT DISTINCT id = ulid_to_uuid_v7(id) FROM (
    SELECT gen_ordered_uuid_v7() AS id FROM generate_series(1, 1000) OFFSET 0) AS s;

-- who holds the horizon, also after a rollback to a savepoint
BEGIN;
INSERT INTO event (n) VALUES (3);
SELECT count(*) FROM ulid_horizon_holders;
ROLLBACK;
BEGIN;
SAVEPOINT a;
INSERT INTO event (n) VALUES (3);
ROLLBACK TO a;
SELECT pid = pg_backend_pid(), transaction = pg_current_xact_id()::xid, prepared, since = now(),
    usename = session_user, state FROM ulid_horizon_holders;
-- a refresh of its own transaction does not pass it
INSERT INTO event (n) VALUES (3);
SELECT ulid_refresh();
SELECT n FROM event WHERE id < (SELECT ulid_current_horizon(:none)) AND n = 3;
COMMIT;
CALL ulid_refresh_horizon();
SELECT n FROM event WHERE id < (SELECT ulid_current_horizon(:none)) AND n = 3;

-- where it cannot be refreshed
BEGIN;
CALL ulid_refresh_horizon();
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT ulid_refresh();
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT ulid_refresh();
ROLLBACK;
INSERT INTO event (n) VALUES (4);
BEGIN READ ONLY;
SELECT ulid_refresh();
ROLLBACK;

-- a commit that is not waited for could be lost
SET synchronous_commit = off;
BEGIN;
SELECT ulid_refresh();
SHOW synchronous_commit;
COMMIT;
SHOW synchronous_commit;
RESET synchronous_commit;

-- roles
CREATE ROLE regress_ulid_sql_reader;
GRANT USAGE ON SCHEMA by_sql TO regress_ulid_sql_reader;
GRANT SELECT, INSERT ON event TO regress_ulid_sql_reader;
SET ROLE regress_ulid_sql_reader;
INSERT INTO event (n) VALUES (5);
SELECT ulid_current_horizon() > :none, (SELECT count(*) FROM ulid_horizon);
\set VERBOSITY terse
CALL ulid_refresh_horizon();
SELECT ulid_refresh();
SELECT ulid_sql_refresh(true);
SELECT ulid_sql_write(h) FROM ulid_horizon AS h;
SELECT ulid_sql_compute('ulid_clock', h, true) FROM ulid_horizon AS h;
SELECT ulid_advance_ordered_time(:none);
SELECT ulid_reset_ordered_time();
SELECT * FROM ulid_horizon_holders;
UPDATE ulid_horizon SET horizon = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
DELETE FROM ulid_horizon;
SELECT FROM ulid_horizon FOR UPDATE;
SELECT setval('ulid_clock', 1);
SELECT nextval('ulid_clock');
BEGIN;
LOCK TABLE ulid_horizon IN SHARE MODE;
ROLLBACK;
RESET ROLE;
-- one that may refresh needs nothing else
GRANT EXECUTE ON FUNCTION ulid_refresh() TO regress_ulid_sql_reader;
SET ROLE regress_ulid_sql_reader;
INSERT INTO event (n) VALUES (6);
CALL ulid_refresh_horizon();
SELECT n FROM event WHERE id < (SELECT ulid_current_horizon(:none)) AND n = 6;
RESET ROLE;
-- one that may not read the clock
REVOKE SELECT ON SEQUENCE ulid_clock FROM PUBLIC;
SET ROLE regress_ulid_sql_reader;
INSERT INTO event (n) VALUES (7);
RESET ROLE;
GRANT SELECT ON SEQUENCE ulid_clock TO PUBLIC;
-- a reset that is rolled back leaves the clock without a value, and the next refresh sets it behind
-- the horizon
BEGIN;
SELECT ulid_reset_ordered_time();
ROLLBACK;
SELECT gen_ordered_ulid();
SELECT ulid_refresh();
SELECT gen_ordered_ulid() > horizon AS is_above FROM ulid_horizon;
-- also where a transaction holds the next horizon, within a minute of the last refresh
BEGIN;
SELECT gen_ordered_ulid() IS NULL;
SAVEPOINT s;
SELECT ulid_reset_ordered_time();
ROLLBACK TO s;
UPDATE ulid_horizon SET refreshed_at = clock_timestamp(), next_xid = 1000000000000, next_ms = 1;
SELECT ulid_refresh();
SELECT gen_ordered_ulid() > horizon AS is_above FROM ulid_horizon;
ROLLBACK;
-- but not at the next horizon of before the reset
SELECT ulid_refresh();
BEGIN;
UPDATE ulid_horizon SET refreshed_at = '-infinity', next_xid = 1,
    next_ms = extract(epoch FROM now() + interval '50 hours') * 1000;
SELECT gen_ordered_ulid() IS NULL;
SELECT ulid_refresh();
SELECT horizon < ulid_upper_bound(now() + interval '49 hours') AS is_of_the_clock
FROM ulid_horizon;
ROLLBACK;
SELECT ulid_refresh();
-- so does whoever lets ids continue after an id below the horizon
BEGIN;
SELECT ulid_reset_ordered_time();
ROLLBACK;
SELECT ulid_advance_ordered_time('00000000-0000-0000-0000-000000000000') >=
    ulid_extract_timestamp(horizon) AS is_above FROM ulid_horizon;
-- without a horizon, as a dump without data is restored: ids are those of the clock
BEGIN;
DELETE FROM ulid_horizon;
SELECT setval('ulid_clock', 0, false);
SELECT bool_and(id > previous) AS is_ordered,
    min(ulid_extract_timestamp(id)) > now() - interval '1 second' AS is_now
FROM (SELECT id, lag(id) OVER () AS previous
    FROM (SELECT gen_ordered_ulid() AS id FROM generate_series(1, 100)) AS ids) AS ordered;
SELECT ulid_refresh();
SELECT bool_and(gen_ordered_ulid() > horizon) AS is_above FROM ulid_horizon;
COMMIT;
\set VERBOSITY default
-- a row that is far ahead does not move the clock
BEGIN;
UPDATE ulid_horizon SET horizon = ulid_lower_bound('2100-01-01Z');
SAVEPOINT a;
SELECT ulid_refresh();
\echo :LAST_ERROR_SQLSTATE
ROLLBACK TO a;
SELECT ulid_extract_timestamp(gen_ordered_ulid()) < now() + interval '1 day';
ROLLBACK;

-- what is below it, when the schema and its objects have other names
ALTER SCHEMA by_sql RENAME TO renamed;
CREATE SCHEMA by_sql;
CREATE TABLE by_sql.ulid_horizon (LIKE renamed.ulid_horizon);
CREATE SEQUENCE by_sql.ulid_clock;
INSERT INTO renamed.event (n) VALUES (8);
CALL renamed.ulid_refresh_horizon();
SELECT n FROM renamed.event WHERE id < (SELECT renamed.ulid_current_horizon()) AND n = 8;
SELECT count(*) FROM by_sql.ulid_horizon;
DROP SCHEMA by_sql CASCADE;
ALTER SCHEMA renamed RENAME TO by_sql;

-- ids of transactions that follow each other increase, also if the id clock is ahead: by the rest
-- of a millisecond, as after each refresh, or by a minute
CREATE TABLE follower (n serial, id uuid DEFAULT gen_ordered_ulid(),
    v7 uuid DEFAULT gen_ordered_uuid_v7());
INSERT INTO follower DEFAULT VALUES;
CALL ulid_refresh_horizon();
INSERT INTO follower DEFAULT VALUES;
INSERT INTO follower DEFAULT VALUES;
INSERT INTO follower SELECT FROM generate_series(1, 3);
INSERT INTO follower DEFAULT VALUES;
SELECT ulid_advance_ordered_time(ulid_upper_bound(now() + interval '1 minute')) > now();
INSERT INTO follower DEFAULT VALUES;
INSERT INTO follower DEFAULT VALUES;
INSERT INTO follower SELECT FROM generate_series(1, 3);
INSERT INTO follower DEFAULT VALUES;
SELECT count(*) FROM (
    SELECT id > lag(id) OVER (ORDER BY n) AND v7 > lag(v7) OVER (ORDER BY n) AS follows
    FROM follower) AS s WHERE follows;
DROP TABLE follower;
-- within a transaction, up to the id clock and beyond it, from where on the fraction of the
-- millisecond has the microsecond
BEGIN;
SELECT gen_ordered_ulid() < gen_ordered_ulid();
SELECT split_part(state, ' ', 1) || ' ' || split_part(state, ' ', 2) || ' '
    || ((last_value - 1 << 16) + 32768) AS state
FROM ulid_clock, current_setting('ulid_sql.ordered') AS state \gset
SET LOCAL ulid_sql.ordered = :'state';
SELECT count(*) FILTER (WHERE id > before), count(*) FILTER (WHERE us = n - 500) FROM (
    SELECT n, id, lag(id) OVER (ORDER BY n) AS before,
        (get_byte(uuid_send(id), 6) << 8 | get_byte(uuid_send(id), 7)) * 1000 >> 16 AS us
    FROM (SELECT n, gen_ordered_ulid() AS id FROM generate_series(1, 1000) AS n) AS s) AS s;
SET LOCAL ulid_sql.ordered = :'state';
SELECT count(*) FILTER (WHERE id > before) FROM (
    SELECT id, lag(id) OVER (ORDER BY n) AS before
    FROM (SELECT n, gen_ordered_uuid_v7() AS id FROM generate_series(1, 1000) AS n) AS s) AS s;
COMMIT;
-- if the time of the server was set back, ids can be above the id clock, which is ahead of it: each
-- refresh comes nearer, also if no transaction ends
BEGIN;
SELECT gen_ordered_ulid() < gen_ordered_ulid();
SELECT split_part(state, ' ', 1) || ' ' || split_part(state, ' ', 2) || ' '
    || ((last_value + 2 << 16) + 32768) AS state
FROM ulid_clock, current_setting('ulid_sql.ordered') AS state \gset
SET LOCAL ulid_sql.ordered = :'state';
SELECT gen_ordered_ulid() AS ahead \gset
COMMIT;
CALL ulid_refresh_horizon();
SELECT ulid_current_horizon() > :'ahead';
CALL ulid_refresh_horizon();
CALL ulid_refresh_horizon();
SELECT ulid_current_horizon() > :'ahead';

-- the clock ahead, and back
\set VERBOSITY sqlstate
SELECT ulid_advance_ordered_time(ulid_upper_bound(now() + interval '2 days'));
\set VERBOSITY default
SELECT ulid_advance_ordered_time(ulid_upper_bound(now() + interval '2 days'), true)
    > now() + interval '2 days';
SELECT ulid_advance_ordered_time(:none) > now() + interval '47 hours';
INSERT INTO event (n) VALUES (9);
SELECT id > ulid_upper_bound(now() + interval '47 hours') FROM event WHERE n = 9;
CALL ulid_refresh_horizon();
SELECT n FROM event WHERE id < (SELECT ulid_current_horizon(:none)) AND n = 9;
DELETE FROM event;
INSERT INTO ulid_consumer (name, relation, key, position, deferred_at)
VALUES ('ahead', 'event', 'id', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '{2026-01-01}');
SELECT ulid_reset_ordered_time();
SELECT position > ulid_lower_bound(now() - interval '1 minute') AS is_of_now,
    position < gen_ulid() AS is_past, deferred_at FROM ulid_consumer WHERE name = 'ahead';
SELECT ulid_drop_consumer('ahead');
INSERT INTO event (n) VALUES (10);
CALL ulid_refresh_horizon();
SELECT n FROM event WHERE id < (SELECT ulid_current_horizon(:none));
SELECT ulid_current_horizon() < ulid_lower_bound(now() + interval '1 s');

-- the guard
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON event
    FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('id');
INSERT INTO event (n) VALUES (11);
INSERT INTO event VALUES ('01563df3-6481-d676-4c61-efb99302bd5b', 12);
INSERT INTO event VALUES (NULL, 12);
BEGIN;
CREATE TABLE nullable (id uuid, n integer);
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
UPDATE event SET n = 13, id = id WHERE n = 11;
UPDATE event SET id = '01563df3-6481-d676-4c61-efb99302bd5b' WHERE n = 13;
UPDATE event SET id = gen_ordered_ulid() WHERE n = 13;
BEGIN;
SELECT gen_ordered_ulid() AS id \gset
INSERT INTO event VALUES (:'id', 14), (gen_ulid(), 14);
SAVEPOINT a;
\set VERBOSITY sqlstate
INSERT INTO event VALUES (ulid_upper_bound(ulid_extract_timestamp((SELECT ulid_current_horizon()))
    - interval '1 ms'), 15);
ROLLBACK TO a;
INSERT INTO event VALUES (ulid_lower_bound(clock_timestamp() + interval '10 s'), 15);
ROLLBACK TO a;
INSERT INTO event VALUES (ulid_lower_bound(clock_timestamp() + interval '900 ms'), 15);
COMMIT;
-- one of an earlier transaction
DELETE FROM event WHERE id = :'id';
INSERT INTO event VALUES (:'id', 16);
-- one that the state of another transaction would permit
SET ulid_sql.ordered = '1/1 0 0';
BEGIN;
SELECT gen_ordered_ulid() > :'id';
INSERT INTO event VALUES ('01563df3-6481-d676-4c61-efb99302bd5b', 17);
COMMIT;
RESET ulid_sql.ordered;
\set VERBOSITY default
SELECT n FROM event ORDER BY n;
CREATE TABLE other (id text, n int,
    computed uuid GENERATED ALWAYS AS ('01563df3-6481-d676-4c61-efb99302bd5b') STORED);
-- a trigger that would replace the id later
CREATE FUNCTION replace_id() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN NEW.id := '01563df3-6481-d676-4c61-efb99302bd5b'; RETURN NEW; END $$;
CREATE TRIGGER zzz BEFORE INSERT OR UPDATE ON event
    FOR EACH ROW EXECUTE FUNCTION replace_id();
\set VERBOSITY sqlstate
INSERT INTO event (n) VALUES (18);
UPDATE event SET n = 18 WHERE n = 13;
DROP TRIGGER zzz ON event;
CREATE TRIGGER guard AFTER INSERT ON other FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('id');
\set VERBOSITY terse
INSERT INTO other (id) VALUES ('1');
DROP TRIGGER guard ON other;
CREATE TRIGGER guard AFTER INSERT ON other FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('m');
INSERT INTO other (id) VALUES ('1');
DROP TRIGGER guard ON other;
CREATE TRIGGER guard AFTER INSERT ON other
    FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('computed');
INSERT INTO other (id) VALUES ('1');
DROP TRIGGER guard ON other;
CREATE TRIGGER guard AFTER INSERT ON other FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard();
INSERT INTO other (id) VALUES ('1');
DROP TRIGGER guard ON other;
CREATE TRIGGER guard BEFORE INSERT ON other FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('n');
INSERT INTO other (id) VALUES ('1');
DROP TRIGGER guard ON other;
CREATE TRIGGER guard AFTER DELETE ON other FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('n');
INSERT INTO other (id) VALUES ('1');
DELETE FROM other;

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA by_sql CASCADE;
DROP OWNED BY regress_ulid_sql_reader;
DROP ROLE regress_ulid_sql_reader;
