import { PrismaPg } from "@prisma/adapter-pg";
import { startsWith, ulidParser, within } from "pg-ulid/prisma";
import { PrismaClient } from "./generated/client";

const connection = { connectionString: process.env.DATABASE_URL };
const adapter = new PrismaPg(connection, { userDefinedTypeParser: ulidParser() }); // for arrays
const prisma = new PrismaClient({ adapter });

const { id } = await prisma.order.create({ data: { note: "first" } });
await prisma.order.create({ data: { note: "second", related: [id] } });

const rows = await prisma.order.findMany({ where: { id: { in: [id] } } });
const today = within(new Date(Date.now() - 24 * 3600_000), null);
const recent = await prisma.order.findMany({ where: { id: today }, orderBy: { note: "asc" } });
const like = await prisma.order.count({ where: { id: startsWith(id.slice(0, 6)) } });
console.log(rows, recent, like);
await prisma.$disconnect();
