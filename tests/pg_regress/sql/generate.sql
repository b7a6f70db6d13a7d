-- Generators: now or a given time, 80 random bits, a sequence that always increases, and an order
-- of the whole server.

\pset format unaligned
\pset footer off
-- the time is that of the clock, not of the transaction
BEGIN;
SELECT clock_timestamp() AS before \gset
SELECT ulid_extract_timestamp(gen_ulid()) BETWEEN date_trunc('milliseconds', :'before'::timestamptz)
    AND clock_timestamp() AS random,
       ulid_extract_timestamp(gen_monotonic_ulid()) BETWEEN date_trunc('milliseconds',
           :'before'::timestamptz) AND clock_timestamp() AS monotonic,
       ulid_extract_timestamp(gen_ordered_ulid()) BETWEEN date_trunc('milliseconds',
           :'before'::timestamptz) AND clock_timestamp() AS ordered;
COMMIT;

-- a given time, rounded down to the millisecond, with randomness of its own each time
SELECT id::timestamptz AT TIME ZONE 'UTC' AS time, count(DISTINCT id)
FROM (SELECT gen_ulid('2020-02-29 12:34:56.789999+00') AS id FROM generate_series(1, 1000)) AS s
GROUP BY 1;
SELECT gen_ulid('1969-12-31 23:59:59.999999+00');
\echo :LAST_ERROR_SQLSTATE
SELECT gen_ulid('10889-08-02 05:31:50.656+00');
SELECT gen_ulid('infinity');
SELECT gen_ulid(NULL) IS NULL AS strict;

-- each of the 80 bits is set in some value and unset in another
SELECT count(*) AS bits, bool_and(n BETWEEN 1 AND 999) AS random
FROM (SELECT bit, count(*) FILTER (WHERE get_bit(r, bit) = 1) AS n
      FROM (SELECT ulid_extract_randomness(gen_ulid()) AS r FROM generate_series(1, 1000)) AS s,
      generate_series(0, 79) AS bit
      GROUP BY bit) AS s;

-- no duplicates, and not in order
CREATE TABLE random AS SELECT i, gen_ulid() AS id FROM generate_series(1, 100000) AS i;
SELECT count(DISTINCT id) FROM random;
SELECT count(*) > 1000 AS out_of_order
FROM (SELECT id < lag(id) OVER (ORDER BY i) AS less FROM random) AS s WHERE less;
DROP TABLE random;

-- monotonic: over a million values, the order in which they were made is their order
CREATE TABLE monotonic AS SELECT i, gen_monotonic_ulid() AS id
    FROM generate_series(1, 1000000) AS i;
SELECT count(*) AS disorder
FROM (SELECT id <= lag(id) OVER (ORDER BY i) AS disorder FROM monotonic) AS s WHERE disorder;
-- a rollback takes nothing back, and a given time or a random value does not move the sequence
SELECT max(id) AS last FROM monotonic \gset
BEGIN;
SELECT gen_monotonic_ulid() AS rolled_back \gset
ROLLBACK;
SELECT gen_ulid('9999-01-01 00:00+00') IS NOT NULL AS far_future;
SELECT gen_monotonic_ulid() AS next \gset
SELECT :'last'::ulid < :'rolled_back'::ulid AS after_last,
    :'rolled_back'::ulid < :'next'::ulid AS after_rollback,
       :'next'::ulid::timestamptz <= clock_timestamp() AS not_ahead;
DROP TABLE monotonic;

-- ordered: in order by the first 64 bits alone
CREATE TABLE ordered AS SELECT i, gen_ordered_ulid() AS id FROM generate_series(1, 1000000) AS i;
SELECT count(*) AS disorder
FROM (SELECT substr(id::bytea, 1, 8) <= lag(substr(id::bytea, 1, 8)) OVER (ORDER BY i) AS disorder
    FROM ordered) AS s WHERE disorder;
-- the other 64 bits are random: each is set in some value and unset in another
SELECT count(*) AS bits, bool_and(ones BETWEEN 1 AND 999) AS random
FROM (SELECT bit, count(*) FILTER (WHERE get_bit(id::bytea, bit) = 1) AS ones
      FROM (SELECT id FROM ordered LIMIT 1000) AS s, generate_series(64, 127) AS bit
          GROUP BY bit) AS s;
-- as uuids of version 7 between them: one order, whose 64 bits of time stand around version and
-- variant; 58 bits are random
CREATE TABLE ordered_uuid AS SELECT i, gen_ordered_ulid() AS ulid, gen_ordered_uuid_v7() AS uuid
    FROM generate_series(1, 100000) AS i;
