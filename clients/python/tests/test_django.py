import io
import os
import shutil
import subprocess
import sys
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path

import django
import psycopg
import pytest
import ulid
from django.apps import apps
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core import serializers
from django.db import DataError, connection, models, transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.db.models.functions import Now
from django.forms import modelform_factory
from pg_ulid import canonical

GIVEN = "01ARYZ6S41TSV4RRFFQ69G5FAV"

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "set by the fixture below"}},
    INSTALLED_APPS=["pg_ulid.django", "shop", "shop_uuid"],
    USE_TZ=True,
    SILENCED_SYSTEM_CHECKS=["models.E028"],  # the apps have the same tables, in different databases
)
django.setup()


@pytest.fixture
def shop(database, native):
    settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = database
    app = apps.get_app_config("shop" if native else "shop_uuid")
    yield app.get_model("Customer"), app.get_model("Order")
    connection.close()


@pytest.fixture
def orders(shop):
    Customer, Order = shop
    ada = Customer.objects.create(name="Ada")
    first = Order.objects.create(customer=ada, note="first")
    second = Order.objects.create(customer_id=ada.id.lower(), note="second")
    return ada, first, second


def test_find(shop, orders):
    Customer, Order = shop
    ada, first, second = orders
    assert all(isinstance(order.id, str) and canonical(order.id) == order.id for order in orders)
    assert Order.objects.get(id=first.id).note == "first"
    assert Order.objects.filter(id__in=[first.id, second.id.lower()]).count() == 2
    assert set(Order.objects.in_bulk([first.id.lower(), second.id])) == {first.id, second.id}
    assert [len(customer.orders.all()) for customer in Customer.objects.prefetch_related("orders")] == [2]
    assert Customer.objects.get(orders__note="second") == ada
    assert Order.objects.filter(id__gt=first.id, id__lte=second.id).exists() == (second.id > first.id)
    assert list(Order.objects.values_list("customer_id", flat=True).distinct()) == [ada.id]


def test_other_forms_of_an_id(shop, orders):
    Customer, Order = shop
    ada = orders[0]
    as_uuid = uuid.UUID(bytes=ulid.ULID.from_str(ada.id).bytes)
    for value in as_uuid, str(as_uuid), ada.id.lower(), ulid.ULID.from_str(ada.id):
        assert Customer.objects.get(id=value) == ada
        assert Order.objects.filter(customer_id=value).count() == 2


def test_window(shop, orders):
    Customer, Order = shop
    now, hour = datetime.now(timezone.utc), timedelta(hours=1)
    count = lambda window: Order.objects.filter(id__within=window).count()  # noqa: E731
    assert count((now - hour, now + hour)) == count([now - hour, None]) == count((Now() - hour, Now() + hour)) == 2
    assert count((None, now - hour)) == 0
    assert count(DateTimeTZRange(now - hour, now + hour, "[]")) == 2
    assert Order.objects.exclude(id__within=(None, now - hour)).count() == 2
    assert Order.objects.filter(customer__id__within=(now - hour, None)).count() == 2


def test_prefix(shop, orders):
    _, Order = shop
    assert Order.objects.get(id__starts_with=orders[1].id.lower()).note == "first"
    assert not Order.objects.filter(id__starts_with="7").exists()
    with pytest.raises(DataError, match="invalid prefix of a ulid"), transaction.atomic():
        Order.objects.filter(id__starts_with="01U").exists()


@pytest.mark.parametrize("lookup", [{"id__within": (datetime(2026, 1, 1, tzinfo=timezone.utc), None)}, {"id__starts_with": "01"}])
def test_window_and_prefix_use_the_index(shop, orders, lookup):
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        cursor.execute("SET enable_bitmapscan = off")
    assert "Index Cond: " in shop[1].objects.filter(**lookup).explain()


def test_array(shop, orders):
    _, Order = shop
    _, first, second = orders
    first.related = [second.id.lower(), second.id]
    first.save()
    assert Order.objects.get(id=first.id).related == [second.id, second.id]
    assert Order.objects.get(related__contains=[second.id]) == first
    first.related = ["nonsense"]
    with pytest.raises(ValidationError, match="is not a valid ULID"):
        first.full_clean()


def test_bulk_load(shop, orders):
    _, Order = shop
    made = Order.objects.bulk_create([Order(note="third"), Order(id=GIVEN.lower(), note="fourth")])
    assert Order.objects.count() == 4 and Order.objects.get(note="fourth").id == GIVEN
    assert isinstance(made[0].id, str) == (django.VERSION >= (6,))  # Django 5 does not read back what the server made
    Order.objects.filter(note="fourth").update(related=[GIVEN])
    assert Order.objects.get(related=[GIVEN]).note == "fourth"


def test_malformed_ids(shop, sample):
    def insert(id=None, **values):
        order = shop[1](note=values["note"], id=GIVEN if id is None else id)
        try:
            order.full_clean()
            order.save(force_insert=True)
        except ValidationError as error:
            assert "is not a valid ULID" in str(error)

    sample.store(insert)


def test_malformed_ids_without_full_clean(shop, sample):
    def insert(**values):
        try:
            shop[1].objects.create(**values)
        except ValidationError as error:
            assert "is not a valid ULID" in str(error)

    sample.store(insert)
    for _, given, verdict in sample.rows:
        if given is not None and verdict is None:
            with pytest.raises(ValidationError):
                shop[1].objects.filter(id=given).exists()


