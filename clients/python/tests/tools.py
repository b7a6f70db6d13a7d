"""The same operations through each tool, for test_tools.py.

insert(**row) returns the id of a new order; find(id), (note, customer_id, related) or None; the other searches, the notes.
"""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

import asyncpg
import django
import psycopg
import psycopg2
from django.apps import apps
from django.conf import settings
from django.core.exceptions import ValidationError
from pg_ulid.asyncpg import register_ulid as register_asyncpg
from pg_ulid.psycopg import register_ulid as register_psycopg
from pg_ulid.psycopg2 import register_ulid as register_psycopg2
from pg_ulid.sqlalchemy import Ulid
from sqlalchemy import ForeignKey, create_engine, insert, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.exc import StatementError
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.pool import NullPool


class Driver:
    """A driver, for which all is SQL."""

    def __init__(self, native):
        self.connect()

    def fetch(self, query, *parameters):
        with self.connection.cursor() as cursor:
            cursor.execute(query, parameters)
            return cursor.fetchall()

    def close(self):
        self.connection.close()

    def notes(self, condition, *parameters):
        return sorted(note for (note,) in self.fetch(f"SELECT note FROM orders WHERE {condition}", *parameters))

    def customer(self):
        return self.fetch("INSERT INTO customer (name) VALUES ('Ada') RETURNING id")[0][0]

    def insert(self, **row):
        values = ", ".join("%s::ulid[]" if name == "related" else "%s" for name in row)
        return self.fetch(f"INSERT INTO orders ({', '.join(row)}) VALUES ({values}) RETURNING id", *row.values())[0][0]

    def find(self, id):
        found = self.fetch("SELECT note, customer_id, related FROM orders WHERE id = %s", id)
        return tuple(found[0]) if found else None

    def find_all(self, ids):
        return self.notes("id = ANY (%s::ulid[])", ids)

    def within(self, start, end):
        return self.notes("id <@ tstzrange(%s, %s)", start, end)

    def starts_with(self, prefix):
        return self.notes("ulid_starts_with(id, %s)", prefix)

    def relate(self, id, ids):
        self.fetch("UPDATE orders SET related = %s::ulid[] WHERE id = %s RETURNING 1", ids, id)

    def bulk(self, rows):
        for row in rows:
            self.insert(**row)


