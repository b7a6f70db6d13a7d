\echo Use "CREATE EXTENSION ulid_gist" to load this file. \quit

-- btree_gist handles the bytes of a uuid, which are those of a ulid. Therefore all of its functions
-- for uuid are used as they are, except one: the function that an index scan calls must be declared
-- for the type that is searched for.
--
-- Names are qualified with the schemas of the required extensions, because the schema that this
-- extension is created in comes first in the search_path and may contain a type of the same name.

DO $$
DECLARE
    -- ulid and btree_gist, each the quoted name of the extension's schema
    ulid pg_catalog.text;
    btree_gist pg_catalog.text;
    library pg_catalog.text;
BEGIN
    -- other software also installs an extension named ulid, with a type of other bytes
    SELECT pg_catalog.quote_ident(n.nspname) INTO ulid
    FROM pg_catalog.pg_extension AS e
    JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace
    JOIN pg_catalog.pg_depend AS d ON d.refobjid = e.oid
    JOIN pg_catalog.pg_type AS t ON t.oid = d.objid
    JOIN pg_catalog.pg_proc AS p ON p.oid = t.typreceive::pg_catalog.oid
    JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
    WHERE d.classid = 'pg_catalog.pg_type'::pg_catalog.regclass::pg_catalog.oid
    AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
    AND d.deptype = 'e' AND e.extname = 'ulid' AND t.typname = 'ulid' AND t.typnamespace = n.oid
    AND t.typlen = 16 AND p.prosrc = 'uuid_recv' AND l.lanname = 'internal';
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = 'extension "ulid" in this database is not the one that this script extends',
            DETAIL = 'Its type ulid does not have the 16 bytes and the receive function of uuid.'
                ' It may be that of pgx_ulid.';
    END IF;
    SELECT pg_catalog.quote_ident(n.nspname) INTO STRICT btree_gist
    FROM pg_catalog.pg_extension AS e
    JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace
    WHERE e.extname = 'btree_gist';

    SELECT p.probin INTO STRICT library FROM pg_catalog.pg_proc AS p
    WHERE p.oid = (btree_gist || '.gbt_uuid_consistent(internal, uuid, smallint, oid, internal)')
        ::pg_catalog.regprocedure::pg_catalog.oid;
    EXECUTE pg_catalog.format($create$
        CREATE FUNCTION gbt_ulid_consistent(internal, %1$s.ulid, smallint, oid, internal)
            RETURNS boolean
            LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
            AS %3$L, 'gbt_uuid_consistent';
        COMMENT ON FUNCTION gbt_ulid_consistent(internal, %1$s.ulid, smallint, oid, internal)
            IS 'GiST support';

        CREATE OPERATOR FAMILY ulid_ops USING gist;
        COMMENT ON OPERATOR FAMILY ulid_ops USING gist IS 'GiST of ulid';

        CREATE OPERATOR CLASS ulid_ops DEFAULT FOR TYPE %1$s.ulid USING gist FAMILY ulid_ops AS
            OPERATOR 1 pg_catalog.<,
            OPERATOR 2 pg_catalog.<=,
            OPERATOR 3 pg_catalog.=,
            OPERATOR 4 pg_catalog.>=,
            OPERATOR 5 pg_catalog.>,
            OPERATOR 6 pg_catalog.<>,
            FUNCTION 1 gbt_ulid_consistent(internal, %1$s.ulid, smallint, oid, internal),
            FUNCTION 2 %2$s.gbt_uuid_union(internal, internal),
            FUNCTION 3 %2$s.gbt_uuid_compress(internal),
            FUNCTION 4 %2$s.gbt_decompress(internal),
            FUNCTION 5 %2$s.gbt_uuid_penalty(internal, internal, internal),
            FUNCTION 6 %2$s.gbt_uuid_picksplit(internal, internal),
            FUNCTION 7 %2$s.gbt_uuid_same(%2$s.gbtreekey32, %2$s.gbtreekey32, internal),
            FUNCTION 9 %2$s.gbt_uuid_fetch(internal),
            STORAGE %2$s.gbtreekey32;
        COMMENT ON OPERATOR CLASS ulid_ops USING gist
            IS 'equality and order of ulid in GiST: for constraints that also have ranges'
    $create$, ulid, btree_gist, library);

    -- btree_gist 1.8, with PostgreSQL 18: an index is built by sorting, and temporal keys find the
    -- operator that is equality. pg_upgrade runs no script, so the next update script adds those
    -- that are missing.
    IF pg_catalog.to_regprocedure(btree_gist || '.gbt_uuid_sortsupport(internal)') IS NOT NULL THEN
        EXECUTE pg_catalog.format(
            'ALTER OPERATOR FAMILY ulid_ops USING gist'
            ' ADD FUNCTION 11 (%1$s.ulid, %1$s.ulid) %2$s.gbt_uuid_sortsupport(internal)',
            ulid, btree_gist);
    END IF;
    -- In older versions of btree_gist the name is free. Whoever may create functions in its schema
    -- could have taken it, and the owner of btree_gist could have added that function to it. But
    -- only a superuser can create a C function.
    IF EXISTS (
        SELECT FROM pg_catalog.pg_proc AS p
        JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
        WHERE p.oid = pg_catalog.to_regprocedure(
            btree_gist || '.gist_translate_cmptype_btree(integer)')::pg_catalog.oid
        AND l.lanname = 'c' AND p.prosrc = 'gist_translate_cmptype_btree' AND p.probin = library)
    THEN
        EXECUTE pg_catalog.format(
            'ALTER OPERATOR FAMILY ulid_ops USING gist'
            ' ADD FUNCTION 12 ("any", "any") %s.gist_translate_cmptype_btree(integer)',
            btree_gist);
    END IF;
END $$;
