import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { folder, root } from "./database.js";

const { exports, devDependencies, peerDependencies, version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));

test("the archive of npm pack installs, and has every module with its declarations", () => {
  const directory = mkdtempSync(`${tmpdir()}/ulid-`);
  try {
    const call = (command, ...words) => execFileSync(command, words, { cwd: directory, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    call("npm", "pack", "--silent", folder);
    writeFileSync(`${directory}/package.json`, "{}");
    call("npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", `./pg-ulid-${version}.tgz`);
    const installed = `${directory}/node_modules/pg-ulid`;
    for (const { types, default: code } of Object.values(exports)) {
      for (const file of [types, code]) assert(existsSync(`${installed}/${file}`), file);
    }
    for (const name of ["README.md", "LICENSE", "CHANGELOG.md"]) assert(existsSync(`${installed}/${name}`), name);
    assert(!existsSync(`${installed}/tests`));
    const id = "'016093ff-cd9e-6339-aada-5c86ddca8b4f'";
    assert.equal(call("node", "--input-type=module", "-e", `import { canonical } from "pg-ulid"; console.log(canonical(${id}))`), "01C29ZZKCYCCWTNPJWGVEWN2TF\n");
    // Also from CommonJS: without a warning since Node.js 22.13 and 20.19.
    assert.equal(call("node", "-e", `console.log(require("pg-ulid").canonical(${id}), typeof require("pg-ulid/pg").registerTypes)`), "01C29ZZKCYCCWTNPJWGVEWN2TF function\n");
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("every module is exported", () => {
  const modules = readdirSync(folder).filter((name) => name.endsWith(".js") && name !== "array.js");
  assert.deepEqual(Object.values(exports).map(({ default: code }) => code.slice(2)).sort(), modules.sort());
});

test("what is tested is what may be installed beside it", () => {
  for (const [name, range] of Object.entries(peerDependencies)) {
    const least = range.match(/^>=(\d+)/)[1];
    assert(Number(devDependencies[name].split(".")[0]) >= Number(least), name);
  }
});

test("the licence is that of the project", () => {
  assert.equal(readFileSync(`${folder}/LICENSE`, "utf8"), readFileSync(`${root}/LICENSE`, "utf8"));
});
