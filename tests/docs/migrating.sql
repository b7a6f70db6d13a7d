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
