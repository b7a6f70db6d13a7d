-- Every way to combine columns of core's types that a name could resolve differently for. Run in a
-- database with the extension and in one without; prints one line for each query: the plan, in
-- which VERBOSE shows every cast, and the result; or the error.
SET search_path = public, pg_catalog;
SET client_min_messages = warning;
CREATE TABLE plain (u uuid PRIMARY KEY, ua uuid[], t text, v varchar(40), c char(36), b bytea,
    ts timestamptz, tn timestamp,
                    d date, n bigint, r tstzrange, rn tsrange, j jsonb);
INSERT INTO plain
SELECT md5(i::text)::uuid, ARRAY[md5(i::text), md5((i + 1)::text)]::uuid[], md5(i::text)::uuid,
    md5(i::text)::uuid, md5(i::text)::uuid,
       decode(md5(i::text), 'hex'), timestamptz '2026-01-01 00:00+00' + i * interval '1 hour',
       timestamp '2026-01-01' + i * interval '1 hour',
       date '2026-01-01' + i, i,
       tstzrange('2026-01-01 00:00+00', timestamptz '2026-01-01 00:00+00' + i * interval '1 hour'),
       tsrange('2026-01-01', timestamp '2026-01-01' + i * interval '1 hour'),
       jsonb_build_object('id', md5(i::text))
FROM generate_series(1, 2000) AS i;
CREATE INDEX ON plain (t);
CREATE INDEX ON plain (b);
CREATE INDEX ON plain (ts);
CREATE INDEX ON plain USING gist (r);
CREATE TABLE few AS SELECT * FROM plain WHERE n < 3;
VACUUM (ANALYZE) plain, few;

