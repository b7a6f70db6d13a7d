import { ArrayType, raw, Type } from "@mikro-orm/core";
import { serializeArray } from "./array.js";
import { canonical, toUuid } from "./index.js";

/** A property of the type ulid. */
export class UlidType extends Type {
  constructor({ native = true } = {}) {
    super();
    this.native = native;
  }
  convertToDatabaseValue(id) {
    return this.native ? canonical(id) : toUuid(id);
  }
  convertToJSValue(id) {
    return canonical(id);
  }
  getColumnType() {
    return this.native ? "ulid" : "uuid";
  }
  compareAsType() {
    return "string";
  }
}

/** A property of the type ulid[]. */
export class UlidArrayType extends ArrayType {
  constructor({ native = true } = {}) {
    super(canonical);
    this.native = native;
  }
  // ArrayType does not quote blanks, which the server would then leave out.
  convertToDatabaseValue(ids) {
    if (!Array.isArray(ids)) return ids;
    return serializeArray(this.native ? canonical(ids) : toUuid(ids));
  }
  getColumnType() {
    return this.native ? "ulid[]" : "uuid[]";
  }
}

/** A key for conditions: the ids made within a window of time, from its beginning until before its end. */
export const within = (column, from, to) =>
  raw((alias) => `ulid_contained_by_range(${alias}.${column}, tstzrange(?, ?))`, [from, to]);

/** A key for conditions: the ids whose text starts with some characters. */
export const startsWith = (column, prefix) => raw((alias) => `ulid_starts_with(${alias}.${column}, ?)`, [prefix]);
