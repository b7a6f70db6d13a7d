// The programs in examples, which README.md and the page docs/clients/nodejs.md show.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { createDatabase, folder, psql, root } from "./database.js";

const examples = `${folder}/examples`;
const files = readdirSync(examples, { recursive: true }).filter((name) => statSync(`${examples}/${name}`).isFile());
const newNode = process.versions.node >= "22" ? process.execPath : `${folder}/node_modules/.bin/node`;

function run(program, { node = process.execPath, prepare } = {}) {
  test(program, () => {
    createDatabase(`example_${program}`);
    const copy = mkdtempSync(`${folder}/example-`);
    const call = (command, ...words) => execFileSync(command, words, {
      cwd: dirname(`${copy}/${program}`), encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: "/bin/true" },
    });
    try {
      cpSync(examples, copy, { recursive: true });
      prepare?.(call);
      const printed = call(node, "--import", "tsx", `${copy}/${program}`);
      assert.match(printed, /first/);
      if (program !== "objection.js") assert.match(printed, /related: \[ '[0-7][0-9A-HJKMNP-TV-Z]{25}' \]/);
    } finally {
      rmSync(copy, { recursive: true });
    }
  });
}

for (const program of ["pg.js", "postgres.js", "knex.js", "objection.js", "kysely.ts", "typeorm.ts", "sequelize.js"]) run(program);
test("ids.js", () => {
  const said = [...readFileSync(`${examples}/ids.js`, "utf8").matchAll(/\/\/ (\S+?)(?::.*)?$/gm)].map(([, text]) => text);
  assert.deepEqual(execFileSync(process.execPath, [`${examples}/ids.js`], { encoding: "utf8" }).trim().split("\n"), said);
});
run("mikro-orm.ts", { node: newNode });
run("drizzle-orm/main.ts", { prepare: (call) => call("npx", "drizzle-kit", "push", "--force") });
run("prisma/main.ts", {
  prepare(call) {
    psql(readFileSync(`${examples}/prisma/migration.sql`, "utf8"));
    call("npx", "prisma", "generate");
  },
});

test("the declarations fit the programs and the libraries", () => {
  createDatabase("types");
  const copy = mkdtempSync(`${folder}/example-`);
  try {
    cpSync(examples, copy, { recursive: true });
    const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: "/bin/true" };
    execFileSync("npx", ["prisma", "generate"], { cwd: `${copy}/prisma`, stdio: "pipe", env });
    const call = (...words) => execFileSync("npx", ["tsc", ...words], { cwd: copy, encoding: "utf8", stdio: "pipe" });
    writeFileSync(`${copy}/models.ts`, `
      import { genUlid, registerTypes, ulid, within } from "pg-ulid/sequelize";
      import { DataTypes, Sequelize } from "sequelize";
      registerTypes(Sequelize);
      const Order = new Sequelize("postgresql://").define("orders", {
        id: ulid({ primaryKey: true, defaultValue: genUlid(), native: false }),
        related: { type: DataTypes.ARRAY(DataTypes.ULID({ native: false })) },
        other: DataTypes.ULID,
      });
      Order.findAll({ where: within("id", new Date(), null) });`);
    try { call("-p", "."); } catch ({ stdout }) { assert.fail(stdout); }
    writeFileSync(`${copy}/wrong.ts`, 'import { ulid } from "pg-ulid/kysely";\nulid({ natve: false });\n');
    assert.throws(() => call("-p", "."), ({ stdout }) => /^wrong.ts.*natve/.test(stdout));
  } finally {
    rmSync(copy, { recursive: true });
  }
});

for (const page of [`${folder}/README.md`, `${root}/docs/clients/nodejs.md`]) {
  test(`${page.slice(page.lastIndexOf("/") + 1)} shows what these programs contain`, () => {
    const programs = files.map((name) => readFileSync(`${examples}/${name}`, "utf8"));
    const blocks = [...readFileSync(page, "utf8").matchAll(/^```(js|ts|json|prisma|sql)\n([^]*?)^```$/gm)];
    assert(blocks.length >= 9);
    for (const [, , block] of blocks) assert(programs.some((program) => `\n${program}`.includes(`\n${block}`)), `in no example:\n${block}`);
  });
}
