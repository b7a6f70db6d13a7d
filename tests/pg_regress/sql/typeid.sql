-- TypeID: the 128 bits of a ulid in lower case behind a prefix, read as strictly as the specification demands.

\pset format unaligned
\pset footer off
SELECT ulid_to_typeid('user', '01890a5d-ac96-774b-bcce-b302099a8057'), ulid_to_typeid('', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ') AS none,
       ulid_to_typeid('a__b', '00000000000000000000000000') AS underscores;
SELECT ulid_from_typeid('user_01h455vb4pex5vsknk084sn02q')::uuid, ulid_from_typeid('7zzzzzzzzzzzzzzzzzzzzzzzzz') AS none,
       ulid_from_typeid('a__b_00000000000000000000000000') AS underscores;
SELECT typeid_prefix('user_01h455vb4pex5vsknk084sn02q'), typeid_prefix('01h455vb4pex5vsknk084sn02q') = '' AS none,
       typeid_prefix('a__b_00000000000000000000000000') AS underscores;
-- the longest of all
SELECT ulid_from_typeid(long) = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ', length(long), length(typeid_prefix(long))
FROM (SELECT ulid_to_typeid(repeat('z', 63), '7ZZZZZZZZZZZZZZZZZZZZZZZZZ') AS long) AS s;

-- with the prefix that it must have
SELECT ulid_from_typeid('user_01h455vb4pex5vsknk084sn02q', 'user'), ulid_from_typeid('01h455vb4pex5vsknk084sn02q', '');
SELECT ulid_from_typeid('user_01h455vb4pex5vsknk084sn02q', 'order');
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_from_typeid('user_01h455vb4pex5vsknk084sn02q', 'User');
SELECT ulid_from_typeid('user_01h455vb4pex5vsknk084sn02q', 'user_');
SELECT ulid_from_typeid('user_01h455vb4pex5vsknk084sn02q', '');
SELECT ulid_from_typeid('01h455vb4pex5vsknk084sn02q', 'user');
SELECT ulid_from_typeid('user_01h455vb4pex5vsknk084sn0', 'user');

-- each fault has its detail (22P02)
SELECT ulid_from_typeid('');
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_from_typeid('_');
SELECT ulid_from_typeid('_01h455vb4pex5vsknk084sn02q');
SELECT ulid_from_typeid('user__01h455vb4pex5vsknk084sn02q');
SELECT ulid_from_typeid('User_01h455vb4pex5vsknk084sn02q');
SELECT ulid_from_typeid('usér_01h455vb4pex5vsknk084sn02q');
SELECT ulid_from_typeid('user_01H455vb4pex5vsknk084sn02q');
SELECT ulid_from_typeid('user_oih455vb4pex5vsknk084sn02q');
SELECT ulid_from_typeid('user_01h455vb4pex5vsknk084sn02');
SELECT ulid_from_typeid(repeat('a', 64) || '_01h455vb4pex5vsknk084sn02q');
SELECT typeid_prefix('user_01h455vb4pex5vsknk084sn02 ');
SELECT typeid_prefix('user');
SELECT typeid_prefix('01890a5d-ac96-774b-bcce-b302099a8057');
-- more than 128 bits (22003)
SELECT ulid_from_typeid('user_8zzzzzzzzzzzzzzzzzzzzzzzzz');
\echo :LAST_ERROR_SQLSTATE
-- no prefix of a TypeID (22023)
SELECT ulid_to_typeid('User', '00000000000000000000000000');
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_to_typeid('user_', '00000000000000000000000000');
SELECT ulid_to_typeid('naïve', '00000000000000000000000000');
SELECT ulid_to_typeid(repeat('z', 64), '00000000000000000000000000');

-- null gives null
SELECT ulid_to_typeid(NULL, gen_ulid()), ulid_to_typeid('user', NULL), ulid_from_typeid(NULL), ulid_from_typeid('nonsense', NULL),
       typeid_prefix(NULL);

-- ten thousand ids of each kind come back, in the order of their TypeIDs
SELECT count(*) FILTER (WHERE ulid_from_typeid(typeid) <> id) AS changed, count(*) FILTER (WHERE typeid_prefix(typeid) <> prefix) AS prefixes,
       count(*) FILTER (WHERE by_typeid <> by_id) AS disorder, count(*) FILTER (WHERE typeid <> prefix || '_' || lower(id::text)) AS texts
FROM (SELECT *, row_number() OVER (PARTITION BY prefix ORDER BY typeid COLLATE "C") AS by_typeid, row_number() OVER (PARTITION BY prefix ORDER BY id) AS by_id
      FROM (SELECT *, ulid_to_typeid(prefix, id) AS typeid
            FROM (SELECT 'user' AS prefix, gen_ulid() AS id FROM generate_series(1, 10000)
                  UNION ALL SELECT 'order_line', gen_uuid_v7() FROM generate_series(1, 10000)
                  UNION ALL SELECT 'x', gen_random_uuid() FROM generate_series(1, 10000)) AS s) AS s) AS s;

-- a text that is compressed or stored out of line is read as any other
CREATE TABLE typeid_text (typeid text);
ALTER TABLE typeid_text ALTER COLUMN typeid SET STORAGE EXTERNAL;
INSERT INTO typeid_text SELECT repeat('x', n) || '_01h455vb4pex5vsknk084sn02q' FROM unnest(ARRAY[63, 100000]) AS n;
SELECT length(typeid_prefix(typeid)) FROM typeid_text WHERE length(typeid) < 100;
DO $$
DECLARE
    detail text;
BEGIN
    PERFORM ulid_from_typeid(typeid) FROM typeid_text;
EXCEPTION WHEN invalid_text_representation THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RAISE NOTICE '% characters: %', length(SQLERRM), detail;
END $$;
DROP TABLE typeid_text;

-- in a generated column, a check and an index
CREATE TABLE typed (id ulid PRIMARY KEY, typeid text GENERATED ALWAYS AS (ulid_to_typeid('user', id)) STORED,
                    friend text CHECK (typeid_prefix(friend) = 'user'));
CREATE UNIQUE INDEX ON typed (ulid_to_typeid('u', id));
INSERT INTO typed (id, friend) VALUES ('01890a5d-ac96-774b-bcce-b302099a8057', 'user_00000000000000000000000000');
SELECT typeid FROM typed WHERE ulid_to_typeid('u', id) = 'u_01h455vb4pex5vsknk084sn02q';
INSERT INTO typed (id, friend) VALUES ('00000000000000000000000000', 'order_00000000000000000000000000');
EXPLAIN (COSTS OFF) SELECT * FROM typed WHERE id = ulid_from_typeid('user_01h455vb4pex5vsknk084sn02q', 'user');
DROP TABLE typed;
