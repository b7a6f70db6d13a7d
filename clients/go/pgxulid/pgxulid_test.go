package pgxulid_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/oklog/ulid/v2"

	"pgulid"
	"pgulid/internal/database"
	"pgulid/pgxulid"
)

const (
	insert = "INSERT INTO orders (customer_id, note) VALUES ($1, $2) RETURNING id"
	byID   = "SELECT note FROM orders WHERE id = $1"
)

var background = context.Background()

func ExampleRegister() {
	config, err := pgxpool.ParseConfig("host=/nowhere")
	if err != nil {
		panic(err)
	}
	config.AfterConnect = pgxulid.Register
}

type queryer interface {
	QueryRow(context.Context, string, ...any) pgx.Row
	Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
}

func one[T any](t *testing.T, from queryer, query string, parameters ...any) (value T) {
	t.Helper()
	if err := from.QueryRow(background, query, parameters...).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// registered returns a pool with the package; plain, a connection without it.
func registered(t *testing.T) *pgxpool.Pool {
	config := database.Must(pgxpool.ParseConfig(""))(t)
	config.AfterConnect = pgxulid.Register
	pool := database.Must(pgxpool.NewWithConfig(background, config))(t)
	t.Cleanup(pool.Close)
	return pool
}

func plain(t *testing.T, options string) *pgx.Conn {
	connection := database.Must(pgx.Connect(background, options))(t)
	t.Cleanup(func() { connection.Close(background) })
	return connection
}

func TestValues(t *testing.T) {
	database.New(t, "ulid")
	pool, plain := registered(t), plain(t, "")
	customer := one[string](t, plain, "INSERT INTO customer (name) VALUES ('Ada') RETURNING id")
	first := one[string](t, plain, insert, customer, "first")
	second := one[string](t, pool, insert, strings.ToLower(customer), "second")
	id := ulid.MustParse(first)
	for _, connection := range []queryer{plain, pool} {
		database.Equal(t, one[string](t, connection, byID, first), "first")
		database.Equal(t, one[string](t, connection, byID, pgulid.ID(id)), "first")
		count := "SELECT count(*)::text FROM orders WHERE id = ANY ($1)"
		database.Equal(t, one[string](t, connection, count, []string{first, second}), "2")
		read := "SELECT id FROM orders WHERE id = $1"
		database.Equal(t, one[ulid.ULID](t, connection, read, first), id)
		database.Equal(t, one[pgulid.ID](t, connection, read, first), pgulid.ID(id))
		database.Equal(t, one[any](t, connection, read, first), any(first))
	}
	read := "SELECT id FROM orders WHERE id = $1"
	for _, parameter := range []any{id, &id, uuid.UUID(id), [16]byte(id), id[:], pgtype.UUID{Bytes: id, Valid: true}} {
		database.Equal(t, one[string](t, pool, read, parameter), first)
	}
	database.Equal(t, one[uuid.UUID](t, pool, read, id), uuid.UUID(id))
	database.Equal(t, one[[16]byte](t, pool, read, id), [16]byte(id))
	database.Equal(t, one[pgtype.Text](t, pool, read, id).String, first)
	database.Equal(t, one[pgtype.UUID](t, pool, read, id).Bytes, [16]byte(id))
	list := []ulid.ULID{id, ulid.MustParse(second)}
	database.Equal(t, one[string](t, pool, "SELECT count(*)::text FROM orders WHERE id = ANY ($1)", list), "2")

	database.Must(pool.Exec(background, "INSERT INTO orders (customer_id, note) VALUES ($1, 'without')", (*ulid.ULID)(nil)))(t)
	none := "SELECT customer_id FROM orders WHERE note = 'without'"
	database.Equal(t, one[*ulid.ULID](t, pool, none), nil)
	database.Equal(t, one[*string](t, pool, none), nil)
	if one[any](t, pool, none) != nil || one[*pgulid.ID](t, pool, none) != nil {
		t.Fatal("NULL was read as an id")
	}
	var text string
	database.Fails(t, pool.QueryRow(background, none).Scan(&text), "cannot scan NULL into *string")

	now := time.Now()
	within := "SELECT count(*)::text FROM orders WHERE id <@ tstzrange($1, $2)"
	database.Equal(t, one[string](t, pool, within, now.Add(-time.Hour), now.Add(time.Hour)), "3")
	database.Equal(t, one[string](t, pool, "SELECT count(*)::text FROM orders WHERE ulid_starts_with(id, $1)", first[:4]), "3")
}

func TestArrays(t *testing.T) {
	database.New(t, "ulid")
	pool := registered(t)
	first := one[ulid.ULID](t, pool, "INSERT INTO orders DEFAULT VALUES RETURNING id")
	id := pgulid.ID(first)
	for _, list := range []any{[]string{first.String()}, []ulid.ULID{first}, pgulid.IDs{id}, []pgulid.ID{id}} {
		database.Must(pool.Exec(background, "UPDATE orders SET related = $1", list))(t)
		read := "SELECT related FROM orders"
		database.Equal(t, strings.Join(one[[]string](t, pool, read), ","), first.String())
		database.Equal(t, one[[]ulid.ULID](t, pool, read)[0], first)
		database.Equal(t, one[pgulid.IDs](t, pool, read)[0], pgulid.ID(first))
		database.Must(pool.Exec(background, "UPDATE orders SET related = NULL"))(t)
	}
}

// TestListOfAny: pgx asks for a plan for a nil, as the elements have no type in common.
func TestListOfAny(t *testing.T) {
	const oid, arrayOid = 100_001, 100_002
	types, element := pgtype.NewMap(), &pgtype.Type{Name: "ulid", OID: oid, Codec: pgxulid.Codec{}}
	types.RegisterType(element)
	types.RegisterType(&pgtype.Type{Name: "_ulid", OID: arrayOid, Codec: &pgtype.ArrayCodec{ElementType: element}})
	id := pgulid.ID{15: 1}
	for format := range []string{"text", "binary"} {
		got := string(database.Must(types.Encode(arrayOid, int16(format), []any{id.String(), id}, nil))(t))
		want := string(database.Must(types.Encode(arrayOid, int16(format), []pgulid.ID{id, id}, nil))(t))
		database.Equal(t, got, want)
	}
}

func TestCopyFrom(t *testing.T) {
	db := database.New(t, "ulid")
	pool := registered(t)
	rows := [][]any{
		{"01ARYZ6S41TSV4RRFFQ69G5FAV", "third"}, {"7zzzzzzzzzzzzzzzzzzzzzzzzz", "fourth"},
		{ulid.ULID{}, "fifth"}, {pgulid.ID{15: 1}, "sixth"},
	}
	database.Must(pool.CopyFrom(background, pgx.Identifier{"orders"}, []string{"id", "note"}, pgx.CopyFromRows(rows)))(t)
	for note, id := range map[string]string{
		"third": "01ARYZ6S41TSV4RRFFQ69G5FAV", "fourth": "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
		"fifth": "00000000000000000000000000", "sixth": "00000000000000000000000001",
	} {
		database.Equal(t, database.One(t, db, "SELECT id FROM orders WHERE note = $1", note), id)
	}
	// without the package: a list of strings
	many := "INSERT INTO orders (id) SELECT * FROM unnest($1::ulid[])"
	database.Must(plain(t, "").Exec(background, many, []string{"01ARYZ6S41TSV4RRFFQ69G5FAW", "01ARYZ6S41TSV4RRFFQ69G5FAX"}))(t)
	database.Equal(t, database.One(t, db, "SELECT count(*) FROM orders"), "6")
}

func TestMalformed(t *testing.T) {
	db := database.New(t, "ulid")
	pool := registered(t)
	refused := func(err error) error {
		var server *pgconn.PgError
		if errors.As(err, &server) && server.Code != "57014" { // the client stopped COPY
			database.Equal(t, server.Code[:2], "22")
		}
		return err
	}
	for _, insert := range []func(column, note string, given *string) error{
		func(column, note string, given *string) error {
			_, err := pool.Exec(background, "INSERT INTO orders (note, "+column+") VALUES ($1, $2)", note, given)
			return refused(err)
		},
		func(column, note string, given *string) error {
			row := pgx.CopyFromRows([][]any{{note, given}})
			_, err := pool.CopyFrom(background, pgx.Identifier{"orders"}, []string{"note", column}, row)
			return refused(err)
		},
		func(column, note string, given *string) error {
			list := []*string{given}
			_, err := pool.Exec(background, "INSERT INTO orders (note, "+column+") SELECT $1, * FROM unnest($2::ulid[])", note, list)
			return refused(err)
		},
	} {
		database.Store(t, db, insert, "ulid")
	}
	// the bytes of a text are not those of an id, unless there are 16
	for _, row := range database.Sample(t, db) {
		if row.Given != nil && len(*row.Given) != 16 {
			_, err := pool.Exec(background, "INSERT INTO orders (id) VALUES ($1)", []byte(*row.Given))
			database.Fails(t, err, "a ulid has 16 bytes")
		}
	}
}

// A column of the type uuid needs no registration.
func TestUUIDColumns(t *testing.T) {
	db := database.New(t, "uuid")
	connection := plain(t, "")
	id := one[pgulid.ID](t, connection, "INSERT INTO orders (note) VALUES ('first') RETURNING id")
	database.Equal(t, database.One(t, db, "SELECT ulid_to_text(id) FROM orders"), id.String())
	database.Equal(t, one[string](t, connection, byID, id), "first")
	database.Equal(t, one[string](t, connection, byID, ulid.ULID(id)), "first")
	database.Must(connection.Exec(background, "UPDATE orders SET related = $1", pgulid.IDs{id}))(t)
	database.Equal(t, one[pgulid.IDs](t, connection, "SELECT related FROM orders")[0], id)
	rows := pgx.CopyFromRows([][]any{{pgulid.ID{15: 1}}})
	database.Must(connection.CopyFrom(background, pgx.Identifier{"orders"}, []string{"id"}, rows))(t)
	database.Fails(t, pgxulid.Register(background, connection), `type "ulid" does not exist`)
}

func TestDatabaseSQL(t *testing.T) {
	database.New(t, "ulid")
	config := database.Must(pgx.ParseConfig(""))(t)
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(pgxulid.Register))
	defer db.Close()
	var id ulid.ULID
	database.Must(0, db.QueryRow("INSERT INTO orders (note) VALUES ('first') RETURNING id").Scan(&id))(t)
	database.Equal(t, database.One(t, db, byID, id), "first")
	bare := database.Must(sql.Open("pgx", ""))(t)
	defer bare.Close()
	database.Equal(t, database.One(t, bare, byID, id.String()), "first")
	database.Equal(t, database.One(t, bare, byID, pgulid.ID(id)), "first")
	database.Must(bare.Exec("UPDATE orders SET related = $1", pgulid.IDs{pgulid.ID(id)}))(t)
	var related pgulid.IDs
	database.Must(0, bare.QueryRow("SELECT related FROM orders").Scan(&related))(t)
	database.Equal(t, related[0], pgulid.ID(id))
}

