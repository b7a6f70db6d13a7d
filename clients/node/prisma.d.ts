import type { Time } from "./index.js";

/** For the option userDefinedTypeParser of PrismaPg: arrays of ulids are read as arrays. */
export declare function ulidParser(): (oid: number, value: unknown, adapter: any) => Promise<unknown>;

/** A filter: the ids made from one time until before another. */
export declare function within(from: Time, to: Time): { gte?: string; lt?: string };

/** A filter: the ids whose text starts with some characters. */
export declare function startsWith(prefix: string): { gte: string; lte: string };
