package pgulid;

import javax.persistence.AttributeConverter;
import javax.persistence.Converter;

/**
 * For JPA: a {@code String} over a column of the type {@code ulid}, sent as a {@code ulid}. The server judges the text.
 */
@Converter
public class UlidConverter implements AttributeConverter<String, Object> {
    @Override
    public Object convertToDatabaseColumn(String id) {
        return id == null ? null : new PgUlid(id);
    }

    @Override
    public String convertToEntityAttribute(Object value) {
        return value == null ? null : value.toString();
    }
}
