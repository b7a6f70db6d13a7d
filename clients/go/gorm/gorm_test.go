// Package gorm_test tests the types of pgulid in GORM, which needs no code of its own.
package gorm_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/oklog/ulid/v2"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"pgulid"
	"pgulid/internal/database"
	"pgulid/pgxulid"
)

type Customer struct {
	ID     pgulid.ID `gorm:"primaryKey;default:gen_ulid()"`
	Name   string
	Orders []Order
}

func (Customer) TableName() string { return "customer" }

type Order struct {
	ID         pgulid.ID `gorm:"primaryKey;default:gen_ulid()"`
	CustomerID *pgulid.ID
	Note       string
	Related    pgulid.IDs
}

// Line has keys of strings.
type Line struct {
	ID   string `gorm:"type:ulid;primaryKey;default:gen_ulid()"`
	Note string
}

// Invoice has a key of oklog/ulid, for which the connections need pgxulid.
type Invoice struct {
	ID   ulid.ULID `gorm:"type:ulid;primaryKey"`
	Note string
}

// Receipt is for ulid_sql.
type Receipt struct {
	ID      pgulid.ID  `gorm:"type:uuid;primaryKey;default:gen_ulid()"`
	Related pgulid.IDs `gorm:"type:uuid[]"`
}

func open(t *testing.T, dialector gorm.Dialector) *gorm.DB {
	db := database.Must(gorm.Open(dialector, &gorm.Config{Logger: logger.Discard}))(t)
	t.Cleanup(func() { database.Must(db.DB())(t).Close() })
	return db
}

func succeeds(t *testing.T, db *gorm.DB) {
	t.Helper()
	if db.Error != nil {
		t.Fatal(db.Error)
	}
}

func TestModels(t *testing.T) {
	database.New(t, "ulid")
	db := open(t, postgres.Open(""))
	ada := Customer{Name: "Ada", Orders: []Order{{Note: "first"}, {Note: "second"}}}
	succeeds(t, db.Create(&ada))
	first, second := ada.Orders[0], ada.Orders[1]
	if first.ID == (pgulid.ID{}) || first.ID == second.ID || *first.CustomerID != ada.ID {
		t.Fatal(ada)
	}
	var found Order
	succeeds(t, db.First(&found, "id = ?", first.ID))
	database.Equal(t, found.Note, "first")
	found = Order{}
	succeeds(t, db.First(&found, "id = ?", second.ID.String()))
	database.Equal(t, found.ID, second.ID)
	var list []Order
	succeeds(t, db.Find(&list, "id IN ?", []pgulid.ID{first.ID, second.ID}))
	database.Equal(t, len(list), 2)
	succeeds(t, db.Find(&list, "id = ANY (?)", pgulid.IDs{first.ID}))
	database.Equal(t, len(list), 1)
	var loaded Customer
	succeeds(t, db.Preload("Orders").First(&loaded))
	database.Equal(t, len(loaded.Orders), 2)

	succeeds(t, db.Model(&first).Update("related", pgulid.IDs{second.ID}))
	found = Order{}
	succeeds(t, db.First(&found, "id = ?", first.ID))
	database.Equal(t, found.Related[0], second.ID)
	succeeds(t, db.Create(&Order{Note: "without"}))
	found = Order{}
	succeeds(t, db.First(&found, "note = 'without'"))
	if found.CustomerID != nil || found.Related != nil {
		t.Fatal(found)
	}

	now := time.Now()
	succeeds(t, db.Find(&list, "id <@ tstzrange(?, ?)", now.Add(-time.Hour), now.Add(time.Hour)))
	database.Equal(t, len(list), 3)
	succeeds(t, db.Find(&list, "ulid_starts_with(id, ?)", first.ID.String()[:4]))
	database.Equal(t, len(list), 3)
}

// columns are those of the public schema, with their types and defaults, and the transaction that made each.
const columns = `SELECT string_agg(concat_ws(' ', attrelid::regclass, attname, format_type(atttypid, atttypmod),
		pg_get_expr(adbin, adrelid), attribute.xmin), E'\n' ORDER BY attrelid, attnum)
	FROM pg_attribute AS attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
	WHERE attrelid::regclass::text IN ('lines', 'invoices', 'orders', 'receipts') AND attnum > 0`

func TestAutoMigrate(t *testing.T) {
	admin := database.Empty(t)
	database.Must(admin.Exec("CREATE EXTENSION ulid"))(t)
	config := database.Must(pgx.ParseConfig(""))(t)
	pool := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(pgxulid.Register))
	db := open(t, postgres.New(postgres.Config{Conn: pool}))
	models := []any{&Line{}, &Invoice{}, &Order{}, &Receipt{}}
	database.Must(0, db.AutoMigrate(models...))(t)
	before := database.One(t, admin, columns)
	database.Must(0, db.AutoMigrate(models...))(t)
	database.Equal(t, database.One(t, admin, columns), before)
	types := `SELECT string_agg(format_type(atttypid, atttypmod), ' ' ORDER BY attrelid::regclass::text, attname) FROM pg_attribute
		WHERE attrelid::regclass::text IN ('lines', 'invoices', 'orders', 'receipts') AND attnum > 0 AND attname <> 'note'`
	database.Equal(t, database.One(t, admin, types), "ulid ulid ulid ulid ulid[] uuid uuid[]")

	line := Line{Note: "first"}
	succeeds(t, db.Create(&line))
	database.Equal(t, len(line.ID), 26)
	id := ulid.MustParse(line.ID)
	succeeds(t, db.Create(&Invoice{ID: id, Note: "first"}))
	var invoice Invoice
	succeeds(t, db.First(&invoice, "id = ?", id))
	database.Equal(t, invoice.ID, id)
}

func TestUUIDColumns(t *testing.T) {
	admin := database.Empty(t)
	database.Must(admin.Exec("CREATE EXTENSION ulid_sql"))(t)
	db := open(t, postgres.Open(""))
	database.Must(0, db.AutoMigrate(&Receipt{}))(t)
	var receipt, found Receipt
	succeeds(t, db.Create(&receipt))
	succeeds(t, db.Model(&receipt).Update("related", pgulid.IDs{receipt.ID}))
	succeeds(t, db.First(&found, "id = ?", receipt.ID))
	database.Equal(t, found.Related[0], receipt.ID)
	database.Equal(t, database.One(t, admin, "SELECT ulid_to_text(id) FROM receipts"), receipt.ID.String())
}

func TestMalformed(t *testing.T) {
	admin := database.New(t, "ulid")
	db := open(t, postgres.Open(""))
	database.Store(t, admin, func(column, note string, given *string) error {
		return db.Table("orders").Create(map[string]any{"note": note, column: given}).Error
	}, "ulid", "invalid byte sequence")
}

func TestExample(t *testing.T) {
	database.Example(t, "gorm")
}
