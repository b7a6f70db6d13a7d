-- A cluster that pg_upgrade moved to a newer server gains what that server offers by going through VERSION-recheck.
-- recheck_1.out is for servers before 18, which have no skip scan.

CREATE VIEW members AS
WITH member AS (
    SELECT classid, objid FROM pg_depend
    WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'ulid')
)
SELECT pg_describe_object(classid, objid, 0) AS object, obj_description(objid, classid::regclass::name) AS comment FROM member
UNION ALL
SELECT pg_describe_object('pg_amproc'::regclass, p.oid, 0), NULL
FROM member JOIN pg_amproc AS p ON amprocfamily = objid AND classid = 'pg_opfamily'::regclass
UNION ALL
SELECT pg_describe_object('pg_amop'::regclass, o.oid, 0), NULL
FROM member JOIN pg_amop AS o ON amopfamily = objid AND classid = 'pg_opfamily'::regclass;
CREATE TABLE before AS SELECT * FROM members;

-- make the database one that comes from PostgreSQL 17
DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 180000 THEN
        ALTER OPERATOR FAMILY ulid_ops USING btree DROP FUNCTION 6 (ulid, ulid);
    END IF;
END $$;
SELECT object FROM (SELECT * FROM before EXCEPT SELECT * FROM members) AS s ORDER BY object COLLATE "C";

-- an update to the version that is there does nothing; through VERSION-recheck everything is there again
SELECT extversion AS version FROM pg_extension WHERE extname = 'ulid' \gset
SELECT :'version' || '-recheck' AS recheck \gset
SET client_min_messages = warning;
ALTER EXTENSION ulid UPDATE;
RESET client_min_messages;
SELECT count(*) > 0 AS lacks FROM (SELECT * FROM before EXCEPT SELECT * FROM members) AS s;
ALTER EXTENSION ulid UPDATE TO :"recheck";
ALTER EXTENSION ulid UPDATE;
SELECT extversion = :'version' AS same_version FROM pg_extension WHERE extname = 'ulid';
SELECT * FROM before EXCEPT SELECT * FROM members;
SELECT * FROM members EXCEPT SELECT * FROM before;
-- and again, to no effect
ALTER EXTENSION ulid UPDATE TO :"recheck";
ALTER EXTENSION ulid UPDATE;
SELECT count(*) FROM (SELECT * FROM before EXCEPT SELECT * FROM members) AS s;
DROP TABLE before;
DROP VIEW members;
