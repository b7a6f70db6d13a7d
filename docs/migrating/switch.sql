-- Change a key, and all columns that foreign keys connect with it, from uuid to ulid or from ulid
-- to uuid, without building an index under a lock. uuid.md and removing.md explain the steps. Each
-- call reads the catalogs and writes, or runs, the step that comes next. Call it until nothing is
-- left to do, also after a failure. The owner of the tables runs each step in a session of his own;
-- only the one that changes the cast is for a superuser.
--
--   psql -X -v table=account -v to=uuid -f switch.sql               write the next step
--   psql -X -v table=account -v to=uuid -v run=yes -f switch.sql    run it
--
--   column=id             the column, if the primary key is not one column of these types
--   default='gen_ulid()'  what replaces a default that generates ids. Another extension's function
--                         needs its schema. Without it: gen_ulid() or gen_uuid_v7(), or the
--                         ordered one if the default was ordered
--   lock_timeout=100ms    how long the exchange waits for a lock, in each of 20 attempts
--   entry_timeout=50ms    when the building of an index that is only to be created is canceled
\set ON_ERROR_STOP on
\if :{?column}
\else
\set column ''
\endif
\if :{?default}
\else
\set default ''
\endif
\if :{?run}
\else
\set run no
\endif
\if :{?lock_timeout}
\else
\set lock_timeout 100ms
\endif
\if :{?entry_timeout}
\else
\set entry_timeout 50ms
\endif

-- The table is looked up in the path of the caller, and nothing else.
SELECT :'table'::pg_catalog.regclass::pg_catalog.oid AS start \gset switch_
-- No functions and operators of others. Names and expressions are written for this path, and the
-- steps set the same one.
SET search_path = pg_catalog, pg_temp;
-- One session at a time: the cast is common to all tables.
SELECT NOT :'run'::boolean OR pg_try_advisory_lock(hashtextextended('ulid switch.sql', 0)) AS alone,
    extnamespace::regnamespace AS schema, extnamespace::regnamespace || '.ulid' AS type
FROM pg_extension WHERE extname = 'ulid'
\gset switch_
\if :switch_alone
\else
DO 'BEGIN RAISE EXCEPTION ''another session runs a step in this database'' '
    'USING ERRCODE = ''lock_not_available''; END';
\endif

WITH RECURSIVE
setting AS (
    SELECT CASE :'to' WHEN 'ulid' THEN 'uuid' WHEN 'uuid' THEN :'switch_type' END::regtype
            AS source,
        CASE :'to' WHEN 'ulid' THEN :'switch_type' ELSE :'to' END::regtype AS target,
        coalesce(nullif(:'default', ''), CASE :'to' WHEN 'ulid' THEN 'gen_ulid()'
            ELSE 'gen_uuid_v7()' END) AS generator
),

-- The columns: those that foreign keys, partitions and inheritance connect with the first.
edge AS (
    SELECT conrelid AS rel, att, confrelid AS other_rel, other_att
    FROM pg_constraint, unnest(conkey, confkey) AS pair(att, other_att) WHERE contype = 'f'
    UNION
    SELECT inhrelid, child.attnum, inhparent, parent.attnum
    FROM pg_inherits JOIN pg_attribute AS child ON child.attrelid = inhrelid
    JOIN pg_attribute AS parent ON parent.attrelid = inhparent AND parent.attname = child.attname
    JOIN pg_class ON pg_class.oid = inhrelid AND relkind NOT IN ('i', 'I')
    WHERE child.attnum > 0
),
start AS (
    SELECT attrelid AS rel, attnum AS att FROM pg_attribute, setting
    WHERE attrelid = :switch_start AND attnum > 0 AND atttypid IN (source, target)
    AND CASE :'column'
        WHEN '' THEN attnum = ANY
        ((SELECT conkey FROM pg_constraint WHERE conrelid = attrelid AND contype = 'p')::smallint[])
        ELSE attname = :'column' END
),
reached AS (
    SELECT rel, att FROM start
    UNION
    SELECT other_rel, other_att
    FROM reached JOIN pg_attribute ON attrelid = rel AND attnum = att
    JOIN setting ON atttypid IN (source, target)
    JOIN (SELECT * FROM edge UNION SELECT other_rel, other_att, rel, att FROM edge) AS step
        USING (rel, att)
),
member AS (
    SELECT rel, att, attname, atttypid, attgenerated, pg_class.*, nspname,
        atttypid = source AS converts,
        "default", replace("default", concat(:'switch_schema', '.'), '') ~ (
            '^\(*("?\w+"?\.)?"?(gen_random_uuid|uuidv[47]|uuid_generate_v(1|1mc|4|7)|'
            'gen_(ordered_)?uuid_v7|gen_(monotonic_|ordered_)?ulid)"?\(\)[):\w".]*$') AS generated
    FROM setting CROSS JOIN reached JOIN pg_attribute ON attrelid = rel AND attnum = att
    JOIN pg_class ON pg_class.oid = rel JOIN pg_namespace ON pg_namespace.oid = relnamespace
    LEFT JOIN LATERAL (SELECT pg_get_expr(adbin, adrelid) AS default
        FROM pg_attrdef WHERE adrelid = rel AND adnum = att) AS given ON true
),

