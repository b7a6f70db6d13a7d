import { Raw } from "typeorm";
import { parseArray } from "./array.js";
import { canonical, toUuid } from "./index.js";

/** Let a data source know the type. To be called before it is initialized. */
export function registerTypes(dataSource) {
  const types = dataSource.driver.supportedDataTypes;
  if (!types.includes("ulid")) types.push("ulid");
  return dataSource;
}

// An array comes as text if the driver does not know its type.
const read = (value) => canonical(typeof value === "string" && /^[[{]/.test(value) ? parseArray(value) : value);

/** The options of a column, with others of TypeORM's. */
export const ulid = ({ native = true, ...options } = {}) => ({
  type: native ? "ulid" : "uuid",
  transformer: { to: native ? canonical : toUuid, from: read },
  ...options,
});

/** A default for a column. */
export const genUlid = () => "gen_ulid()";

let count = 0; // names of parameters are for the whole query

/** Ids made within a window of time: from its beginning until before its end. */
export function Within(from, to) {
  const [start, end] = [`ulid_from_${++count}`, `ulid_to_${count}`];
  return Raw((id) => `ulid_contained_by_range(${id}, tstzrange(:${start}, :${end}))`, { [start]: from, [end]: to });
}

/** Ids whose text starts with some characters. */
export function StartsWith(prefix) {
  const name = `ulid_prefix_${++count}`;
  return Raw((id) => `ulid_starts_with(${id}, :${name})`, { [name]: prefix });
}
