-- An application that runs on the type of the extension ulid, on the functions of ulid_sql, and in PGlite: only the type
-- of its columns differs, which @id@ stands for. Each row that a query returns is one text, the same everywhere.
SET timezone = 'UTC';
CREATE TABLE account (
    id @id@ PRIMARY KEY DEFAULT gen_ulid(),
    name text NOT NULL UNIQUE,
    made timestamptz GENERATED ALWAYS AS (ulid_extract_timestamp(id)) STORED
);
CREATE TABLE invoice (
    id @id@ PRIMARY KEY DEFAULT gen_ulid(),
    account_id @id@ NOT NULL REFERENCES account ON DELETE CASCADE,
    number text GENERATED ALWAYS AS (ulid_to_typeid('inv', id)) STORED,
    total numeric NOT NULL,
    CHECK (ulid_extract_unix_ms(id) >= 1420070400000)
);
CREATE INDEX ON invoice (account_id, id);
CREATE INDEX ON invoice (ulid_extract_timestamp(id));
CREATE TABLE log (id @id@ NOT NULL DEFAULT gen_ulid(), what text) PARTITION BY RANGE (id);
CREATE TABLE log_before PARTITION OF log FOR VALUES FROM (MINVALUE) TO ('01563df3-6481-0000-0000-000000000000');
CREATE TABLE log_after PARTITION OF log FOR VALUES FROM ('01563df3-6481-0000-0000-000000000000') TO (MAXVALUE);
CREATE VIEW statement AS
    SELECT i.number, ulid_to_text(i.id) AS id, ulid_to_text(a.id) AS account, a.name, i.total, ulid_extract_timestamp(i.id) AS made
    FROM invoice AS i JOIN account AS a ON a.id = i.account_id;
CREATE FUNCTION invoice_of(text) RETURNS numeric LANGUAGE sql STABLE AS 'SELECT total FROM invoice WHERE id = ulid_from_typeid($1, ''inv'')';

-- Rows: ids that are known, that are made for a time, and that are made now.
INSERT INTO account (id, name) VALUES (ulid_from_text('01ARYZ6S41TSV4RRFFQ69G5FAV'), 'first'), (ulid_from_typeid('user_01h455vb4pex5vsknk084sn02q'), 'second');
INSERT INTO account (name) VALUES ('now');
INSERT INTO invoice (id, account_id, total)
    SELECT ulid_lower_bound('2026-01-01 00:00Z'::timestamptz + n * interval '1 hour'), ulid_from_text('01aryz6s4itsv4rrffq69g5fav'), n FROM generate_series(0, 999) AS n;
INSERT INTO invoice (id, account_id, total)
    SELECT gen_ulid('2026-03-01 00:00Z'::timestamptz + n * interval '1 ms'), (SELECT id FROM account WHERE name = 'second'), n FROM generate_series(0, 99) AS n;
INSERT INTO log (id, what) SELECT gen_ulid('2010-01-01 00:00Z'::timestamptz + n * interval '1 year'), 'year ' || n FROM generate_series(0, 9) AS n;
INSERT INTO log (what) VALUES ('now');
ANALYZE;

SELECT format('account %s %s %s', ulid_to_text(id), name, made) FROM account WHERE name <> 'now' ORDER BY id;
SELECT format('made now: %s', made BETWEEN date_trunc('milliseconds', now()) - interval '1 hour' AND clock_timestamp()) FROM account ORDER BY id DESC LIMIT 1;
SELECT format('statement %s %s %s %s %s', number, id, account, total, made) FROM statement WHERE total = 999;
SELECT format('invoice_of %s', invoice_of('inv_01kh6keqc00000000000000000'));
SELECT format('window of a day: %s', count(*)) FROM invoice WHERE ulid_contained_by_range(id, '[2026-01-02 00:00Z, 2026-01-03 00:00Z)');
SELECT format('window of nothing: %s', count(*)) FROM invoice WHERE ulid_contained_by_range(id, 'empty');
SELECT format('bounds: %s', count(*)) FROM invoice WHERE id BETWEEN ulid_lower_bound('2026-01-02 00:00Z') AND ulid_upper_bound('2026-01-02 23:59:59.999Z');
SELECT format('window of the day %s: %s', day::date, count(i.id)) FROM generate_series('2026-01-01'::timestamptz, '2026-01-03', '1 day') AS day
    LEFT JOIN invoice AS i ON i.id >= ulid_range_lower(tstzrange(day, day + interval '1 day')) AND i.id <= ulid_range_upper(tstzrange(day, day + interval '1 day'))
    GROUP BY day ORDER BY day;
