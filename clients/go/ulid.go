// Package pgulid has a value for the type ulid of the PostgreSQL extension ulid, which database/sql, lib/pq, pgx and GORM can
// read and write. It accepts the texts that the server accepts, and no other.
//
// The package pgxulid makes the type known to pgx.
package pgulid

import (
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

var (
	isULID  = regexp.MustCompile(`^[0-7OILoil][0-9A-TV-Za-tv-z]{25}$`)
	isUUID  = regexp.MustCompile(`^(([0-9A-Fa-f]{4}-?){7}[0-9A-Fa-f]{4}|\{([0-9A-Fa-f]{4}-?){7}[0-9A-Fa-f]{4}\})$`)
	digits  = strings.NewReplacer("{", "", "-", "", "}", "")
	aliases = strings.NewReplacer("O", "0", "I", "1", "L", "1")
)

// ID is the 16 bytes of an id. Other types of 16 bytes, such as ulid.ULID of oklog/ulid and uuid.UUID, are converted with
// ID(other) and back. For a column that may be NULL, use *ID.
type ID [16]byte

// Parse returns the id that a text is for the server: a ULID in either case, with O for 0 and I or L for 1, or a UUID
// with or without hyphens and braces, as PostgreSQL reads it. Any other text is an error.
func Parse(text string) (ID, error) {
	var id ID
	if isUUID.MatchString(text) {
		_, err := hex.Decode(id[:], []byte(digits.Replace(text)))
		return id, err
	}
	if !isULID.MatchString(text) {
		// the server counts bytes, and looks at the first character before the others
		if len(text) == 26 && strings.Contains(alphabet[8:]+strings.ToLower(alphabet[8:]), text[:1]) {
			return id, fmt.Errorf(`value "%s" is out of range for type ulid`, text)
		}
		return id, fmt.Errorf(`invalid input syntax for type ulid: "%s"`, text)
	}
	for i, character := range aliases.Replace(strings.ToUpper(text)) {
		digit := strings.IndexRune(alphabet, character)
		for bit := 0; bit < 5; bit++ { // 26 characters of 5 bits are 130: the first two are zero
			if at := i*5 + bit - 2; at >= 0 {
				id[at/8] |= byte(digit>>(4-bit)&1) << (7 - at%8)
			}
		}
	}
	return id, nil
}

// String returns the 26 characters that the server writes.
func (id ID) String() string {
	var text [26]byte
	for i := range text {
		digit := 0
		for at := i*5 - 2; at < i*5+3; at++ {
			digit <<= 1
			if at >= 0 {
				digit |= int(id[at/8] >> (7 - at%8) & 1)
			}
		}
		text[i] = alphabet[digit]
	}
	return string(text[:])
}

// UUID returns the text of the UUID of the same bytes, which columns of the types ulid and uuid accept.
func (id ID) UUID() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// Value returns the text of the UUID, so that an ID can be a parameter for a column of either type. It implements driver.Valuer.
func (id ID) Value() (driver.Value, error) {
	return id.UUID(), nil
}

// Scan reads what a driver returns for a column of the type ulid or uuid. NULL, and a text that Parse refuses, are errors. It
// implements sql.Scanner.
func (id *ID) Scan(source any) error {
	switch source := source.(type) {
	case string:
		return id.UnmarshalText([]byte(source))
	case []byte:
		return id.UnmarshalText(source)
	}
	return fmt.Errorf("cannot scan %T into an id", source)
}

// MarshalText returns the 26 characters that the server writes, also for JSON.
func (id ID) MarshalText() ([]byte, error) {
	return []byte(id.String()), nil
}

// UnmarshalText reads a text as Parse does; if that is an error, the id remains what it was.
func (id *ID) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err == nil {
		*id = parsed
	}
	return err
}

// GormDataType makes "ulid" the type of a column in GORM; the tag `type:uuid` overrides it.
func (ID) GormDataType() string {
	return "ulid"
}

// IDs is a list of ids: a column or parameter of the type ulid[] or uuid[]. A nil list is NULL, in both directions.
type IDs []ID

// Value returns the text of an array. It implements driver.Valuer.
func (ids IDs) Value() (driver.Value, error) {
	if ids == nil {
		return nil, nil
	}
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.UUID()
	}
	return "{" + strings.Join(texts, ",") + "}", nil
}

// Scan reads an array of one dimension, as text, or as the binary format that pgx passes on. An element that is NULL is an error.
// It implements sql.Scanner.
func (ids *IDs) Scan(source any) error {
	var text string
	switch source := source.(type) {
	case nil:
		*ids = nil
		return nil
	case string:
		text = source
	case []byte:
		if len(source) > 0 && source[0] == 0 {
			return ids.scanBinary(source)
		}
		text = string(source)
	default:
		return fmt.Errorf("cannot scan %T into ids", source)
	}
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return fmt.Errorf("not an array of ids: %q", text)
	}
	found := IDs{}
	if text != "{}" {
		for _, element := range strings.Split(text[1:len(text)-1], ",") {
			id, err := Parse(element)
			if err != nil {
				return err
			}
			found = append(found, id)
		}
	}
	*ids = found
	return nil
}

// scanBinary reads the number of dimensions, two words, for one dimension its length and lower bound, and elements, each with
// its length before it.
func (ids *IDs) scanBinary(source []byte) error {
	word := func(at int) uint32 { return binary.BigEndian.Uint32(source[at:]) }
	const header, element = 20, 4 + 16
	if len(source) == 12 && word(0) == 0 {
		*ids = IDs{}
		return nil
	}
	if len(source) < header || word(0) != 1 || len(source)%element != 0 || uint64(word(12)) != uint64(len(source)/element-1) {
		return fmt.Errorf("not an array of ids: %x", source)
	}
	found := make(IDs, word(12))
	for i := range found {
		at := header + i*element
		if word(at) != 16 {
			return fmt.Errorf("not an array of ids: %x", source)
		}
		copy(found[i][:], source[at+4:])
	}
	*ids = found
	return nil
}

// GormDataType makes "ulid[]" the type of a column in GORM; the tag `type:uuid[]` overrides it.
func (IDs) GormDataType() string {
	return "ulid[]"
}
