import knex from "knex";
import { Model } from "objection";

const db = knex({ client: "pg", connection: process.env.DATABASE_URL }); // for arrays, with afterCreate as in Knex
Model.knex(db);

class Order extends Model {
  static tableName = "orders";
}

await db.raw("CREATE TABLE orders (id ulid PRIMARY KEY DEFAULT gen_ulid(), note text)");
const { id } = await Order.query().insert({ note: "first" });
console.log(await Order.query().findById(id));
await db.destroy();
