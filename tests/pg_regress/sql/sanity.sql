-- What core's opr_sanity and type_sanity ask of core's catalog, asked of the extension's objects. A
-- query without comment beside it shall find nothing; what it finds is a mistake, named by its
-- object.

\pset format unaligned
\pset footer off
CREATE TEMP VIEW member AS
SELECT classid, objid, pg_describe_object(classid, objid, 0) AS object FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'ulid');
CREATE TEMP VIEW function AS SELECT object, p.* FROM member JOIN pg_proc AS p
    ON classid = 'pg_proc'::regclass AND objid = p.oid;
CREATE TEMP VIEW operator AS SELECT object, o.* FROM member JOIN pg_operator AS o
    ON classid = 'pg_operator'::regclass AND objid = o.oid;
CREATE TEMP VIEW class AS SELECT object, c.* FROM member JOIN pg_opclass AS c
    ON classid = 'pg_opclass'::regclass AND objid = c.oid;
CREATE TEMP VIEW family AS SELECT object, f.* FROM member JOIN pg_opfamily AS f
    ON classid = 'pg_opfamily'::regclass AND objid = f.oid;
SELECT DISTINCT classid::regclass::text AS catalog FROM member ORDER BY 1;

-- every object has a comment
SELECT object FROM member WHERE coalesce(obj_description(objid, classid::regclass::name), '') = ''
-- made by PostgreSQL; arrays are members from 17 on
AND object !~ '^type (.*\[]|ulid_(horizon|consumer).*)$';

--
-- Type
--

-- storage is that of uuid to the letter, and the I/O functions are the type's
SELECT u.typlen, u.typbyval, u.typalign, u.typstorage, u.typcategory, u.typispreferred, u.typdelim,
    u.typtype FROM pg_type AS u WHERE oid = 'uuid'::regtype
EXCEPT SELECT t.typlen, t.typbyval, t.typalign, t.typstorage, t.typcategory, t.typispreferred,
    t.typdelim, t.typtype FROM pg_type AS t WHERE oid = 'ulid'::regtype;
SELECT typinput, typoutput, typreceive, typsend, typmodin, typanalyze, typarray::regtype
FROM pg_type WHERE oid = 'ulid'::regtype;
SELECT object FROM function JOIN pg_type AS t
    ON function.oid IN (typinput, typoutput, typreceive, typsend)
WHERE t.oid <> 'ulid'::regtype OR provolatile <> 'i' OR NOT proisstrict;

--
-- Functions
--

-- every function is immutable, strict, parallel safe and in C or internal, but for these: what
-- depends on the session, generates, or handles the state of a generator. What refreshes is unsafe,
-- what takes or reads a horizon is not strict, nor is the function whose body the planner takes.
SELECT object, provolatile AS volatile, proparallel AS parallel,
    concat_ws(' ', CASE WHEN NOT proisstrict THEN 'null' END,
        CASE WHEN lanname NOT IN ('c', 'internal') THEN lanname END,
        CASE WHEN proconfig IS NOT NULL THEN 'path' END, CASE WHEN prosecdef THEN 'definer' END,
        CASE WHEN proretset OR provariadic <> 0 THEN 'rows' END, nullif(prokind, 'f')) AS more
FROM function JOIN pg_language AS l ON l.oid = prolang
WHERE prokind <> 'a' AND (provolatile <> 'i' OR NOT proisstrict OR proparallel <> 's'
    OR lanname NOT IN ('c', 'internal') OR prosecdef OR proconfig IS NOT NULL OR proretset
    OR provariadic <> 0 OR prokind <> 'f')
ORDER BY object COLLATE "C";
-- composite values have a version, which a C library would have to keep: only a record is returned,
-- and none is taken
SELECT object, t.oid::regtype FROM function JOIN pg_type AS t
    ON t.oid = ANY (proargtypes::oid[] || prorettype)
