package pgulid;

import static org.junit.Assert.*;
import static pgulid.Database.query;

import java.io.StringReader;
import java.sql.*;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.*;
import org.postgresql.PGConnection;

public class PgjdbcTest {
    static final String BY_ID = "SELECT note FROM orders WHERE id = ?";
    static String url;
    Connection connection;

    @BeforeClass public static void create() throws Exception {
        url = Database.create("jvm_pgjdbc", Database.TABLES, Database.sample());
    }

    @Before public void connect() throws SQLException {
        connection = DriverManager.getConnection(url);
        PgUlid.registerType(connection);
        connection.createStatement().execute("TRUNCATE customer, orders");
    }

    @After public void disconnect() throws SQLException {
        connection.close();
    }

    String insert(String note) throws SQLException {
        return query(connection, "INSERT INTO orders (note) VALUES (?) RETURNING id", note).get(0);
    }

    @Test public void insertsReadsAndLists() throws SQLException {
        String customer = query(connection, "INSERT INTO customer (name) VALUES ('Ada') RETURNING id").get(0);
        String insert = "INSERT INTO orders (customer_id, note) VALUES (?, ?) RETURNING id";
        String first = query(connection, insert, customer, "first").get(0);       // a string, in an INSERT
        String second = query(connection, insert, new PgUlid(customer.toLowerCase()), "second").get(0);
        query(connection, insert, new PgUlid(null), "nobody");
        assertEquals(List.of("first"), query(connection, BY_ID, new PgUlid(first)));
        assertEquals(List.of("first"), query(connection, BY_ID, PgUlid.toUuid(first)));
        assertEquals(List.of("first"), query(connection, "SELECT note FROM orders WHERE id = ?::ulid", first));
        String list = "SELECT note FROM orders WHERE id = ANY (?) ORDER BY 1";
        assertEquals(List.of("first", "second"), query(connection, list, PgUlid.array(connection, List.of(first, second))));
        assertEquals(List.of("nobody"), query(connection, "SELECT note FROM orders WHERE customer_id IS NULL"));
    }

    @Test public void readsValues() throws SQLException {
        String id = insert("first");
        ResultSet row = connection.createStatement().executeQuery("SELECT id FROM orders");
        row.next();
        assertEquals(new PgUlid(id), row.getObject(1));
        assertEquals(PgUlid.class, row.getObject(1).getClass());
        assertEquals(id, row.getString(1));
        assertThrows(ClassCastException.class, () -> row.getObject(1, UUID.class));        // read id::uuid
    }

    @Test public void stringsWithoutATypeWork() throws SQLException {
        String id = insert("first");
        try (Connection untyped = DriverManager.getConnection(url + "&stringtype=unspecified")) {
            assertEquals(List.of("first"), query(untyped, BY_ID, id));
        }
        SQLException error = assertThrows(SQLException.class, () -> query(connection, BY_ID, id));
        assertTrue(error.getMessage(), error.getMessage().startsWith("ERROR: operator does not exist: ulid = character varying"));
        Array texts = connection.createArrayOf("text", new String[] {id});
        error = assertThrows(SQLException.class, () -> query(connection, "SELECT note FROM orders WHERE id = ANY (?)", texts));
        assertTrue(error.getMessage(), error.getMessage().startsWith("ERROR: operator does not exist: ulid = text"));
    }

    @Test public void findsWindowsAndPrefixes() throws SQLException {
        String id = insert("now");
        query(connection, "INSERT INTO orders (id, note) VALUES (?, 'old') RETURNING id", new PgUlid("01ARYZ6S41TSV4RRFFQ69G5FAV"));
        OffsetDateTime now = OffsetDateTime.now();
        String within = "SELECT note FROM orders WHERE id <@ tstzrange(?, ?)";
        assertEquals(List.of("now"), query(connection, within, now.minusHours(1), now.plusHours(1)));
        String prefix = "SELECT note FROM orders WHERE ulid_starts_with(id, ?)";
        assertEquals(List.of("now"), query(connection, prefix, id.substring(0, 9)));
    }

    @Test public void storesArrays() throws SQLException {
        List<String> ids = Arrays.asList(insert("first"), null, insert("second"));
        query(connection, "UPDATE orders SET related = ? RETURNING id", PgUlid.array(connection, ids));
        ResultSet row = connection.createStatement().executeQuery("SELECT related, NULL::ulid[] FROM orders");
        row.next();
        assertEquals(ids, PgUlid.list(row.getArray(1)));
        assertNull(PgUlid.list(row.getArray(2)));
    }

    @Test public void loads() throws Exception {
        PreparedStatement batch = connection.prepareStatement("INSERT INTO orders (id, note) VALUES (?, ?)");
        for (String id : List.of("01ARYZ6S41TSV4RRFFQ69G5FAV", "01aryz6s41tsv4rrffq69g5faw")) {
            batch.setObject(1, new PgUlid(id));
            batch.setString(2, "loaded");
            batch.addBatch();
        }
        assertEquals(2, batch.executeBatch().length);
        String rows = "01aryz6s41tsv4rrffq69g5fax\tcopied\n";
        connection.unwrap(PGConnection.class).getCopyAPI().copyIn("COPY orders (id, note) FROM STDIN", new StringReader(rows));
        assertEquals(List.of("01ARYZ6S41TSV4RRFFQ69G5FAV", "01ARYZ6S41TSV4RRFFQ69G5FAW", "01ARYZ6S41TSV4RRFFQ69G5FAX"),
            query(connection, "SELECT id FROM orders ORDER BY id"));
    }

    @Test public void theServerJudgesValues() throws SQLException {
        judge(connection, true);
    }

    @Test public void theServerJudgesStrings() throws SQLException {
        try (Connection untyped = DriverManager.getConnection(url + "&stringtype=unspecified")) {
            judge(untyped, false);
        }
    }

    void judge(Connection connection, boolean value) throws SQLException {
        int refused = 0;
        ResultSet sample = connection.createStatement().executeQuery("SELECT note, given FROM sample.given");
        while (sample.next()) {
            String given = sample.getString(2), column = given == null ? "customer_id" : "id";
            PreparedStatement store = connection.prepareStatement("INSERT INTO orders (note, " + column + ") VALUES (?, ?)");
            store.setString(1, sample.getString(1));
            if (value) store.setObject(2, new PgUlid(given)); else store.setString(2, given);
            try {
                store.executeUpdate();
            } catch (SQLException error) {
                assertEquals("22", error.getSQLState().substring(0, 2));
                refused++;
            }
        }
        assertTrue(refused > 20);
        assertEquals(List.of("equal"), query(connection, "SELECT sample.compare()"));
    }
}
