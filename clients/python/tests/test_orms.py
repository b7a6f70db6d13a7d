"""What only an ORM has: reflection, schema tools, forms; and what happens without the package."""

import asyncio
import io
import os
import subprocess
import sys
import uuid
from datetime import datetime, timezone

import psycopg
import pytest
from conftest import compare
from pg_ulid import to_uuid
from pg_ulid.sqlalchemy import Ulid, ischema_names
from sqlalchemy import ARRAY, Column, DateTime, ForeignKey, MetaData, String, Table, Uuid
from sqlalchemy import bindparam, create_engine, func, insert, inspect, literal, select
from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship, selectinload
from sqlalchemy.pool import NullPool
from test_readme import PROGRAMS
from tools import MODELS, Django

GIVEN = "01ARYZ6S41TSV4RRFFQ69G5FAV"
both = pytest.mark.parametrize("native", [True, False], ids=["ulid", "uuid"], indirect=True)
YEAR = datetime(2026, 1, 1, tzinfo=timezone.utc)


@pytest.fixture
def engine(database):
    return create_engine("postgresql+psycopg://", poolclass=NullPool)


@pytest.fixture
def django_orders(database, native):
    tool = Django(native)
    yield tool.Order
    tool.close()


def check_consumer(title, names, arguments, insert):
    """poll of README.md reads the orders that have a note, once and in order, also those that are committed late."""
    read = []
    names = {**names, "print": lambda *row: read.append(row)}
    exec(dict(PROGRAMS["Poll a table"])[title], names)
    with psycopg.connect(autocommit=True) as db, psycopg.connect() as late:
        db.execute("CALL ulid_refresh_horizon()")
        db.execute("SELECT ulid_create_consumer('mail', 'orders')")
        for number in range(8):  # often enough for psycopg to prepare the statements
            late.execute("INSERT INTO orders (note) VALUES ('late')")
            insert(f"number {number}")
            assert not names["poll"](*arguments)
            late.rollback() if number == 5 else late.commit()
            assert names["poll"](*arguments) and len(read) == 2 * number + (1 if number >= 5 else 2)
            position = db.execute("SELECT position FROM ulid_consumer").fetchone()
            insert(None)
            assert names["poll"](*arguments) and not names["poll"](*arguments)
            assert db.execute("SELECT position FROM ulid_consumer").fetchone() > position
        rows = db.execute("SELECT ulid_to_text(id), note FROM orders WHERE note IS NOT NULL ORDER BY id")
        assert read == rows.fetchall()
    return names["poll"]


@both
def test_sqlalchemy_conditions_use_the_index(engine, native):
    Order = MODELS[native][1]
    with Session(engine) as session:
        connection = session.connection()
        connection.exec_driver_sql("SET enable_seqscan = off; SET enable_bitmapscan = off")
        for condition in Order.id.within(YEAR, None), Order.id.starts_with("01"):
            query = select(Order.id).where(condition).compile(session.get_bind())
            plan = connection.exec_driver_sql(f"EXPLAIN {query}", query.params).scalars().all()
            assert any("Index Cond: " in line for line in plan), plan
        compared = select(literal(GIVEN, Ulid(native)) == literal(GIVEN.lower(), Ulid(native)))
        assert connection.exec_driver_sql(str(compared.compile(engine, compile_kwargs={"literal_binds": True}))).scalar()


def test_sqlalchemy_literals_keep_a_percent_sign(engine):
    # psycopg formats statements, so a % in a literal has to be doubled
    with engine.connect() as connection:
        for text in ("50%", "%s"):
            given = bindparam(None, text, Ulid(), literal_execute=True)
            assert connection.scalar(select(given, bindparam("n", 1))) == text


@both
def test_sqlalchemy_creates_and_reflects_tables(engine, native, monkeypatch):
    Customer, Order = MODELS[native]
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE orders, customer")
    Order.metadata.create_all(engine)
    [column] = [column for column in inspect(engine).get_columns("orders") if column["name"] == "id"]
    assert str(column["type"]) == ("ulid" if native else "UUID") and column["default"] == "gen_ulid()"
    if native:
        reflected = Table("orders", MetaData(), autoload_with=engine)
        assert isinstance(reflected.c.related.type, ARRAY) and isinstance(reflected.c.related.type.item_type, Ulid)
        monkeypatch.delitem(ischema_names, "ulid")
        with pytest.warns(Warning, match="Did not recognize type 'ulid' of column"):
            Table("orders", MetaData(), autoload_with=engine)


