// Databases of the tests, on the server that the PG* variables name.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const folder = resolve(dirname(fileURLToPath(import.meta.url)), "..");
export let root = folder; // of the project
while (!existsSync(`${root}/ulid.control`)) root = dirname(root);

/** Run SQL by psql, in the database that the environment names; returns what it prints. */
export function psql(sql, env = {}) {
  const options = { input: sql, encoding: "utf8", env: { ...process.env, PGOPTIONS: "--client-min-messages=warning", ...env } };
  return execFileSync("psql", ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"], options).trim();
}

/** Create a database, with the type or, if it is not native, with the extension ulid_sql; point the environment to it. */
export function createDatabase(name, { native = true } = {}) {
  const database = `ulid_node_${name.toLowerCase().replace(/\W/g, "_")}${native ? "" : "_uuid"}`;
  psql(`DROP DATABASE IF EXISTS ${database}; CREATE DATABASE ${database};`, { PGDATABASE: "postgres" });
  const { PGUSER, PGPASSWORD, PGHOST, PGPORT } = process.env;
  process.env.PGDATABASE = database;
  process.env.DATABASE_URL = `postgresql://${PGUSER}:${PGPASSWORD}@${PGHOST}:${PGPORT}/${database}`;
  psql(`CREATE EXTENSION ${native ? "ulid" : "ulid_sql"};`);
  return process.env.DATABASE_URL;
}

/** Create the tables of the conformance tests. */
export function createTables({ native = true } = {}) {
  psql(`
    CREATE TABLE customer (id ulid PRIMARY KEY DEFAULT gen_ulid(), name text NOT NULL);
    CREATE TABLE orders (
        id ulid PRIMARY KEY DEFAULT gen_ulid(), customer_id ulid REFERENCES customer, note text, related ulid[]
    );`.replace(/ ulid\b/g, native ? " ulid" : " uuid"));
}

/** Create the sample of texts that come in from outside, with what the server makes of them; returns { note, given }[]. */
export function createSample() {
  psql(readFileSync(`${root}/tests/clients/sample.sql`, "utf8"));
  return JSON.parse(psql("SELECT json_agg(texts) FROM sample.given texts"));
}
