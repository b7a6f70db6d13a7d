"""The programs in README.md and docs/consumers.md run as they are, in an empty database."""

import os
import re
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from conftest import CASES

README = Path(__file__).parents[1] / "README.md"
CONSUMERS = Path(__file__).parents[3] / "docs/consumers.md"
BLOCK = re.compile(r"^```python(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def sections():
    """The blocks of Python below each heading, with the names of their files."""
    _, *parts = re.split(r"^## (.+)\n", README.read_text(), flags=re.MULTILINE)
    return {title: BLOCK.findall(body) for title, body in zip(parts[::2], parts[1::2]) if BLOCK.search(body)}


PROGRAMS = sections()
EXAMPLES = README.parent / "examples"
for title in "SQLModel", "Peewee", "Tortoise ORM":
    PROGRAMS[title] = [("", (EXAMPLES / f"orm_{title.split()[0].lower()}.py").read_text())]
SETTINGS = """
import os
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"]}}
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.postgres", "pg_ulid.django", "shop"]
USE_TZ = True
"""


def python(directory, *arguments):
    path = os.pathsep.join([str(directory), os.environ.get("PYTHONPATH", "")])
    environment = dict(os.environ, DJANGO_SETTINGS_MODULE="settings", PYTHONPATH=path)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=directory, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def notes(table="orders"):
    with psycopg.connect() as connection:
        return [note for (note,) in connection.execute(f"SELECT note FROM {table} ORDER BY id")]


@pytest.mark.parametrize("title", ["psycopg 3", "psycopg2", "asyncpg", "SQLAlchemy", "SQLModel", "Peewee", "Tortoise ORM"])
def test_program(title, empty_database, tmp_path):
    [(_, program)] = PROGRAMS[title]
    names = [os.environ.get(name, "") for name in ("PGUSER", "PGPASSWORD", "PGHOST", "PGPORT")]
    program = program.replace("asyncpg://localhost/shop", "asyncpg://{}:{}@{}:{}/".format(*names) + empty_database)
    program = program.replace('"shop"', repr(empty_database))
    (tmp_path / "main.py").write_text(program)
    python(tmp_path, "main.py")
    assert notes('"order"' if title in ("Peewee", "Tortoise ORM") else "orders") == ["loaded", "first"]


def django(tmp_path, blocks, settings=SETTINGS):
    """Run the programs of a project, and return what the last one prints."""
    (tmp_path / "shop/migrations").mkdir(parents=True)
    for file in "shop/__init__.py", "shop/migrations/__init__.py":
        (tmp_path / file).touch()
    (tmp_path / "settings.py").write_text(settings)
    for file, block in blocks:
        (tmp_path / (file or "main.py")).write_text("" if file else "import django\ndjango.setup()\n")
        with open(tmp_path / (file or "main.py"), "a") as out:
            out.write(block)
    python(tmp_path, "-m", "django", "makemigrations", "shop")
    python(tmp_path, "-m", "django", "migrate")
    python(tmp_path, "-m", "django", "makemigrations", "--check")
    return python(tmp_path, "main.py")


def test_django(empty_database, tmp_path):
    django(tmp_path, PROGRAMS["Django"])
    assert notes("shop_order") == ["loaded", "first"]


def test_django_with_ulid_sql(empty_database, tmp_path):
    (tmp_path / "ulid_sql.sql").write_text((CASES.parents[1] / "sql/ulid_sql.sql").read_text())
    [script] = [block for block in PROGRAMS["uuid columns"] if block[0]]
    _, *blocks = [(file, block.replace("UlidField(", "UlidField(native=False, ")) for file, block in PROGRAMS["Django"]]
    options = re.search(r'`("OPTIONS": .*?)`', README.read_text())[1]
    name = 'os.environ["PGDATABASE"]'
    django(tmp_path, [script, *blocks], SETTINGS.replace(name, f"{name}, {options}"))
    assert notes("shop_order") == ["loaded", "first"]


def test_django_generic_relations(empty_database, tmp_path, monkeypatch):
    extension = [block for block in PROGRAMS["Django"] if block[0].endswith("0001_extension.py")]
    monkeypatch.setenv("PGOPTIONS", "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off")
    program = EXAMPLES / "generic_relations"
    blocks = [("shop/models.py", (program / "models.py").read_text()), ("", (program / "main.py").read_text())]
    plan = django(tmp_path, extension + blocks)
    assert "Index Cond: (id = shop_tag.object_ulid)" in plan
    with psycopg.connect() as connection:
        tags = connection.execute("SELECT object_id = object_ulid::text FROM shop_tag ORDER BY id").fetchall()
    assert tags == [(True,), (None,)]


def test_alembic(empty_database, tmp_path):
    [(mako, imported), (_, statement)] = PROGRAMS["Alembic"]
    python(tmp_path, "-m", "alembic", "init", "migrations")
    (tmp_path / "models.py").write_text(PROGRAMS["SQLAlchemy"][0][1].partition("engine =")[0])
    included = re.search(r"`(include_name=.*?)`", README.read_text())[1]
    template = tmp_path / "migrations" / mako
    template.write_text(template.read_text().replace("import sqlalchemy as sa\n", "import sqlalchemy as sa\n" + imported))
    (tmp_path / "migrations/env.py").write_text(
        "from alembic import context\nfrom sqlalchemy import create_engine\nfrom models import Base\n"
        'with create_engine("postgresql+psycopg://").connect() as connection:\n'
        "    context.configure(connection=connection, target_metadata=Base.metadata,\n"
        f"        {included})\n"
        "    with context.begin_transaction():\n"
        "        context.run_migrations()\n"
    )
    python(tmp_path, "-m", "alembic", "revision", "--autogenerate", "-m", "first")
    [first] = (tmp_path / "migrations/versions").glob("*.py")
    upgrade = 'def upgrade() -> None:\n    """Upgrade schema."""\n'
    assert upgrade in first.read_text()
    first.write_text(first.read_text().replace(upgrade, f"{upgrade}    {statement}"))
    python(tmp_path, "-m", "alembic", "upgrade", "head")
    python(tmp_path, "-m", "alembic", "check")
    assert notes() == []


def test_consumer(tmp_path):
    programs = dict(BLOCK.findall(CONSUMERS.read_text()))
    assert set(programs) == {"", "standby"}
    for place, program in programs.items():
        (tmp_path / "main.py").write_text(program)
        command = [sys.executable, "-u", tmp_path / "main.py"]
        subprocess.run([CASES.parent / "test-consumer", *place.split(), *command], check=True, timeout=600)


def test_conversions(tmp_path):
    [program] = [block for file, block in PROGRAMS["uuid columns"] if not file]
    first, *lines = [line for line in program.splitlines() if line]
    namespace = {}
    exec(first, namespace)
    for line in lines:
        expression, _, result = line.partition("#")
        assert repr(eval(expression, namespace)) == result.strip()


def test_every_program_is_run():
    run = {"psycopg 3", "psycopg2", "asyncpg", "SQLAlchemy", "SQLModel", "Peewee", "Tortoise ORM", "Django", "Alembic"}
    assert set(PROGRAMS) == run | {"Poll a table", "uuid columns"}  # both by other tests

