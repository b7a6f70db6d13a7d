// The same operations through each tool. open(native) returns the functions
//   customer(), order({ id, customerId, note, related }): insert, and return the id
//   byId(id): { note, customerId, related }; byIds(ids), within(from, to), startsWith(prefix): the notes; ofCustomer(id): theirs
//   relate(id, ids): set the array of an order; bulk(orders): insert several at once; close()
import { canonical, toUuid } from "pg-ulid";
import { registerTypes } from "pg-ulid/pg";

const url = () => process.env.DATABASE_URL;
const defined = (row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));
const columns = ({ customerId, ...row }) => defined({ ...row, customer_id: customerId });
const outOf = (row) => row && { note: row.note, customerId: row.customer_id, related: row.related };
const notes = async (rows) => (await rows).map(({ note }) => note).sort();

async function pg(native) {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ onConnect: registerTypes });
  const given = native ? (id) => id : toUuid;
  const query = async (sql, ...values) => (await pool.query(sql, values)).rows.map((row) =>
    ({ ...row, id: canonical(row.id), customer_id: canonical(row.customer_id), related: canonical(row.related) }));
  const insert = "INSERT INTO orders (id, customer_id, note, related) VALUES (COALESCE($1, gen_ulid()), $2, $3, $4) RETURNING id";
  return {
    customer: async () => (await query("INSERT INTO customer (name) VALUES ('Ada') RETURNING id"))[0].id,
    order: async ({ id, customerId, note, related }) => (await query(insert, given(id), given(customerId), note, given(related)))[0].id,
    byId: async (id) => outOf((await query("SELECT * FROM orders WHERE id = $1", given(id)))[0]),
    byIds: (ids) => notes(query("SELECT * FROM orders WHERE id = ANY ($1)", given(ids))),
    ofCustomer: (id) => notes(query("SELECT o.* FROM orders o JOIN customer c ON customer_id = c.id WHERE c.id = $1", given(id))),
    within: (from, to) => notes(query("SELECT * FROM orders WHERE ulid_contained_by_range(id, tstzrange($1, $2))", from, to)),
    startsWith: (prefix) => notes(query("SELECT * FROM orders WHERE ulid_starts_with(id, $1)", prefix)),
    relate: (id, ids) => query("UPDATE orders SET related = $2 WHERE id = $1", given(id), given(ids)),
    bulk: (rows) => query(`INSERT INTO orders (id, note) SELECT * FROM unnest($1::${native ? "ulid" : "uuid"}[], $2::text[])`,
      given(rows.map(({ id }) => id)), rows.map(({ note }) => note)),
    close: () => pool.end(),
  };
}

async function postgres() {
  const { default: postgres } = await import("postgres");
  const sql = postgres();
  return {
    customer: async () => (await sql`INSERT INTO customer ${sql({ name: "Ada" })} RETURNING id`)[0].id,
    order: async (row) => (await sql`INSERT INTO orders ${sql(columns(row))} RETURNING id`)[0].id,
    byId: async (id) => outOf((await sql`SELECT * FROM orders WHERE id = ${id}`)[0]),
    byIds: (ids) => notes(sql`SELECT * FROM orders WHERE id IN ${sql(ids)} AND id = ANY (${ids})`),
    ofCustomer: (id) => notes(sql`SELECT o.* FROM orders o JOIN customer c ON customer_id = c.id WHERE c.id = ${id}`),
    within: (from, to) => notes(sql`SELECT * FROM orders WHERE id <@ tstzrange(${from}, ${to})`),
    startsWith: (prefix) => notes(sql`SELECT * FROM orders WHERE ulid_starts_with(id, ${prefix})`),
    relate: (id, ids) => sql`UPDATE orders SET related = ${ids} WHERE id = ${id}`,
    bulk: (rows) => sql`INSERT INTO orders ${sql(rows)}`,
    close: () => sql.end(),
  };
}

async function knex() {
  const { default: knex } = await import("knex");
  const afterCreate = (connection, done) => registerTypes(connection).then(() => done(null, connection), done);
  const db = knex({ client: "pg", connection: url(), pool: { afterCreate } });
  const orders = () => db("orders");
  return {
    customer: async () => (await db("customer").insert({ name: "Ada" }).returning("id"))[0].id,
    order: async (row) => (await orders().insert(columns(row)).returning("id"))[0].id,
    byId: async (id) => outOf(await orders().where({ id }).first()),
    byIds: (ids) => notes(orders().whereIn("id", ids)),
    ofCustomer: (id) => notes(orders().join("customer", "customer.id", "customer_id").where("customer.id", id)),
    within: (from, to) => notes(orders().whereRaw("id <@ tstzrange(?, ?)", [from, to])),
    startsWith: (prefix) => notes(orders().whereRaw("ulid_starts_with(id, ?)", [prefix])),
    relate: async (id, ids) => orders().where({ id }).update({ related: ids }),
    bulk: (rows) => db.batchInsert("orders", rows),
    close: () => db.destroy(),
  };
}

