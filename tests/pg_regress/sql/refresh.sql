-- The horizon: who may refresh and read it, what is refused, and when a row is written.
-- That no row is lost is shown by the tests with servers.

\set VERBOSITY default
\set SHOW_CONTEXT never
SELECT current_database() AS shared, quote_ident(current_user) AS owner \gset
CREATE DATABASE ulid_refresh_test;
\c ulid_refresh_test
\set SHOW_CONTEXT never
-- whatever the default privileges are
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC;
CREATE EXTENSION ulid;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM PUBLIC;
CREATE TABLE outbox (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), n integer);

--
-- Before the first refresh there is nothing to read
--

SELECT ulid_current_horizon();
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_current_horizon('00000000000000000000000000');
SELECT count(*) FROM ulid_horizon;
CALL ulid_refresh_horizon();
SELECT count(*), max(horizon) = ulid_current_horizon() AS is_read FROM ulid_horizon;

--
-- A committed row is below the next horizon, and a row is written only if there is need
--

INSERT INTO outbox (n) VALUES (1);
SELECT count(*) FROM outbox WHERE id < ulid_current_horizon();
SELECT ulid_refresh();
SELECT ulid_refresh();
SELECT count(*) FROM outbox WHERE id < ulid_current_horizon();
-- the transaction holds back the horizon with the first id, and until it ends
BEGIN;
INSERT INTO outbox (n) VALUES (2);
SAVEPOINT a;
INSERT INTO outbox (n) VALUES (3);
ROLLBACK TO a;
SELECT ulid_refresh() IS NULL;
SELECT n, id < ulid_current_horizon() AS is_below FROM outbox ORDER BY id;
SELECT pid = pg_backend_pid() AS is_own, transaction = backend_xid AS is_xid,
    since >= now() AS is_since, refreshes, prepared, usename = current_user AS is_user
FROM ulid_horizon_holders
JOIN pg_stat_activity USING (pid, usename, state, query, application_name);
COMMIT;
SELECT count(*) FROM ulid_horizon_holders;
-- a commit that is not waited for could be lost
SET synchronous_commit = off;
BEGIN;
SELECT ulid_refresh();
SHOW synchronous_commit;
COMMIT;
SHOW synchronous_commit;
RESET synchronous_commit;
SELECT n, id < ulid_current_horizon() AS is_below FROM outbox ORDER BY id;

--
-- The position of a consumer
--

SELECT ulid_current_horizon(horizon) = horizon AS is_same FROM ulid_horizon;
SELECT ulid_current_horizon(max(id)) > max(id) AS is_above FROM outbox;
SELECT ulid_current_horizon(NULL);
\echo :LAST_ERROR_SQLSTATE
BEGIN;
UPDATE ulid_horizon SET horizon = '01ARYZ6S41TSV4RRFFQ69G5FAV';
SELECT ulid_current_horizon('01ARYZ6S41TSV4RRFFQ69G5FAW');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
-- after a restore to an earlier time, that is so until the next refresh
BEGIN;
SELECT max(id) AS position FROM outbox \gset
UPDATE ulid_horizon SET horizon = '01ARYZ6S41TSV4RRFFQ69G5FAV';
SELECT ulid_refresh();
SELECT ulid_current_horizon(:'position') > :'position' AS is_known;
COMMIT;
-- of a uuid column: a driver sends the parameters back as the types that it infers for them
CREATE TABLE uuid_outbox (id uuid PRIMARY KEY DEFAULT gen_ordered_uuid_v7());
INSERT INTO uuid_outbox DEFAULT VALUES;
CALL ulid_refresh_horizon();
PREPARE poll AS SELECT count(*) FROM uuid_outbox WHERE id > $1 AND id < $2;
SELECT ulid_current_horizon('00000000-0000-0000-0000-000000000000')::uuid AS horizon \gset
EXECUTE poll ('00000000-0000-0000-0000-000000000000', :'horizon');

--
-- What is refused
--

BEGIN;
CALL ulid_refresh_horizon();
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT ulid_refresh();
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT ulid_refresh();
ROLLBACK;
-- for PostgreSQL, READ UNCOMMITTED is READ COMMITTED
BEGIN ISOLATION LEVEL READ UNCOMMITTED;
SELECT ulid_refresh() IS NOT NULL AS is_allowed;
ROLLBACK;
INSERT INTO outbox DEFAULT VALUES;
BEGIN READ ONLY;
SELECT ulid_refresh();
ROLLBACK;

--
-- Rights: every role reads; the owner of the database refreshes, and decides who may; nobody but a
-- superuser sets the horizon or the id clock
--

