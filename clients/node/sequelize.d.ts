import type { AbstractDataType, ModelAttributeColumnOptions, Sequelize, Utils } from "sequelize";
import type { ColumnOptions, Time } from "./index.js";

declare module "sequelize" {
  namespace DataTypes {
    /** The type ulid, after registerTypes. */
    const ULID: AbstractDataTypeConstructor & ((options?: ColumnOptions) => AbstractDataType);
  }
}

/** Make DataTypes.ULID known. To be called before a Sequelize is created. */
export declare function registerTypes(sequelize: typeof Sequelize): void;

/** The options of an attribute, with others of Sequelize's. */
export declare function ulid(
  options?: Partial<ModelAttributeColumnOptions> & ColumnOptions & { array?: boolean },
): ModelAttributeColumnOptions;

/** A default for a column. */
export declare function genUlid(): Utils.Literal;

/** Whether an id was made within a window of time: from its beginning until before its end. */
export declare function within(column: string, from: Time, to: Time): Utils.Fn;

/** Whether the text of an id starts with some characters. */
export declare function startsWith(column: string, prefix: string): Utils.Fn;
