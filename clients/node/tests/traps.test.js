// What the README says of a tool without the package's lines, and of its schema tools.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, describe, test } from "node:test";
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { canonical } from "pg-ulid";
import { registerTypes } from "pg-ulid/pg";
import postgres from "postgres";
import { DataSource, EntitySchema } from "typeorm";
import { createCases, createDatabase, moveExtension, psql } from "./database.js";
import { generate } from "./prisma.js";
import { tools } from "./tools.js";

const given = "01ARYZ6S41TSV4RRFFQ69G5FAV";
const directories = [];
after(() => directories.forEach((directory) => rmSync(directory, { recursive: true })));
function folder(files) {
  const directory = mkdtempSync(`${process.cwd()}/traps-`);
  directories.push(directory);
  mkdirSync(`${directory}/src`);
  for (const [name, text] of Object.entries(files)) writeFileSync(`${directory}/${name}`, text);
  return directory;
}

test("node-postgres: arrays are text without registerTypes; a parameter declared as text; binary results", async () => {
  createDatabase("traps_pg");
  const [client, binary] = [new pg.Client(), new pg.Client({ binary: true })];
  await Promise.all([client.connect(), binary.connect()]);
  const read = async (sql, parameters) => (await client.query(sql, parameters)).rows[0].ids;
  const sql = `SELECT ARRAY['${given}', NULL]::ulid[] AS ids`;
  assert.equal(await read(sql), `{${given},NULL}`);
  await registerTypes(client);
  assert.deepEqual(await read(sql), [given, null]);
  await assert.rejects(read("SELECT gen_ulid() = $1::text", [given]), { message: "operator does not exist: ulid = text" });
  const { rows: [{ id }] } = await binary.query("SELECT '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'::ulid AS id");
  assert.notEqual(Buffer.from(id).toString("hex"), "f".repeat(32));
  await client.query("DROP EXTENSION ulid");
  await registerTypes(client); // does nothing
  await Promise.all([client.end(), binary.end()]);
});

test("Postgres.js: a list of VALUES needs a cast; with fetch_types: false, arrays are text", async () => {
  createDatabase("traps_postgres");
  createCases();
  const [sql, plain] = [postgres(), postgres({ fetch_types: false })];
  await sql`INSERT INTO orders (id, related) VALUES (${given}, ${[given]})`;
  const changes = sql([[given, "changed"]]);
  await assert.rejects(async () => sql`UPDATE orders SET note = c.note FROM (VALUES ${changes}) AS c (id, note) WHERE orders.id = c.id`,
    { message: "operator does not exist: ulid = text" });
  assert.equal((await sql`UPDATE orders SET note = c.note FROM (VALUES ${changes}) AS c (id, note) WHERE orders.id = c.id::ulid`).count, 1);
  assert.equal((await plain`SELECT related FROM orders`)[0].related, `{${given}}`);
  await assert.rejects(async () => plain`UPDATE orders SET related = ${[given]}`, { message: /^malformed array literal/ });
  await Promise.all([sql.end(), plain.end()]);
});

describe("TypeORM", () => {
  const source = (columns) => new DataSource({ type: "postgres", url: process.env.DATABASE_URL, entities: [new EntitySchema({ name: "orders", columns })] });

  test("a data source that does not know the type; save compares ids as strings", async () => {
    createDatabase("traps_typeorm");
    const columns = { id: { type: "ulid", primary: true, default: () => "gen_ulid()" }, note: { type: "text", nullable: true } };
    const db = source(columns);
    await assert.rejects(db.initialize(), { message: 'Data type "ulid" in "orders.id" is not supported by "postgres" database.' });
    const known = source(columns);
    known.driver.supportedDataTypes.push("ulid");
    await known.initialize();
    await known.synchronize();
    assert.deepEqual((await known.driver.createSchemaBuilder().log()).upQueries, []);
    const orders = known.getRepository("orders");
    const { id } = await orders.save({ note: "first" });
    await assert.rejects(orders.save({ id: id.toLowerCase(), note: "changed" }), { code: "23505" });
    assert.equal((await orders.save({ id: canonical(id.toLowerCase()), note: "changed" })).id, id);
    await known.destroy();
  });

  test("synchronize with a column declared as varchar replaces every id", async () => {
    createDatabase("traps_typeorm");
    psql("CREATE TABLE orders (id ulid PRIMARY KEY DEFAULT gen_ulid(), note text); INSERT INTO orders (note) VALUES ('first'), ('second')");
    const ids = () => psql("SELECT string_agg(id::text, ' ' ORDER BY note) FROM orders").split(" ");
    const before = ids();
    const db = await source({
      id: { type: "varchar", primary: true, default: () => "gen_ulid()" }, note: { type: "text", nullable: true },
    }).initialize();
    await db.synchronize();
    await db.destroy();
    assert.equal(ids().length, before.length);
    assert(!ids().some((id) => before.includes(id)));
  });
});

