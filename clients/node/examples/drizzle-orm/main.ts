import { asc, inArray } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { startsWith, within } from "pg-ulid/drizzle-orm";
import { orders } from "./schema";

const db = drizzle(process.env.DATABASE_URL!);

const [first] = await db.insert(orders).values({ note: "first" }).returning();
await db.insert(orders).values({ note: "second", related: [first.id] });

const rows = await db.select({ note: orders.note }).from(orders).where(inArray(orders.id, [first.id]));
const today = within(orders.id, new Date(Date.now() - 24 * 3600_000), null);
const recent = await db.select().from(orders).where(today).orderBy(asc(orders.note));
const like = await db.select().from(orders).where(startsWith(orders.id, first.id.slice(0, 6)));
console.log(rows, recent, like.length);
await db.$client.end();
