-- Consumers: what a batch has, who may do what, and each error. tests/t/059_consumers.pl shows that
-- no row is lost beside other sessions, tests/isolation what two sessions do step by step.

\set SHOW_CONTEXT never
\set VERBOSITY terse
\set code '\\echo :LAST_ERROR_SQLSTATE'
\pset null null
\pset format unaligned
\pset tuples_only on
SELECT current_database() AS shared \gset
CREATE ROLE consumer_owner;
CREATE ROLE consumer_app;
CREATE ROLE consumer_other;
CREATE ROLE consumer_none;
CREATE DATABASE ulid_consumer_test OWNER consumer_owner;
\c ulid_consumer_test
\set SHOW_CONTEXT never
\set VERBOSITY terse
SET timezone = 'UTC';
-- whatever the default privileges are
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC;
CREATE EXTENSION ulid;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM PUBLIC;
GRANT ALL ON SCHEMA public TO consumer_app, consumer_other;
GRANT consumer_owner TO consumer_app;
GRANT EXECUTE ON FUNCTION ulid_refresh() TO consumer_app, consumer_other;
SET ROLE consumer_owner;
GRANT INSERT, UPDATE, DELETE ON ulid_consumer TO consumer_app, consumer_other;
RESET ROLE;
REVOKE consumer_owner FROM consumer_app;
SET ROLE consumer_app;

--
-- Creating
--

