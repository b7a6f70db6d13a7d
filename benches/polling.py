#!/usr/bin/env python3
"""What people pick to read an outbox, side by side: benches/polling.py [--seconds N] [--rounds N]
[--long N]

In the database that the variables PG* name, of a server of its own: it is dropped and created again.
Needs psycopg 3, and pgbench in PATH, and must be allowed to kill a process of the server. The server
has wal_level = logical, fsync on, and, for PgQ, that extension, and pgqd in PATH; what is not there
is left out, and said.

Four pgbench clients insert rows. A consumer, which is a process of its own, begins a poll each ten
milliseconds, also when it has found rows, or as soon as the last one has ended. It stores its position
as it would in production. The kinds are run in turn, in several rounds. Each result is a line:
measure, kind, round, number of consumers, value. The medians are printed at the end.

In each round:

  lost           rows that were committed and never read, at full speed
  tps            transactions of the writers per second, at full speed
  wal            bytes of WAL for each row, at 500 rows per second
  delay_50 _99   ms from the insert to the consumer, at 500 rows per second

Once, in the first round, with the seconds of --long:

  lost, delay    with 5 and 20 consumers that each get every row, or with four workers that share them
  crash_lost     rows that were committed, as the writer knows, and never read, though a process of the
                 server was killed in the middle, so that all connections ended
  crash_twice    rows that were read twice then
  beside_idle    share of the rows that is read while a transaction of somebody else, with an xid, is
                 open, at 500 rows per second
  beside_report  the same beside a transaction in REPEATABLE READ that reads only
  beside_dump    the same beside pg_dump, again and again
  behind         seconds until everything is read that was written at full speed while the consumer
                 was away
  idle_cpu       ms of CPU of the server in a second without a row, with the number of polls a second
                 in place of that of the consumers
  table, index   bytes of the table and of its indexes for each row that was inserted, after a run at
                 full speed with deletes each second, by those kinds that keep what was read
"""

import argparse
import datetime
import multiprocessing
import os
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import psycopg

DATABASE = "polling"
BATCH = 1000
PERIOD = 0.01


def connect(**options):
    return psycopg.connect(dbname=DATABASE, autocommit=True, **options)


class Kind:
    """A way to read an outbox. A subclass has what it creates, what a writer runs, and a poll."""

    create = ""
    insert = "INSERT INTO outbox (message) VALUES (repeat('x', 100));"
    insert_at = "INSERT INTO outbox (at, message) VALUES (%s, repeat('x', 100))"
    # deletes what all consumers have read
    delete = None
    # whether each consumer advances before each of its polls, or one process for all of them
    each_advances = False
    # seconds from one poll to the next, and until the last rows must have been read
    period = PERIOD
    settles = 1

    def setup(self, connection, consumers):
        for statement in self.create.split(";\n"):
            connection.execute(statement)
        connection.execute("CREATE TABLE position (n int PRIMARY KEY, last text, last_tx text)")
        connection.execute(
            "INSERT INTO position SELECT n, '0', '0' FROM generate_series(0, %s) AS n", (consumers - 1,)
        )

    def poll(self, connection, n):
        """Reads what is new, and returns the times at which it was inserted."""
        raise NotImplementedError

    def advance(self, connection):
        """Lets consumers see what is new."""

    def end(self):
        """Ends what a poll has begun."""


class Bigserial(Kind):
    title = "bigserial alone"
    create = """CREATE TABLE outbox (id bigserial PRIMARY KEY,
        at timestamptz NOT NULL DEFAULT clock_timestamp(), message text)"""
    delete = "DELETE FROM outbox WHERE id <= (SELECT min(last::bigint) FROM position)"

    def poll(self, connection, n):
        with connection.transaction():
            rows = connection.execute(
                "SELECT id, extract(epoch FROM at) FROM outbox WHERE id >"
                " (SELECT last::bigint FROM position WHERE n = %s) ORDER BY id LIMIT %s",
                (n, BATCH),
            ).fetchall()
            if rows:
                connection.execute(
                    "UPDATE position SET last = %s WHERE n = %s", (str(rows[-1][0]), n)
                )
        return [row[1] for row in rows]


