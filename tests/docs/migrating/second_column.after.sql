SET client_min_messages = warning;
-- a reference that has become null since the exchange is null after the way back
ALTER TABLE vote ALTER COLUMN post_id DROP NOT NULL;
INSERT INTO vote (old_post_id, user_id) VALUES (1541815603610230784, 8);
SELECT regexp_replace(:'block_7', '^.*?(?=UPDATE)', '')
\gexec
DO $$ BEGIN
    ASSERT (SELECT old_post_id IS NULL FROM vote WHERE user_id = 8);
END $$;
DELETE FROM vote WHERE user_id = 8;

-- the way back, as it is told
BEGIN;
ALTER TABLE vote DROP CONSTRAINT vote_post_id_fkey, DROP CONSTRAINT vote_post_id_user_id_key;
ALTER TABLE post DROP CONSTRAINT post_pkey;
ALTER TABLE post ALTER COLUMN id DROP DEFAULT, ALTER COLUMN id DROP NOT NULL;
ALTER TABLE post RENAME COLUMN id TO new_id;
ALTER TABLE post RENAME COLUMN old_id TO id;
ALTER TABLE post ADD CONSTRAINT post_pkey PRIMARY KEY USING INDEX post_old_id;
ALTER TABLE vote ALTER COLUMN post_id DROP NOT NULL;
ALTER TABLE vote RENAME COLUMN post_id TO new_post_id;
ALTER TABLE vote RENAME COLUMN old_post_id TO post_id;
ALTER TABLE vote ALTER COLUMN post_id SET NOT NULL,
    ADD CONSTRAINT vote_post_id_fkey FOREIGN KEY (post_id) REFERENCES post;
ALTER TABLE vote
    ADD CONSTRAINT vote_post_id_user_id_key UNIQUE USING INDEX vote_old_post_id_user_id;
INSERT INTO post VALUES (7);
INSERT INTO vote (post_id, user_id) VALUES (7, 7);
COMMIT;

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
