package main

import (
	"database/sql"
	"fmt"
	"log"
	"time"

	"github.com/lib/pq"

	pgulid "REPOSITORY/clients/go"
)

func main() {
	db, err := sql.Open("postgres", "sslmode=disable")
	check(err)
	_, err = db.Exec(`CREATE EXTENSION IF NOT EXISTS ulid;
		CREATE TABLE orders (id ulid PRIMARY KEY DEFAULT gen_ulid(), note text, related ulid[])`)
	check(err)
	var id pgulid.ID
	check(db.QueryRow("INSERT INTO orders (note) VALUES ('first') RETURNING id").Scan(&id))
	_, err = db.Exec("UPDATE orders SET related = $1 WHERE id = $2", pgulid.IDs{id}, id)
	check(err)
	var note string
	var related pgulid.IDs
	read := "SELECT note, related FROM orders WHERE id = ANY ($1) AND id <@ tstzrange($2, NULL)"
	check(db.QueryRow(read, pgulid.IDs{id}, time.Now().Add(-time.Hour)).Scan(&note, &related))
	fmt.Println(note, related[0] == id)

	transaction, err := db.Begin()
	check(err)
	load, err := transaction.Prepare(pq.CopyIn("orders", "id", "note"))
	check(err)
	_, err = load.Exec("01ARYZ6S41TSV4RRFFQ69G5FAV", "loaded")
	check(err)
	_, err = load.Exec()
	check(err)
	check(transaction.Commit())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
