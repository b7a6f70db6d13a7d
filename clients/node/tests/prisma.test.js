import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, describe, test } from "node:test";
import { PrismaPg } from "@prisma/adapter-pg";
import { canonical, toUuid } from "pg-ulid";
import { startsWith, ulidParser, within } from "pg-ulid/prisma";
import { tsImport } from "tsx/esm/api";
import { conforms } from "./conformance.js";
import { createDatabase, createTables, folder, psql } from "./database.js";

const schema = (native) => `${readFileSync(`${folder}/examples/prisma/schema.prisma`, "utf8").replace(/model[^]*/, "")}
model Customer {
  id     String  @id @default(dbgenerated("gen_ulid()"))
  name   String
  orders Order[]

  @@map("customer")
}

model Order {
  id         String    @id @default(dbgenerated("gen_ulid()"))
  customerId String?   @map("customer_id")
  note       String?
  related    String[]
  customer   Customer? @relation(fields: [customerId], references: [id], onDelete: NoAction, onUpdate: NoAction)

  @@map("orders")
}
`.replace(/^.*(?: id |customerId|related) .*$/gm, (line) => (native || line.includes("@relation") ? line : `${line} @db.Uuid`));

const directories = [];
function project(native) {
  const directory = mkdtempSync(`${folder}/prisma-`);
  directories.push(directory);
  cpSync(`${folder}/examples/prisma/prisma.config.ts`, `${directory}/prisma.config.ts`);
  writeFileSync(`${directory}/schema.prisma`, schema(native));
  return directory;
}
after(() => directories.forEach((directory) => rmSync(directory, { recursive: true })));

// "prisma generate" looks for the schema engine, which is not on npm, but does not run it
const run = (directory, command, ...words) => execFileSync(command, words, {
  cwd: directory, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: "/bin/true" },
});
const engine = (directory, ...words) => run(directory, process.execPath, `${folder}/tests/prisma-engine.js`, ...words);

conforms("prisma", async (native) => {
  const directory = project(native);
  run(directory, "npx", "prisma", "generate");
  const { PrismaClient } = await tsImport(`${directory}/generated/client.ts`, import.meta.url);
  const connection = { connectionString: process.env.DATABASE_URL };
  const prisma = new PrismaClient({ adapter: new PrismaPg(connection, { userDefinedTypeParser: ulidParser() }) });
  const given = native ? (id) => id : toUuid;
  const data = ({ id, customerId, note, related }) => ({ id: given(id), customerId: given(customerId), note, related: given(related) });
  const outOf = (row) => row && { ...row, id: canonical(row.id), customerId: canonical(row.customerId), related: canonical(row.related) };
  const find = async (where) => (await prisma.order.findMany({ where })).map(outOf);
  const bounds = (filter) => Object.fromEntries(Object.entries(filter).map(([key, id]) => [key, given(id)]));
  return {
    prisma, PrismaClient,
    customer: async (name) => outOf(await prisma.customer.create({ data: { name } })),
    order: async (row) => outOf(await prisma.order.create({ data: data(row) })),
    byId: async (id) => outOf(await prisma.order.findUnique({ where: { id: given(id) } })),
    byIds: (ids) => find({ id: { in: given(ids) } }),
    ofCustomer: async (id) => (await prisma.customer.findUnique({ where: { id: given(id) }, include: { orders: true } })).orders,
    within: (from, to) => find({ id: bounds(within(from, to)) }),
    startsWith: (prefix) => find({ id: bounds(startsWith(prefix)) }),
    // a list in Prisma is not null, but empty
    relate: async (id, ids) => (ids ? prisma.order.update({ where: { id: given(id) }, data: { related: given(ids) } }) : psql("UPDATE orders SET related = NULL")),
    bulk: (rows) => prisma.order.createMany({ data: rows.map(data) }),
    close: () => prisma.$disconnect(),
  };
}, {
  code: (error) => error.meta?.driverAdapterError?.cause?.originalCode ?? error.code,
  nullArray: [],
  more(native, app, rows) {
    if (native) test("fails: several findUnique at once compare the ids as strings; canonical cures it", async () => {
      const batch = (ids) => Promise.all(ids.map((id) => app().prisma.order.findUnique({ where: { id } })));
      const ids = [rows().first.id, rows().second.id];
      const lower = ids.map((id) => id.toLowerCase());
      assert.deepEqual(await batch(lower), [null, null]);
      assert.deepEqual((await batch(canonical(lower))).map(({ note }) => note), ["first", "second"]);
    });
    if (native) test("raw queries: a window by the operator", async () => {
      const [from, to] = [new Date("2016-07-30"), new Date("2016-07-31")];
      assert.equal((await app().prisma.$queryRaw`SELECT id FROM orders WHERE id <@ tstzrange(${from}, ${to})`).length, 3);
    });
    if (native) test("arrays in a transaction, and text that looks like one", async () => {
      const ids = [rows().second.id];
      const related = await app().prisma.$transaction(async (prisma) => {
        await prisma.order.update({ where: { id: rows().first.id }, data: { related: ids, note: "{first}" } });
        return prisma.order.findUniqueOrThrow({ where: { id: rows().first.id } });
      });
      assert.deepEqual([related.related, related.note], [ids, "{first}"]);
    });
    if (native) test("fails: without the parser, a row with an array cannot be read", async () => {
      const prisma = new (app().PrismaClient)({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) });
      await assert.rejects(prisma.order.findMany(), { message: "e.map is not a function" });
      await prisma.$disconnect();
    });
  },
});

describe("Prisma's schema engine", () => {
  // it fails there even for tables without a ulid
  const options = { skip: psql("SHOW server_version_num") >= 180000 && "it does not work with PostgreSQL 18" };

  test("fails: pull writes what Prisma refuses, and diff changes the type", options, () => {
    createDatabase("prisma_schema");
    createTables();
    const directory = project(true);
    const pulled = engine(directory, "pull", "schema.prisma");
    assert.match(pulled, /Unsupported\("ulid"\) *@id @default\(dbgenerated\("gen_ulid\(\)"\)\)/);
    writeFileSync(`${directory}/pulled.prisma`, pulled);
    assert.throws(() => run(directory, "npx", "prisma", "validate", "--schema", "pulled.prisma"), ({ stderr }) => /P1012/.test(stderr));
    assert.match(engine(directory, "diff", "schema.prisma"), /ALTER COLUMN "id" SET DATA TYPE TEXT/);
  });

  test("with uuid columns, pull and diff find no difference", options, () => {
    createDatabase("prisma_schema", { native: false });
    createTables({ native: false });
    const directory = project(false);
    assert.match(engine(directory, "pull", "schema.prisma"), /id +String +@id @default\(dbgenerated\("gen_ulid\(\)"\)\) @db.Uuid/);
    assert.doesNotMatch(engine(directory, "diff", "schema.prisma"), /ALTER COLUMN/);
  });
});
