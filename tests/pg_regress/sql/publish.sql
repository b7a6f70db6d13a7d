-- The published horizon: who may publish and read it, what is refused, and when a row is written.
-- That no row is lost is shown by the tests with servers.

\set VERBOSITY default
\set SHOW_CONTEXT never
SELECT current_database() AS shared, quote_ident(current_user) AS owner \gset
CREATE DATABASE ulid_publish;
\c ulid_publish
\set SHOW_CONTEXT never
CREATE EXTENSION ulid;
CREATE TABLE outbox (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), n integer);

--
-- Before the first publication there is nothing to read
--

SELECT ulid_published_horizon();
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_published_horizon('00000000000000000000000000');
SELECT count(*) FROM ulid_horizon;
CALL ulid_publish_horizon();
SELECT count(*), max(horizon) = ulid_published_horizon() AS is_read FROM ulid_horizon;

--
-- A committed row is below the next horizon, and a row is written only if there is need
--

INSERT INTO outbox (n) VALUES (1);
SELECT count(*) FROM outbox WHERE id < ulid_published_horizon();
SELECT ulid_publish();
SELECT ulid_publish();
SELECT count(*) FROM outbox WHERE id < ulid_published_horizon();
SELECT last_value = ulid_extract_unix_ms(horizon) AS is_reached FROM ulid_clock, ulid_horizon;
-- the transaction holds back the horizon with the first id, and until it ends
BEGIN;
INSERT INTO outbox (n) VALUES (2);
SAVEPOINT a;
INSERT INTO outbox (n) VALUES (3);
ROLLBACK TO a;
SELECT ulid_publish() IS NULL;
SELECT n, id < ulid_published_horizon() AS is_below FROM outbox ORDER BY id;
SELECT pid = pg_backend_pid() AS is_own, transaction = backend_xid AS is_xid,
    since >= now() AS is_since, prepared, usename = current_user AS is_user
FROM ulid_horizon_holders
JOIN pg_stat_activity USING (pid, usename, state, query, application_name);
COMMIT;
SELECT count(*) FROM ulid_horizon_holders;
SELECT ulid_publish();
SELECT n, id < ulid_published_horizon() AS is_below FROM outbox ORDER BY id;

--
-- The position of a consumer
--

SELECT ulid_published_horizon(horizon) = horizon AS is_same FROM ulid_horizon;
SELECT ulid_published_horizon(max(id)) > max(id) AS is_above FROM outbox;
SELECT ulid_published_horizon(NULL);
\echo :LAST_ERROR_SQLSTATE
BEGIN;
UPDATE ulid_horizon SET horizon = '01ARYZ6S41TSV4RRFFQ69G5FAV';
SELECT ulid_published_horizon('01ARYZ6S41TSV4RRFFQ69G5FAW');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
-- of a uuid column: a driver sends the parameters back as the types that it infers for them
CREATE TABLE uuid_outbox (id uuid PRIMARY KEY DEFAULT gen_ordered_uuid_v7());
INSERT INTO uuid_outbox DEFAULT VALUES;
CALL ulid_publish_horizon();
PREPARE poll AS SELECT count(*) FROM uuid_outbox WHERE id > $1 AND id < $2;
SELECT ulid_published_horizon('00000000-0000-0000-0000-000000000000')::uuid AS horizon \gset
EXECUTE poll ('00000000-0000-0000-0000-000000000000', :'horizon');

--
-- What is refused
--

BEGIN;
CALL ulid_publish_horizon();
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT ulid_publish();
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT ulid_publish();
ROLLBACK;
INSERT INTO outbox DEFAULT VALUES;
BEGIN READ ONLY;
SELECT ulid_publish();
ROLLBACK;

--
-- Rights: every role reads; the owner of the database publishes, and decides who may; nobody but a
-- superuser sets the horizon or the id clock
--