SELECT format('found by %s: %s', p, count(i.id)) FROM unnest('{01KE, 01ke1, oLke1, 01KH6K, 01ZZ, 0}'::text[]) AS p
    LEFT JOIN invoice AS i ON i.id >= ulid_prefix_lower(p) AND i.id <= ulid_prefix_upper(p) GROUP BY p ORDER BY p COLLATE "C";
SELECT format('starts with: %s', count(*)) FROM account WHERE ulid_starts_with(id, '01ARYZ6S4');
SELECT format('next page: %s', string_agg(total::text, ' ')) FROM (
    SELECT total FROM invoice WHERE account_id = ulid_from_text('01ARYZ6S41TSV4RRFFQ69G5FAV') AND id > ulid_from_text('01KE1DRJG00000000000000000') ORDER BY id LIMIT 5) AS page;
SELECT format('kept in order: %s', bool_and(total >= before)) FROM (SELECT total, lag(total, 1, 0) OVER (ORDER BY id) AS before FROM invoice
    WHERE account_id = ulid_from_typeid('user_01h455vb4pex5vsknk084sn02q', 'user')) AS i;
SELECT format('partition %s: %s', tableoid::regclass, count(*)) FROM log GROUP BY tableoid ORDER BY tableoid::regclass::text;
SELECT format('randomness %s, version 7 %s', ulid_extract_randomness(id), ulid_to_uuid_v7(id)) FROM account WHERE name = 'first';
SELECT format('valid %s: %s', t, ulid_is_valid(t)) FROM unnest('{01ARYZ6S41TSV4RRFFQ69G5FAV, 01563df3-6481-d676-4c61-efb99302bd5b, 01ARYZ6S41TSV4RRFFQ69G5FAU, ""}'::text[]) AS t;
SELECT format('prefix of a TypeID: %s', typeid_prefix('user_01h455vb4pex5vsknk084sn02q'));
SELECT format('id of a version 7: %s', ulid_extract_timestamp(gen_uuid_v7('2026-01-01 00:00Z')));
SELECT format('texts in order: %s', array_agg(ulid_to_text(id) ORDER BY id) = array_agg(ulid_to_text(id) ORDER BY ulid_to_text(id) COLLATE "C")) FROM invoice;

-- What the application tells its users when something is wrong.
CREATE FUNCTION problem(text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE $1;
    RETURN 'none';
EXCEPTION WHEN others THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT problem('SELECT ulid_from_text(''01ARYZ6S41TSV4RRFFQ69G5FAU'')');
SELECT problem('SELECT ulid_from_text(''8ZZZZZZZZZZZZZZZZZZZZZZZZZ'')');
SELECT problem('SELECT ulid_from_typeid(''user_01h455vb4pex5vsknk084sn02q'', ''inv'')');
SELECT problem('SELECT ulid_from_typeid(''User_01h455vb4pex5vsknk084sn02q'')');
SELECT problem('SELECT ulid_lower_bound(''1969-12-31 23:59:59Z'')');
SELECT problem('SELECT count(*) FROM account WHERE ulid_starts_with(id, ''u'')');
SELECT problem('INSERT INTO invoice (id, account_id, total) SELECT gen_ulid(''2000-01-01 00:00Z''), id, 0 FROM account');
DELETE FROM account WHERE id = ulid_from_text('01ARYZ6S41TSV4RRFFQ69G5FAV');
SELECT format('left: %s', count(*)) FROM invoice;
