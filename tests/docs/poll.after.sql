-- from four consumers with different positions to two, and back: each row is read once
-- polls of each consumer of a set, by the condition of the page
CREATE TABLE done (id ulid, consumer text);
CREATE TABLE page (share text, change text);
INSERT INTO page VALUES (substring(:'block_3' FROM 'AND (coalesce.*= )\$3') || '$2',
    regexp_replace(:'block_4', 'BEGIN;|COMMIT;', '', 'g'));
CREATE PROCEDURE poll(names text, polls integer, until ulid) LANGUAGE plpgsql AS $$
DECLARE
    share CONSTANT text := (SELECT replace(p.share, '3', CASE names WHEN 'of two: ' THEN '1'
                                                              ELSE '3' END) FROM page AS p);
    c consumer;
    found ulid[];
BEGIN
    FOR c IN SELECT * FROM consumer WHERE name LIKE names || '%' LOOP
        FOR n IN 1 .. polls + right(c.name, 1)::integer LOOP
            EXECUTE format('SELECT array_agg(id ORDER BY id) FROM (
                SELECT id FROM outbox WHERE id > $1 AND id < (SELECT ulid_current_horizon($1))
                    AND id <= $3 AND %s ORDER BY id LIMIT 50) AS s', share)
            INTO found USING c.last_id, right(c.name, 1)::integer, until;
            EXIT WHEN found IS NULL;
            INSERT INTO done SELECT id, c.name FROM unnest(found) AS id;
            c.last_id := (SELECT max(id) FROM unnest(found) AS id);
            UPDATE consumer SET last_id = c.last_id WHERE name = c.name;
        END LOOP;
    END LOOP;
END $$;
CREATE PROCEDURE change(old text, new text, number text) LANGUAGE plpgsql AS $$
DECLARE
    last CONSTANT ulid := (SELECT max(last_id) FROM consumer);
BEGIN
    ASSERT (SELECT count(DISTINCT last_id) > 1 FROM consumer);
    CALL poll(old, 1000, last);
    EXECUTE (SELECT replace(replace(replace(replace(change, 'of two', 'new'), 'of four: ', old),
                 'new: ', new), '0, 1', number) FROM page);
END $$;
DELETE FROM consumer;
TRUNCATE outbox;
INSERT INTO outbox (message, account)
SELECT n, CASE WHEN n % 40 > 0 THEN 'account ' || n % 40 END FROM generate_series(1, 2000) AS n;
CALL ulid_refresh_horizon();
\set end 7ZZZZZZZZZZZZZZZZZZZZZZZZZ
INSERT INTO consumer (name) SELECT 'of four: ' || n FROM generate_series(0, 3) AS n;
CALL poll('of four: ', 1, :'end');
CALL change('of four: ', 'of two: ', '0, 1');
CALL poll('of two: ', 1, :'end');
CALL change('of two: ', 'of four: ', '0, 3');
CALL poll('of four: ', 1000, :'end');
DO $$ BEGIN
    ASSERT (SELECT count(*) FROM done) = 2000, 'a row is read twice, or not';
    ASSERT (SELECT count(DISTINCT id) FROM done) = 2000, 'a row is not read';
    ASSERT (SELECT count(DISTINCT consumer) FROM done) = 6, 'a consumer has no share';
END $$;
