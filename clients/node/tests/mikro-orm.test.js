import assert from "node:assert/strict";
import { test } from "node:test";
import { conforms } from "./conformance.js";
import { psql } from "./database.js";

if (process.versions.node < "22") {
  test("MikroORM", { skip: "MikroORM 7 needs Node.js 22" }, () => {});
} else {
  const { EntitySchema, MikroORM } = await import("@mikro-orm/postgresql");
  const { startsWith, UlidArrayType, UlidType, within } = await import("pg-ulid/mikro-orm");

  conforms("mikro-orm", async (native) => {
    const key = { type: new UlidType({ native }), primary: true, defaultRaw: "gen_ulid()" };
    const Customer = new EntitySchema({
      name: "Customer",
      tableName: "customer",
      properties: { id: key, name: { type: "text" }, orders: { kind: "1:m", entity: () => "Order", mappedBy: "customer" } },
    });
    const Order = new EntitySchema({
      name: "Order",
      tableName: "orders",
      properties: {
        id: key,
        customer: { kind: "m:1", entity: () => "Customer", nullable: true },
        note: { type: "text", nullable: true },
        related: { type: new UlidArrayType({ native }), nullable: true },
      },
    });
    const orm = await MikroORM.init({ clientUrl: process.env.DATABASE_URL, entities: [Customer, Order], debug: false });
    await orm.schema.create();
    const outOf = (order) => order && { ...order, id: order.id, customerId: order.customer?.id ?? null, related: order.related, note: order.note };
    const find = async (where) => (await orm.em.fork().find(Order, where)).map(outOf);
    return {
      orm, Order,
      customer: async (name) => {
        const em = orm.em.fork();
        const customer = em.create(Customer, { name });
        await em.flush();
        return customer;
      },
      order: async ({ customerId, ...row }) => {
        const em = orm.em.fork();
        if (customerId === undefined) return outOf(await em.findOneOrFail(Order, await em.insert(Order, row)));
        const order = em.create(Order, { ...row, customer: customerId });
        await em.flush();
        return outOf(order);
      },
      byId: async (id) => outOf(await orm.em.fork().findOne(Order, id)),
      byIds: (ids) => find({ id: { $in: ids } }),
      ofCustomer: async (id) => [...(await orm.em.fork().findOneOrFail(Customer, id, { populate: ["orders"] })).orders],
      within: (from, to) => find({ [within("id", from, to)]: [] }),
      startsWith: (prefix) => find({ [startsWith("id", prefix)]: [] }),
      relate: async (id, ids) => {
        const em = orm.em.fork();
        (await em.findOneOrFail(Order, id)).related = ids;
        await em.flush();
      },
      bulk: (rows) => orm.em.fork().insertMany(Order, rows),
      close: () => orm.close(),
    };
  }, {
    tables: () => {},
    more(native, app, rows) {
      test("one entity for one row, whatever the form of its id", async () => {
        const em = app().orm.em.fork();
        const order = await em.findOneOrFail(app().Order, rows().first.id);
        assert.equal((await em.findOneOrFail(app().Order, { id: rows().first.id.toLowerCase() })) === order, true);
      });
      test("the schema has no difference, and no column is altered on flush", async () => {
        assert.equal(psql("SELECT format_type(atttypid, -1) FROM pg_attribute WHERE attrelid = 'orders'::regclass AND attname = 'customer_id'"), native ? "ulid" : "uuid");
        assert.equal(await app().orm.schema.getUpdateSchemaSQL(), "");
        const em = app().orm.em.fork();
        await em.find(app().Order, {});
        em.getUnitOfWork().computeChangeSets();
        assert.deepEqual(em.getUnitOfWork().getChangeSets(), []);
      });
      if (native) test("fails: a parameter that is declared as text", async () => {
        await assert.rejects(app().orm.em.fork().execute("SELECT 1 FROM orders WHERE id = ?::text", [rows().first.id]), /operator does not exist: ulid = text/);
      });
    },
  });
}
