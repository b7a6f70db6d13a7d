import knex from "knex";
import { afterCreate, genUlid, startsWith, within } from "pg-ulid/knex";

const db = knex({ client: "pg", connection: process.env.DATABASE_URL, pool: { afterCreate } });

await db.schema.createTable("orders", (table) => {
  table.ulid("id").primary().defaultTo(genUlid(db));
  table.text("note");
  table.specificType("related", "ulid[]");
});
const [{ id }] = await db("orders").insert({ note: "first" }).returning("id");
await db("orders").insert({ note: "second", related: [id] });

const rows = await db("orders").select("note").whereIn("id", [id]);
const [from, to] = [new Date(Date.now() - 24 * 3600_000), null];
const recent = await db("orders").select("note", "related").where(within(db, "id", from, to)).orderBy("note");
const like = await db("orders").where(startsWith(db, "id", id.slice(0, 6)));
console.log(rows, recent, like.length);
await db.destroy();
