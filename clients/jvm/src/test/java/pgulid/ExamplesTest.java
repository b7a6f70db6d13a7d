package pgulid;

import static org.junit.Assert.*;

import java.nio.file.*;
import java.sql.*;
import java.util.List;
import java.util.regex.*;
import org.junit.*;
import shop.*;

public class ExamplesTest {
    static List<String> notes(String url) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url)) {
            return Database.query(connection, "SELECT note FROM orders ORDER BY id");
        }
    }

    @Test public void jdbc() throws Exception {
        String url = Database.create("jvm_example");
        Jdbc.main(new String[] {url});
        assertEquals(List.of("loaded", "first"), notes(url));
    }

    @Test public void jpa() throws Exception {
        String url = Database.create("jvm_example", Database.TABLES);
        Jpa.main(new String[] {url});
        assertEquals(List.of("first"), notes(url));
    }

    @Test public void thePagesShowThem() throws Exception {
        String examples = "";
        for (String name : List.of("Jdbc", "Jpa")) examples += Files.readString(Path.of("examples", name + ".java")) + "\n";
        for (String name : List.of("clients/jvm/README.md", "docs/clients/jvm.md")) {
            Path page = Database.ROOT.resolve(name);
            Assume.assumeTrue(Files.exists(page));      // where the package is tested alone, there is no page
            Matcher block = Pattern.compile("^```java\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL).matcher(Files.readString(page));
            int count = 0;
            for (; block.find(); count++) assertTrue(block.group(1), examples.contains("\n" + block.group(1)));
            assertTrue(count >= 2);
        }
    }
}
