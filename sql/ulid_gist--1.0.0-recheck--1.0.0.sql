\echo Use "ALTER EXTENSION ulid_gist UPDATE TO '1.0.0'" to load this file. \quit

--
-- Members that need a newer btree_gist. pg_upgrade runs no script, so each update script repeats this section verbatim, and
-- ulid_gist--VERSION-recheck--VERSION.sql consists of it: it adds what btree_gist has and the class lacks.
--

DO $$
DECLARE
    btree_gist pg_catalog.text;
    class record;
BEGIN
    SELECT pg_catalog.quote_ident(n.nspname) INTO STRICT btree_gist
    FROM pg_catalog.pg_extension AS e
    JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace
    WHERE e.extname = 'btree_gist';
    -- the operator class of this extension, whose family may have got others
    SELECT c.opcfamily AS family, c.opcintype::pg_catalog.regtype AS type INTO STRICT class
    FROM pg_catalog.pg_extension AS e
    JOIN pg_catalog.pg_depend AS d ON d.refobjid = e.oid
    JOIN pg_catalog.pg_opclass AS c ON c.oid = d.objid
    WHERE d.classid = 'pg_catalog.pg_opclass'::pg_catalog.regclass::pg_catalog.oid
    AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
    AND d.deptype = 'e' AND e.extname = 'ulid_gist';

    -- btree_gist 1.8, with PostgreSQL 18: an index is built by sorting
    IF pg_catalog.to_regprocedure(btree_gist || '.gbt_uuid_sortsupport(internal)') IS NOT NULL
        AND NOT EXISTS (
            SELECT FROM pg_catalog.pg_amproc
            WHERE amprocfamily = class.family AND amproclefttype = class.type::pg_catalog.oid AND amprocnum = 11)
    THEN
        EXECUTE pg_catalog.format(
            'ALTER OPERATOR FAMILY ulid_ops USING gist ADD FUNCTION 11 (%1$s, %1$s) %2$s.gbt_uuid_sortsupport(internal)',
            class.type, btree_gist);
    END IF;

    -- btree_gist 1.8, with PostgreSQL 18: temporal keys find the operator that is equality
    IF pg_catalog.to_regprocedure(btree_gist || '.gist_translate_cmptype_btree(integer)') IS NOT NULL
        AND NOT EXISTS (SELECT FROM pg_catalog.pg_amproc WHERE amprocfamily = class.family AND amprocnum = 12)
    THEN
        EXECUTE pg_catalog.format(
            'ALTER OPERATOR FAMILY ulid_ops USING gist ADD FUNCTION 12 ("any", "any") %s.gist_translate_cmptype_btree(integer)',
            btree_gist);
    END IF;
END $$;
