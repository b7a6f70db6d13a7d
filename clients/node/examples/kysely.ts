import { type Generated, Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { registerTypes } from "pg-ulid/pg";

interface Database { orders: { id: Generated<string>; note: string | null; related: string[] | null } }

const pool = new pg.Pool({ onConnect: registerTypes }); // for arrays
const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });

await db.schema
  .createTable("orders")
  .addColumn("id", sql`ulid`, (column) => column.primaryKey().defaultTo(sql`gen_ulid()`))
  .addColumn("note", "text")
  .addColumn("related", sql`ulid[]`)
  .execute();
const { id } = await db.insertInto("orders").values({ note: "first" }).returning("id").executeTakeFirstOrThrow();
await db.insertInto("orders").values({ note: "second", related: [id] }).execute();

const rows = await db.selectFrom("orders").select("note").where("id", "in", [id]).execute();
const today = sql<boolean>`id <@ tstzrange(${new Date(Date.now() - 24 * 3600_000)}, NULL)`;
const recent = await db.selectFrom("orders").select(["note", "related"]).where(today).orderBy("note").execute();
console.log(rows, recent);
await db.destroy();