-- Their indexes: old ones, whose operator class is for the old type, and new ones, already for the
-- new type.
index AS (
    SELECT pg_index.*, pg_class.*, amname, constr.oid AS con, conname, contype, conparentid,
        inhparent, indexprs IS NOT NULL OR indpred IS NOT NULL OR amname = 'brin'
            -- An index that is built beforehand is checked at once.
            OR coalesce(condeferrable, false) AS rebuilt,
        substring(pg_get_constraintdef(constr.oid), ' DEFERRABLE(?: INITIALLY DEFERRED)?$')
            AS deferral,
        NOT indisvalid AND relname ~ '^switch_[0-9]+_cc(new|old)[0-9]*$' AS debris
    FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
    LEFT JOIN pg_constraint AS constr ON conindid = indexrelid AND conrelid = indrelid
        AND contype IN ('p', 'u', 'x')
    LEFT JOIN pg_inherits ON inhrelid = indexrelid
    WHERE EXISTS (
        SELECT FROM member WHERE converts AND rel = indrelid AND (att = ANY (indkey) OR EXISTS (
            SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = indexrelid
            AND refclassid = 'pg_class'::regclass AND refobjid = rel AND refobjsubid = att)))
),
key AS (
    SELECT indexrelid, n, member.converts AND class.opcintype = source AS old,
        member.converts AND new_class.oid IS NULL AND class.opcintype <> target AS unknown,
        concat(pg_get_indexdef(indexrelid, n, false),
            ' COLLATE ' || nullif(nullif(indcollation[n - 1], 0), col.attcollation)::regcollation,
            format(' %s.%I', coalesce(new_class.opcnamespace, class.opcnamespace)::regnamespace,
                coalesce(new_class.opcname, class.opcname)),
            (SELECT format(' (%s)', string_agg(format('%I = %L', option_name, option_value), ', '))
                FROM pg_options_to_table(own.attoptions) HAVING count(*) > 0),
            CASE indoption[n - 1] WHEN 1 THEN ' DESC NULLS LAST' WHEN 2 THEN ' NULLS FIRST'
                WHEN 3 THEN ' DESC' END) AS definition
    FROM setting CROSS JOIN index CROSS JOIN generate_series(1, indnkeyatts) AS n
    JOIN pg_attribute AS own ON own.attrelid = indexrelid AND own.attnum = n
    JOIN pg_attribute AS col ON col.attrelid = indrelid AND col.attnum = indkey[n - 1]
    JOIN pg_opclass AS class ON class.oid = indclass[n - 1]
    LEFT JOIN member ON converts AND rel = indrelid AND att = indkey[n - 1]
    LEFT JOIN pg_opclass AS new_class ON member.converts AND class.opcintype = source
        AND new_class.opcintype = target AND new_class.opcmethod = class.opcmethod
        AND new_class.opcname = regexp_replace(class.opcname, 'u[lu]id', :'to')
    WHERE indexprs IS NULL    -- with expressions, ALTER TABLE rebuilds it
),
shape AS (
    SELECT index.*, old, unknown,
        format(' USING %I (%s)%s%s', amname, keys,
            (SELECT format(' INCLUDE (%s)', string_agg(pg_get_indexdef(indexrelid, n, false), ', '
                ORDER BY n))
                FROM generate_series(indnkeyatts + 1, indnatts) AS n HAVING count(*) > 0),
            CASE WHEN indnullsnotdistinct THEN ' NULLS NOT DISTINCT' END) AS definition,
        (SELECT format(' WITH (%s)',
            string_agg(format('%I = %L', option_name, option_value), ', '))
                FROM pg_options_to_table(reloptions) HAVING count(*) > 0) AS options,
        (SELECT format(' TABLESPACE %I', spcname) FROM pg_tablespace WHERE oid = reltablespace)
            AS space,
        ' WHERE (' || pg_get_expr(indpred, indrelid) || ')' AS predicate
    FROM index JOIN (SELECT indexrelid, bool_or(coalesce(old, false)) AS old,
        bool_or(coalesce(unknown, false)) AS unknown,
            string_agg(definition, ', ' ORDER BY n) AS keys FROM key GROUP BY indexrelid) AS keys
                USING (indexrelid)
),
pair AS (
    SELECT o.*, name, n.indexrelid AS new, n.indisvalid AS built
    FROM shape AS o CROSS JOIN concat('switch_', o.indexrelid) AS name
    LEFT JOIN shape AS n ON (n.indrelid, n.relname, n.indisunique, n.definition)
        = (o.indrelid, name, o.indisunique, o.definition)
    WHERE o.old AND o.relkind = 'i' AND NOT o.rebuilt
),

