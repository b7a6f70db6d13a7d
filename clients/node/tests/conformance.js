// What an application does with ids, the same through each tool, with columns of the type ulid and, with the extension ulid_sql,
// of the type uuid. A tool's test gives the functions:
//   customer(name), order({ id, customerId, note, related }): insert, and return what the server made of it
//   byId(id), byIds(ids), ofCustomer(id), within(from, to), startsWith(prefix): the orders
//   relate(id, ids): set the array of an order; bulk(orders): insert several at once; close()
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { toUuid } from "pg-ulid";
import { createDatabase, createSample, createTables, psql } from "./database.js";

const hour = 3600_000;
const notes = (orders) => orders.map(({ note }) => note).sort();

export function conforms(tool, open, { modes = [true, false], tables = createTables, code = (error) => error.code, nullArray = null, more } = {}) {
  for (const native of modes) {
    describe(`${tool}, ${native ? "ulid" : "uuid and ulid_sql"}`, () => {
      let app, ada, first, second;
      before(async () => {
        createDatabase(tool, { native });
        tables({ native });
        app = await open(native);
      });
      after(() => app?.close());

      test("insert: the default makes an id of 26 characters", async () => {
        ada = await app.customer("Ada");
        assert.match(ada.id, /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
        first = await app.order({ customerId: ada.id, note: "first" });
        second = await app.order({ customerId: ada.id, note: "second" });
        assert.equal(first.customerId, ada.id);
        assert.equal(psql("SELECT ulid_to_text(id) FROM orders WHERE note = 'first'"), first.id);
      });

      test("read by id, in either case and as a UUID", async () => {
        for (const id of [first.id, first.id.toLowerCase(), toUuid(first.id)]) {
          const found = await app.byId(id);
          assert.deepEqual([found.id, found.customerId, found.note], [first.id, ada.id, "first"]);
        }
        assert.equal(await app.byId("01ARYZ6S41TSV4RRFFQ69G5FAV") ?? null, null);
      });

      test("a list of ids", async () => {
        assert.deepEqual(notes(await app.byIds([first.id, second.id.toLowerCase()])), ["first", "second"]);
        assert.deepEqual(notes(await app.byIds([second.id])), ["second"]);
      });

      test("a foreign key and a join", async () => {
        assert.deepEqual(notes(await app.ofCustomer(ada.id)), ["first", "second"]);
        const third = await app.order({ customerId: ada.id.toLowerCase(), note: "third" });
        assert.equal((await app.byId(third.id)).customerId, ada.id);
        assert.deepEqual(notes(await app.ofCustomer(ada.id)), ["first", "second", "third"]);
        psql("DELETE FROM orders WHERE note = 'third'");
      });

      test("a window of time", async () => {
        const [past, future] = [new Date(Date.now() - hour), new Date(Date.now() + hour)];
        await app.order({ id: "01ARYZ6S41TSV4RRFFQ69G5FAV", note: "of 2016" });
        assert.deepEqual(notes(await app.within(past, future)), ["first", "second"]);
        assert.deepEqual(notes(await app.within(null, past)), ["of 2016"]);
        assert.deepEqual(notes(await app.within(future, null)), []);
        await assert.rejects(async () => app.within(future, past));
        const made = new Date("2016-07-30T22:36:16.385Z");
        assert.deepEqual(notes(await app.within(made, new Date(+made + 1))), ["of 2016"]);
        assert.deepEqual(notes(await app.within(new Date(made - 1), made)), []);
      });

      test("the first characters", async () => {
        assert.deepEqual(notes(await app.startsWith("01aryz")), ["of 2016"]);
        assert.deepEqual(notes(await app.startsWith("")), ["first", "of 2016", "second"]);
        await assert.rejects(async () => app.startsWith("01U"), (error) => code(error) === "22P02");
      });

      test("an array", async () => {
        await app.relate(first.id, [second.id, first.id]);
        assert.deepEqual((await app.byId(first.id)).related, [second.id, first.id]);
        await app.relate(first.id, []);
        assert.deepEqual((await app.byId(first.id)).related, []);
        await app.relate(first.id, null);
        assert.deepEqual((await app.byId(first.id)).related, nullArray);
      });

      test("many rows at once", async () => {
        await app.bulk([{ id: "01ARYZ6S41TSV4RRFFQ69G5FAW", note: "bulk 1" }, { id: "01ARYZ6S41TSV4RRFFQ69G5FAX", note: "bulk 2" }]);
        const ids = ["01ARYZ6S41TSV4RRFFQ69G5FAX", "01ARYZ6S41TSV4RRFFQ69G5FAW"];
        assert.deepEqual(notes(await app.byIds(ids)), ["bulk 1", "bulk 2"]);
      });

      test("what the server refuses is refused, and what it accepts is stored as the server would", async () => {
        for (const { note, given } of createSample()) {
          const orders = given === null ? [{ note, customerId: null }] : [{ note, id: given }, { note: `array of ${note}`, related: [given] }];
          for (const order of orders) await app.order(order).catch((error) => assert.match(String(code(error)), /^22/, error));
        }
        assert.equal(psql("SELECT sample.compare()"), "equal");
        assert.equal(psql(`SELECT given.note, verdict, stored FROM sample.given LEFT JOIN (
            SELECT o.note, array_agg(ulid_to_text(element)) AS stored FROM orders o, unnest(related) element WHERE o.note LIKE 'array of %' GROUP BY 1
          ) arrays ON arrays.note = 'array of ' || given.note
          WHERE given IS NOT NULL AND stored IS DISTINCT FROM CASE WHEN verdict IS NOT NULL THEN ARRAY[verdict] END`), "");
        psql("DROP SCHEMA sample CASCADE; DELETE FROM orders WHERE note LIKE '%sample%'");
      });

      more?.(native, () => app, () => ({ ada, first, second }));
    });
  }
}
