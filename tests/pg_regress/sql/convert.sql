-- Ids of other kinds: an example of each, their errors, and the version 7 generator. The vectors
-- are tested in core.

\pset format unaligned
\pset footer off
SET timezone = 'UTC';

-- version 1 and 6: the examples of RFC 9562 (A.1, A.5)
SELECT v1, v6, ulid_from_uuid_v1(v1) AS ulid, ulid_extract_timestamp(ulid_from_uuid_v1(v1)) AS time,
       ulid_from_uuid_v6(v6) = ulid_from_uuid_v1(v1) AS same,
       ulid_to_uuid_v1(ulid_from_uuid_v1(v1)) = v1
           AND ulid_to_uuid_v6(ulid_from_uuid_v6(v6)) = v6 AS back
FROM (VALUES ('c232ab00-9414-11ec-b3c8-9f6bdeced846'::uuid,
    '1ec9414c-232a-6b00-b3c8-9f6bdeced846'::uuid)) AS v (v1, v6);
-- another version or variant (22023), which is named; before 1970 (22008)
SELECT ulid_from_uuid_v1('1ec9414c-232a-6b00-b3c8-9f6bdeced846');
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_from_uuid_v6('c232ab00-9414-11ec-33c8-9f6bdeced846');
SELECT ulid_from_uuid_v1('13813fff-1dd2-11b2-8000-000000000000');
\echo :LAST_ERROR_SQLSTATE
-- a ulid that no such uuid gives (22023), or a time that it has no room for (22008)
SELECT ulid_to_uuid_v1('01ARYZ6S41TSV4RRFFQ69G5FAV');
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_to_uuid_v6(ulid_from_parts('2022-02-22 19:22:22+00', '\x00000000000000000008'::bytea));
SELECT ulid_to_uuid_v1(ulid_lower_bound('5236-03-31 21:21:00.685+00'));
\echo :LAST_ERROR_SQLSTATE

-- version 7: the example of RFC 9562 (A.6) as it stands, any other ulid with version and variant in
-- place of 6 bits
SELECT ulid, ulid_to_uuid_v7(ulid), ulid::uuid AS uuid
FROM (VALUES ('01FWHE4YDGFK1SHH6W1G60EECF'::ulid), ('01ARYZ6S41TSV4RRFFQ69G5FAV')) AS v (ulid);

