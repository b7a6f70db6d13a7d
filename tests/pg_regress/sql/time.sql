-- Time: exact for every millisecond, rounded down, refused out of range, and in the session's time
-- zone where asked.

\pset format unaligned
\pset footer off
SET timezone = 'UTC';

SELECT ulid_extract_timestamp('01ARYZ6S41TSV4RRFFQ69G5FAV'),
    ulid_extract_unix_ms('01ARYZ6S41TSV4RRFFQ69G5FAV'),
       ulid_extract_randomness('01ARYZ6S41TSV4RRFFQ69G5FAV');
SELECT ulid_extract_timestamp('00000000000000000000000000') AS first,
    ulid_extract_timestamp('7ZZZZZZZZZZZZZZZZZZZZZZZZZ') AS last,
       ulid_extract_unix_ms('7ZZZZZZZZZZZZZZZZZZZZZZZZZ') AS last_ms;

-- a million milliseconds from all of the 48 bits, and each of one second, come back as they went
SELECT count(*) FILTER (WHERE ulid_extract_unix_ms(ulid_lower_bound(t)) <> ms) AS lost,
       count(*) FILTER (WHERE ulid_lower_bound(t)::timestamptz <> t) AS changed
FROM (SELECT ms, 'epoch'::timestamptz + ms / 1000 * interval '1 second' + ms % 1000 * interval
    '1 millisecond' AS t
      FROM (SELECT i * 281474976 + i % 1000 AS ms FROM generate_series(0::bigint, 999999) AS i
            UNION ALL SELECT 1469918176000 + i FROM generate_series(0, 999) AS i) AS s) AS s;

-- bounds, rounded down to the millisecond
SELECT ulid_lower_bound('2016-07-30 22:36:16.385+00'),
    ulid_upper_bound('2016-07-30 22:36:16.385+00');
SELECT ulid_lower_bound('2016-07-30 22:36:16.385999+00') =
    ulid_lower_bound('2016-07-30 22:36:16.385+00') AS down,
       ulid_lower_bound('1970-01-01 00:00:00.000999+00') AS first;
SELECT '2016-07-30 22:36:16.385+00'::timestamptz::ulid =
    ulid_lower_bound('2016-07-30 22:36:16.385+00') AS cast;
SELECT ulid_upper_bound('10889-08-02 05:31:50.655999+00') AS last;

-- out of range (22008)
SELECT ulid_lower_bound('10889-08-02 05:31:50.656+00');
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY terse
SELECT ulid_upper_bound('1969-12-31 23:59:59.999999+00');
SELECT ulid_lower_bound('infinity');
SELECT ulid_upper_bound('-infinity');
SELECT '4714-11-24 00:00:00+00 BC'::timestamptz::ulid;
SELECT '294276-12-31 23:59:59.999999+00'::timestamptz::ulid;
SELECT '1969-12-31 23:59:59'::timestamp::ulid;
SELECT 'infinity'::timestamp::ulid;
\set VERBOSITY default

-- timestamp goes through the time zone of the session
SELECT '01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid::timestamp AS utc,
    '2016-07-30 22:36:16.385'::timestamp::ulid AS utc_ulid;
SET timezone = 'America/New_York';
SELECT '01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid::timestamp AS new_york,
    '2016-07-30 18:36:16.385'::timestamp::ulid AS same_ulid,
       '01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid::timestamptz AS moment;
-- an hour that the clock skips, and one that it repeats
SELECT '2016-03-13 02:30:00'::timestamp::ulid::timestamp AS skipped,
    '2016-11-06 01:30:00'::timestamp::ulid::timestamptz AS repeated;
SET timezone = 'UTC';

-- rows of a day, by the index
CREATE TABLE event (id ulid PRIMARY KEY);
INSERT INTO event
    SELECT ulid_lower_bound('2026-01-01 00:00+00'::timestamptz + i * interval '1 minute')
    FROM generate_series(0, 9999) AS i;
ANALYZE event;
SELECT count(*) FROM event WHERE id BETWEEN ulid_lower_bound('2026-01-02 00:00+00')
    AND ulid_upper_bound('2026-01-02 23:59:59.999+00');
SELECT count(*) FROM event WHERE id >= '2026-01-02 00:00+00'::timestamptz::ulid
    AND id < '2026-01-03 00:00+00'::timestamptz::ulid;
EXPLAIN (COSTS OFF) SELECT * FROM event WHERE id >= ulid_lower_bound('2026-01-02 00:00+00')
    AND id < ulid_lower_bound('2026-01-03 00:00+00');
-- an index on the time itself
CREATE INDEX ON event (ulid_extract_timestamp(id));
DROP TABLE event;
