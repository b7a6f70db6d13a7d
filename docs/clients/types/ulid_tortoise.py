"""The type ulid for Tortoise ORM, with asyncpg: UlidField(primary_key=True, db_default=SqlDefault("gen_ulid()"))."""
import re
import uuid

from tortoise.fields.base import Field

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
ALIASES = str.maketrans("OIL", "011")
ULID = re.compile("[0-7OILoil][0-9A-TV-Za-tv-z]{25}")
UUID = re.compile("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


class UlidField(Field[str], str):
    """Converts ids to the form that the server returns. Anything else is passed on, and the server refuses it."""

    SQL_TYPE = "ulid"

    def to_python_value(self, value):
        if isinstance(value, str) and UUID.fullmatch(value):
            value = uuid.UUID(value)
        if isinstance(value, uuid.UUID):
            return "".join(ALPHABET[value.int >> bits & 31] for bits in range(125, -1, -5))
        if isinstance(value, str) and ULID.fullmatch(value):
            return value.upper().translate(ALIASES)
        return value

    def to_db_value(self, value, instance):
        return self.to_python_value(value)