@both
@pytest.mark.parametrize("driver", ["psycopg", "psycopg2", "asyncpg"])
def test_sqlalchemy_finds_the_rows_of_a_flush(database, native, driver):
    # SQLAlchemy looks for each returned row by the id that was given
    class Base(DeclarativeBase):
        pass

    class Visit(Base):
        __tablename__ = "visit"
        id: Mapped[str] = mapped_column("visit_id", Ulid(native), primary_key=True)
        note: Mapped[str]
        made: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())

    forms = [str.lower, to_uuid, lambda id: str(to_uuid(id)), lambda id: to_uuid(id).hex, str]
    ids = [f"{GIVEN[:-2]}{n:02}" for n in range(15)]
    given = [forms[n % 5](id) for n, id in enumerate(ids)]

    def use(session):
        Base.metadata.create_all(session.connection())
        visits = [Visit(id=id, note=ids[n]) for n, id in enumerate(given[:10])]
        session.add_all(visits)
        session.flush()
        assert all(visit.made for visit in visits)
        returning = insert(Visit).returning(Visit.id, Visit.note, Visit.made, sort_by_parameter_order=True)
        rows = session.execute(returning, [{"id": given[n], "note": ids[n]} for n in (14, 10, 12, 11, 13)]).all()
        assert [row.id for row in rows] == [row.note for row in rows] == [ids[n] for n in (14, 10, 12, 11, 13)]
        statement = insert(Visit.__table__).returning(Visit.__table__.c.visit_id, sort_by_parameter_order=True)
        with pytest.raises(IntegrityError):
            session.connection().execute(statement, [{"visit_id": given[n], "note": "again"} for n in (0, 1)])
        session.rollback()

    async def use_async():
        async with AsyncSession(create_async_engine("postgresql+asyncpg://", poolclass=NullPool)) as session:
            await session.run_sync(use)

    if driver == "asyncpg":
        asyncio.run(use_async())
    else:
        with Session(create_engine(f"postgresql+{driver}://", poolclass=NullPool)) as session:
            use(session)


@both
def test_sqlalchemy_relates_what_is_given_in_another_form(engine, native):
    class Base(DeclarativeBase):
        pass

    class Customer(Base):
        __tablename__ = "customer"
        id: Mapped[str] = mapped_column(Ulid(native), primary_key=True)
        name: Mapped[str]

    class Order(Base):
        __tablename__ = "orders"
        id: Mapped[str] = mapped_column(Ulid(native), primary_key=True)
        customer_id: Mapped[str] = mapped_column(Ulid(native), ForeignKey("customer.id"))
        customer: Mapped[Customer] = relationship()

    with Session(engine) as session:
        session.add_all([Customer(id=GIVEN.lower(), name="Ada"), Order(id=to_uuid(GIVEN), customer_id=GIVEN.lower())])
        session.flush()
        order = session.scalar(select(Order).options(selectinload(Order.customer)))
        assert order is session.get(Order, GIVEN) and order.customer.name == "Ada" and order.id == GIVEN


@both
@pytest.mark.parametrize("driver", ["psycopg", "psycopg2"])
def test_sqlalchemy_consumer(database, native, driver):
    engine = create_engine(f"postgresql+{driver}://", pool_size=1, max_overflow=0)
    Order = MODELS[native][1]

    def insert(note):
        with Session(engine) as session, session.begin():
            session.add(Order(note=note))

    with engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE orders ALTER COLUMN id SET DEFAULT gen_ordered_ulid()")
    poll = check_consumer("sqlalchemy", {"Order": Order, "Session": Session}, [engine], insert)
    with pytest.raises(DBAPIError, match="READ COMMITTED"):
        poll(engine.execution_options(isolation_level="REPEATABLE READ"))
    engine.dispose()


def test_sqlalchemy_without_the_package(engine):
    orders = Table("orders", MetaData(), Column("id", String, primary_key=True))
    with engine.connect() as connection:
        with pytest.raises(ProgrammingError, match="operator does not exist: ulid = character varying"):
            connection.execute(select(orders.c.id).where(orders.c.id == GIVEN))
        connection.rollback()
        connection.exec_driver_sql("INSERT INTO orders (id) VALUES (%s)", (GIVEN,))
        orders = Table("orders", MetaData(), Column("id", Uuid, primary_key=True))
        assert connection.execute(select(orders.c.id)).scalar() == GIVEN  # and no uuid.UUID


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2"])
def test_sqlalchemy_in_a_database_without_the_extension(empty_database, driver):
    with create_engine(f"postgresql+{driver}://", poolclass=NullPool).connect() as connection:
        assert connection.scalar(select(literal(1))) == 1


@both
def test_django_conditions_use_the_index(django_orders):
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        cursor.execute("SET enable_bitmapscan = off")
    for lookup in {"id__within": (YEAR, None)}, {"id__starts_with": "01"}:
        assert "Index Cond: " in django_orders.objects.filter(**lookup).explain()


@both
def test_django_consumer(django_orders, native):
    from django.db import connection, transaction
    from django.db.utils import Error
    from pg_ulid.django import GenUlid, UlidField

    ordered = UlidField(primary_key=True, native=native, db_default=GenUlid(function="gen_ordered_ulid"))
    ordered.set_attributes_from_name("id")
    ordered.model = django_orders
    with connection.schema_editor() as editor:
        editor.alter_field(django_orders, django_orders._meta.pk, ordered)
    poll = check_consumer("django", {"Order": django_orders}, [], lambda note: django_orders.objects.create(note=note))
    with pytest.raises(Error, match="invalid transaction termination"), transaction.atomic():
        poll()


