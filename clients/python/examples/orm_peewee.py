from datetime import datetime, timezone
from peewee import SQL, Expression, Field, Model, PostgresqlDatabase, TextField, fn
from pg_ulid.psycopg import register_ulid
from playhouse.postgres_ext import ArrayField

class UlidField(Field):
    field_type = "ulid"

database = PostgresqlDatabase("shop", prefer_psycopg3=True)
database.execute_sql("CREATE EXTENSION IF NOT EXISTS ulid")
register_ulid(database.connection())    # for arrays, after each connect()

class Order(Model):
    id = UlidField(primary_key=True, constraints=[SQL("DEFAULT gen_ulid()")])
    note = TextField(null=True)
    related = ArrayField(UlidField, null=True, index=False)

    class Meta:
        database = database

database.create_tables([Order])
order = Order.create(note="first")
Order.update(related=[order.id]).where(Order.id == order.id.lower()).execute()
assert Order.get_by_id(order.id).related == [order.id]
window = fn.tstzrange(datetime(2026, 1, 1, tzinfo=timezone.utc), None)
list(Order.select().where(Expression(Order.id, "<@", window), fn.ulid_starts_with(Order.id, order.id[:10])))
Order.insert_many([{"id": "01ARYZ6S41TSV4RRFFQ69G5FAV", "note": "loaded"}]).execute()
