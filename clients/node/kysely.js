import { sql } from "kysely";

/** The type of a column, for addColumn. */
export const ulid = ({ native = true } = {}) => (native ? sql`ulid` : sql`uuid`);

/** A default for a column. */
export const genUlid = () => sql`gen_ulid()`;

/** Whether an id was made within a window of time: from its beginning until before its end. */
export const within = (column, from, to) => sql`ulid_contained_by_range(${sql.ref(column)}, tstzrange(${from}, ${to}))`;

/** Whether the text of an id starts with some characters. */
export const startsWith = (column, prefix) => sql`ulid_starts_with(${sql.ref(column)}, ${prefix})`;