SELECT count(*) AS disorder
FROM (SELECT uuid, lag(uuid) OVER (ORDER BY i) AS before, substr(ulid::bytea, 1, 8) AS time_of_ulid,
             lag(substr(ulid::bytea, 1, 8)) OVER (ORDER BY i) AS time_before FROM ordered_uuid) AS s
WHERE uuid <= before OR time_of_ulid <= time_before;
SELECT count(*) FILTER (WHERE uuid::text !~ '^.{14}7.{4}[89ab]') AS invalid,
       count(*) FILTER (WHERE ulid_extract_timestamp(uuid) NOT BETWEEN ulid_extract_timestamp(ulid)
           AND clock_timestamp()) AS other_time
FROM ordered_uuid;
SELECT count(*) AS bits, bool_and(ones BETWEEN 1 AND 999) AS random
FROM (SELECT bit, count(*)
    FILTER (WHERE get_bit(uuid_send(uuid), bit / 8 * 8 + 7 - bit % 8) = 1) AS ones
      FROM (SELECT uuid FROM ordered_uuid LIMIT 1000) AS s, generate_series(70, 127) AS bit
          GROUP BY bit) AS s;
DROP TABLE ordered_uuid;
-- a rollback takes nothing back, and no other generator moves the order
SELECT max(id) AS last FROM ordered \gset
BEGIN;
SELECT gen_ordered_ulid() AS rolled_back \gset
ROLLBACK;
SELECT gen_monotonic_ulid() IS NOT NULL AND gen_ulid('9999-01-01 00:00+00') IS NOT NULL
    AND gen_uuid_v7() IS NOT NULL AS others;
SELECT gen_ordered_ulid() AS next \gset
SELECT :'last'::ulid < :'rolled_back'::ulid AS after_last,
    :'rolled_back'::ulid < :'next'::ulid AS after_rollback,
       :'next'::ulid::timestamptz <= clock_timestamp() AS not_ahead;
DROP TABLE ordered;

-- the time that they have reached; what changes it is tested on a server of its own, as all
-- databases share it
SELECT ulid_ordered_time() >= ulid_extract_timestamp(:'next') AS reached,
    ulid_ordered_time() <= clock_timestamp() AS not_ahead;

-- a transaction that has generated none does not hold the horizon
BEGIN;
SELECT gen_ulid() IS NOT NULL AND gen_monotonic_ulid() IS NOT NULL AND gen_uuid_v7() IS NOT NULL
    AS others;
SELECT ulid_ordered_since(pg_backend_pid()) IS NULL AS process,
    ulid_ordered_since('3'::xid) IS NULL AS prepared,
    ulid_ordered_since(-1) IS NULL AS nobody;
COMMIT;

-- no transaction leaves something in its session's memory
SELECT used_bytes FROM pg_backend_memory_contexts WHERE name = 'TopMemoryContext' \gset
DO $$ BEGIN FOR n IN 1 .. 10000 LOOP PERFORM gen_ordered_ulid(); COMMIT; END LOOP; END $$;
SELECT used_bytes < :used_bytes + 100000 AS bounded FROM pg_backend_memory_contexts
    WHERE name = 'TopMemoryContext';

-- defaults
CREATE TABLE defaults (id ulid PRIMARY KEY DEFAULT gen_monotonic_ulid(), random ulid UNIQUE
    DEFAULT gen_ulid(), n int);
INSERT INTO defaults (n) SELECT i FROM generate_series(1, 1000) AS i;
SELECT count(DISTINCT id), count(DISTINCT random), bool_and(ordered)
FROM (SELECT id, random, n = row_number() OVER (ORDER BY id) AS ordered FROM defaults) AS s;
DROP TABLE defaults;

-- the time of a key as a stored generated column
CREATE TABLE generated (
    id ulid PRIMARY KEY DEFAULT gen_ulid(),
    created_at timestamptz NOT NULL GENERATED ALWAYS AS (ulid_extract_timestamp(id)) STORED
);
INSERT INTO generated DEFAULT VALUES;
INSERT INTO generated VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV');
SELECT created_at AT TIME ZONE 'UTC' AS utc FROM generated WHERE id = '01ARYZ6S41TSV4RRFFQ69G5FAV';
SELECT count(*) FROM generated WHERE created_at = id::timestamptz;
DROP TABLE generated;
-- a generator is not immutable
CREATE TABLE generated (id int, made ulid GENERATED ALWAYS AS (gen_ulid()) STORED);
