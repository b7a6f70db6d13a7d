import assert from "node:assert/strict";
import { test } from "node:test";
import knex from "knex";
import { Model } from "objection";
import { canonical, toUuid } from "pg-ulid";
import { afterCreate, genUlid, startsWith, within } from "pg-ulid/knex";
import { conforms } from "./conformance.js";
import { psql } from "./database.js";

const connect = () => knex({ client: "pg", connection: process.env.DATABASE_URL, pool: { afterCreate } });
const outOf = (row) => row && { ...row, id: canonical(row.id), customerId: canonical(row.customer_id), related: canonical(row.related) };

// The functions through a query builder: of Knex, or of Objection's models.
function application(db, native, customer, orders, close) {
  const given = native ? (id) => id : toUuid;
  const column = ({ id, customerId, related, ...row }) =>
    Object.fromEntries(Object.entries({ ...row, id: given(id), customer_id: given(customerId), related: given(related) })
      .filter(([, value]) => value !== undefined));
  return {
    db,
    customer: async (name) => outOf((await customer().insert({ name }).returning("*"))[0]),
    order: async (row) => outOf((await orders().insert([column(row)]).returning("*"))[0]),
    byId: async (id) => outOf(await orders().where({ id: given(id) }).first()),
    byIds: async (ids) => (await orders().whereIn("id", given(ids))).map(outOf),
    ofCustomer: async (id) => (await orders().where({ customer_id: given(id) })).map(outOf),
    within: async (from, to) => orders().where(within(db, "id", from, to)),
    startsWith: async (prefix) => orders().where(startsWith(db, "id", prefix)),
    relate: async (id, ids) => orders().where({ id: given(id) }).update({ related: given(ids) }),
    bulk: async (rows) => db.batchInsert("orders", rows.map(column)),
    close,
  };
}

// The tables, by Knex's schema builder.
async function createTables(db, options) {
  await db.schema.createTable("customer", (table) => {
    table.ulid("id", options).primary().defaultTo(genUlid(db));
    table.text("name");
  });
  await db.schema.createTable("orders", (table) => {
    table.ulid("id", options).primary().defaultTo(genUlid(db));
    table.ulid("customer_id", options).references("customer.id");
    table.text("note");
    table.specificType("related", options.native ? "ulid[]" : "uuid[]");
  });
}

conforms("knex", async (native) => {
  const db = connect();
  await createTables(db, { native });
  return application(db, native, () => db("customer"), () => db("orders"), () => db.destroy());
}, {
  tables: () => {},
  more(native, app) {
    test("the schema builder makes columns of the type", async () => {
      const columns = psql("SELECT string_agg(attname || ' ' || format_type(atttypid, -1), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'orders'::regclass AND attnum > 0");
      assert.equal(columns, "id ulid, customer_id ulid, note text, related ulid[]".replaceAll("ulid", native ? "ulid" : "uuid"));
      assert.equal((await app().db("orders").columnInfo("id")).type, native ? "USER-DEFINED" : "uuid");
    });
    if (native) test("fails: a parameter that is declared as text", async () => {
      await assert.rejects(app().db("orders").whereRaw("id = ?::text", ["01ARYZ6S41TSV4RRFFQ69G5FAV"]), /operator does not exist: ulid = text$/);
    });
  },
});

conforms("objection", async (native) => {
  const db = connect();
  class Customer extends Model {
    static tableName = "customer";
    static relationMappings = () => ({ orders: { relation: Model.HasManyRelation, modelClass: Order, join: { from: "customer.id", to: "orders.customer_id" } } });
  }
  class Order extends Model {
    static tableName = "orders";
  }
  const app = application(db, native, () => Customer.query(db), () => Order.query(db), () => db.destroy());
  return {
    ...app,
    customer: async (name) => outOf(await Customer.query(db).insert({ name }).returning("*")),
    ofCustomer: async (id) => (await Customer.query(db).findById(native ? id : toUuid(id)).withGraphFetched("orders")).orders,
  };
}, { code: (error) => (error.nativeError ?? error).code });
