-- Binary forms: 16 bytes, the most significant first, on the wire and in COPY BINARY.

\pset format unaligned
\pset footer off
SELECT ulid_send('01ARYZ6S41TSV4RRFFQ69G5FAV'), ulid_send('7ZZZZZZZZZZZZZZZZZZZZZZZZZ');

-- typlen, passing, alignment and storage are uuid's
SELECT typname, typlen, typbyval, typalign, typstorage FROM pg_type
WHERE typname IN ('ulid', 'uuid') ORDER BY 1;

-- COPY BINARY round trip, and into uuid
\set file `mktemp`
\setenv FILE :file
CREATE TABLE original AS SELECT decode(md5(i::text), 'hex')::ulid AS id
    FROM generate_series(1, 1000) AS i;
INSERT INTO original VALUES (NULL), ('00000000000000000000000000'), ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
CREATE TABLE copied (id ulid);
CREATE TABLE copied_uuid (id uuid);
\copy original TO PROGRAM 'cat > "$FILE"' WITH (FORMAT binary)
\copy copied FROM PROGRAM 'cat "$FILE"' WITH (FORMAT binary)
\copy copied_uuid FROM PROGRAM 'cat "$FILE"' WITH (FORMAT binary)
SELECT count(*) AS lost FROM (SELECT * FROM original EXCEPT SELECT * FROM copied) AS s;
SELECT count(*) AS lost FROM (SELECT * FROM original EXCEPT SELECT * FROM copied_uuid) AS s;
SELECT count(*), count(id) FROM copied;

-- a field of another length is refused
\copy (SELECT '\x01563df36481d6764c61efb99302bd'::bytea) TO PROGRAM 'cat > "$FILE"' WITH (FORMAT binary)
\copy copied FROM PROGRAM 'cat "$FILE"' WITH (FORMAT binary)
\! rm "$FILE"
DROP TABLE original, copied, copied_uuid;