CREATE ROLE publish_owner;
CREATE ROLE publish_app;
ALTER DATABASE ulid_publish OWNER TO publish_owner;
SET ROLE publish_app;
SELECT ulid_published_horizon() > '00000000000000000000000000' AS is_read;
SELECT last_value > 0 AS is_read FROM ulid_clock;
CALL ulid_publish_horizon();
SELECT ulid_publish_above('7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
SELECT ulid_publish_write('7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
SELECT ulid_horizon_to_publish(NULL);
SELECT count(*) FROM ulid_horizon_holders;
SET ROLE publish_owner;
CALL ulid_publish_horizon();
GRANT EXECUTE ON FUNCTION ulid_publish() TO publish_app;
UPDATE ulid_horizon SET horizon = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ';
DELETE FROM ulid_horizon;
SELECT setval('ulid_clock', 281474976710655);
SELECT ulid_reset_ordered_time();
SET ROLE publish_app;
CALL ulid_publish_horizon();
-- the search_path of the caller is not used
CREATE TEMP TABLE ulid_horizon (horizon ulid);
CREATE FUNCTION pg_temp.ulid_publish() RETURNS boolean
LANGUAGE plpgsql AS $$ BEGIN RAISE 'found'; END $$;
CREATE FUNCTION pg_temp.ulid_published_horizon() RETURNS ulid
LANGUAGE plpgsql AS $$ BEGIN RAISE 'found'; END $$;
SET search_path = pg_temp, public;
CALL public.ulid_publish_horizon();
SELECT public.ulid_published_horizon('00000000000000000000000000') > '00000000000000000000000000'
    AS is_read;
RESET search_path;
RESET ROLE;
DROP TABLE pg_temp.ulid_horizon;
-- nor is the schema, if its owner renames it and creates another one of the old name
ALTER SCHEMA public RENAME TO renamed;
CREATE SCHEMA public;
CREATE TABLE ulid_horizon (horizon uuid);
CREATE SEQUENCE ulid_clock;
INSERT INTO renamed.outbox (n) VALUES (0);
CALL renamed.ulid_publish_horizon();
SELECT count(*) FROM renamed.outbox WHERE id < renamed.ulid_published_horizon() AND n = 0;
SELECT is_called, count(horizon) FROM ulid_clock LEFT JOIN ulid_horizon ON true GROUP BY 1;
DROP SCHEMA public CASCADE;
ALTER SCHEMA renamed RENAME TO public;

--
-- A restored row: a superuser's raises the sequence, another one's is ignored
--

SELECT horizon FROM ulid_horizon \gset
BEGIN;
DELETE FROM ulid_horizon;
SET LOCAL ROLE publish_owner;
INSERT INTO ulid_horizon (horizon) VALUES ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
RESET ROLE;
SELECT count(*) FROM ulid_horizon;
SELECT last_value = ulid_extract_unix_ms(:'horizon') AS is_unchanged FROM ulid_clock;
INSERT INTO ulid_horizon (horizon)
SELECT ulid_lower_bound(ulid_extract_timestamp(:'horizon') + interval '1 hour');
SELECT horizon > :'horizon' AS is_restored, last_value = ulid_extract_unix_ms(horizon) AS is_reached
FROM ulid_horizon, ulid_clock;
COMMIT;
-- this session has read the sequence before; a new one continues after it
INSERT INTO outbox (n) VALUES (4) RETURNING id < ulid_published_horizon() AS is_below;
\c
SET client_min_messages = error;
INSERT INTO outbox (n) VALUES (5) RETURNING id > ulid_published_horizon() AS is_above;
-- who may not read the sequence continues after it, too
REVOKE ALL ON ulid_clock FROM PUBLIC;
SET ROLE publish_app;
SELECT gen_ordered_ulid() > ulid_published_horizon() AS is_above;
RESET ROLE;
GRANT SELECT ON ulid_clock TO PUBLIC;

-- nor does a subscription of another role insert a row
BEGIN;
DELETE FROM ulid_horizon;
SET LOCAL session_replication_role = replica;
SET LOCAL ROLE publish_owner;
INSERT INTO ulid_horizon (horizon) VALUES ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
RESET ROLE;
SELECT count(*) FROM ulid_horizon;
ROLLBACK;
-- the row of a publisher, or of a dump that was restored with triggers disabled, has come without
-- the sequence; ids continue after it as soon as this server publishes
BEGIN;
DELETE FROM ulid_horizon;
ALTER TABLE ulid_horizon DISABLE TRIGGER ALL;
INSERT INTO ulid_horizon (horizon) SELECT ulid_lower_bound(now() + interval '3 hours');
ALTER TABLE ulid_horizon ENABLE ALWAYS TRIGGER ulid_horizon_restore;
COMMIT;
SELECT gen_ordered_ulid() > ulid_published_horizon() AS is_above;
CALL ulid_publish_horizon();
SELECT gen_ordered_ulid() > ulid_published_horizon() AS is_above,
    ulid_published_horizon() > ulid_lower_bound(now() + interval '2 hours') AS is_kept,
    last_value = ulid_extract_unix_ms(ulid_published_horizon()) AS is_reached FROM ulid_clock;
-- a row that is far ahead is not followed without a word
UPDATE ulid_horizon SET horizon = '02000000000000000000000000';
CALL ulid_publish_horizon();
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_advance_ordered_time('02000000000000000000000000', true) IS NOT NULL AS is_advanced;
CALL ulid_publish_horizon();
SELECT gen_ordered_ulid() > ulid_published_horizon() AS is_above,
    ulid_published_horizon() > '02000000000000000000000000' AS is_later;

--
-- A position that is ahead is an error where it is read. In the statement that reads the rows, a
-- plan may never call the function.
--

CREATE TABLE consumer (last_id ulid);
INSERT INTO consumer VALUES ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
\set VERBOSITY sqlstate
SELECT last_id, ulid_published_horizon(last_id) FROM consumer;
\set VERBOSITY default

--
-- A reset forgets the published horizon, also for a role to which a superuser has granted it
--

SET ROLE publish_app;
\set VERBOSITY sqlstate
SELECT ulid_reset_ordered_time();
\set VERBOSITY default
RESET ROLE;
GRANT EXECUTE ON FUNCTION ulid_reset_ordered_time() TO publish_app;
SET ROLE publish_app;
SELECT ulid_reset_ordered_time();
RESET ROLE;
SELECT count(*), min(last_value) FROM ulid_clock LEFT JOIN ulid_horizon ON true
WHERE horizon IS NULL;
SELECT ulid_published_horizon();
CALL ulid_publish_horizon();
SELECT abs(extract(epoch FROM ulid_extract_timestamp(ulid_published_horizon()) - now())) < 600
    AS is_of_the_clock;

-- many publications do not move the id clock ahead: not by a millisecond for each
DO $$ BEGIN
    FOR n IN 1 .. 2000 LOOP
        PERFORM gen_ordered_ulid();
        COMMIT;
        CALL ulid_publish_horizon();
    END LOOP;
END $$;
SELECT ulid_ordered_time() < clock_timestamp() + interval '0.5 s' AS is_of_the_clock;

--
-- Another extension of the same name has another sequence, which a session that has generated ids
-- reads again
--

DROP TABLE outbox, uuid_outbox, consumer;
DROP EXTENSION ulid;
CREATE EXTENSION ulid;
SELECT setval('ulid_clock', (extract(epoch FROM now()) * 1000)::bigint + 7200000) > 0 AS is_set;
SELECT ulid_extract_timestamp(gen_ordered_ulid()) > now() + interval '1 hour' AS is_after;
SELECT ulid_reset_ordered_time();

ALTER DATABASE ulid_publish OWNER TO :owner;
\c :shared
DROP DATABASE ulid_publish;
DROP ROLE publish_app, publish_owner;
