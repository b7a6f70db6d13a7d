CREATE TABLE account (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), name text);
CREATE TABLE posting (account_id uuid REFERENCES account, amount numeric);
CREATE INDEX posting_account_id_idx ON posting (account_id);
CREATE VIEW account_ids AS SELECT id FROM account;
CREATE TABLE session AS
SELECT gen_ulid()::text COLLATE "C" AS id, n AS visits FROM generate_series(1, 1000) AS n;
CREATE TABLE ticket AS SELECT id::char(26) AS id, visits FROM session;
CREATE TABLE device AS SELECT uuid_send(gen_random_uuid()) AS id, visits FROM session;
ALTER TABLE session ADD PRIMARY KEY (id);
ALTER TABLE ticket ADD PRIMARY KEY (id);
ALTER TABLE ticket ALTER COLUMN id TYPE ulid, ALTER COLUMN id SET DEFAULT gen_ulid();
ALTER TABLE device ADD PRIMARY KEY (id);
-- char(36): the check does not see the blanks, and the cast does
CREATE TABLE padded AS SELECT id::char(36) AS id FROM session;
DO $$ BEGIN
    ASSERT (SELECT count(*) = 0 FROM padded WHERE NOT ulid_is_valid(id));
    ALTER TABLE padded ALTER COLUMN id TYPE ulid;
    RAISE EXCEPTION 'no error';
EXCEPTION WHEN invalid_text_representation THEN
    ALTER TABLE padded ALTER COLUMN id TYPE ulid USING rtrim(id)::ulid;
END $$;
INSERT INTO session VALUES ('KQHLZWJQ8MJJDH67LRIMHIHRSL', 0),
    ('01ARZ3NDE1TSV4RRFFQ69G5FAV', 0), ('01ARZ3NDEITSV4RRFFQ69G5FAV', 0);

-- The table of the page: each conversion keeps the time of an id, and its way back the id.
SET timezone = 'UTC';
SELECT '''^(..)(..)(..)(..)-(..)(..)-(..)(..)'', ''\4\3\2\1-\6\5-\8\7''' AS swapped \gset
CREATE TABLE conversion (old text, convert text, back text, time timestamptz);
INSERT INTO conversion VALUES
    ('text ''user_01h455vb4pex5vsknk084sn02q''', 'ulid_from_typeid(id, ''user'')',
        'ulid_to_typeid(''user'', id)', '2023-06-30 03:34:18.518'),
    ('text ''prefix_01ARYZ6S41TSV4RRFFQ69G5FAV''', 'substring(id FROM ''[^_]*$'')::ulid',
        '''prefix_'' || id', '2016-07-30 22:36:16.385'),
    ('bigint ''1541815603606036480''', 'ulid_from_snowflake(id)', 'ulid_to_snowflake(id)',
        '2022-06-28 16:07:40.105'),
    ('bigint ''867346286911995904''', 'ulid_from_snowflake(id, ''2015-01-01Z'')',
        'ulid_to_snowflake(id, ''2015-01-01Z'')', '2021-07-21 10:04:29.314'),
    ('bigint ''867346286911995904''', 'ulid_from_snowflake(id, ''2020-01-01Z'')',
        'ulid_to_snowflake(id, ''2020-01-01Z'')', '2026-07-21 10:04:29.314'),
    ('bigint ''42''', 'ulid_from_parts(created_at, id)', 'ulid_to_key(id)', '2025-03-01 12:00'),
    ('bigint ''42''', 'ulid_from_parts(''2026-01-01Z'', id)', 'ulid_to_key(id)',
        '2026-01-01 00:00'),
    ('uuid ''c232ab00-9414-11ec-b3c8-9f6bdeced846''', 'ulid_from_uuid_v1(id)',
        'ulid_to_uuid_v1(id)', '2022-02-22 19:22:22'),
    ('uuid ''1ec9414c-232a-6b00-b3c8-9f6bdeced846''', 'ulid_from_uuid_v6(id)',
        'ulid_to_uuid_v6(id)', '2022-02-22 19:22:22'),
    ('uuid ''f33d5601-8164-76d6-4c61-efb99302bd5b''',
        format('regexp_replace(id::text, %s)::ulid', :'swapped'),
        format('regexp_replace(id::uuid::text, %s)::uuid', :'swapped'), '2016-07-30 22:36:16.385');
\set page `cat docs/migrating.md`
CREATE TABLE page AS SELECT replace(:'page', '\|', '|') AS text;
DO $$
DECLARE
    c conversion;
    is_right boolean;
BEGIN
    FOR c IN SELECT * FROM conversion LOOP
        ASSERT (SELECT strpos(text, '`' || c.convert || '`') > 0 FROM page), c.convert;
        EXECUTE format('CREATE TABLE converted AS
            SELECT %1$s AS id, (%1$s)::text AS old,
                timestamptz ''2025-03-01 12:00Z'' AS created_at', c.old);
        EXECUTE format('ALTER TABLE converted ALTER COLUMN id TYPE ulid USING %s', c.convert);
        EXECUTE format('SELECT ulid_extract_timestamp(id) = %L AND (%s)::text = old FROM converted',
            c.time, c.back) INTO is_right;
        ASSERT is_right, c.convert;
        DROP TABLE converted;
    END LOOP;
END $$;
DROP TABLE conversion, page;
