-- Read by hidden blocks of docs/migrating/*.md: which locks the commands above took, which files were kept, and which tables
-- were read.
SET client_min_messages = warning;
CREATE SCHEMA watch;

-- The strongest lock on each table of the schema public since the last call of watch.locks().
CREATE TABLE watch.lock ("table" text PRIMARY KEY, strength integer NOT NULL);
CREATE FUNCTION watch.modes() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY['AccessShareLock', 'RowShareLock', 'RowExclusiveLock', 'ShareUpdateExclusiveLock', 'ShareLock',
                 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock']
$$;
CREATE FUNCTION watch.note() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO watch.lock
    SELECT relname, max(array_position(watch.modes(), mode))
    FROM pg_locks JOIN pg_class ON pg_class.oid = relation
    WHERE pid = pg_backend_pid() AND relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
    GROUP BY relname
    ON CONFLICT ("table") DO UPDATE SET strength = greatest(lock.strength, excluded.strength);
END $$;
CREATE EVENT TRIGGER watch ON ddl_command_end EXECUTE FUNCTION watch.note();
CREATE FUNCTION watch.locks() RETURNS TABLE ("table" text, mode text) LANGUAGE sql AS $$
    WITH seen AS (DELETE FROM watch.lock RETURNING *)
    SELECT "table", (watch.modes())[strength] FROM seen ORDER BY 1
$$;

-- A table or an index is kept if it has the file that it, or one of another name, had at the last call of watch.mark().
CREATE TABLE watch.before (file oid PRIMARY KEY, size bigint NOT NULL);
CREATE VIEW watch.file AS
SELECT relname AS name, pg_relation_filenode(oid) AS file, pg_relation_size(oid) AS size
FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i');
CREATE TABLE watch.scans (relation oid PRIMARY KEY, count bigint NOT NULL);
CREATE PROCEDURE watch.mark() LANGUAGE sql AS $$
    TRUNCATE watch.before;
    INSERT INTO watch.before SELECT file, size FROM watch.file;
    TRUNCATE watch.scans;
    INSERT INTO watch.scans SELECT oid, pg_stat_get_numscans(oid) FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r';
$$;
CREATE FUNCTION watch.kept() RETURNS TABLE (name name, kept boolean) LANGUAGE sql AS $$
    SELECT name, before.file IS NOT NULL FROM watch.file LEFT JOIN watch.before USING (file) ORDER BY name
$$;

-- The tables that were read from end to end since the last calls of watch.flush() and watch.mark().
CREATE PROCEDURE watch.flush() LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_stat_force_next_flush();
END $$;
CREATE FUNCTION watch.scanned() RETURNS SETOF name LANGUAGE sql AS $$
    SELECT relname FROM watch.scans JOIN pg_class ON oid = relation
    WHERE pg_stat_get_numscans(oid) > count ORDER BY 1
$$;

TRUNCATE watch.lock;
RESET client_min_messages;
