// A client of Prisma for the tables of clients/cases.sql.
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tsImport } from "tsx/esm/api";

export async function generate() {
  const directory = mkdtempSync(`${process.cwd()}/prisma-`);
  writeFileSync(`${directory}/schema.prisma`, `
generator client {
  provider = "prisma-client"
  output   = "./generated"
}

datasource db {
  provider = "postgresql"
}

model Customer {
  id     String  @id @default(dbgenerated("gen_ulid()"))
  name   String
  orders Order[]

  @@map("customer")
}

model Order {
  id         String    @id @default(dbgenerated("gen_ulid()"))
  customerId String?   @map("customer_id")
  note       String?
  related    String[]
  customer   Customer? @relation(fields: [customerId], references: [id])

  @@map("orders")
}
`);
  // "prisma generate" looks for the schema engine, which is not on npm, but does not run it
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: "/bin/true" };
  execFileSync("npx", ["prisma", "generate", "--schema", `${directory}/schema.prisma`], { stdio: "pipe", env });
  return tsImport(`${directory}/generated/client.ts`, import.meta.url);
}