-- The constraints. Those of columns that are converted are dropped and created again.
constr AS (
    SELECT pg_constraint.*, pg_get_constraintdef(oid) AS definition, dropped,
        coalesce((to_jsonb(pg_constraint)->>'conenforced')::boolean, true) AS enforced
    FROM pg_constraint, LATERAL (
        SELECT bool_or(converts) AS dropped FROM member
        WHERE rel = conrelid AND att = ANY (conkey) OR rel = confrelid AND att = ANY (confkey)
    ) AS columns
    WHERE contype IN ('f', 'c') AND conparentid = 0 AND coninhcount = 0 AND dropped IS NOT NULL
),
fkey AS (SELECT * FROM constr WHERE contype = 'f' AND dropped),
-- Before 18, a foreign key of a partitioned table cannot be NOT VALID. Its partitions have it then,
-- with a comment: a line that names that table, and the comment of its foreign key.
parted AS (
    SELECT fkey.oid, relid AS leaf
    FROM fkey JOIN pg_class ON pg_class.oid = conrelid, pg_partition_tree(conrelid)
    WHERE current_setting('server_version_num')::integer < 180000 AND relkind = 'p' AND isleaf
),
unparted AS (
    SELECT pg_constraint.*, relid::regclass AS parent
    FROM pg_constraint, pg_partition_ancestors(conrelid)
    WHERE contype = 'f' AND conrelid IN (SELECT rel FROM member)
    AND starts_with(obj_description(oid, 'pg_constraint'),
        concat('switch.sql: ', relid::regclass, E'\n'))
),

