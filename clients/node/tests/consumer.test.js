// poll of README.md reads the orders that have a note, once and in order, also those that are committed late.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import pg from "pg";
import { tsImport } from "tsx/esm/api";
import { createCases, createDatabase, psql } from "./database.js";
import { tools } from "./tools.js";

test("Prisma", async (t) => {
  createDatabase("consumer_prisma");
  createCases();
  psql(`ALTER TABLE orders ALTER COLUMN id SET DEFAULT gen_ordered_ulid(); CALL ulid_refresh_horizon();
    SELECT ulid_create_consumer('mail', 'orders')`);
  const directory = mkdtempSync(`${process.cwd()}/consumer-`);
  writeFileSync(`${directory}/poll.ts`, readFileSync("README.md", "utf8").match(/^```ts poll.ts\n([^]*?)^```$/m)[1]);
  const { poll } = await tsImport(`${directory}/poll.ts`, import.meta.url);
  rmSync(directory, { recursive: true });
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
