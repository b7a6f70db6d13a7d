-- Which layouts the ids of a column have: see other_ids.md. It only reads, and needs no extension.
--
--   psql -X -v id=COLUMN -v from='TABLE' -f which_ids.sql
--
--   made=created_at                           a column with the time of each row, if there is one
--   from='product TABLESAMPLE SYSTEM (1)'     a part of a large table; 10,000 rows are enough
\if :{?made}
\else
\set made NULL
\endif
WITH given AS (
    SELECT row_number() OVER () AS row,
           (:id)::text AS id,
           (:made)::timestamptz AS made
    FROM :from
), bare AS (
    SELECT row, made, regexp_replace(id, '^.*_|=+$', '', 'g') AS id,
        CASE WHEN strpos(id, '_') > 0 THEN 'prefix, ' ELSE '' END AS prefix
    FROM given
), alphabet (form, pattern, digits, padding, range) AS (VALUES    -- range: 1 if all texts of the
    -- length are possible; 32 if the shorter ones are only 1 of 32 values
    ('Crockford', '^[0-7][0-9A-HJKMNP-TV-Z]{25}$', '0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1, 1),
    ('Crockford, left-aligned', '^[0-9A-HJKMNP-TV-Z]{25}[048CGMRW]$',
        '0123456789ABCDEFGHJKMNPQRSTVWXYZ', 4, 1),
    ('base32hex', '^[0-9A-V]{25}[048CGKOS]$', '0123456789ABCDEFGHIJKLMNOPQRSTUV', 4, 1),
    ('base58', '^[1-9A-HJ-NP-Za-km-z]{21,22}$',
        '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz', 1, 32)
), bits (row, made, form, alike, range, b) AS (    -- the first 66: time, version, variant
    -- alike: how many rows are written so, whether their layout is known or not
    SELECT row, made, prefix || 'uuid', count(*) OVER (PARTITION BY prefix), 1,
        ('x' || hex)::bit(66)
    FROM bare, regexp_replace(id, '^\\x|[{}-]', '', 'g') AS hex WHERE hex ~* '^[0-9a-f]{32}$'
    UNION ALL
    SELECT row, made, prefix || form, alike, range, div(n, 2 ^ 96.0)::bigint::bit(32)
        || mod(div(n, 2 ^ 64.0), 2 ^ 32.0)::bigint::bit(32)
        || mod(div(n, 2 ^ 62.0), 4)::integer::bit(2)
    FROM (
        SELECT *, count(*) OVER (PARTITION BY prefix, (length(id) + 1) / 2) AS alike FROM bare
    ) AS b, alphabet, LATERAL (
        SELECT CASE form WHEN 'base58' THEN id ELSE upper(id) END
    ) AS t (shown), LATERAL (
        SELECT div(sum((strpos(digits, substr(shown, i, 1)) - 1)
            * length(digits)::numeric ^ (length(shown) - i)), padding)
        FROM generate_series(1, length(shown)) AS i
    ) AS s (n)
    WHERE shown ~ pattern AND n < 2 ^ 128.0
), fields AS (
    SELECT row, made, form, alike, range, substring(b, 1, 48)::bigint AS t,
        substring(b, 53, 12)::bigint AS low,
        (substring(b, 25, 8) || substring(b, 17, 8) || substring(b, 9, 8) || substring(b, 1, 8)
            || substring(b, 41, 8) || substring(b, 33, 8))::bit(48)::bigint AS mixed,
        substring(b, 65) = B'10' AS variant, substring(b, 49, 4)::integer AS version,
        substring(b, 57, 4)::integer AS mixed_version
    FROM bits
), candidate AS (    -- years: of all times that the bits can have
    SELECT row, made, form, alike, range, variant, l.* FROM fields, LATERAL (VALUES
        (1, 'UUID version 7', version = 7, t, 2000, 8919),
        (2, 'UUID version 7, early draft', version = 7,
            (t >> 12) * 1000 + ((t & 4095) * 1000 >> 12), 2020, 2177),
        (2, 'UUID version 7, in seconds', version = 7, t * 1000, 2020, 8919000),
        (2, 'UUID version 7, first bit inverted', version = 7, t # (1::bigint << 47), 2020, 8919),
        (3, 'UUID version 1', version = 1,
            (((low << 48) | ((t & 65535) << 32) | (t >> 16)) - 122192928000000000) / 10000,
            1998, 3653),
        (4, 'UUID version 6', version = 6, ((t << 12 | low) - 122192928000000000) / 10000,
            1998, 3653),
        (5, 'orderedUuid of Laravel', version = 4, t / 100, 2017, 89),
        (6, 'UUID version 7, mixed byte order', mixed_version = 7, mixed, 2000, 8919),
        (7, 'ULID', NULL, t, 2000, 8919),
        (8, 'ULID, mixed byte order', NULL, mixed, 2000, 8919),
        (8, 'milliseconds since the year 1', NULL, t - 62135596800000, 2000, 8919),
        (9, 'UUID version 4', version = 4, NULL, 2000, 0)
    ) AS l (priority, layout, version, ms, since, years)
    UNION ALL
    SELECT row, made, 'bigint', 0, 0, NULL, l.* FROM given, LATERAL (
        SELECT CASE WHEN id ~ '^([1-9]\d{12,17}|[1-8]\d{18})$' THEN id::bigint END
    ) AS s (n), LATERAL (VALUES
        (0, 'snowflake of Twitter', NULL::boolean, (n >> 22) + 1288834974657, 2010, 0),
        (0, 'snowflake of Discord', NULL, (n >> 22) + 1420070400000, 2015, 0),
        (0, 'TSID', NULL, (n >> 22) + 1577836800000, 2020, 0),
        (0, 'Mastodon', NULL, n >> 16, 2016, 0),
        (0, 'Instagram', NULL, (n >> 23) + 1314220021721, 2011, 0),
        (0, 'Sonyflake 1', NULL, (n >> 24) * 10 + 1409529600000, 2014, 0),
        (0, 'Sonyflake 2', NULL, (n >> 24) * 10 + 1735689600000, 2025, 0)
    ) AS l (priority, layout, version, ms, since, years)
    WHERE n IS NOT NULL
    UNION ALL
    SELECT row, made, '', 0, 0, NULL, 10, 'none of these', NULL, NULL, 2000, 0 FROM given
), tried AS (
    SELECT *, version IS NULL OR variant AS has_variant, version IS NOT FALSE AS has_version,
        ms IS NULL OR ms BETWEEN extract(epoch FROM make_date(since, 1, 1)) * 1000
            AND extract(epoch FROM now() + interval '1 day') * 1000 AS has_time
    FROM candidate
), chance AS (    -- how many rows one of the conditions would let pass if its bits were random
    SELECT layout, form, max(alike) AS alike, greatest(
        count(*) FILTER (WHERE has_variant AND has_time AND version IS NOT NULL) / 16.0,
        count(*) FILTER (WHERE has_version AND has_time AND version IS NOT NULL) / 4.0,
        CASE WHEN count(version) = 0 THEN max(alike)
            ELSE count(*) FILTER (WHERE has_version AND has_variant) END
            * max(range) * (extract(year FROM now()) + 1 - since) / nullif(years, 0)) AS expected
    FROM tried GROUP BY layout, form, since, years
), fitting AS (
    SELECT *, count(*) OVER (PARTITION BY form) AS of_form FROM tried
    WHERE has_version AND has_variant AND has_time
), chosen AS (    -- a text can be one of two alphabets
    SELECT *, rank() OVER (PARTITION BY row ORDER BY form = '', of_form DESC, priority) AS rank
    FROM fitting
), counted AS (
    SELECT layout, form, count(*) AS rows, max(ms),
        avg((abs(ms / 1000.0 - extract(epoch FROM made)) < 60)::integer) AS same
    FROM chosen WHERE rank = 1
    GROUP BY layout, form
)
SELECT layout, form, rows, CASE
        WHEN rows < alike AND rows <= expected + 5 * sqrt(expected) THEN 'no: chance gives as many'
        WHEN same > 0.9 THEN 'yes: the times of the rows'
        WHEN same IS NOT NULL THEN 'no: the rows have other times'
        WHEN form = 'bigint' THEN 'if the newest row is of the last time'
        WHEN rows * 10 < alike THEN 'no: too few to tell'
        WHEN form > '' THEN 'yes' END AS sure,
    to_timestamp(max / 1000.0) AS last
FROM counted JOIN chance USING (layout, form) ORDER BY rows DESC, layout;