class Psycopg(Driver):
    error = psycopg.DataError

    def connect(self):
        self.connection = psycopg.connect(autocommit=True)
        register_psycopg(self.connection)

    def bulk(self, rows):
        with self.connection.cursor().copy("COPY orders (id, note) FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["ulid", "text"])
            for row in rows:
                copy.write_row([row["id"], row["note"]])


class Psycopg2(Driver):
    error = psycopg2.DataError

    def connect(self):
        self.connection = psycopg2.connect("")
        self.connection.autocommit = True
        register_psycopg2(self.connection)


class Asyncpg(Driver):
    error = asyncpg.DataError

    def connect(self):
        self.loop = asyncio.new_event_loop()
        self.run = self.loop.run_until_complete
        self.connection = self.run(asyncpg.connect())
        self.run(register_asyncpg(self.connection))

    def fetch(self, query, *parameters):
        for number in range(1, len(parameters) + 1):
            query = query.replace("%s", f"${number}", 1)
        return self.run(self.connection.fetch(query, *parameters))

    def close(self):
        self.run(self.connection.close())
        self.loop.close()

    def bulk(self, rows):
        records = [(row["id"], row["note"]) for row in rows]
        self.run(self.connection.copy_records_to_table("orders", records=records, columns=["id", "note"]))


def models(native):
    class Base(DeclarativeBase):
        pass

    class Customer(Base):
        __tablename__ = "customer"
        id: Mapped[str] = mapped_column(Ulid(native), primary_key=True, server_default=text("gen_ulid()"))
        name: Mapped[str]

    class Order(Base):
        __tablename__ = "orders"
        id: Mapped[str] = mapped_column(Ulid(native), primary_key=True, server_default=text("gen_ulid()"))
        customer_id: Mapped[str | None] = mapped_column(Ulid(native), ForeignKey("customer.id"))
        note: Mapped[str | None]
        related: Mapped[list[str | None] | None] = mapped_column(ARRAY(Ulid(native)))

    return Customer, Order


MODELS = {native: models(native) for native in (True, False)}


class SQLAlchemy:
    error = StatementError  # of which that of a driver is a subclass

    def __init__(self, native, driver):
        self.Customer, self.Order = MODELS[native]
        self.asynchronous = driver == "asyncpg"
        create = create_async_engine if self.asynchronous else create_engine
        self.engine = create(f"postgresql+{driver}://", poolclass=NullPool)

    def do(self, work):
        if not self.asynchronous:
            with Session(self.engine) as session, session.begin():
                return work(session)

        async def run():
            async with AsyncSession(self.engine) as session, session.begin():
                return await session.run_sync(work)

        return asyncio.run(run())

    def close(self):
        pass

    def notes(self, condition):
        return sorted(self.do(lambda session: session.scalars(select(self.Order.note).where(condition)).all()))

    def add(self, row):
        def work(session):
            session.add(row)
            session.flush()
            return row.id

        return self.do(work)

    def customer(self):
        return self.add(self.Customer(name="Ada"))

    def insert(self, **row):
        return self.add(self.Order(**row))

    def find(self, id):
        def work(session):
            order = session.get(self.Order, id)
            return order and (order.note, order.customer_id, order.related)

        return self.do(work)

    def find_all(self, ids):
        return self.notes(self.Order.id.in_(ids))

    def within(self, start, end):
        return self.notes(self.Order.id.within(start, end))

    def starts_with(self, prefix):
        return self.notes(self.Order.id.starts_with(prefix))

    def relate(self, id, ids):
        self.do(lambda session: setattr(session.get(self.Order, id), "related", ids))

    def bulk(self, rows):
        self.do(lambda session: session.execute(insert(self.Order), rows))


APP = """
from django.contrib.postgres.fields import ArrayField
from django.db import models
from pg_ulid.django import GenUlid, UlidField


class Customer(models.Model):
    id = UlidField(primary_key=True, native={native}, db_default=GenUlid())
    name = models.TextField()

    class Meta:
        db_table = "customer"


class Order(models.Model):
    id = UlidField(primary_key=True, native={native}, db_default=GenUlid())
    customer = models.ForeignKey(Customer, models.CASCADE, null=True, blank=True, related_name="orders")
    note = models.TextField(null=True, blank=True)
    related = ArrayField(UlidField(native={native}, null=True), null=True, blank=True)

    class Meta:
        db_table = "orders"
"""


# two apps with the same models: one for columns of the type ulid, one for uuid
directory = tempfile.TemporaryDirectory()
sys.path.append(directory.name)
for app, native in ("shop", True), ("shop_uuid", False):
    folder = Path(directory.name, app)
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "models.py").write_text(APP.format(native=native))
settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "set for each test"}},
    INSTALLED_APPS=["pg_ulid.django", "shop", "shop_uuid"],
    USE_TZ=True,
    SILENCED_SYSTEM_CHECKS=["models.E028"],  # they have the same tables, in different databases
)
django.setup()


class Django:
    error = ValidationError

    def __init__(self, native):
        from django.db import connection

        self.connection = connection
        connection.settings_dict["NAME"] = os.environ["PGDATABASE"]
        app = apps.get_app_config("shop" if native else "shop_uuid")
        self.Customer, self.Order = app.get_model("Customer"), app.get_model("Order")

    def close(self):
        self.connection.close()

    def notes(self, **lookup):
        return sorted(self.Order.objects.filter(**lookup).values_list("note", flat=True))

    def customer(self):
        return self.Customer.objects.create(name="Ada").id

    def insert(self, **row):
        return self.Order.objects.create(**row).id

    def find(self, id):
        return self.Order.objects.filter(id=id).values_list("note", "customer_id", "related").first()

    def find_all(self, ids):
        return self.notes(id__in=ids)

    def within(self, start, end):
        return self.notes(id__within=(start, end))

    def starts_with(self, prefix):
        return self.notes(id__starts_with=prefix)

    def relate(self, id, ids):
        self.Order.objects.filter(id=id).update(related=ids)

    def bulk(self, rows):
        self.Order.objects.bulk_create([self.Order(**row) for row in rows])
