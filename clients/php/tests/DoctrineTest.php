<?php

use Doctrine\DBAL\Connection;
use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Exception\DriverException;
use Doctrine\DBAL\Schema\Schema;
use PgUlid\Doctrine\UlidArrayType;
use PgUlid\Doctrine\UlidType;

final class DoctrineTest extends DatabaseTestCase
{
    private Connection $db;

    public static function setUpBeforeClass(): void
    {
        if (!class_exists(DriverManager::class)) self::markTestSkipped("Doctrine DBAL is not installed");
        UlidType::register();
    }

    protected function setUp(): void
    {
        parent::setUp();
        $this->db = DriverManager::getConnection($this->parameters());
    }

    protected function tearDown(): void
    {
        $this->db->close();
        parent::tearDown();
    }

    public function testInsertReadListWindow(): void
    {
        $customer = $this->db->fetchOne("INSERT INTO customer (name) VALUES ('Ada') RETURNING id");
        $insert = "INSERT INTO orders (customer_id, note) VALUES (?, ?) RETURNING id";
        $ids = [$this->db->fetchOne($insert, [strtolower($customer), "first"], ["ulid"]), $this->db->fetchOne($insert, [$customer, "second"])];
        $this->assertSame("first", $this->db->fetchOne("SELECT note FROM orders WHERE id = ?", [$ids[0]]));
        $uuid = $this->db->fetchOne("SELECT id::uuid FROM customer");
        $this->assertSame($customer, $this->db->convertToDatabaseValue($uuid, "ulid"));
        $this->assertSame(2, $this->db->fetchOne("SELECT count(*) FROM orders WHERE id = ANY (?)", [$ids], ["ulid_array"]));
        $this->assertSame(2, $this->db->fetchOne("SELECT count(*) FROM orders WHERE id <@ tstzrange(?, ?)", self::window()));
        $this->db->update("orders", ["related" => [null, $ids[1]]], ["id" => $ids[0]], ["related" => "ulid_array", "id" => "ulid"]);
        $related = $this->db->fetchOne("SELECT related FROM orders WHERE id = ?", [$ids[0]]);
        $this->assertSame([null, $ids[1]], $this->db->convertToPHPValue($related, "ulid_array"));
    }

    public function testBulk(): void
    {
        $ids = ["01aryz6s41tsv4rrffq69g5fav", "01ARYZ6S41TSV4RRFFQ69G5FAW"];
        $this->db->executeStatement("INSERT INTO orders (id) SELECT unnest(?::ulid[])", [$ids], ["ulid_array"]);
        $this->assertSame("01ARYZ6S41TSV4RRFFQ69G5FAV", $this->db->fetchOne("SELECT min(id) FROM orders"));
    }

    public function testMalformedIds(): void
    {
        $this->storeSample(fn (array $row) => $this->db->insert("orders", $row, ["id" => "ulid", "customer_id" => "ulid"]),
            DriverException::class, fn ($error) => $error->getSQLState());
    }

    public function testSchemaToolFindsNothingToChange(): void
    {
        $schema = new Schema();
        $table = $schema->createTable("invoice");
        $table->addColumn("id", "ulid", ["columnDefinition" => "ulid DEFAULT gen_ulid() NOT NULL", "default" => "gen_ulid()"]);
        $table->addColumn("order_id", "ulid", ["notnull" => false]);
        $table->addColumn("related", "ulid_array", ["notnull" => false]);
        $platform = $this->db->getDatabasePlatform();
        foreach ($schema->toSql($platform) as $statement) $this->db->executeStatement($statement);
        $this->assertSame(26, strlen($this->db->fetchOne("INSERT INTO invoice DEFAULT VALUES RETURNING id")));
        $manager = $this->db->createSchemaManager();
        $found = $manager->introspectTable("invoice");
        $this->assertInstanceOf(UlidType::class, $found->getColumn("order_id")->getType());
        $this->assertInstanceOf(UlidArrayType::class, $found->getColumn("related")->getType());
        $difference = $manager->createComparator()->compareTables($found, $table);
        $this->assertTrue($difference === false || $difference->isEmpty());
        $table->modifyColumn("id", ["default" => null]);  // columnDefinition alone
        $difference = $manager->createComparator()->compareTables($found, $table);
        $this->assertSame(["ALTER TABLE invoice ALTER id DROP DEFAULT"], $platform->getAlterTableSQL($difference));
    }

    public function testDefaultAsStringIsQuoted(): void
    {
        $wrong = new Schema();
        $wrong->createTable("wrong")->addColumn("id", "ulid", ["default" => "gen_ulid()"]);
        $this->assertSame(["CREATE TABLE wrong (id ulid DEFAULT 'gen_ulid()' NOT NULL)"], $wrong->toSql($this->db->getDatabasePlatform()));
    }

    public function testWithoutThePackageTheTypeIsUnknown(): void
    {
        $program = 'require "Doctrine/DBAL/autoload.php"; Doctrine\DBAL\DriverManager::getConnection(json_decode($argv[1], true))'
            . '->createSchemaManager()->listTableColumns("customer");';
        exec("php -r " . escapeshellarg($program) . " " . escapeshellarg(json_encode($this->parameters())) . " 2>&1", $output);
        $this->assertSame(1, preg_match('/Unknown database type "?ulid"? requested/', implode("\n", $output)), implode("\n", $output));
    }
}
