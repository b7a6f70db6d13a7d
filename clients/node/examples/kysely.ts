import { type Generated, Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { genUlid, startsWith, ulid, within } from "pg-ulid/kysely";
import { registerTypes } from "pg-ulid/pg";

interface Database { orders: { id: Generated<string>; note: string | null; related: string[] | null } }

const pool = new pg.Pool({ onConnect: registerTypes }); // for arrays
const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });

await db.schema
  .createTable("orders")
  .addColumn("id", ulid(), (column) => column.primaryKey().defaultTo(genUlid()))
  .addColumn("note", "text")
  .addColumn("related", sql`ulid[]`)
  .execute();
const { id } = await db.insertInto("orders").values({ note: "first" }).returning("id").executeTakeFirstOrThrow();
await db.insertInto("orders").values({ note: "second", related: [id] }).execute();

const rows = await db.selectFrom("orders").select("note").where("id", "in", [id]).execute();
const today = within("id", new Date(Date.now() - 24 * 3600_000), null);
const recent = await db.selectFrom("orders").select(["note", "related"]).where(today).orderBy("note").execute();
const like = await db.selectFrom("orders").select("id").where(startsWith("id", id.slice(0, 6))).execute();
console.log(rows, recent, like.length);
await db.destroy();
