import type { ClientBase } from "pg";

/**
 * Read arrays of ulids as arrays, on one connection. Everything else works without this.
 * For each connection of a pool: `new Pool({ onConnect: registerTypes })`.
 */
export declare function registerTypes(client: ClientBase): Promise<void>;
