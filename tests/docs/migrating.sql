CREATE TABLE account (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), name text);
CREATE TABLE posting (account_id uuid REFERENCES account, amount numeric);
CREATE INDEX posting_account_id_idx ON posting (account_id);
CREATE VIEW account_ids AS SELECT id FROM account;