def test_malformed_ids_in_a_form(shop, sample):
    OrderForm = modelform_factory(shop[1], fields=["id", "note"])

    def insert(note, **values):
        form = OrderForm({"note": note, "id": values.get("id", GIVEN)})
        if form.is_valid():
            form.save()
        else:
            assert list(form.errors) == ["id"]

    sample.store(insert)


def test_empty_form_field(shop):
    Order = shop[1]
    form = modelform_factory(Order, fields=["customer", "note", "related"])({"note": "empty"})
    assert form.is_valid(), form.errors
    assert form.save().customer is None


def test_dump_and_load(shop, orders):
    _, Order = shop
    dumped = serializers.serialize("json", Order.objects.all())
    Order.objects.all().delete()
    for restored in serializers.deserialize("json", dumped):
        restored.save()
    assert {order.id for order in Order.objects.all()} == {orders[1].id, orders[2].id}


def test_uuid_field_instead(database):
    """What happens with a UUIDField over a ulid column: its value is the text of a ULID, and saving fails."""
    connection.settings_dict["NAME"] = database

    class WithUuid(models.Model):
        id = models.UUIDField(primary_key=True)
        note = models.TextField(null=True)

        class Meta:
            app_label, db_table, managed = "shop", "orders", False

    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO orders DEFAULT VALUES")
    assert not WithUuid.objects.filter(id=uuid.UUID(int=0)).exists()
    with pytest.raises(ValidationError, match="is not a valid UUID"):
        WithUuid.objects.first().save()
    connection.close()
    del apps.all_models["shop"]["withuuid"]


SETTINGS = """
DATABASES = {{"default": {{"ENGINE": "django.db.backends.postgresql", "NAME": "{database}"}}}}
INSTALLED_APPS = ["django.contrib.postgres", "pg_ulid.django", "{app}"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
"""
EXTENSION = """
from django.db import migrations
from pg_ulid.django import UlidExtension

class Migration(migrations.Migration):
    operations = [UlidExtension({native})]
"""


def test_schema_tools(empty_database, native, tmp_path):
    app = "shop" if native else "shop_uuid"

    def manage(*arguments):
        path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        environment = dict(os.environ, DJANGO_SETTINGS_MODULE="settings", PYTHONPATH=path)
        done = subprocess.run(
            [sys.executable, "-m", "django", *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    migrations = tmp_path / app / "migrations"
    migrations.mkdir(parents=True)
    (tmp_path / "settings.py").write_text(SETTINGS.format(database=empty_database, app=app))
    for file in "__init__.py", "models.py":
        shutil.copy(Path(__file__).parent / app / file, tmp_path / app)
    (migrations / "__init__.py").touch()
    (migrations / "0001_extension.py").write_text(EXTENSION.format(native="" if native else "native=False"))
    manage("makemigrations", app)
    [written] = migrations.glob("0002*.py")
    assert ("native=False" in written.read_text()) != native
    manage("migrate")
    manage("makemigrations", "--check")
    with psycopg.connect() as connection:
        types = "SELECT DISTINCT udt_name FROM information_schema.columns WHERE table_name = 'orders' ORDER BY 1"
        name = "ulid" if native else "uuid"
        assert connection.execute(types).fetchall() == [(f"_{name}",), ("text",), (name,)]
        assert connection.execute("INSERT INTO orders DEFAULT VALUES RETURNING id").rowcount == 1
    inspected = manage("inspectdb", "orders")
    field = "pg_ulid.django.UlidField" if native else "models.UUIDField"
    assert f"    id = {field}(primary_key=True)\n" in inspected, inspected
    assert "customer = models.ForeignKey(" in inspected
    manage("migrate", app, "zero")


def test_inspected_models_run(empty_database, tmp_path):
    """inspectdb writes the name with its module, as it does for the fields of django.contrib.postgres."""
    import pg_ulid.django

    with psycopg.connect() as direct:
        direct.execute("CREATE EXTENSION ulid")
        direct.execute("CREATE TABLE one (id ulid PRIMARY KEY DEFAULT gen_ulid())")
    connection.settings_dict["NAME"] = empty_database
    inspected = io.StringIO()
    call_command("inspectdb", "one", stdout=inspected)
    connection.close()
    namespace = {"pg_ulid": pg_ulid, "__name__": "shop.models"}
    exec(inspected.getvalue(), namespace)
    assert isinstance(namespace["One"]._meta.pk, pg_ulid.django.UlidField)
    del apps.all_models["shop"]["one"]


def test_extension_and_arrays_in_one_connection(empty_database):
    """The connection that runs CREATE EXTENSION reads arrays afterwards."""
    from django.db.migrations.state import ProjectState
    from pg_ulid.django import UlidExtension

    connection.settings_dict["NAME"] = empty_database
    with connection.schema_editor(atomic=False) as editor:
        UlidExtension().database_forwards("shop", editor, ProjectState(), ProjectState())
    with connection.cursor() as cursor:
        cursor.execute("SELECT ARRAY[%s::ulid]", [GIVEN])
        assert cursor.fetchone() == ([GIVEN],)
    connection.close()
