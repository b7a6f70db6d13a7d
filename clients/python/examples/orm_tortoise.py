from tortoise import Tortoise, fields, run_async
from tortoise.contrib.postgres.fields import ArrayField
from tortoise.expressions import RawSQL
from tortoise.fields.base import Field
from tortoise.fields.db_defaults import SqlDefault
from tortoise.models import Model

class UlidField(Field, str):
    SQL_TYPE = "ulid"

class Order(Model):
    id = UlidField(primary_key=True, db_default=SqlDefault("gen_ulid()"))
    note = fields.TextField(null=True)
    related = ArrayField("ulid", null=True)

async def main():
    await Tortoise.init(db_url="asyncpg://localhost/shop", modules={"models": ["__main__"]})
    await Tortoise.get_connection("default").execute_script("CREATE EXTENSION IF NOT EXISTS ulid")
    await Tortoise.generate_schemas()
    order = await Order.create(note="first")
    recent = RawSQL("id <@ tstzrange('2026-01-01Z', NULL)")
    assert await Order.annotate(recent=recent).filter(recent=True).first() == order
    await Order.bulk_create([Order(id="01ARYZ6S41TSV4RRFFQ69G5FAV", note="loaded", related=[order.id])])

run_async(main())
