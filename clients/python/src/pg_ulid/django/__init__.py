"""The type ulid for Django.

With "pg_ulid.django" in INSTALLED_APPS, inspectdb knows the type too.
"""

from typing import Any

from django import forms
from django.contrib.postgres.fields import DateTimeRangeField
from django.contrib.postgres.operations import CreateExtension
from django.core.exceptions import ValidationError
from django.db import models
from django.db.backends.signals import connection_created

from .._codec import canonical, from_server, to_uuid

__all__ = ["GenUlid", "UlidExtension", "UlidField"]


class UlidField(models.Field):  # type: ignore[misc]
    """A column of type ulid; with native=False, a column of type uuid and the functions of ulid_sql.

    Values are str as the server writes them. A str or uuid.UUID that the server accepts may be given. What it
    does not accept is a ValidationError.
    """

    description = "ULID"
    empty_strings_allowed = False
    default_error_messages = {"invalid": "“%(value)s” is not a valid ULID."}

    def __init__(self, *args: Any, native: bool = True, **options: Any) -> None:
        self.native = native
        super().__init__(*args, **options)

    def deconstruct(self) -> Any:
        name, path, args, options = super().deconstruct()
        if not self.native:
            options["native"] = False
        return name, path, args, options

    def db_type(self, connection: Any) -> str:
        return "ulid" if self.native else "uuid"

    def to_python(self, value: Any) -> str | None:
        if value is None:
            return None
        try:
            return canonical(value)
        except ValueError:
            raise ValidationError(self.error_messages["invalid"], code="invalid", params={"value": value}) from None

    def validate(self, value: Any, model_instance: Any) -> None:
        super().validate(self.to_python(value), model_instance)  # an ArrayField calls this alone

    def get_prep_value(self, value: Any) -> Any:
        value = super().get_prep_value(value)
        if value is None or hasattr(value, "resolve_expression"):
            return value
        value = self.to_python(value)
        return value if self.native else to_uuid(value)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return from_server(value)

    def value_to_string(self, obj: Any) -> Any:
        return self.value_from_object(obj)

    def formfield(self, **options: Any) -> Any:
        # a form field would remove blanks, and then accept what the server refuses
        return super().formfield(**{"form_class": forms.CharField, "strip": False, "empty_value": None, **options})


@UlidField.register_lookup
class Within(models.Lookup):  # type: ignore[misc]
    """id__within=(start, end): the ids made from start until before end; None: no bound. Or a range of times."""

    lookup_name = "within"

    def get_prep_lookup(self) -> Any:
        if hasattr(self.rhs, "resolve_expression"):
            return self.rhs
        if not isinstance(self.rhs, (tuple, list)):
            return models.Value(self.rhs, DateTimeRangeField())
        times = [
            time if hasattr(time, "resolve_expression") else models.Value(time, models.DateTimeField()) for time in self.rhs
        ]
        return models.Func(*times, function="tstzrange", arity=2, output_field=DateTimeRangeField())

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        left, left_parameters = self.process_lhs(compiler, connection)
        right, right_parameters = self.process_rhs(compiler, connection)
        sql = f"{left} <@ {right}" if self.lhs.output_field.native else f"ulid_contained_by_range({left}, {right})"
        return sql, (*left_parameters, *right_parameters)


@UlidField.register_lookup
class StartsWith(models.Lookup):  # type: ignore[misc]
    """id__starts_with="01KD": by the index, unlike startswith."""

    lookup_name = "starts_with"
    prepare_rhs = False

    def get_db_prep_lookup(self, value: Any, connection: Any) -> Any:
        return "%s", [value]

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        left, left_parameters = self.process_lhs(compiler, connection)
        right, right_parameters = self.process_rhs(compiler, connection)
        return f"ulid_starts_with({left}, {right})", (*left_parameters, *right_parameters)


class GenUlid(models.Func):  # type: ignore[misc]
    """UlidField(primary_key=True, db_default=GenUlid()): an id that the server generates."""

    function = "gen_ulid"
    arity = 0
    output_field = UlidField()


class UlidExtension(CreateExtension):  # type: ignore[misc]
    """The migration operation for CREATE EXTENSION ulid, or ulid_sql with native=False."""

    def __init__(self, native: bool = True) -> None:
        super().__init__("ulid" if native else "ulid_sql")

    def database_forwards(self, app_label: Any, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        super().database_forwards(app_label, schema_editor, from_state, to_state)
        register_ulid(schema_editor.connection)


def register_ulid(connection: Any, **signal: Any) -> None:
    """Make the driver read ulid[] as a list, and inspectdb know the type, if the database has it."""
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regtype('ulid')::oid::int8")
        (oid,) = cursor.fetchone()
    if oid is None:
        return
    types = connection.introspection.data_types_reverse  # of all connections
    connection.introspection.data_types_reverse = {**types, oid: "pg_ulid.django.UlidField"}
    if type(connection.connection).__module__.startswith("psycopg2."):
        from ..psycopg2 import register_ulid
    else:
        from ..psycopg import register_ulid
    register_ulid(connection.connection)


connection_created.connect(register_ulid)