class Xid8(Kind):
    title = "xid8"
    create = """CREATE TABLE outbox (tx xid8 NOT NULL DEFAULT pg_current_xact_id(), id bigserial,
        at timestamptz NOT NULL DEFAULT clock_timestamp(), message text, PRIMARY KEY (tx, id))"""
    delete = """DELETE FROM outbox WHERE (tx, id) <=
        (SELECT last_tx::xid8, last::bigint FROM position ORDER BY 1, 2 LIMIT 1)"""

    def poll(self, connection, n):
        with connection.transaction():
            last_tx, last = connection.execute(
                "SELECT last_tx, last FROM position WHERE n = %s", (n,)
            ).fetchone()
            rows = connection.execute(
                "SELECT tx::text, id, extract(epoch FROM at) FROM outbox"
                " WHERE (tx, id) > (%s::xid8, %s) AND tx < pg_snapshot_xmin(pg_current_snapshot())"
                " ORDER BY tx, id LIMIT %s",
                (last_tx, int(last), BATCH),
            ).fetchall()
            if rows:
                connection.execute(
                    "UPDATE position SET last_tx = %s, last = %s WHERE n = %s",
                    (rows[-1][0], str(rows[-1][1]), n),
                )
        return [row[2] for row in rows]


class SkipLocked(Kind):
    title = "SKIP LOCKED"
    create = Bigserial.create

    def poll(self, connection, n):
        rows = connection.execute(
            "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox ORDER BY id LIMIT %s"
            " FOR UPDATE SKIP LOCKED) RETURNING extract(epoch FROM at)",
            (BATCH,),
        ).fetchall()
        return [row[0] for row in rows]


class Slot(Kind):
    title = "slot, by SQL"
    create = Bigserial.create
    delete = None
    plugin = "test_decoding"

    def setup(self, connection, consumers):
        super().setup(connection, consumers)
        for n in range(consumers):
            connection.execute(
                "SELECT pg_create_logical_replication_slot(%s, %s)", (f"slot_{n}", self.plugin)
            )

    def poll(self, connection, n):
        rows = connection.execute(
            "SELECT extract(epoch FROM (regexp_match(data, 'at.timestamp with time zone.:''([^'']*)'))"
            "[1]::timestamptz) FROM pg_logical_slot_get_changes(%s, NULL, %s)"
            " WHERE data LIKE 'table public.outbox: INSERT%%'",
            (f"slot_{n}", BATCH),
        ).fetchall()
        return [row[0] for row in rows]


class Stream(Slot):
    """pg_recvlogical with pgoutput, which the server sends each commit, in place of polls."""

    title = "slot, streamed"
    plugin = "pgoutput"
    period = 0
    command = None

    def setup(self, connection, consumers):
        super().setup(connection, consumers)
        connection.execute("CREATE PUBLICATION outbox FOR TABLE outbox")

    def poll(self, connection, n):
        if self.command is None:
            self.command = subprocess.Popen(
                ["pg_recvlogical", "-d", DATABASE, "-S", f"slot_{n}", "--start", "--no-loop", "-f", "-",
                 "-o", "proto_version=1", "-o", "publication_names=outbox"],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ | {"PGTZ": "UTC"},
            )
            os.set_blocking(self.command.stdout.fileno(), False)
            self.rest = b""
        select.select([self.command.stdout], [], [], PERIOD)
        data = self.command.stdout.read()
        if data == b"":
            self.end()
            raise psycopg.OperationalError("pg_recvlogical has ended")
        self.rest += data or b""
        found = list(INSERTED.finditer(self.rest))
        if found:
            self.rest = self.rest[found[-1].end():]
        return [
            datetime.datetime.fromisoformat(insert[1].decode() + ":00").timestamp() for insert in found
        ]

    def end(self):
        if self.command is not None:
            self.command.terminate()
            self.command.wait()
            self.command = None


# The message is binary, but for its values. The offset of the time zone comes before the length of
# the next value, so that no time is taken in halves.
INSERTED = re.compile(rb"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00)t")


