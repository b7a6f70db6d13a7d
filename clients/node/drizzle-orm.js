import { sql } from "drizzle-orm";
import { customType } from "drizzle-orm/pg-core";
import { canonical, toUuid } from "./index.js";

const column = customType({ dataType: () => "ulid", toDriver: canonical });
const uuidColumn = customType({ dataType: () => "uuid", toDriver: toUuid, fromDriver: canonical });

/** A column of the type ulid. */
export function ulid(name, options) {
  if (typeof name === "object") [name, options] = [undefined, name];
  return (options?.native === false ? uuidColumn : column)(name);
}

/** A default for a column. */
export const genUlid = () => sql`gen_ulid()`;

// some drivers do not take a Date
const time = (date) => (date instanceof Date ? date.toISOString() : date);

/** Whether an id was made within a window of time: from its beginning until before its end. */
export const within = (id, from, to) => sql`ulid_contained_by_range(${id}, tstzrange(${time(from)}, ${time(to)}))`;

/** Whether the text of an id starts with some characters. */
export const startsWith = (id, prefix) => sql`ulid_starts_with(${id}, ${prefix})`;
