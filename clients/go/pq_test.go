package pgulid_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/oklog/ulid/v2"

	"pgulid"
	"pgulid/internal/database"
)

const insert = "INSERT INTO orders (customer_id, note) VALUES ($1, $2) RETURNING id"

// A string needs nothing of the package.
func TestStrings(t *testing.T) {
	db := database.New(t, "ulid")
	one := func(query string, parameters ...any) string {
		t.Helper()
		return database.One(t, db, query, parameters...)
	}
	customer := one("INSERT INTO customer (name) VALUES ('Ada') RETURNING id")
	first := one(insert, customer, "first")
	second := one(insert, strings.ToLower(customer), "second")
	database.Equal(t, one("SELECT note FROM orders WHERE id = $1", first), "first")
	database.Equal(t, one("SELECT count(*) FROM orders WHERE id = ANY ($1)", pq.Array([]string{first, second})), "2")
	database.Equal(t, one("SELECT count(*) FROM orders WHERE customer_id = $1", customer), "2")
	database.Must(db.Exec("UPDATE orders SET related = $1 WHERE id = $2", pq.Array([]string{second}), first))(t)
	var related []string
	database.Must(0, db.QueryRow("SELECT related FROM orders WHERE id = $1", first).Scan(pq.Array(&related)))(t)
	database.Equal(t, strings.Join(related, ","), second)
	_, err := db.Exec("SELECT 1 FROM orders WHERE id = $1::text", first)
	database.Fails(t, err, "pq: operator does not exist: ulid = text")
}

func TestIDs(t *testing.T) {
	for _, keys := range []string{"ulid", "uuid"} {
		t.Run(keys, func(t *testing.T) {
			db := database.New(t, keys)
			one := func(query string, parameters ...any) string {
				t.Helper()
				return database.One(t, db, query, parameters...)
			}
			var customer, first, second, found pgulid.ID
			database.Must(0, db.QueryRow("INSERT INTO customer (name) VALUES ('Ada') RETURNING id").Scan(&customer))(t)
			database.Must(0, db.QueryRow(insert, customer, "first").Scan(&first))(t)
			database.Must(0, db.QueryRow(insert, &customer, "second").Scan(&second))(t)
			database.Equal(t, one("SELECT ulid_to_text(id) FROM orders WHERE id = $1", first), first.String())
			count := "SELECT count(*) FROM orders WHERE id = ANY ($1)"
			database.Equal(t, one(count, pgulid.IDs{first, second}), "2")
			database.Equal(t, one(count, pq.Array([]pgulid.ID{first, second})), "2")
			for _, row := range database.Sample(t, db) {
				if _, refusal := db.Exec("SELECT ulid_from_text($1)", row.Given); refusal != nil {
					_, err := pgulid.Parse(*row.Given)
					database.Equal(t, err.Error(), refusal.(*pq.Error).Message)
				}
			}

			none := &pgulid.ID{}
			database.Must(0, db.QueryRow(insert, (*pgulid.ID)(nil), "without").Scan(&found))(t)
			database.Must(0, db.QueryRow("SELECT customer_id FROM orders WHERE id = $1", found).Scan(&none))(t)
			if none != nil {
				t.Fatal(none)
			}
			err := db.QueryRow("SELECT customer_id FROM orders WHERE id = $1", found).Scan(&found)
			database.Fails(t, err, "cannot scan <nil>")

			var related pgulid.IDs
			for _, list := range []pgulid.IDs{{second, first}, {}, nil} {
				database.Must(db.Exec("UPDATE orders SET related = $1 WHERE id = $2", list, first))(t)
				database.Must(0, db.QueryRow("SELECT related FROM orders WHERE id = $1", first).Scan(&related))(t)
				if len(related) != len(list) || (related == nil) != (list == nil) || len(list) == 2 && related[0] != second {
					t.Fatalf("%v was read as %v", list, related)
				}
			}
		})
	}
}

// Why a ulid.ULID is converted to an ID: its methods write bytes, and read them.
func TestOklogWithoutThePackage(t *testing.T) {
	db := database.New(t, "ulid")
	var id ulid.ULID
	_, err := db.Exec("INSERT INTO orders (id) VALUES ($1)", ulid.ULID{1})
	database.Fails(t, err, "pq: invalid byte sequence")
	err = db.QueryRow("INSERT INTO orders (note) VALUES ('first') RETURNING id").Scan(&id)
	database.Fails(t, err, "bad data size")
}

func TestWindowAndPrefix(t *testing.T) {
	db := database.New(t, "ulid")
	id := database.One(t, db, "INSERT INTO orders DEFAULT VALUES RETURNING id")
	now := time.Now()
	within := "SELECT count(*) FROM orders WHERE id <@ tstzrange($1, $2)"
	database.Equal(t, database.One(t, db, within, now.Add(-time.Hour), now.Add(time.Hour)), "1")
	database.Equal(t, database.One(t, db, within, now.Add(time.Hour), nil), "0")
	database.Equal(t, database.One(t, db, "SELECT count(*) FROM orders WHERE ulid_starts_with(id, $1)", id[:10]), "1")
}

func TestCopyIn(t *testing.T) {
	db := database.New(t, "ulid")
	transaction := database.Must(db.Begin())(t)
	load := database.Must(transaction.Prepare(pq.CopyIn("orders", "id", "note")))(t)
	database.Must(load.Exec(text, "text"))(t)
	database.Must(load.Exec(pgulid.ID{15: 1}, "an ID"))(t)
	database.Must(load.Exec())(t)
	database.Must(0, transaction.Commit())(t)
	database.Equal(t, database.One(t, db, "SELECT string_agg(id::text, ' ' ORDER BY id) FROM orders"), "00000000000000000000000001 "+text)
}

// The server judges strings, and the package those that become an ID, both alike.
func TestMalformed(t *testing.T) {
	for _, keys := range []string{"ulid", "uuid"} {
		db := database.New(t, keys)
		database.Store(t, db, func(column, note string, given *string) error {
			var id *pgulid.ID
			if given != nil {
				parsed, err := pgulid.Parse(*given)
				if err != nil {
					return err
				}
				id = &parsed
			}
			_, err := db.Exec("INSERT INTO orders (note, "+column+") VALUES ($1, $2)", note, id)
			return err
		}, "invalid input syntax for type ulid", "is out of range for type ulid")
	}
	db := database.New(t, "ulid")
	database.Store(t, db, func(column, note string, given *string) error {
		_, err := db.Exec("INSERT INTO orders (note, "+column+") VALUES ($1, $2)", note, given)
		if err != nil {
			database.Equal(t, string(err.(*pq.Error).Code.Class()), "22")
		}
		return err
	}, "ulid")
}

func TestExample(t *testing.T) {
	database.Example(t, "pq")
}

// Times after the year 9999, which some drivers cannot read.
func TestLateTime(t *testing.T) {
	db := database.New(t, "ulid")
	var made time.Time
	database.Must(0, db.QueryRow("SELECT ulid_extract_timestamp('7ZZZZZZZZZZZZZZZZZZZZZZZZZ')").Scan(&made))(t)
	database.Equal(t, made.UnixMilli(), int64(1<<48-1))
}
