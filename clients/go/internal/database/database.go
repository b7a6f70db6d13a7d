// Package database makes the databases of the tests, in the server that the environment variables PG* name.
package database

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	_ "github.com/lib/pq" // the driver of New
)

var number int

// Empty makes a database that is dropped after the test, lets PGDATABASE name it, and returns a connection.
func Empty(t *testing.T) *sql.DB {
	t.Helper()
	t.Setenv("PGSSLMODE", "disable")
	number++
	name := fmt.Sprintf("pg_ulid_go_%d_%d", os.Getpid(), number)
	administer := open(t, "dbname=postgres")
	Must(administer.Exec("CREATE DATABASE " + name))(t)
	t.Cleanup(func() {
		Must(administer.Exec("DROP DATABASE " + name + " WITH (FORCE)"))(t)
		administer.Close()
	})
	t.Setenv("PGDATABASE", name)
	db := open(t, "")
	t.Cleanup(func() { db.Close() })
	return db
}

// New is Empty with the tables and ids of clients/cases.sql. The keys have the type ulid; with "uuid", that type and
// the extension ulid_sql.
func New(t *testing.T, keys string) *sql.DB {
	t.Helper()
	db := Empty(t)
	extension := map[string]string{"ulid": "ulid", "uuid": "ulid_sql"}[keys]
	Must(db.Exec("CREATE EXTENSION " + extension))(t)
	Must(db.Exec(string(Must(os.ReadFile(os.Getenv("CASES")))(t))))(t)
	return db
}

// A Row is one of the ids from outside. Given is nil for NULL, and Verdict for what the server refuses.
type Row struct {
	Note           string
	Given, Verdict *string
}

// Sample returns the ids from outside.
func Sample(t *testing.T, db *sql.DB) (sample []Row) {
	t.Helper()
	rows := Must(db.Query("SELECT note, given, verdict FROM cases.given"))(t)
	defer rows.Close()
	valid := 0
	for rows.Next() {
		var row Row
		if err := rows.Scan(&row.Note, &row.Given, &row.Verdict); err != nil {
			t.Fatal(err)
		}
		if row.Verdict != nil {
			valid++
		}
		sample = append(sample, row)
	}
	if len(sample) != 52 || valid != 11 {
		t.Fatalf("%d rows, %d valid", len(sample), valid)
	}
	return sample
}

// Store inserts them into orders, each as id, or as customer_id if it is NULL. What is refused must have an error that
// contains one of the texts; what is stored must be what the server makes of it.
func Store(t *testing.T, db *sql.DB, insert func(column, note string, given *string) error, refusals ...string) {
	t.Helper()
	for _, row := range Sample(t, db) {
		column := "id"
		if row.Given == nil {
			column = "customer_id"
		}
		if err := insert(column, row.Note, row.Given); err != nil {
			Fails(t, err, refusals...)
		}
	}
	Equal(t, One(t, db, "SELECT cases.compare()"), "equal")
	Must(db.Exec("DELETE FROM orders WHERE note LIKE 'case %'"))(t)
}

// One returns the only value of a query, as text.
func One(t *testing.T, db *sql.DB, query string, parameters ...any) (value string) {
	t.Helper()
	if err := db.QueryRow(query, parameters...).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// Must returns a function that returns the value, or ends the test if there is an error.
func Must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// Equal ends the test unless both are equal.
func Equal[T comparable](t *testing.T, found, wanted T) {
	t.Helper()
	if found != wanted {
		t.Fatalf("found %v, wanted %v", found, wanted)
	}
}

// Fails ends the test unless there is an error that contains one of the texts.
func Fails(t *testing.T, err error, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err != nil && strings.Contains(err.Error(), text) {
			return
		}
	}
	t.Fatalf("%v does not contain one of %q", err, texts)
}

// Example runs a program of README.md, which prints one row and loads another.
func Example(t *testing.T, name string) {
	t.Helper()
	db := Empty(t)
	Must(db.Exec("CREATE EXTENSION ulid"))(t)
	_, here, _, _ := runtime.Caller(0)
	program := filepath.Join(filepath.Dir(here), "../../examples", name, "main.go")
	output, err := exec.Command("go", "run", program).CombinedOutput()
	if err != nil || string(output) != "first true\n" {
		t.Fatalf("%v: %s", err, output)
	}
	Equal(t, One(t, db, "SELECT id FROM orders WHERE note = 'loaded'"), "01ARYZ6S41TSV4RRFFQ69G5FAV")
}

func open(t *testing.T, source string) *sql.DB {
	t.Helper()
	return Must(sql.Open("postgres", source))(t)
}
