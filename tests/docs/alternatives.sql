CREATE TABLE outbox (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), message text NOT NULL);