test("Sequelize: Op.any sends text[]; alter keeps the column", async () => {
  createDatabase("traps_sequelize");
  const { Op, Sequelize } = await import("sequelize");
  const db = new Sequelize(process.env.DATABASE_URL, { logging: false, define: { timestamps: false } });
  const Order = db.define("orders", { id: { type: "ulid", primaryKey: true, defaultValue: db.literal("gen_ulid()") } });
  await Order.sync();
  const { id } = await Order.create();
  await Order.sync({ alter: true });
  assert.equal((await Order.findOne()).id, id);
  await assert.rejects(Order.findAll({ where: { id: { [Op.any]: [id] } } }), { message: "operator does not exist: ulid = text" });
  await db.close();
});

test("Prisma: ids are compared as strings; arrays need the parser", async () => {
  createDatabase("traps_prisma");
  createCases();
  const app = await tools.prisma(true);
  const ids = [await app.order({ note: "first" }), await app.order({ note: "{second}" })];
  const batch = async (ids) => (await Promise.all(ids.map((id) => app.prisma.order.findUnique({ where: { id } })))).map((row) => row?.note);
  const lower = ids.map((id) => id.toLowerCase());
  assert.deepEqual(await batch(lower), [undefined, undefined]);
  assert.deepEqual(await batch(canonical(lower)), ["first", "{second}"]);
  await app.relate(ids[0], ids);
  assert.deepEqual((await app.prisma.$transaction((prisma) => prisma.order.findUnique({ where: { id: ids[0] } }))).related, ids);
  psql(`UPDATE orders SET related = '[0:1]={${ids}}' WHERE note = 'first'`);
  assert.deepEqual((await app.byId(ids[0])).related, ids);
  await app.close();
  const { PrismaClient } = await generate();
  const plain = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) });
  await assert.rejects(plain.order.findMany(), { message: "e.map is not a function" });
  await plain.$disconnect();
});

test("drizzle-kit: a second push finds nothing; pull loses the type and the default", () => {
  createDatabase("traps_drizzle");
  moveExtension();
  const cwd = folder({
    "schema.ts": `import { sql } from "drizzle-orm";
      import { customType, pgTable, text } from "drizzle-orm/pg-core";
      const ulid = customType<{ data: string }>({ dataType: () => "ulid" });
      export const orders = pgTable("orders", { id: ulid().primaryKey().default(sql\`gen_ulid()\`), note: text() });`,
    "drizzle.config.ts": `export default { dialect: "postgresql", schema: "./schema.ts", dbCredentials: { url: process.env.DATABASE_URL } };`,
  });
  const kit = (...words) => execFileSync("npx", ["drizzle-kit", ...words], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  kit("push", "--force");
  psql("INSERT INTO orders (note) VALUES ('first')");
  assert.match(kit("push", "--force"), /No changes detected/);
  kit("generate");
  const migration = readdirSync(`${cwd}/drizzle`).find((name) => name.endsWith(".sql"));
  assert.match(readFileSync(`${cwd}/drizzle/${migration}`, "utf8"), /"id" "?ulid"? PRIMARY KEY DEFAULT gen_ulid\(\)/);
  rmSync(`${cwd}/drizzle`, { recursive: true });
  kit("pull");
  assert.match(readFileSync(`${cwd}/drizzle/schema.ts`, "utf8"), /id: unknown\("id"\)\.primaryKey\(\)/);
});

test("PgTyped: without typesOverrides, ids are unknown", () => {
  createDatabase("traps_pgtyped");
  createCases();
  for (const [overrides, id] of [[{}, "unknown"], [{ ulid: "string" }, "string"]]) {
    const transforms = [{ mode: "sql", include: "*.sql", emitTemplate: "{{dir}}/{{name}}.queries.ts" }];
    const cwd = folder({
      "config.json": JSON.stringify({ transforms, srcDir: "src", typesOverrides: overrides }),
      "src/orders.sql": "/* @name byId */\nSELECT id, related FROM orders WHERE id = :id;\n",
    });
    const { stdout, stderr, status } = spawnSync("npx", ["pgtyped", "-c", "config.json", "--uri", process.env.DATABASE_URL], { cwd, encoding: "utf8" });
    assert.equal(status, 0);
    assert.equal(/Postgres type 'ulid' is not supported by mapping/.test(stdout + stderr), id === "unknown");
    assert.match(readFileSync(`${cwd}/src/orders.queries.ts`, "utf8"), new RegExp(` id: ${id};`));
  }
});