-- snowflakes: the examples of Wikipedia (Twitter's epoch) and of Discord's reference
SELECT ulid_from_snowflake(1541815603606036480) AS ulid, p.*,
    ulid_to_snowflake(ulid_from_snowflake(1541815603606036480)) AS back
FROM ulid_snowflake_parts(ulid_from_snowflake(1541815603606036480)) AS p;
SELECT ulid_from_snowflake(175928847299117063, epoch) AS ulid, p.*,
       ulid_to_snowflake(ulid_from_snowflake(175928847299117063, epoch), epoch) AS back
FROM (VALUES ('2015-01-01 00:00+00'::timestamptz)) AS v (epoch),
    ulid_snowflake_parts(ulid_from_snowflake(175928847299117063, epoch)) AS p;
-- the row has the names of the columns, wherever it goes, and null gives nulls
SELECT to_json(ulid_snowflake_parts(ulid_from_snowflake(1541815603606036480))),
    ulid_snowflake_parts(NULL) AS nulls;
-- the default epoch is the same moment in every session
SET datestyle = 'SQL, DMY';
SET timezone = 'Asia/Tokyo';
SELECT ulid_extract_unix_ms(ulid_from_snowflake(0)),
    ulid_to_snowflake(ulid_from_snowflake(12345, epoch => '1970-01-01 00:00+00'),
    '1970-01-01 00:00+00');
RESET datestyle;
SET timezone = 'UTC';
-- negative (22003); a time out of range (22008); low bits (22023)
SELECT ulid_from_snowflake(-1);
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_from_snowflake(0, '1969-12-31 23:59:59.999+00');
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_from_snowflake(0, 'infinity');
SELECT ulid_to_snowflake('00000000000000000000000000', '-infinity');
SELECT ulid_to_snowflake(ulid_lower_bound('2080-07-10 17:30:30.209+00'));
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_to_snowflake('01ARYZ6S41TSV4RRFFQ69G5FAV');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM ulid_snowflake_parts('00000000000000000000000001');
\echo :LAST_ERROR_SQLSTATE

-- a time and a key, or 10 bytes
SELECT ulid_from_parts('2016-07-30 22:36:16.385999+00', 42) AS key,
    ulid_from_parts('2016-07-30 22:36:16.385+00', '\xd6764c61efb99302bd5b'::bytea) AS bytes;
SELECT ulid_to_key(ulid_from_parts('2016-07-30 22:36:16.385+00', key))
FROM (VALUES (0::bigint), (42), (9223372036854775807)) AS v (key);
-- negative (22003); out of range (22008); not 10 bytes (22P03); no key (22023)
SELECT ulid_from_parts('2016-07-30 22:36:16.385+00', -42);
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_from_parts('1969-12-31 23:59:59.999999+00', 42);
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_from_parts('10889-08-02 05:31:50.656+00', '\xd6764c61efb99302bd5b'::bytea);
SELECT ulid_from_parts('2016-07-30 22:36:16.385+00', '\xd6764c61efb99302bd'::bytea);
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_to_key('01ARYZ6S41TSV4RRFFQ69G5FAV');
\echo :LAST_ERROR_SQLSTATE

-- gen_uuid_v7: 100,000 values in the order in which they were made, version and variant valid, the
-- time now
SELECT clock_timestamp() AS before \gset
CREATE TABLE v7 AS SELECT n, gen_uuid_v7() AS id FROM generate_series(1, 100000) AS n;
SELECT count(*) AS disorder FROM (SELECT id <= lag(id) OVER (ORDER BY n) AS disorder FROM v7) AS s
WHERE disorder;
SELECT count(*) AS invalid FROM v7 WHERE ulid_to_uuid_v7(id::ulid) <> id;
SELECT min(id)::ulid::timestamptz BETWEEN date_trunc('milliseconds', :'before'::timestamptz)
    AND clock_timestamp() AS now FROM v7;
-- 62 random bits: each is set in some value and unset in another
SELECT count(*) AS bits, bool_and(ones BETWEEN 1 AND 999) AS random
FROM (SELECT bit, count(*) FILTER (WHERE get_bit(uuid_send(id), bit) = 1) AS ones
      FROM (SELECT id FROM v7 LIMIT 1000) AS s, generate_series(64, 127) AS bit
      WHERE bit NOT IN (70, 71) GROUP BY bit) AS s;
-- a rollback takes nothing back
SELECT max(id) AS last FROM v7 \gset
BEGIN;
SELECT gen_uuid_v7() AS rolled_back \gset
ROLLBACK;
SELECT :'last'::uuid < :'rolled_back'::uuid AS after_last,
    :'rolled_back'::uuid < gen_uuid_v7() AS after_rollback;
DROP TABLE v7;
-- of a given time: in the order of its microseconds, random otherwise, between the bounds of the
-- millisecond
CREATE TABLE v7 AS SELECT n, t, gen_uuid_v7(t) AS id
FROM (SELECT n, '2020-02-29 12:34:56.789+00'::timestamptz + n * interval '1 microsecond' AS t
    FROM generate_series(0, 9999) AS n) AS s;
SELECT bool_and(ordered) AS ordered, bool_and(ulid_to_uuid_v7(id::ulid) = id) AS valid,
       bool_and(id::ulid::timestamptz = date_trunc('milliseconds', t)) AS time,
       bool_and(id BETWEEN ulid_lower_bound(t)::uuid AND ulid_upper_bound(t)::uuid) AS bounds,
       count(DISTINCT substr(uuid_send(id), 9)) AS random
FROM (SELECT *, n + 1 = row_number() OVER (ORDER BY id) AS ordered FROM v7) AS s;
DROP TABLE v7;
SELECT left(gen_uuid_v7('1970-01-01 00:00+00')::text, 18) AS first,
    left(gen_uuid_v7('10889-08-02 05:31:50.655999+00')::text, 18) AS last;
SELECT gen_uuid_v7('1969-12-31 23:59:59.999999+00');
\echo :LAST_ERROR_SQLSTATE
SELECT gen_uuid_v7('10889-08-02 05:31:50.656+00');
SELECT gen_uuid_v7('infinity');
SELECT gen_uuid_v7(NULL) IS NULL AS strict;
