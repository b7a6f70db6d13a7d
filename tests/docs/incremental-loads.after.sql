CALL ulid_refresh_horizon();
-- waits until the id that a query returns is below the horizon
CREATE PROCEDURE await_horizon(query text) LANGUAGE plpgsql AS $$
DECLARE
    id ulid;
BEGIN
    EXECUTE query INTO id;
    LOOP
        CALL ulid_refresh_horizon();
        EXIT WHEN id < ulid_current_horizon();
        PERFORM pg_sleep(0.001);
    END LOOP;
END $$;

-- which columns of a view use an index, for both statements of such a tool
CREATE FUNCTION plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    lines text = '';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        lines := lines || line;
    END LOOP;
    RETURN lines;
END $$;
INSERT INTO outbox (message) SELECT n FROM generate_series(1, 10000) AS n;
CREATE TABLE event (id uuid PRIMARY KEY DEFAULT gen_ordered_uuid_v7());
INSERT INTO event SELECT FROM generate_series(1, 10000);
CREATE VIEW event_settled AS SELECT * FROM event WHERE id < (SELECT ulid_current_horizon());
CREATE VIEW cast_settled AS SELECT id::uuid, message FROM outbox_settled;
VACUUM ANALYZE outbox, event;
DO $$
DECLARE
    load CONSTANT text := 'SELECT * FROM %1$I WHERE %2$I > %3$L ORDER BY %2$I';
    tool record;
BEGIN
    FOR tool IN VALUES
        ('outbox_settled', 'id', repeat('0', 26), 'Index Cond: .*InitPlan|Index Cond: .*[$]0'),
        ('event_settled', 'id', repeat('0', 32), 'Index Cond: .*InitPlan|Index Cond: .*[$]0'),
        ('outbox_settled_at', 'settled_at', '2026-01-01 00:00Z', 'Index Cond'),
        ('outbox_settled_at', 'id', '0', 'Sort.* Scan'),
        ('cast_settled', 'id', repeat('0', 32), 'Sort.* Scan') LOOP
        ASSERT plan(format(load, tool.column1, tool.column2, tool.column3)) ~ tool.column4, tool;
    END LOOP;
    ASSERT plan('SELECT max(id) FROM outbox_settled') ~ 'Index.* Scan Backward', 'max(id)';
    ASSERT plan('SELECT max(settled_at) FROM outbox_settled_at') ~ 'Index.* Scan Backward',
        'max(settled_at)';
END $$;
TRUNCATE outbox;

-- the privileges of the page are enough, and needed
CREATE FUNCTION reads() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM outbox_settled;
    RETURN true;
EXCEPTION WHEN insufficient_privilege THEN
    RETURN false;
END $$;
SET ROLE ulid_docs_loader;
DO 'BEGIN ASSERT reads(), ''SELECT on the view''; END';
RESET ROLE;
ALTER VIEW outbox_settled SET (security_invoker);
SET ROLE ulid_docs_loader;
DO 'BEGIN ASSERT NOT reads(), ''security_invoker''; END';
RESET ROLE;
ALTER VIEW outbox_settled RESET (security_invoker);
REVOKE EXECUTE ON FUNCTION ulid_current_horizon() FROM PUBLIC;
SET ROLE ulid_docs_loader;
DO 'BEGIN ASSERT NOT reads(), ''without EXECUTE''; END';
RESET ROLE;
GRANT EXECUTE ON FUNCTION ulid_current_horizon() TO PUBLIC;
REVOKE EXECUTE ON FUNCTION ulid_lt(ulid, ulid) FROM PUBLIC;
SET ROLE ulid_docs_loader;
DO 'BEGIN ASSERT NOT reads(), ''without EXECUTE on the comparison''; END';
RESET ROLE;
GRANT EXECUTE ON FUNCTION ulid_lt(ulid, ulid) TO PUBLIC;

-- under row security, a view with security_invoker has the rows of the tenant alone
CREATE TABLE tenant_outbox (
    id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), tenant integer NOT NULL
);
ALTER TABLE tenant_outbox ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON tenant_outbox USING (tenant = 7);
CREATE VIEW tenant_settled WITH (security_invoker = true) AS
SELECT * FROM tenant_outbox WHERE id < (SELECT ulid_current_horizon());
CREATE VIEW all_settled AS
SELECT * FROM tenant_outbox WHERE id < (SELECT ulid_current_horizon());
GRANT SELECT ON tenant_outbox, tenant_settled, all_settled TO ulid_docs_loader;
INSERT INTO tenant_outbox (tenant) VALUES (7), (8);
CALL await_horizon('SELECT max(id) FROM tenant_outbox');
SET ROLE ulid_docs_loader;
DO $$ BEGIN
    ASSERT (SELECT array_agg(tenant) FROM tenant_settled) = '{7}', 'the view of the invoker';
    ASSERT (SELECT array_agg(tenant ORDER BY tenant) FROM all_settled) = '{7,8}',
        'the view of the owner';
END $$;
RESET ROLE;

-- a first load in two chunks, and an update between them
CREATE FUNCTION set_changed() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN NEW.changed := gen_ordered_ulid(); RETURN NEW; END';
CREATE TRIGGER set_changed BEFORE UPDATE ON customer FOR EACH ROW EXECUTE FUNCTION set_changed();
INSERT INTO customer (name) VALUES ('a'), ('b');
CALL await_horizon('SELECT max(changed) FROM customer');
SELECT ulid_current_horizon() AS before_first_chunk \gset
CREATE TABLE loaded AS SELECT * FROM customer_settled WHERE name = 'a';
UPDATE customer SET name = 'a, updated' WHERE name = 'a';
UPDATE customer SET deleted = true WHERE name = 'b';
CALL await_horizon('SELECT max(changed) FROM customer');
INSERT INTO loaded SELECT * FROM customer_settled WHERE name = 'b';
SELECT max(changed) AS greatest FROM loaded \gset
CREATE FUNCTION changes_from(first ulid) RETURNS text[] LANGUAGE sql
    RETURN (SELECT array_agg(name ORDER BY name) FROM customer_settled WHERE changed >= first);
CREATE TABLE changes AS SELECT changes_from(:'greatest') AS from_greatest,
    changes_from(:'before_first_chunk') AS from_horizon;
DO $$ BEGIN
    ASSERT (SELECT from_horizon FROM changes) = '{"a, updated",b}', 'from the horizon';
    ASSERT (SELECT from_greatest FROM changes) = '{b}', 'from the greatest';
END $$;
