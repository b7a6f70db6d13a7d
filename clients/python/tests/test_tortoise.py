import asyncio
import os
import sys
import types
import uuid
from datetime import datetime, timedelta, timezone

import pytest
import ulid
from pg_ulid import canonical
from pg_ulid.tortoise import StartsWith, UlidField, Within
from tortoise import Tortoise, connections, fields
from tortoise.contrib.postgres.fields import ArrayField
from tortoise.exceptions import OperationalError, ValidationError
from tortoise.expressions import Q
from tortoise.fields.db_defaults import SqlDefault
from tortoise.models import Model

GIVEN = "01ARYZ6S41TSV4RRFFQ69G5FAV"


def module_of(*models):
    """Put models into a module, as Tortoise wants its name."""
    module = types.ModuleType(f"models_{len(sys.modules)}")
    sys.modules[module.__name__] = module
    for model in models:
        model.__module__ = module.__name__
        setattr(module, model.__name__, model)
    return module


def models(native):
    class Customer(Model):
        id = UlidField(primary_key=True, native=native, db_default=SqlDefault("gen_ulid()"))
        name = fields.TextField()
        orders: fields.ReverseRelation["Order"]

    class Order(Model):
        id = UlidField(primary_key=True, native=native, db_default=SqlDefault("gen_ulid()"))
        customer = fields.ForeignKeyField("models.Customer", related_name="orders", null=True)
        note = fields.TextField(null=True)
        related = ArrayField("ulid" if native else "uuid", null=True)

        class Meta:
            table = "orders"

    return module_of(Customer, Order)


MODELS = {native: models(native) for native in (True, False)}


def connect(database, module, main):
    """Run a function while Tortoise has the models of a module."""
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD"}
    credentials = {"database": database} | {key: os.environ[name] for key, name in names.items() if name in os.environ}
    config = {
        "connections": {"default": {"engine": "tortoise.backends.asyncpg", "credentials": credentials}},
        "apps": {"models": {"models": [module.__name__], "default_connection": "default"}},
    }

    async def connected():
        await Tortoise.init(config=config)
        try:
            await main()
        finally:
            await Tortoise.close_connections()

    asyncio.run(connected())


@pytest.fixture
def run(database, native):
    """Run a function of the two models."""
    module = MODELS[native]
    return lambda main: connect(database, module, lambda: main(module.Customer, module.Order))


async def make_orders(Customer, Order):
    ada = await Customer.create(name="Ada")
    first = await Order.create(customer=ada, note="first")
    second = await Order.create(customer_id=ada.id.lower(), note="second")
    assert second.customer_id == ada.id
    return ada, first, second


def test_find(run):
    async def main(Customer, Order):
        ada, first, second = await make_orders(Customer, Order)
        assert all(isinstance(order.id, str) and canonical(order.id) == order.id for order in (ada, first, second))
        assert (await Order.get(id=first.id.lower())).id == first.id
        assert await Order.filter(id__in=[first.id, second.id]).count() == 2
        assert len((await Customer.all().prefetch_related("orders"))[0].orders) == 2
        assert await Order.filter(customer__name="Ada").count() == 2
        as_uuid = uuid.UUID(bytes=ulid.ULID.from_str(ada.id).bytes)
        for value in as_uuid, str(as_uuid), ulid.ULID.from_str(ada.id):
            assert (await Customer.get(id=value)).id == ada.id
            assert await Order.filter(customer_id=value).count() == 2

    run(main)


def test_window_and_prefix(run):
    async def main(Customer, Order):
        ada, first, second = await make_orders(Customer, Order)
        now, hour = datetime.now(timezone.utc), timedelta(hours=1)
        assert await Order.filter(Within("id", now - hour, now + hour)).count() == 2
        assert await Order.filter(Within("id", now - hour, None), note="first").count() == 1
        assert await Order.filter(Within("id", None, now - hour)).count() == 0
        assert await Order.filter(~Within("id", None, now - hour)).count() == 2
        assert await Order.filter(Q(Within("customer__id", now - hour, None), note="first") | Q(note="second")).count() == 2
        assert (await Order.get(StartsWith("id", first.id.lower()))).note == "first"
        assert await Order.filter(~StartsWith("id", first.id)).count() == 1
        assert await Order.exclude(StartsWith("id", "7")).count() == 2

    run(main)


def test_window_and_prefix_use_the_index(run):
    async def main(Customer, Order):
        connection = connections.get("default")
        for condition in Within("id", datetime(2026, 1, 1, tzinfo=timezone.utc), None), StartsWith("id", "01"):
            async with connection.acquire_connection() as direct:
                await direct.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
                plan = await direct.fetch("EXPLAIN " + Order.filter(condition).sql(params_inline=True))
                assert any("Index Cond: " in row[0] for row in plan), plan

    run(main)


def test_array(run, native):
    async def main(Customer, Order):
        ada, first, second = await make_orders(Customer, Order)
        first.related = [second.id if native else uuid.UUID(bytes=ulid.ULID.from_str(second.id).bytes)]
        await first.save()
        [related] = (await Order.get(id=first.id)).related
        assert canonical(related) == second.id

    run(main)


def test_bulk_load(run):
    async def main(Customer, Order):
        given = Order(id=GIVEN.lower(), note="third")
        await Order.bulk_create([given, Order(id=uuid.UUID(int=0), note="fourth")])
        assert given.id == GIVEN
        assert await Order.all().order_by("id").values_list("id", flat=True) == ["0" * 26, GIVEN]

    run(main)


def test_malformed_ids(run, native, sample):
    async def main(Customer, Order):
        for note, given, _ in sample.rows:
            try:
                await Order.create(note=note, **({"customer_id": None} if given is None else {"id": given}))
            except OperationalError as error:
                assert native and "for type ulid" in str(error)
            except ValueError as error:
                assert not native and "for type ulid" in str(error)

    run(main)
    sample.compare()


def test_generate_schemas(run, native):
    async def main(Customer, Order):
        connection = connections.get("default")
        await connection.execute_script("DROP TABLE orders, customer")
        await Tortoise.generate_schemas()
        bob = await Customer.create(name="Bob")
        assert (await Order.create(customer=bob, note="created")).customer_id == bob.id
        types = "SELECT DISTINCT udt_name FROM information_schema.columns WHERE table_name = 'orders' ORDER BY 1"
        name = "ulid" if native else "uuid"
        assert [row["udt_name"] for row in await connection.execute_query_dict(types)] == [f"_{name}", "text", name]

    run(main)


def test_char_field(database):
    """What happens without the type: an object without an id is refused."""

    class Customer(Model):
        id = fields.CharField(26, primary_key=True)
        name = fields.TextField()

    async def main():
        with pytest.raises(ValidationError, match="id: Value must not be None"):
            await Customer.create(name="Ada")

    connect(database, module_of(Customer), main)
