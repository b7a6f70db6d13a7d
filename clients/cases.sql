-- The tables of the tests of clients, and texts that come in from outside, most of them malformed.
-- Each test inserts every text into orders, as the id, with its note; the last one, which is null,
-- as customer_id. With a tool that writes arrays, it inserts each once more as the only element of
-- related, with the note "array of" and that note. What is refused it leaves out. Then it calls
-- cases.compare(), which raises an error unless the table has what the server itself makes of these
-- texts. The extension must be there: ulid, or ulid_sql, with which the keys have the type uuid.
DO $$ BEGIN
    EXECUTE format('
        CREATE TABLE customer (id %1$s PRIMARY KEY DEFAULT gen_ulid(), name text NOT NULL);
        CREATE TABLE orders (
            id %1$s PRIMARY KEY DEFAULT gen_ulid(),
            customer_id %1$s REFERENCES customer,
            note text,
            related %1$s[]
        )', coalesce(to_regtype('ulid')::text, 'uuid'));
END $$;

CREATE SCHEMA cases;
CREATE TABLE cases.given (note text, given text, verdict text);
INSERT INTO cases.given
SELECT format('case %s', n), given,
    CASE WHEN ulid_is_valid(given) THEN ulid_to_text(ulid_from_text(given)) END
FROM unnest(ARRAY[
    -- as the server writes it; in lower case
    '01BX5ZZKBKACTAV9WEVGEMMVR0', '01bx5zzkbkactav9wevgemmvr5',
    -- O for 0, I and L for 1
    'OIBX5ZZKBKACTAV9WEVGEMMVR2', 'oLbx5zzkbkactav9wevgemmvri',
    '016093ff-cd9e-6339-aada-5c86ddca8b4f', '016093FF-CD9E-6339-AADA-5C86DDCA8B50',
    -- other spellings of a uuid
    '016093ffcd9e6339aada5c86ddca8b51', '{016093ff-cd9e-6339-aada-5c86ddca8b52}',
    '{016093FFCD9E6339AADA5C86DDCA8B53}', '0160-93ff-cd9e-6339-aada-5c86-ddca-8b54',
    '{016093ff-cd9e6339-aada5c86-ddca8b55}',
    -- of as many bytes as a value; Base58
    '', 'abc', 'nonsense', 'sixteen letters.', '1BKuy2YWf8Yf9vSkA2wDpg',
    -- of 25 and 27 characters
    '01BX5ZZKBKACTAV9WEVGEMMVR', '01BX5ZZKBKACTAV9WEVGEMMVRYZ',
    -- above the largest
    '81BX5ZZKBKACTAV9WEVGEMMVRY', 'Z1BX5ZZKBKACTAV9WEVGEMMVRY', U&'81BX5ZZKBKACTAV9WEVGEMMV\00E9',
    'U1BX5ZZKBKACTAV9WEVGEMMVRY', '01BX5ZZKBKACTAV9WEVGEMMVRU', '01bx5zzkbkactav9wevgemmvru',
    'this is nonsense of 26 let', '01BX5ZZKBK-CTAV9WEVGEMMVRY', '01BX5ZZKBK_CTAV9WEVGEMMVRY',
    '+1BX5ZZKBKACTAV9WEVGEMMVRY',
    'this is nonsense with 36 characters.', 'zzzzzzzz-zzzz-zzzz-zzzz-zzzzzzzzzzzz',
    '016093ffcd9e6339aada5c86ddca8b5f0123',
    '016093ff-cd9e-6339-aada-5c86ddca8b5', '016093ff-cd9e-6339-aada5-c86ddca8b5f',
    '016093ffcd9e6339aada5c86ddca8b5', '{016093ff-cd9e-6339-aada-5c86ddca8b5f',
    '016093ffcd9e6339aada5c86ddca8b5f}', '(016093ff-cd9e-6339-aada-5c86ddca8b5f)',
    '016093ff--cd9e6339aada5c86ddca8b5f', '016093ffcd9e6339aada5c86ddca8b5f-',
    '{016093ffcd9e6339aada5c86ddca8b5f-}', 'urn:uuid:016093ff-cd9e-6339-aada-5c86ddca8b5f',
    ' 01BX5ZZKBKACTAV9WEVGEMMVRY', '01BX5ZZKBKACTAV9WEVGEMMVR ', E'01BX5ZZKBKACTAV9WEVGEMMVRY\n',
    E'01BX5ZZKBKACTAV9WEVGEMMVR\n',
    E'016093ff-cd9e-6339-aada-5c86ddca8b5f\n',
    -- K, S in Unicode
    U&'01BX5ZZ\212ABKACTAV9WEVGEMMVRY', U&'01BX5ZZKBKACTAV9WEVGEMMVR\017F',
    U&'\017F1BX5ZZKBKACTAV9WEVGEMMVR',
    -- digits of other scripts
    U&'\FF101BX5ZZKBKACTAV9WEVGEMMVRY', U&'01BX5ZZKBKACTAV9WEVGEMMVR\0661',
    NULL]) WITH ORDINALITY AS texts (given, n);

CREATE FUNCTION cases.compare(arrays boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    difference text;
BEGIN
    SELECT string_agg(format('%L: stored %s, the server says %s', given,
        coalesce(stored, 'nothing'), coalesce(verdict, 'no')), E'\n')
    INTO difference
    FROM (
        SELECT given, verdict, ulid_to_text(id) AS stored FROM cases.given
        LEFT JOIN orders USING (note) WHERE given IS NOT NULL
        UNION ALL
        SELECT given, verdict, (SELECT string_agg(ulid_to_text(element), ' ')
            FROM unnest(related) AS element)
        FROM cases.given LEFT JOIN orders ON orders.note = 'array of ' || given.note
        WHERE arrays AND given IS NOT NULL
        UNION ALL
        SELECT given, 'null', CASE WHEN id IS NOT NULL AND customer_id IS NULL THEN 'null' END
        FROM cases.given LEFT JOIN orders USING (note) WHERE given IS NULL
    ) AS stored
    WHERE stored IS DISTINCT FROM verdict;
    IF difference IS NOT NULL THEN RAISE EXCEPTION E'not what the server says:\n%', difference;
    END IF;
    RETURN 'equal';
END
$$;
