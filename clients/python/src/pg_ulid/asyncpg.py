"""The type ulid for asyncpg, in binary: COPY, and uuid.UUID as a parameter."""

from typing import Any

from ._codec import from_bytes, to_uuid

__all__ = ["register_ulid"]

SCHEMA = "SELECT nspname FROM pg_type JOIN pg_namespace n ON n.oid = typnamespace WHERE pg_type.oid = to_regtype('ulid')"


async def register_ulid(connection: Any) -> None:
    """Make the connection know the type; a pool takes this as init=register_ulid.

    What the server would refuse is an asyncpg.DataError.
    """
    schema = await connection.fetchval(SCHEMA)
    if schema is None:
        raise ValueError("the database has no type ulid: CREATE EXTENSION ulid")
    await connection.set_type_codec(
        "ulid", schema=schema, encoder=lambda value: to_uuid(value).bytes, decoder=from_bytes, format="binary"
    )
