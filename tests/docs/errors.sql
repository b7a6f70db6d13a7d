-- Checks of docs/errors.md: the server's own messages that it explains are those of the server,
-- with … for names.
\set page `cat docs/errors.md`
CREATE TEMP TABLE page AS SELECT :'page' AS text;
CREATE TABLE t (id ulid PRIMARY KEY, n bigint, b uuid);
CREATE TABLE f (id uuid PRIMARY KEY, n int);
SET client_min_messages = error;
CREATE PUBLICATION p FOR TABLE f WHERE (id > '01563df3-6481-d676-4c61-efb99302bd5b'::uuid);
DO $$
DECLARE
    statement text;
BEGIN
    FOREACH statement IN ARRAY ARRAY[
        $q$ALTER EXTENSION ulid UPDATE TO '0'$q$,
        $q$CREATE FUNCTION gen_ulid() RETURNS ulid LANGUAGE sql RETURN NULL$q$,
        $q$SELECT FROM t WHERE id = '01ARYZ6S41TSV4RRFFQ69G5FAV'::text$q$,
        $q$SELECT FROM t WHERE id = 5$q$,
        $q$SELECT id <@ daterange('2026-01-01', '2026-02-01') FROM t$q$,
        $q$INSERT INTO t (b) VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV')$q$,
        $q$ALTER TABLE t ALTER n TYPE ulid$q$,
        $q$CREATE TABLE g (c timestamp GENERATED ALWAYS AS (gen_ulid()::timestamp) STORED)$q$,
        $q$CREATE AGGREGATE max(uuid) (SFUNC = ulid_larger, STYPE = uuid)$q$,
        $q$SELECT b <@ '[2026-01-01, 2026-02-01)' FROM t$q$,
        $q$SELECT uuid_extract_version(id) FROM t$q$,
        $q$CREATE PUBLICATION q FOR TABLE t WHERE (id::uuid = b)$q$,
            $q$ALTER TABLE f ALTER id TYPE ulid$q$] LOOP
        BEGIN
            EXECUTE statement;
            ASSERT false, 'no error: ' || statement;
        EXCEPTION WHEN others THEN
            ASSERT position(regexp_replace(SQLERRM, '"[^"]+"', '"…"', 'g') IN
                            (SELECT regexp_replace(text, '"[^"]+"', '"…"', 'g') FROM page)) > 0,
                            SQLERRM;
        END;
    END LOOP;
END $$;
