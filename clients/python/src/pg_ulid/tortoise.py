"""The type ulid for Tortoise ORM, with asyncpg."""

from datetime import datetime
from typing import Any

from pypika_tortoise.terms import Function
from tortoise.expressions import Q, ResolveContext
from tortoise.fields.base import Field
from tortoise.query_utils import QueryModifier, resolve_nested_field

from ._codec import canonical, for_server

__all__ = ["StartsWith", "UlidField", "Within"]


class UlidField(Field[str], str):  # type: ignore[misc]
    """A column of type ulid; with native=False, a column of type uuid and the functions of ulid_sql.

    Values are str as the server writes them. A str, uuid.UUID or ulid.ULID that the server accepts may be given. What it
    does not accept is an error: of the server, or a ValueError with native=False.
    """

    def __init__(self, native: bool = True, **options: Any) -> None:
        self.native = native
        super().__init__(**options)

    @property
    def SQL_TYPE(self) -> str:  # type: ignore[override]
        return "ulid" if self.native else "uuid"

    def to_db_value(self, value: Any, instance: Any) -> Any:
        return for_server(value, self.native)

    def to_python_value(self, value: Any) -> Any:
        """What the server returns, and what an application gives to an object, which keeps what is no id."""
        try:
            return None if value is None else canonical(value)
        except ValueError:
            return value


class Condition(Q):
    """A condition on a field that is the call of a function."""

    def __init__(self, field: str) -> None:
        super().__init__()
        self.field = field

    def resolve(self, resolve_context: ResolveContext) -> QueryModifier:
        term, joins, _ = resolve_nested_field(resolve_context.model, resolve_context.table, self.field)
        return QueryModifier(where_criterion=self.criterion(term), joins=joins)

    def criterion(self, term: Any) -> Function:
        raise NotImplementedError

    def __bool__(self) -> bool:
        return True

    def __invert__(self) -> Q:
        condition = Q(self)
        condition.negate()
        return condition


class Within(Condition):
    """filter(Within("id", start, end)): the ids made from start until before end; None: no bound."""

    def __init__(self, field: str, start: datetime | None, end: datetime | None) -> None:
        super().__init__(field)
        self.times = start, end

    def criterion(self, term: Any) -> Function:
        return Function("ulid_contained_by_range", term, Function("tstzrange", *self.times))


class StartsWith(Condition):
    """filter(StartsWith("id", "01KD")): the ids whose text starts with these characters, by an index on them."""

    def __init__(self, field: str, prefix: str) -> None:
        super().__init__(field)
        self.prefix = prefix

    def criterion(self, term: Any) -> Function:
        return Function("ulid_starts_with", term, self.prefix)
