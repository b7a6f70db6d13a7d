import type { SQL, SQLWrapper } from "drizzle-orm";
import type { ConvertCustomConfig, PgCustomColumnBuilder } from "drizzle-orm/pg-core";
import type { ColumnOptions, Time } from "./index.js";

type UlidColumn<Name extends string> = PgCustomColumnBuilder<ConvertCustomConfig<Name, { data: string; driverData: string }>>;

/** A column of the type ulid. */
export declare function ulid(options?: ColumnOptions): UlidColumn<"">;
export declare function ulid<Name extends string>(name: Name, options?: ColumnOptions): UlidColumn<Name>;

/** A default for a column. */
export declare function genUlid(): SQL<string>;

/** Whether an id was made within a window of time: from its beginning until before its end. */
export declare function within(id: SQLWrapper, from: Time, to: Time): SQL<boolean>;

/** Whether the text of an id starts with some characters. */
export declare function startsWith(id: SQLWrapper, prefix: string): SQL<boolean>;
