package pgulid_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"pgulid"
	"pgulid/internal/database"
)

const text = "01ARYZ6S41TSV4RRFFQ69G5FAV"

func ExampleParse() {
	id, err := pgulid.Parse("01aryz6s41tsv4rrffq69g5fav")
	fmt.Println(id, id.UUID(), err)
	_, err = pgulid.Parse("abc")
	fmt.Println(err)
	// Output:
	// 01ARYZ6S41TSV4RRFFQ69G5FAV 01563df3-6481-d676-4c61-efb99302bd5b <nil>
	// invalid input syntax for type ulid: "abc"
}

func ExampleID() {
	id := pgulid.ID(ulid.MustParse("01ARYZ6S41TSV4RRFFQ69G5FAV"))
	fmt.Println(uuid.UUID(id), ulid.ULID(id))
	// Output: 01563df3-6481-d676-4c61-efb99302bd5b 01ARYZ6S41TSV4RRFFQ69G5FAV
}

func TestJSON(t *testing.T) {
	type order struct{ ID *pgulid.ID }
	var found order
	if err := json.Unmarshal([]byte(`{"ID": "01aryz6s41tsv4rrffq69g5fav"}`), &found); err != nil {
		t.Fatal(err)
	}
	database.Equal(t, string(database.Must(json.Marshal(found))(t)), `{"ID":"`+text+`"}`)
	database.Fails(t, json.Unmarshal([]byte(`{"ID": ""}`), &found), "invalid input syntax for type ulid")
	database.Equal(t, found.ID.String(), text)
}

func TestScanRefuses(t *testing.T) {
	id := database.Must(pgulid.Parse(text))(t)
	for _, source := range []any{nil, 1, "", "sixteen letters.", []byte("sixteen letters."), text + " "} {
		if id.Scan(source) == nil || id.String() != text {
			t.Errorf("%v was read as %v", source, id)
		}
	}
	ids := pgulid.IDs{id}
	binary := []byte{3: 1, 15: 1, 23: 16, 39: 1} // one element; below, others than that
	for _, change := range []func([]byte) []byte{
		func(b []byte) []byte { return b[:11] },
		func(b []byte) []byte { return b[:39] },
		func(b []byte) []byte { b[3] = 2; return b },
		func(b []byte) []byte { b[15] = 2; return b },
		func(b []byte) []byte { b[23] = 15; return b },
	} {
		if changed := change(append([]byte{}, binary...)); ids.Scan(changed) == nil || ids[0] != id {
			t.Errorf("%v was read as %v", changed, ids)
		}
	}
	for _, source := range []any{1, "", "{", text, "{" + text, "{" + text + ",NULL}", "{{" + text + "}}"} {
		if ids.Scan(source) == nil || len(ids) != 1 {
			t.Errorf("%v was read as %v", source, ids)
		}
	}
	if err := ids.Scan(binary); err != nil || ids[0] != (pgulid.ID{15: 1}) {
		t.Errorf("%v, %v", ids, err)
	}
}
