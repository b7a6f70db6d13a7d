package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/oklog/ulid/v2"

	"REPOSITORY/clients/go/pgxulid"
)

func main() {
	ctx := context.Background()
	config, err := pgxpool.ParseConfig("sslmode=disable")
	check(err)
	config.AfterConnect = pgxulid.Register // the database must have the extension
	pool, err := pgxpool.NewWithConfig(ctx, config)
	check(err)
	_, err = pool.Exec(ctx, "CREATE TABLE orders (id ulid PRIMARY KEY DEFAULT gen_ulid(), note text, related ulid[])")
	check(err)
	var id ulid.ULID
	check(pool.QueryRow(ctx, "INSERT INTO orders (note) VALUES ('first') RETURNING id").Scan(&id))
	_, err = pool.Exec(ctx, "UPDATE orders SET related = $1 WHERE id = $2", []ulid.ULID{id}, id)
	check(err)
	var note string
	var related []ulid.ULID
	read := "SELECT note, related FROM orders WHERE id = ANY ($1) AND id <@ tstzrange($2, NULL)"
	check(pool.QueryRow(ctx, read, []string{id.String()}, time.Now().Add(-time.Hour)).Scan(&note, &related))
	fmt.Println(note, related[0] == id)

	rows := pgx.CopyFromRows([][]any{{"01ARYZ6S41TSV4RRFFQ69G5FAV", "loaded"}})
	_, err = pool.CopyFrom(ctx, pgx.Identifier{"orders"}, []string{"id", "note"}, rows)
	check(err)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
