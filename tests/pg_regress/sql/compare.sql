-- Operators, sorting, hashing, aggregates: the order of values is that of their text and of their
-- bytes.

\pset format unaligned
\pset footer off
CREATE TABLE pair AS
SELECT a::ulid, b::ulid
FROM (VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV', '01ARYZ6S41TSV4RRFFQ69G5FAV'),
             ('01ARYZ6S41TSV4RRFFQ69G5FAV', '01ARYZ6S41TSV4RRFFQ69G5FAW'),
             ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ', '00000000000000000000000000'),
             (NULL, '00000000000000000000000000')) AS v (a, b);
SELECT a < b AS lt, a <= b AS le, a = b AS eq, a >= b AS ge, a > b AS gt, a <> b AS ne FROM pair;
SELECT a IS NOT DISTINCT FROM b AS same, a BETWEEN b AND b AS between_b,
    sign(ulid_cmp(a, b)) AS cmp FROM pair;
DROP TABLE pair;

-- 10,000 values that differ in every byte, half of them of one millisecond
CREATE TABLE sorted AS
SELECT CASE i % 2 WHEN 0 THEN decode(md5(i::text), 'hex')
       ELSE '\x01563df36481'::bytea || substr(decode(md5(i::text), 'hex'), 1, 10) END::ulid AS id
FROM generate_series(1, 10000) AS i;
-- sorted as their text in C collation, as their bytes, and as uuids
SELECT count(*) FILTER (WHERE id::text COLLATE "C" < before::text COLLATE "C") AS text_disorder,
       count(*) FILTER (WHERE id::bytea < before::bytea) AS bytes_disorder,
       count(*) FILTER (WHERE id::uuid < before::uuid) AS uuid_disorder,
       count(*) FILTER (WHERE id <= before) AS disorder
FROM (SELECT id, lag(id) OVER (ORDER BY id) AS before FROM sorted) AS s;
SELECT count(*) FILTER (WHERE id >= before) AS disorder
FROM (SELECT id, lag(id) OVER (ORDER BY id DESC) AS before FROM sorted) AS s;

-- hashing
SELECT ulid_hash(id) = uuid_hash(id::uuid) AS hash,
    ulid_hash_extended(id, 42) = uuid_hash_extended(id::uuid, 42) AS extended
FROM sorted LIMIT 1;
SET enable_sort = off;
SELECT count(*) FROM (SELECT DISTINCT id FROM sorted UNION ALL SELECT DISTINCT id FROM sorted) AS s;
RESET enable_sort;
SET enable_hashjoin = off;
SELECT count(*) FROM sorted AS a JOIN sorted AS b USING (id);
SET enable_mergejoin = off;
RESET enable_hashjoin;
SELECT count(*) FROM sorted AS a JOIN sorted AS b USING (id);
RESET enable_mergejoin;

-- min and max, without and with an index
SELECT min(id) = (SELECT id FROM sorted ORDER BY id LIMIT 1) AS min,
       max(id) = (SELECT id FROM sorted ORDER BY id DESC LIMIT 1) AS max FROM sorted;
SELECT min(id), max(id) FROM sorted WHERE false;
SELECT min(id), max(id)
FROM (VALUES (NULL), ('01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid), (NULL)) AS v (id);
CREATE INDEX ON sorted (id);
ANALYZE sorted;
CREATE FUNCTION plan_has(query text, node text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF strpos(line, node) > 0 THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END $$;
SELECT plan_has('SELECT min(id) FROM sorted', 'Index Only Scan using') AS min,
       plan_has('SELECT max(id) FROM sorted', 'Index Only Scan Backward') AS max;
DROP FUNCTION plan_has;
SELECT min(id) = (SELECT min(id::uuid::text) FROM sorted)::uuid AS min,
       max(id) = (SELECT max(id::uuid::text) FROM sorted)::uuid AS max FROM sorted;
DROP TABLE sorted;
