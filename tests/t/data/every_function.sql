-- Print calls of every function of the extension, each on a line, with each of some values for each
-- argument. Functions that take what only the server can give them (internal, trigger) are called
-- by queries, and a procedure by CALL. A function that is left out because it takes a type without
-- a value here is said.
WITH RECURSIVE value (type, text) AS (VALUES
    ('ulid', '01JH34XFJJNPZXTRBMH9A2NW6S'), ('ulid', '00000000000000000000000000'),
    ('ulid', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'),
    ('uuid', 'c232ab00-9414-11ec-b3c8-9f6bdeced846'),
    ('uuid', '1ec9414c-232a-6b00-b3c8-9f6bdeced846'),
    ('uuid', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'),
    ('uuid', '00000000-0000-0000-0000-000000000000'),
    ('text', '01JH34XFJJNPZXTRBMH9A2NW6S'), ('text', '01j'),
    ('text', 'a_b_01jh34xfjjnpzxtrbmh9a2nw6s'), ('text', 'a_b'), ('text', ''),
    ('cstring', '01JH34XFJJNPZXTRBMH9A2NW6S'), ('cstring', '01jh34xfjjnpzxtrbmh9a2nw6!'),
    ('cstring', '9'), ('cstring', '8ZZZZZZZZZZZZZZZZZZZZZZZZZ'),
    ('bytea', '\x0194464f3e52adbffd62eac545a7d2b7'), ('bytea', '\x01'),
    ('bytea', '\xffffffffffffffffffff'),
    ('timestamp with time zone', '2025-01-10Z'), ('timestamp with time zone', 'infinity'),
    ('timestamp with time zone', '1969-12-31Z'),
    ('timestamp without time zone', '2025-01-10'), ('timestamp without time zone', '-infinity'),
    ('timestamp without time zone', '294276-12-31 23:59:59'),
    ('tstzrange', '[2025-01-10Z,2025-01-20Z)'), ('tstzrange', 'empty'), ('tstzrange', '(,)'),
    ('tstzrange', '(10889-08-02Z,]'),
    ('ulid_window', '[2025-01-10Z,2025-01-20Z)'), ('ulid_window', 'empty'),
    ('integer', '4'), ('xid', '3'), ('bigint', '1541815603606036480'), ('bigint', '-1'),
    ('boolean', 'true'), ('regclass', 'ulid_horizon'), ('regtype', 'ulid'),
    ('regclass[]', '{ulid_horizon}'),
    ('regproc', 'ulid_consumer_find'), ('name', 'id'), ('oid', '0'), ('oid[]', '{0}'),
    ('bigint[]', '{0}'), ('interval', '0'), ('json', '{}'),
    -- Not written as a text, so that a new column fails here.
    ('ulid_consumer', ROW('mail', 'nobody', 'ulid_horizon', 'ulid_horizon', 'id',
        '00000000-0000-0000-0000-000000000000', '2025-01-10', '{2025-01-11}', '{0}',
        0)::ulid_consumer::text)
), member AS (
    SELECT p.oid, p.oid::regproc AS name, p.proargtypes AS types, p.pronargs AS arguments
    FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
        AND d.deptype = 'e'
    WHERE d.refclassid = 'pg_extension'::regclass
        AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'ulid')
        AND p.prorettype <> 'trigger'::regtype AND p.prokind <> 'p'
), call (oid, name, types, arguments, n, list) AS (
    SELECT oid, name, types, arguments, 0, '' FROM member
    UNION ALL
    SELECT c.oid, c.name, c.types, c.arguments, n + 1, list || CASE WHEN n > 0 THEN ', '
        ELSE '' END || format('%L::', v.text) || v.type
    FROM call AS c LEFT JOIN value AS v
        ON v.type = replace(format_type(c.types[n], NULL), 'record', 'ulid_consumer')
    WHERE n < c.arguments AND c.types[n] <> 'internal'::regtype
)
SELECT COALESCE(format('SELECT %s(' || list || ');', name), 'not called: ' || oid::regprocedure)
    FROM call WHERE n = arguments;