class PgQ(Kind):
    """With a tick each ten milliseconds, by the first consumer in place of pgqd."""

    title = "PgQ, ticks of 10 ms"
    create = "CREATE EXTENSION pgq"
    insert = "SELECT pgq.insert_event('q', 't', clock_timestamp()::text || '|' || repeat('x', 100));"
    insert_at = "SELECT pgq.insert_event('q', 't', %s::timestamptz::text || '|' || repeat('x', 100))"
    settings = {
        "ticker_max_lag": "10 milliseconds", "ticker_idle_period": "10 milliseconds",
        "ticker_max_count": "1",
    }

    def setup(self, connection, consumers):
        super().setup(connection, consumers)
        connection.execute("SELECT pgq.create_queue('q')")
        for name, value in self.settings.items():
            connection.execute("SELECT pgq.set_queue_config('q', %s, %s)", (name, value))
        for n in range(consumers):
            connection.execute("SELECT pgq.register_consumer('q', %s)", (f"c{n}",))

    def advance(self, connection):
        connection.execute("SELECT pgq.ticker()")

    def poll(self, connection, n):
        times = []
        while batch := connection.execute("SELECT pgq.next_batch('q', %s)", (f"c{n}",)).fetchone()[0]:
            times += connection.execute(
                "SELECT extract(epoch FROM split_part(ev_data, '|', 1)::timestamptz)"
                " FROM pgq.get_batch_events(%s)",
                (batch,),
            ).fetchall()
            connection.execute("SELECT pgq.finish_batch(%s)", (batch,))
            if len(times) >= BATCH:
                break
        return [row[0] for row in times]


class PgQd(PgQ):
    """With pgqd and queues as their own defaults are: a tick each second."""

    title = "PgQ, pgqd"
    settings = {}
    settles = 10
    command = None

    def advance(self, connection):
        if self.command is None:
            self.file = tempfile.NamedTemporaryFile("w", suffix=".ini")
            self.file.write(
                f"[pgqd]\nbase_connstr = host={os.environ['PGHOST']}\ndatabase_list = {DATABASE}\n"
                f"logfile = {self.file.name}.log\npidfile = {self.file.name}.pid\n"
            )
            self.file.flush()
            self.command = subprocess.Popen(["pgqd", "-q", self.file.name])

    def end(self):
        if self.command is not None:
            self.command.terminate()
            self.command.wait()
            for suffix in (".log", ".pid"):
                if os.path.exists(self.file.name + suffix):
                    os.remove(self.file.name + suffix)
            self.file.close()
            self.command = None


class Ulid(Kind):
    title = "consumers of ulid"
    create = """CREATE EXTENSION ulid;
CREATE TABLE outbox (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(),
        at timestamptz NOT NULL DEFAULT clock_timestamp(), message text)"""
    delete = "SELECT ulid_delete_read('outbox', 1000000)"
    each_advances = True

    def setup(self, connection, consumers):
        super().setup(connection, consumers)
        connection.execute("CALL ulid_refresh_horizon()")
        for n in range(consumers):
            connection.execute("SELECT ulid_create_consumer(%s, 'outbox')", (f"c{n}",))

    def advance(self, connection):
        connection.execute("CALL ulid_refresh_horizon()")

    def poll(self, connection, n):
        with connection.transaction():
            start, end = connection.execute(
                "CALL ulid_next_batch(%s, %s)", (f"c{n}", BATCH)
            ).fetchone()
            if start == end:
                return []
            rows = connection.execute(
                "SELECT id, extract(epoch FROM at) FROM outbox WHERE id >= %s AND id < %s ORDER BY id",
                (start, end),
            ).fetchall()
            connection.execute("SELECT ulid_finish_batch(%s)", (f"c{n}",))
        return [row[1] for row in rows]


class UlidSql(Ulid):
    title = "consumers of ulid_sql"
    create = """CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT gen_ordered_uuid_v7(),
        at timestamptz NOT NULL DEFAULT clock_timestamp(), message text)"""

    def setup(self, connection, consumers):
        with open("sql/ulid_sql.sql", encoding="utf-8") as script:
            connection.execute(script.read())
        super().setup(connection, consumers)


KINDS = {
    "bigserial": Bigserial(),
    "xid8": Xid8(),
    "skip_locked": SkipLocked(),
    "pgq": PgQ(),
    "pgqd": PgQd(),
    "slot": Slot(),
    "stream": Stream(),
    "ulid": Ulid(),
    "ulid_sql": UlidSql(),
}


