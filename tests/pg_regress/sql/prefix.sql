-- Search by the first characters of the text: ulid_starts_with and its bounds.

SELECT prefix, ulid_prefix_lower(prefix), ulid_prefix_upper(prefix)
FROM unnest(ARRAY['', '0', '7', '01ARYZ6S', '01aryz6s41', 'oIaRyZ6s4L', '01ARYZ6S41TSV4RRFFQ69G5FAV', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ']) AS prefix;

-- a prefix of each length of each of a thousand ids, in either case: what starts with it, and what is next to that
SELECT count(*), count(*) FILTER (WHERE NOT ulid_starts_with(id, prefix)) AS missed,
       count(*) FILTER (WHERE id NOT BETWEEN ulid_prefix_lower(prefix) AND ulid_prefix_upper(prefix)) AS outside,
       count(*) FILTER (WHERE ulid_starts_with(other, prefix) <> starts_with(other::text, upper(prefix))) AS wrong
FROM (SELECT id, lag(id) OVER (ORDER BY id) AS other, CASE WHEN n % 2 = 0 THEN left(id::text, n) ELSE lower(left(id::text, n)) END AS prefix
      FROM (SELECT gen_ulid('2026-01-01 00:00+00'::timestamptz + i * interval '1 hour') AS id FROM generate_series(1, 1000) AS i) AS s,
           generate_series(0, 26) AS n) AS s;
SELECT ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', 'ol') AS aliases, ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', '') AS empty,
       ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', '02') AS another, ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', '1') AS not_the_first;
-- the type of the text does not matter
SELECT ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', '01A'::varchar) AS varchar, ulid_starts_with('01563df3-6481-d676-4c61-efb99302bd5b'::uuid, '01A') AS uuid;

-- what no ulid starts with (22P02)
SELECT ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', 'U');
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', '01-A');
SELECT ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', '01A%');
SELECT ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', '01A ');
SELECT ulid_prefix_lower('01é');
SELECT ulid_prefix_upper('01ARYZ6S41TSV4RRFFQ69G5FAV0');
SELECT ulid_prefix_lower('01563df3-6481-d676-4c61-efb99302bd5b');
-- more than 128 bits (22003)
SELECT ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', '8');
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_prefix_upper('Z');
-- null gives null
SELECT ulid_starts_with(NULL, '0'), ulid_starts_with('01ARYZ6S41TSV4RRFFQ69G5FAV', NULL), ulid_prefix_lower(NULL), ulid_prefix_upper(NULL);
-- an untyped literal is not ambiguous
SELECT ulid_prefix_lower('01A') < ulid_lower_bound('2026-01-01 00:00+00') AS literal;
