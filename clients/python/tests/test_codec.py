import uuid

import pytest
import ulid
from pg_ulid import canonical, to_uuid

TEXT = "01ARYZ6S41TSV4RRFFQ69G5FAV"
UUID = uuid.UUID("01563df3-6481-d676-4c61-efb99302bd5b")


def verdict(given):
    try:
        return canonical(given)
    except ValueError as error:
        assert str(error) == f'invalid input syntax for type ulid: "{given}"'


def test_accepts_what_the_server_accepts(sample):
    for _, given, expected in sample.rows:
        assert verdict(given) == expected, given


@pytest.mark.parametrize("value", [TEXT, TEXT.lower(), str(UUID), UUID, ulid.ULID.from_str(TEXT), ulid.ULID.from_uuid(UUID)])
def test_forms_of_an_id(value):
    assert canonical(value) == TEXT and to_uuid(value) == UUID


@pytest.mark.parametrize("value", [None, 0, UUID.int, UUID.bytes, TEXT.encode(), [TEXT], "0" * 25, "0" * 27])
def test_anything_else_is_refused(value):
    with pytest.raises(ValueError, match="invalid input syntax for type ulid"):
        canonical(value)


def test_bounds():
    assert canonical(uuid.UUID(int=0)) == "0" * 26 and to_uuid("0" * 26).int == 0
    assert canonical(uuid.UUID(int=2**128 - 1)) == "7" + "Z" * 25 and to_uuid("7" + "Z" * 25).int == 2**128 - 1
