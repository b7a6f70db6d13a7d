import asyncio
import uuid
from datetime import datetime, timedelta, timezone

import psycopg
import pytest
import ulid
from pg_ulid import canonical
from pg_ulid.psycopg import register_ulid, register_ulid_async
from psycopg.types.range import Range, TimestamptzRange

INSERT = "INSERT INTO orders (customer_id, note) VALUES (%s, %s) RETURNING id"
GIVEN = "01ARYZ6S41TSV4RRFFQ69G5FAV"


@pytest.fixture
def connection(database):
    with psycopg.connect(autocommit=True) as connection:
        yield connection


@pytest.fixture(params=[False, True], ids=["plain", "registered"])
def either(request, connection):
    """What works without register_ulid works with it too."""
    if request.param:
        register_ulid(connection)
    return connection


def fetch(connection, query, *parameters, **options):
    return connection.execute(query, parameters, **options).fetchall()


def make_orders(connection):
    [(customer,)] = fetch(connection, "INSERT INTO customer (name) VALUES ('Ada') RETURNING id")
    [(first,)] = fetch(connection, INSERT, customer, "first")
    [(second,)] = fetch(connection, INSERT, customer.lower(), "second")
    return customer, first, second


def test_ids_are_text(either):
    for value in make_orders(either):
        assert isinstance(value, str) and canonical(value) == value


def test_find(either):
    customer, first, second = make_orders(either)
    assert fetch(either, "SELECT note FROM orders WHERE id = %s", first) == [("first",)]
    assert fetch(either, "SELECT note FROM orders WHERE id = %s", first.lower()) == [("first",)]
    listed = "SELECT note FROM orders WHERE id = ANY (%s) ORDER BY note"
    assert fetch(either, listed, [first, second]) == [("first",), ("second",)]


def test_uuid_as_parameter(either):
    customer, first, second = make_orders(either)
    [(as_uuid,)] = fetch(either, "SELECT %s::ulid::uuid", first)
    assert isinstance(as_uuid, uuid.UUID)
    assert fetch(either, "SELECT note FROM orders WHERE id = %s", as_uuid) == [("first",)]
    assert fetch(either, "SELECT note FROM orders WHERE id = ANY (%s)", [as_uuid]) == [("first",)]
    assert fetch(either, "UPDATE orders SET related = %s WHERE id = %b RETURNING note", [as_uuid], as_uuid) == [("first",)]


def test_ulid_class_as_parameter(connection):
    customer, first, second = make_orders(connection)
    value = ulid.ULID.from_str(first)
    with pytest.raises(psycopg.ProgrammingError, match="cannot adapt type 'ULID'"):
        fetch(connection, "SELECT %s", value)
    register_ulid(connection)
    for placeholder in "%s", "%b", "%t":
        assert fetch(connection, f"SELECT note FROM orders WHERE id = {placeholder}", value) == [("first",)]
        assert fetch(connection, f"SELECT note FROM orders WHERE id = ANY ({placeholder})", [value]) == [("first",)]


def test_window(either):
    make_orders(either)
    now, hour = datetime.now(timezone.utc), timedelta(hours=1)
    count = "SELECT count(*) FROM orders WHERE id <@ %s"
    assert fetch(either, count, Range(now - hour, now + hour)) == [(2,)]
    assert fetch(either, count, TimestamptzRange(now + hour, None)) == [(0,)]
    with pytest.raises(psycopg.errors.UndefinedFunction, match="operator does not exist: ulid <@ tsrange"):
        fetch(either, count, Range(datetime(2026, 1, 1), datetime(2026, 2, 1)))  # without a time zone


def test_prefix(either):
    customer, first, second = make_orders(either)
    assert fetch(either, "SELECT note FROM orders WHERE ulid_starts_with(id, %s)", first.lower()) == [("first",)]
    assert fetch(either, "SELECT note FROM orders WHERE ulid_starts_with(id, %s)", "7") == []


def test_array(connection):
    customer, first, second = make_orders(connection)
    fetch(connection, "UPDATE orders SET related = %s WHERE id = %s RETURNING 1", [second, None], first)
    select = "SELECT related FROM orders WHERE id = %s"
    assert fetch(connection, select, first) == [("{" + second + ",NULL}",)]  # without register_ulid: a string
    register_ulid(connection)
    assert fetch(connection, select, first) == [([second, None],)]
    assert fetch(connection, select, first, binary=True) == [([second, None],)]


