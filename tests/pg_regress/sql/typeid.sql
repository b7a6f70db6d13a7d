-- TypeID: the 128 bits of a ulid in lower case behind a prefix. What is read and refused is tested
-- in core; here, that results, errors and their details arrive.

\pset format unaligned
\pset footer off
SELECT ulid_to_typeid('user', '01890a5d-ac96-774b-bcce-b302099a8057'),
    ulid_to_typeid('', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ') AS none;
SELECT ulid_from_typeid('user_01h455vb4pex5vsknk084sn02q')::uuid,
    ulid_from_typeid('7zzzzzzzzzzzzzzzzzzzzzzzzz') AS none,
       ulid_from_typeid('user_01h455vb4pex5vsknk084sn02q', 'user') AS with_prefix,
       ulid_from_typeid('01h455vb4pex5vsknk084sn02q', '') AS without;
SELECT typeid_prefix('a__b_00000000000000000000000000'),
    typeid_prefix('01h455vb4pex5vsknk084sn02q') = '' AS none;
-- null gives null
SELECT ulid_to_typeid(NULL, gen_ulid()), ulid_to_typeid('user', NULL), ulid_from_typeid(NULL),
    ulid_from_typeid('nonsense', NULL),
       typeid_prefix(NULL);

-- none (22P02)
SELECT ulid_from_typeid('user_01h455vb4pex5vsknk084sn02');
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_from_typeid('usér_01h455vb4pex5vsknk084sn02q');
SELECT typeid_prefix('user');
\echo :LAST_ERROR_SQLSTATE
-- more than 128 bits (22003)
SELECT ulid_from_typeid('user_8zzzzzzzzzzzzzzzzzzzzzzzzz');
\echo :LAST_ERROR_SQLSTATE
-- another prefix (22023), no prefix of a TypeID (22023)
SELECT ulid_from_typeid('user_01h455vb4pex5vsknk084sn02q', 'order');
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_from_typeid('01h455vb4pex5vsknk084sn02q', 'user');
SELECT ulid_from_typeid('user_01h455vb4pex5vsknk084sn02q', 'User');
\echo :LAST_ERROR_SQLSTATE
SELECT ulid_to_typeid('naïve', '00000000000000000000000000');
\echo :LAST_ERROR_SQLSTATE

-- a text that is stored out of line is read as any other
CREATE TABLE typeid_text (typeid text);
ALTER TABLE typeid_text ALTER COLUMN typeid SET STORAGE EXTERNAL;
INSERT INTO typeid_text SELECT repeat('x', n) || '_01h455vb4pex5vsknk084sn02q'
    FROM unnest(ARRAY[63, 100000]) AS n;
SELECT length(typeid_prefix(typeid)) FROM typeid_text WHERE length(typeid) < 100;
\set VERBOSITY sqlstate
SELECT ulid_from_typeid(typeid) FROM typeid_text;
\set VERBOSITY default
DROP TABLE typeid_text;

-- in a generated column, a check and an index
CREATE TABLE typed (id ulid PRIMARY KEY, typeid text GENERATED ALWAYS
    AS (ulid_to_typeid('user', id)) STORED,
                    friend text CHECK (typeid_prefix(friend) = 'user'));
CREATE UNIQUE INDEX ON typed (ulid_to_typeid('u', id));
INSERT INTO typed (id, friend)
    VALUES ('01890a5d-ac96-774b-bcce-b302099a8057', 'user_00000000000000000000000000');
SELECT typeid FROM typed WHERE ulid_to_typeid('u', id) = 'u_01h455vb4pex5vsknk084sn02q';
INSERT INTO typed (id, friend)
    VALUES ('00000000000000000000000000', 'order_00000000000000000000000000');
DROP TABLE typed;
