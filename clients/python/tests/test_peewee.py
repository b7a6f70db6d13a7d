import subprocess
import sys
import uuid
from datetime import datetime, timedelta, timezone

import peewee
import pytest
import ulid
from peewee import SQL, ForeignKeyField, Model, PostgresqlDatabase, TextField
from pg_ulid import canonical
from pg_ulid.peewee import UlidField, register_ulid
from playhouse.postgres_ext import ArrayField

GIVEN = "01ARYZ6S41TSV4RRFFQ69G5FAV"


@pytest.fixture(params=[True, False], ids=["psycopg", "psycopg2"])
def peewee_database(request, database):
    peewee_database = PostgresqlDatabase(database, prefer_psycopg3=request.param)
    yield peewee_database
    peewee_database.close()


@pytest.fixture
def shop(peewee_database, native):
    class Base(Model):
        class Meta:
            database = peewee_database

    class Customer(Base):
        id = UlidField(primary_key=True, native=native, constraints=[SQL("DEFAULT gen_ulid()")])
        name = TextField()

    class Order(Base):
        id = UlidField(primary_key=True, native=native, constraints=[SQL("DEFAULT gen_ulid()")])
        customer = ForeignKeyField(Customer, null=True, backref="orders")
        note = TextField(null=True)
        related = ArrayField(UlidField, {"native": native}, convert_values=True, null=True, index=False)

        class Meta:
            table_name = "orders"

    return Customer, Order


@pytest.fixture
def orders(shop):
    Customer, Order = shop
    ada = Customer.create(name="Ada")
    first = Order.create(customer=ada, note="first")
    second = Order.get_by_id(Order.insert(customer=ada.id.lower(), note="second").execute())
    return ada, first, second


def test_find(shop, orders):
    Customer, Order = shop
    ada, first, second = orders
    assert all(isinstance(order.id, str) and canonical(order.id) == order.id for order in orders)
    assert Order.get_by_id(first.id.lower()).id == first.id
    assert Order.select().where(Order.id.in_([first.id, second.id])).count() == 2
    assert [order.note for order in Customer.select().prefetch(Order)[0].orders] == ["first", "second"]
    assert Order.select().join(Customer).where(Customer.name == "Ada").count() == 2
    as_uuid = uuid.UUID(bytes=ulid.ULID.from_str(ada.id).bytes)
    for value in as_uuid, str(as_uuid), ulid.ULID.from_str(ada.id):
        assert Customer.get_by_id(value) == ada and ada.orders.where(Order.customer == value).count() == 2


def test_save_with_an_id_updates(shop):
    Order = shop[1]
    assert Order(id=GIVEN, note="lost").save() == 0  # as with every key that is not a serial
    assert Order(id=GIVEN, note="found").save(force_insert=True) == 1


def test_window_and_prefix(shop, orders):
    Order = shop[1]
    now, hour = datetime.now(timezone.utc), timedelta(hours=1)
    assert Order.select().where(Order.id.within(now - hour, now + hour)).count() == 2
    assert Order.select().where(Order.id.within(now - hour, None)).count() == 2
    assert Order.select().where(~Order.id.within(None, now - hour)).count() == 2
    assert Order.select().where(Order.id.within(None, now - hour)).count() == 0
    assert Order.get(Order.id.starts_with(orders[1].id.lower())).note == "first"
    assert Order.select().where(Order.id.starts_with("7")).count() == 0


def test_array(peewee_database, shop, orders):
    Order = shop[1]
    register_ulid_if_native(peewee_database, Order)
    _, first, second = orders
    first.related = [second.id.lower()]
    first.save()
    assert Order.get_by_id(first.id).related == [second.id]


def register_ulid_if_native(peewee_database, Order):
    if Order.id.native:
        register_ulid(peewee_database)
        peewee_database.close()
        peewee_database.connect()


def test_bulk_load(shop):
    Order = shop[1]
    Order.insert_many([{"id": GIVEN.lower(), "note": "third"}, {"id": uuid.UUID(int=0), "note": "fourth"}]).execute()
    Order.bulk_create([Order(id=GIVEN[:-1] + "X", note="fifth")])
    assert [order.id for order in Order.select().order_by(Order.id)] == ["0" * 26, GIVEN, GIVEN[:-1] + "X"]


def test_malformed_ids(shop, native, sample):
    Order = shop[1]

    def insert(note, **values):
        try:
            Order.create(note=note, **({"id": values["id"]} if "id" in values else {"customer": None}))
        except peewee.DataError:
            assert native
        except ValueError as error:
            assert not native and "for type ulid" in str(error)

    sample.store(insert)


def test_create_tables(peewee_database, shop, native):
    Customer, Order = shop
    peewee_database.drop_tables([Order, Customer])
    peewee_database.create_tables([Customer, Order])
    Order.create(customer=Customer.create(name="Bob"), note="created")
    types = "SELECT DISTINCT udt_name FROM information_schema.columns WHERE table_name = 'orders' ORDER BY 1"
    name = "ulid" if native else "uuid"
    assert peewee_database.execute_sql(types).fetchall() == [(f"_{name}",), ("text",), (name,)]


def test_pwiz(database):
    """What does not work: models from existing tables."""
    command = [sys.executable, "-m", "pwiz", "-e", "postgresql", database]
    assert "id = UnknownField(" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
