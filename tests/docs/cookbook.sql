-- The table of docs/time_ranges.md
\set rows 1000000
SET timezone = 'UTC';
CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ulid(), what text NOT NULL);
INSERT INTO event
SELECT gen_ulid(timestamptz '2026-01-01 00:00+00' + n * interval '1 second'), 'event ' || n
FROM generate_series(0, :rows - 1) AS n;
VACUUM ANALYZE event;
