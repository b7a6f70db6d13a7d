"""What the drivers do without the package, and what only they have."""

import asyncio
import re
import uuid
from datetime import datetime, timezone
from pathlib import Path

import asyncpg
import psycopg
import psycopg2
import psycopg2.extensions
import psycopg2.extras
import pytest
from pg_ulid.asyncpg import register_ulid as register_asyncpg
from pg_ulid.psycopg import register_ulid, register_ulid_async
from pg_ulid.psycopg2 import register_ulid as register_psycopg2
from psycopg.types.range import Range

GIVEN = "01ARYZ6S41TSV4RRFFQ69G5FAV"
AS_UUID = uuid.UUID("01563df3-6481-d676-4c61-efb99302bd5b")


@pytest.fixture
def connection(database):
    with psycopg.connect(autocommit=True) as connection:
        connection.execute("INSERT INTO orders (id, note, related) VALUES (%s, 'first', %s)", [GIVEN, [GIVEN, None]])
        yield connection


def test_psycopg_without_the_package(connection):
    def fetch(query, *parameters, **options):
        return connection.execute(query, parameters, **options).fetchone()[0]

    for value in GIVEN.lower(), AS_UUID:
        assert fetch("SELECT note FROM orders WHERE id = %s AND id = ANY (%s)", value, [value]) == "first"
    assert fetch("SELECT count(*) FROM orders WHERE id <@ %s", Range(None, datetime(2026, 1, 1, tzinfo=timezone.utc))) == 1
    assert fetch("SELECT related FROM orders") == "{" + GIVEN + ",NULL}"
    assert fetch("SELECT id FROM orders", binary=True) == AS_UUID.bytes
    assert fetch("SELECT note FROM orders WHERE id = %b::ulid", GIVEN) == "first"
    with pytest.raises(psycopg.errors.UndefinedFunction, match="operator does not exist: ulid = text"):
        fetch("SELECT note FROM orders WHERE id = %b", GIVEN)
    with pytest.raises(psycopg.errors.UndefinedFunction, match="operator does not exist: ulid <@ tsrange"):
        fetch("SELECT note FROM orders WHERE id <@ %s", Range(datetime(2026, 1, 1), None))
    with connection.cursor().copy("COPY orders (id) FROM STDIN") as copy:
        copy.write_row([uuid.UUID(int=0)])  # written without hyphens
    assert fetch("SELECT id FROM orders WHERE id = %s", "0" * 32) == "0" * 26


@pytest.mark.parametrize("form", ["text", "binary"])
def test_psycopg_copy(connection, form):
    register_ulid(connection)
    assert connection.execute("SELECT id, related FROM orders", binary=True).fetchone() == (GIVEN, [GIVEN, None])
    with connection.cursor().copy(f"COPY orders (id, related) FROM STDIN (FORMAT {form})") as copy:
        copy.set_types(["ulid", "ulid[]"])
        for row in ("01aryz6s41tsv4rrffq69g5faw", [GIVEN]), (uuid.UUID(int=0), []), ("7" + "Z" * 25, None):
            copy.write_row(row)
    stored = [("0" * 26, []), (GIVEN, [GIVEN, None]), (GIVEN[:-1] + "W", [GIVEN]), ("7" + "Z" * 25, None)]
    with connection.cursor().copy(f"COPY (SELECT id, related FROM orders ORDER BY id) TO STDOUT (FORMAT {form})") as copy:
        copy.set_types(["ulid", "ulid[]"])
        assert list(copy.rows()) == stored
    with pytest.raises(psycopg.DataError, match="for type ulid"):
        with connection.cursor().copy(f"COPY orders (id) FROM STDIN (FORMAT {form})") as copy:
            copy.set_types(["ulid"])
            copy.write_row(["nonsense"])


def test_psycopg_async(database):
    async def main():
        async with await psycopg.AsyncConnection.connect() as connection:
            await register_ulid_async(connection)
            cursor = await connection.execute("SELECT %s::ulid[]", [[GIVEN]], binary=True)
            assert await cursor.fetchone() == ([GIVEN],)

    asyncio.run(main())


def test_psycopg2_without_the_package(connection):
    direct = psycopg2.connect("")
    with direct.cursor() as cursor:
        cursor.execute("SELECT related FROM orders WHERE id = %s AND id IN %s", [GIVEN.lower(), (GIVEN,)])
        assert cursor.fetchone() == ("{" + GIVEN + ",NULL}",)
        with pytest.raises(psycopg2.errors.UndefinedFunction, match="operator does not exist: ulid = text"):
            cursor.execute("SELECT related FROM orders WHERE id = ANY (%s)", [[GIVEN]])
    direct.close()


def test_psycopg2_registering_leaves_transactions_as_they_are(connection):
    direct = psycopg2.connect("")
    register_psycopg2(direct)
    assert direct.status == psycopg2.extensions.STATUS_READY
    with direct.cursor() as cursor:
        cursor.execute("INSERT INTO customer (id, name) VALUES (%s, 'Ada')", [AS_UUID])
        register_psycopg2(direct)
        direct.commit()
        cursor.execute("SELECT id FROM customer")
        assert cursor.fetchone() == (GIVEN,)
    direct.close()


