import asyncio
import subprocess
import sys
import uuid
from datetime import datetime, timedelta, timezone
from typing import Optional

import psycopg
import pytest
import ulid
from pg_ulid import canonical
from pg_ulid.sqlalchemy import Ulid, ischema_names
from sqlalchemy import (
    ARRAY,
    Column,
    ForeignKey,
    MetaData,
    String,
    Table,
    Uuid,
    create_engine,
    func,
    insert,
    inspect,
    literal,
    select,
    text,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import DBAPIError, ProgrammingError, StatementError
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship, selectinload
from sqlalchemy.pool import NullPool

GIVEN = "01ARYZ6S41TSV4RRFFQ69G5FAV"


def models(native):
    class Base(DeclarativeBase):
        pass

    class Customer(Base):
        __tablename__ = "customer"
        id: Mapped[str] = mapped_column(Ulid(native), primary_key=True, server_default=text("gen_ulid()"))
        name: Mapped[str]
        orders: Mapped[list["Order"]] = relationship(back_populates="customer")

    class Order(Base):
        __tablename__ = "orders"
        id: Mapped[str] = mapped_column(Ulid(native), primary_key=True, server_default=text("gen_ulid()"))
        customer_id: Mapped[Optional[str]] = mapped_column(Ulid(native), ForeignKey("customer.id"))
        note: Mapped[Optional[str]]
        related: Mapped[Optional[list[Optional[str]]]] = mapped_column(postgresql.ARRAY(Ulid(native)))
        customer: Mapped[Optional[Customer]] = relationship(back_populates="orders")

    return Customer, Order


MODELS = {native: models(native) for native in (True, False)}


@pytest.fixture
def shop(native):
    return MODELS[native]


@pytest.fixture(params=["psycopg", "psycopg2"])
def engine(request, database):
    engine = create_engine(f"postgresql+{request.param}://", poolclass=NullPool)
    yield engine
    engine.dispose()


@pytest.fixture
def session(engine):
    with Session(engine) as session:
        yield session


@pytest.fixture
def orders(session, shop):
    Customer, Order = shop
    ada = Customer(name="Ada", orders=[Order(note="first"), Order(note="second")])
    session.add(ada)
    session.commit()
    ids = ada.id, *(order.id for order in ada.orders)
    session.expunge_all()
    return ids


def test_find(session, shop, orders):
    Customer, Order = shop
    ada, first, second = orders
    assert all(isinstance(value, str) and canonical(value) == value for value in orders)
    assert session.get(Order, first).note == "first"
    listed = select(Order.note).where(Order.id.in_([first, second])).order_by("note")
    assert session.scalars(listed).all() == ["first", "second"]
    loaded = session.scalars(select(Customer).options(selectinload(Customer.orders))).one()
    assert {order.note for order in loaded.orders} == {"first", "second"}
    assert session.scalars(select(Order.note).join(Customer).where(Customer.name == "Ada").order_by("note")).all() == [
        "first",
        "second",
    ]


def test_other_forms_of_an_id(session, shop, orders):
    Customer, Order = shop
    ada, first, second = orders
    as_uuid = uuid.UUID(bytes=ulid.ULID.from_str(ada).bytes)
    for value in as_uuid, str(as_uuid), ada.lower(), ulid.ULID.from_str(ada):
        assert session.get(Customer, value).name == "Ada"
        session.expunge_all()
    third = Order(note="third", customer_id=canonical(as_uuid))
    session.add(third)
    session.commit()
    assert third.customer is session.get(Customer, ada)
    session.delete(session.get(Order, third.id.lower()))
    session.commit()
    assert session.scalar(select(func.count()).select_from(Order)) == 2


def test_window(session, shop, orders):
    _, Order = shop
    now, hour = datetime.now(timezone.utc), timedelta(hours=1)
    count = select(func.count()).select_from(Order)
    assert session.scalar(count.where(Order.id.within(now - hour, now + hour))) == 2
    assert session.scalar(count.where(Order.id.within(now - hour, None))) == 2
    assert session.scalar(count.where(Order.id.within(None, now - hour))) == 0
    assert session.scalar(count.where(~Order.id.within(None, func.now() - hour))) == 2


def test_prefix(session, shop, orders):
    _, Order = shop
    found = select(Order.note).where(Order.id.starts_with(orders[1].lower()))
    assert session.scalars(found).all() == ["first"]
    assert session.scalars(select(Order.note).where(Order.id.starts_with("7"))).all() == []


@pytest.mark.parametrize("condition", ["within", "starts_with"])
def test_window_and_prefix_use_the_index(session, shop, orders, condition):
    _, Order = shop
    column = Order.id.within(datetime(2026, 1, 1, tzinfo=timezone.utc), None) if condition == "within" else Order.id.starts_with("01")
    session.execute(text("SET enable_seqscan = off"))
    session.execute(text("SET enable_bitmapscan = off"))
    sql = select(Order.id).where(column).compile(session.get_bind())
    plan = session.connection().exec_driver_sql(f"EXPLAIN {sql}", sql.params).scalars().all()
    assert any("Index Cond: " in line for line in plan), plan


def test_array(session, shop, orders):
    _, Order = shop
    _, first, second = orders
    session.get(Order, first).related = [second.lower(), None]
    session.commit()
    order = session.get(Order, first)
    assert order.related == [second, None]
    order.related = order.related + [first]
    session.commit()
    assert order.related == [second, None, first]
    assert session.scalars(select(Order.note).where(Order.related.contains([first]))).all() == ["first"]


def test_bulk_load(session, shop):
    _, Order = shop
    rows = [{"id": GIVEN, "note": "third"}, {"id": GIVEN[:-1] + "w", "note": "fourth"}]
    returned = session.scalars(insert(Order).returning(Order.id), rows).all()
    session.commit()
    assert sorted(returned) == [GIVEN, GIVEN[:-1] + "W"]


def test_literal(session, shop, native, orders):
    query = select(literal(orders[0], Ulid(native)) == shop[0].id).select_from(shop[0])
    sql = query.compile(session.get_bind(), compile_kwargs={"literal_binds": True})
    assert session.connection().exec_driver_sql(str(sql)).scalar() is True


def test_malformed_ids(session, shop, native, sample):
    _, Order = shop

    def insert(**values):
        try:
            session.add(Order(**values))
            session.commit()
        except StatementError as error:
            session.rollback()
            # with uuid columns, our own error, as the server accepts more
            assert isinstance(error, DBAPIError) == native and "for type ulid" in str(error), error

    sample.store(insert)


def test_asyncio(database, shop, native):
    Customer, Order = shop

    async def main(driver):
        engine = create_async_engine(f"postgresql+{driver}://", poolclass=NullPool)
        async with AsyncSession(engine) as session:
            ada = Customer(name="Ada")
            session.add(ada)
            await session.commit()
            ada_id = (await session.scalars(select(Customer.id))).one()
            order = Order(note=driver, customer_id=uuid.UUID(bytes=ulid.ULID.from_str(ada_id).bytes), related=[ada_id, None])
            session.add(order)
            await session.commit()
            session.expunge_all()
            order = (await session.scalars(select(Order).options(selectinload(Order.customer)))).one()
            assert order.customer.id == order.customer_id == ada_id and order.related == [ada_id, None]
            count = select(func.count()).select_from(Order).where(Order.id.within(datetime(2026, 1, 1, tzinfo=timezone.utc), None))
            assert await session.scalar(count) == 1
            assert (await session.get(Customer, ada_id.lower())).name == "Ada"
            with pytest.raises(StatementError):
                await session.get(Customer, "nonsense")
            await session.rollback()
            await session.delete(order)
            await session.commit()
            await session.delete(await session.get(Customer, ada_id))
            await session.commit()
        await engine.dispose()

    for driver in "psycopg", "asyncpg":
        asyncio.run(main(driver))


def test_malformed_ids_with_asyncpg(database, shop, sample):
    _, Order = shop

    async def main():
        engine = create_async_engine("postgresql+asyncpg://", poolclass=NullPool)
        async with AsyncSession(engine) as session:
            for note, given, _ in sample.rows:
                try:
                    session.add(Order(note=note, customer_id=None) if given is None else Order(note=note, id=given))
                    await session.commit()
                except StatementError as error:
                    await session.rollback()
                    assert "for type ulid" in str(error)
        await engine.dispose()

    asyncio.run(main())
    sample.compare()


def test_create_tables(session, engine, shop, native):
    session.execute(text("DROP TABLE orders, customer"))
    session.commit()
    Customer, Order = shop
    Customer.metadata.create_all(engine)
    columns = {column["name"]: column for column in inspect(engine).get_columns("orders")}
    assert str(columns["id"]["type"]) == ("ulid" if native else "UUID") and columns["id"]["default"] == "gen_ulid()"
    session.add(Order(customer=Customer(name="Ada")))
    session.commit()


def test_reflection(database, engine):
    reflected = Table("orders", MetaData(), autoload_with=engine)
    assert isinstance(reflected.c.id.type, Ulid) and isinstance(reflected.c.related.type, ARRAY)
    assert isinstance(reflected.c.related.type.item_type, Ulid)


def test_reflection_without_the_type(engine, monkeypatch):
    monkeypatch.delitem(ischema_names, "ulid")
    with pytest.warns(Warning, match="Did not recognize type 'ulid' of column"):
        Table("orders", MetaData(), autoload_with=engine)


def test_string_column(database):
    """What happens without the type: rows are not found by id."""
    orders = Table("orders", MetaData(), Column("id", String, primary_key=True))
    with create_engine("postgresql+psycopg://", poolclass=NullPool).connect() as connection:
        with pytest.raises(ProgrammingError, match="operator does not exist: ulid = character varying"):
            connection.execute(select(orders.c.id).where(orders.c.id == GIVEN))


def test_uuid_column(database):
    """What happens without the type: the value is the text of a ULID, no uuid.UUID."""
    orders = Table("orders", MetaData(), Column("id", Uuid, primary_key=True))
    with create_engine("postgresql+psycopg://", poolclass=NullPool).connect() as connection:
        connection.exec_driver_sql("INSERT INTO orders (id) VALUES (%s)", (GIVEN,))
        assert connection.execute(select(orders.c.id).where(orders.c.id == uuid.UUID(bytes=ulid.ULID.from_str(GIVEN).bytes))).scalar() == GIVEN


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2"])
def test_database_without_the_extension(empty_database, driver):
    with create_engine(f"postgresql+{driver}://", poolclass=NullPool).connect() as connection:
        assert connection.scalar(select(literal(1))) == 1


ALEMBIC_MODELS = """
from typing import Optional
from sqlalchemy import ARRAY, ForeignKey, Text, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from pg_ulid.sqlalchemy import Ulid

class Base(DeclarativeBase):
    pass

class Customer(Base):
    __tablename__ = "customer"
    id: Mapped[str] = mapped_column(Ulid({native}), primary_key=True, server_default=text("gen_ulid()"))
    name: Mapped[str] = mapped_column(Text)

class Order(Base):
    __tablename__ = "orders"
    id: Mapped[str] = mapped_column(Ulid({native}), primary_key=True, server_default=text("gen_ulid()"))
    customer_id: Mapped[Optional[str]] = mapped_column(Ulid({native}), ForeignKey("customer.id"))
    note: Mapped[Optional[str]] = mapped_column(Text)
    related: Mapped[Optional[list[str]]] = mapped_column(ARRAY(Ulid({native})))
"""
ALEMBIC_ENV = """
from alembic import context
from sqlalchemy import create_engine
from models import Base

with create_engine("postgresql+psycopg://").connect() as connection:
    context.configure(connection=connection, target_metadata=Base.metadata, compare_server_default=True)
    with context.begin_transaction():
        context.run_migrations()
"""


def test_alembic(database, native, tmp_path):
    def alembic(*arguments, fails=False):
        done = subprocess.run(
            [sys.executable, "-m", "alembic", *arguments], cwd=tmp_path, capture_output=True, text=True
        )
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done.stdout + done.stderr

    def written():
        [file] = (tmp_path / "migrations/versions").glob("*.py")
        return file.read_text()

    alembic("init", "migrations")
    (tmp_path / "migrations/env.py").write_text(ALEMBIC_ENV)
    (tmp_path / "models.py").write_text(ALEMBIC_MODELS.format(native=native))
    template = tmp_path / "migrations/script.py.mako"
    # the tables are as the models say: the first migration is empty
    alembic("revision", "--autogenerate", "-m", "first")
    assert "op." not in written()
    alembic("upgrade", "head")
    alembic("check")
    # in an empty database, the migration creates them; it needs an import
    for step in "without", "with":
        with psycopg.connect(autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS orders, customer, alembic_version")
        for file in (tmp_path / "migrations/versions").glob("*.py"):
            file.unlink()
        if step == "with":
            template.write_text(template.read_text().replace("import sqlalchemy as sa", "import sqlalchemy as sa\nimport pg_ulid.sqlalchemy"))
        alembic("revision", "--autogenerate", "-m", "tables")
        assert "sa.ARRAY(pg_ulid.sqlalchemy.Ulid(" + ("" if native else "native=False") + "))" in written()
        said = alembic("upgrade", "head", fails=step == "without")
        assert ("NameError: name 'pg_ulid' is not defined" in said) == (step == "without")
    alembic("check")
    with psycopg.connect(autocommit=True) as connection:
        connection.execute("INSERT INTO orders (note) VALUES ('default')")
        connection.execute("ALTER TABLE orders DROP CONSTRAINT orders_customer_id_fkey, ALTER customer_id TYPE text")
    assert "modify_type" in alembic("check", fails=True)
