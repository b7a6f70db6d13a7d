import { genUlid, registerTypes, startsWith, ulid, within } from "pg-ulid/sequelize";
import { DataTypes, Sequelize } from "sequelize";

registerTypes(Sequelize);
const db = new Sequelize(process.env.DATABASE_URL, { logging: false, define: { timestamps: false } });

const Order = db.define("orders", {
  id: ulid({ primaryKey: true, defaultValue: genUlid() }), // or type: DataTypes.ULID
  note: DataTypes.TEXT,
  related: ulid({ array: true }),
});
await Order.sync();
const { id } = await Order.create({ note: "first" });
await Order.create({ note: "second", related: [id] });

const rows = await Order.findAll({ where: { id: [id] }, raw: true });
const recent = await Order.findAll({ where: within("id", new Date(Date.now() - 24 * 3600_000), null), order: ["note"] });
const like = await Order.count({ where: startsWith("id", id.slice(0, 6)) });
console.log(rows, recent.map((order) => order.toJSON()), like);
await db.close();
