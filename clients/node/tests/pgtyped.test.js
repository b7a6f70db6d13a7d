import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import pg from "pg";
import { registerTypes } from "pg-ulid/pg";
import { tsImport } from "tsx/esm/api";
import { createDatabase, createSample, createTables, folder, psql } from "./database.js";

let directory, client;
before(async () => {
  createDatabase("pgtyped");
  createTables();
  directory = mkdtempSync(`${folder}/pgtyped-`);
  cpSync(`${folder}/examples/pgtyped`, directory, { recursive: true });
  client = new pg.Client();
  await client.connect();
  await registerTypes(client);
});
after(async () => {
  await client.end();
  rmSync(directory, { recursive: true });
});

/** Generate the types; returns them, and what pgtyped says. */
function generate(config) {
  const words = ["pgtyped", "-c", config, "--uri", process.env.DATABASE_URL];
  const { stdout, stderr, status } = spawnSync("npx", words, { cwd: directory, encoding: "utf8" });
  assert.equal(status, 0);
  return [readFileSync(`${directory}/src/orders.queries.ts`, "utf8"), stdout + stderr];
}

test("fails: without typesOverrides, ids are unknown", () => {
  const config = JSON.parse(readFileSync(`${directory}/config.json`, "utf8"));
  writeFileSync(`${directory}/without.json`, JSON.stringify({ ...config, typesOverrides: {} }));
  const [types, log] = generate("without.json");
  assert.match(log, /Postgres type 'ulid' is not supported by mapping/);
  assert.match(types, /id: unknown;/);
});

test("typed queries", async () => {
  const [types] = generate("config.json");
  assert.match(types, /related: stringArray \| null/);
  const { byId, byIds, byList, insertOrder, relate, within } = await tsImport(`${directory}/src/orders.queries.ts`, import.meta.url);
  const customer = psql("INSERT INTO customer (name) VALUES ('Ada') RETURNING id");
  const [{ id: first }] = await insertOrder.run({ id: null, customer, note: "first" }, client);
  const [{ id: second }] = await insertOrder.run({ id: null, customer: customer.toLowerCase(), note: "second" }, client);
  assert.deepEqual(await byId.run({ id: first }, client), [{ note: "first", customer_id: customer, related: null }]);
  assert.equal((await byIds.run({ ids: [first, second] }, client)).length, 2);
  assert.equal((await byList.run({ ids: [first, second] }, client)).length, 2);
  const [from, to] = [new Date(Date.now() - 3600_000), new Date(Date.now() + 3600_000)];
  assert.equal((await within.run({ from, to }, client)).length, 2);
  await relate.run({ id: first, related: [second] }, client);
  assert.deepEqual((await byId.run({ id: first }, client))[0].related, [second]);

  for (const { note, given } of createSample()) {
    const order = given === null ? { id: null, customer: given, note } : { id: given, customer: null, note };
    await insertOrder.run(order, client).catch(({ code }) => assert.match(code, /^22/));
  }
  assert.equal(psql("SELECT sample.compare()"), "equal");
});
