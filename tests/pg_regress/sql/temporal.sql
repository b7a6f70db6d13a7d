-- Keys of PostgreSQL 18 with WITHOUT OVERLAPS and PERIOD, by the companion ulid_gist.
-- temporal_1.out is for older servers.

\pset format unaligned
\pset footer off
SELECT current_setting('server_version_num')::int >= 180000
    AND EXISTS (SELECT FROM pg_available_extensions WHERE name = 'btree_gist')
        AS has_temporal_keys \gset
\if :has_temporal_keys
\else
\echo skipped: no WITHOUT OVERLAPS, or no btree_gist
\quit
\endif

CREATE TABLE room (id ulid, open daterange, PRIMARY KEY (id, open WITHOUT OVERLAPS));
SET client_min_messages = warning;
CREATE EXTENSION ulid_gist CASCADE;
RESET client_min_messages;

-- a temporal primary key
CREATE TABLE room (id ulid DEFAULT gen_ulid(), open daterange, beds int,
    PRIMARY KEY (id, open WITHOUT OVERLAPS));
INSERT INTO room VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-01-01, 2026-07-01)', 1),
    ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-07-01, 2027-01-01)', 2),
    ('01ARYZ6S41TSV4RRFFQ69G5FAW', '[2026-01-01, 2027-01-01)', 3);
INSERT INTO room VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-12-31, 2028-01-01)');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room VALUES (NULL, '[2028-01-01, 2029-01-01)');
INSERT INTO room VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', 'empty');
UPDATE room SET open = '[2026-01-01, 2026-08-01)' WHERE beds = 1;
\echo :LAST_ERROR_SQLSTATE

-- a temporal foreign key, from a ulid and from a uuid
CREATE TABLE booking (room ulid, during daterange, FOREIGN KEY (room, PERIOD during)
    REFERENCES room (id, PERIOD open));
-- over both of the room's rows
INSERT INTO booking VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-06-01, 2026-08-01)');
INSERT INTO booking VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-12-01, 2027-02-01)');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO booking VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAX', '[2026-06-01, 2026-08-01)');
\echo :LAST_ERROR_SQLSTATE
DELETE FROM room WHERE beds = 2;
\echo :LAST_ERROR_SQLSTATE
DELETE FROM room WHERE beds = 3;
UPDATE room SET open = '[2026-01-01, 2026-06-15)' WHERE beds = 1;
\echo :LAST_ERROR_SQLSTATE
DROP TABLE booking;
CREATE TABLE booking (room uuid, during daterange, FOREIGN KEY (room, PERIOD during)
    REFERENCES room (id, PERIOD open));
INSERT INTO booking VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid, '[2026-06-01, 2026-08-01)');
INSERT INTO booking VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAX'::ulid, '[2026-06-01, 2026-08-01)');
\echo :LAST_ERROR_SQLSTATE
DELETE FROM room WHERE beds = 2;
\echo :LAST_ERROR_SQLSTATE

-- also unique, and in partitions
CREATE TABLE price (id ulid, valid daterange, UNIQUE (id, valid WITHOUT OVERLAPS))
    PARTITION BY RANGE (id);
CREATE TABLE price_all PARTITION OF price DEFAULT;
INSERT INTO price VALUES (NULL, '[2026-01-01, 2027-01-01)'), (NULL, '[2026-01-01, 2027-01-01)');
INSERT INTO price VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-01-01, 2027-01-01)');
INSERT INTO price VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '[2026-12-31, 2028-01-01)');
\echo :LAST_ERROR_SQLSTATE
DROP TABLE booking, price, room;
DROP EXTENSION ulid_gist, btree_gist;
