// libpqxx; prints the results of its tests.
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <pqxx/pqxx>

static int tests = 0;

static void check(bool as_it_should_be, char const *what) {
    std::cout << (as_it_should_be ? "ok " : "not ok ") << ++tests << " - " << what << std::endl;
}

int main() {
    pqxx::connection connection;
    pqxx::nontransaction tx{connection};

    auto customer = tx.query_value<std::string>("INSERT INTO customer (name) VALUES ('Ada') RETURNING id");
    auto insert = "INSERT INTO orders (customer_id, note) VALUES ($1, $2) RETURNING id";
    auto first = tx.exec(insert, pqxx::params{tx, customer, "first"}).one_field().as<std::string>();
    auto second = tx.exec(insert, pqxx::params{tx, customer, "second"}).one_field().as<std::string>();
    auto note = tx.exec("SELECT note FROM orders WHERE id = $1", pqxx::params{tx, first}).one_field();
    check(note.as<std::string>() == "first", "read");
    std::vector<std::string> ids{first, second};
    auto list = tx.exec("SELECT id FROM orders WHERE id = ANY ($1)", pqxx::params{tx, ids});
    check(list.size() == 2, "list");

    tx.exec("UPDATE orders SET related = $1 WHERE id = $2", pqxx::params{tx, ids, first});
    auto row = tx.exec("SELECT related FROM orders WHERE id = $1", pqxx::params{tx, first}).one_row();
    auto related = row[0].as<pqxx::array<std::string>>();
    check(related.size() == 2 && related[1] == second, "array");

    auto stream = pqxx::stream_to::table(tx, {"orders"}, {"id", "note"});
    stream.write_values("01ARYZ6S41TSV4RRFFQ69G5FAV", "third");
    stream.complete();
    check(tx.query_value<int>("SELECT count(*) FROM orders") == 3, "bulk load");

    for (auto sample : tx.exec("SELECT note, given FROM sample.given")) {
        auto given = sample[1].as<std::optional<std::string>>();
        auto into = given ? "INSERT INTO orders (note, id) VALUES ($1, $2)" : "INSERT INTO orders (note, customer_id) VALUES ($1, $2)";
        try {
            tx.exec(into, pqxx::params{tx, sample[0].as<std::string>(), given});
        } catch (pqxx::data_exception const &) {
        }
    }
    check(tx.query_value<std::string>("SELECT sample.compare()") == "equal", "malformed ids");

    std::string message;
    try {
        tx.exec("SELECT id FROM orders WHERE id = ANY ($1)", pqxx::params{ids});
    } catch (pqxx::argument_error const &error) {
        message = error.what();
    }
    check(message == "Tried to read text without knowing its encoding.", "an array without the encoding");
    std::cout << "1.." << tests << std::endl;
}
