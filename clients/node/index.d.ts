/** An error of the server's for an id: its message and its SQLSTATE. */
export declare class UlidError extends Error {
  readonly code: "22P02" | "22003";
}

/** The form in which the server returns an id. What it would refuse is returned unchanged, for the server to refuse. */
export declare function canonical<T>(id: T): T;

/** The UUID of an id, for a column of the type uuid. What the server would refuse as a ulid is a {@link UlidError}. */
export declare function toUuid<T extends string | null | undefined | readonly (string | null)[]>(id: T): T;

/** The beginning or the end of a time range; null: there is none. */
export type Time = Date | string | null;
