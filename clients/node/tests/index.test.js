import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import pg from "pg";
import { canonical, toUuid, UlidError } from "pg-ulid";
import { startsWith, within } from "pg-ulid/prisma";
import { createDatabase, createCases, psql } from "./database.js";

let client, sample;
before(async () => {
  createDatabase("index");
  sample = createCases().map(({ given }) => given).filter((text) => text !== null);
  for (const character of psql("SELECT string_agg(chr(n), '') FROM generate_series(32, 126) n")) {
    sample.push(`${character}1BX5ZZKBKACTAV9WEVGEMMVR0`, `01BX5ZZKBKACTAV9WEVGEMMVR${character}`, `0${character}6093ff-cd9e-6339-aada-5c86ddca8b5f`);
  }
  client = new pg.Client();
  await client.connect();
});
after(() => client.end());

/** What the server makes of a text: a value, or an error. */
const server = (sql, text) => client.query(sql, [text]).then(({ rows }) => Object.values(rows[0])[0], ({ message, code }) => ({ message, code }));
const here = (call) => {
  try { return call(); } catch (error) {
    assert(error instanceof UlidError);
    return { message: error.message, code: error.code };
  }
};

test("canonical returns what the server would, and what it would refuse unchanged", async () => {
  for (const text of sample) {
    const expected = await server("SELECT $1::text::ulid::text", text);
    assert.equal(canonical(text), typeof expected === "string" ? expected : text);
  }
  for (const other of [null, undefined, 1, true]) assert.equal(canonical(other), other);
  assert.deepEqual(canonical(["01bx5zzkbkactav9wevgemmvr0", null]), ["01BX5ZZKBKACTAV9WEVGEMMVR0", null]);
});

test("toUuid returns what the server would, or its error", async () => {
  for (const text of sample) {
    assert.deepEqual(here(() => toUuid(text)), await server("SELECT ulid_from_text($1)::uuid::text", text));
  }
  assert.equal(toUuid(null), null);
  assert.equal(toUuid(undefined), undefined);
  assert.throws(() => toUuid(1), { code: "22P02" });
  const ids = psql("SELECT string_agg(gen_ulid()::text, ' ') FROM generate_series(1, 1000)").split(" ");
  assert.deepEqual(canonical(toUuid(ids)), ids);
});

test("times after the year 9999 are read", async () => {
  const { rows } = await client.query("SELECT ulid_extract_timestamp('7ZZZZZZZZZZZZZZZZZZZZZZZZZ') AS time");
  assert.equal(rows[0].time.getTime(), 2 ** 48 - 1);
});

const uuids = (filter) => Object.fromEntries(Object.entries(filter).map(([name, id]) => [name, toUuid(id)]));

test("Prisma's window has the bounds of the server", async () => {
  const times = [null, "1969-12-31Z", "1970-01-01Z", "2016-07-30T22:36:16.385Z", "+010889-08-02T05:31:50.655Z", "+010889-08-02T05:31:50.656Z", "+012000-01-01Z"];
  const dates = times.map((time) => time && new Date(time));
  for (const from of dates) {
    for (const to of dates) {
      if (from && to && from > to) {
        assert.throws(() => within(from, to), RangeError);
        continue;
      }
      const { gte, lt } = within(from, to);
      assert.deepEqual(within(from, to, toUuid), uuids(within(from, to)));
      const { rows: [row] } = await client.query(`SELECT count(*) FILTER (WHERE ulid_contained_by_range(id, tstzrange($1, $2)))::int AS server,
          count(*) FILTER (WHERE ($3::ulid IS NULL OR id >= $3) AND ($4::ulid IS NULL OR id < $4))::int AS here
        FROM unnest('{00000000000000000000000000,0000000000ZZZZZZZZZZZZZZZZ,01ARYZ6S40ZZZZZZZZZZZZZZZZ,01ARYZ6S410000000000000000,01ARYZ6S41ZZZZZZZZZZZZZZZZ,
          01ARYZ6S420000000000000000,7ZZZZZZZZY0000000000000000,7ZZZZZZZZZ0000000000000000,7ZZZZZZZZZZZZZZZZZZZZZZZZZ}'::ulid[]) id`, [from, to, gte, lt]);
      assert.equal(row.here, row.server, `${from} to ${to}`);
    }
  }
  assert.throws(() => within(new Date(NaN), null), RangeError);
});

test("Prisma's prefix has the bounds of the server, or its error", async () => {
  const prefixes = [...sample, ...sample.map((text) => text.slice(0, 5)), "", "0", "7", "8", "z", "l", "u", "0u", "8u"];
  for (const prefix of prefixes) {
    const bounds = here(() => startsWith(prefix));
    const lower = await server("SELECT ulid_prefix_lower($1)", prefix);
    const upper = await server("SELECT ulid_prefix_upper($1)", prefix);
    assert.deepEqual(bounds, typeof lower === "string" ? { gte: lower, lte: upper } : lower, prefix);
    if (bounds.gte) assert.deepEqual(startsWith(prefix, toUuid), uuids(bounds));
  }
});
