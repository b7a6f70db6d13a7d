"""The type ulid for SQLAlchemy and Alembic, with psycopg 3, psycopg2 and asyncpg: mapped_column(Ulid, …)."""
import re
import uuid

from sqlalchemy import Engine, event
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.types import UserDefinedType

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
ALIASES = str.maketrans("OIL", "011")
ULID = re.compile("[0-7OILoil][0-9A-TV-Za-tv-z]{25}")
UUID = re.compile("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def canonical(value):
    """Convert an id to the form that the server returns. Anything else is passed on, and the server refuses it."""
    if isinstance(value, str) and UUID.fullmatch(value):
        value = uuid.UUID(value)
    if isinstance(value, uuid.UUID):
        return "".join(ALPHABET[value.int >> bits & 31] for bits in range(125, -1, -5))
    if isinstance(value, str) and ULID.fullmatch(value):
        return value.upper().translate(ALIASES)
    return value


class Ulid(UserDefinedType):
    cache_ok = True

    def get_col_spec(self, **options):
        return "ulid"

    def bind_processor(self, dialect):
        return canonical


ischema_names["ulid"] = Ulid  # for reflection, and therefore for Alembic


@event.listens_for(Engine, "connect")
def read_arrays(connection, record):
    """Let psycopg 3 and psycopg2 read ulid[] as a list. asyncpg does this itself."""
    driver = type(connection).__module__.partition(".")[0]
    if driver == "psycopg":
        from psycopg.types import TypeInfo

        if info := TypeInfo.fetch(connection, "ulid"):
            info.register(connection)
    elif driver == "psycopg2":
        from psycopg2 import STRING
        from psycopg2.extensions import new_array_type, register_type

        with connection.cursor() as cursor:
            cursor.execute("SELECT to_regtype('ulid[]')::oid::int")
            (oid,) = cursor.fetchone()
        connection.rollback()
        if oid:
            register_type(new_array_type((oid,), "ULID[]", STRING), connection)
