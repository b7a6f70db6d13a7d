/* @name InsertOrder */
INSERT INTO orders (id, customer_id, note) VALUES (COALESCE(:id, gen_ulid()), :customer, :note) RETURNING id;

/* @name ById */
SELECT note, customer_id, related FROM orders WHERE id = :id!;

/* @name ByIds @param ids -> (...) */
SELECT id FROM orders WHERE id IN :ids!;

/* @name ByList */
SELECT id FROM orders WHERE id = ANY (:ids!);

/* @name Within */
SELECT id FROM orders WHERE id <@ tstzrange(:from, :to);

/* @name Relate */
UPDATE orders SET related = :related! WHERE id = :id!;
