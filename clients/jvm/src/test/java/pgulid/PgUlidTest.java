package pgulid;

import static org.junit.Assert.*;

import java.sql.*;
import java.util.UUID;
import org.junit.Test;

public class PgUlidTest {
    @Test public void acceptsWhatTheServerAccepts() throws Exception {
        try (Connection connection = DriverManager.getConnection(Database.create("jvm_sample", Database.sample()))) {
            ResultSet sample = connection.createStatement().executeQuery(
                "SELECT given, verdict FROM sample.given WHERE given IS NOT NULL");
            int count = 0;
            for (; sample.next(); count++) {
                String given = sample.getString(1), verdict = sample.getString(2);
                if (verdict != null) assertEquals(verdict, PgUlid.canonical(given));
                else assertThrows(given, IllegalArgumentException.class, () -> PgUlid.canonical(given));
            }
            assertTrue(count > 30);
        }
    }

    @Test public void convertsTheSmallestAndTheLargest() {
        assertEquals("00000000000000000000000000", PgUlid.fromUuid(new UUID(0, 0)));
        assertEquals("7ZZZZZZZZZZZZZZZZZZZZZZZZZ", PgUlid.fromUuid(new UUID(-1, -1)));
        assertEquals(new UUID(-1, -1), PgUlid.toUuid("7zzzzzzzzzzzzzzzzzzzzzzzzz"));
        assertEquals(UUID.fromString("01563df3-6481-d676-4c61-efb99302bd5b"), PgUlid.toUuid("01ARYZ6S41TSV4RRFFQ69G5FAV"));
    }
}
