import knex from "knex";
import { registerTypes } from "pg-ulid/pg";

const afterCreate = (connection, done) => registerTypes(connection).then(() => done(null, connection), done); // for arrays
const db = knex({ client: "pg", connection: process.env.DATABASE_URL, pool: { afterCreate } });

await db.schema.createTable("orders", (table) => {
  table.specificType("id", "ulid").primary().defaultTo(db.raw("gen_ulid()"));
  table.text("note");
  table.specificType("related", "ulid[]");
});
const [{ id }] = await db("orders").insert({ note: "first" }).returning("id");
await db("orders").insert({ note: "second", related: [id] });

const rows = await db("orders").select("note").whereIn("id", [id]);
const from = new Date(Date.now() - 24 * 3600_000);
const recent = await db("orders").select("note", "related").whereRaw("id <@ tstzrange(?, NULL)", [from]).orderBy("note");
console.log(rows, recent);
await db.destroy();
