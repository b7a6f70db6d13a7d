// What `prisma db pull` (pull) and `prisma migrate diff` from the database to the schema (diff) print. The schema engine
// of the command line is fetched from a host of its own; this is the same one, built for WebAssembly and kept in npm.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
const require = createRequire(pathToFileURL(`${process.cwd()}/`));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { default: pg } = await load("pg");
const { PrismaPg } = await load("@prisma/adapter-pg");
const { bindMigrationAwareSqlAdapterFactory } = await load("@prisma/driver-adapter-utils");
const engine = await load("@prisma/schema-engine-wasm/schema_engine_bg");

const wasm = readFileSync(require.resolve("@prisma/schema-engine-wasm/schema_engine_bg").replace(/\.js$/, ".wasm"));
const { instance } = await WebAssembly.instantiate(wasm, { "./schema_engine_bg.js": engine });
engine.__wbg_set_wasm(instance.exports);
instance.exports.__wbindgen_start();

const [, , command, file] = process.argv;
const schema = { files: [{ path: file, content: readFileSync(file, "utf8") }] };
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const query = pool.query.bind(pool);
pool.query = async (...options) => {
  const result = await query(...options);
  for (const field of result.fields) if (field.dataTypeID === 18) field.dataTypeID = 1042; // "char", which the adapter lacks
  return result;
};
const adapter = bindMigrationAwareSqlAdapterFactory(new PrismaPg(pool));
const schemaEngine = await engine.SchemaEngine.new({ datamodels: [[file, schema.files[0].content]] }, () => {}, adapter);
if (command === "pull") {
  const options = { baseDirectoryPath: process.cwd(), force: true, compositeTypeDepth: 0, namespaces: null };
  const { schema: pulled } = await schemaEngine.introspect({ schema, ...options });
  console.log(pulled.files[0].content);
} else {
  const filters = { externalTables: [], externalEnums: [] };
  const from = { tag: "schemaDatasource", ...schema, configDir: process.cwd() };
  const to = { tag: "schemaDatamodel", ...schema };
  console.log((await schemaEngine.diff({ from, to, script: true, exitCode: null, filters })).stdout);
}
process.exit(0);
