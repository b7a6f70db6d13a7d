import { defineEntity, MikroORM, p, raw } from "@mikro-orm/postgresql";

const Order = defineEntity({
  name: "Order",
  tableName: "orders",
  properties: {
    id: p.string().columnType("ulid").primary().defaultRaw("gen_ulid()"),
    note: p.text().nullable(),
    related: p.array().columnType("ulid[]").nullable(),
  },
});

const orm = await MikroORM.init({
  clientUrl: process.env.DATABASE_URL,
  entities: [Order],
  schemaGenerator: { skipTables: ["ulid_horizon", "ulid_consumer"], skipViews: ["ulid_horizon_holders", "ulid_consumer_lag"] }, // those of the extension
});
await orm.schema.update();
const em = orm.em.fork();
const first = em.create(Order, { note: "first" });
await em.flush();
em.create(Order, { note: "second", related: [first.id] });
await em.flush();

const rows = await em.find(Order, { id: { $in: [first.id] } });
const today = raw((alias) => `${alias}.id <@ tstzrange(?, NULL)`, [new Date(Date.now() - 24 * 3600_000)]);
const recent = await em.find(Order, { [today]: [] }, { orderBy: { note: "asc" } });
console.log(rows, recent);
await orm.close();
