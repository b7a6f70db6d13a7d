import pg from "pg";
import { registerTypes } from "pg-ulid/pg";

const pool = new pg.Pool({ onConnect: registerTypes }); // for arrays

await pool.query("CREATE TABLE orders (id ulid PRIMARY KEY DEFAULT gen_ulid(), note text, related ulid[])");
const { rows: [{ id }] } = await pool.query("INSERT INTO orders (note) VALUES ('first') RETURNING id");
await pool.query("INSERT INTO orders (note, related) VALUES ('second', $1)", [[id]]);

const { rows } = await pool.query("SELECT note FROM orders WHERE id = ANY ($1)", [[id]]);
const today = [new Date(Date.now() - 24 * 3600_000), new Date(Date.now() + 1000)];
const recent = await pool.query("SELECT note, related FROM orders WHERE id <@ tstzrange($1, $2) ORDER BY note", today);
console.log(rows, recent.rows);
await pool.end();
