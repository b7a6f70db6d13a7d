-- the triggers for a serial
CREATE TABLE invoice (
    id bigserial PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(),
    new_id ulid
);
CREATE TABLE line (invoice_id bigint NOT NULL REFERENCES invoice, new_invoice_id ulid);
CREATE TRIGGER new_id BEFORE INSERT OR UPDATE ON invoice
FOR EACH ROW EXECUTE FUNCTION invoice_new_id();
CREATE TRIGGER new_id BEFORE INSERT OR UPDATE ON line
FOR EACH ROW EXECUTE FUNCTION line_new_invoice_id();
INSERT INTO invoice (created_at) VALUES ('2020-01-01 00:00+00'), ('2020-01-01 00:00+00');
INSERT INTO line SELECT id FROM invoice;
DO $$ BEGIN
    ASSERT (SELECT array_agg(new_id ORDER BY new_id) = ARRAY[ulid '01DXF6DT000000000000000001',
                                                             ulid '01DXF6DT000000000000000002']
            FROM invoice JOIN line ON new_invoice_id = new_id AND invoice_id = id);
END $$;
