package pgulid;

import java.math.BigInteger;
import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import org.postgresql.PGConnection;
import org.postgresql.util.PGobject;

/**
 * A value of the type {@code ulid} of the PostgreSQL extension ulid.
 *
 * <p>As a parameter it is sent as a {@code ulid}, so that it works with every option of the URL. Its text is passed on as it
 * is, and the server accepts or refuses it. {@link #getValue()} and {@link #toString()} return the text.
 */
public class PgUlid extends PGobject implements Comparable<PgUlid> {
    private static final long serialVersionUID = 1L;
    private static final String ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    private static final Pattern ULID = Pattern.compile("[0-7OILoil][0-9A-TV-Za-tv-z]{25}");
    private static final Pattern UUID_TEXT = Pattern.compile("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}");

    /** A null, which pgjdbc fills. */
    public PgUlid() {
        type = "ulid";
    }

    /**
     * A value with this text, which the server judges.
     *
     * @param text the text of an id, or null
     */
    public PgUlid(String text) {
        this();
        value = text;
    }

    /** Orders by the text, as EclipseLink orders what it writes; values without one are equal and first. */
    @Override
    public int compareTo(PgUlid other) {
        return Comparator.nullsFirst(Comparator.<String>naturalOrder()).compare(value, other.value);
    }

    /**
     * Makes {@code getObject} return values of this class for {@code ulid}, and arrays of them for {@code ulid[]}.
     *
     * @param connection a connection of pgjdbc, or of a pool
     * @throws SQLException if it is neither
     */
    public static void registerType(Connection connection) throws SQLException {
        connection.unwrap(PGConnection.class).addDataType("ulid", PgUlid.class);
    }

    /**
     * Makes a parameter for a {@code ulid[]}.
     *
     * @param connection the connection of the statement
     * @param ids the texts of ids, or null in place of an id
     * @return the array
     * @throws SQLException if the extension is not in the database
     */
    public static Array array(Connection connection, List<String> ids) throws SQLException {
        return connection.createArrayOf("ulid", ids.toArray());
    }

    /**
     * Reads a {@code ulid[]}.
     *
     * @param array what {@code getArray} returned, or null
     * @return the texts, or null
     * @throws SQLException as {@link Array#getArray()}
     */
    public static List<String> list(Array array) throws SQLException {
        if (array == null) return null;
        List<String> ids = new ArrayList<>();
        for (Object id : (Object[]) array.getArray()) ids.add(id == null ? null : id.toString());
        return ids;
    }

    /**
     * Converts an id to a UUID of the same 16 bytes.
     *
     * @param text what the server accepts as a ulid
     * @return the UUID
     * @throws IllegalArgumentException if the server would not accept the text
     */
    public static UUID toUuid(String text) {
        if (UUID_TEXT.matcher(text).matches()) return UUID.fromString(text);
        if (!ULID.matcher(text).matches())
            throw new IllegalArgumentException("invalid input syntax for type ulid: \"" + text + "\"");
        BigInteger number = BigInteger.ZERO;
        for (char letter : text.toCharArray()) number = number.shiftLeft(5).or(BigInteger.valueOf(digit(letter)));
        return new UUID(number.shiftRight(64).longValue(), number.longValue());
    }

    private static int digit(char letter) {
        switch (letter) {
            case 'O': case 'o': return 0;
            case 'I': case 'i': case 'L': case 'l': return 1;
            default: return ALPHABET.indexOf(letter >= 'a' ? letter - 32 : letter);
        }
    }

    /**
     * Converts a UUID to the text of the id that has its 16 bytes.
     *
     * @param uuid the UUID
     * @return 26 characters, as the server writes them
     */
    public static String fromUuid(UUID uuid) {
        long high = uuid.getMostSignificantBits(), low = uuid.getLeastSignificantBits();
        char[] text = new char[26];
        for (int i = 25; i >= 0; i--) {
            text[i] = ALPHABET.charAt((int) low & 31);
            low = low >>> 5 | high << 59;
            high >>>= 5;
        }
        return new String(text);
    }

    /**
     * Converts an id to the text that the server returns.
     *
     * @param text what the server accepts as a ulid
     * @return 26 characters, as the server writes them
     * @throws IllegalArgumentException if the server would not accept the text
     */
    public static String canonical(String text) {
        return fromUuid(toUuid(text));
    }
}
