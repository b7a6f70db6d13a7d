"""What only an ORM has: reflection, schema tools, forms; and what happens without the package."""

import io
import os
import subprocess
import sys
import uuid
from datetime import datetime, timezone

import psycopg
import pytest
from conftest import compare
from pg_ulid.sqlalchemy import Ulid, ischema_names
from sqlalchemy import ARRAY, Column, MetaData, String, Table, Uuid
from sqlalchemy import bindparam, create_engine, inspect, literal, select
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool
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
def test_django_lookups_and_serializers(django_orders, native):
    from django.core import serializers
    from django.db import connection, models
    from django.db.models.functions import Now
    from pg_ulid.django import UlidExtension

    # what migrations write
    assert django_orders._meta.pk.clone().db_type(connection) == ("ulid" if native else "uuid")
    assert UlidExtension(native).name == ("ulid" if native else "ulid_sql")

    ada = Django(native).Customer.objects.create(name="Ada")
    first = django_orders.objects.create(customer_id=ada.id.lower(), note="first", related=[GIVEN])
    assert first.id in django_orders.objects.in_bulk([first.id.lower()])
    assert [list(found.orders.all()) for found in type(ada).objects.prefetch_related("orders")] == [[first]]
    assert type(ada).objects.get(orders__related__contains=[GIVEN]) == ada
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
