"""What an application does with ids, through each tool; with uuid columns and ulid_sql too, where the tool converts values."""

import re
from datetime import datetime, timedelta, timezone
from functools import partial

import psycopg
import pytest
from conftest import compare
from pg_ulid import canonical, to_uuid
from tools import Asyncpg, Django, Psycopg, Psycopg2, SQLAlchemy

GIVEN = "01ARYZ6S41TSV4RRFFQ69G5FAV"
MADE = datetime(2016, 7, 30, 22, 36, 16, 385000, timezone.utc)
ORMS = {f"SQLAlchemy, {driver}": partial(SQLAlchemy, driver=driver) for driver in ("psycopg", "psycopg2", "asyncpg")}
TOOLS = {"psycopg": Psycopg, "psycopg2": Psycopg2, "asyncpg": Asyncpg, **ORMS, "Django": Django}


@pytest.fixture
def tool(open_tool, database, native):
    tool = open_tool(native=native)
    yield tool
    tool.close()


def pytest_generate_tests(metafunc):
    if "tool" in metafunc.fixturenames:
        both = [(name, native) for name in TOOLS for native in (True, False) if native or name in ORMS or name == "Django"]
        ids = [f"{name}, {'ulid' if native else 'uuid'}" for name, native in both]
        values = [(TOOLS[name], native) for name, native in both]
        metafunc.parametrize("open_tool, native", values, ids=ids, indirect=["native"])


def test_ids(tool):
    ada = tool.customer()
    assert re.fullmatch("[0-7][0-9A-HJKMNP-TV-Z]{25}", ada)
    first, second = tool.insert(note="first", customer_id=ada.lower()), tool.insert(note="second", customer_id=ada)
    for form in first, first.lower(), str(to_uuid(first)), to_uuid(first):
        assert tool.find(form) == ("first", ada, None)
    assert tool.find(GIVEN) is None
    assert tool.find_all([first, second.lower(), GIVEN]) == ["first", "second"]
    tool.bulk([{"id": GIVEN.lower(), "note": "third"}, {"id": "7" + "Z" * 25, "note": "fourth"}])
    assert tool.find(GIVEN)[0] == "third" and tool.find_all(["7" + "Z" * 25]) == ["fourth"]


def test_array(tool):
    first = tool.insert(note="first")
    for ids in [GIVEN.lower(), None, first], [], None:
        tool.relate(first, ids)
        assert tool.find(first)[2] == (ids and [id and canonical(id) for id in ids])


def test_window_and_prefix(tool):
    tool.insert(note="first")
    tool.insert(note="of 2016", id=GIVEN)
    now, hour = datetime.now(timezone.utc), timedelta(hours=1)
    assert tool.within(now - hour, now + hour) == tool.within(now - hour, None) == ["first"]
    assert tool.within(None, now - hour) == tool.within(MADE, MADE + timedelta(milliseconds=1)) == ["of 2016"]
    assert tool.within(MADE - timedelta(milliseconds=1), MADE) == []
    assert tool.starts_with("01aryz") == ["of 2016"] and tool.starts_with("") == ["first", "of 2016"]
    with pytest.raises(Exception, match="invalid prefix of a ulid"):
        tool.starts_with("01U")


def test_malformed_ids(tool, cases):
    for note, given, verdict in cases:
        rows = [{"note": note, "id": given}, {"note": f"array of {note}", "related": [given]}]
        for row in rows if given is not None else [{"note": note, "customer_id": None}]:
            if given is None or verdict:
                tool.insert(**row)
            else:
                with pytest.raises(tool.error, match="(?i)ulid"):
                    tool.insert(**row)
    compare(arrays=True)


def test_conversions(cases):
    for _, given, verdict in cases:
        if verdict:
            assert canonical(given) == canonical(to_uuid(given)) == verdict
        elif given is not None:
            with pytest.raises(psycopg.DataError) as refusal, psycopg.connect() as connection:
                connection.execute("SELECT %s::text::ulid", [given])
            with pytest.raises(ValueError, match=f"^{re.escape(refusal.value.diag.message_primary)}\\Z"):
                canonical(given)
    for value in None, 0, GIVEN.encode(), [GIVEN]:
        with pytest.raises(ValueError, match="invalid input syntax for type ulid"):
            to_uuid(value)