def test_binary_result(connection):
    customer, first, second = make_orders(connection)
    select = "SELECT id FROM orders WHERE id = %s"
    assert isinstance(fetch(connection, select, first, binary=True)[0][0], bytes)
    register_ulid(connection)
    assert fetch(connection, select, first, binary=True) == [(first,)]


def test_copy_as_text(either):
    with either.cursor().copy("COPY orders (id, note) FROM STDIN") as copy:
        copy.write_row([GIVEN, "text"])
    assert fetch(either, "SELECT id FROM orders") == [(GIVEN,)]
    # psycopg writes a UUID without hyphens, unless set_types says that it is a ulid
    with pytest.raises(psycopg.DataError, match="A ULID has 26 characters, or 36 in the form of a UUID, not 32"):
        with either.cursor().copy("COPY orders (id, note) FROM STDIN") as copy:
            copy.write_row([uuid.UUID(int=0), "uuid"])


def test_copy_in_binary_as_uuid(connection):
    with connection.cursor().copy("COPY orders (id, note) FROM STDIN (FORMAT binary)") as copy:
        copy.set_types(["uuid", "text"])
        copy.write_row([uuid.UUID(int=0), "in binary"])
    assert fetch(connection, "SELECT id FROM orders") == [("0" * 26,)]


@pytest.mark.parametrize("form", ["text", "binary"])
def test_copy_registered(connection, form):
    register_ulid(connection)
    rows = [(GIVEN.lower(), [GIVEN]), (uuid.UUID(int=0), []), (ulid.ULID.from_str("7" + "Z" * 25), None)]
    with connection.cursor().copy(f"COPY orders (id, related) FROM STDIN (FORMAT {form})") as copy:
        copy.set_types(["ulid", "ulid[]"])
        for row in rows:
            copy.write_row(row)
    stored = [("0" * 26, []), (GIVEN, [GIVEN]), ("7" + "Z" * 25, None)]
    assert fetch(connection, "SELECT id, related FROM orders ORDER BY id") == stored
    with connection.cursor().copy(f"COPY (SELECT id, related FROM orders ORDER BY id) TO STDOUT (FORMAT {form})") as copy:
        copy.set_types(["ulid", "ulid[]"])
        assert list(copy.rows()) == stored


def test_malformed_ids(either, sample):
    def insert(**values):
        try:
            columns, placeholders = ", ".join(values), ", ".join(["%s"] * len(values))
            fetch(either, f"INSERT INTO orders ({columns}) VALUES ({placeholders}) RETURNING 1", *values.values())
        except psycopg.DataError as error:
            assert error.sqlstate in ("22P02", "22003")

    sample.store(insert)


@pytest.mark.parametrize("form", ["text", "binary"])
def test_malformed_ids_in_copy(connection, sample, form):
    register_ulid(connection)

    def insert(**values):
        try:
            with connection.cursor().copy(f"COPY orders ({', '.join(values)}) FROM STDIN (FORMAT {form})") as copy:
                copy.set_types(["text", "ulid"])
                copy.write_row(list(values.values()))
        except psycopg.DataError as error:
            assert "for type ulid" in str(error)

    sample.store(insert)


def test_declared_as_text(either):
    _, first, _ = make_orders(either)
    with pytest.raises(psycopg.errors.UndefinedFunction, match="operator does not exist: ulid = text"):
        fetch(either, "SELECT 1 FROM orders WHERE id = %b", first)
    assert fetch(either, "SELECT note FROM orders WHERE id = %b::ulid", first) == [("first",)]


def test_registering_leaves_no_transaction(database):
    with psycopg.connect() as connection:
        register_ulid(connection)
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def test_async(database):
    async def main():
        async with await psycopg.AsyncConnection.connect() as connection:
            await register_ulid_async(connection)
            cursor = await connection.execute("SELECT %s::ulid[]", [[GIVEN]], binary=True)
            assert await cursor.fetchone() == ([GIVEN],)

    asyncio.run(main())


def test_without_the_extension(empty_database):
    with psycopg.connect() as connection, pytest.raises(psycopg.ProgrammingError, match="has no type ulid"):
        register_ulid(connection)


def test_extension_in_another_schema(empty_database):
    with psycopg.connect(autocommit=True) as connection:
        connection.execute("CREATE SCHEMA ids")
        connection.execute("CREATE EXTENSION ulid SCHEMA ids")
        connection.execute("SET search_path = ids")
        register_ulid(connection)
        assert fetch(connection, "SELECT %s::ulid[]", [GIVEN]) == [([GIVEN],)]
