import sequelize from "sequelize";
import { canonical, toUuid } from "./index.js";

const { DataTypes, fn, col, literal } = sequelize;

// DataTypes.ABSTRACT stands for the class, and cannot be extended itself.
class ULID extends DataTypes.ABSTRACT.prototype.constructor {
  constructor(options = {}) {
    super();
    this.options = options;
    this.native = options.native ?? true;
  }
  toSql() {
    return this.native ? "ulid" : "uuid";
  }
  _stringify(id) {
    return this.native ? canonical(id) : toUuid(id);
  }
  static parse(id) {
    return id;
  }
}
ULID.prototype.key = ULID.key = "ULID";
ULID.types = { postgres: ["ulid"] }; // and its arrays

/** Make DataTypes.ULID known. To be called before a Sequelize is created. */
export function registerTypes(Sequelize) {
  const type = new Proxy(ULID, { apply: (target, _, options) => new target(...options) });
  Sequelize.DataTypes.ULID = Sequelize.DataTypes.postgres.ULID = type;
}

/** The options of an attribute, with others of Sequelize's. */
export function ulid({ native = true, array = false, ...options } = {}) {
  const type = new ULID({ native });
  const attribute = { type: array ? DataTypes.ARRAY(type) : type, ...options };
  if (!native) attribute.get ??= function (key) { return canonical(this.getDataValue(key)); };
  return attribute;
}

/** A default for a column. */
export const genUlid = () => literal("gen_ulid()");

/** Whether an id was made within a window of time: from its beginning until before its end. */
export const within = (column, from, to) => fn("ulid_contained_by_range", col(column), fn("tstzrange", from, to));

/** Whether the text of an id starts with some characters. */
export const startsWith = (column, prefix) => fn("ulid_starts_with", col(column), prefix);
