import { defineEntity, MikroORM, p } from "@mikro-orm/postgresql";
import { startsWith, UlidArrayType, UlidType, within } from "pg-ulid/mikro-orm";

const Order = defineEntity({
  name: "Order",
  tableName: "orders",
  properties: {
    id: p.type(UlidType).primary().defaultRaw("gen_ulid()"),
    note: p.text().nullable(),
    related: p.type(UlidArrayType).nullable(),
  },
});

const orm = await MikroORM.init({ clientUrl: process.env.DATABASE_URL, entities: [Order] });
await orm.schema.update();
const em = orm.em.fork();
const first = em.create(Order, { note: "first" });
await em.flush();
em.create(Order, { note: "second", related: [first.id] });
await em.flush();

const rows = await em.find(Order, { id: { $in: [first.id] } });
const today = within("id", new Date(Date.now() - 24 * 3600_000), null);
const recent = await em.find(Order, { [today]: [] }, { orderBy: { note: "asc" } });
const like = await em.count(Order, { [startsWith("id", first.id.slice(0, 6))]: [] });
console.log(rows, recent, like);
await orm.close();
