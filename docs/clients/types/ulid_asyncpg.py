"""The type ulid for asyncpg, in binary: asyncpg.create_pool(init=use_ulid).

Ids are read as str; parameters are str or uuid.UUID. The codec accepts what the server accepts, and raises ValueError for
anything else.
"""
import re
import uuid

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
ALIASES = str.maketrans("OIL", "011")
ULID = re.compile("[0-7OILoil][0-9A-TV-Za-tv-z]{25}")
UUID = re.compile("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def encode(value):
    if isinstance(value, uuid.UUID):
        return value.bytes
    if UUID.fullmatch(value):
        return uuid.UUID(value).bytes
    if not ULID.fullmatch(value):
        raise ValueError(f"invalid input syntax for type ulid: {value!r}")
    number = 0
    for character in value.upper().translate(ALIASES):
        number = number << 5 | ALPHABET.index(character)
    return number.to_bytes(16, "big")


def decode(data):
    number = int.from_bytes(data, "big")
    return "".join(ALPHABET[number >> bits & 31] for bits in range(125, -1, -5))


async def use_ulid(connection):
    await connection.set_type_codec("ulid", encoder=encode, decoder=decode, format="binary")
