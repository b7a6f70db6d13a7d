CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid());
