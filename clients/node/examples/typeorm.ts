import "reflect-metadata";
import { genUlid, registerTypes, StartsWith, ulid, Within } from "pg-ulid/typeorm";
import { Column, DataSource, Entity, In, PrimaryColumn } from "typeorm";

@Entity("orders")
class Order {
  @PrimaryColumn(ulid({ default: genUlid }))
  id!: string;
  @Column("text", { nullable: true })
  note!: string | null;
  @Column(ulid({ array: true, nullable: true }))
  related!: string[] | null;
}

const source = new DataSource({ type: "postgres", url: process.env.DATABASE_URL, entities: [Order], synchronize: true });
await registerTypes(source).initialize();

const orders = source.getRepository(Order);
const first = await orders.save({ note: "first" });
await orders.save({ note: "second", related: [first.id] });

const rows = await orders.findBy({ id: In([first.id]) });
const today = Within(new Date(Date.now() - 24 * 3600_000), null);
const recent = await orders.find({ where: { id: today }, order: { note: "ASC" } });
const like = await orders.countBy({ id: StartsWith(first.id.slice(0, 6)) });
console.log(rows, recent, like);
await source.destroy();
