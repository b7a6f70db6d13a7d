// Package pgxulid makes the type ulid known to pgx v5, in binary format: for CopyFrom, for arrays, and for values of 16 bytes
// such as ulid.ULID.
package pgxulid

import (
	"context"
	"database/sql/driver"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"pgulid"
)

// Register makes ulid and ulid[] known to a connection. It can be the AfterConnect of a pgxpool.Config, and the argument of
// stdlib.OptionAfterConnect. It returns an error if the database does not have the extension.
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

// Codec writes strings that pgulid.Parse accepts, and values of 16 bytes such as pgulid.ID, ulid.ULID, uuid.UUID and []byte. It
// reads an id into all of these types except []byte, and into an any as a string.
type Codec struct{ pgtype.UUIDCodec }

type write struct{ format int16 }

// Encode appends the value of a string, or of 16 bytes.
func (plan write) Encode(value any, out []byte) ([]byte, error) {
	var id pgulid.ID
	var err error
	if of := reflect.ValueOf(value); of.Kind() == reflect.String {
		id, err = pgulid.Parse(of.String())
	} else if of.Len() != len(id) {
		err = fmt.Errorf("a ulid has 16 bytes, not %d", of.Len())
	} else {
		reflect.Copy(reflect.ValueOf(&id).Elem(), of)
	}
	if err != nil {
		return nil, err
	}
	if plan.format == pgtype.TextFormatCode {
		return append(out, id.String()...), nil
	}
	return append(out, id[:]...), nil
}

// PlanEncode implements pgtype.Codec.
func (codec Codec) PlanEncode(types *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	of := reflect.TypeOf(value)
	if of == nil { // pgx asks so for the elements of []any, and then for each of them
		return nil
	}
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

func (plan read) id(in []byte) (id pgulid.ID, err error) {
	if plan.format == pgtype.TextFormatCode {
		return pgulid.Parse(string(in))
	}
	if len(in) != len(id) {
		return id, fmt.Errorf("a ulid has 16 bytes, not %d", len(in))
	}
	copy(id[:], in)
	return id, nil
}

// Scan reads an id, or NULL, into one of the types that PlanScan accepts.
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
		return scanner.ScanText(pgtype.Text{String: id.String(), Valid: true})
	}
	if text, ok := target.(*string); ok {
		*text = id.String()
	} else {
		reflect.Copy(reflect.ValueOf(target).Elem(), reflect.ValueOf(id))
	}
	return nil
}

// PlanScan implements pgtype.Codec.
func (Codec) PlanScan(_ *pgtype.Map, _ uint32, format int16, target any) pgtype.ScanPlan {
	switch target.(type) {
	case pgtype.UUIDScanner, pgtype.TextScanner, *string:
		return read{format}
	}
	// before pgx sees that the type, such as uuid.UUID, has a method Scan, which may refuse the text
	if of := reflect.TypeOf(target); of.Kind() == reflect.Pointer && of.Elem().Kind() == reflect.Array {
		if of = of.Elem(); of.Len() == len(pgulid.ID{}) && of.Elem().Kind() == reflect.Uint8 {
			return read{format}
		}
	}
	return nil
}

// DecodeDatabaseSQLValue implements pgtype.Codec: database/sql gets the text.
func (Codec) DecodeDatabaseSQLValue(_ *pgtype.Map, _ uint32, format int16, in []byte) (driver.Value, error) {
	if in == nil {
		return nil, nil
	}
	id, err := read{format}.id(in)
	if err != nil {
		return nil, err
	}
	return id.String(), nil
}

// DecodeValue implements pgtype.Codec: an any gets the text.
func (codec Codec) DecodeValue(types *pgtype.Map, oid uint32, format int16, in []byte) (any, error) {
	return codec.DecodeDatabaseSQLValue(types, oid, format, in)
}
