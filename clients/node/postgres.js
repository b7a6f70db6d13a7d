import { parseArray, serializeArray } from "./array.js";

/** Read and write arrays of ulids where Postgres.js does not know their type. */
export async function registerTypes(sql) {
  const types = await sql`SELECT typarray FROM pg_catalog.pg_type WHERE typname = 'ulid' AND typtype = 'b'`;
  for (const { typarray } of types) {
    sql.options.parsers[typarray] = parseArray;
    sql.options.serializers[typarray] = (ids) => (Array.isArray(ids) ? serializeArray(ids) : ids);
  }
}
