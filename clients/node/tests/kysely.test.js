import assert from "node:assert/strict";
import { test } from "node:test";
import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { canonical, toUuid } from "pg-ulid";
import { genUlid, startsWith, ulid, within } from "pg-ulid/kysely";
import { registerTypes } from "pg-ulid/pg";
import { conforms } from "./conformance.js";

const outOf = (row) => row && { ...row, id: canonical(row.id), customerId: canonical(row.customer_id), related: canonical(row.related) };

conforms("kysely", async (native) => {
  const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ onConnect: registerTypes }) }) });
  const key = (column) => column.primaryKey().defaultTo(genUlid());
  await db.schema.createTable("customer").addColumn("id", ulid({ native }), key).addColumn("name", "text").execute();
  await db.schema.createTable("orders").addColumn("id", ulid({ native }), key).addColumn("note", "text")
    .addColumn("customer_id", ulid({ native }), (column) => column.references("customer.id"))
    .addColumn("related", native ? sql`ulid[]` : sql`uuid[]`).execute();
  const given = native ? (id) => id : toUuid;
  const column = ({ id, customerId, note, related }) => ({ id: given(id), customer_id: given(customerId), note, related: given(related) });
  const orders = db.selectFrom("orders").selectAll("orders");
  const all = async (query) => (await query.execute()).map(outOf);
  return {
    db,
    customer: async (name) => outOf(await db.insertInto("customer").values({ name }).returningAll().executeTakeFirstOrThrow()),
    order: async (row) => outOf(await db.insertInto("orders").values(column(row)).returningAll().executeTakeFirstOrThrow()),
    byId: async (id) => outOf(await orders.where("id", "=", given(id)).executeTakeFirst()),
    byIds: (ids) => all(orders.where("id", "in", given(ids))),
    ofCustomer: (id) => all(orders.innerJoin("customer", "customer.id", "orders.customer_id").where("customer.id", "=", given(id))),
    within: (from, to) => all(orders.where(within("orders.id", from, to))),
    startsWith: (prefix) => all(orders.where(startsWith("id", prefix))),
    relate: (id, ids) => db.updateTable("orders").set({ related: given(ids) }).where("id", "=", given(id)).execute(),
    bulk: (rows) => db.insertInto("orders").values(rows.map(column)).execute(),
    close: () => db.destroy(),
  };
}, {
  tables: () => {},
  more(native, app) {
    test("introspection", async () => {
      const [, { columns }] = await app().db.introspection.getTables();
      const expected = { id: "ulid", note: "text", customer_id: "ulid", related: "_ulid" };
      assert.deepEqual(Object.fromEntries(columns.map(({ name, dataType }) => [name, dataType.replace("uuid", "ulid")])), expected);
      assert.equal(columns[0].dataType, native ? "ulid" : "uuid");
      assert.equal(columns[0].hasDefaultValue, true);
    });
    if (native) test("fails: a parameter that is declared as text", async () => {
      await assert.rejects(sql`SELECT 1 FROM orders WHERE id = ${"01ARYZ6S41TSV4RRFFQ69G5FAV"}::text`.execute(app().db), {
        message: "operator does not exist: ulid = text",
      });
    });
  },
});