async function kysely() {
  const { Kysely, PostgresDialect, sql } = await import("kysely");
  const { default: pg } = await import("pg");
  const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ onConnect: registerTypes }) }) });
  const orders = db.selectFrom("orders").selectAll("orders");
  return {
    customer: async () => (await db.insertInto("customer").values({ name: "Ada" }).returning("id").executeTakeFirstOrThrow()).id,
    order: async (row) => (await db.insertInto("orders").values(columns(row)).returning("id").executeTakeFirstOrThrow()).id,
    byId: async (id) => outOf(await orders.where("id", "=", id).executeTakeFirst()),
    byIds: (ids) => notes(orders.where("id", "in", ids).execute()),
    ofCustomer: (id) => notes(orders.innerJoin("customer", "customer.id", "customer_id").where("customer.id", "=", id).execute()),
    within: (from, to) => notes(orders.where(sql`id <@ tstzrange(${from}, ${to})`).execute()),
    startsWith: (prefix) => notes(orders.where(sql`ulid_starts_with(id, ${prefix})`).execute()),
    relate: (id, ids) => db.updateTable("orders").set({ related: ids }).where("id", "=", id).execute(),
    bulk: (rows) => db.insertInto("orders").values(rows).execute(),
    close: () => db.destroy(),
  };
}

// with either driver; for uuid columns too
const drizzle = (driver) => async (native) => {
  const { eq, inArray, sql } = await import("drizzle-orm");
  const { customType, pgTable, text } = await import("drizzle-orm/pg-core");
  const db = (await import(`drizzle-orm/${driver}`)).drizzle(url());
  const ulid = native ? customType({ dataType: () => "ulid" })
    : customType({ dataType: () => "uuid", toDriver: toUuid, fromDriver: canonical });
  const key = () => ulid().primaryKey().default(sql`gen_ulid()`);
  const customer = pgTable("customer", { id: key(), name: text() });
  const orders = pgTable("orders", { id: key(), customerId: ulid("customer_id"), note: text(), related: ulid().array() });
  const find = (where) => db.select().from(orders).where(where);
  const time = (date) => date?.toISOString() ?? null; // Postgres.js does not take a Date here
  return {
    customer: async () => (await db.insert(customer).values({ name: "Ada" }).returning())[0].id,
    order: async (row) => (await db.insert(orders).values(row).returning())[0].id,
    byId: async (id) => {
      const [row] = await find(eq(orders.id, id));
      return row && { note: row.note, customerId: row.customerId, related: row.related };
    },
    byIds: (ids) => notes(find(inArray(orders.id, ids))),
    ofCustomer: (id) => notes(db.select({ note: orders.note }).from(orders).innerJoin(customer, eq(orders.customerId, customer.id)).where(eq(customer.id, id))),
    within: (from, to) => notes(find(sql`ulid_contained_by_range(${orders.id}, tstzrange(${time(from)}, ${time(to)}))`)),
    startsWith: (prefix) => notes(find(sql`ulid_starts_with(${orders.id}, ${prefix})`)),
    relate: (id, ids) => db.update(orders).set({ related: ids }).where(eq(orders.id, id)),
    bulk: (rows) => db.insert(orders).values(rows),
    close: () => db.$client.end(),
  };
};

async function typeorm() {
  const { DataSource, EntitySchema, In, Raw } = await import("typeorm");
  const key = { type: "ulid", primary: true, default: () => "gen_ulid()" };
  const customer = new EntitySchema({
    name: "customer",
    columns: { id: key, name: { type: "text" } },
    relations: { orders: { type: "one-to-many", target: "orders", inverseSide: "customer" } },
  });
  const order = new EntitySchema({
    name: "orders",
    columns: {
      id: key,
      customerId: { type: "ulid", name: "customer_id", nullable: true },
      note: { type: "text", nullable: true },
      related: { type: "ulid", array: true, nullable: true },
    },
    relations: { customer: { type: "many-to-one", target: "customer", inverseSide: "orders", joinColumn: { name: "customer_id" } } },
  });
  const db = new DataSource({ type: "postgres", url: url(), entities: [customer, order], extra: { onConnect: registerTypes } });
  db.driver.supportedDataTypes.push("ulid");
  await db.initialize();
  const orders = db.getRepository("orders");
  return {
    customer: async () => (await db.getRepository("customer").save({ name: "Ada" })).id,
    order: async (row) => (await orders.insert(row)).identifiers[0].id,
    byId: async (id) => {
      const row = await orders.findOneBy({ id });
      return row && { note: row.note, customerId: row.customerId, related: row.related };
    },
    byIds: (ids) => notes(orders.findBy({ id: In(ids) })),
    ofCustomer: async (id) => notes((await db.getRepository("customer").findOne({ where: { id }, relations: { orders: true } })).orders),
    within: (from, to) => notes(orders.findBy({ id: Raw((id) => `${id} <@ tstzrange(:from, :to)`, { from, to }) })),
    startsWith: (prefix) => notes(orders.findBy({ id: Raw((id) => `ulid_starts_with(${id}, :prefix)`, { prefix }) })),
    relate: (id, ids) => orders.update(id, { related: ids }),
    bulk: (rows) => orders.insert(rows),
    close: () => db.destroy(),
  };
}