unchecked AS (SELECT * FROM constr WHERE NOT convalidated AND enforced),
unanalyzed AS (
    SELECT DISTINCT rel FROM member JOIN pg_attribute ON attrelid = rel AND attnum = att
    WHERE reltuples > 0 AND relkind = 'r' AND attstattarget IS DISTINCT FROM 0
        AND has_column_privilege(rel, att, 'SELECT') AND NOT row_security_active(rel)
        AND NOT EXISTS (SELECT FROM pg_stats
        WHERE (schemaname, tablename, pg_stats.attname) = (nspname, relname, member.attname))
),
cast_now AS (
    SELECT castcontext, concat(dropped, 'IMPLICIT', created) AS opened,
        concat(dropped, 'ASSIGNMENT', created) AS closed
    FROM pg_cast,
        format(E'BEGIN;\nALTER EXTENSION ulid DROP CAST (%1$s AS uuid);\n'
            'DROP CAST (%1$s AS uuid);\nCREATE CAST (%1$s AS uuid) WITHOUT FUNCTION AS ',
            castsource::regtype) AS dropped,
        format(E';\nCOMMENT ON CAST (%1$s AS uuid) IS %2$L;\n'
            'ALTER EXTENSION ulid ADD CAST (%1$s AS uuid);\nCOMMIT;',
            castsource::regtype, obj_description(pg_cast.oid, 'pg_cast')) AS created
    WHERE castsource = :'switch_type'::regtype AND casttarget = 'uuid'::regtype
),
altered AS (
    SELECT rel, format('%I.%I', nspname, relname) AS qualified,
        string_agg(format('ALTER COLUMN %I TYPE %s', attname, target), ', ' ORDER BY att) AS actions
    FROM setting, member WHERE converts AND NOT relispartition GROUP BY rel, 2
),
-- Extended statistics that the change of the types creates again.
statistics AS (
    SELECT objid AS oid FROM member JOIN pg_depend ON refclassid = 'pg_class'::regclass
        AND refobjid = rel AND refobjsubid = att AND classid = 'pg_statistic_ext'::regclass
    WHERE converts
),
-- Keys before those that reference them: writers take them in this order.
locked AS (
    SELECT string_agg(rel::regclass::text, ', ' ORDER BY foreign_keys, rel) AS tables
    FROM (SELECT DISTINCT rel, (SELECT count(*) FROM fkey WHERE conrelid = rel AND confrelid <> rel)
        AS foreign_keys FROM member WHERE NOT relispartition) AS tables
),
guard AS (
    SELECT format('DO %L;', format('BEGIN IF ARRAY(SELECT DISTINCT objid FROM pg_depend '
        'WHERE refclassid = %L::regclass AND refobjid IN (%s) ORDER BY 1) <> %L THEN '
        'RAISE EXCEPTION %L USING ERRCODE = ''object_not_in_prerequisite_state'', '
        'HINT = ''Write it again.''; END IF; END', 'pg_class',
        (SELECT string_agg(rel::text, ', ') FROM member),
        ARRAY(SELECT DISTINCT objid FROM pg_depend
            WHERE refclassid = 'pg_class'::regclass AND refobjid IN (SELECT rel FROM member)
            ORDER BY 1),
        'the tables have changed since this step was written')) AS sql
),
-- What the transaction does, in this order.
exchange(place, sql) AS (
    SELECT 10, format('ALTER TABLE %s DROP CONSTRAINT %I;', conrelid::regclass, conname)
    FROM constr WHERE dropped
    UNION ALL
    SELECT 11, format('ALTER TABLE %s DROP CONSTRAINT %I;', indrelid::regclass, conname)
    FROM shape WHERE old AND con IS NOT NULL AND conparentid = 0
    UNION ALL
    SELECT 12, format('DROP INDEX %s;', indexrelid::regclass) FROM shape WHERE old AND con IS NULL
        AND inhparent IS NULL
    UNION ALL
    SELECT 20, format('ALTER TABLE %s %s;', rel::regclass, actions) FROM altered
    UNION ALL
    SELECT 21, format('ALTER TABLE ONLY %s ALTER COLUMN %I SET DEFAULT %s;', rel::regclass, attname,
        concat(CASE WHEN new ~ '^gen_(?!random_uuid)' THEN :'switch_schema' || '.' END, new))
    FROM member, setting, LATERAL (SELECT CASE WHEN :'default' = '' AND "default" ~ 'gen_ordered_'
        THEN replace(generator, 'gen_', 'gen_ordered_') ELSE generator END) AS given(new)
    WHERE converts AND generated
    UNION ALL
    SELECT 30,
        format('ALTER TABLE %s ADD CONSTRAINT %I %s USING INDEX %I;', indrelid::regclass, conname,
        CASE contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END, name)
    FROM pair WHERE con IS NOT NULL
    UNION ALL
    SELECT 31, format('ALTER INDEX %s RENAME TO %I;', new::regclass, relname) FROM pair
    WHERE con IS NULL
    UNION ALL
    SELECT 32,
        CASE WHEN con IS NULL THEN concat('CREATE ', CASE WHEN indisunique THEN 'UNIQUE ' END,
            format('INDEX %I ON ONLY %s', relname, indrelid::regclass), definition, options, space,
            predicate, ';')
        ELSE concat(format('ALTER TABLE ONLY %s ADD CONSTRAINT %I ', indrelid::regclass, conname),
            left(constraintdef, length(constraintdef) - coalesce(length(deferral), 0)), options,
            ' USING INDEX' || space, deferral, ';') END
    FROM shape, pg_get_constraintdef(con) AS constraintdef WHERE old AND (relkind = 'I' OR rebuilt)
    UNION ALL
    SELECT 33,
        format('ALTER INDEX %s ATTACH PARTITION %s;', inhparent::regclass, indexrelid::regclass)
    FROM shape WHERE old AND inhparent IS NOT NULL
    UNION ALL
    SELECT 34, format('ALTER TABLE %s CLUSTER ON %I;', indrelid::regclass, relname) FROM shape
    WHERE old AND indisclustered
    UNION ALL
    SELECT 34,
        format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I;', indrelid::regclass, relname)
    FROM shape WHERE old AND indisreplident
    UNION ALL
    SELECT 35,
        format('COMMENT ON INDEX %s IS %L;', indexrelid::regclass,
        obj_description(indexrelid, 'pg_class')) FROM shape
    WHERE old AND obj_description(indexrelid, 'pg_class') IS NOT NULL
    UNION ALL
    SELECT 35, format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS %s;', indexrelid::regclass,
        attnum, attstattarget)
    FROM index JOIN pg_attribute ON attrelid = indexrelid AND attstattarget >= 0
    WHERE indexprs IS NOT NULL
    UNION ALL
    SELECT 35, format('ALTER STATISTICS %s.%I SET STATISTICS %s;', stxnamespace::regnamespace,
        stxname, stxstattarget)
    FROM pg_statistic_ext WHERE oid IN (SELECT oid FROM statistics) AND stxstattarget >= 0
    UNION ALL
    SELECT 36, format('DO %L;', format('BEGIN ALTER STATISTICS %s.%I OWNER TO %s; '
        'EXCEPTION WHEN insufficient_privilege THEN NULL; END', stxnamespace::regnamespace, stxname,
        stxowner::regrole))
    FROM pg_statistic_ext WHERE oid IN (SELECT oid FROM statistics)
        AND pg_get_userbyid(stxowner) <> current_user
    UNION ALL
    SELECT 35, format('ALTER INDEX %s DEPENDS ON EXTENSION %I;', indexrelid::regclass, extname)
    FROM index JOIN pg_depend ON classid = 'pg_class'::regclass AND objid = indexrelid
        AND deptype = 'x'
    JOIN pg_extension ON refclassid = 'pg_extension'::regclass AND pg_extension.oid = refobjid
    UNION ALL
    SELECT 40, format('ALTER TABLE %s ADD CONSTRAINT %I %s%s;', coalesce(leaf, conrelid)::regclass,
        conname, definition, CASE WHEN convalidated AND enforced AND NOT is_empty
            THEN ' NOT VALID' END)
    FROM constr LEFT JOIN parted USING (oid), LATERAL (
        -- a partitioned table without partitions, before 18
        SELECT contype = 'f' AND leaf IS NULL
            AND current_setting('server_version_num')::integer < 180000
            AND EXISTS (SELECT FROM pg_partitioned_table WHERE partrelid = conrelid) AS is_empty
    ) AS referencing
    WHERE dropped
    UNION ALL
    SELECT 41,
        format('COMMENT ON CONSTRAINT %I ON %s IS %L;', conname, conrelid::regclass, description)
    FROM pg_constraint JOIN pg_description ON classoid = 'pg_constraint'::regclass AND objoid = oid
    WHERE oid IN (SELECT con FROM shape WHERE old
        UNION SELECT oid FROM constr WHERE dropped EXCEPT SELECT oid FROM parted)
    UNION ALL
    SELECT 41,
        format('COMMENT ON CONSTRAINT %I ON %s IS %L;', conname, leaf,
        concat('switch.sql: ', conrelid::regclass, E'\n', obj_description(oid, 'pg_constraint')))
    FROM fkey JOIN parted USING (oid)
),