@both
def test_django_lookups_and_serializers(django_orders, native):
    from django.core import serializers
    from django.db import connection, models
    from django.db.models.functions import Now
    from pg_ulid.django import UlidExtension

    # what migrations write
    assert django_orders._meta.pk.clone().db_type(connection) == ("ulid" if native else "uuid")
    assert UlidExtension(native).name == ("ulid" if native else "ulid_sql")

    others = [GIVEN.lower(), str(to_uuid(GIVEN[:-1] + "W"))]
    ada = Django(native).Customer.objects.create(name="Ada")
    first = django_orders.objects.create(customer_id=ada.id.lower(), note="first", related=[GIVEN])
    assert first.id in django_orders.objects.in_bulk([first.id.lower()])
    assert [list(found.orders.all()) for found in type(ada).objects.prefetch_related("orders")] == [[first]]
    assert type(ada).objects.get(orders__related__contains=[GIVEN]) == ada
    second, third = django_orders.objects.bulk_create([django_orders(id=id, customer_id=ada.id.lower()) for id in others])
    assert (second.customer, third.customer) == (ada, ada)
    second, third = django_orders.objects.filter(id__in=others)
    second.customer_id = ada.id.lower()
    models.prefetch_related_objects([second, third], "customer")
    assert (second.customer, third.customer) == (None, ada)  # Django compares the keys as they were given
    django_orders.objects.filter(id__in=others).delete()
    window = models.F("id"), None
    with pytest.raises(Exception, match="tstzrange"):
        django_orders.objects.filter(id__within=window).exists()
    assert django_orders.objects.exclude(customer__id__within=(None, Now())).count() == 0
    dumped = serializers.serialize("json", [first])
    first.delete()
    for restored in serializers.deserialize("json", dumped):
        restored.save()
    assert django_orders.objects.get().related == [GIVEN]


@both
@pytest.mark.parametrize("form", [False, True], ids=["full_clean", "form"])
def test_django_validation(django_orders, cases, form):
    from django.core.exceptions import ValidationError
    from django.forms import modelform_factory

    OrderForm = modelform_factory(django_orders, fields=["id", "note"])
    for note, given, verdict in cases:
        if given is None:
            django_orders.objects.create(note=note)
        elif form:
            filled = OrderForm({"note": note, "id": given})
            assert filled.is_valid() == (verdict is not None)
            if verdict:
                filled.save()
            else:
                assert list(filled.errors) == ["id"]
        else:
            order = django_orders(note=note, id=given, related=[given])
            if verdict:
                order.full_clean()
                order.save(force_insert=True)
            else:
                for refused in order, django_orders(note=note, related=[given]):
                    with pytest.raises(ValidationError, match="is not a valid ULID"):
                        refused.full_clean()
    compare()
    empty = modelform_factory(django_orders, fields=["customer", "note", "related"])({"note": "empty"})
    assert empty.is_valid() and empty.save().customer is None


def test_django_uuid_field_over_a_ulid_column(django_orders):
    from django.apps import apps
    from django.core.exceptions import ValidationError
    from django.db import models

    class WithUuid(models.Model):
        id = models.UUIDField(primary_key=True)
        note = models.TextField(null=True)

        class Meta:
            app_label, db_table, managed = "shop", "orders", False

    django_orders.objects.create(note="first")
    assert not WithUuid.objects.filter(id=uuid.UUID(int=0)).exists()
    with pytest.raises(ValidationError, match="is not a valid UUID"):
        WithUuid.objects.first().save()
    del apps.all_models["shop"]["withuuid"]


def test_django_inspects_and_registers(empty_database):
    """The connection that runs CREATE EXTENSION reads arrays afterwards; inspectdb writes models that run."""
    from django.apps import apps
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.state import ProjectState

    import pg_ulid.django

    connection.settings_dict["NAME"] = empty_database
    with connection.schema_editor(atomic=False) as editor:
        pg_ulid.django.UlidExtension().database_forwards("shop", editor, ProjectState(), ProjectState())
    with connection.cursor() as cursor:
        cursor.execute("SELECT ARRAY[%s::ulid]", [GIVEN])
        assert cursor.fetchone() == ([GIVEN],)
        cursor.execute("CREATE TABLE one (id ulid PRIMARY KEY DEFAULT gen_ulid())")
    inspected = io.StringIO()
    call_command("inspectdb", "one", stdout=inspected)
    assert "pg_ulid.django.UlidField" not in type(connection.introspection).data_types_reverse.values()
    connection.close()
    namespace = {"pg_ulid": pg_ulid, "__name__": "shop.models"}
    exec(inspected.getvalue(), namespace)
    assert isinstance(namespace["One"]._meta.pk, pg_ulid.django.UlidField)
    del apps.all_models["shop"]["one"]


def test_peewee_and_tortoise_without_a_field(database):
    written = subprocess.run([sys.executable, "-m", "pwiz", "-e", "postgresql", database], capture_output=True, text=True)
    assert "id = UnknownField(" in written.stdout


def test_annotations(tmp_path):
    command = [sys.executable, "-m", "mypy", f"--cache-dir={tmp_path}"]
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.stdout.startswith("Success: no issues found in 8 source files"), done.stdout + done.stderr
