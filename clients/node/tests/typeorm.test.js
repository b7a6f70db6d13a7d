import assert from "node:assert/strict";
import { test } from "node:test";
import { canonical } from "pg-ulid";
import { genUlid, registerTypes, StartsWith, ulid, Within } from "pg-ulid/typeorm";
import { DataSource, EntitySchema, In, Or } from "typeorm";
import { conforms } from "./conformance.js";
import { createDatabase, psql } from "./database.js";

function entities(native) {
  const key = ulid({ native, primary: true, default: genUlid });
  const customer = new EntitySchema({
    name: "customer",
    columns: { id: key, name: { type: "text" } },
    relations: { orders: { type: "one-to-many", target: "orders", inverseSide: "customer" } },
  });
  const orders = new EntitySchema({
    name: "orders",
    columns: {
      id: key,
      customerId: ulid({ native, name: "customer_id", nullable: true }),
      note: { type: "text", nullable: true },
      related: ulid({ native, array: true, nullable: true }),
    },
    relations: { customer: { type: "many-to-one", target: "customer", inverseSide: "orders", joinColumn: { name: "customer_id" } } },
  });
  return [customer, orders];
}
const source = (options) => registerTypes(new DataSource({ type: "postgres", url: process.env.DATABASE_URL, ...options }));

conforms("typeorm", async (native) => {
  const db = await source({ entities: entities(native), synchronize: true }).initialize();
  const orders = db.getRepository("orders");
  return {
    db, orders,
    customer: (name) => db.getRepository("customer").save({ name }),
    // save would look for a row with a given id first
    order: async (row) => {
      const { identifiers: [{ id }] } = await orders.insert(row);
      return orders.findOneByOrFail({ id });
    },
    byId: (id) => orders.findOneBy({ id }),
    byIds: (ids) => orders.findBy({ id: In(ids) }),
    ofCustomer: async (id) => (await db.getRepository("customer").findOne({ where: { id }, relations: { orders: true } })).orders,
    within: (from, to) => orders.findBy({ id: Within(from, to) }),
    startsWith: (prefix) => orders.findBy({ id: StartsWith(prefix) }),
    relate: (id, ids) => orders.update(id, { related: ids }),
    bulk: (rows) => orders.insert(rows),
    close: () => db.destroy(),
  };
}, {
  tables: () => {},
  more(native, app, rows) {
    test("save finds a row by the canonical id; another form is an error", async () => {
      const id = rows().first.id.toLowerCase();
      await assert.rejects(app().orders.save({ id, note: "changed" }), { code: "23505" });
      await app().orders.save({ id: canonical(id), note: "changed" });
      assert.equal((await app().orders.findOneByOrFail({ id })).note, "changed");
      await app().orders.save({ id: canonical(id), note: "first" });
    });
    test("two conditions in one query", async () => {
      const found = await app().orders.findBy({ id: Or(StartsWith("01ARYZ6S41TSV4RRFFQ69G5FAW"), StartsWith(rows().first.id), Within(null, new Date(0))) });
      assert.deepEqual(found.map(({ note }) => note).sort(), ["bulk 1", "first"]);
    });
    test("a second synchronize finds nothing to change", async () => {
      assert.equal(psql("SELECT format_type(atttypid, -1) FROM pg_attribute WHERE attrelid = 'orders'::regclass AND attname = 'customer_id'"), native ? "ulid" : "uuid");
      assert.deepEqual((await app().db.driver.createSchemaBuilder().log()).upQueries, []);
    });
  },
});

test("fails: a data source that does not know the type", async () => {
  createDatabase("typeorm_fails");
  const unknown = new DataSource({ type: "postgres", url: process.env.DATABASE_URL, entities: entities(true) });
  await assert.rejects(unknown.initialize(), {
    name: "DataTypeNotSupportedError",
    message: 'Data type "ulid" in "customer.id" is not supported by "postgres" database.',
  });
});

test("a trap: synchronize with a column declared as varchar replaces every id", async () => {
  createDatabase("typeorm_trap");
  psql("CREATE TABLE orders (id ulid PRIMARY KEY DEFAULT gen_ulid(), note text); INSERT INTO orders (note) VALUES ('first'), ('second')");
  const ids = () => psql("SELECT string_agg(id::text, ' ' ORDER BY note) FROM orders").split(" ");
  const wrong = new EntitySchema({
    name: "orders",
    columns: { id: { type: "varchar", primary: true, default: genUlid }, note: { type: "text", nullable: true } },
  });
  const before = ids();
  const db = await source({ entities: [wrong] }).initialize();
  const { upQueries } = await db.driver.createSchemaBuilder().log();
  assert(upQueries.some(({ query }) => query === 'ALTER TABLE "orders" DROP COLUMN "id"'));
  await db.synchronize();
  await db.destroy();
  assert.equal(ids().length, before.length);
  assert(!ids().some((id) => before.includes(id)));
});