WHERE typtype IN ('c', 'p') AND typname NOT IN ('internal', 'cstring', 'void', 'trigger');
-- a borrowed function is called as core declares it, but for the type, and promises no less
SELECT f.object, c.oid::regprocedure
FROM function AS f LEFT JOIN pg_proc AS c ON c.prosrc = f.prosrc AND c.prolang = f.prolang
    AND c.pronamespace = 'pg_catalog'::regnamespace
WHERE f.prolang = (SELECT oid FROM pg_language WHERE lanname = 'internal') AND f.prokind = 'f'
AND (c.oid IS NULL
     OR replace(f.proargtypes::text, 'ulid'::regtype::oid::text, 'uuid'::regtype::oid::text)
         <> c.proargtypes::text
     OR CASE f.prorettype WHEN 'ulid'::regtype THEN 'uuid'::regtype
         ELSE f.prorettype END <> c.prorettype
     OR (f.provolatile, f.proisstrict, f.proparallel) <> (c.provolatile, c.proisstrict,
         c.proparallel)
     OR f.proleakproof < c.proleakproof);
-- leakproof is what compares or hashes, and nothing that could tell of a value by an error
SELECT object FROM function WHERE proleakproof ORDER BY object COLLATE "C";
-- no two functions are the same code with the same arguments
SELECT a.object, b.object FROM function AS a JOIN function AS b
ON a.oid < b.oid AND a.prosrc = b.prosrc
    AND pg_get_function_sqlbody(a.oid) IS NOT DISTINCT FROM pg_get_function_sqlbody(b.oid)
    AND a.prolang = b.prolang AND a.proargtypes = b.proargtypes AND a.prokind = 'f'
    AND b.prokind = 'f';

-- every C function is of this library
SELECT object, probin FROM function
WHERE prolang = (SELECT oid FROM pg_language WHERE lanname = 'c') AND probin <> '$libdir/ulid';

--
-- Operators
--

-- commutators and negators are declared, and in both directions
SELECT o.object FROM operator AS o LEFT JOIN pg_operator AS c ON c.oid = o.oprcom
WHERE o.oprkind = 'b' AND o.oprresult = 'boolean'::regtype
AND (c.oid IS NULL OR c.oprcom <> o.oid OR c.oprleft <> o.oprright OR c.oprright <> o.oprleft
    OR c.oprresult <> o.oprresult);
SELECT o.object FROM operator AS o JOIN pg_operator AS n ON n.oid = o.oprnegate
WHERE n.oprnegate <> o.oid OR n.oid = o.oid OR n.oprleft <> o.oprleft OR n.oprright <> o.oprright
    OR n.oprresult <> o.oprresult;
-- commutators and negators are only for tests (CVE-2026-116335)
SELECT object, oprresult::regtype FROM operator WHERE (oprcom <> 0 OR oprnegate <> 0)
    AND oprresult <> 'boolean'::regtype;
-- those without a negator
SELECT object FROM operator WHERE oprnegate = 0 ORDER BY object COLLATE "C";
-- volatility, leakproofness, strictness and parallel safety agree across pairs
SELECT o.object, p.oid::regoperator
FROM operator AS o JOIN pg_operator AS p ON p.oid IN (o.oprcom, o.oprnegate)
JOIN pg_proc AS f ON f.oid = o.oprcode JOIN pg_proc AS g ON g.oid = p.oprcode
WHERE (f.provolatile, f.proleakproof, f.proisstrict, f.proparallel) <> (g.provolatile,
    g.proleakproof, g.proisstrict, g.proparallel);
-- the function takes and gives what the operator does, is the extension's, and says that it belongs
-- to it
SELECT o.object, p.oid::regprocedure FROM operator AS o JOIN pg_proc AS p ON p.oid = oprcode
WHERE p.proargtypes::text <> oprleft || ' ' || oprright OR p.prorettype <> oprresult
    OR p.oid NOT IN (SELECT oid FROM function)
OR obj_description(p.oid, 'pg_proc') <> 'implementation of ' || oprname || ' operator';
-- estimators: there, and of the right signature
SELECT o.object, oprrest, oprjoin FROM operator AS o LEFT JOIN pg_proc AS r ON r.oid = oprrest
WHERE o.oprresult = 'boolean'::regtype
    AND (r.oid IS NULL OR r.prorettype <> 'float8'::regtype OR r.provolatile = 'v'
      OR oidvectortypes(r.proargtypes) <> 'internal, oid, internal, integer');
