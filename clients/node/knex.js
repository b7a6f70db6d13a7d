import knex from "knex";
import { registerTypes } from "./pg.js";

knex.TableBuilder.extend("ulid", function (name, { native = true } = {}) {
  return this.specificType(name, native ? "ulid" : "uuid");
});

/** For the option pool: each new connection reads arrays of ulids as arrays. */
export function afterCreate(connection, done) {
  registerTypes(connection).then(() => done(null, connection), (error) => done(error, connection));
}

/** A default for a column. */
export const genUlid = (db) => db.raw("gen_ulid()");

/** Whether an id was made within a window of time: from its beginning until before its end. */
export const within = (db, column, from, to) => db.raw("ulid_contained_by_range(??, tstzrange(?, ?))", [column, from, to]);

/** Whether the text of an id starts with some characters. */
export const startsWith = (db, column, prefix) => db.raw("ulid_starts_with(??, ?)", [column, prefix]);
