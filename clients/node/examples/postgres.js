import postgres from "postgres";

const sql = postgres();

await sql`CREATE TABLE orders (id ulid PRIMARY KEY DEFAULT gen_ulid(), note text, related ulid[])`;
const [{ id }] = await sql`INSERT INTO orders (note) VALUES ('first') RETURNING id`;
await sql`INSERT INTO orders ${sql([{ note: "second", related: [id] }])}`;

const rows = await sql`SELECT note FROM orders WHERE id = ANY (${[id]})`;
const [from, to] = [new Date(Date.now() - 24 * 3600_000), new Date(Date.now() + 1000)];
const recent = await sql`SELECT note, related FROM orders WHERE id <@ tstzrange(${from}, ${to}) ORDER BY note`;
console.log(rows, recent);
await sql.end();
