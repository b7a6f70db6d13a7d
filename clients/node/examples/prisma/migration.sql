CREATE TABLE orders (id ulid PRIMARY KEY DEFAULT gen_ulid(), note text, related ulid[]);
