-- Every expression that compares ulids without naming an operator, and some that do, in every place
-- where an expression is stored: a dump shows the first without a schema. The schema of the
-- extension is in the search_path.
CREATE TABLE sibling (id ulid PRIMARY KEY);
CREATE TABLE cousin (id uuid, m int);
CREATE TABLE compared (n int, a ulid, b ulid, u uuid);
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TABLE kind (n int GENERATED ALWAYS AS IDENTITY, e text, has_query boolean);
INSERT INTO kind (e, has_query) SELECT format('((%s) IS NOT NULL)', e), e LIKE '%SELECT%'
    FROM unnest(ARRAY[
    'a IS DISTINCT FROM b', 'u IS NOT DISTINCT FROM a', 'nullif(a, b)',
    'CASE a WHEN b THEN 1 WHEN u THEN 2 END',
    '(a, u) IS DISTINCT FROM (b, u)', '(u, 1) IS DISTINCT FROM (a, 1)', 'a IN (b, u)',
    'a = ANY (ARRAY[b])', 'a BETWEEN b AND u', 'greatest(a, b)',
    'EXISTS (SELECT FROM sibling JOIN cousin USING (id))',
    'EXISTS (SELECT FROM cousin NATURAL FULL JOIN sibling)',
    'EXISTS (SELECT FROM sibling AS x LEFT JOIN sibling AS y USING (id))',
    'a IN (SELECT id FROM sibling)',
    'u NOT IN (SELECT id FROM sibling)', 'a <= ALL (SELECT id FROM cousin)',
    'EXISTS (SELECT id FROM sibling ORDER BY id)',
    'EXISTS (SELECT FROM sibling GROUP BY id)', '(SELECT count(DISTINCT id) FROM sibling)',
    'EXISTS (SELECT id FROM cousin UNION SELECT id FROM sibling)',
    'EXISTS (SELECT rank() OVER (PARTITION BY id ORDER BY id) FROM sibling)', '(a, 1) < (b, 2)'])
        AS e;
SELECT format('CREATE VIEW view_%s AS SELECT *, %s AS e FROM compared', n, e),
    format('CREATE MATERIALIZED VIEW materialized_%s AS SELECT n FROM compared WHERE %s', n, e),
    format('CREATE POLICY policy_%s ON compared USING (%s) WITH CHECK (%2$s)', n, e),
    format('CREATE FUNCTION function_%s(a ulid, b ulid, u uuid) RETURNS boolean BEGIN ATOMIC '
        'SELECT %s; END', n, e),
    format('CREATE PROCEDURE procedure_%s(n int) BEGIN ATOMIC UPDATE compared SET n = $1 WHERE %s; '
        'END', n, e),
    format('CREATE RULE rule_%s AS ON DELETE TO compared WHERE %s DO ALSO SELECT %2$s', n,
        regexp_replace(e, '\m([abu])\M', 'old.\1', 'g'))
FROM kind ORDER BY n \gexec
SELECT format('ALTER TABLE compared ADD CONSTRAINT check_%s CHECK (%s)', n, e),
    format('ALTER TABLE compared ADD CONSTRAINT exclude_%s EXCLUDE USING btree ((%s::int) WITH =) '
        'WHERE (%2$s)', n, e),
    format('ALTER TABLE compared ADD COLUMN generated_%s boolean GENERATED ALWAYS AS (%s) STORED',
        n, e),
    format('ALTER TABLE compared ADD COLUMN default_%s boolean DEFAULT %s', n, literal),
    format('CREATE INDEX index_%s ON compared ((%s)) WHERE %2$s', n, e),
    format('CREATE STATISTICS statistics_%s ON (%s), n FROM compared', n, e),
    format('CREATE TRIGGER trigger_%s AFTER UPDATE ON compared FOR EACH ROW WHEN (%s) '
        'EXECUTE FUNCTION nothing()', n, regexp_replace(e, '\m([abu])\M', 'new.\1', 'g')),
    format('CREATE FUNCTION argument_%s(e boolean DEFAULT %s) RETURNS boolean LANGUAGE sql '
        'RETURN e', n, literal),
    -- without casts, which pg_upgrade creates after domains
    CASE WHEN e !~ '\mu\M' THEN format('CREATE DOMAIN domain_%s AS ulid CHECK (%s)', n,
        regexp_replace(e, '\m[ab]\M', 'VALUE', 'g')) END,
    format('CREATE TABLE parted_%s (a ulid, b ulid, u uuid) PARTITION BY LIST ((%s))', n, e),
    format('CREATE TABLE parted_%s_true PARTITION OF parted_%1$s FOR VALUES IN (true)', n)
FROM kind, LATERAL regexp_replace(e, '\m[abu]\M', '''01ARYZ6S410000000000000000''::ulid', 'g')
    AS literal WHERE NOT has_query ORDER BY n \gexec
INSERT INTO compared (n, a, b, u)
    VALUES (1, '01ARYZ6S410000000000000001', '01ARYZ6S410000000000000002',
    '01ARYZ6S410000000000000001'::ulid::uuid);
INSERT INTO parted_1 SELECT a, b, u FROM compared;