-- The step that comes next. To ulid, there is no step 1.
step(phase, title) AS (
    SELECT phase, title FROM (
        SELECT 'restore' AS phase, castcontext = 'i' AS due,
            'The cast from ulid to uuid is implicit. Make it again what it was, as a superuser.'
                AS title
        FROM cast_now
        UNION ALL
        SELECT phase, due, format('%s of %s: %s', number - (:'to' = 'ulid')::integer,
            4 - (:'to' = 'ulid')::integer, action)
        FROM (VALUES
            (1, 'enter', :'to' = 'uuid' AND EXISTS (SELECT FROM pair WHERE new IS NULL),
                'enter the indexes into the catalogs, as a superuser. '
                'The cast is implicit meanwhile.'),
            (2, 'build', EXISTS (SELECT FROM pair WHERE built IS NOT TRUE)
                OR EXISTS (SELECT FROM index WHERE debris),
                'build the indexes. Reads and writes continue.'),
            (3, 'exchange', EXISTS (SELECT FROM member WHERE converts),
                'exchange them. Reads and writes wait until this is done.'),
            (4, 'validate', EXISTS (SELECT FROM unchecked) OR EXISTS (SELECT FROM unparted)
                OR EXISTS (SELECT FROM unanalyzed),
                'validate the constraints. Reads continue, and so do writes'
                || CASE WHEN EXISTS (SELECT FROM unparted) THEN ', except while a partitioned table'
                ' gets its foreign key.' ELSE '.' END)
        ) AS steps(number, phase, due, action)
        UNION ALL
        SELECT 'none', true, 'Nothing is left to do.'
    ) AS steps WHERE due LIMIT 1
),

