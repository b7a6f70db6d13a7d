/** Read arrays of ulids as arrays, on one connection. Everything else works without this. */
export async function registerTypes(client) {
  const { rows } = await client.query("SELECT typarray FROM pg_catalog.pg_type WHERE typname = 'ulid' AND typtype = 'b'");
  for (const { typarray } of rows) client.setTypeParser(typarray, "text", client.getTypeParser(1009, "text")); // as text[]
}
