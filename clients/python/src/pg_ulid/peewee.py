"""The type ulid for Peewee, with psycopg 3 or psycopg2."""

from datetime import datetime
from typing import Any

from peewee import Expression, Field, fn

from ._codec import for_server, from_server

__all__ = ["UlidField", "register_ulid"]


class UlidField(Field):
    """A column of type ulid; with native=False, a column of type uuid and the functions of ulid_sql.

    Values are str as the server writes them. A str, uuid.UUID or ulid.ULID that the server accepts may be given. What it
    does not accept is an error: of the server, or a ValueError with native=False.
    """

    def __init__(self, *args: Any, native: bool = True, **options: Any) -> None:
        self.native = native
        self.field_type = "ulid" if native else "uuid"  # type: ignore[misc]
        super().__init__(*args, **options)

    def db_value(self, value: Any) -> Any:
        return for_server(value, self.native)

    def python_value(self, value: Any) -> Any:
        return from_server(value)

    def within(self, start: datetime | None, end: datetime | None) -> Any:
        """The ids made from start until before end; None: no bound."""
        window = fn.tstzrange(start, end)
        return Expression(self, "<@", window) if self.native else fn.ulid_contained_by_range(self, window)

    def starts_with(self, prefix: str) -> Any:
        """The ids whose text starts with these characters, by an index on them."""
        return fn.ulid_starts_with(self, prefix)


def register_ulid(database: Any) -> None:
    """Make the driver read ulid[] as a list, in the connections that this database will open."""
    initialize = database._initialize_connection

    def register(connection: Any) -> None:
        initialize(connection)
        if type(connection).__module__.startswith("psycopg2."):
            from .psycopg2 import register_ulid
        else:
            from .psycopg import register_ulid
        register_ulid(connection)

    database._initialize_connection = register
