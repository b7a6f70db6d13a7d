\echo Use "ALTER EXTENSION ulid UPDATE TO '1.1.0'" to load this file. \quit

--
-- Each update script begins with this section verbatim, because other software installs an extension of the same name with
-- another type.
--

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_type AS t
                   JOIN pg_catalog.pg_proc AS p ON p.oid = t.typreceive::pg_catalog.oid
                   JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
                   JOIN pg_catalog.pg_depend AS d ON d.objid = t.oid
                   JOIN pg_catalog.pg_extension AS e ON e.oid = d.refobjid
                   WHERE d.classid = 'pg_catalog.pg_type'::pg_catalog.regclass::pg_catalog.oid
                   AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
                   AND d.deptype = 'e' AND e.extname = 'ulid' AND t.typname = 'ulid'
                   AND t.typlen = 16 AND p.prosrc = 'uuid_recv' AND l.lanname = 'internal')
    THEN
        RAISE EXCEPTION USING
            ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = 'extension "ulid" in this database is not the one that this script updates',
            DETAIL = 'Its type ulid does not have the 16 bytes and the receive function of uuid. It may be that of pgx_ulid.',
            HINT = 'See docs/migrating.md of this extension for how to bring such a database along.';
    END IF;
END $$;

--
-- Objects that need a newer server. pg_upgrade runs no script, so each update script repeats this section verbatim, and
-- ulid--VERSION-recheck--VERSION.sql consists of it: it creates what the server supports and the database lacks.
--

DO $$
BEGIN
    -- PostgreSQL 18
    IF pg_catalog.to_regprocedure('pg_catalog.uuid_skipsupport(internal)') IS NOT NULL
        AND NOT EXISTS (SELECT FROM pg_catalog.pg_amproc AS p
                        JOIN pg_catalog.pg_opclass AS c ON c.opcfamily = p.amprocfamily
                        JOIN pg_catalog.pg_am AS am ON am.oid = c.opcmethod
                        WHERE am.amname = 'btree' AND c.opcname = 'ulid_ops' AND p.amprocnum = 6
                        AND c.opcintype = 'ulid'::pg_catalog.regtype::pg_catalog.oid)
    THEN
        ALTER OPERATOR FAMILY ulid_ops USING btree ADD FUNCTION 6 (ulid, ulid) pg_catalog.uuid_skipsupport(internal);
    END IF;
END $$;
