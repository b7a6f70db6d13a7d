"""The tools of docs/incremental-loads.md load tables, and the views of the page, beside writers.

The writers commit late. Of a table, each tool misses rows; of the view, none. Each tool loads a
table with a key of the type ulid, one of the type uuid, and the views of both, in each of its runs.
"""

import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

PAGE = (Path(__file__).parents[2] / "docs/incremental-loads.md").read_text()
RUNS = 8
DEFAULTS = {"outbox": "ulid PRIMARY KEY DEFAULT gen_ordered_ulid()"}
DEFAULTS["outbox_uuid"] = "uuid PRIMARY KEY DEFAULT gen_ordered_uuid_v7()"
TABLES = list(DEFAULTS)
SOURCES = [table + suffix for table in TABLES for suffix in ("", "_settled")]


def block(section, language):
    """The first block of a language in a section of the page."""
    body = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]
    return re.search(rf"^```{language}\n(.*?)^```$", body, re.MULTILINE | re.DOTALL)[1]


def sql(statements, *parameters):
    with psycopg.connect(autocommit=True) as connection:
        cursor = connection.execute(statements, parameters or None)
        return cursor.fetchall() if cursor.description else []


def url():
    host, port, user, password, name = (
        os.environ["PG" + part] for part in ("HOST", "PORT", "USER", "PASSWORD", "DATABASE")
    )
    return f"postgresql://{user}:{password}@{host}:{port}/{name}"