CREATE ROLE refresh_owner;
CREATE ROLE refresh_app;
ALTER DATABASE ulid_refresh_test OWNER TO refresh_owner;
SET ROLE refresh_app;
SELECT ulid_current_horizon() > '00000000000000000000000000' AS is_read;
CALL ulid_refresh_horizon();
SELECT ulid_refresh_locked();
SELECT ulid_is_refresh_due(NULL);
SELECT ulid_reset_id_clock();
SELECT ulid_refresh_write('7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
SELECT ulid_next_horizon('00000000000000000000000000');
SELECT count(*) FROM ulid_horizon_holders;
SET ROLE refresh_owner;
CALL ulid_refresh_horizon();
GRANT EXECUTE ON FUNCTION ulid_refresh() TO refresh_app;
UPDATE ulid_horizon SET horizon = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ';
DELETE FROM ulid_horizon;
SELECT ulid_reset_ordered_time();
SET ROLE refresh_app;
CALL ulid_refresh_horizon();
-- the search_path of the caller is not used
CREATE TEMP TABLE ulid_horizon (horizon ulid);
CREATE FUNCTION pg_temp.ulid_refresh() RETURNS boolean
LANGUAGE plpgsql AS $$ BEGIN RAISE 'found'; END $$;
CREATE FUNCTION pg_temp.ulid_current_horizon() RETURNS ulid
LANGUAGE plpgsql AS $$ BEGIN RAISE 'found'; END $$;
SET search_path = pg_temp, public;
CALL public.ulid_refresh_horizon();
SELECT public.ulid_current_horizon('00000000000000000000000000') > '00000000000000000000000000'
    AS is_read;
RESET search_path;
RESET ROLE;
DROP TABLE pg_temp.ulid_horizon;
-- nor is the schema, if its owner renames it and creates another one of the old name
ALTER SCHEMA public RENAME TO renamed;
CREATE SCHEMA public;
CREATE TABLE ulid_horizon (horizon uuid);
INSERT INTO renamed.outbox (n) VALUES (0);
CALL renamed.ulid_refresh_horizon();
SELECT count(*) FROM renamed.outbox WHERE id < renamed.ulid_current_horizon() AND n = 0;
SELECT count(*) FROM ulid_horizon;
DROP SCHEMA public CASCADE;
ALTER SCHEMA renamed RENAME TO public;

--
-- A restored row: a superuser's counts, another one's is ignored
--

SELECT horizon FROM ulid_horizon \gset
BEGIN;
DELETE FROM ulid_horizon;
SET LOCAL ROLE refresh_owner;
INSERT INTO ulid_horizon (horizon) SELECT ulid_lower_bound(now() + interval '1 hour');
RESET ROLE;
SELECT count(*) FROM ulid_horizon;
INSERT INTO ulid_horizon (horizon) SELECT ulid_lower_bound(now() + interval '1 hour');
SELECT horizon > :'horizon' AS is_restored FROM ulid_horizon;
-- the greater one stays, where there is a row already
INSERT INTO ulid_horizon (horizon) VALUES (:'horizon');
SELECT horizon > :'horizon' AS is_kept FROM ulid_horizon;
INSERT INTO ulid_horizon (horizon) SELECT ulid_lower_bound(now() + interval '2 hours');
SELECT horizon > ulid_lower_bound(now() + interval '90 minutes') AS is_greater FROM ulid_horizon;
COMMIT;
-- this session has read the row before, and continues after it, as does a new one
SET client_min_messages = error;
INSERT INTO outbox (n) VALUES (4) RETURNING id > ulid_current_horizon() AS is_above;
\c
SET client_min_messages = error;
INSERT INTO outbox (n) VALUES (5) RETURNING id > ulid_current_horizon() AS is_above;
-- who may not read the row continues after it, too
REVOKE ALL ON ulid_horizon FROM PUBLIC;
BEGIN;
UPDATE ulid_horizon SET horizon = ulid_lower_bound(now() + interval '3 hours');
COMMIT;
\c
SET client_min_messages = error;
SET ROLE refresh_app;
SELECT gen_ordered_ulid() > ulid_lower_bound(now() + interval '150 minutes') AS is_above;
RESET ROLE;
GRANT SELECT ON ulid_horizon TO PUBLIC;
-- nor does a subscription of another role insert a row; one of a superuser does not merge rows
BEGIN;
SET LOCAL session_replication_role = replica;
SET LOCAL ROLE refresh_owner;
INSERT INTO ulid_horizon (horizon) VALUES (:'horizon');
RESET ROLE;
SELECT count(*) FROM ulid_horizon;
INSERT INTO ulid_horizon (horizon) VALUES (:'horizon');
ROLLBACK;
-- a row that is far ahead does not come in, however it comes
UPDATE ulid_horizon SET horizon = '02000000000000000000000000';
\echo :LAST_ERROR_SQLSTATE
BEGIN;
DELETE FROM ulid_horizon;
SET LOCAL session_replication_role = replica;
INSERT INTO ulid_horizon (horizon) VALUES ('02000000000000000000000000');
ROLLBACK;
SELECT gen_ordered_ulid() < '02000000000000000000000000' AS is_not_ahead;
-- unless the id clock is
SELECT ulid_advance_ordered_time('02000000000000000000000000', true) IS NOT NULL AS is_advanced;
UPDATE ulid_horizon SET horizon = '02000000000000000000000000';
CALL ulid_refresh_horizon();
SELECT gen_ordered_ulid() > ulid_current_horizon() AS is_above,
    ulid_current_horizon() > '02000000000000000000000000' AS is_later;

--
-- A position that is ahead is an error where it is read. In the statement that reads the rows, a
-- plan may never call the function.
--

CREATE TABLE consumer (last_id ulid);
INSERT INTO consumer VALUES ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
\set VERBOSITY sqlstate
SELECT last_id, ulid_current_horizon(last_id) FROM consumer;
\set VERBOSITY default

--
-- A reset forgets the horizon, also for a role to which a superuser has granted it
--

SET ROLE refresh_app;
\set VERBOSITY sqlstate
SELECT ulid_reset_ordered_time();
\set VERBOSITY default
RESET ROLE;
GRANT EXECUTE ON FUNCTION ulid_reset_ordered_time() TO refresh_app;
SET ROLE refresh_app;
SELECT ulid_reset_ordered_time();
RESET ROLE;
SELECT horizon FROM ulid_horizon;
SELECT ulid_current_horizon();
CALL ulid_refresh_horizon();
SELECT abs(extract(epoch FROM ulid_extract_timestamp(ulid_current_horizon()) - now())) < 600
    AS is_of_the_clock;

-- and sets consumers back, whose batches from before are void
INSERT INTO ulid_consumer (name, relation, key, position, deferred_at) VALUES
    ('ahead', 'consumer', 'last_id', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '{2026-01-01}'),
    ('behind', 'consumer', 'last_id', '00000000-0000-0000-0000-000000000001', '{2026-01-01}');
BEGIN;
SELECT ulid_reset_ordered_time();
SELECT name, position > ulid_lower_bound(now() - interval '1 minute')::uuid AS is_of_now,
    position < gen_ulid()::uuid AS is_past, moved_at > now() AS has_moved, deferred_at
FROM ulid_consumer ORDER BY name;
ROLLBACK;
SELECT ulid_drop_consumer('ahead'), ulid_drop_consumer('behind');

-- a reset takes place when its transaction commits
BEGIN;
SELECT ulid_reset_ordered_time();
ROLLBACK;
SELECT ulid_current_horizon() > '00000000000000000000000000' AS is_kept;
SELECT ulid_advance_ordered_time(ulid_lower_bound(now() + interval '1 hour')) > now() AS is_ahead;
BEGIN;
SELECT ulid_reset_ordered_time();
SELECT ulid_ordered_time() > now() + interval '30 minutes' AS is_ahead;
COMMIT;
SELECT ulid_ordered_time() IS NULL AS is_reset;
BEGIN;
SAVEPOINT s;
SELECT ulid_reset_ordered_time();
ROLLBACK;
BEGIN;
SELECT ulid_reset_ordered_time();
SELECT ulid_refresh();
PREPARE TRANSACTION 'reset';
CALL ulid_refresh_horizon();
-- many refreshes do not move the id clock ahead: not by a millisecond for each
DO $$ BEGIN
    FOR n IN 1 .. 2000 LOOP
        PERFORM gen_ordered_ulid();
        COMMIT;
        CALL ulid_refresh_horizon();
    END LOOP;
END $$;
SELECT ulid_ordered_time() < clock_timestamp() + interval '0.5 s' AS is_of_the_clock;

--
-- Another extension of the same name has another table, which a session that has generated ids
-- reads again. Without the table, there are no ids
--

DROP TABLE outbox, uuid_outbox, consumer;
DROP EXTENSION ulid;
CREATE EXTENSION ulid;
INSERT INTO ulid_horizon (horizon) SELECT ulid_lower_bound(now() + interval '2 hours');
SELECT ulid_extract_timestamp(gen_ordered_ulid()) > now() + interval '1 hour' AS is_after;
SELECT ulid_reset_ordered_time();
-- the row is read again whenever the table has changed, however often that is
DO $$ BEGIN
    FOR n IN 1 .. 100 LOOP
        GRANT SELECT ON ulid_horizon TO PUBLIC;
        COMMIT;
        PERFORM gen_ordered_ulid();
        COMMIT;
    END LOOP;
END $$;
BEGIN;
ALTER TABLE ulid_horizon RENAME TO renamed;
SELECT gen_ordered_ulid();
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;

ALTER DATABASE ulid_refresh_test OWNER TO :owner;
\c :shared
DROP DATABASE ulid_refresh_test;
DROP ROLE refresh_app, refresh_owner;