-- What prevents it.
refusal(reason) AS (
    SELECT format('%s has no such column of type uuid or ulid, or more than one: name one, '
        'by -v column=…', :switch_start::regclass)
    WHERE (SELECT count(*) FROM start) <> 1
    UNION ALL
    SELECT format('column %I of %s ', attname, rel::regclass) || CASE
        WHEN atttypid NOT IN (source, target) THEN 'has the type ' || atttypid::regtype
        WHEN NOT pg_has_role(relowner, 'USAGE') THEN 'is in a table of another owner'
        WHEN relpersistence = 't' OR relkind NOT IN ('r', 'p') OR reloftype <> 0
            THEN 'is not in an ordinary table'
        WHEN attgenerated <> '' THEN 'is generated'
        WHEN EXISTS (SELECT FROM pg_partitioned_table
            WHERE partrelid = rel AND (att = ANY (partattrs) OR partexprs IS NOT NULL))
            THEN 'is in the partition key, or may be'
        WHEN EXISTS (SELECT FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
            WHERE rel IN (inhrelid, inhparent) AND NOT child.relispartition)
            THEN 'is in a table with inheritance' END
    FROM member, setting WHERE converts OR atttypid NOT IN (source, target)
    UNION ALL
    SELECT format('column %I of %s uses the row type of %s', pg_attribute.attname,
        attrelid::regclass, member.rel::regclass)
    FROM member JOIN pg_type ON typrelid = rel JOIN pg_attribute
        ON pg_attribute.atttypid IN (pg_type.oid, typarray)
    WHERE converts AND NOT pg_attribute.attisdropped
    UNION ALL
    SELECT DISTINCT format('%s uses column %I of %s', pg_describe_object(classid, objid, objsubid),
        attname, rel::regclass)
    FROM member JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = rel
        AND refobjsubid = att
    WHERE converts AND NOT CASE classid
        WHEN 'pg_class'::regclass THEN objid IN (SELECT indexrelid FROM index)
        WHEN 'pg_constraint'::regclass THEN EXISTS (
            SELECT FROM pg_constraint WHERE oid = objid AND contype IN ('p', 'u', 'f', 'c', 'n'))
        WHEN 'pg_attrdef'::regclass THEN EXISTS (SELECT FROM pg_attrdef
            WHERE oid = objid AND adrelid = rel AND adnum = att)
        ELSE classid = 'pg_statistic_ext'::regclass END
    UNION ALL
    SELECT format('index %s is not valid: drop it, or build it again', indexrelid::regclass)
    FROM index
    WHERE relkind = 'i' AND NOT indisvalid AND NOT debris
        AND indexrelid NOT IN (SELECT new FROM pair WHERE new IS NOT NULL)
    UNION ALL
    SELECT format('index %s has an operator class that has no counterpart', indexrelid::regclass)
    FROM shape WHERE unknown
    UNION ALL
    SELECT DISTINCT pg_describe_object(classid, objid, objsubid) || ' uses '
        || pg_describe_object(refclassid, refobjid, 0)
    FROM shape JOIN pg_depend
        ON (refclassid, refobjid) IN (('pg_class'::regclass, indexrelid),
        ('pg_constraint'::regclass, con))
    WHERE old AND deptype = 'n'
        AND NOT (classid = 'pg_constraint'::regclass AND objid IN (SELECT oid FROM fkey)
        OR EXISTS (SELECT FROM pg_constraint WHERE classid = 'pg_constraint'::regclass
            AND oid = objid AND conparentid <> 0))
    UNION ALL
    SELECT 'there is a relation ' || pg_class.oid::regclass || ' already'
    FROM pair JOIN pg_class USING (relnamespace) WHERE new IS NULL AND pg_class.relname = name
    UNION ALL
    SELECT format('foreign key %I of %s has a period', conname, conrelid::regclass)
    FROM fkey WHERE to_jsonb(fkey)->>'conperiod' = 'true'
    UNION ALL
    SELECT format('index %s has an expression, and the operator class %I: drop it',
        indexrelid::regclass, opcname)
    FROM setting CROSS JOIN index CROSS JOIN unnest(indclass) AS class
    JOIN pg_opclass ON pg_opclass.oid = class
    WHERE indexprs IS NOT NULL AND opcintype = source AND NOT opcdefault
        AND EXISTS (SELECT FROM member WHERE converts)
    UNION ALL
    SELECT format('index %s of a partitioned table has an expression: drop it',
        indexrelid::regclass)
    FROM index WHERE indexprs IS NOT NULL AND relkind = 'I'
        AND EXISTS (SELECT FROM member WHERE converts)
    UNION ALL
    SELECT DISTINCT format('a trigger of constraint %I on %s is not enabled as usual', conname,
        pg_constraint.conrelid::regclass)
    FROM pg_trigger JOIN pg_constraint ON pg_constraint.oid = tgconstraint
    WHERE tgisinternal AND tgenabled <> 'O' AND EXISTS (SELECT FROM member WHERE converts
        AND (rel = conrelid AND att = ANY (conkey) OR rel = confrelid AND att = ANY (confkey)))
    UNION ALL
    SELECT 'must be superuser to change a cast' FROM step
    WHERE phase IN ('enter', 'restore') AND :'run'::boolean
        AND NOT current_setting('is_superuser')::boolean
),
-- What deserves to be known.
note(line) AS (
    SELECT format('%s is rebuilt under the lock, because it is partial or deferrable, '
        'has expressions or is of the type brin', indexrelid::regclass) FROM index
    WHERE rebuilt AND (deferral IS NULL OR indexrelid IN (SELECT indexrelid FROM shape WHERE old))
    UNION ALL
    SELECT format('check constraint %I of %s is made again for %s, with casts: see its definition',
        conname, conrelid::regclass, :'to') FROM constr WHERE contype = 'c' AND dropped
    UNION ALL
    SELECT format('%I of %s keeps its default %s', attname, rel::regclass, "default")
    FROM member WHERE converts AND NOT generated
    UNION ALL
    SELECT format('publication %I sends %s: does each subscriber accept %s?', pubname,
        string_agg(rel::text, ', ' ORDER BY rel), :'to')
    FROM pg_publication_tables JOIN (SELECT DISTINCT rel::regclass, nspname, relname
        FROM member WHERE converts) AS sent ON (nspname, relname) = (schemaname, tablename)
    GROUP BY pubname
),

