import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { canonical, toUuid } from "pg-ulid";
import { registerTypes } from "pg-ulid/pg";
import { conforms } from "./conformance.js";

const insert = "INSERT INTO orders (id, customer_id, note, related) VALUES (COALESCE($1, gen_ulid()), $2, $3, $4) RETURNING *";

conforms("pg", async (native) => {
  const pool = new pg.Pool({ onConnect: registerTypes });
  const given = native ? (id) => id : toUuid;
  const query = async (sql, ...values) => {
    const { rows } = await pool.query(sql, values);
    return rows.map((row) => ({ ...row, id: canonical(row.id), customerId: canonical(row.customer_id), related: canonical(row.related) }));
  };
  return {
    pool,
    customer: async (name) => (await query("INSERT INTO customer (name) VALUES ($1) RETURNING id", name))[0],
    order: async ({ id, customerId, note, related }) => (await query(insert, given(id), given(customerId), note, given(related)))[0],
    byId: async (id) => (await query("SELECT * FROM orders WHERE id = $1", given(id)))[0],
    byIds: (ids) => query("SELECT * FROM orders WHERE id = ANY ($1)", given(ids)),
    ofCustomer: (id) => query("SELECT o.* FROM orders o JOIN customer c ON customer_id = c.id WHERE c.id = $1", given(id)),
    within: (from, to) => query("SELECT * FROM orders WHERE ulid_contained_by_range(id, tstzrange($1, $2))", from, to),
    startsWith: (prefix) => query("SELECT * FROM orders WHERE ulid_starts_with(id, $1)", prefix),
    relate: (id, ids) => query("UPDATE orders SET related = $2 WHERE id = $1", given(id), given(ids)),
    bulk: (orders) =>
      query(`INSERT INTO orders (id, note) SELECT * FROM unnest($1::${native ? "ulid" : "uuid"}[], $2::text[])`,
        given(orders.map(({ id }) => id)), orders.map(({ note }) => note)),
    close: () => pool.end(),
  };
}, {
  more(native, app) {
    if (!native) return;
    test("a window by the operator", async () => {
      const window = [new Date("2016-07-30"), new Date("2016-07-31")];
      const { rows } = await app().pool.query("SELECT note FROM orders WHERE id <@ tstzrange($1, $2) ORDER BY note", window);
      assert.deepEqual(rows[0], { note: "bulk 1" });
    });

    test("without registerTypes, arrays are text", async () => {
      const client = new pg.Client();
      await client.connect();
      const read = async (sql) => (await client.query(sql)).rows[0].ids;
      const ids = ["01ARYZ6S41TSV4RRFFQ69G5FAV", null];
      assert.equal(await read("SELECT ARRAY['01ARYZ6S41TSV4RRFFQ69G5FAV', NULL]::ulid[] AS ids"), "{01ARYZ6S41TSV4RRFFQ69G5FAV,NULL}");
      await registerTypes(client);
      assert.deepEqual(await read("SELECT ARRAY['01ARYZ6S41TSV4RRFFQ69G5FAV', NULL]::ulid[] AS ids"), ids);
      assert.deepEqual(await read("SELECT ARRAY[ARRAY['01ARYZ6S41TSV4RRFFQ69G5FAV', NULL]]::ulid[] AS ids"), [ids]);
      await client.end();
    });

    test("fails: binary results, whose bytes node-postgres reads as UTF-8", async () => {
      const client = new pg.Client({ binary: true });
      await client.connect();
      const { rows: [{ id }] } = await client.query("SELECT '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'::ulid AS id");
      assert.notEqual(Buffer.from(id).toString("hex"), "f".repeat(32));
      await client.end();
    });

    test("a database without the type", async () => {
      const client = new pg.Client({ database: "postgres" });
      await client.connect();
      await registerTypes(client);
      await client.end();
    });

    test("fails: a parameter that is declared as text", async () => {
      await assert.rejects(app().pool.query("SELECT 1 FROM orders WHERE id = $1::text", ["01ARYZ6S41TSV4RRFFQ69G5FAV"]), {
        message: "operator does not exist: ulid = text",
      });
    });
  },
});
