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
    SELECT row, made, regexp_replace(id, '^.*_', '') AS id,
        CASE WHEN strpos(id, '_') > 0 THEN 'prefix, ' ELSE '' END AS prefix
    FROM given
), alphabet (form, pattern, digits, padding) AS (VALUES
    ('Crockford', '^[0-7][0-9A-HJKMNP-TV-Z]{25}$', '0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1),
    ('Crockford, left-aligned', '^[0-7][0-9A-HJKMNP-TV-Z]{24}[048CGMRW]$',
        '0123456789ABCDEFGHJKMNPQRSTVWXYZ', 4),
    ('base32hex', '^[0-9A-V]{25}[048CGKOS]$', '0123456789ABCDEFGHIJKLMNOPQRSTUV', 4),
    ('base58', '^[1-9A-HJ-NP-Za-km-z]{22}$',
        '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz', 1)
), bits (row, made, form, b) AS (    -- the first 66: the time, the version, the variant
    SELECT row, made, prefix || 'uuid', ('x' || hex)::bit(66)
    FROM bare, regexp_replace(id, '^\\x|[{}-]', '', 'g') AS hex WHERE hex ~* '^[0-9a-f]{32}$'
    UNION ALL
    SELECT row, made, prefix || form, div(n, 2 ^ 96.0)::bigint::bit(32)
        || mod(div(n, 2 ^ 64.0), 2 ^ 32.0)::bigint::bit(32)
        || mod(div(n, 2 ^ 62.0), 4)::integer::bit(2)
    FROM bare, alphabet, LATERAL (
        SELECT CASE form WHEN 'base58' THEN id ELSE upper(id) END
    ) AS t (shown), LATERAL (
        SELECT div(sum((strpos(digits, substr(shown, i, 1)) - 1)
            * length(digits)::numeric ^ (length(shown) - i)), padding)
        FROM generate_series(1, length(shown)) AS i
    ) AS s (n)
    WHERE shown ~ pattern AND n < 2 ^ 128.0
), fields AS (
    SELECT row, made, form, substring(b, 1, 48)::bigint AS t, substring(b, 53, 12)::bigint AS low,
        (substring(b, 25, 8) || substring(b, 17, 8) || substring(b, 9, 8) || substring(b, 1, 8)
            || substring(b, 41, 8) || substring(b, 33, 8))::bit(48)::bigint AS mixed,
        CASE WHEN substring(b, 65) = B'10' THEN substring(b, 49, 4)::integer END AS version,
        CASE WHEN substring(b, 65) = B'10' THEN substring(b, 57, 4)::integer END AS mixed_version
    FROM bits
), candidate AS (    -- by_chance, of_version_4: the part of random bits that looks so
    SELECT row, made, form, l.* FROM fields, LATERAL (VALUES
        (1, 'UUID version 7', version = 7, t, 2000, 0.016, 0),
        (2, 'UUID version 7, early draft', version = 7,
            (t >> 12) * 1000 + ((t & 4095) * 1000 >> 12), 2020, 0.0005, 0),
        (2, 'UUID version 7, in seconds', version = 7, t * 1000, 2020, 0, 0),
        (2, 'UUID version 7, first bit inverted', version = 7, t # (1::bigint << 47),
            2020, 0.0005, 0),
        (3, 'UUID version 1', version = 1,
            (((low << 48) | ((t & 65535) << 32) | (t >> 16)) - 122192928000000000) / 10000,
            1998, 0.0005, 0),
        (4, 'UUID version 6', version = 6,
            ((t << 12 | low) - 122192928000000000) / 10000, 1998, 0.0005, 0),
        (5, 'orderedUuid of Laravel', version = 4, t / 100, 2017, 0.01, 0.13),
        (6, 'UUID version 7, mixed byte order', mixed_version = 7, mixed, 2000, 0.016, 0.0003),
        (7, 'ULID', true, t, 2000, 0.004, 0.004),
        (8, 'ULID, mixed byte order', true, mixed, 2000, 0.004, 0.004),
        (9, 'UUID version 4', version = 4, NULL, 2000, 0.07, 0)
    ) AS l (priority, layout, fits, ms, since, by_chance, of_version_4)
    UNION ALL
    SELECT row, made, 'bigint', l.* FROM given, LATERAL (
        SELECT CASE WHEN id ~ '^([1-9]\d{12,17}|[1-8]\d{18})$' THEN id::bigint END
    ) AS s (n), LATERAL (VALUES
        (0, 'snowflake of Twitter', true, (n >> 22) + 1288834974657, 2010, 0, 0),
        (0, 'snowflake of Discord', true, (n >> 22) + 1420070400000, 2015, 0, 0),
        (0, 'Mastodon', true, n >> 16, 2016, 0, 0),
        (0, 'Instagram', true, (n >> 23) + 1314220021721, 2011, 0, 0),
        (0, 'Sonyflake', true, (n >> 24) * 10 + 1409529600000, 2014, 0, 0)
    ) AS l (priority, layout, fits, ms, since, by_chance, of_version_4)
    WHERE n IS NOT NULL
    UNION ALL
    SELECT row, made, '', 10, 'none of these', true, NULL, 2000, 0, 0 FROM given
), fitting AS (
    SELECT *, count(*) OVER (PARTITION BY form) AS of_form FROM candidate
    WHERE fits AND (ms IS NULL OR ms BETWEEN extract(epoch FROM make_date(since, 1, 1)) * 1000
        AND extract(epoch FROM now() + interval '1 day') * 1000)
), chosen AS (    -- a text can be one of two alphabets
    SELECT *, rank() OVER (PARTITION BY row ORDER BY form = '', of_form DESC, priority) AS rank
    FROM fitting
), counted AS (
    SELECT layout, form, count(*) AS rows, max(ms), by_chance, of_version_4,
        avg((abs(ms / 1000.0 - extract(epoch FROM made)) < 60)::integer) AS same,
        sum(count(*)) FILTER (WHERE layout ~ '^ULID|mixed') OVER form AS random,
        sum(count(*)) FILTER (WHERE layout = 'UUID version 4') OVER form AS version_4
    FROM chosen WHERE rank = 1
    GROUP BY layout, form, by_chance, of_version_4 WINDOW form AS (PARTITION BY form)
), expected AS (
    SELECT *, coalesce(of_version_4 * version_4, 0) + by_chance
        * coalesce(random - CASE WHEN layout ~ '^ULID|mixed' THEN rows ELSE 0 END, 0) AS expected
    FROM counted
)
SELECT layout, form, rows, CASE
        WHEN rows <= expected + 5 * sqrt(expected) THEN 'no: chance gives as many'
        WHEN same > 0.9 THEN 'yes: the times of the rows'
        WHEN same IS NOT NULL THEN 'no: the rows have other times'
        WHEN form = 'bigint' THEN 'if the newest row is of the last time'
        WHEN form > '' THEN 'yes' END AS sure,
    to_timestamp(max / 1000.0) AS last
FROM expected ORDER BY rows DESC, layout;
