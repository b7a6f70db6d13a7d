import type { Sql } from "postgres";

/**
 * Read and write arrays of ulids where Postgres.js does not know their type: with `fetch_types: false`, or if the extension was
 * created after it connected. Everything else works without this.
 */
export declare function registerTypes(sql: Sql<any>): Promise<void>;
