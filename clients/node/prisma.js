import { canonical, UlidError } from "./index.js";

// The ids in the text of an array, such as {01KAVX3S8YQ6E4J0BZR5T1N7WH,NULL}. None of their characters needs quotes.
function parseArray(text) {
  const json = text.replace(/^\[.*=/, "").replace(/\w{26}/g, '"$&"').replace(/NULL/g, "null");
  return JSON.parse(json.replace(/[{}]/g, (brace) => (brace === "{" ? "[" : "]")));
}

/** For the option userDefinedTypeParser of PrismaPg: arrays of ulids are read as arrays. */
export function ulidParser() {
  const known = new Map(); // whether a type is an array of ulids
  return async (oid, value, adapter) => {
    if (typeof value !== "string" || !/^[[{]/.test(value)) return value;
    if (!known.has(oid)) {
      const sql = `SELECT count(*)::integer FROM pg_catalog.pg_type WHERE typarray = ${oid} AND typname = 'ulid' AND typtype = 'b'`;
      const { rows } = await adapter.queryRaw({ sql, args: [], argTypes: [] });
      known.set(oid, rows[0][0] > 0);
    }
    return known.get(oid) ? parseArray(value) : value;
  };
}

// The smallest id of a millisecond.
function lowerBound(time, convert) {
  const hex = Math.max(time, 0).toString(16).padStart(12, "0");
  return convert(`${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`);
}

/** A filter: the ids made from one time until before another. With toUuid, for a column of type uuid. */
export function within(from, to, convert = canonical) {
  const end = 2 ** 48; // no id is made before 1970, or from here on
  const [start, stop] = [new Date(from ?? 0).getTime(), new Date(to ?? end).getTime()];
  if (Number.isNaN(start) || Number.isNaN(stop)) throw new RangeError("invalid date");
  if (from != null && to != null && start > stop) throw new RangeError("from is after to"); // as tstzrange
  if (start >= end) return { lt: lowerBound(0, convert) };
  return { gte: lowerBound(start, convert), ...(stop < end && { lt: lowerBound(stop, convert) }) };
}

/** A filter: the ids whose text starts with some characters. With toUuid, for a column of type uuid. */
export function startsWith(prefix, convert = canonical) {
  // the server looks at the first character before the others
  if (/^[89A-HJKMNP-TV-Z]/i.test(prefix)) throw new UlidError(`prefix "${prefix}" is out of range for type ulid`, "22003");
  if (!/^[0-9A-TV-Z]{0,26}$/i.test(prefix)) throw new UlidError(`invalid prefix of a ulid: "${prefix}"`, "22P02");
  return { gte: convert(prefix.padEnd(26, "0")), lte: convert((prefix || "7").padEnd(26, "Z")) };
}