def consume(kind, n, stop, results):
    """Polls until it finds nothing after the stop. Returns each time of insert, and the delay in ms."""
    read = []
    while not consume_connected(KINDS[kind], n, stop, read):
        KINDS[kind].end()
        time.sleep(0.1)
    KINDS[kind].end()
    results.put(read)


def consume_connected(kind, n, stop, read):
    """Returns false if the connection has ended."""
    try:
        with connect() as connection:
            due = time.time()
            while True:
                stopped = stop.is_set()
                if n == 0 or kind.each_advances:
                    kind.advance(connection)
                times = kind.poll(connection, n)
                now = time.time()
                read += [(at, 1000 * (now - float(at))) for at in times]
                if stopped and not times and STOPPED_AT.value < now - kind.settles:
                    return True
                due = max(due + kind.period, now)
                time.sleep(due - now)
    except psycopg.OperationalError:
        return False


STOPPED_AT = multiprocessing.Value("d", 0.0)


def recreate(kind, consumers):
    with psycopg.connect(dbname="postgres", autocommit=True) as connection:
        for (slot,) in connection.execute("SELECT slot_name FROM pg_replication_slots").fetchall():
            connection.execute("SELECT pg_drop_replication_slot(%s)", (slot,))
        connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {DATABASE}")
    with connect() as connection:
        KINDS[kind].setup(connection, consumers)
        connection.execute("CHECKPOINT")


