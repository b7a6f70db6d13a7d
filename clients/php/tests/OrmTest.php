<?php

use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Exception\DriverException;
use Doctrine\ORM\Configuration;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Mapping as ORM;
use Doctrine\ORM\Mapping\Driver\AttributeDriver;
use Doctrine\ORM\Tools\SchemaTool;
use PgUlid\Doctrine\GenUlid;
use PgUlid\Doctrine\SymfonyUlidType;
use PgUlid\Doctrine\UlidType;
use Symfony\Component\Uid\Ulid;

#[ORM\Entity, ORM\Table(name: "customer")]
class OrmCustomer
{
    #[ORM\Id, ORM\Column(type: "ulid"), ORM\GeneratedValue(strategy: "CUSTOM"), ORM\CustomIdGenerator(class: GenUlid::class)]
    public Ulid|string|null $id = null;
    #[ORM\Column(type: "text")]
    public string $name;
    #[ORM\OneToMany(targetEntity: OrmOrder::class, mappedBy: "customer")]
    public $orders;
}

#[ORM\Entity, ORM\Table(name: "orders")]
class OrmOrder
{
    #[ORM\Id, ORM\Column(type: "ulid"), ORM\GeneratedValue(strategy: "CUSTOM"), ORM\CustomIdGenerator(class: GenUlid::class)]
    public Ulid|string|null $id = null;
    #[ORM\ManyToOne(targetEntity: OrmCustomer::class, inversedBy: "orders")]
    public ?OrmCustomer $customer = null;
    #[ORM\Column(type: "text", nullable: true)]
    public ?string $note = null;
    #[ORM\Column(type: "ulid_array", nullable: true)]
    public ?array $related = null;
}

final class OrmTest extends DatabaseTestCase
{
    private EntityManager $manager;

    public static function setUpBeforeClass(): void
    {
        if (!class_exists(EntityManager::class) || !method_exists(Configuration::class, "enableNativeLazyObjects")) {
            self::markTestSkipped("Doctrine ORM 3 is not installed");
        }
    }

    protected function tearDown(): void
    {
        if (isset($this->manager)) $this->manager->getConnection()->close();
        parent::tearDown();
    }

    private function connect(string $type): void
    {
        UlidType::register($type);
        $configuration = new Configuration();
        $configuration->setMetadataDriverImpl(new AttributeDriver([]));
        $configuration->enableNativeLazyObjects(true);
        $db = DriverManager::getConnection($this->parameters());
        $this->manager = new EntityManager($db, $configuration);
    }

    public function testWithSymfonyUlid(): void
    {
        $this->connect(SymfonyUlidType::class);
        $this->assertInstanceOf(Ulid::class, $this->store()->id);
        [$id] = $ids = array_column($this->manager->getRepository(OrmOrder::class)->findBy([], ["note" => "ASC"]), "id");
        $this->assertInstanceOf(Ulid::class, $id);
        $this->manager->clear();
        $this->assertSame("first", $this->manager->find(OrmOrder::class, Ulid::fromString(strtolower($id)))->note);
        $list = $this->manager->createQuery("SELECT o FROM OrmOrder o WHERE o.id IN (:ids)");
        $this->assertCount(2, $list->setParameter("ids", array_map("strval", $ids))->getResult());
    }

    public function testWithStrings(): void
    {
        $this->connect(UlidType::class);
        $this->store();
        $order = $this->manager->getRepository(OrmOrder::class)->findOneBy(["note" => "second"]);
        $this->assertSame(26, strlen($order->id));
        $this->assertSame([$order->id], $order->related);
    }

    private function store(): OrmCustomer
    {
        $ada = new OrmCustomer();
        $ada->name = "Ada";
        $this->manager->persist($ada);
        foreach (["first", "second"] as $note) {
            $order = new OrmOrder();
            $order->customer = $ada;
            $order->note = $note;
            $this->manager->persist($order);
            $order->related = [(string) $order->id];
        }
        $this->manager->flush();
        $this->manager->clear();
        $found = $this->manager->find(OrmCustomer::class, $ada->id);
        $this->assertEquals($ada->id, $found->id);
        $this->assertCount(2, $found->orders);
        $this->assertSame(2, $this->one("SELECT count(*) FROM orders WHERE id <@ tstzrange(?, ?)", self::window()));
        return $ada;
    }

    public function testMalformedIds(): void
    {
        $this->connect(SymfonyUlidType::class);
        $db = $this->manager->getConnection();
        $this->storeSample(fn (array $row) => $db->insert("orders", $row, ["id" => "ulid", "customer_id" => "ulid"]),
            DriverException::class, fn ($error) => $error->getSQLState());
    }

    public function testSchemaToolFindsNothingToChange(): void
    {
        $this->connect(SymfonyUlidType::class);
        $this->pdo->exec("DROP TABLE orders, customer; DROP SCHEMA sample CASCADE");
        $tool = new SchemaTool($this->manager);
        $classes = [$this->manager->getClassMetadata(OrmCustomer::class), $this->manager->getClassMetadata(OrmOrder::class)];
        $tool->createSchema($classes);
        $this->assertSame(3, $this->one("SELECT count(*) FROM information_schema.columns WHERE udt_name = 'ulid'"));
        $this->assertSame([], $tool->getUpdateSchemaSql($classes));
    }
}