@pytest.fixture(autouse=True)
def database(monkeypatch):
    name = f"loads_{os.getpid()}"
    monkeypatch.setenv("PGDATABASE", "postgres")
    sql(f"CREATE DATABASE {name}")
    monkeypatch.setenv("PGDATABASE", name)
    sql("CREATE EXTENSION ulid")
    yield
    monkeypatch.setenv("PGDATABASE", "postgres")
    sql(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def writers(number, write):
    """Threads that write in transactions of up to 150 ms, until the block ends."""
    stop = threading.Event()

    def work():
        with psycopg.connect() as connection:
            while not stop.is_set():
                with connection.transaction():
                    write(connection)
                    time.sleep(random.random() * 0.15)

    with ThreadPoolExecutor(number) as pool:
        running = [pool.submit(work) for _ in range(number)]
        try:
            yield
        finally:
            stop.set()
    for thread in running:
        thread.result()


def refresh():
    sql("CALL ulid_refresh_horizon()")


def settle(table, column="id"):
    refresh()
    while not sql(f"SELECT max({column}) < ulid_current_horizon() FROM {table}")[0][0]:
        time.sleep(0.01)
        refresh()


def call(*command, cwd, **variables):
    variables |= {"DO_NOT_TRACK": "1", "RUNTIME__DLTHUB_TELEMETRY": "false"}
    environment = dict(os.environ, **variables)
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return done.stdout


class Dlt:
    """The programs of the page, one after the other in a process."""

    again = 0  # how many rows it loads more than once

    def __init__(self, directory, name, sources, language="python append"):
        self.directory = directory
        program = block("dlt", language)
        first = program.index("pipeline =")
        parts = [
            program[first:].replace(f"{name}_settled", source).replace(f'"{name}"', f'"{source}"')
            for source in sources
        ]
        (directory / "main.py").write_text(program[:first] + "".join(parts))

    def run(self):
        call(
            sys.executable,
            "main.py",
            cwd=self.directory,
            DLT_DATA_DIR=str(self.directory),
            SOURCES__SQL_DATABASE__CREDENTIALS=url(),
            DESTINATION__POSTGRES__CREDENTIALS=url(),
        )

    def ids(self, source):
        return [id for (id,) in sql(f"SELECT id::text FROM copy.{source}")]


class Singer:
    """tap-postgres with the catalog that it discovers, and what Meltano would set in it."""

    again = RUNS  # each run begins with the last row of the one before, if that found rows

    def __init__(self, directory, name, sources):
        self.directory, self.found = directory, {source: [] for source in sources}
        names = "host", "port", "user", "password", "database"
        config = {name: os.environ["PG" + name.upper()] for name in names}
        config |= {"port": int(config["port"]), "filter_schemas": ["public"]}
        (directory / "config.json").write_text(json.dumps(config))
        self.tap = ["tap-postgres", "--config", "config.json"]
        catalog = json.loads(call(*self.tap, "--discover", cwd=directory))
        page = block("Singer", "yaml")
        settings = re.findall(r"^ +replication-(method|key): (\w+)$", page, re.MULTILINE)
        assert dict(settings) == {"method": "INCREMENTAL", "key": "id"}
        for stream in catalog["streams"]:
            selected = stream["table_name"] in sources
            stream |= {f"replication_{name}": value for name, value in settings}
            for entry in stream["metadata"]:
                entry["metadata"]["selected"] = selected
                if not entry["breadcrumb"]:
                    entry["metadata"] |= {f"replication-{name}": value for name, value in settings}
        (directory / "catalog.json").write_text(json.dumps(catalog))
        (directory / "state.json").write_text("{}")

    def run(self):
        refresh()
        state = ["--catalog", "catalog.json", "--state", "state.json"]
        for line in call(*self.tap, *state, cwd=self.directory).splitlines():
            message = json.loads(line)
            if message["type"] == "RECORD":
                source = message["stream"].removeprefix("public-")
                self.found[source].append(message["record"]["id"])
            elif message["type"] == "STATE":
                (self.directory / "state.json").write_text(json.dumps(message["value"]))

    def ids(self, source):
        return self.found[source]


class Dbt:
    """A project with the model of the page for each source."""

    again = 0

    def __init__(self, directory, name, sources):
        self.directory = directory
        (directory / "models").mkdir()
        for source in sources:
            model = block("dbt", "jinja").replace("public.outbox_settled", f"public.{source}")
            (directory / f"models/{source}_copy.sql").write_text(model)
        project = {"name": "loads", "profile": "loads", "model-paths": ["models"]}
        project["flags"] = {"send_anonymous_usage_stats": False}
        hook = re.search(r'^on-run-start: "(.+)"$', block("dbt", "yaml"), re.MULTILINE)
        project["on-run-start"] = hook[1]
        (directory / "dbt_project.yml").write_text(json.dumps(project))
        output = {"type": "postgres", "schema": "dbt", "threads": 1}
        output |= {"port": int(os.environ["PGPORT"])}
        output |= {"host": os.environ["PGHOST"], "user": os.environ["PGUSER"]}
        output |= {"password": os.environ["PGPASSWORD"], "dbname": os.environ["PGDATABASE"]}
        profiles = {"loads": {"target": "test", "outputs": {"test": output}}}
        (directory / "profiles.yml").write_text(json.dumps(profiles))

    def run(self):
        call("dbt", "run", "--profiles-dir", ".", cwd=self.directory)

    def ids(self, source):
        return [id for (id,) in sql(f"SELECT id::text FROM dbt.{source}_copy")]


def test_inserted_rows(tmp_path):
    tables = block("The view", "sql")
    for table, default in DEFAULTS.items():
        assert DEFAULTS["outbox"] in tables
        sql(re.sub(r"\boutbox", table, tables.replace(DEFAULTS["outbox"], default)))

    def write(connection):
        for table in TABLES:
            connection.execute(f"INSERT INTO {table} (message) VALUES (%s)", [str(random.random())])

    def repeat(tool):
        for _ in range(RUNS):
            tool.run()

    tools = []
    for kind in Dlt, Singer, Dbt:
        directory = tmp_path / kind.__name__
        directory.mkdir()
        tools.append(kind(directory, "outbox", SOURCES))
        tools[-1].run()  # there are no rows yet
    with writers(6, write):
        with ThreadPoolExecutor() as pool:
            for done in [pool.submit(repeat, tool) for tool in tools]:
                done.result()
    settle("outbox")
    for tool in tools:
        tool.run()
        for source in SOURCES:
            rows = sql(f"SELECT id::text FROM {source.removesuffix('_settled')}")
            written = {id for (id,) in rows}
            ids = tool.ids(source)
            missed = written - set(ids)
            print(f"{type(tool).__name__}: {len(missed)} of {len(written)} rows of {source} missed")
            assert set(ids) <= written and len(ids) - len(set(ids)) == tool.again
            assert bool(missed) == (source in TABLES)


def test_updated_rows(tmp_path):
    sql(block("Updated rows", "sql"))
    sql("""CREATE FUNCTION set_changed() RETURNS trigger LANGUAGE plpgsql AS
           'BEGIN NEW.changed := gen_ordered_ulid(); RETURN NEW; END';
           CREATE TRIGGER set_changed BEFORE UPDATE ON customer
               FOR EACH ROW EXECUTE FUNCTION set_changed();
           INSERT INTO customer (name) SELECT n FROM generate_series(1, 2000) AS n""")
    ids = [id for (id,) in sql("SELECT id FROM customer")]
    sources = ["customer", "customer_settled"]
    tool = Dlt(tmp_path, "customer", sources, "python merge")

    def write(connection):
        connection.execute(
            "UPDATE customer SET name = %s, deleted = %s WHERE id = %s",
            [str(random.random()), random.random() < 0.1, random.choice(ids)],
        )

    with writers(6, write):
        for _ in range(RUNS):
            refresh()
            tool.run()
    settle("customer", "changed")
    tool.run()
    for source in sources:
        [(differ,)] = sql(f"""SELECT count(*) FROM customer AS t FULL JOIN copy.{source} AS c
            ON t.id = c.id::ulid WHERE (t.name, t.deleted) IS DISTINCT FROM (c.name, c.deleted)""")
        print(f"dlt, merge: {differ} of 2000 rows of the copy of {source} differ")
        assert bool(differ) == (source == "customer")
