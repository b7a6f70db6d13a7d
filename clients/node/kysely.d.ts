import type { RawBuilder, SqlBool } from "kysely";
import type { ColumnOptions, Time } from "./index.js";

/** The type of a column, for addColumn. */
export declare function ulid(options?: ColumnOptions): RawBuilder<string>;

/** A default for a column. */
export declare function genUlid(): RawBuilder<string>;

/** Whether an id was made within a window of time: from its beginning until before its end. */
export declare function within(column: string, from: Time, to: Time): RawBuilder<SqlBool>;

/** Whether the text of an id starts with some characters. */
export declare function startsWith(column: string, prefix: string): RawBuilder<SqlBool>;
