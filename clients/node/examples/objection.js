import knex from "knex";
import { Model } from "objection";
import { afterCreate, genUlid, within } from "pg-ulid/knex";

const db = knex({ client: "pg", connection: process.env.DATABASE_URL, pool: { afterCreate } });
Model.knex(db);

class Order extends Model {
  static tableName = "orders";
}

await db.schema.createTable("orders", (table) => {
  table.ulid("id").primary().defaultTo(genUlid(db));
  table.text("note");
});
const { id } = await Order.query().insert({ note: "first" });
const found = await Order.query().findById(id);
const recent = await Order.query().where(within(db, "id", new Date(Date.now() - 24 * 3600_000), null));
console.log(found.note, recent.length);
await db.destroy();
