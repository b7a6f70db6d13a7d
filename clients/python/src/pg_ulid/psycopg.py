"""The type ulid for psycopg 3: arrays, binary results and binary COPY."""

from typing import Any

import psycopg
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo
from psycopg.types.string import StrDumper

from ._codec import from_bytes, to_uuid

__all__ = ["register_ulid", "register_ulid_async"]


class UlidBinaryLoader(Loader):
    format = Format.BINARY

    def load(self, data: Any) -> str:
        return from_bytes(data)


class UlidDumper(StrDumper):
    """Passes the text on."""

    def dump(self, obj: Any) -> Any:
        return super().dump(str(obj))


class UlidBinaryDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Any) -> bytes:
        try:
            return to_uuid(obj).bytes
        except ValueError as error:
            raise psycopg.DataError(str(error)) from None


def register_ulid(connection: psycopg.Connection[Any]) -> None:
    """Make the connection know the type; a pool takes this as configure=register_ulid."""
    register(connection, TypeInfo.fetch(connection, "ulid"))


async def register_ulid_async(connection: psycopg.AsyncConnection[Any]) -> None:
    register(connection, await TypeInfo.fetch(connection, "ulid"))


def register(connection: psycopg.BaseConnection[Any], info: TypeInfo | None) -> None:
    if info is None:
        raise psycopg.ProgrammingError("the database has no type ulid: CREATE EXTENSION ulid")
    info.register(connection)  # arrays
    connection.adapters.register_loader(info.oid, UlidBinaryLoader)
    for dumper in UlidBinaryDumper, UlidDumper:  # for COPY, by the oid
        connection.adapters.register_dumper(None, type(dumper.__name__, (dumper,), {"oid": info.oid}))