statement(part, place, sql) AS (
    SELECT CASE phase WHEN 'enter' THEN 3 ELSE 1 END, 2, closed FROM cast_now, step
    WHERE phase IN ('enter', 'restore')

    -- Such a step evaluates checks, and what else the owner has put into the tables.
    UNION ALL
    SELECT 1, 0, format('DO %L;', format('BEGIN IF EXISTS (SELECT FROM pg_roles WHERE rolsuper '
        'AND rolname IN (session_user, current_user)) AND EXISTS (SELECT FROM pg_class '
        'JOIN pg_roles ON pg_roles.oid = relowner WHERE pg_class.oid IN (%s) AND NOT rolsuper) '
        'THEN RAISE EXCEPTION %L USING ERRCODE = ''insufficient_privilege'', HINT = %L; END IF; '
        'END', string_agg(DISTINCT rel::text, ', '),
        'the owner of the tables must run this step, in a session of his own',
        'The functions of the owner would be executed with your rights, also after SET ROLE.'))
    FROM member, step WHERE phase IN ('build', 'exchange', 'validate') GROUP BY phase

    -- Do the expressions of constraints and indexes suit the new type? An empty copy tells.
    UNION ALL
    SELECT 1, 1, concat_ws(E'\n', 'BEGIN;',
        format('CREATE TEMPORARY TABLE switch_rehearsal '
            '(LIKE %s INCLUDING CONSTRAINTS INCLUDING DEFAULTS);', rel::regclass),
        (SELECT string_agg(replace(pg_get_indexdef(indexrelid),
            format(' ON %s USING ', qualified), ' ON pg_temp.switch_rehearsal USING ') || ';',
            E'\n')
            FROM index WHERE indrelid = rel AND indexprs IS NOT NULL AND relkind = 'i'),
        format('ALTER TABLE pg_temp.switch_rehearsal %s;', actions),
        (SELECT string_agg(concat('CREATE INDEX ON pg_temp.switch_rehearsal', definition, predicate,
            ';'), E'\n')
            FROM shape WHERE indrelid = rel AND old AND rebuilt AND relkind = 'i'),
        'ROLLBACK;')
    FROM step, altered WHERE phase = 'build' AND EXISTS (SELECT FROM pair WHERE built IS NOT TRUE)
    UNION ALL
    SELECT 1, 2, opened FROM cast_now, step WHERE phase = 'enter'
    UNION ALL
    SELECT 2, 1,
        format('SET deadlock_timeout = ''10ms''; SET statement_timeout = %L;', :'entry_timeout')
    FROM step WHERE phase = 'enter'
    UNION ALL
    SELECT CASE phase WHEN 'enter' THEN 2 ELSE 1 END, 5, concat(
        'CREATE ', CASE WHEN indisunique THEN 'UNIQUE ' END,
        'INDEX CONCURRENTLY ', name, ' ON ', indrelid::regclass, definition, options, space, ';')
    FROM pair, step WHERE new IS NULL AND phase IN ('enter', 'build')
    UNION ALL
    SELECT 2, place, 'RESET deadlock_timeout; SET statement_timeout = 0;'
    FROM step, generate_series(8, 9) AS place WHERE phase = 'enter'

    UNION ALL
    SELECT 1, 4, format('DROP INDEX CONCURRENTLY %s;', indexrelid::regclass) FROM index, step
    WHERE debris AND phase = 'build'
    UNION ALL
    SELECT 1, 6, format('REINDEX INDEX CONCURRENTLY %s;', new::regclass) FROM pair, step
    WHERE NOT built AND phase = 'build'

    UNION ALL
    SELECT 1, 1, concat_ws(E'\n', 'BEGIN;',
        CASE WHEN has_parameter_privilege('deadlock_timeout', 'SET') THEN
            E'-- Cancel autovacuum soon, and be the one that gives way in a deadlock.\n'
            'SET LOCAL deadlock_timeout = ''10ms'';' END,
        format('SET LOCAL lock_timeout = %L;', :'lock_timeout'),
        '-- First wait for those who write, while others can still read and check foreign keys.',
        format(E'DO %L;',
            format(E'BEGIN FOR attempt IN 1..20 LOOP BEGIN LOCK TABLE %1$s IN SHARE MODE; '
            'LOCK TABLE %1$s IN ACCESS EXCLUSIVE MODE; RETURN; '
            'EXCEPTION WHEN lock_not_available OR deadlock_detected THEN '
            'PERFORM pg_sleep(attempt / 20.0); END; END LOOP; '
            'RAISE EXCEPTION ''the tables are in use'' USING ERRCODE = ''lock_not_available'', '
            'HINT = ''Nothing has been changed. Try again.''; END', locked.tables)),
        'SET LOCAL lock_timeout = 0;',
        guard.sql,
        (SELECT string_agg(sql, E'\n' ORDER BY place, sql) FROM exchange),
        'COMMIT;')
    FROM step, guard, locked WHERE phase = 'exchange'
    UNION ALL
    SELECT CASE phase WHEN 'exchange' THEN 3 ELSE 1 END, 1,
        format('ANALYZE %s;', string_agg(rel::regclass::text, ', ' ORDER BY rel))
    FROM step JOIN (SELECT 'exchange' AS phase, rel FROM altered
        UNION ALL SELECT 'validate', rel FROM unanalyzed) AS analyzed USING (phase) GROUP BY phase
    UNION ALL
    SELECT 2, 1, format('ALTER TABLE %s VALIDATE CONSTRAINT %I;', conrelid::regclass, conname)
    FROM unchecked, step WHERE phase = 'validate'
    UNION ALL
    SELECT 3, 1, concat_ws(E'\n', 'BEGIN;', format('SET LOCAL lock_timeout = %L;', :'lock_timeout'),
        format('ALTER TABLE %s ADD CONSTRAINT %I %s;', parent, conname,
            min(pg_get_constraintdef(oid))),
        string_agg(format('COMMENT ON CONSTRAINT %I ON %s IS NULL;', conname, conrelid::regclass),
            E'\n'),
        format('COMMENT ON CONSTRAINT %I ON %s IS %L;', conname, parent,
            nullif(substr(min(obj_description(oid, 'pg_constraint')),
                length(concat('switch.sql: ', parent, E'\n')) + 1), '')),
        'COMMIT;')
    FROM unparted, step WHERE phase = 'validate' GROUP BY parent, conname
    HAVING bool_and(convalidated)
)
SELECT ARRAY['-- ' || title] || ARRAY(SELECT '-- ' || translate(line, E'\n\r', '  ') FROM note
    WHERE phase IN ('enter', 'build', 'exchange') ORDER BY line) AS title,
    (SELECT string_agg(reason, E'\n' ORDER BY reason) FROM refusal) AS refusal,
    ARRAY['SET search_path = pg_catalog, pg_temp;', 'SET statement_timeout = 0;',
        'SET lock_timeout = 0;', 'SET default_tablespace = '''';',
        'SET client_min_messages = warning;'] AS settings,
    ARRAY(SELECT sql FROM statement WHERE part = 1 ORDER BY place, sql) AS first,
    ARRAY(SELECT sql FROM statement WHERE part = 2 ORDER BY place, sql) AS failing,
    ARRAY(SELECT sql FROM statement WHERE part = 3 ORDER BY place, sql) AS last
FROM step
\gset switch_

\if :{?switch_refusal}
SELECT format('DO %L',
    format('BEGIN RAISE EXCEPTION %L USING ERRCODE = ''feature_not_supported'', DETAIL = %L; END',
    format('cannot switch %s to %s', :switch_start::regclass, :'to'), :'switch_refusal'))
\gexec
\endif
SELECT unnest(:'switch_title'::text[]) \g (format=unaligned tuples_only=on)
\if :run
SELECT unnest(:'switch_settings'::text[]) \gexec
SELECT unnest(:'switch_first'::text[]) \gexec
-- Here errors are expected, or concern one constraint of several.
\set ON_ERROR_STOP off
SELECT unnest(:'switch_failing'::text[]) \gexec
\set ON_ERROR_STOP on
SELECT unnest(:'switch_last'::text[]) \gexec
SELECT pg_advisory_unlock(hashtextextended('ulid switch.sql', 0)) AS switch_unlocked \gset
RESET ALL;
\else
SELECT unnest(:'switch_settings'::text[] || :'switch_first'::text[]
    || CASE WHEN :'switch_failing' <> '{}' THEN '\set ON_ERROR_STOP off'::text
        || :'switch_failing'::text[] || '\set ON_ERROR_STOP on'::text END
    || :'switch_last'::text[]) \g (format=unaligned tuples_only=on)
RESET search_path;
\endif
