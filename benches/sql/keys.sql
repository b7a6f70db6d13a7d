-- Once for each kind of id: its keys, evenly over thirty days, in the order of their creation and
-- in random order.
CREATE UNLOGGED TABLE bench.:kind AS
    SELECT (:made_at) AS id, t AS created_at
    FROM (SELECT n, timestamptz '2026-01-01 00:00+00' + n * (interval '30 days' / :rows) AS t
          FROM generate_series(1, :rows) AS n) AS n;
ALTER TABLE bench.:kind ADD PRIMARY KEY (id);
CREATE INDEX ON bench.:kind (created_at);
CREATE UNLOGGED TABLE bench.:shuffled AS SELECT id FROM bench.:kind ORDER BY random();
VACUUM ANALYZE bench.:kind, bench.:shuffled;
