\echo Use "ALTER EXTENSION ulid UPDATE TO '1.1.0-recheck'" to load this file. \quit

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

-- This script is empty: the one back to 1.1.0 creates what the server supports and the database lacks.
