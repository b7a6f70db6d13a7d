"""The type ulid for psycopg2: arrays, and uuid.UUID as a parameter."""

from typing import Any

from psycopg2 import STRING, ProgrammingError
from psycopg2.extensions import STATUS_READY, cursor, new_array_type, register_type
from psycopg2.extras import register_uuid

__all__ = ["register_ulid"]


def register_ulid(connection: Any) -> None:
    """Make the connection know the type."""
    if not register(connection):
        raise ProgrammingError("the database has no type ulid: CREATE EXTENSION ulid")


def register(connection: Any) -> bool:
    """Do so if the database has the type. A transaction that is open stays open; otherwise none is left behind."""
    is_idle = connection.status == STATUS_READY
    with connection.cursor(cursor_factory=cursor) as query:
        query.execute("SELECT to_regtype('ulid[]')::oid::int8")
        (oid,) = query.fetchone()
    if is_idle and not connection.autocommit:
        connection.rollback()
    register_uuid(conn_or_curs=connection)
    if oid is not None:
        register_type(new_array_type((oid,), "ULID[]", STRING), connection)
    return oid is not None
