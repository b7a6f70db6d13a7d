-- waits until the id that a query returns is below the horizon
CREATE PROCEDURE await_horizon(query text) LANGUAGE plpgsql AS $$
DECLARE
    id ulid;
BEGIN
    EXECUTE query INTO id;
    WHILE id >= ulid_ordered_horizon() LOOP
        PERFORM pg_sleep(0.001);
        COMMIT;
    END LOOP;
END $$;

-- under row security, a view with security_invoker has the rows of the tenant alone
CREATE TABLE tenant_outbox (
    id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), tenant integer NOT NULL
);
ALTER TABLE tenant_outbox ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON tenant_outbox USING (tenant = 7);
CREATE VIEW tenant_settled WITH (security_invoker = true) AS
SELECT * FROM tenant_outbox WHERE id < ulid_ordered_horizon();
CREATE VIEW all_settled AS SELECT * FROM tenant_outbox WHERE id < ulid_ordered_horizon();
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
SELECT ulid_ordered_horizon() AS before_first_chunk \gset
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
