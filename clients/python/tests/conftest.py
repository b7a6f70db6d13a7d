"""A database for each test, in the server that the environment variables PG* name."""

import itertools
import os
from pathlib import Path

import psycopg
import pytest

SAMPLE = Path(__file__).parents[3] / "tests/clients/sample.sql"
TABLES = """
CREATE EXTENSION {extension};
CREATE TABLE customer (id {type} PRIMARY KEY DEFAULT gen_ulid(), name text NOT NULL);
CREATE TABLE orders (
    id {type} PRIMARY KEY DEFAULT gen_ulid(),
    customer_id {type} REFERENCES customer,
    note text,
    related {type}[]
);
"""
numbers = itertools.count()


def administer(statement):
    with psycopg.connect(dbname="postgres", autocommit=True) as connection:
        connection.execute(statement)


@pytest.fixture(scope="session")
def template():
    """Return a function that returns the name of a database with tables of ulid columns, or of uuid columns and ulid_sql."""
    made = {}

    def make(native):
        if native not in made:
            name = made[native] = f"pg_ulid_{os.getpid()}_{'native' if native else 'uuid'}"
            administer(f"CREATE DATABASE {name}")
            with psycopg.connect(dbname=name) as connection:
                extension, type_name = ("ulid", "ulid") if native else ("ulid_sql", "uuid")
                connection.execute(TABLES.format(extension=extension, type=type_name))
                connection.execute(SAMPLE.read_text())
        return made[native]

    yield make
    for name in made.values():
        administer(f"DROP DATABASE {name}")


@pytest.fixture(params=[True, False], ids=["native", "uuid"])
def native(request):
    """Run a test twice: with columns of the type ulid, and with uuid columns and ulid_sql."""
    return request.param


def copy_of(template, monkeypatch):
    name = f"pg_ulid_{os.getpid()}_{next(numbers)}"
    administer(f"CREATE DATABASE {name} TEMPLATE {template}")
    monkeypatch.setenv("PGDATABASE", name)
    yield name
    administer(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def database(request, template, monkeypatch):
    native = request.getfixturevalue("native") if "native" in request.fixturenames else True
    yield from copy_of(template(native), monkeypatch)


@pytest.fixture
def empty_database(monkeypatch):
    yield from copy_of("template1", monkeypatch)


class Sample:
    """Ids from outside, most of them malformed."""

    def __init__(self, connection):
        self.connection = connection
        self.rows = connection.execute("SELECT note, given, verdict FROM sample.given").fetchall()
        assert len(self.rows) > 30 and sum(verdict is not None for _, _, verdict in self.rows) == 6

    def store(self, insert):
        """Insert an order with each as its id, or with no customer if it is null."""
        for note, given, _ in self.rows:
            insert(note=note, **({"customer_id": None} if given is None else {"id": given}))
        self.compare()

    def compare(self):
        """Raise an error unless the orders have the ids that the server makes of the texts."""
        assert self.connection.execute("SELECT sample.compare()").fetchone() == ("equal",)


@pytest.fixture
def sample(database):
    with psycopg.connect(autocommit=True) as connection:
        yield Sample(connection)
