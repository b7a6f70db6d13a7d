package main

import (
	"fmt"
	"log"
	"time"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"pgulid"
)

type Order struct {
	ID      pgulid.ID `gorm:"primaryKey;default:gen_ulid()"`
	Note    string
	Related pgulid.IDs
}

func main() {
	db, err := gorm.Open(postgres.Open(""))
	check(err)
	check(db.Exec("CREATE EXTENSION IF NOT EXISTS ulid").Error)
	check(db.AutoMigrate(&Order{}))
	order := Order{Note: "first"}
	check(db.Create(&order).Error)
	check(db.Model(&order).Update("related", pgulid.IDs{order.ID}).Error)
	var found Order
	read := db.Where("id IN ?", []pgulid.ID{order.ID}).Where("id <@ tstzrange(?, NULL)", time.Now().Add(-time.Hour))
	check(read.First(&found).Error)
	fmt.Println(found.Note, found.Related[0] == order.ID)

	loaded, err := pgulid.Parse("01ARYZ6S41TSV4RRFFQ69G5FAV")
	check(err)
	check(db.CreateInBatches([]Order{{ID: loaded, Note: "loaded"}}, 1000).Error)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
