package pgulid;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.*;
import java.util.ArrayList;
import java.util.List;

/** Databases for the tests, in the server that the variables PG* name. */
class Database {
    static final Path ROOT = Path.of(System.getenv("ULID_ROOT"));
    static final String TABLES = "CREATE TABLE customer (id ulid PRIMARY KEY DEFAULT gen_ulid(), name text NOT NULL);"
        + "CREATE TABLE orders (id ulid PRIMARY KEY DEFAULT gen_ulid(), customer_id ulid REFERENCES customer,"
        + " note text, related ulid[])";

    /** Creates a database with the extension, and returns its URL. */
    static String create(String name, String... sql) throws Exception {
        try (Connection server = DriverManager.getConnection(url("postgres"))) {
            server.createStatement().execute("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
            server.createStatement().execute("CREATE DATABASE " + name);
        }
        try (Connection connection = DriverManager.getConnection(url(name))) {
            connection.createStatement().execute("CREATE EXTENSION ulid");
            for (String statement : sql) connection.createStatement().execute(statement);
        }
        return url(name);
    }

    static String sample() throws Exception {
        return Files.readString(ROOT.resolve("tests/clients/sample.sql"));
    }

    private static String url(String name) {
        String password = System.getenv("PGPASSWORD");
        return "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + name + "?user="
            + System.getenv("PGUSER") + (password == null ? "" : "&password=" + password);
    }

    /** The first column of the rows, as text. */
    static List<String> query(Connection connection, String sql, Object... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) statement.setObject(i + 1, parameters[i]);
            ResultSet rows = statement.executeQuery();
            List<String> values = new ArrayList<>();
            while (rows.next()) values.add(rows.getString(1));
            return values;
        }
    }
}