SELECT o.object, oprrest, oprjoin FROM operator AS o LEFT JOIN pg_proc AS j ON j.oid = oprjoin
WHERE o.oprresult = 'boolean'::regtype
    AND (j.oid IS NULL OR j.prorettype <> 'float8'::regtype OR j.provolatile = 'v'
      OR oidvectortypes(j.proargtypes) <> 'internal, oid, internal, smallint, internal');
-- estimators, HASHES and MERGES of each operator on two ulids are those of the operator on two
-- uuids
SELECT o.object FROM operator AS o JOIN pg_operator AS u ON u.oprname = o.oprname
    AND u.oprleft = 'uuid'::regtype AND u.oprright = 'uuid'::regtype
WHERE o.oprleft = 'ulid'::regtype AND o.oprright = 'ulid'::regtype
AND (o.oprrest, o.oprjoin, o.oprcanhash, o.oprcanmerge) <> (u.oprrest, u.oprjoin, u.oprcanhash,
    u.oprcanmerge);
-- those of the operators that uuid has not
SELECT object, oprrest, oprjoin FROM operator WHERE oprleft <> oprright ORDER BY object COLLATE "C";
-- MERGES is being equality of a btree family, HASHES of a hash family
SELECT object FROM operator AS o
WHERE oprcanmerge <> EXISTS (SELECT FROM pg_amop JOIN pg_am AS am ON am.oid = amopmethod
    WHERE amopopr = o.oid AND amname = 'btree' AND amopstrategy = 3)
OR oprcanhash <> EXISTS (SELECT FROM pg_amop JOIN pg_am AS am ON am.oid = amopmethod
    WHERE amopopr = o.oid AND amname = 'hash' AND amopstrategy = 1);

--
-- Operator classes
--

SELECT object FROM class WHERE NOT amvalidate(oid);
-- no family is empty, no class stands in the family of another or of core, nor does a member
SELECT object FROM family AS f WHERE NOT EXISTS (SELECT FROM pg_opclass WHERE opcfamily = f.oid)
OR NOT EXISTS (SELECT FROM pg_amproc WHERE amprocfamily = f.oid)
OR NOT EXISTS (SELECT FROM pg_amop WHERE amopfamily = f.oid);
SELECT object FROM class WHERE opcfamily NOT IN (SELECT oid FROM family);
SELECT object, f.opfname FROM pg_amop JOIN pg_opfamily AS f ON f.oid = amopfamily JOIN operator AS o
    ON o.oid = amopopr
WHERE f.oid NOT IN (SELECT oid FROM family);
SELECT object, f.opfname FROM pg_amproc JOIN pg_opfamily AS f
    ON f.oid = amprocfamily JOIN function AS p ON p.oid = amproc
WHERE f.oid NOT IN (SELECT oid FROM family);
SELECT pg_describe_object('pg_amproc'::regclass, p.oid, 0) FROM pg_amproc AS p JOIN pg_opfamily AS f
    ON f.oid = amprocfamily
WHERE f.opfnamespace = 'pg_catalog'::regnamespace
    AND 'ulid'::regtype IN (amproclefttype, amprocrighttype);
-- one default for each access method
SELECT a.object, b.object FROM class AS a JOIN class AS b ON a.oid < b.oid
    AND a.opcmethod = b.opcmethod AND a.opcintype = b.opcintype
