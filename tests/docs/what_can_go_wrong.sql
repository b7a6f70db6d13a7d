-- the clock read 2036 for a minute, and the last three events were inserted then
SET timezone = 'UTC';
CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), what text NOT NULL)
    PARTITION BY RANGE (id);
CREATE TABLE event_2026 PARTITION OF event
    FOR VALUES FROM (ulid_lower_bound('2026-01-01')) TO (ulid_lower_bound('2027-01-01'));
CREATE TABLE event_default PARTITION OF event DEFAULT;
CREATE TABLE remark (id ulid PRIMARY KEY DEFAULT gen_ulid(), event ulid NOT NULL REFERENCES event);
INSERT INTO event
SELECT ulid_from_parts(CASE WHEN n <= 4 THEN timestamptz '2026-03-01 12:00'
                            ELSE '2036-03-01 12:00' END
                       + n * interval '1 second', n), 'event ' || n
FROM generate_series(1, 7) AS n;
INSERT INTO remark SELECT ulid_from_parts(id::timestamptz + interval '100 ms', 1), id FROM event;
SELECT public.ulid_advance_ordered_time(
    public.ulid_upper_bound(timestamp with time zone '2036-03-01 12:00:59'), true) \gset
