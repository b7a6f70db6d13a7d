// Convert an id to the form that the server returns, for libraries that compare ids as strings: from upper or lower case, with
// O for 0 and I or L for 1, and from a UUID. Anything else is passed on unchanged, and the server refuses it.
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

export function canonical<T>(id: T): T | string {
  if (typeof id !== "string") return id;
  if (/^[0-7OIL][0-9A-TV-Z]{25}$/i.test(id)) return id.toUpperCase().replace(/O/g, "0").replace(/[IL]/g, "1");
  if (!/^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/i.test(id)) return id;
  const number = BigInt("0x" + id.replace(/-/g, ""));
  return Array.from({ length: 26 }, (_, i) => alphabet[Number((number >> BigInt(125 - 5 * i)) & 31n)]).join("");
}