async function sequelize() {
  const { DataTypes, Sequelize } = await import("sequelize");
  const db = new Sequelize(url(), { logging: false, define: { timestamps: false, underscored: true, freezeTableName: true } });
  db.addHook("afterConnect", registerTypes);
  const id = { type: "ulid", primaryKey: true, defaultValue: db.literal("gen_ulid()") };
  const Customer = db.define("customer", { id, name: DataTypes.TEXT });
  const Order = db.define("orders", { id, customerId: "ulid", note: DataTypes.TEXT, related: "ulid[]" });
  Customer.hasMany(Order, { foreignKey: "customerId" });
  const { col, fn } = db.constructor;
  return {
    customer: async () => (await Customer.create({ name: "Ada" })).id,
    order: async (row) => (await Order.create(row)).id,
    byId: async (id) => {
      const row = await Order.findByPk(id);
      return row && { note: row.note, customerId: row.customerId, related: row.related };
    },
    byIds: (ids) => notes(Order.findAll({ where: { id: ids } })),
    ofCustomer: async (id) => notes((await Customer.findOne({ where: { id }, include: Order })).orders),
    within: (from, to) => notes(Order.findAll({ where: fn("ulid_contained_by_range", col("id"), fn("tstzrange", from, to)) })),
    startsWith: (prefix) => notes(Order.findAll({ where: fn("ulid_starts_with", col("id"), prefix) })),
    relate: async (id, ids) => (await Order.findByPk(id)).update({ related: ids }),
    bulk: (rows) => Order.bulkCreate(rows),
    close: () => db.close(),
  };
}

async function mikroOrm() {
  const { defineEntity, MikroORM, p, raw } = await import("@mikro-orm/postgresql");
  const id = () => p.string().columnType("ulid").primary().defaultRaw("gen_ulid()");
  const Customer = defineEntity({ name: "Customer", tableName: "customer", properties: { id: id(), name: p.text() } });
  const Order = defineEntity({
    name: "Order",
    tableName: "orders",
    properties: {
      id: id(),
      customer: () => p.manyToOne(Customer).nullable(),
      note: p.text().nullable(),
      related: p.array().columnType("ulid[]").nullable(),
    },
  });
  const orm = await MikroORM.init({ clientUrl: url(), entities: [Customer, Order], debug: false });
  const find = (where) => notes(orm.em.fork().find(Order, where));
  return {
    customer: async () => orm.em.fork().insert(Customer, { name: "Ada" }),
    order: async ({ customerId, ...row }) => orm.em.fork().insert(Order, defined({ ...row, customer: customerId })),
    byId: async (id) => {
      const row = await orm.em.fork().findOne(Order, id);
      return row && { note: row.note, customerId: row.customer?.id ?? null, related: row.related };
    },
    byIds: (ids) => find({ id: { $in: ids } }),
    ofCustomer: (id) => find({ customer: id }),
    within: (from, to) => find({ [raw((alias) => `${alias}.id <@ tstzrange(?, ?)`, [from, to])]: [] }),
    startsWith: (prefix) => find({ [raw((alias) => `ulid_starts_with(${alias}.id, ?)`, [prefix])]: [] }),
    relate: async (id, ids) => orm.em.fork().nativeUpdate(Order, { id }, { related: ids }),
    bulk: (rows) => orm.em.fork().insertMany(Order, rows),
    close: () => orm.close(),
  };
}

async function prisma() {
  const { PrismaPg } = await import("@prisma/adapter-pg");
  const { startsWith, ulidParser, within } = await import("pg-ulid/prisma");
  const { PrismaClient } = await import("./prisma.js").then(({ generate }) => generate());
  const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url() }, { userDefinedTypeParser: ulidParser() }) });
  const find = (where) => notes(prisma.order.findMany({ where }));
  return {
    prisma, PrismaClient,
    customer: async () => (await prisma.customer.create({ data: { name: "Ada" } })).id,
    order: async (data) => (await prisma.order.create({ data })).id,
    byId: (id) => prisma.order.findUnique({ where: { id }, select: { note: true, customerId: true, related: true } }),
    byIds: (ids) => find({ id: { in: ids } }),
    ofCustomer: async (id) => notes((await prisma.customer.findUnique({ where: { id }, include: { orders: true } })).orders),
    within: async (from, to) => find({ id: within(from, to) }),
    startsWith: async (prefix) => find({ id: startsWith(prefix) }),
    relate: async (id, ids) => prisma.order.update({ where: { id }, data: { related: ids } }),
    bulk: (rows) => prisma.order.createMany({ data: rows }),
    close: () => prisma.$disconnect(),
  };
}

export const tools = {
  pg, postgres, knex, kysely, "drizzle-orm": drizzle("node-postgres"), "drizzle-orm with Postgres.js": drizzle("postgres-js"),
  typeorm, sequelize, "mikro-orm": mikroOrm, prisma,
};
