// Package pgxulid makes the type ulid known to pgx v5, in binary format: for CopyFrom, for arrays, and for ulid.ULID.
//
//	config.AfterConnect = pgxulid.Register
package pgxulid

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

var (
	isULID  = regexp.MustCompile(`^[0-7OILoil][0-9A-TV-Za-tv-z]{25}$`)
	isUUID  = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
	aliases = strings.NewReplacer("O", "0", "I", "1", "L", "1")
)

// Parse accepts the texts that the server accepts, and returns an error for any other.
func Parse(text string) (id [16]byte, err error) {
	if isUUID.MatchString(text) {
		_, err = hex.Decode(id[:], []byte(strings.ReplaceAll(text, "-", "")))
		return id, err
	}
	if !isULID.MatchString(text) {
		return id, fmt.Errorf("invalid input syntax for type ulid: %q", text)
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

// Format returns the 26 characters that the server writes.
func Format(id [16]byte) string {
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

// Register makes ulid and ulid[] known to a connection.
func Register(ctx context.Context, connection *pgx.Conn) error {
	var oid uint32
	if err := connection.QueryRow(ctx, "SELECT 'ulid'::regtype::oid").Scan(&oid); err != nil {
		return err
	}
	connection.TypeMap().RegisterType(&pgtype.Type{Name: "ulid", OID: oid, Codec: Codec{}})
	array, err := connection.LoadType(ctx, "_ulid")
	if err != nil {
		return err
	}
	connection.TypeMap().RegisterType(array)
	return nil
}

// Codec writes strings that Parse accepts, and values of 16 bytes such as ulid.ULID, uuid.UUID and []byte. It reads an id into
// all of these types, and into an any as a string.
type Codec struct{ pgtype.UUIDCodec }

type write struct{ format int16 }

func (plan write) Encode(value any, out []byte) ([]byte, error) {
	var id [16]byte
	var err error
	if of := reflect.ValueOf(value); of.Kind() == reflect.String {
		id, err = Parse(of.String())
	} else if of.Len() != len(id) {
		err = fmt.Errorf("a ulid has 16 bytes, not %d", of.Len())
	} else {
		reflect.Copy(reflect.ValueOf(&id).Elem(), of)
	}
	if err != nil {
		return nil, err
	}
	if plan.format == pgtype.TextFormatCode {
		return append(out, Format(id)...), nil
	}
	return append(out, id[:]...), nil
}

func (codec Codec) PlanEncode(types *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	of := reflect.TypeOf(value)
	switch of.Kind() {
	case reflect.String:
		return write{format}
	case reflect.Array, reflect.Slice: // UUIDCodec would pad and cut a []byte
		if of.Elem().Kind() == reflect.Uint8 {
			return write{format}
		}
	}
	if format == pgtype.BinaryFormatCode {
		return codec.UUIDCodec.PlanEncode(types, oid, format, value)
	}
	return nil
}

type read struct{ format int16 }

func (plan read) id(in []byte) (id [16]byte, err error) {
	if plan.format == pgtype.TextFormatCode {
		return Parse(string(in))
	}
	if len(in) != len(id) {
		return id, fmt.Errorf("a ulid has 16 bytes, not %d", len(in))
	}
	copy(id[:], in)
	return id, nil
}

func (plan read) Scan(in []byte, target any) error {
	scanner, isUUID := target.(pgtype.UUIDScanner)
	if in == nil {
		if isUUID {
			return scanner.ScanUUID(pgtype.UUID{})
		} else if scanner, ok := target.(pgtype.TextScanner); ok {
			return scanner.ScanText(pgtype.Text{})
		}
		return fmt.Errorf("cannot scan NULL into %T", target)
	}
	id, err := plan.id(in)
	if err != nil {
		return err
	}
	if isUUID {
		return scanner.ScanUUID(pgtype.UUID{Bytes: id, Valid: true})
	} else if scanner, ok := target.(pgtype.TextScanner); ok {
		return scanner.ScanText(pgtype.Text{String: Format(id), Valid: true})
	}
	*target.(*string) = Format(id)
	return nil
}

func (Codec) PlanScan(_ *pgtype.Map, _ uint32, format int16, target any) pgtype.ScanPlan {
	switch target.(type) {
	case pgtype.UUIDScanner, pgtype.TextScanner, *string:
		return read{format}
	}
	return nil
}

func (Codec) DecodeDatabaseSQLValue(_ *pgtype.Map, _ uint32, format int16, in []byte) (driver.Value, error) {
	if in == nil {
		return nil, nil
	}
	id, err := read{format}.id(in)
	return Format(id), err
}

func (codec Codec) DecodeValue(types *pgtype.Map, oid uint32, format int16, in []byte) (any, error) {
	return codec.DecodeDatabaseSQLValue(types, oid, format, in)
}
