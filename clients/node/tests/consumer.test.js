// poll of README.md reads the rows once and in order, also those that are committed late; for Prisma, the orders that have a note.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import pg from "pg";
import { tsImport } from "tsx/esm/api";
import { DataSource } from "typeorm";
import { createCases, createDatabase, psql } from "./database.js";
import { tools } from "./tools.js";

// What poll.ts of a section of the README exports.
async function program(title) {
  const directory = mkdtempSync(`${process.cwd()}/consumer-`);
  writeFileSync(`${directory}/poll.ts`, readFileSync("README.md", "utf8").split(`## ${title}\n`)[1].match(/^```ts poll.ts\n([^]*?)^```$/m)[1]);
  writeFileSync(`${directory}/tsconfig.json`, '{ "compilerOptions": { "experimentalDecorators": true, "useDefineForClassFields": false } }');
  const exports = await tsImport(`${directory}/poll.ts`, { parentURL: import.meta.url, tsconfig: `${directory}/tsconfig.json` });
  rmSync(directory, { recursive: true });
  return exports;
}

test("TypeORM", async (t) => {
  createDatabase("consumer_typeorm");
  const { Message, poll } = await program("TypeORM");
  const source = new DataSource({ type: "postgres", url: process.env.DATABASE_URL, entities: [Message], synchronize: true });
  await source.initialize();
  assert.deepEqual((await source.driver.createSchemaBuilder().log()).upQueries, []);
  psql("CALL ulid_refresh_horizon(); SELECT ulid_create_consumer('mail', 'outbox')");
  const late = new pg.Client();
  await late.connect();
  const read = [];
  t.mock.method(console, "log", (...row) => read.push(row));
  await late.query("BEGIN");
  await late.query("INSERT INTO outbox (message) VALUES ('late')");
  const { id } = await source.getRepository(Message).save({ message: "first" });
  assert.equal(await poll(source), false);
  await late.query("COMMIT");
  assert.equal(await poll(source), true);
  assert.equal(await poll(source), false);
  assert.deepEqual(read.map(([, message]) => message), ["late", "first"]);
  assert.equal(read[1][0], id);
  await late.end();
  await source.destroy();
});

test("Prisma", async (t) => {
  createDatabase("consumer_prisma");
  createCases();
  psql(`ALTER TABLE orders ALTER COLUMN id SET DEFAULT gen_ordered_ulid(); CALL ulid_refresh_horizon();
    SELECT ulid_create_consumer('mail', 'orders')`);
  const { poll } = await program("Prisma");
  const { prisma, close } = await tools.prisma();
  const late = new pg.Client();
  await late.connect();
  const position = () => psql("SELECT position FROM ulid_consumer");
  const read = [];
  t.mock.method(console, "log", (...row) => read.push(row));
  for (let number = 0; number < 8; number++) {
    await late.query("BEGIN");
    await late.query("INSERT INTO orders (note) VALUES ('late')");
    await prisma.order.create({ data: { note: `number ${number}` } });
    assert.equal(await poll(prisma), false);
    await late.query(number === 5 ? "ROLLBACK" : "COMMIT");
    assert.equal(await poll(prisma), true);
    const before = position();
    await prisma.order.create({ data: {} });
    assert.equal(await poll(prisma), true);
    assert(position() > before);
    assert.equal(await poll(prisma), false);
  }
  const rows = (await late.query("SELECT id, note FROM orders WHERE note IS NOT NULL ORDER BY id")).rows;
  assert.equal(rows.length, 15);
  assert.deepEqual(read, rows.map(({ id, note }) => [id, note]));
  await assert.rejects(prisma.$transaction(poll), /invalid transaction termination/);
  const statements = [prisma.$queryRaw`CALL ulid_next_batch('mail')`, prisma.$queryRaw`SELECT ulid_finish_batch('mail')`];
  await assert.rejects(prisma.$transaction(statements), /Failed to deserialize column of type 'void'/);
  await late.end();
  await close();
});
