// Run an SQL script in PGlite after another one, and print the first column of every row: node pglite.mjs FIRST SECOND
import { readFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';

const [first, second] = process.argv.slice(2);
const db = new PGlite();
await db.exec(readFileSync(first, 'utf8'));
for (const { rows } of await db.exec(readFileSync(second, 'utf8'))) {
    for (const row of rows) console.log(Object.values(row)[0]);
}
console.error((await db.query('SELECT version()')).rows[0].version);
await db.close();
