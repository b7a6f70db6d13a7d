-- what the workers take is in order, also after the table was reloaded
INSERT INTO outbox (message) SELECT n FROM generate_series(1, 2000) AS n;
CREATE TABLE reloaded AS SELECT * FROM outbox ORDER BY hashtext(message);
TRUNCATE outbox;
INSERT INTO outbox SELECT * FROM reloaded;
ANALYZE outbox;
CREATE TABLE taken (n integer GENERATED ALWAYS AS IDENTITY, id ulid, message text);
SELECT regexp_replace(:'block_2', '(?=SELECT \* )', 'INSERT INTO taken (id, message) ')
\gexec
DO $$ BEGIN
    ASSERT (SELECT count(*) = 100 AND bool_and(in_order)
            FROM (SELECT id > lag(id) OVER (ORDER BY n) IS NOT FALSE AS in_order FROM taken) AS s);
END $$;
