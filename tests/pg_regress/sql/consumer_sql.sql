-- Consumers of ulid_sql. The text is that of the extension, whose test is consumer.sql.

\pset format unaligned
\pset tuples_only on
\set SHOW_CONTEXT never
\set VERBOSITY terse
\set none '''00000000-0000-0000-0000-000000000000'''
CREATE SCHEMA by_sql;
CREATE EXTENSION ulid_sql SCHEMA by_sql;
SET search_path = by_sql;
CREATE ROLE regress_consumer_reader;
GRANT USAGE ON SCHEMA by_sql TO regress_consumer_reader;
\set code '\\echo :LAST_ERROR_SQLSTATE'
CREATE TABLE event (id uuid PRIMARY KEY DEFAULT gen_ordered_ulid(), n int);
GRANT SELECT ON event TO regress_consumer_reader;
INSERT INTO event (n) VALUES (1);
CALL ulid_refresh_horizon();
SELECT ulid_create_consumer('mail', 'event');
SELECT ulid_create_consumer('mail', 'event');
:code
SELECT ulid_create_consumer('all', 'event', start => :none);
SELECT ulid_create_consumer('x', 'event', key => 'n');
:code
CREATE TABLE other (id uuid PRIMARY KEY DEFAULT gen_ulid());
SELECT ulid_create_consumer('x', 'other');
:code
SELECT tgname FROM pg_trigger WHERE tgrelid = 'event'::regclass;
INSERT INTO event SELECT FROM generate_series(2, 4);
UPDATE event SET n = 2 WHERE n IS NULL;
CALL ulid_refresh_horizon();
CALL ulid_next_batch('mail', 0);
:code
BEGIN ISOLATION LEVEL REPEATABLE READ;
CALL ulid_next_batch('mail');
:code
ROLLBACK;
BEGIN;
CALL ulid_next_batch('mail', 2) \gset
SELECT count(*) FROM event WHERE id BETWEEN :'batch_start' AND :'batch_end';
SELECT ulid_finish_batch('mail');
CALL ulid_next_batch('mail', 2) \gset
SELECT count(*) FROM event WHERE id >= :'batch_start' AND id < :'batch_end';
SELECT ulid_finish_batch('mail');
CALL ulid_next_batch('mail', 2) \gset
SELECT :'batch_start' = :'batch_end';
SELECT ulid_finish_batch('mail');
COMMIT;
SELECT ulid_finish_batch('mail');
:code
BEGIN;
CALL ulid_next_batch('all') \gset
SELECT ulid_defer_batch('all') AS batch \gset
COMMIT;
SELECT ulid_finish_batch('all', :'batch');
SELECT ulid_finish_batch('all', :'batch');
:code
UPDATE ulid_consumer SET position = gen_ordered_ulid() WHERE name = 'mail';
:code
SELECT ulid_read_by_all('event') = position FROM ulid_consumer WHERE name = 'mail';
SELECT ulid_delete_read('event', 3), ulid_delete_read('event');
SELECT name, owner = current_user, relation, key, position_time <= now(), unread, behind, is_guarded
FROM ulid_consumer_lag ORDER BY name;
SELECT ulid_wait_for_consumer('all', :none);
SELECT ulid_move_consumer('all', relation => 'other');
:code
SELECT ulid_move_consumer('all', :none, 'event');
SET ROLE regress_consumer_reader;
SELECT ulid_create_consumer('x', 'event');
:code
SELECT ulid_drop_consumer('all');
:code
RESET ROLE;
GRANT INSERT, UPDATE, DELETE ON ulid_consumer TO regress_consumer_reader;
SET ROLE regress_consumer_reader;
SELECT ulid_create_consumer('x', 'event');
SELECT ulid_drop_consumer('all');
:code
SELECT name, behind FROM ulid_consumer_lag ORDER BY name;
RESET ROLE;
DROP TABLE event;
CALL ulid_next_batch('mail');
:code
SELECT ulid_drop_consumer('mail');

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA by_sql CASCADE;
DROP OWNED BY regress_consumer_reader;
DROP ROLE regress_consumer_reader;
