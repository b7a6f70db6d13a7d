import type { Time } from "./index.js";

/** For the option userDefinedTypeParser of PrismaPg: arrays of ulids are read as arrays. */
export declare function ulidParser(): (oid: number, value: unknown, adapter: any) => Promise<unknown>;

/** A filter: the ids made from one time until before another. With toUuid, for a column of type uuid. */
export declare function within(from: Time, to: Time, convert?: (id: string) => string): { gte?: string; lt?: string };

/** A filter: the ids whose text starts with some characters. With toUuid, for a column of type uuid. */
export declare function startsWith(prefix: string, convert?: (id: string) => string): { gte: string; lte: string };
