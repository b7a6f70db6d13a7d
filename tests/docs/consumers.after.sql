-- from two consumers with different positions to four: each row is read once, by the condition and
-- the statements of the page
CREATE TABLE done (id ulid, consumer text);
CREATE TABLE page (share text);
INSERT INTO page VALUES (substring(:'block_7' FROM 'AND (coalesce.*& )1 = '));
CREATE PROCEDURE poll(names text, mask integer, polls integer, up_to ulid) LANGUAGE plpgsql AS $$
DECLARE
    share CONSTANT text := (SELECT p.share FROM page AS p) || mask;
    consumer record;
    first uuid;
    last uuid;
BEGIN
    FOR consumer IN SELECT name FROM ulid_consumer WHERE name LIKE names || '%' LOOP
        FOR n IN 1 .. polls + right(consumer.name, 1)::integer LOOP
            CALL ulid_next_batch(consumer.name, 50, up_to, first, last);
            EXECUTE format('INSERT INTO done SELECT id, $1 FROM outbox'
                ' WHERE id >= $2 AND id < $3 AND %s = $4', share)
                USING consumer.name, first, last, right(consumer.name, 1)::integer;
            PERFORM ulid_finish_batch(consumer.name);
            COMMIT;
            EXIT WHEN first = last;
        END LOOP;
    END LOOP;
END $$;
SELECT ulid_drop_consumer(name) FROM ulid_consumer WHERE name LIKE 'of %' \g /dev/null
TRUNCATE outbox;
SELECT ulid_create_consumer('of two: ' || n, 'outbox', start => '00000000000000000000000000')
FROM generate_series(0, 1) AS n \g /dev/null
INSERT INTO outbox (message, account)
SELECT n, CASE WHEN n % 40 > 0 THEN 'account ' || n % 40 END FROM generate_series(1, 2000) AS n;
SELECT pg_sleep(0.01) \g /dev/null
CALL ulid_refresh_horizon();
CALL poll('of two: ', 1, 3, NULL);
DO $$ BEGIN
    ASSERT (SELECT count(DISTINCT position) = 2 FROM ulid_consumer WHERE name LIKE 'of two: %');
END $$;
SELECT regexp_replace(:'block_8', ' .gset.*', '') AS statement \gset
:statement \gset
CALL poll('of two: ', 1, 1000, :'meet');
SELECT replace(:'block_9', $$:'meet'$$, quote_literal(:'meet')) AS statement \gset
\o /dev/null
:statement
\o
CALL poll('of four: ', 3, 1000, NULL);
DO $$ BEGIN
    ASSERT (SELECT count(*) FROM done) = 2000, 'a row is read twice, or not';
    ASSERT (SELECT count(DISTINCT id) FROM done) = 2000, 'a row is not read';
    ASSERT (SELECT count(DISTINCT consumer) FROM done) = 6, 'a consumer has no share';
END $$;
