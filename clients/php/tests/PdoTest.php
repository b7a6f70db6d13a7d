<?php

use PgUlid\Ulid;

final class PdoTest extends DatabaseTestCase
{
    public function testInsertReadListWindow(): void
    {
        $customer = $this->one("INSERT INTO customer (name) VALUES ('Ada') RETURNING id");
        $insert = "INSERT INTO orders (customer_id, note) VALUES (?, ?) RETURNING id";
        $ids = [$this->one($insert, [$customer, "first"]), $this->one($insert, [strtolower($customer), "second"])];
        $this->assertSame("first", $this->one("SELECT note FROM orders WHERE id = ?", [$ids[0]]));
        $this->assertSame(2, $this->one("SELECT count(*) FROM orders WHERE id IN (?, ?)", $ids));
        $this->assertSame(2, $this->one("SELECT count(*) FROM orders WHERE id = ANY (?)", [Ulid::encodeArray($ids)]));
        $this->assertSame(2, $this->one("SELECT count(*) FROM orders WHERE id <@ tstzrange(?, ?)", self::window()));
        $this->assertSame("first", $this->one("SELECT note FROM orders WHERE ulid_starts_with(id, ?)", [$ids[0]]));
        $this->one("UPDATE orders SET related = ? WHERE id = ?", [Ulid::encodeArray([$ids[1], null]), $ids[0]]);
        $this->assertSame([$ids[1], null], Ulid::decodeArray($this->one("SELECT related FROM orders WHERE id = ?", [$ids[0]])));
    }

    public function testCopy(): void
    {
        $this->pdo->pgsqlCopyFromArray("orders", ["01ARYZ6S41TSV4RRFFQ69G5FAV\tthird", "01ARYZ6S41TSV4RRFFQ69G5FAW\tfourth"],
            "\t", "\\\\N", "id, note");
        $this->assertSame(2, $this->one("SELECT count(*) FROM orders"));
    }

    public function testMalformedIds(): void
    {
        $this->storeSample(function (array $row) {
            $this->one("INSERT INTO orders (" . implode(", ", array_keys($row)) . ") VALUES (?, ?)", array_values($row));
        }, PDOException::class, fn ($error) => $error->getCode());
    }

    public function testDeclaredAsText(): void
    {
        $this->expectExceptionMessage("operator does not exist: ulid = text");
        $this->one("SELECT 1 FROM orders WHERE id = ?::text", ["01ARYZ6S41TSV4RRFFQ69G5FAV"]);
    }
}
