import type { ColumnOptions as TypeOrmOptions, DataSource, FindOperator, ValueTransformer } from "typeorm";
import type { ColumnOptions, Time } from "./index.js";

/** Let a data source know the type. To be called before it is initialized. */
export declare function registerTypes<T extends DataSource>(dataSource: T): T;

/** The options of a column, with others of TypeORM's. */
export declare function ulid<T extends TypeOrmOptions & ColumnOptions = {}>(
  options?: T,
): Omit<T, "native"> & { type: any; transformer: ValueTransformer };

/** A default for a column. */
export declare function genUlid(): string;

/** Ids made within a window of time: from its beginning until before its end. */
export declare function Within(from: Time, to: Time): FindOperator<any>;

/** Ids whose text starts with some characters. */
export declare function StartsWith(prefix: string): FindOperator<any>;
