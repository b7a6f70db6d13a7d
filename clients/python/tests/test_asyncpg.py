import asyncio
import uuid
from datetime import datetime, timedelta, timezone

import asyncpg
import pytest
import ulid
from pg_ulid.asyncpg import register_ulid

GIVEN = "01ARYZ6S41TSV4RRFFQ69G5FAV"


def run(main, *arguments):
    async def connect():
        connection = await asyncpg.connect()
        try:
            await main(connection, *arguments)
        finally:
            await connection.close()

    asyncio.run(connect())


async def make_orders(connection):
    customer = await connection.fetchval("INSERT INTO customer (name) VALUES ('Ada') RETURNING id")
    insert = "INSERT INTO orders (customer_id, note) VALUES ($1, $2) RETURNING id"
    first = await connection.fetchval(insert, customer, "first")
    second = await connection.fetchval(insert, customer.lower(), "second")
    return customer, first, second


@pytest.mark.parametrize("registered", [False, True])
def test_find_window_array(database, registered):
    async def main(connection):
        if registered:
            await register_ulid(connection)
        customer, first, second = await make_orders(connection)
        assert isinstance(customer, str) and len(customer) == 26
        assert await connection.fetchval("SELECT note FROM orders WHERE id = $1", first) == "first"
        assert await connection.fetchval("SELECT count(*) FROM orders WHERE id = ANY ($1)", [first, second]) == 2
        now, hour = datetime.now(timezone.utc), timedelta(hours=1)
        window = asyncpg.Range(now - hour, now + hour)
        assert await connection.fetchval("SELECT count(*) FROM orders WHERE id <@ $1", window) == 2
        assert await connection.fetchval("SELECT count(*) FROM orders WHERE ulid_starts_with(id, $1)", first[:5].lower()) == 2
        await connection.execute("UPDATE orders SET related = $1 WHERE id = $2", [second, None], first)
        assert await connection.fetchval("SELECT related FROM orders WHERE id = $1", first) == [second, None]

    run(main)


def test_not_registered(database):
    async def main(connection):
        with pytest.raises(asyncpg.DataError, match="expected str, got UUID"):
            await connection.fetchval("SELECT note FROM orders WHERE id = $1", uuid.UUID(int=0))
        with pytest.raises(asyncpg.InternalClientError, match="no binary format encoder"):
            await connection.copy_records_to_table("orders", records=[(GIVEN,)], columns=["id"])

    run(main)


def test_registered(database):
    async def main(connection):
        customer, first, second = await make_orders(connection)
        as_uuid = await connection.fetchval("SELECT id::uuid FROM orders WHERE id = $1", first)
        await register_ulid(connection)
        for value in as_uuid, uuid.UUID(int=as_uuid.int), str(as_uuid), ulid.ULID.from_str(first), first.lower():
            assert await connection.fetchval("SELECT id FROM orders WHERE id = $1", value) == first
            assert await connection.fetchval("SELECT id FROM orders WHERE id = ANY ($1)", [value]) == first
        rows = [(GIVEN, "text"), (uuid.UUID(int=0), "uuid")]
        await connection.copy_records_to_table("orders", records=rows, columns=["id", "note"])
        assert await connection.fetchval("SELECT id FROM orders WHERE note = 'text'") == GIVEN
        assert await connection.fetchval("SELECT id FROM orders WHERE note = 'uuid'") == "0" * 26

    run(main)


def test_pool(database):
    async def main():
        async with asyncpg.create_pool(init=register_ulid, min_size=1) as pool:
            assert await pool.fetchval("SELECT $1::ulid", uuid.UUID(int=0)) == "0" * 26

    asyncio.run(main())


@pytest.mark.parametrize("registered", [False, True])
def test_malformed_ids(database, sample, registered):
    async def main(connection):
        if registered:
            await register_ulid(connection)
        for note, given, _ in sample.rows:
            column = "customer_id" if given is None else "id"
            try:
                await connection.execute(f"INSERT INTO orders (note, {column}) VALUES ($1, $2)", note, given)
            except asyncpg.DataError as error:
                assert "for type ulid" in str(error)

    run(main)
    sample.compare()


def test_malformed_ids_in_copy(database, sample):
    async def main(connection):
        await register_ulid(connection)
        for note, given, _ in sample.rows:
            columns = ["note", "customer_id" if given is None else "id"]
            try:
                await connection.copy_records_to_table("orders", records=[(note, given)], columns=columns)
            except ValueError as error:
                assert "for type ulid" in str(error)

    run(main)
    sample.compare()


def test_without_the_extension(empty_database):
    async def main(connection):
        with pytest.raises(ValueError, match="has no type ulid"):
            await register_ulid(connection)

    run(main)


def test_extension_in_another_schema(empty_database):
    async def main(connection):
        await connection.execute("CREATE SCHEMA ids; CREATE EXTENSION ulid SCHEMA ids; SET search_path = ids")
        await register_ulid(connection)
        assert await connection.fetchval("SELECT $1::ulid", uuid.UUID(int=0)) == "0" * 26

    run(main)
