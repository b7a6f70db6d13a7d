import { registerTypes } from "pg-ulid/pg";
import { col, DataTypes, fn, Sequelize } from "sequelize";

const db = new Sequelize(process.env.DATABASE_URL, { logging: false, define: { timestamps: false } });
db.addHook("afterConnect", registerTypes); // for arrays

const Order = db.define("orders", {
  id: { type: "ulid", primaryKey: true, defaultValue: db.literal("gen_ulid()") },
  note: DataTypes.TEXT,
  related: "ulid[]",
});
await Order.sync();
const { id } = await Order.create({ note: "first" });
await Order.create({ note: "second", related: [id] });

const rows = await Order.findAll({ where: { id: [id] }, raw: true });
const today = fn("ulid_contained_by_range", col("id"), fn("tstzrange", new Date(Date.now() - 24 * 3600_000), null));
const recent = await Order.findAll({ where: today, order: ["note"] });
console.log(rows, recent.map((order) => order.toJSON()));
await db.close();
