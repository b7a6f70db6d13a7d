import { pgTable, text } from "drizzle-orm/pg-core";
import { genUlid, ulid } from "pg-ulid/drizzle-orm";

export const orders = pgTable("orders", {
  id: ulid().primaryKey().default(genUlid()),
  note: text(),
  related: ulid().array(),
});
