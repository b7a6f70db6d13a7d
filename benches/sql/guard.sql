-- The guard of a polled table, per row that is inserted: the second time minus the first, for this
-- many rows.
\timing off
CREATE UNLOGGED TABLE bench.plain (id ulid DEFAULT gen_ordered_ulid(), n int);
CREATE UNLOGGED TABLE bench.guarded (LIKE bench.plain INCLUDING DEFAULTS);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE OF id ON bench.guarded
    FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('id');
\timing on
\echo operation guard :rows
INSERT INTO bench.plain (n) SELECT generate_series(1, :rows);
INSERT INTO bench.guarded (n) SELECT generate_series(1, :rows);
\timing off
DROP TABLE bench.plain, bench.guarded;
\timing on
