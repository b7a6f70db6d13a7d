// The texts that the server accepts for a ulid: 26 characters, or those that it accepts for a uuid.
const ulid = /^[0-7OIL][0-9A-TV-Z]{25}$/i;
const uuid = /^(?:(?:[0-9A-F]{4}-?){7}[0-9A-F]{4}|\{(?:[0-9A-F]{4}-?){7}[0-9A-F]{4}\})$/i;
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** What the server would refuse, with its message and SQLSTATE. */
export class UlidError extends Error {
  name = "UlidError";
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/** The form in which the server returns an id. What it would refuse is returned unchanged, for the server to refuse. */
export function canonical(id) {
  if (Array.isArray(id)) return id.map(canonical);
  if (typeof id !== "string") return id;
  if (ulid.test(id)) return id.toUpperCase().replace(/O/g, "0").replace(/[IL]/g, "1");
  if (!uuid.test(id)) return id;
  const number = BigInt("0x" + id.replace(/[{}-]/g, ""));
  return Array.from({ length: 26 }, (_, i) => alphabet[(number >> BigInt(125 - 5 * i)) & 31n]).join("");
}

/** The UUID of an id, for a column of the type uuid. What the server would refuse as a ulid is an error. */
export function toUuid(id) {
  if (id === null || id === undefined) return id;
  if (Array.isArray(id)) return id.map(toUuid);
  const text = canonical(id);
  if (typeof text !== "string" || !ulid.test(text)) {
    // the server counts bytes, and looks at the first character before the others
    if (/^[89A-HJKMNP-TV-Z]/i.test(id) && new TextEncoder().encode(id).length === 26) {
      throw new UlidError(`value "${id}" is out of range for type ulid`, "22003");
    }
    throw new UlidError(`invalid input syntax for type ulid: "${id}"`, "22P02");
  }
  const number = [...text].reduce((sum, character) => (sum << 5n) | BigInt(alphabet.indexOf(character)), 0n);
  return number.toString(16).padStart(32, "0").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
