import type { Knex } from "knex";
import type { ColumnOptions, Time } from "./index.js";

declare module "knex" {
  namespace Knex {
    interface TableBuilder {
      /** A column of the type ulid. */
      ulid(name: string, options?: ColumnOptions): Knex.ColumnBuilder;
    }
  }
}

/** For the option pool: each new connection reads arrays of ulids as arrays. */
export declare function afterCreate(connection: any, done: (error: any, connection: any) => void): void;

/** A default for a column. */
export declare function genUlid(db: Knex): Knex.Raw;

/** Whether an id was made within a window of time: from its beginning until before its end. */
export declare function within(db: Knex, column: string, from: Time, to: Time): Knex.Raw;

/** Whether the text of an id starts with some characters. */
export declare function startsWith(db: Knex, column: string, prefix: string): Knex.Raw;
