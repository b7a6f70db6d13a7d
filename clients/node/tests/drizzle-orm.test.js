import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { test } from "node:test";
import { eq, inArray, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { drizzle as drizzlePostgres } from "drizzle-orm/postgres-js";
import { pgTable, text } from "drizzle-orm/pg-core";
import { genUlid, startsWith, ulid, within } from "pg-ulid/drizzle-orm";
import { conforms } from "./conformance.js";
import { createDatabase, folder, psql } from "./database.js";

const drivers = {
  "drizzle-orm with node-postgres": (url) => [drizzle(url), (db) => db.$client.end()],
  "drizzle-orm with Postgres.js": (url) => [drizzlePostgres(url), (db) => db.$client.end()],
};

for (const [name, connect] of Object.entries(drivers)) conforms(name, async (native) => {
  const customer = pgTable("customer", { id: ulid({ native }).primaryKey().default(genUlid()), name: text() });
  const orders = pgTable("orders", {
    id: ulid({ native }).primaryKey().default(genUlid()),
    customerId: ulid("customer_id", { native }).references(() => customer.id),
    note: text(),
    related: ulid({ native }).array(),
  });
  const [db, close] = connect(process.env.DATABASE_URL);
  const find = (where) => db.select().from(orders).where(where);
  return {
    db, orders, find,
    customer: async (name) => (await db.insert(customer).values({ name }).returning())[0],
    order: async (row) => (await db.insert(orders).values(row).returning())[0],
    byId: async (id) => (await find(eq(orders.id, id)))[0],
    byIds: (ids) => find(inArray(orders.id, ids)),
    ofCustomer: async (id) =>
      (await db.select().from(orders).innerJoin(customer, eq(orders.customerId, customer.id)).where(eq(customer.id, id))).map(({ orders }) => orders),
    within: (from, to) => find(within(orders.id, from, to)),
    startsWith: (prefix) => find(startsWith(orders.id, prefix)),
    relate: (id, ids) => db.update(orders).set({ related: ids }).where(eq(orders.id, id)),
    bulk: (rows) => db.insert(orders).values(rows),
    close: () => close(db),
  };
}, {
  code: (error) => (error.cause ?? error).code,
  more(native, app, rows) {
    if (native) test("a list is several parameters, and one with sql.param", async () => {
      const { orders, find } = app();
      const ids = [rows().first.id, rows().second.id];
      if (name.endsWith("node-postgres")) assert.equal((await find(sql`${orders.id} = ANY (${sql.param(ids)})`)).length, 2);
      await assert.rejects(find(sql`${orders.id} = ANY (${ids})`));
    });
    if (native) test("fails: a parameter that is declared as text", async () => {
      const query = app().db.execute(sql`SELECT 1 FROM orders WHERE id = ${rows().first.id}::text`);
      await assert.rejects(query, ({ cause }) => cause.message === "operator does not exist: ulid = text");
    });
  },
});

test("drizzle-kit: push, generate and pull", () => {
  createDatabase("drizzle-kit");
  const directory = mkdtempSync(`${folder}/drizzle-`);
  try {
    cpSync(`${folder}/examples/drizzle-orm`, directory, { recursive: true });
    const kit = (...words) => execFileSync("npx", ["drizzle-kit", ...words], { cwd: directory, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    kit("push", "--force");
    assert.equal(psql("SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'orders'::regclass"), "gen_ulid()");
    psql("INSERT INTO orders (note) VALUES ('first')");
    assert.match(kit("push", "--force"), /No changes detected/);
    assert.equal(psql("SELECT count(*) FROM orders"), "1");
    kit("generate");
    const file = readdirSync(`${directory}/drizzle`).find((name) => name.endsWith(".sql"));
    const migration = readFileSync(`${directory}/drizzle/${file}`, "utf8");
    psql("DROP TABLE orders");
    psql(migration);
    assert.match(kit("push", "--force"), /No changes detected/);
    rmSync(`${directory}/drizzle`, { recursive: true });
    kit("pull");
    const pulled = readFileSync(`${directory}/drizzle/schema.ts`, "utf8");
    // what does not work: the type and the default are to be written again
    assert.match(pulled, /TODO: failed to parse database type 'ulid'\s+id: unknown\("id"\)\.primaryKey\(\)/);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
