import uuid
from datetime import datetime, timedelta, timezone

import psycopg2
import psycopg2.extras
import pytest
import ulid
from pg_ulid.psycopg2 import register_ulid

GIVEN = "01ARYZ6S41TSV4RRFFQ69G5FAV"


@pytest.fixture
def connection(database):
    connection = psycopg2.connect("")
    connection.autocommit = True
    yield connection
    connection.close()


@pytest.fixture(params=[False, True], ids=["plain", "registered"])
def either(request, connection):
    if request.param:
        register_ulid(connection)
    return connection


def fetch(connection, query, *parameters):
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        return cursor.fetchall()


def make_orders(connection):
    [(customer,)] = fetch(connection, "INSERT INTO customer (name) VALUES ('Ada') RETURNING id")
    insert = "INSERT INTO orders (customer_id, note) VALUES (%s, %s) RETURNING id"
    [(first,)] = fetch(connection, insert, customer, "first")
    [(second,)] = fetch(connection, insert, customer.lower(), "second")
    return customer, first, second


def test_find(either):
    customer, first, second = make_orders(either)
    assert isinstance(customer, str) and len(customer) == 26
    assert fetch(either, "SELECT note FROM orders WHERE id = %s", first) == [("first",)]
    assert fetch(either, "SELECT note FROM orders WHERE id IN %s ORDER BY 1", (first, second)) == [("first",), ("second",)]
    assert fetch(either, "SELECT note FROM orders WHERE id = ANY (%s::ulid[])", [first]) == [("first",)]


def test_list_without_a_cast(either):
    _, first, _ = make_orders(either)
    with pytest.raises(psycopg2.errors.UndefinedFunction, match="operator does not exist: ulid = text"):
        fetch(either, "SELECT note FROM orders WHERE id = ANY (%s)", [first])


def test_uuid_and_ulid_class_as_parameters(connection):
    customer, first, _ = make_orders(connection)
    register_ulid(connection)
    [(as_uuid,)] = fetch(connection, "SELECT id::uuid FROM customer")
    assert isinstance(as_uuid, uuid.UUID)
    for value in as_uuid, ulid.ULID.from_uuid(as_uuid):
        assert fetch(connection, "SELECT name FROM customer WHERE id = %s", value) == [("Ada",)]
        assert fetch(connection, "SELECT name FROM customer WHERE id = ANY (%s::ulid[])", [value]) == [("Ada",)]
    assert fetch(connection, "SELECT name FROM customer WHERE id = ANY (%s)", [as_uuid]) == [("Ada",)]


def test_window(either):
    make_orders(either)
    now, hour = datetime.now(timezone.utc), timedelta(hours=1)
    window = psycopg2.extras.DateTimeTZRange(now - hour, now + hour)
    assert fetch(either, "SELECT count(*) FROM orders WHERE id <@ %s", window) == [(2,)]


def test_array(connection):
    _, first, second = make_orders(connection)
    fetch(connection, "UPDATE orders SET related = %s::ulid[] WHERE id = %s RETURNING 1", [second, None], first)
    select = "SELECT related FROM orders WHERE id = %s"
    assert fetch(connection, select, first) == [("{" + second + ",NULL}",)]  # without register_ulid: a string
    register_ulid(connection)
    assert fetch(connection, select, first) == [([second, None],)]


def test_bulk_load(either):
    rows = [(GIVEN, "third"), (GIVEN[:-1] + "W", "fourth")]
    with either.cursor() as cursor:
        psycopg2.extras.execute_values(cursor, "INSERT INTO orders (id, note) VALUES %s", rows)
    assert fetch(either, "SELECT id, note FROM orders ORDER BY id") == rows


def test_malformed_ids(either, sample):
    def insert(**values):
        try:
            columns, placeholders = ", ".join(values), ", ".join(["%s"] * len(values))
            fetch(either, f"INSERT INTO orders ({columns}) VALUES ({placeholders}) RETURNING 1", *values.values())
        except psycopg2.DataError as error:
            assert error.pgcode in ("22P02", "22003")

    sample.store(insert)


def test_registering_leaves_transactions_as_they_are(database):
    connection = psycopg2.connect("")
    register_ulid(connection)
    assert connection.status == psycopg2.extensions.STATUS_READY
    fetch(connection, "INSERT INTO customer (name) VALUES ('Ada') RETURNING id")
    register_ulid(connection)
    connection.commit()
    assert fetch(connection, "SELECT name FROM customer") == [("Ada",)]
    connection.close()


def test_without_the_extension(empty_database):
    connection = psycopg2.connect("")
    with pytest.raises(psycopg2.ProgrammingError, match="has no type ulid"):
        register_ulid(connection)
    connection.close()
