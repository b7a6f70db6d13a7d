import { ArrayType, Type } from "@mikro-orm/core";
import type { RawQueryFragment } from "@mikro-orm/core";
import type { ColumnOptions, Time } from "./index.js";

/** A property of the type ulid. */
export declare class UlidType extends Type<string, string> {
  constructor(options?: ColumnOptions);
}

/** A property of the type ulid[]. */
export declare class UlidArrayType extends ArrayType<string> {
  constructor(options?: ColumnOptions);
}

/** A key for conditions: `{ [within("id", from, to)]: [] }`, the ids made from one time until before another. */
export declare function within(column: string, from: Time, to: Time): RawQueryFragment & symbol;

/** A key for conditions: `{ [startsWith("id", prefix)]: [] }`. */
export declare function startsWith(column: string, prefix: string): RawQueryFragment & symbol;