CREATE FUNCTION outcome(query text, run boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    said text := '';
    hint text;
    detail text;
BEGIN
    IF query ~* '^(SELECT|INSERT|UPDATE|DELETE|VALUES|WITH)' THEN
        FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
            said := said || trim(line) || ' / ';
        END LOOP;
    END IF;
    IF run AND query ~* '^(SELECT|VALUES|WITH)' THEN
        EXECUTE format('SELECT string_agg(q::text, '', '' ORDER BY q::text) FROM (%s) AS q',
            query) INTO line;
        said := said || ' gives ' || coalesce(line, 'null');
    ELSIF run THEN
        EXECUTE query;
    END IF;
    RETURN said;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
    RETURN said || concat_ws(' / ', SQLSTATE, SQLERRM, detail, hint);
END $$;

-- every binary operator of core between any two columns, and between a column and an untyped
-- literal
CREATE TEMP TABLE operand (text text, is_literal boolean);
INSERT INTO operand SELECT attname, false FROM pg_attribute WHERE attrelid = 'few'::regclass
    AND attnum > 0;
INSERT INTO operand VALUES ('''cfcd2084-95d5-65ef-66e7-dff9f98764da''', true),
    ('''{cfcd2084-95d5-65ef-66e7-dff9f98764da}''', true),
    ('''[2026-01-01,2026-02-01)''', true), ('''2026-01-01 00:00+00''', true), ('NULL', true),
    ('ARRAY[u]', false), ('ROW(u)', false);
SELECT query || ' => ' || outcome(query, true)
FROM (SELECT DISTINCT oprname FROM pg_operator
    WHERE oprkind = 'b' AND oprnamespace = 'pg_catalog'::regnamespace) AS o,
     operand AS a, operand AS b,
     format('SELECT %s %s %s FROM few', a.text, oprname, b.text) AS query
WHERE NOT (a.is_literal AND b.is_literal) ORDER BY query COLLATE "C";

-- the type that a parameter gets
CREATE FUNCTION parameter(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text;
BEGIN
    EXECUTE 'PREPARE parameter AS ' || query;
    SELECT parameter_types::text INTO said FROM pg_prepared_statements WHERE name = 'parameter';
    DEALLOCATE parameter;
    RETURN said;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT query || ' => ' || parameter(query)
FROM (SELECT DISTINCT oprname FROM pg_operator
    WHERE oprkind = 'b' AND oprnamespace = 'pg_catalog'::regnamespace) AS o,
     operand AS a,
     unnest(ARRAY[format('SELECT %s %s $1 FROM few', a.text, oprname),
     format('SELECT $1 %s %s FROM few', oprname, a.text)]) AS query
WHERE NOT a.is_literal ORDER BY query COLLATE "C";

-- every function of core with one argument; those that the extension has too, also with two
SELECT query || ' => ' || outcome(query, false)
FROM (SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace) AS f,
    operand AS a,
     format('SELECT %I(%s) FROM few', proname, a.text) AS query
WHERE NOT is_literal ORDER BY query COLLATE "C";
SELECT query || ' => ' || outcome(query, true)
FROM unnest('{min,max,count,array_agg,string_agg,lower,upper,length,date_trunc,concat,format,
        to_json,range_agg}'::text[]) AS f,
     operand AS a,
     unnest(ARRAY[format('SELECT %s(%s) FROM few', f, a.text),
     format('SELECT %s(%s, %s) FROM few', f, a.text, a.text)]) AS query
ORDER BY query COLLATE "C";

-- every cast and assignment between the columns' types
SELECT query || ' => ' || outcome(query, true)
FROM operand AS a, (SELECT DISTINCT atttypid::regtype FROM pg_attribute
    WHERE attrelid = 'few'::regclass AND attnum > 0) AS t (type),
     format('SELECT (%s)::%s FROM few', a.text, type) AS query ORDER BY query COLLATE "C";
SELECT query || ' => ' || outcome(query, false)
FROM operand AS a, pg_attribute,
    format('INSERT INTO few (%I) SELECT %s FROM few', attname, a.text) AS query
WHERE attrelid = 'few'::regclass AND attnum > 0 ORDER BY query COLLATE "C";

-- where types are unified
SELECT query || ' => ' || outcome(query, true)
FROM operand AS a, operand AS b,
    unnest(ARRAY['COALESCE(%s, %s)', 'GREATEST(%s, %s)', 'NULLIF(%s, %s)',
         'CASE WHEN n = 1 THEN %s ELSE %s END', 'ARRAY[%s, %s]',
         '%s IN (%s)', '%1$s BETWEEN %2$s AND %1$s', '%s IS DISTINCT FROM %s',
         '%s = ANY (ARRAY[%s])', '%s = ANY (%s)', 'ROW(%s) = ROW(%s)',
         'CASE %s WHEN %s THEN 1 END']) AS form,
     format('SELECT ' || form || ' FROM few', a.text, b.text) AS query
WHERE NOT (a.is_literal AND b.is_literal) ORDER BY query COLLATE "C";
SELECT query || ' => ' || outcome(query, true)
FROM operand AS a, operand AS b,
    unnest(ARRAY['SELECT %s FROM few UNION SELECT %s FROM few',
         'SELECT few.n FROM few WHERE %s IN (SELECT %s FROM few)',
         'SELECT count(*) FROM (SELECT %s AS k FROM few) AS x JOIN (SELECT %s AS k FROM few) AS y '
         'USING (k)']) AS form,
     format(form, a.text, b.text) AS query
WHERE NOT (a.is_literal OR b.is_literal) ORDER BY query COLLATE "C";

-- plans that use indexes, and what is resolved when something is created
SELECT query || ' => ' || outcome(query, true) FROM unnest(ARRAY[
    $$SELECT n FROM plain WHERE u IN ('c4ca4238-a0b9-2382-0dcc-509a6f75849b',
        'c81e728d-9d4c-2f63-6f06-7f89cc14862c')$$,
    $$SELECT n FROM plain WHERE u BETWEEN 'c4ca4238-a0b9-2382-0dcc-509a6f75849b'
        AND 'c81e728d-9d4c-2f63-6f06-7f89cc14862c'$$,
    $$SELECT count(*) FROM plain WHERE t = 'c4ca4238-a0b9-2382-0dcc-509a6f75849b'$$,
    $$SELECT count(*) FROM plain WHERE b = '\xc4ca4238a0b923820dcc509a6f75849b'$$,
    $$SELECT count(*) FROM plain
        WHERE '[2026-01-01 00:00+00, 2026-01-02 00:00+00)'::tstzrange @> ts$$,
    $$SELECT count(*) FROM plain WHERE r @> '2026-01-01 00:00+00'$$,
    $$SELECT count(*) FROM plain WHERE '[2026-01-01 00:00+00, 2026-01-01 02:00+00)' <@ r$$,
    $$CREATE TABLE bad (t text REFERENCES plain (u))$$,
    $$CREATE TABLE bad (b bytea REFERENCES plain (u))$$,
    $$CREATE INDEX ON plain USING gin (u)$$,
    $$CREATE INDEX ON plain USING gist (u)$$,
    $$CREATE TYPE uuidrange AS RANGE (subtype = uuid)$$,
    $$SELECT 'c4ca4238-a0b9-2382-0dcc-509a6f75849b' <@ uuidrange(NULL, u) FROM few$$,
    $$SELECT u <@ uuidrange(NULL, u) FROM few$$,
    $$SELECT uuidrange(NULL, u) @> 'c4ca4238-a0b9-2382-0dcc-509a6f75849b' FROM few$$,
    $$CREATE TABLE ruled (u uuid CHECK (u > '00000000-0000-0000-0000-000000000000'),
        w uuid GENERATED ALWAYS AS (u) STORED, EXCLUDE USING btree (u WITH =))$$,
    $$CREATE FUNCTION ulid(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT upper($1)'$$,
    $$SELECT ulid(t) FROM few$$, $$SELECT ulid(v) FROM few$$, $$SELECT ulid(c) FROM few$$,
    $$SELECT ulid('cfcd2084-95d5-65ef-66e7-dff9f98764da') FROM few$$
]) WITH ORDINALITY AS q (lines, n), regexp_replace(lines, '\n *', ' ', 'g') AS query ORDER BY n;
