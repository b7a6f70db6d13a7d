<?php

use Illuminate\Database\Capsule\Manager;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Database\QueryException;
use Illuminate\Database\Schema\Blueprint;
use PgUlid\Laravel\UlidArrayCast;
use PgUlid\Laravel\UlidCast;
use PgUlid\Laravel\UlidServiceProvider;

if (!class_exists(Model::class)) return;

class Customer extends Model
{
    protected $table = "customer";
    protected $keyType = "string";
    protected $guarded = [];
    protected $casts = ["id" => UlidCast::class];
    public $timestamps = false;

    public function orders() { return $this->hasMany(Order::class); }
}

class Order extends Model
{
    protected $table = "orders";
    protected $keyType = "string";
    protected $guarded = [];
    protected $casts = ["id" => UlidCast::class, "customer_id" => UlidCast::class, "related" => UlidArrayCast::class];
    public $timestamps = false;

    public function customer() { return $this->belongsTo(Customer::class); }
}

class Uncast extends Order
{
    protected $casts = [];
}

final class EloquentTest extends DatabaseTestCase
{
    private Manager $manager;

    protected function setUp(): void
    {
        parent::setUp();
        $this->manager = new Manager();
        $this->manager->addConnection(["driver" => "pgsql", "database" => $this->database, "host" => getenv("PGHOST"),
            "port" => getenv("PGPORT"), "username" => getenv("PGUSER"), "password" => (string) getenv("PGPASSWORD")]);
        $this->manager->setAsGlobal();
        $this->manager->bootEloquent();
        UlidServiceProvider::registerUlid();
    }

    protected function tearDown(): void
    {
        $this->manager->getConnection()->disconnect();
        parent::tearDown();
    }

    public function testInsertReadListWindow(): void
    {
        $ada = Customer::create(["name" => "Ada"]);
        $this->assertSame(26, strlen($ada->id));
        $first = Order::create(["customer_id" => $ada->id, "note" => "first"]);
        $second = Order::create(["customer_id" => strtolower($ada->id), "note" => "second"]);
        $this->assertSame("first", Order::find(strtolower($first->id))->note);
        $this->assertSame(2, Order::whereIn("id", [$first->id, $second->id])->count());
        $this->assertSame(2, Order::whereRaw("id <@ tstzrange(?, ?)", self::window())->count());
        $this->assertCount(2, Customer::with("orders")->first()->orders);
        $this->assertSame("Ada", $second->load("customer")->customer->name);
        $uuid = $this->one("SELECT id::uuid FROM customer");
        $this->assertSame("Ada", Order::make(["customer_id" => $uuid])->load("customer")->customer->name);
        $first->update(["related" => [strtolower($second->id), null]]);
        $this->assertSame([$second->id, null], Order::find($first->id)->related);
        Order::insert([["id" => "01ARYZ6S41TSV4RRFFQ69G5FAV", "note" => "third"], ["id" => "01ARYZ6S41TSV4RRFFQ69G5FAW", "note" => "fourth"]]);
        $this->assertSame(4, Order::count());
        // without the cast, load() does not recognize the row
        $this->assertNull(Uncast::create(["customer_id" => strtolower($ada->id)])->load("customer")->customer);
    }

    public function testMalformedIds(): void
    {
        $this->storeSample(fn (array $row) => Order::create($row), QueryException::class, fn ($error) => $error->getCode());
    }

    public function testHasUlids(): void
    {
        if (!trait_exists(Illuminate\Database\Eloquent\Concerns\HasUlids::class)) $this->markTestSkipped("Laravel before 9 has no HasUlids");
        eval('class Made extends Order { use Illuminate\Database\Eloquent\Concerns\HasUlids; }
            class UncastMade extends Made { protected $casts = []; }');
        $this->assertTrue(Made::create(["note" => "made"])->is(Made::where("note", "made")->first()));
        $this->assertFalse(UncastMade::create(["note" => "uncast"])->is(UncastMade::where("note", "uncast")->first()));
    }

    public function testMigration(): void
    {
        $this->manager->schema()->create("invoices", function (Blueprint $table) {
            $table->nativeUlid("id")->primary()->default(Manager::raw("gen_ulid()"));
            $table->nativeUlid("order_id")->nullable();
            $table->nativeUlidArray("related")->nullable();
            $table->foreign("order_id")->references("id")->on("orders");
        });
        $this->assertSame(26, strlen($this->one("INSERT INTO invoices DEFAULT VALUES RETURNING id")));
        $this->assertSame("ulid,ulid,ulid[]", $this->one("SELECT string_agg(format_type(atttypid, NULL), ',' ORDER BY attnum)
            FROM pg_attribute WHERE attrelid = 'invoices'::regclass AND attnum > 0"));
    }

    public function testUlidOfLaravelIsChar(): void
    {
        if (!method_exists(Blueprint::class, "ulid")) $this->markTestSkipped("Laravel before 9 has no ulid()");
        $this->manager->schema()->create("wrong", fn (Blueprint $table) => $table->ulid("id"));
        $this->assertSame("character", $this->one("SELECT atttypid::regtype FROM pg_attribute WHERE attrelid = 'wrong'::regclass AND attname = 'id'"));
    }
}
