// Databases of the tests, on the server that the PG* variables name.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Run SQL by psql, in the database that the environment names; returns what it prints. */
export function psql(sql, env = {}) {
  const options = { input: sql, encoding: "utf8", env: { ...process.env, PGOPTIONS: "--client-min-messages=warning", ...env } };
  return execFileSync("psql", ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"], options).trim();
}

const databases = new Set();
const drop = (database) => psql(`DROP DATABASE IF EXISTS ${database} WITH (FORCE);`, { PGDATABASE: "postgres" });
process.on("exit", () => databases.forEach(drop));

/** Create a database, with the type or, if it is not native, with the extension ulid_sql; point the environment to it. */
export function createDatabase(name, { native = true } = {}) {
  const database = `ulid_node_${process.pid}_${name.toLowerCase().replace(/\W/g, "_")}${native ? "" : "_uuid"}`;
  drop(database);
  psql(`CREATE DATABASE ${database};`, { PGDATABASE: "postgres" });
  databases.add(database);
  const { PGUSER, PGPASSWORD, PGHOST, PGPORT } = process.env;
  process.env.PGDATABASE = database;
  process.env.DATABASE_URL = `postgresql://${PGUSER}:${PGPASSWORD}@${PGHOST}:${PGPORT}/${database}`;
  psql(`CREATE EXTENSION ${native ? "ulid" : "ulid_sql"};`);
}

/** Move the extension to a schema of its own, and add that to the search_path. */
export function moveExtension() {
  psql(`DROP EXTENSION ulid; CREATE SCHEMA extensions; CREATE EXTENSION ulid SCHEMA extensions;
    ALTER DATABASE ${process.env.PGDATABASE} SET search_path = "$user", public, extensions`);
}

/** Create the tables, and the ids from outside with what the server makes of them; returns { note, given, verdict }[]. */
export function createCases() {
  psql(readFileSync(process.env.CASES, "utf8"));
  return JSON.parse(psql("SELECT json_agg(texts) FROM cases.given texts"));
}