CREATE TABLE outbox (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), n integer);
SELECT ulid_create_consumer('mail', 'outbox');
:code
SELECT ulid_create_consumer('mail', 'outbox', start => '00000000000000000000000001');
:code
INSERT INTO outbox (n) VALUES (1);
CALL ulid_refresh_horizon();
SELECT ulid_create_consumer('mail', 'outbox');
SELECT ulid_create_consumer('mail', 'outbox');
:code
SELECT ulid_create_consumer('all', 'outbox', start => '00000000000000000000000000');
SELECT name, owner, relation, key, moved_at <= clock_timestamp() FROM ulid_consumer ORDER BY name;
SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'outbox'::regclass;
SHOW lock_timeout;
-- with keys that are ahead of each horizon, most are never read
CREATE TABLE random (id uuid PRIMARY KEY DEFAULT gen_ordered_uuid_v7());
INSERT INTO random VALUES ('f47ac10b-58cc-4372-a567-0e02b2c3d479');
SELECT ulid_create_consumer('random', 'random');
UPDATE random SET id = DEFAULT;
SELECT ulid_drop_consumer('random'), ulid_create_consumer('random', 'random');
SELECT ulid_drop_consumer('random');
DROP TABLE random;
SELECT ulid_create_consumer(NULL, 'outbox');
:code
SELECT ulid_create_consumer('', 'outbox');
:code
SELECT ulid_create_consumer('x', NULL);
:code
SELECT ulid_create_consumer('x', 'nothing');
:code
SELECT ulid_create_consumer('x', 'outbox', key => 'm');
:code
SELECT ulid_create_consumer('x', 'outbox', key => 'n');
:code
SELECT ulid_create_consumer('x', 'outbox', start => '7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
:code
CREATE TABLE t (id ulid NOT NULL DEFAULT gen_ordered_ulid(),
    changed uuid DEFAULT gen_ordered_uuid_v7());
SELECT ulid_create_consumer('x', 't');
:code
SELECT ulid_create_consumer('x', 't', key => 'id');
:code
CREATE INDEX ON t (changed, id);
SELECT ulid_create_consumer('x', 't', key => 'changed');
:code
ALTER TABLE t ALTER changed SET NOT NULL;
SELECT ulid_create_consumer('x', 't', key => 'changed', guard => false);
SELECT count(*) FROM pg_trigger WHERE tgrelid = 't'::regclass;
DROP TABLE t;
-- a constraint that is not validated, from PostgreSQL 18 on, is none
CREATE TABLE t (changed ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
ALTER TABLE t DROP CONSTRAINT t_pkey;
ALTER TABLE t ALTER changed DROP NOT NULL;
CREATE INDEX ON t (changed);
SELECT current_setting('server_version_num')::integer >= 180000 AS is_18 \gset
\if :is_18
ALTER TABLE t ADD CONSTRAINT checked NOT NULL changed NOT VALID;
\endif
SELECT ulid_create_consumer('x', 't', key => 'changed');
:code
DROP TABLE t;
-- each column has a guard of its own
CREATE TABLE t (id ulid PRIMARY KEY DEFAULT gen_ulid(),
    changed ulid NOT NULL UNIQUE DEFAULT gen_ordered_ulid());
SELECT ulid_create_consumer('first', 't', key => 'changed');
SELECT ulid_create_consumer('second', 't');
:code
ALTER TABLE t ALTER id SET DEFAULT gen_ordered_ulid();
SELECT ulid_create_consumer('second', 't', guard => false);
SELECT name, is_guarded FROM ulid_consumer_lag WHERE name IN ('first', 'second') ORDER BY name;
SELECT ulid_create_consumer('third', 't');
SELECT tgname LIKE 'ulid_ordered_guard_%_id', tgargs FROM pg_trigger
WHERE tgrelid = 't'::regclass ORDER BY tgname;
SELECT name, is_guarded FROM ulid_consumer_lag WHERE name IN ('first', 'second') ORDER BY name;
INSERT INTO t (id) VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV');
:code
SELECT ulid_delete_read('t');
:code
SELECT ulid_drop_consumer('first'), ulid_drop_consumer('second'), ulid_drop_consumer('third');
DROP TABLE t;
-- one that lets something pass is none
CREATE TABLE t (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
CREATE TRIGGER g AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('id');
CREATE TRIGGER h AFTER INSERT OR UPDATE OF id ON t FOR EACH ROW
    EXECUTE FUNCTION ulid_ordered_guard('id');
CREATE CONSTRAINT TRIGGER i AFTER INSERT OR UPDATE ON t DEFERRABLE FOR EACH ROW
    EXECUTE FUNCTION ulid_ordered_guard('id');
SELECT ulid_create_consumer('first', 't');
SELECT is_guarded FROM ulid_consumer_lag WHERE name = 'first';
DROP TRIGGER ulid_ordered_guard ON t;
SELECT is_guarded FROM ulid_consumer_lag WHERE name = 'first';
SELECT ulid_drop_consumer('first');
DROP TABLE t;
-- a trigger that lets an insert pass, or is not for each row, is none
CREATE TABLE t (id ulid PRIMARY KEY DEFAULT gen_ulid());
CREATE TRIGGER g AFTER UPDATE ON t FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('id');
CREATE TRIGGER h AFTER INSERT OR UPDATE ON t FOR EACH ROW WHEN (NEW.id IS NULL)
    EXECUTE FUNCTION ulid_ordered_guard('id');
SELECT ulid_create_consumer('first', 't');
:code
DROP TABLE t;
-- a partition that has a guard already
CREATE TABLE t (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid()) PARTITION BY RANGE (id);
CREATE TABLE t_1 PARTITION OF t DEFAULT;
SELECT ulid_create_consumer('first', 't_1');
SELECT ulid_create_consumer('second', 't');
SELECT ulid_drop_consumer('first'), ulid_drop_consumer('second');
DROP TABLE t;
-- ids that are not ordered
CREATE TABLE t (id ulid PRIMARY KEY DEFAULT gen_ulid());
SELECT ulid_create_consumer('y', 't');
:code
DROP TABLE t;
-- by a trigger, in a domain, with other columns in the primary key
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN NEW.id := public.gen_ordered_ulid(); RETURN NEW; END';
CREATE DOMAIN id_of_t AS ulid;
CREATE TABLE t (id id_of_t, n integer, PRIMARY KEY (id) INCLUDE (n));
CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fill();
SELECT ulid_create_consumer('y', 't', guard => false);
INSERT INTO t (n) VALUES (1);
CALL ulid_refresh_horizon();
BEGIN;
CALL ulid_next_batch('y') \gset
SELECT n FROM t WHERE id >= :'batch_start'::uuid AND id < :'batch_end'::uuid;
SELECT ulid_finish_batch('y');
COMMIT;
SELECT ulid_drop_consumer('y');
-- what is no table
CREATE VIEW v AS SELECT * FROM t;
SELECT ulid_create_consumer('y', 'v', key => 'id');
:code
CREATE TEMP TABLE temporary (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
SELECT ulid_create_consumer('y', 'temporary');
:code
DROP TABLE temporary;
RESET ROLE;
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
GRANT USAGE ON FOREIGN SERVER nowhere TO consumer_app;
SET ROLE consumer_app;
CREATE FOREIGN TABLE f (id ulid NOT NULL DEFAULT gen_ordered_ulid()) SERVER nowhere;
SELECT ulid_create_consumer('y', 'f', key => 'id');
:code
CREATE TABLE p (id ulid NOT NULL DEFAULT gen_ordered_ulid(), kind integer NOT NULL)
    PARTITION BY LIST (kind);
CREATE INDEX ON p (id);
CREATE TABLE p_1 PARTITION OF p FOR VALUES IN (1);
SELECT ulid_create_consumer('parts', 'p', key => 'id');
CREATE FOREIGN TABLE p_2 PARTITION OF p FOR VALUES IN (2) SERVER nowhere;
SELECT ulid_create_consumer('y', 'p', key => 'id');
:code
DROP FOREIGN TABLE p_2;
INSERT INTO p (kind) VALUES (1);
CALL ulid_refresh_horizon();

--
-- Batches
--

-- nothing is left where there is no row
SELECT xmin AS before FROM ulid_consumer WHERE name = 'mail' \gset
BEGIN;
CALL ulid_next_batch('mail') \gset
SELECT :'batch_start' = :'batch_end';
SELECT count(*) FROM pg_locks WHERE relation IN ('outbox'::regclass, 'outbox_pkey'::regclass)
    AND pid = pg_backend_pid();
SELECT ulid_finish_batch('mail');
SELECT pg_current_xact_id_if_assigned();
COMMIT;
SELECT xmin = :'before' FROM ulid_consumer WHERE name = 'mail';
-- the rows, between their ids
INSERT INTO outbox (n) VALUES (2);
INSERT INTO outbox (n) VALUES (3);
INSERT INTO outbox (n) VALUES (4);
CALL ulid_refresh_horizon();
INSERT INTO outbox (n) VALUES (5);
BEGIN;
CALL ulid_next_batch('mail', 2) \gset
SELECT count(*) FROM pg_locks WHERE relation IN ('outbox'::regclass, 'outbox_pkey'::regclass)
    AND pid = pg_backend_pid();
SELECT n FROM outbox WHERE id >= :'batch_start'::uuid AND id < :'batch_end'::uuid ORDER BY id;
SELECT n FROM outbox WHERE id BETWEEN :'batch_start'::uuid AND :'batch_end'::uuid ORDER BY id;
SELECT n FROM outbox WHERE id > :'batch_start'::uuid AND id <= :'batch_end'::uuid ORDER BY id;
SELECT ulid_finish_batch('mail');
-- another one in the same transaction
CALL ulid_next_batch('mail', max_rows => 2) \gset
SELECT n FROM outbox WHERE id >= :'batch_start'::uuid AND id < :'batch_end'::uuid ORDER BY id;
SELECT ulid_finish_batch('mail');
COMMIT;
SELECT position = :'batch_end' FROM ulid_consumer WHERE name = 'mail';
-- the storage is known now, so the next batch waits only for whoever has changed it since
SELECT storage_hash = ulid_consumer_storage_hash('outbox'::regclass) FROM ulid_consumer
    WHERE name = 'mail';
-- what is not finished is read again
BEGIN;
CALL ulid_next_batch('all') \gset
SELECT n FROM outbox WHERE id >= :'batch_start'::uuid AND id < :'batch_end'::uuid ORDER BY id;
COMMIT;
BEGIN;
CALL ulid_next_batch('all') \gset
SELECT n FROM outbox WHERE id >= :'batch_start'::uuid AND id < :'batch_end'::uuid ORDER BY id;
SELECT ulid_finish_batch('all');
ROLLBACK;
-- a part, up to an id
SELECT id AS up_to FROM outbox WHERE n = 3 \gset
BEGIN;
CALL ulid_next_batch('all', up_to => :'up_to') \gset
SELECT n FROM outbox WHERE id >= :'batch_start'::uuid AND id < :'batch_end'::uuid ORDER BY id;
SELECT ulid_finish_batch('all');
COMMIT;
\set VERBOSITY sqlstate
CALL ulid_next_batch('all', up_to => '00000000000000000000000001');
-- never above the horizon
BEGIN;
CALL ulid_next_batch('all', up_to => '7ZZZZZZZZZZZZZZZZZZZZZZZZZ') \gset
SELECT :'batch_end'::uuid <= horizon FROM ulid_horizon;
ROLLBACK;
\set VERBOSITY terse
-- rows of one id, and ids without a gap, are in one batch
CREATE TABLE u (id integer PRIMARY KEY, changed uuid NOT NULL DEFAULT gen_ordered_uuid_v7());
CREATE INDEX ON u (changed);
INSERT INTO u SELECT n, '00000000-0000-0000-0000-0000000000ff' FROM generate_series(1, 250) AS n;
INSERT INTO u SELECT 1000 + n, ('00000000-0000-0000-0000-' || lpad(to_hex(n), 12, '0'))::uuid
FROM generate_series(256, 2600) AS n;
INSERT INTO u SELECT 5000 + n, '00000000-0000-0000-0000-000000000708'
    FROM generate_series(1, 3) AS n;
INSERT INTO u SELECT 6000 + n, '00000000-0000-0000-0000-00000000ffff'
    FROM generate_series(1, 3) AS n;
INSERT INTO u VALUES (0, '00000000-0000-0000-0001-000000000000');
SELECT ulid_create_consumer('changes', 'u', key => 'changed', start => '00000000000000000000000000',
    guard => false);
BEGIN;
CALL ulid_next_batch('changes', 1) \gset
SELECT :'batch_end', count(*) FROM u WHERE changed >= :'batch_start' AND changed < :'batch_end';
SELECT ulid_finish_batch('changes');
CALL ulid_next_batch('changes', 1) \gset
SELECT :'batch_end', count(*) FROM u WHERE changed >= :'batch_start' AND changed < :'batch_end';
SELECT ulid_finish_batch('changes');
CALL ulid_next_batch('changes', 1) \gset
SELECT :'batch_end', count(*) FROM u WHERE changed >= :'batch_start' AND changed < :'batch_end';
SELECT ulid_finish_batch('changes');
COMMIT;
-- a row that is changed is read again
UPDATE u SET changed = gen_ordered_uuid_v7() WHERE id = 7;
CALL ulid_refresh_horizon();
BEGIN;
CALL ulid_next_batch('changes') \gset
SELECT id FROM u WHERE changed >= :'batch_start' AND changed < :'batch_end';
SELECT ulid_finish_batch('changes');
COMMIT;
-- work outside of the transaction
BEGIN;
CALL ulid_next_batch('all') \gset
SELECT n FROM outbox WHERE id >= :'batch_start'::uuid AND id < :'batch_end'::uuid ORDER BY id;
SAVEPOINT s;
SELECT ulid_defer_batch('all') AS batch \gset
ROLLBACK TO s;
SELECT ulid_finish_batch('all', :'batch');
:code
ROLLBACK TO s;
SELECT ulid_defer_batch('all') AS batch \gset
SAVEPOINT s;
SELECT ulid_finish_batch('all');
:code
ROLLBACK TO s;
SELECT ulid_defer_batch('nobody');
:code
ROLLBACK TO s;
COMMIT;
SELECT ulid_finish_batch('mail', :'batch');
:code
SELECT ulid_finish_batch('all', NULL);
:code
SELECT ulid_finish_batch('all', '[1]');
:code
SELECT ulid_finish_batch('all', '{"consumer": "all"}');
:code
-- a copy of the server lacks the batch, or has deferred it itself
BEGIN;
UPDATE ulid_consumer SET deferred_at = NULL WHERE name = 'all';
SELECT ulid_finish_batch('all', :'batch');
:code
ROLLBACK;
BEGIN;
UPDATE ulid_consumer SET deferred_at = ARRAY[clock_timestamp()] WHERE name = 'all';
SELECT ulid_finish_batch('all', :'batch');
:code
ROLLBACK;
-- another session may defer it, too, which the copy may lack
BEGIN;
CALL ulid_next_batch('all') \gset
SELECT ulid_defer_batch('all') AS later \gset
COMMIT;
BEGIN;
UPDATE ulid_consumer SET deferred_at = deferred_at[2:] WHERE name = 'all';
SELECT ulid_finish_batch('all', :'later');
:code
ROLLBACK;
SELECT cardinality(deferred_at) FROM ulid_consumer WHERE name = 'all';
SELECT ulid_finish_batch('all', :'batch');
SELECT position = :'batch_end', deferred_at FROM ulid_consumer WHERE name = 'all';
SELECT ulid_finish_batch('all', :'batch');
:code
-- also where there was no row
BEGIN;
CALL ulid_next_batch('all') \gset
SELECT :'batch_start' = :'batch_end';
SELECT ulid_defer_batch('all') AS batch \gset
COMMIT;
SELECT ulid_finish_batch('all', :'batch');

--
-- What is refused
--

INSERT INTO outbox (n) VALUES (6);
CALL ulid_refresh_horizon();
CALL ulid_next_batch('nobody');
:code
CALL ulid_next_batch(NULL);
:code
CALL ulid_next_batch('mail', 0);
:code
CALL ulid_next_batch('mail', -1);
:code
CALL ulid_next_batch('mail', NULL);
:code
BEGIN ISOLATION LEVEL REPEATABLE READ;
CALL ulid_next_batch('mail');
:code
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
CALL ulid_next_batch('mail');
:code
ROLLBACK;
BEGIN ISOLATION LEVEL READ UNCOMMITTED;
CALL ulid_next_batch('mail') \gset
SELECT :'batch_start' < :'batch_end';
ROLLBACK;
-- twice; another consumer's
BEGIN;
CALL ulid_next_batch('mail') \gset
SAVEPOINT a;
CALL ulid_next_batch('mail');
:code
ROLLBACK TO a;
CALL ulid_next_batch('all');
:code
ROLLBACK TO a;
SELECT ulid_finish_batch('all');
:code
ROLLBACK TO a;
SELECT ulid_finish_batch('mail');
SELECT ulid_finish_batch('mail');
:code
ROLLBACK;
-- without a batch, with autocommit, after a savepoint
SELECT ulid_finish_batch('mail');
:code
CALL ulid_next_batch('mail') \gset
SELECT ulid_finish_batch('mail');
:code
BEGIN;
SAVEPOINT a;
CALL ulid_next_batch('mail') \gset
ROLLBACK TO a;
SELECT ulid_finish_batch('mail');
:code
ROLLBACK;
SELECT ulid_finish_batch('nobody');
:code
SELECT ulid_defer_batch('mail');
:code
-- a function that reads one in a statement
SELECT ulid_next_batch('mail');
:code
-- the table has changed at a depth, where the hash is that of the list
BEGIN;
CREATE TABLE p_2 PARTITION OF p FOR VALUES IN (2) PARTITION BY HASH (id);
CREATE TABLE p_2_0 PARTITION OF p_2 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE p_2_1 PARTITION OF p_2 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CALL ulid_next_batch('parts') \gset
SELECT count(*), bit_xor(number) = ulid_consumer_storage_hash('p'::regclass)
FROM unnest(ulid_consumer_storage('p'::regclass, NULL)) AS number;
SAVEPOINT a;
TRUNCATE p_2_1;
SELECT ulid_finish_batch('parts');
:code
ROLLBACK;
-- and where a table has several parents, at several depths
BEGIN;
CREATE TABLE top (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
CREATE TABLE middle () INHERITS (top);
CREATE TABLE low () INHERITS (top, middle);
CREATE TABLE lowest () INHERITS (low, middle);
SELECT count(*), bit_xor(number) = ulid_consumer_storage_hash('top'::regclass)
FROM unnest(ulid_consumer_storage('top'::regclass, NULL)) AS number;
SAVEPOINT a;
SELECT ulid_consumer_storage_hash('top'::regclass) AS before \gset
TRUNCATE lowest;
SELECT ulid_consumer_storage_hash('top'::regclass) <> :before;
ROLLBACK;

--
-- Moving and dropping; tables that are replaced and dropped
--

ALTER TABLE outbox RENAME TO renamed;
SELECT behind > interval '0' FROM ulid_consumer_lag WHERE name = 'mail';
CALL ulid_next_batch('mail') \gset
SELECT :'batch_start' < :'batch_end';
BEGIN;
CALL ulid_next_batch('mail') \gset
CREATE TABLE outbox (LIKE renamed INCLUDING ALL);
SELECT ulid_finish_batch('mail');
:code
COMMIT;
CREATE TABLE outbox (LIKE renamed INCLUDING ALL);
-- rows that are not in the new table would not be read
SELECT unread IS NOT NULL, behind FROM ulid_consumer_lag WHERE name = 'mail';
INSERT INTO outbox (n) VALUES (99);
SELECT ulid_move_consumer('mail', relation => 'outbox');
:code
DELETE FROM outbox;
-- unless they are left out
BEGIN;
SELECT ulid_move_consumer('mail', position::ulid, 'outbox') FROM ulid_consumer
WHERE name = 'mail';
SELECT relation FROM ulid_consumer WHERE name = 'mail';
ROLLBACK;
SELECT ulid_wait_for_consumer('mail', position::ulid, '0 s') FROM ulid_consumer
WHERE name = 'mail';
-- nor if some of them are there
INSERT INTO outbox SELECT * FROM renamed ORDER BY id DESC OFFSET 1;
SELECT ulid_move_consumer('mail', relation => 'outbox');
:code
INSERT INTO outbox SELECT * FROM renamed ORDER BY id DESC LIMIT 1;
CALL ulid_next_batch('mail');
:code
SELECT ulid_move_consumer('mail', relation => 'outbox');
SELECT ulid_move_consumer('all', relation => 'renamed');
BEGIN;
CALL ulid_next_batch('all') \gset
SELECT n FROM renamed WHERE id >= :'batch_start'::uuid AND id < :'batch_end'::uuid ORDER BY id;
COMMIT;
BEGIN;
CALL ulid_next_batch('mail') \gset
SELECT n FROM outbox WHERE id >= :'batch_start'::uuid AND id < :'batch_end'::uuid ORDER BY id;
ROLLBACK;
SELECT ulid_move_consumer('mail', relation => 'u');
:code
CREATE TABLE unordered (id ulid PRIMARY KEY DEFAULT gen_ulid());
SELECT ulid_move_consumer('mail', relation => 'unordered');
:code
DROP TABLE unordered;
\set VERBOSITY sqlstate
SELECT ulid_move_consumer('mail', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
\set VERBOSITY terse
SELECT ulid_move_consumer('nobody', '00000000000000000000000000');
:code
SELECT ulid_drop_consumer('nobody');
:code
SELECT ulid_drop_consumer('changes');
ALTER TABLE p RENAME id TO other;
CALL ulid_next_batch('parts');
:code
DROP TABLE p;
CALL ulid_next_batch('parts');
:code
SELECT ulid_move_consumer('parts', '00000000000000000000000000');
:code
-- a table that has got the name of the other one is replaced, too
CREATE TABLE again (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), n integer);
SELECT ulid_create_consumer('again', 'again');
CREATE TABLE again_new (LIKE again INCLUDING ALL);
BEGIN;
SELECT ulid_move_consumer('again', relation => 'again_new');
ALTER TABLE again RENAME TO again_old;
ALTER TABLE again_new RENAME TO again;
COMMIT;
INSERT INTO again (n) VALUES (1);
CALL ulid_refresh_horizon();
BEGIN;
CALL ulid_next_batch('again') \gset
SELECT n FROM again WHERE id >= :'batch_start'::uuid AND id < :'batch_end'::uuid;
SELECT ulid_finish_batch('again');
COMMIT;
-- also while a batch is deferred
INSERT INTO again (n) VALUES (2);
CALL ulid_refresh_horizon();
BEGIN;
CALL ulid_next_batch('again') \gset
SELECT ulid_defer_batch('again') AS batch \gset
COMMIT;
ALTER TABLE again RENAME TO again_older;
CREATE TABLE again (LIKE again_older INCLUDING ALL);
SELECT ulid_finish_batch('again', :'batch');
CALL ulid_next_batch('again');
:code
SELECT ulid_drop_consumer('again');
DROP TABLE again, again_old, again_older;
-- a dump has the name that another table has taken
BEGIN;
CREATE TABLE named (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
CREATE TABLE named_old (LIKE named INCLUDING ALL);
INSERT INTO ulid_consumer (name, relation, relation_name, key, position) VALUES ('named',
    'named_old', 'public.named', 'id', '00000000-0000-0000-0000-000000000000');
CALL ulid_next_batch('named');
ROLLBACK;
-- a move keeps the guard, if there was one
BEGIN;
CREATE TABLE guarded (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
CREATE TABLE unguarded (LIKE guarded INCLUDING ALL);
SELECT ulid_create_consumer('guarded', 'guarded');
SELECT ulid_create_consumer('unguarded', 'unguarded', guard => false);
CREATE TABLE another (LIKE guarded INCLUDING ALL);
SELECT ulid_move_consumer('unguarded', relation => 'another');
SELECT is_guarded FROM ulid_consumer_lag WHERE name = 'unguarded';
SELECT ulid_move_consumer('guarded', relation => 'another');
SELECT is_guarded FROM ulid_consumer_lag WHERE name = 'guarded';
DROP TABLE another, unguarded;
CREATE TABLE unguarded (LIKE guarded INCLUDING ALL);
SELECT ulid_move_consumer('guarded', relation => 'unguarded');
SELECT is_guarded FROM ulid_consumer_lag WHERE name = 'guarded';
RESET ROLE;
DROP TRIGGER ulid_ordered_guard ON guarded;
ALTER TABLE guarded OWNER TO consumer_other;
GRANT SELECT ON guarded TO consumer_app;
SET ROLE consumer_app;
SELECT ulid_move_consumer('guarded', relation => 'guarded');
ROLLBACK;
-- not by hand, either
UPDATE ulid_consumer SET position = gen_ordered_ulid() WHERE name = 'mail';
UPDATE ulid_consumer SET position = gen_ordered_ulid(), moved_at = now() WHERE name = 'mail';
-- the horizon itself is not above; everything is while there is none
BEGIN;
UPDATE ulid_consumer SET position = (SELECT horizon FROM ulid_horizon) WHERE name = 'mail';
ROLLBACK;
BEGIN;
RESET ROLE;
DELETE FROM ulid_horizon;
UPDATE ulid_consumer SET position = gen_ordered_ulid() WHERE name = 'mail';
ROLLBACK;
-- a snapshot could be older than the horizon
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT ulid_create_consumer('repeatable', 'outbox');
:code
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
RESET ROLE;
SELECT ulid_reset_ordered_time();
:code
ROLLBACK;
-- the horizon was reset
SELECT position AS before FROM ulid_consumer WHERE name = 'mail' \gset
UPDATE ulid_consumer SET position = 'ffffffff-ffff-ffff-ffff-ffffffffffff',
    moved_at = clock_timestamp() WHERE name = 'mail';
\set VERBOSITY sqlstate
CALL ulid_next_batch('mail');
\set VERBOSITY terse
SELECT ulid_wait_for_consumer('mail', '00000000000000000000000000', '0 s');
SELECT unread, behind FROM ulid_consumer_lag WHERE name = 'mail';
SELECT ulid_read_by_all('outbox'), ulid_delete_read('outbox');
UPDATE ulid_consumer SET position = :'before' WHERE name = 'mail';

--
-- What all have read; how far they are behind
--

DROP TABLE renamed;
SELECT ulid_drop_consumer('all');
SELECT ulid_create_consumer('first', 'outbox', start => '00000000000000000000000000');
SELECT ulid_read_by_all('outbox');
SELECT ulid_delete_read('outbox');
BEGIN;
CALL ulid_next_batch('first', 3) \gset
SELECT ulid_finish_batch('first');
COMMIT;
SELECT n FROM outbox WHERE id >= ulid_read_by_all('outbox') ORDER BY id LIMIT 1;
-- it is evaluated once, not for each row
EXPLAIN (COSTS OFF) DELETE FROM outbox WHERE id < ulid_read_by_all('outbox');
-- the session remembers where it has ended, unless it is rolled back
BEGIN;
SELECT ulid_delete_read('outbox', 2);
ROLLBACK;
SELECT ulid_delete_read('outbox', 2), ulid_delete_read('outbox', 2), ulid_delete_read('outbox');
SELECT 'ulid_consumer.deleted_' || 'outbox'::regclass::oid AS deleted \gset
SELECT substr(current_setting(:'deleted'), 38),
    left(current_setting(:'deleted'), 36)::uuid < ulid_read_by_all('outbox');
-- what is not of this function, or above the consumers, is not used
SELECT set_config(:'deleted', 'x', false) = 'x' AND ulid_delete_read('outbox') = 0;
SELECT set_config(:'deleted', 'ffffffff-ffff-ffff-ffff-ffffffffffff id', false) <> ''
    AND ulid_delete_read('outbox') = 0;
SELECT min(n) FROM outbox;
SELECT ulid_delete_read('outbox', 0);
:code
SELECT ulid_read_by_all('t') IS NULL;
SELECT ulid_delete_read('t');
:code
-- consumers of a table above and below count
CREATE TABLE parent (id ulid NOT NULL DEFAULT gen_ordered_ulid()) PARTITION BY RANGE (id);
CREATE INDEX ON parent (id);
CREATE TABLE child PARTITION OF parent DEFAULT;
ALTER TABLE child ALTER id SET DEFAULT gen_ordered_ulid();
SELECT ulid_create_consumer('above', 'parent', 'id', start => '00000000000000000000000002');
SELECT ulid_create_consumer('below', 'child', 'id', start => '00000000000000000000000001');
SELECT ulid_read_by_all('parent'), ulid_read_by_all('child');
-- those of one below count, but only tables below have consumers
SELECT ulid_drop_consumer('above');
SELECT ulid_delete_read('parent');
:code
-- by another column
ALTER TABLE parent ADD changed ulid NOT NULL DEFAULT gen_ordered_ulid();
CREATE INDEX ON child (changed);
SELECT ulid_create_consumer('above', 'parent', 'id', start => '00000000000000000000000002');
SELECT ulid_drop_consumer('below');
SELECT ulid_create_consumer('below', 'child', 'changed');
SELECT ulid_delete_read('parent');
:code
SELECT ulid_drop_consumer('above'), ulid_drop_consumer('below');
DROP TABLE parent;
-- those of another parent of a table below count, too
CREATE TABLE a (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
CREATE TABLE c (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
\set VERBOSITY sqlstate
CREATE TABLE d (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid()) INHERITS (a, c);
\set VERBOSITY terse
SELECT ulid_create_consumer('a', 'a'), ulid_create_consumer('c', 'c',
    start => '00000000000000000000000001');
SELECT ulid_read_by_all('a'), ulid_read_by_all('d');
SELECT ulid_drop_consumer('a'), ulid_drop_consumer('c');
DROP TABLE a, c, d;
SELECT name, owner, relation, key, position_time <= now(), moved_at <= now(),
    (SELECT n FROM outbox WHERE id = unread), behind > interval '0',
    horizon_time BETWEEN now() - interval '1 minute' AND now(),
    is_guarded
FROM ulid_consumer_lag WHERE name IN ('first', 'mail') ORDER BY name;
DELETE FROM outbox WHERE n > 3;
SELECT name, unread, behind FROM ulid_consumer_lag ORDER BY name;
-- waiting
INSERT INTO outbox (n) VALUES (7) RETURNING id \gset
SELECT ulid_wait_for_consumer('first', :'id', '50 ms');
CALL ulid_refresh_horizon();
SELECT ulid_wait_for_consumer('first', :'id', '0 s');
BEGIN;
CALL ulid_next_batch('first') \gset
SELECT ulid_finish_batch('first');
COMMIT;
-- the id of the horizon can still be committed
SELECT ulid_wait_for_consumer('first', ulid_current_horizon(), '0 s');
BEGIN;
SELECT ulid_wait_for_consumer('first', :'id');
SELECT count(*) FROM pg_locks WHERE relation = 'outbox'::regclass AND pid = pg_backend_pid();
COMMIT;
-- mail has not moved, but reads nothing else
SELECT ulid_move_consumer('mail', '00000000000000000000000000');
SELECT ulid_wait_for_consumer('mail', '00000000000000000000000001', '0 s');
SELECT ulid_wait_for_consumer('mail', NULL);
:code
SELECT ulid_wait_for_consumer('mail', '00000000000000000000000001', NULL);
:code
SELECT ulid_wait_for_consumer('nobody', '00000000000000000000000001');
:code
BEGIN;
INSERT INTO outbox (n) VALUES (8);
SELECT ulid_wait_for_consumer('mail', '00000000000000000000000001');
:code
ROLLBACK;
RESET ROLE;

--
-- Rights
--

-- a role without rights reads the list; it neither learns nor claims how far consumers are
SET ROLE consumer_none;
SELECT name, unread, behind FROM ulid_consumer_lag ORDER BY name;
SELECT ulid_wait_for_consumer('mail', :'id', '0 s');
SELECT ulid_create_consumer('z', 'outbox');
:code
CALL ulid_next_batch('mail');
:code
SELECT ulid_drop_consumer('mail');
:code
SELECT ulid_delete_read('outbox');
:code
INSERT INTO ulid_consumer VALUES ('z');
:code
TRUNCATE ulid_consumer;
:code
-- one that may have consumers changes its own only
SET ROLE consumer_other;
SELECT ulid_create_consumer('z', 'outbox');
:code
INSERT INTO ulid_consumer (name, relation, key, position)
VALUES ('z', 'outbox', 'id', '00000000-0000-0000-0000-000000000000');
:code
SELECT ulid_move_consumer('mail', '00000000000000000000000000');
:code
SELECT ulid_drop_consumer('mail');
:code
CREATE TABLE own (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), n integer);
INSERT INTO own (n) VALUES (1);
CALL ulid_refresh_horizon();
SELECT ulid_create_consumer('z', 'own', start => '00000000000000000000000000');
UPDATE ulid_consumer SET owner = 'consumer_app' WHERE name = 'z';
:code
INSERT INTO ulid_consumer (name, owner, relation, key, position)
VALUES ('zz', 'consumer_app', 'own', 'id', '00000000-0000-0000-0000-000000000000');
:code
UPDATE ulid_consumer SET relation = 'outbox' WHERE name = 'z';
:code
RESET ROLE;
-- from PostgreSQL 16 on, a member that cannot become the owner has none
SELECT current_setting('server_version_num')::integer >= 160000 AS is_16 \gset
\if :is_16
GRANT consumer_app TO consumer_other WITH INHERIT FALSE, SET FALSE;
\endif
SET ROLE consumer_other;
UPDATE ulid_consumer SET relation = 'own' WHERE name = 'mail';
:code
RESET ROLE;
\if :is_16
REVOKE consumer_app FROM consumer_other;
\endif
-- a member of the owner has its rights
GRANT consumer_other TO consumer_app;
SET ROLE consumer_app;
BEGIN;
CALL ulid_next_batch('z') \gset
SELECT n FROM own WHERE id >= :'batch_start'::uuid AND id < :'batch_end'::uuid;
SELECT ulid_finish_batch('z');
ROLLBACK;
-- the owner of the database moves and drops those of others, but chooses no table for them
SET ROLE consumer_owner;
SELECT ulid_move_consumer('mail', '00000000000000000000000001');
UPDATE ulid_consumer SET relation = 'own' WHERE name = 'mail';
:code
UPDATE ulid_consumer SET owner = 'consumer_app' WHERE name = 'z';
:code
BEGIN;
SELECT ulid_drop_consumer('mail');
INSERT INTO ulid_consumer (name, owner, relation, key, position)
VALUES ('mail', 'consumer_app', 'own', 'id', '00000000-0000-0000-0000-000000000000');
SELECT owner FROM ulid_consumer WHERE name = 'mail';
ROLLBACK;
-- nor a superuser runs what others have made of their tables
SET ROLE consumer_other;
CREATE FUNCTION runs_as() RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
    IF current_user <> 'consumer_other' THEN RAISE 'run as %', current_user; END IF;
    RETURN ''; END $$;
CREATE INDEX ON own ((runs_as() || id::text));
SET ROLE consumer_app;
CALL ulid_next_batch('z');
:code
RESET ROLE;
CALL ulid_next_batch('z');
:code
-- the view reads the table without a query
SELECT unread IS NOT NULL, behind > interval '0' FROM ulid_consumer_lag WHERE name = 'z';
SELECT ulid_wait_for_consumer('z', '00000000000000000000000001', '0 s');
-- also if the consumer is the superuser's
SET ROLE consumer_other;
DROP INDEX own_expr_idx;
CREATE FUNCTION tells() RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
    RAISE NOTICE 'run as %', current_user; RETURN ''; END $$;
CREATE INDEX ON own ((tells() || id::text));
RESET ROLE;
SELECT ulid_create_consumer('own', 'own');
SELECT unread, behind FROM ulid_consumer_lag WHERE name = 'own';
-- a move does not read the other table, either
CREATE TABLE another (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
SELECT ulid_create_consumer('another', 'another');
INSERT INTO another DEFAULT VALUES;
SELECT ulid_move_consumer('another', relation => 'own');
SELECT ulid_drop_consumer('another');
DROP TABLE another;
SELECT ulid_drop_consumer('own');
-- nor by a function of a superuser that takes any type, so that it may call others
CREATE FUNCTION any_type(anyelement) RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT 1';
SET ROLE consumer_other;
DROP INDEX own_expr_idx;
CREATE INDEX ON own (any_type(n));
RESET ROLE;
CALL ulid_next_batch('z');
:code
SELECT unread IS NOT NULL, behind > interval '0' FROM ulid_consumer_lag WHERE name = 'z';
-- a move does not take what is not known for read
SELECT ulid_move_consumer('z', relation => 'outbox');
:code
-- partitions, another order of columns, an index from the end, none at all
RESET ROLE;
CREATE TABLE whole (id ulid NOT NULL DEFAULT gen_ordered_ulid(), n integer) PARTITION BY LIST (n);
CREATE INDEX ON whole (id DESC);
CREATE TABLE part_1 PARTITION OF whole FOR VALUES IN (1);
CREATE TABLE part_2 (n integer, id ulid NOT NULL);
ALTER TABLE whole ATTACH PARTITION part_2 FOR VALUES IN (2);
CREATE INDEX ON part_2 (id) WHERE n = 0;
ALTER TABLE part_2 OWNER TO consumer_other;
SET ROLE consumer_other;
CREATE INDEX ON part_2 ((tells() || id::text));
RESET ROLE;
GRANT SELECT ON whole TO PUBLIC;
SELECT ulid_consumer_first('whole'::regclass, 1, '00000000-0000-0000-0000-000000000000') IS NULL;
INSERT INTO whole (n) VALUES (2), (1), (1), (2);
SELECT n, nth, (SELECT ulid_consumer_first('whole'::regclass, 1, id::uuid)) = id::uuid AS itself
FROM (SELECT *, row_number() OVER (ORDER BY id) AS nth FROM whole) AS w ORDER BY id;
SELECT ulid_consumer_first('whole'::regclass, 1, max(id)::uuid) = max(id)::uuid FROM whole;
DELETE FROM whole WHERE n = 2;
SELECT ulid_consumer_first('whole'::regclass, 1, '00000000-0000-0000-0000-000000000000')
    = min(id)::uuid FROM whole;
SELECT ulid_consumer_first('whole'::regclass, 1, 'ffffffff-ffff-ffff-ffff-ffffffffffff') IS NULL;
BEGIN;
DROP INDEX whole_id_idx;
SELECT ulid_consumer_first('whole'::regclass, 1, '00000000-0000-0000-0000-000000000000')
    = min(id)::uuid FROM whole;
ROLLBACK;
-- by a btree index, and by no index of another kind
CREATE TABLE found (id ulid NOT NULL DEFAULT gen_ordered_ulid());
CREATE INDEX ON found USING brin (id);
INSERT INTO found DEFAULT VALUES;
SELECT ulid_consumer_first('found'::regclass, 1, '00000000-0000-0000-0000-000000000000')
    = id::uuid FROM found;
CREATE INDEX ON found (id);
\c - -
BEGIN;
SELECT ulid_consumer_first('found'::regclass, 1, '00000000-0000-0000-0000-000000000000')
    IS NULL;
SELECT seq_scan, idx_scan FROM pg_stat_xact_user_tables WHERE relname = 'found';
COMMIT;
DROP TABLE found;
-- as in a query, with the rights on the schema and the column
CREATE SCHEMA closed;
CREATE TABLE closed.t (id ulid, secret uuid);
GRANT SELECT (id) ON closed.t TO consumer_other;
SELECT 'closed.t'::regclass::oid AS closed \gset
SET ROLE consumer_other;
SELECT ulid_consumer_first(:closed, 1, '00000000-0000-0000-0000-000000000000');
:code
RESET ROLE;
GRANT USAGE ON SCHEMA closed TO consumer_other;
SET ROLE consumer_other;
SELECT ulid_consumer_first('closed.t'::regclass, 1, '00000000-0000-0000-0000-000000000000');
SELECT ulid_consumer_first('closed.t'::regclass, 2, '00000000-0000-0000-0000-000000000000');
:code
RESET ROLE;
DROP TABLE whole, closed.t;
DROP SCHEMA closed;
-- nor what a role has made of a type of its own
SET ROLE consumer_other;
CREATE TYPE mood AS ENUM ('a');
RESET ROLE;
CREATE TABLE moods (m mood, gone integer);
ALTER TABLE moods DROP gone;
GRANT SELECT ON moods TO consumer_other;
SET ROLE consumer_other;
SELECT ulid_consumer_first('moods'::regclass, 1, '00000000-0000-0000-0000-000000000000');
:code
RESET ROLE;
SELECT ulid_consumer_first('moods'::regclass, 2, '00000000-0000-0000-0000-000000000000'),
    ulid_consumer_first(0, 1, '00000000-0000-0000-0000-000000000000'),
    ulid_consumer_first('moods'::regclass, 99, '00000000-0000-0000-0000-000000000000');
DROP TABLE moods;
DROP TYPE mood;
-- nor by a key of a table above, which whoever plans evaluates
SET ROLE consumer_other;
DROP INDEX own_any_type_idx;
CREATE TABLE above (id ulid NOT NULL DEFAULT gen_ordered_ulid(), n integer)
    PARTITION BY RANGE ((tells() || n));
CREATE TABLE middle PARTITION OF above FOR VALUES FROM (MINVALUE) TO (MAXVALUE)
    PARTITION BY RANGE (id);
CREATE TABLE below PARTITION OF middle DEFAULT;
INSERT INTO ulid_consumer (name, relation, key, position)
VALUES ('middle', 'middle', 'id', '00000000-0000-0000-0000-000000000000');
-- nor does the guard
CREATE INDEX ON above (id);
CREATE TABLE beside (id ulid NOT NULL DEFAULT gen_ordered_ulid(), n integer);
CREATE INDEX ON beside (id);
SELECT ulid_create_consumer('beside', 'beside', 'id');
RESET ROLE;
BEGIN;
SELECT ulid_create_consumer('above', 'above', 'id');
SELECT ulid_move_consumer('beside', '00000000000000000000000000', 'above');
ROLLBACK;
SELECT ulid_drop_consumer('beside');
DROP TABLE beside;
-- a role of any name creates the guard of its own tables only
CREATE ROLE "A.b c";
CREATE ROLE "Consumer_Other" SUPERUSER;
GRANT CREATE ON SCHEMA public TO "A.b c";
GRANT SELECT, INSERT ON ulid_consumer TO "A.b c";
SET SESSION AUTHORIZATION "Consumer_Other";
BEGIN;
SELECT ulid_create_consumer('above', 'above', 'id');
ROLLBACK;
RESET SESSION AUTHORIZATION;
SET ROLE "A.b c";
BEGIN;
CREATE TABLE named (id ulid NOT NULL DEFAULT gen_ordered_ulid()) PARTITION BY RANGE (id);
CREATE TABLE named_1 PARTITION OF named DEFAULT;
CREATE INDEX ON named (id);
SELECT ulid_create_consumer('named', 'named', 'id');
SELECT tgrelid::regclass, tgname FROM pg_trigger WHERE tgname ~ 'guard' AND tgrelid::regclass::text
    ~ '^named' ORDER BY tgrelid;
-- one that is disabled stays so
ALTER TABLE named_1 DISABLE TRIGGER ulid_ordered_guard;
\set VERBOSITY default
SELECT ulid_create_consumer('second', 'named', 'id');
ALTER TABLE named DISABLE TRIGGER ulid_ordered_guard;
SELECT ulid_create_consumer('third', 'named', 'id');
ALTER TABLE named ENABLE REPLICA TRIGGER ulid_ordered_guard;
SELECT ulid_create_consumer('fourth', 'named', 'id');
\set VERBOSITY terse
SELECT is_guarded FROM ulid_consumer_lag WHERE name = 'named';
ROLLBACK;
RESET ROLE;
DROP OWNED BY "A.b c";
DROP ROLE "A.b c", "Consumer_Other";
-- nor is it an error where a partition is of another role
SET ROLE consumer_other;
BEGIN;
CREATE TABLE mixed (id ulid NOT NULL DEFAULT gen_ordered_ulid()) PARTITION BY RANGE (id);
CREATE INDEX ON mixed (id);
RESET ROLE;
CREATE TABLE mixed_1 PARTITION OF mixed DEFAULT;
SET ROLE consumer_other;
SELECT ulid_create_consumer('mixed', 'mixed', 'id');
ROLLBACK;
-- a table that does not exist
INSERT INTO ulid_consumer (name, relation, key, position)
VALUES ('number', '99999', 'id', '00000000-0000-0000-0000-000000000000');
:code
\c - -
SET ROLE consumer_none;
BEGIN;
SELECT unread, behind FROM ulid_consumer_lag WHERE name IN ('middle', 'z');
SHOW lock_timeout;
COMMIT;
RESET ROLE;
SELECT unread, behind FROM ulid_consumer_lag WHERE name = 'middle';
CALL ulid_next_batch('middle');
:code
SET ROLE consumer_other;
SELECT ulid_drop_consumer('middle');
\set VERBOSITY sqlstate
DROP TABLE above;
\set VERBOSITY terse
CREATE FUNCTION compare(integer, integer) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
    IF current_user <> 'consumer_other' THEN RAISE 'run as %', current_user; END IF;
    RETURN true; END $$;
CREATE OPERATOR === (FUNCTION = compare, LEFTARG = integer, RIGHTARG = integer);
CREATE INDEX ON own (id) WHERE 1 === 1;
RESET ROLE;
CALL ulid_next_batch('z');
:code
-- nor without such an index, since one could be created before the query; a member reads then
DROP INDEX own_id_idx;
CALL ulid_next_batch('z');
SET ROLE consumer_app;
CALL ulid_next_batch('z') \gset
SELECT :'batch_start' < :'batch_end';
RESET ROLE;
SELECT name, unread IS NOT NULL FROM ulid_consumer_lag WHERE name = 'z';
SET ROLE consumer_other;
GRANT SELECT ON own TO PUBLIC;
CREATE POLICY runs ON own USING (runs_as() = '');
ALTER TABLE own ENABLE ROW LEVEL SECURITY;
SET ROLE consumer_none;
SELECT unread, behind FROM ulid_consumer_lag WHERE name = 'z';
-- a member is subject to a policy that is forced
SET ROLE consumer_other;
ALTER TABLE own FORCE ROW LEVEL SECURITY;
SET ROLE consumer_app;
CALL ulid_next_batch('z');
:code
RESET ROLE;

--
-- A table that was replaced: rows stay until each of its consumers was moved, and has read them
--

SET ROLE consumer_app;
CREATE TABLE ev (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), n integer);
SELECT ulid_create_consumer('a', 'ev'), ulid_create_consumer('b', 'ev');
INSERT INTO ev (n) VALUES (1);
CREATE TABLE new_ev (LIKE ev INCLUDING ALL);
INSERT INTO new_ev SELECT * FROM ev;
ALTER TABLE ev RENAME TO old_ev;
ALTER TABLE new_ev RENAME TO ev;
SELECT ulid_move_consumer('a', relation => 'ev');
SELECT FROM pg_sleep(0.002);
CALL ulid_refresh_horizon();
BEGIN;
CALL ulid_next_batch('a') \gset
SELECT ulid_finish_batch('a');
COMMIT;
SELECT ulid_delete_read('ev');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT ulid_move_consumer('b', relation => 'ev');
:code
ROLLBACK;
SELECT ulid_move_consumer('b', relation => 'ev');
SELECT ulid_delete_read('ev');
BEGIN;
CALL ulid_next_batch('b') \gset
SELECT n FROM ev WHERE id >= :'batch_start'::uuid AND id < :'batch_end'::uuid;
SELECT ulid_finish_batch('b');
COMMIT;
SELECT ulid_delete_read('ev');
-- however names are quoted
SET quote_all_identifiers = on;
CALL ulid_next_batch('a') \gset
SELECT ulid_create_consumer('quoted', 'ev');
RESET quote_all_identifiers;
CALL ulid_next_batch('quoted') \gset
-- whatever a role writes as a name
UPDATE ulid_consumer SET relation_name = '' WHERE name = 'b';
SELECT ulid_delete_read('ev');
-- a session that fires no triggers
RESET ROLE;
SET session_replication_role = replica;
SELECT ulid_move_consumer('a', '00000000000000000000000001');
:code
SET ROLE consumer_app;
SELECT ulid_drop_consumer('a');
RESET ROLE;
RESET session_replication_role;
SET ROLE consumer_app;
SELECT ulid_drop_consumer('a'), ulid_drop_consumer('b'), ulid_drop_consumer('quoted');
DROP TABLE ev, old_ev;
-- a second move tells the name that the table has now
CREATE TABLE new_ev (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
SELECT ulid_create_consumer('renamed', 'new_ev');
ALTER TABLE new_ev RENAME TO ev;
SELECT ulid_move_consumer('renamed', relation => 'ev');
ALTER TABLE ev RENAME TO old_ev;
CREATE TABLE ev (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
CALL ulid_next_batch('renamed');
SELECT ulid_drop_consumer('renamed');
DROP TABLE ev, old_ev;

--
-- Children, of which each has a guard
--

CREATE TABLE parent (id ulid NOT NULL DEFAULT gen_ordered_ulid());
CREATE INDEX ON parent (id);
CREATE TABLE child () INHERITS (parent);
SELECT ulid_create_consumer('children', 'parent', 'id');
SELECT tgrelid::regclass FROM pg_trigger WHERE tgname = 'ulid_ordered_guard'
    AND tgrelid IN ('parent'::regclass, 'child'::regclass) ORDER BY 1;
SELECT is_guarded FROM ulid_consumer_lag WHERE name = 'children';
ALTER TABLE child DISABLE TRIGGER ulid_ordered_guard;
SELECT is_guarded FROM ulid_consumer_lag WHERE name = 'children';
SELECT ulid_drop_consumer('children');
DROP TABLE parent CASCADE;

--
-- Rows that a policy hides from the owner; a role that is renamed
--

CREATE TABLE hidden (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
ALTER TABLE hidden ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY p ON hidden USING (false) WITH CHECK (true);
SELECT ulid_create_consumer('hidden', 'hidden');
INSERT INTO hidden DEFAULT VALUES;
SELECT behind FROM ulid_consumer_lag WHERE name = 'hidden';
RESET ROLE;
SELECT behind > interval '0' FROM ulid_consumer_lag WHERE name = 'hidden';
ALTER ROLE consumer_app RENAME TO consumer_renamed;
SET ROLE consumer_renamed;
SELECT ulid_drop_consumer('hidden');
:code
RESET ROLE;
SET ROLE consumer_owner;
UPDATE ulid_consumer SET relation = 'own' WHERE name = 'hidden';
:code
RESET ROLE;
UPDATE ulid_consumer SET owner = 'consumer_renamed' WHERE owner = 'consumer_app';
SET ROLE consumer_renamed;
SELECT ulid_drop_consumer('hidden');
RESET ROLE;
ALTER ROLE consumer_renamed RENAME TO consumer_app;
UPDATE ulid_consumer SET owner = 'consumer_app' WHERE owner = 'consumer_renamed';
DROP TABLE hidden;

--
-- Objects of the caller's path are not used
--

SET ROLE consumer_app;
INSERT INTO outbox (n) VALUES (9);
CALL ulid_refresh_horizon();
CREATE TEMP TABLE ulid_consumer (name text, relation regclass);
CREATE TEMP TABLE ulid_horizon (horizon ulid);
CREATE TEMP TABLE pg_class (oid oid);
CREATE TEMP TABLE pg_inherits (oid oid);
CREATE TEMP TABLE outbox (id ulid);
RESET ROLE;
CREATE SCHEMA hostile AUTHORIZATION consumer_app;
SET ROLE consumer_app;
CREATE FUNCTION hostile.found() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'found'; END $$;
CREATE FUNCTION hostile.ulid_consumer_find(text, regclass) RETURNS public.ulid_consumer
    LANGUAGE sql AS 'SELECT hostile.found(); SELECT c FROM public.ulid_consumer AS c';
CREATE FUNCTION hostile.ulid_consumer_storage(oid, bigint[]) RETURNS bigint[]
    LANGUAGE sql AS 'SELECT hostile.found(); SELECT ''{}''::bigint[]';
CREATE FUNCTION hostile.ulid_consumer_cast(regclass, name, regtype) RETURNS text
    LANGUAGE sql AS 'SELECT hostile.found(); SELECT ''''';
CREATE FUNCTION hostile.format(text, VARIADIC text[]) RETURNS text
    LANGUAGE sql AS 'SELECT hostile.found(); SELECT ''''';
CREATE FUNCTION hostile.compare(ulid, uuid) RETURNS boolean
    LANGUAGE sql AS 'SELECT hostile.found()';
CREATE OPERATOR hostile.>= (FUNCTION = hostile.compare, LEFTARG = ulid, RIGHTARG = uuid);
CREATE OPERATOR hostile.< (FUNCTION = hostile.compare, LEFTARG = ulid, RIGHTARG = uuid);
CREATE FUNCTION hostile.compare_uuid(uuid, uuid) RETURNS boolean
    LANGUAGE sql AS 'SELECT hostile.found()';
CREATE FUNCTION hostile.compare(oid, regclass) RETURNS boolean
    LANGUAGE sql AS 'SELECT hostile.found()';
CREATE OPERATOR hostile.= (FUNCTION = hostile.compare, LEFTARG = oid, RIGHTARG = regclass);
CREATE FUNCTION hostile.compare(regclass, regclass) RETURNS boolean
    LANGUAGE sql AS 'SELECT hostile.found()';
CREATE OPERATOR hostile.= (FUNCTION = hostile.compare, LEFTARG = regclass, RIGHTARG = regclass);
CREATE OPERATOR hostile.>= (FUNCTION = hostile.compare_uuid, LEFTARG = uuid, RIGHTARG = uuid);
SET search_path = pg_temp, hostile, pg_catalog;
BEGIN;
CALL public.ulid_next_batch('mail') \gset
SELECT count(*) FROM public.outbox
    WHERE id BETWEEN :'batch_start'::public.ulid AND :'batch_end'::public.ulid;
SELECT public.ulid_finish_batch('mail');
COMMIT;
SELECT name FROM public.ulid_consumer_lag ORDER BY name;
SELECT public.ulid_read_by_all('public.outbox') IS NOT NULL,
    public.ulid_delete_read('public.outbox', 1);
SELECT public.ulid_create_consumer('path', 'public.outbox');
SELECT public.ulid_move_consumer('path', relation => 'public.outbox');
SELECT public.ulid_wait_for_consumer('path', '00000000000000000000000001');
SELECT public.ulid_consumer_first('public.outbox'::regclass, 1,
    '00000000-0000-0000-0000-000000000000') IS NOT NULL;
SELECT public.ulid_drop_consumer('path');
RESET search_path;
RESET ROLE;
-- nor do other names of the schema matter
ALTER SCHEMA public RENAME TO renamed;
SET ROLE consumer_app;
CALL renamed.ulid_next_batch('mail') \gset
SELECT :'batch_start' = :'batch_end';
RESET ROLE;
SELECT renamed.ulid_drop_consumer('mail');

\c :shared
DROP DATABASE ulid_consumer_test;
DROP ROLE consumer_owner, consumer_app, consumer_other, consumer_none;