func TestWithoutThePackage(t *testing.T) {
	database.New(t, "ulid")
	connection := plain(t, "")
	first := one[string](t, connection, insert, nil, "first")
	_, err := connection.Exec(background, byID, [16]byte{})
	database.Fails(t, err, "cannot find encode plan")
	_, err = connection.Exec(background, byID, ulid.ULID{1})
	database.Fails(t, err, "invalid input syntax for type ulid")
	row := pgx.CopyFromRows([][]any{{first}})
	_, err = connection.CopyFrom(background, pgx.Identifier{"orders"}, []string{"id"}, row)
	database.Fails(t, err, "incorrect binary data format (SQLSTATE 22P03)")

	// pgx's own codec reads the text of a UUID
	oid := one[uint32](t, connection, "SELECT 'ulid'::regtype::oid")
	connection.TypeMap().RegisterType(&pgtype.Type{Name: "ulid", OID: oid, Codec: pgtype.UUIDCodec{}})
	database.Equal(t, len(one[string](t, connection, "SELECT id FROM orders WHERE note = $1", "first")), 36)
}

// In these modes pgx does not ask the server for the type of a parameter.
func TestModesWithoutTypes(t *testing.T) {
	for _, mode := range []string{"exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			database.New(t, "ulid")
			connection := plain(t, "default_query_exec_mode="+mode)
			database.Must(0, pgxulid.Register(background, connection))(t)
			id := one[ulid.ULID](t, connection, "INSERT INTO orders (note) VALUES ('first') RETURNING id")
			_, err := connection.Exec(background, byID, id)
			database.Fails(t, err, "invalid input syntax for type ulid")
			database.Equal(t, one[string](t, connection, byID, id.String()), "first")
			database.Equal(t, one[string](t, connection, byID, pgulid.ID(id)), "first")
		})
	}
}

func TestExample(t *testing.T) {
	database.Example(t, "pgx")
}
