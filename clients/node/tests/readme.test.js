// The programs in README.md, in examples and in docs/consumers.md run as they are, each in an empty database.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { after, test } from "node:test";
import { createDatabase, moveExtension, psql } from "./database.js";

const [, ...sections] = readFileSync("README.md", "utf8").split(/^## /m);
const consumers = readFileSync(`${dirname(process.env.CASES)}/../docs/consumers.md`, "utf8");
for (const file of readdirSync("examples")) {
  const title = file.split(".")[0];
  sections.push(`${title}\n\`\`\`${file.split(".")[1]}\n${readFileSync(`examples/${file}`, "utf8")}\`\`\`\n`);
}
sections.push(`Consumers\n${consumers.match(/^```js\n[^]*?^```$/m)[0]}`);
const blocks = sections.flatMap((section) => [...section.matchAll(/^```(js|ts|prisma|sql)(?: (\S+))?\n([^]*?)^```$/gm)]
  .map(([, language, file, text]) => ({ title: section.slice(0, section.indexOf("\n")), language, file, text })));
const titles = [...new Set(blocks.map(({ title }) => title))];
const newNode = process.versions.node >= "22" ? process.execPath : `${process.cwd()}/node_modules/.bin/node`;
const configuration = {
  "drizzle.config.ts": 'export default { dialect: "postgresql", schema: "./schema.ts", dbCredentials: { url: process.env.DATABASE_URL! } };',
  "prisma.config.ts": 'import { defineConfig } from "prisma/config";\nexport default defineConfig({ schema: "schema.prisma" });',
  "tsconfig.json": JSON.stringify({
    compilerOptions: {
      module: "esnext", moduleResolution: "bundler", target: "es2022", strict: true, noEmit: true, skipLibCheck: true, types: ["node"],
      experimentalDecorators: true, useDefineForClassFields: false,
    },
  }),
};
const directories = [];
after(() => directories.forEach((directory) => rmSync(directory, { recursive: true })));

for (const title of titles) {
  test(title, () => {
    createDatabase(`readme_${title}`);
    const cwd = mkdtempSync(`${process.cwd()}/readme-`);
    directories.push(cwd);
    const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: "/bin/true" };
    const call = (command, ...words) => execFileSync(command, words, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], env });
    for (const [name, text] of Object.entries(configuration)) writeFileSync(`${cwd}/${name}`, text);
    let main;
    for (const { language, file, text } of blocks.filter((block) => block.title === title)) {
      writeFileSync(`${cwd}/${file ?? (main = `main.${language}`)}`, text);
      if (language === "sql") psql(text);
    }
    if (title === "Drizzle") {
      moveExtension();
      call("npx", "drizzle-kit", "push", "--force");
    }
    if (title === "Prisma") call("npx", "prisma", "generate");
    if (main.endsWith(".ts")) {
      try { call("npx", "tsc", "-p", "."); } catch ({ stdout }) { assert.fail(stdout); }
    }
    if (title === "Consumers") {
      call(`${dirname(process.env.CASES)}/test-consumer`, process.execPath, main);
      return;
    }
    const printed = call(title === "mikroorm" ? newNode : process.execPath, "--import", "tsx", main);
    if (title === "Ids from outside") {
      const said = [...readFileSync(`${cwd}/${main}`, "utf8").matchAll(/\/\/ (\S+?)(?::.*)?$/gm)].map(([, text]) => text);
      assert.deepEqual(printed.trim().split("\n"), said);
    } else {
      assert.match(printed, /first/);
      if (title !== "objection") assert.match(printed, /related: \[ '[0-7][0-9A-HJKMNP-TV-Z]{25}' \]/);
    }
  });
}

test("every program is run", () => assert.equal(titles.length, 12));
