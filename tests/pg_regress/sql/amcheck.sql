-- amcheck examines an index of a million ids, and smaller ones built at once and row by row, with
-- copies, over a uuid column, and after updates and VACUUM. amcheck_1.out is for servers without
-- contrib.

\pset format unaligned
\pset footer off
SELECT count(*) > 0 AS server_has_amcheck FROM pg_available_extensions WHERE name = 'amcheck' \gset
\if :server_has_amcheck
\else
\echo skipped: amcheck, which this server has not
\quit
\endif
CREATE EXTENSION amcheck;
CREATE TABLE large AS SELECT decode(md5(i::text), 'hex')::ulid AS id
    FROM generate_series(1, 1000000) AS i;
ALTER TABLE large ADD PRIMARY KEY (id);
INSERT INTO large SELECT gen_ulid() FROM generate_series(1, 10000);
SELECT bt_index_check('large_pkey', heapallindexed => true);
SELECT bt_index_parent_check('large_pkey', heapallindexed => true, rootdescend => true);
DROP TABLE large;

CREATE TABLE key (id ulid, random ulid, copy ulid, u uuid);
CREATE INDEX key_inserted ON key (id);
CREATE UNIQUE INDEX key_random_inserted ON key (random);
INSERT INTO key
SELECT decode(lpad(to_hex(1767225600000 + i / 100), 12, '0') || left(md5(i::text), 20),
    'hex')::ulid,
       decode(md5(i::text), 'hex')::ulid, decode(md5((i % 100)::text), 'hex')::ulid,
       decode(md5(i::text), 'hex')::ulid
FROM generate_series(1, 100000) AS i;
INSERT INTO key VALUES ('00000000000000000000000000', '00000000000000000000000000', NULL, NULL),
    ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ',
        '7ZZZZZZZZZZZZZZZZZZZZZZZZZ', NULL);
CREATE UNIQUE INDEX key_built ON key (id, random);
CREATE INDEX key_random_built ON key (random DESC NULLS LAST);
CREATE INDEX key_copy_built ON key (copy);
CREATE INDEX key_uuid_built ON key (u ulid_ops);
DELETE FROM key WHERE get_byte(random::bytea, 15) < 32;
UPDATE key SET copy = random, u = random WHERE get_byte(random::bytea, 15) > 224;
VACUUM key;
INSERT INTO key (id, random) SELECT gen_monotonic_ulid(), gen_ulid() FROM generate_series(1, 10000);
SELECT indexrelid::regclass::text COLLATE "C" AS index,
    bt_index_parent_check(indexrelid, true, true)
FROM pg_index WHERE indrelid = 'key'::regclass ORDER BY 1;
DROP TABLE key;
DROP EXTENSION amcheck;
