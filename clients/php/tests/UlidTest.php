<?php

use PgUlid\Ulid;

final class UlidTest extends DatabaseTestCase
{
    private const TEXT = "01ARYZ6S41TSV4RRFFQ69G5FAV";
    private const UUID = "01563df3-6481-d676-4c61-efb99302bd5b";

    public function testAcceptsWhatTheServerAccepts(): void
    {
        foreach ($this->pdo->query("SELECT given, verdict FROM sample.given WHERE given IS NOT NULL") as [$given, $verdict]) {
            try {
                $this->assertSame($verdict, Ulid::canonical($given));
                $this->assertSame($this->one("SELECT (?::ulid)::uuid", [$given]), Ulid::toUuid($given));
                $this->assertSame($verdict, Ulid::forServer($given));
            } catch (InvalidArgumentException $error) {
                $this->assertNull($verdict, $given);
                $this->assertSame("invalid input syntax for type ulid: \"$given\"", $error->getMessage());
                $this->assertSame($given, Ulid::forServer($given));
            }
        }
    }

    public function testForms(): void
    {
        foreach ([self::TEXT, strtolower(self::TEXT), self::UUID, strtoupper(self::UUID)] as $id) {
            $this->assertSame(self::TEXT, Ulid::canonical($id));
            $this->assertSame(self::UUID, Ulid::toUuid($id));
        }
        $this->assertSame("7" . str_repeat("Z", 25), Ulid::canonical("ffffffff-ffff-ffff-ffff-ffffffffffff"));
        $this->assertSame("00000000-0000-0000-0000-000000000000", Ulid::toUuid(str_repeat("0", 26)));
    }

    public function testObjectsOfSymfony(): void
    {
        if (!class_exists(Symfony\Component\Uid\Ulid::class)) $this->markTestSkipped("symfony/uid is not installed");
        $this->assertSame(self::TEXT, Ulid::canonical(Symfony\Component\Uid\Ulid::fromString(self::TEXT)));
        $this->assertSame(self::TEXT, Ulid::canonical(Symfony\Component\Uid\Uuid::fromString(self::UUID)));
    }

    public function testArrays(): void
    {
        foreach ([null, [], [self::TEXT], [null, self::TEXT]] as $ids) {
            $this->assertSame($ids, Ulid::decodeArray($this->one("SELECT ?::ulid[]", [Ulid::encodeArray($ids)])));
        }
        $this->assertSame([self::TEXT], Ulid::decodeArray($this->one("SELECT '[0:0]={" . self::TEXT . "}'::ulid[]")));
        foreach (["", "NULL", "a,b", '"', "\\", "}"] as $malformed) {
            try {
                $this->one("SELECT ?::ulid[]", [Ulid::encodeArray([$malformed])]);
                $this->fail("accepted: $malformed");
            } catch (PDOException $error) {
                $this->assertSame("22P02", $error->getCode());
            }
        }
        $this->expectException(InvalidArgumentException::class);
        Ulid::decodeArray("{{" . self::TEXT . "}}");
    }
}