def write(kind, seconds, rate):
    """Runs the writers. Returns the number of their transactions, and those per second."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(f"BEGIN;\n{KINDS[kind].insert}\nSELECT 1;\nCOMMIT;\n")
        script.flush()
        command = ["pgbench", "-n", "-c", "4", "-j", "2", "-T", str(seconds), "-f", script.name]
        command += ["-R", str(rate)] if rate else []
        output = subprocess.run(command + [DATABASE], capture_output=True, text=True, check=True).stdout
    return (
        int(re.search(r"actually processed: (\d+)", output)[1]),
        float(re.search(r"tps = ([\d.]+)", output)[1]),
    )


def begin_beside(what, other):
    """Begins what goes on beside the consumer, and returns what ends it."""
    other.autocommit = False
    if what == "idle":
        other.execute("CREATE TEMPORARY TABLE held (n int)")
    elif what == "report":
        other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT count(*) FROM pg_class")
    elif what == "dump":
        dump = "while :; do pg_dump -f /dev/null \"$1\" || exit; done"
        loop = subprocess.Popen(
            ["sh", "-c", dump, "sh", DATABASE], start_new_session=True, stderr=subprocess.DEVNULL
        )
        return lambda: os.killpg(loop.pid, signal.SIGTERM)
    return other.rollback


def run(kind, seconds, rate=None, consumers=1, beside=None, deletes=False):
    """Runs writers and consumers. Returns what was written and read."""
    recreate(kind, consumers)
    stop, results = multiprocessing.Event(), multiprocessing.Queue()
    processes = [
        multiprocessing.Process(target=consume, args=(kind, n, stop, results))
        for n in range(consumers)
    ]
    for process in processes:
        process.start()
    deleter = None
    if deletes and KINDS[kind].delete:
        deleter = multiprocessing.Process(target=delete_each_second, args=(kind, stop))
        deleter.start()
    with connect() as connection, connect() as other:
        time.sleep(0.3)
        end_beside = begin_beside(beside, other)
        start = connection.execute("SELECT pg_current_wal_insert_lsn()").fetchone()[0]
        written, tps = write(kind, seconds, rate)
        if beside:
            # what is read later was waited for
            time.sleep(1)
        STOPPED_AT.value = time.time()
        stop.set()
        read = [results.get() for _ in processes]
        end_beside()
        wal = connection.execute(
            "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), %s)", (start,)
        ).fetchone()[0]
        sizes = (0, 0)
        if deletes:
            sizes = connection.execute(
                "SELECT pg_table_size('outbox'), pg_indexes_size('outbox')"
            ).fetchone()
    for process in processes + ([deleter] if deleter else []):
        process.join()
    counts = [len(rows) for rows in read]
    # each consumer gets every row, but for workers that share them
    number = sum(counts) if kind == "skip_locked" else min(counts)
    delays = sorted(delay for rows in read for _, delay in rows)
    return {
        "written": written, "read": number, "tps": tps, "wal": float(wal), "delays": delays,
        "sizes": sizes,
    }


def delete_each_second(kind, stop):
    with connect() as connection:
        while not stop.is_set():
            connection.execute(KINDS[kind].delete)
            time.sleep(1)


def write_known(kind, n, until, results):
    """Inserts rows, also after a crash. Returns the times, in microseconds, of those that were committed."""
    committed = []
    while time.time() < until.value:
        try:
            with connect() as connection:
                while (now := time.time()) < until.value:
                    # another time than those of the other writer
                    at = int(now * 1e6) // 2 * 2 + n
                    text = datetime.datetime.fromtimestamp(at // 1000000, datetime.timezone.utc)
                    connection.execute(
                        KINDS[kind].insert_at, (f"{text:%Y-%m-%d %H:%M:%S}.{at % 1000000:06}+00",)
                    )
                    committed.append(at)
        except psycopg.OperationalError:
            time.sleep(0.1)
    results.put(committed)


def crash(kind, seconds):
    """Returns how many rows were lost and how many read twice, though the server crashed."""
    recreate(kind, 1)
    stop, results, written = multiprocessing.Event(), multiprocessing.Queue(), multiprocessing.Queue()
    until = multiprocessing.Value("d", time.time() + seconds)
    consumer = multiprocessing.Process(target=consume, args=(kind, 0, stop, results))
    writers = [
        multiprocessing.Process(target=write_known, args=(kind, n, until, written)) for n in (0, 1)
    ]
    for process in [consumer] + writers:
        process.start()
    connection = connect()
    pid = connection.execute("SELECT pg_backend_pid()").fetchone()[0]
    time.sleep(seconds / 2)
    os.kill(pid, signal.SIGKILL)
    committed = {at for _ in writers for at in written.get()}
    # what was committed when the server crashed, and not said
    STOPPED_AT.value = time.time()
    stop.set()
    read = [round(float(at) * 1e6) for at, _ in results.get()]
    for process in [consumer] + writers:
        process.join()
    return len(committed - set(read)), len(read) - len(set(read))


def idle_cpu(kind, seconds, polls):
    """CPU of the server in ms per second while a consumer polls so often a second, without rows."""
    recreate(kind, 1)
    with connect() as connection:
        KINDS[kind].advance(connection)
        KINDS[kind].poll(connection, 0)
        time.sleep(2)
        pids = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
            " AND backend_type IN ('client backend', 'walsender')"
        ).fetchall()

        def cpu():
            ticks = 0
            for (pid,) in pids:
                with open(f"/proc/{pid}/stat") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
                ticks += int(fields[11]) + int(fields[12])
            return ticks * 1000 / os.sysconf("SC_CLK_TCK")

        before, end = cpu(), time.time() + seconds
        while time.time() < end:
            KINDS[kind].advance(connection)
            KINDS[kind].poll(connection, 0)
            time.sleep(1 / polls)
        used = cpu() - before
        KINDS[kind].end()
        return used / seconds


def behind(kind, seconds):
    """Seconds until a consumer has read what was written while it was away."""
    recreate(kind, 1)
    written, _ = write(kind, seconds, None)
    start, number = time.time(), 0
    with connect() as connection:
        while number < written and time.time() - start < 60:
            KINDS[kind].advance(connection)
            number += len(KINDS[kind].poll(connection, 0))
    KINDS[kind].end()
    return time.time() - start if number >= written else float("inf")


def measure(kind, number, seconds, long, put):
    fast = run(kind, seconds)
    put("lost", kind, number, 1, max(0, fast["written"] - fast["read"]))
    put("tps", kind, number, 1, fast["tps"])
    slow = run(kind, seconds, rate=500)
    put("wal", kind, number, 1, slow["wal"] / slow["written"])
    for share in (50, 99):
        delays = slow["delays"]
        put(f"delay_{share}", kind, number, 1, delays[min(len(delays) - 1, len(delays) * share // 100)])
    if number > 1 or not long:
        return
    for what in ("idle", "report", "dump"):
        beside = run(kind, long, rate=500, beside=what)
        put(f"beside_{what}", kind, number, 1, beside["read"] / beside["written"])
    put("behind", kind, number, 1, behind(kind, long))
    for name, value in zip(("crash_lost", "crash_twice"), crash(kind, long)):
        put(name, kind, number, 1, value)
    for polls in (10, 100):
        put("idle_cpu", kind, number, polls, idle_cpu(kind, long, polls))
    if KINDS[kind].delete or kind == "skip_locked":
        deleted = run(kind, long, deletes=True)
        for name, size in zip(("table", "index"), deleted["sizes"]):
            put(name, kind, number, 1, size / deleted["written"])
    for consumers in (4,) if kind == "skip_locked" else (5, 20):
        many = run(kind, long, rate=500, consumers=consumers)
        put("lost", kind, number, consumers, max(0, many["written"] - many["read"]))
        for share in (50, 99):
            delays = many["delays"]
            index = min(len(delays) - 1, len(delays) * share // 100)
            put(f"delay_{share}", kind, number, consumers, delays[index])


def picture(delays):
    """An SVG of the delays of one consumer, those below 100 ms: of each kind the median, and 99 %."""
    delays = {kind: both for kind, both in delays.items() if both[1] < 100}
    scale = 360 / max(slow for _, slow in delays.values())
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 {26 * len(delays) + 34}"'
        ' font-family="sans-serif" font-size="13">',
        "<title>From the insert of a row until it is read</title>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        '<text x="8" y="20">From the insert of a row until it is read, ms: median, and 99 %</text>',
    ]
    for number, (kind, (half, slow)) in enumerate(delays.items()):
        y = 26 * number + 32
        lines.append(f'<text x="162" y="{y + 13}" text-anchor="end">{KINDS[kind].title}</text>')
        for end, color in ((slow, "#cfe0f3"), (half, "#2b6cb0")):
            lines.append(f'<rect x="170" y="{y}" width="{end * scale:.0f}" height="16" fill="{color}"/>')
        lines.append(f'<text x="{slow * scale + 176:.0f}" y="{y + 13}">{half:.1f}, {slow:.0f}</text>')
    return "\n".join(lines + ["</svg>\n"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--picture", help="file for a picture of the delays")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--long", type=int, default=10, help="0 leaves out what is run once")
    parser.add_argument("--kinds", default=",".join(KINDS))
    arguments = parser.parse_args()
    with psycopg.connect(dbname="postgres", autocommit=True) as connection:
        there = {
            name
            for (name,) in connection.execute("SELECT name FROM pg_available_extensions").fetchall()
        }
    kinds = [kind for kind in arguments.kinds.split(",") if kind in KINDS]
    for kind, is_there in (
        ("pgq", "pgq" in there), ("pgqd", "pgq" in there and shutil.which("pgqd")),
    ):
        if kind in kinds and not is_there:
            kinds.remove(kind)
            print(f"left out: {kind}, which is not there", file=sys.stderr)
    values = {}

    def put(name, kind, number, consumers, value):
        print(name, kind, number, consumers, f"{value:.4g}", sep="\t", flush=True)
        values.setdefault((name, consumers), {}).setdefault(kind, []).append(value)

    for number in range(1, arguments.rounds + 1):
        for kind in kinds:
            measure(kind, number, arguments.seconds, arguments.long, put)
    print("measure", *kinds, sep="\t", file=sys.stderr)
    for (name, consumers), cells in sorted(values.items()):
        medians = [f"{statistics.median(cells[kind]):.4g}" if kind in cells else "" for kind in kinds]
        print(f"{name} {consumers}", *medians, sep="\t", file=sys.stderr)
    if arguments.picture:
        half, slow = (
            {kind: statistics.median(cells) for kind, cells in values[f"delay_{share}", 1].items()}
            for share in (50, 99)
        )
        with open(arguments.picture, "w", encoding="utf-8") as file:
            file.write(picture({kind: (half[kind], slow[kind]) for kind in kinds}))


if __name__ == "__main__":
    main()
