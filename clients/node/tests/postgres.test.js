import assert from "node:assert/strict";
import { test } from "node:test";
import { canonical, toUuid } from "pg-ulid";
import { registerTypes } from "pg-ulid/postgres";
import postgres from "postgres";
import { conforms } from "./conformance.js";

const defined = (row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));

conforms("postgres", async (native) => {
  const sql = postgres();
  const given = native ? (id) => id : toUuid;
  const read = async (query) =>
    (await query).map((row) => ({ ...row, id: canonical(row.id), customerId: canonical(row.customer_id), related: canonical(row.related) }));
  return {
    sql,
    customer: async (name) => (await read(sql`INSERT INTO customer ${sql({ name })} RETURNING id`))[0],
    order: async ({ id, customerId, note, related }) => {
      const row = defined({ id: given(id), customer_id: given(customerId), note, related: given(related) });
      return (await read(sql`INSERT INTO orders ${sql(row)} RETURNING *`))[0];
    },
    byId: async (id) => (await read(sql`SELECT * FROM orders WHERE id = ${given(id)}`))[0],
    byIds: async (ids) => {
      const rows = await read(sql`SELECT * FROM orders WHERE id IN ${sql(given(ids))}`);
      assert.deepEqual(await read(sql`SELECT * FROM orders WHERE id = ANY (${given(ids)})`), rows);
      return rows;
    },
    ofCustomer: (id) => read(sql`SELECT o.* FROM orders o JOIN customer c ON customer_id = c.id WHERE c.id = ${given(id)}`),
    within: (from, to) => read(sql`SELECT * FROM orders WHERE ulid_contained_by_range(id, tstzrange(${from}, ${to}))`),
    startsWith: (prefix) => read(sql`SELECT * FROM orders WHERE ulid_starts_with(id, ${prefix})`),
    relate: (id, ids) => sql`UPDATE orders SET related = ${given(ids)} WHERE id = ${given(id)}`,
    bulk: (orders) => sql`INSERT INTO orders ${sql(orders.map(({ id, note }) => ({ id: given(id), note })))}`,
    close: () => sql.end(),
  };
}, {
  more(native, app, rows) {
    if (!native) return;
    test("a window by the operator", async () => {
      const [from, to] = [new Date("2016-07-30"), new Date("2016-07-31")];
      const { count } = await app().sql`SELECT note FROM orders WHERE id <@ tstzrange(${from}, ${to})`;
      assert.equal(count, 3);
    });

    test("a list of VALUES needs a cast", async () => {
      const { sql } = app();
      const changes = sql([["01ARYZ6S41TSV4RRFFQ69G5FAW", "bulk 3"]]);
      await assert.rejects(async () => sql`UPDATE orders SET note = c.note FROM (VALUES ${changes}) AS c (id, note) WHERE orders.id = c.id`, {
        message: "operator does not exist: ulid = text",
      });
      const changed = await sql`UPDATE orders SET note = c.note FROM (VALUES ${changes}) AS c (id, note) WHERE orders.id = c.id::ulid`;
      assert.equal(changed.count, 1);
    });

    test("without fetch_types, arrays are text and cannot be written; registerTypes lets them", async () => {
      const { first, second } = rows();
      const plain = postgres({ fetch_types: false });
      const registered = postgres({ fetch_types: false });
      await registerTypes(registered);
      const related = async (sql) => (await sql`SELECT related FROM orders WHERE id = ${first.id}`)[0].related;
      const write = async (sql, ids) => sql`UPDATE orders SET related = ${ids} WHERE id = ${first.id}`;
      await write(plain, `{${second.id}}`);
      assert.equal(await related(plain), `{${second.id}}`);
      assert.deepEqual(await related(registered), [second.id]);
      await assert.rejects(write(plain, [second.id]), { message: /^malformed array literal/ });
      for (const ids of [[first.id, null], [], [[first.id, second.id]]]) {
        await write(registered, ids);
        assert.deepEqual(await related(registered), ids);
      }
      await write(registered, `{${second.id}}`);
      assert.deepEqual(await related(registered), [second.id]);
      for (const id of ['"', "\\", 'a","b', "{", "", "NULL"]) await assert.rejects(write(registered, [id]), { code: "22P02" }, id);
      await plain.end();
      await registered.end();
    });

    test("fails: a parameter that is declared as text", async () => {
      await assert.rejects(async () => app().sql`SELECT ${"01ARYZ6S41TSV4RRFFQ69G5FAV"}::text = gen_ulid()`, {
        message: "operator does not exist: text = ulid",
      });
    });
  },
});
