"""The type ulid for SQLAlchemy, SQLModel and Alembic, with psycopg 3, psycopg2 and asyncpg.

Importing this module makes reflection know the type, and drivers read ulid[] as a list in every new connection. Ids
that objects and inserts are given get the form that the server returns, by which SQLAlchemy looks for them.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    ColumnElement,
    DateTime,
    Dialect,
    Engine,
    Insert,
    event,
    func,
    type_coerce,
)
from sqlalchemy.dialects.postgresql import TSTZRANGE
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.orm import Mapper
from sqlalchemy.types import UserDefinedType

from ._codec import for_server, from_server

__all__ = ["Ulid"]


class Ulid(UserDefinedType[str]):
    """A column of type ulid; with native=False, a column of type uuid and the functions of ulid_sql.

    Values are str as the server writes them. A str or uuid.UUID that the server accepts may be given. What it
    does not accept is an error: of the server, or a ValueError with native=False.
    """

    cache_ok = True

    def __init__(self, native: bool = True) -> None:
        self.native = native

    @property
    def python_type(self) -> type[str]:
        return str

    def get_col_spec(self, **options: Any) -> str:
        return "ulid" if self.native else "UUID"

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        return lambda value: for_server(value, self.native)

    def literal_processor(self, dialect: Dialect) -> Callable[[Any], str]:
        def process(value: Any) -> str:
            text = str(for_server(value, self.native)).replace("'", "''")
            # As in SQLAlchemy's String: a driver that formats statements takes a % for a parameter.
            if dialect.identifier_preparer._double_percents:
                text = text.replace("%", "%%")
            return f"'{text}'"

        return process

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], str | None] | None:
        if self.native:
            return None
        return from_server

    class Comparator(UserDefinedType.Comparator[str]):
        def within(self, start: datetime | None, end: datetime | None) -> ColumnElement[bool]:
            """The ids made from start until before end; None: no bound."""
            times = (type_coerce(time, DateTime(timezone=True)) for time in (start, end))
            window = func.tstzrange(*times, type_=TSTZRANGE)
            if self.type.native:  # type: ignore[attr-defined]
                return self.expr.op("<@", is_comparison=True, return_type=Boolean())(window)
            return func.ulid_contained_by_range(self.expr, window, type_=Boolean)

        def starts_with(self, prefix: str) -> ColumnElement[bool]:
            """The ids whose text starts with these characters, by an index on them."""
            return func.ulid_starts_with(self.expr, prefix, type_=Boolean)

    comparator_factory = Comparator


ischema_names["ulid"] = Ulid  # for reflection, and therefore for Alembic


@event.listens_for(Mapper, "mapper_configured")
def convert_attributes(mapper: Any, class_: Any) -> None:
    """Objects have an id as the server returns it: relationships and the identity map compare it."""
    for attribute in mapper.column_attrs:
        if isinstance(attribute.columns[0].type, Ulid):
            event.listen(attribute.class_attribute, "set", as_server_writes, retval=True, propagate=True)


def as_server_writes(instance: Any, value: Any, old: Any, initiator: Any) -> Any:
    return for_server(value, native=True)


@event.listens_for(Engine, "before_execute", retval=True)
def convert_rows(connection: Any, statement: Any, rows: Any, row: Any, options: Any) -> tuple[Any, Any, Any]:
    """An INSERT of many rows gets ids as the server returns them: SQLAlchemy finds each row by the id that it sent."""
    if rows and isinstance(statement, Insert):
        keys = [column.key for column in statement.table.columns if isinstance(column.type, Ulid)]
        rows = [{**row, **{key: for_server(row[key], native=True) for key in keys if key in row}} for row in rows]
    return statement, rows, row


@event.listens_for(Engine, "connect")
def read_arrays(connection: Any, record: Any) -> None:
    """Register the type with psycopg 3 and psycopg2, if the database has it. asyncpg reads arrays by itself."""
    driver_connection = getattr(connection, "driver_connection", connection)  # below SQLAlchemy's adapter of asyncio
    driver = type(driver_connection).__module__.partition(".")[0]
    if driver == "psycopg":
        from psycopg.types import TypeInfo

        from .psycopg import register

        if hasattr(connection, "run_async"):
            info = connection.run_async(lambda connection: TypeInfo.fetch(connection, "ulid"))
        else:
            info = TypeInfo.fetch(connection, "ulid")
        if info:
            register(driver_connection, info)
    elif driver == "psycopg2":
        from .psycopg2 import register as register_psycopg2

        register_psycopg2(connection)
