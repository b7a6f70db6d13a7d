"""What the server accepts as a ulid, and nothing else."""

import re
from typing import Any
from uuid import UUID

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
DIGITS = str.maketrans(ALPHABET + "OIL", "0123456789abcdefghijklmnopqrstuv" + "011")
ULID_TEXT = re.compile("[0-7OILoil][0-9A-TV-Za-tv-z]{25}")
UUID_TEXT = re.compile(r"(\{)?(?:[0-9A-Fa-f]{4}-?){7}[0-9A-Fa-f]{4}(?(1)\})")


def to_uuid(value: Any) -> UUID:
    """Convert an id, a str or a uuid.UUID, to a UUID of the same 16 bytes; ValueError if the server would not accept it."""
    if isinstance(value, UUID):
        return value
    if isinstance(value, str):
        if ULID_TEXT.fullmatch(value):
            return UUID(int=int(value.upper().translate(DIGITS), 32))
        if UUID_TEXT.fullmatch(value):
            return UUID(value)
        # the server counts bytes, and looks at the first character before the others
        if len(value.encode(errors="replace")) == 26 and value[0] in ALPHABET[8:] + ALPHABET[8:].lower():
            raise ValueError(f'value "{value}" is out of range for type ulid')
    raise ValueError(f'invalid input syntax for type ulid: "{value}"')


def canonical(value: Any) -> str:
    """Convert an id, a str or a uuid.UUID, to the text that the server returns; ValueError if it would not accept it."""
    number = to_uuid(value).int
    return "".join(ALPHABET[number >> bits & 31] for bits in range(125, -1, -5))


def from_server(value: Any) -> Any:
    """What an application gets for a column: text, also of a uuid column."""
    return canonical(value) if isinstance(value, UUID) else value


def from_bytes(data: bytes) -> str:
    return canonical(UUID(bytes=bytes(data)))


def for_server(value: Any, native: bool) -> Any:
    """What to send for an id.

    To a ulid column, its text; what is no id is passed on, for the server to refuse. To a uuid column, a UUID, as
    PostgreSQL does not read the text of a ulid there; so what is no id is a ValueError.
    """
    if value is None:
        return None
    if not native:
        return to_uuid(value)
    try:
        return canonical(value)
    except ValueError:
        return value
