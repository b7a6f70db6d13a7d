import assert from "node:assert/strict";
import { test } from "node:test";
import { genUlid, registerTypes, startsWith, ulid, within } from "pg-ulid/sequelize";
import { DataTypes, Op, Sequelize } from "sequelize";
import { conforms } from "./conformance.js";

registerTypes(Sequelize);

conforms("sequelize", async (native) => {
  const db = new Sequelize(process.env.DATABASE_URL, { logging: false, define: { timestamps: false, underscored: true } });
  const key = () => ulid({ native, primaryKey: true, defaultValue: genUlid() });
  const Customer = db.define("customer", { id: key(), name: DataTypes.TEXT }, { tableName: "customer" });
  const Order = db.define("orders", { id: key(), customerId: ulid({ native }), note: DataTypes.TEXT, related: ulid({ native, array: true }) });
  Customer.hasMany(Order, { foreignKey: "customerId" });
  await db.sync();
  return {
    db, Order,
    customer: (name) => Customer.create({ name }),
    order: (row) => Order.create(row),
    byId: (id) => Order.findByPk(id),
    byIds: (ids) => Order.findAll({ where: { id: ids } }),
    ofCustomer: async (id) => (await Customer.findOne({ where: { id }, include: Order })).orders,
    within: (from, to) => Order.findAll({ where: within("id", from, to) }),
    startsWith: (prefix) => Order.findAll({ where: startsWith("id", prefix) }),
    relate: async (id, ids) => (await Order.findByPk(id)).update({ related: ids }),
    bulk: (rows) => Order.bulkCreate(rows),
    close: () => db.close(),
  };
}, {
  tables: () => {},
  code: (error) => error.parent?.code ?? error.code,
  more(native, app, rows) {
    test("sync keeps the column and its values", async () => {
      const { db, Order } = app();
      await Order.sync({ alter: true });
      assert.equal((await Order.findByPk(rows().first.id)).id, rows().first.id);
      assert.equal((await db.getQueryInterface().describeTable("orders")).id.type, native ? "USER-DEFINED" : "UUID");
    });
    test("DataTypes.ULID", async () => {
      const { db } = app();
      const id = { type: DataTypes.ULID({ native }), primaryKey: true, defaultValue: genUlid() };
      const Invoice = db.define("invoice", { id, others: DataTypes.ARRAY(DataTypes.ULID({ native })) });
      await Invoice.sync();
      const [a, b] = await Invoice.bulkCreate([{}, { others: ["01ARYZ6S41TSV4RRFFQ69G5FAV"] }]);
      assert.equal(await Invoice.count({ where: { id: { [Op.in]: [a.id, b.id] } } }), 2);
      if (native) assert.deepEqual((await Invoice.findByPk(b.id)).others, ["01ARYZ6S41TSV4RRFFQ69G5FAV"]);
    });
    test("raw results", async () => {
      const row = await app().Order.findOne({ where: { note: "first" }, raw: true });
      assert.equal(row.id.length, native ? 26 : 36);
    });
    if (native) test("fails: Op.any, which sends text[]", async () => {
      const found = app().Order.findAll({ where: { id: { [Op.any]: [rows().first.id] } } });
      await assert.rejects(found, { message: "operator does not exist: ulid = text" });
    });
  },
});