def test_psycopg2_registering_with_rows_that_are_dictionaries(connection):
    direct = psycopg2.connect("", cursor_factory=psycopg2.extras.RealDictCursor)
    register_psycopg2(direct)
    with direct.cursor() as cursor:
        cursor.execute("SELECT related FROM orders WHERE id = %s", [GIVEN])
        assert cursor.fetchone() == {"related": [GIVEN, None]}
    direct.close()


def test_asyncpg(database):
    async def main():
        plain = await asyncpg.connect()
        assert await plain.fetchval("SELECT $1::ulid", GIVEN.lower()) == GIVEN
        assert await plain.fetchval("SELECT $1::ulid[]", [GIVEN, None]) == [GIVEN, None]
        with pytest.raises(asyncpg.DataError, match="expected str, got UUID"):
            await plain.fetchval("SELECT $1::ulid", AS_UUID)
        with pytest.raises(asyncpg.InternalClientError, match="no binary format encoder"):
            await plain.copy_records_to_table("orders", records=[(GIVEN,)], columns=["id"])
        await plain.close()
        async with asyncpg.create_pool(init=register_asyncpg, min_size=1) as pool:
            for value in AS_UUID, await pool.fetchval("SELECT $1::ulid::uuid", GIVEN):  # asyncpg's own class
                assert await pool.fetchval("SELECT $1::ulid", value) == GIVEN
            with pytest.raises(ValueError, match="for type ulid"):
                await pool.copy_records_to_table("orders", records=[("nonsense",)], columns=["id"])

    asyncio.run(main())


PAGE = Path(__file__).parents[3] / "docs/time_ranges.md"


# 'infinity' is no way out: psycopg cannot read it either
def test_times_after_the_year_9999(database):
    create = re.search(r"CREATE FUNCTION readable_time.*?;\n", PAGE.read_text(), re.DOTALL).group()
    with psycopg.connect(autocommit=True) as connection:
        connection.execute(create)
        connection.execute(
            "CREATE TABLE imported (id ulid PRIMARY KEY,"
            " made timestamptz GENERATED ALWAYS AS (ulid_extract_timestamp(id)) STORED,"
            " readable timestamptz GENERATED ALWAYS AS (readable_time(id)) STORED)"
        )
        connection.execute("CREATE VIEW with_time AS SELECT id, readable_time(id) AS viewed, readable FROM imported")
        connection.execute(  # a random id, the last that is shown, the first that is not, and the greatest
            "INSERT INTO imported SELECT unnest(ARRAY['f47ac10b-58cc-4372-a567-0e02b2c3d479',"
            " ulid_upper_bound('9998-12-31 23:59:59.999+00'), ulid_lower_bound('9999-01-01 00:00+00'), %s]::ulid[])",
            ["7" + "Z" * 25],
        )
    unreadable = "SELECT made FROM imported", "SELECT ulid_extract_timestamp(id) FROM imported", "SELECT timestamptz 'infinity'"
    readable = "SELECT viewed, readable FROM with_time ORDER BY id", "SELECT max(viewed), max(readable) FROM with_time"
    last = datetime(9998, 12, 31, 23, 59, 59, 999000, timezone.utc)

    def check(rows, query):
        times = [tuple(row) for row in rows]
        assert times == ([(last, last), (None, None), (None, None), (None, None)] if "ORDER" in query else [(last, last)])

    for zone in "UTC", "Pacific/Kiritimati", "Etc/GMT+12":
        with psycopg.connect(autocommit=True, options=f"-c timezone={zone}") as connection:
            for binary in False, True:
                for query in unreadable:
                    with pytest.raises(psycopg.DataError):
                        connection.execute(query, binary=binary).fetchall()
                for query in readable:
                    check(connection.execute(query, binary=binary).fetchall(), query)
        direct = psycopg2.connect(options=f"-c timezone={zone}")
        direct.autocommit = True
        with direct.cursor() as cursor:
            for query in unreadable[:2]:
                cursor.execute(query)
                with pytest.raises(ValueError):
                    cursor.fetchall()
            for query in readable:
                cursor.execute(query)
                check(cursor.fetchall(), query)
        direct.close()

    async def with_asyncpg():
        connection = await asyncpg.connect()
        for query in unreadable[:2]:
            with pytest.raises((ValueError, OverflowError)):
                await connection.fetch(query)
        for query in readable:
            check(await connection.fetch(query), query)
        await connection.close()

    asyncio.run(with_asyncpg())


def test_extension_elsewhere_or_missing(empty_database):
    async def with_asyncpg(expected):
        connection = await asyncpg.connect(server_settings={"search_path": "ids"})
        try:
            await register_asyncpg(connection)
            assert await connection.fetchval("SELECT $1::ulid", AS_UUID) == expected
        finally:
            await connection.close()

    with psycopg.connect(autocommit=True, options="-csearch_path=ids") as connection:
        direct = psycopg2.connect("")
        with pytest.raises(psycopg.ProgrammingError, match="has no type ulid"):
            register_ulid(connection)
        with pytest.raises(psycopg2.ProgrammingError, match="has no type ulid"):
            register_psycopg2(direct)
        direct.close()
        with pytest.raises(ValueError, match="has no type ulid"):
            asyncio.run(with_asyncpg(None))
        connection.execute("CREATE SCHEMA ids")
        connection.execute("CREATE EXTENSION ulid SCHEMA ids")
        register_ulid(connection)
        assert connection.execute("SELECT %s::ulid[]", [[GIVEN]]).fetchone() == ([GIVEN],)
        asyncio.run(with_asyncpg(GIVEN))
