"""The type ulid for Django with psycopg 3: UlidField, the lookup `within` for windows of time, and arrays."""
import re
import uuid

from django.core.exceptions import ValidationError
from django.db import models
from django.db.backends.signals import connection_created
from django.dispatch import receiver
from psycopg.types import TypeInfo

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
ALIASES = str.maketrans("OIL", "011")
ULID = re.compile("[0-7OILoil][0-9A-TV-Za-tv-z]{25}")
UUID = re.compile("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


class UlidField(models.Field):
    """Converts what the server accepts to the form that the server returns. Anything else is a ValidationError."""

    empty_strings_allowed = False
    default_error_messages = {"invalid": "“%(value)s” is not a valid ULID."}

    def db_type(self, connection):
        return "ulid"

    def to_python(self, value):
        if value is None:
            return None
        if isinstance(value, str) and UUID.fullmatch(value):
            value = uuid.UUID(value)
        if isinstance(value, uuid.UUID):
            return "".join(ALPHABET[value.int >> bits & 31] for bits in range(125, -1, -5))
        if isinstance(value, str) and ULID.fullmatch(value):
            return value.upper().translate(ALIASES)
        raise ValidationError(self.error_messages["invalid"], code="invalid", params={"value": value})

    def get_prep_value(self, value):
        value = super().get_prep_value(value)
        return value if hasattr(value, "resolve_expression") else self.to_python(value)


@UlidField.register_lookup
class Within(models.Lookup):
    lookup_name = "within"
    prepare_rhs = False

    def get_db_prep_lookup(self, value, connection):
        return "tstzrange(%s, %s)", value

    def as_sql(self, compiler, connection):
        left, parameters = self.process_lhs(compiler, connection)
        right, window = self.get_db_prep_lookup(self.rhs, connection)
        return f"{left} <@ {right}", [*parameters, *window]


@receiver(connection_created)
def read_arrays(connection, **arguments):
    if connection.vendor == "postgresql" and (info := TypeInfo.fetch(connection.connection, "ulid")):
        info.register(connection.connection)
