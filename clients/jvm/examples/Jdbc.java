package shop;

import java.io.StringReader;
import java.sql.*;
import java.time.OffsetDateTime;
import java.util.List;
import org.postgresql.PGConnection;
import pgulid.PgUlid;

public class Jdbc {
    public static void main(String[] arguments) throws Exception {
        try (Connection connection = DriverManager.getConnection(arguments[0])) {
            PgUlid.registerType(connection);
            connection.createStatement().execute(
                "CREATE TABLE orders (id ulid PRIMARY KEY DEFAULT gen_ulid(), note text, related ulid[])");
            ResultSet row = query(connection, "INSERT INTO orders (note) VALUES ('first') RETURNING id");
            row.next();
            String id = row.getString(1);
            query(connection, "SELECT * FROM orders WHERE id = ?", new PgUlid(id));
            Array ids = PgUlid.array(connection, List.of(id));
            query(connection, "UPDATE orders SET related = ? WHERE id = ANY (?) RETURNING id", ids, ids);
            row = query(connection, "SELECT related FROM orders");
            row.next();
            System.out.println(PgUlid.list(row.getArray(1)));
            query(connection, "SELECT * FROM orders WHERE id <@ tstzrange(?, NULL)", OffsetDateTime.now().minusHours(1));
            query(connection, "SELECT * FROM orders WHERE ulid_starts_with(id, ?)", id.substring(0, 10));
            connection.unwrap(PGConnection.class).getCopyAPI().copyIn("COPY orders (id, note) FROM STDIN",
                new StringReader("01ARYZ6S41TSV4RRFFQ69G5FAV\tloaded\n"));
        }
    }

    static ResultSet query(Connection connection, String sql, Object... parameters) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        for (int i = 0; i < parameters.length; i++) statement.setObject(i + 1, parameters[i]);
        return statement.executeQuery();
    }
}