WHERE a.opcdefault AND b.opcdefault;
-- what the server has in its classes for uuid, whatever its version, ulid has in its own
WITH entry AS (
    SELECT amname, c.opcintype::regtype::text AS type, substr(c.opcname, 5) AS class, c.opcdefault,
        c.opckeytype = c.opcintype OR c.opckeytype = 0 AS stores_itself,
           kind, number,
           regexp_replace(regexp_replace(f.proname, '^ulid_', 'uuid_'), '^uuid_brin_',
           'brin_') AS name
    FROM pg_opclass AS c JOIN pg_am AS am ON am.oid = opcmethod
    JOIN (SELECT amprocfamily AS family, 'function' AS kind, amprocnum AS number, amproc AS code
        FROM pg_amproc
          UNION ALL SELECT amopfamily, 'operator', amopstrategy, oprcode
              FROM pg_amop JOIN pg_operator AS o ON o.oid = amopopr) AS e ON family = c.opcfamily
    JOIN pg_proc AS f ON f.oid = code
    WHERE c.opcintype IN ('uuid'::regtype, 'ulid'::regtype)
)
SELECT amname, class, opcdefault, stores_itself, kind, number, name FROM entry WHERE type = 'uuid'
EXCEPT SELECT amname, class, opcdefault, stores_itself, kind, number, name FROM entry
WHERE type = 'ulid';

--
-- Casts
--

-- a binary cast has its way back, and only uuid to ulid is implicit
SELECT castsource::regtype, casttarget::regtype FROM pg_cast AS c
WHERE 'ulid'::regtype IN (castsource, casttarget) AND castmethod = 'b'
AND NOT EXISTS (SELECT FROM pg_cast AS r WHERE r.castsource = c.casttarget
    AND r.casttarget = c.castsource AND r.castmethod = 'b');
SELECT castsource::regtype, casttarget::regtype FROM pg_cast
WHERE 'ulid'::regtype IN (castsource, casttarget) AND castcontext = 'i'
    AND castsource <> 'uuid'::regtype;
-- the function of a cast takes and gives what the cast does, and is the extension's
SELECT castsource::regtype, casttarget::regtype, castfunc::regprocedure
FROM pg_cast JOIN pg_proc AS p ON p.oid = castfunc
WHERE 'ulid'::regtype IN (castsource, casttarget)
AND (proargtypes[0] <> castsource OR pronargs <> 1 OR prorettype <> casttarget OR provolatile = 'v'
    OR p.oid NOT IN (SELECT oid FROM function));

--
-- Aggregates
--

-- min and max have the first and the last operator of the default btree class
SELECT p.object, aggsortop::regoperator, amopstrategy FROM pg_aggregate JOIN function AS p
    ON p.oid = aggfnoid
LEFT JOIN pg_amop AS o ON o.amopopr = aggsortop
    AND o.amopmethod = (SELECT oid FROM pg_am WHERE amname = 'btree')
WHERE amopstrategy IS DISTINCT FROM CASE proname WHEN 'min' THEN 1 WHEN 'max' THEN 5 END;
-- they take, keep, compare and return the same type, and no final function makes another of it
-- (CVE-2026-116331)
SELECT p.object, aggtranstype::regtype, oprleft::regtype, oprright::regtype,
    prorettype::regtype, aggfinalfn
FROM pg_aggregate JOIN function AS p ON p.oid = aggfnoid LEFT JOIN pg_operator AS o
    ON o.oid = aggsortop ORDER BY object COLLATE "C";
-- parallel workers combine by the same step
SELECT p.object FROM pg_aggregate JOIN function AS p ON p.oid = aggfnoid JOIN pg_proc AS t
    ON t.oid = aggtransfn
WHERE aggcombinefn <> aggtransfn OR p.proparallel <> 's' OR t.proparallel <> 's'
    OR p.provolatile <> 'i' OR t.provolatile <> 'i'
OR NOT t.proisstrict OR t.prorettype <> aggtranstype;

--
-- Tables
--

-- rows that change often are vacuumed in time; autovacuum does not truncate the tables, which would
-- cancel queries on standbys, nor analyze them
SELECT object FROM member JOIN pg_class AS c ON classid = 'pg_class'::regclass AND objid = c.oid
WHERE relkind = 'r' AND (reloptions @> ARRAY['vacuum_truncate=off',
    'autovacuum_vacuum_threshold=500', 'autovacuum_vacuum_scale_factor=0',
    'autovacuum_analyze_threshold=2000000000']) IS NOT TRUE;
DROP VIEW class, family, operator, function, member;
