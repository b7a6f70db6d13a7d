"""psqlODBC with pyodbc; prints the results of its tests."""

import os

import pyodbc

names = {"Server": "PGHOST", "Port": "PGPORT", "Database": "PGDATABASE", "Uid": "PGUSER", "Pwd": "PGPASSWORD"}
options = "".join(f"{name}={os.environ[variable]};" for name, variable in names.items() if variable in os.environ)
connection = pyodbc.connect("Driver={PostgreSQL Unicode};" + options, autocommit=True)
tests = 0


def one(query, *parameters):
    return connection.execute(query, parameters).fetchval()


def check(found, wanted, what):
    global tests
    tests += 1
    print("ok" if found == wanted else "not ok", tests, "-", what if found == wanted else f"{what}: {found!r}", flush=True)


customer = one("INSERT INTO customer (name) VALUES ('Ada') RETURNING id")
first = one("INSERT INTO orders (customer_id, note) VALUES (?, 'first') RETURNING id", customer)
second = one("INSERT INTO orders (customer_id, note) VALUES (?, 'second') RETURNING id", customer.lower())
check(one("SELECT note FROM orders WHERE id = ?", first), "first", "read")
check(one("SELECT customer_id FROM orders WHERE id = ?", second), customer, "lower case")
check(one("SELECT count(*) FROM orders WHERE id IN (?, ?)", first, second), 2, "list")

array = "{" + second + "}"
check(one("UPDATE orders SET related = ? WHERE id = ? RETURNING related", array, first), array, "an array is a string")

for note, given in connection.execute("SELECT note, given FROM sample.given").fetchall():
    into = "customer_id" if given is None else "id"
    try:
        connection.execute(f"INSERT INTO orders (note, {into}) VALUES (?, ?)", note, given)
    except pyodbc.Error as error:
        if not error.args[0].startswith("22"):
            raise
check(one("SELECT sample.compare()"), "equal", "malformed ids")
print(f"1..{tests}")
