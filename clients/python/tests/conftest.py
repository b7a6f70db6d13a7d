"""A database for each test, in the server that the environment variables PG* name."""

import itertools
import os
from pathlib import Path

import psycopg
import pytest

CASES = Path(__file__).parents[2] / "cases.sql"
numbers = itertools.count()


def administer(statement):
    with psycopg.connect(dbname="postgres", autocommit=True) as connection:
        connection.execute(statement)


@pytest.fixture
def empty_database(monkeypatch):
    name = f"pg_ulid_{os.getpid()}_{next(numbers)}"
    administer(f"CREATE DATABASE {name}")
    monkeypatch.setenv("PGDATABASE", name)
    yield name
    administer(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def native(request):
    """Whether the database has columns of the type ulid, or uuid columns and ulid_sql."""
    return getattr(request, "param", True)


@pytest.fixture
def database(empty_database, native):
    with psycopg.connect() as connection:
        connection.execute("CREATE EXTENSION " + ("ulid" if native else "ulid_sql"))
        connection.execute(CASES.read_text())
    return empty_database


@pytest.fixture
def cases(database):
    """Ids from outside, with what the server makes of them; None: it refuses them."""
    with psycopg.connect() as connection:
        rows = connection.execute("SELECT note, given, verdict FROM cases.given").fetchall()
    assert len(rows) == 52 and sum(verdict is not None for _, _, verdict in rows) == 11
    return rows


def compare(arrays=False):
    """Raise an error unless the orders have the ids that the server makes of the texts."""
    with psycopg.connect() as connection:
        connection.execute("SELECT cases.compare(%s)", [arrays])
