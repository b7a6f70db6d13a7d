CREATE EXTENSION ulid;
CREATE TABLE customer (id ulid PRIMARY KEY DEFAULT gen_ulid(), name text NOT NULL);
CREATE TABLE orders (
    id ulid PRIMARY KEY DEFAULT gen_ulid(),
    customer_id ulid REFERENCES customer,
    note text,
    related ulid[]
);
