<?php
// Run the programs in README.md as they are, in an empty database; then store the ids of clients/cases.sql through each tool, by what
// the program has defined.
error_reporting(E_ALL);
const TOOLS = ["PDO" => "PDO", "Doctrine" => "Doctrine\\DBAL\\DriverManager", "Eloquent" => "Illuminate\\Database\\Eloquent\\Model"];

/** Insert the ids from outside; each is refused by the server, or stored as the server would. */
function store(PDO $pdo, callable $insert): void
{
    $pdo->exec("DROP TABLE orders; " . file_get_contents(__DIR__ . "/../cases.sql"));
    $rows = $pdo->query("SELECT note, given, verdict FROM cases.given")->fetchAll(PDO::FETCH_NUM);
    if (count($rows) !== 52) throw new Exception("there are other cases");
    foreach ($rows as [$note, $given, $verdict]) {
        $state = $error = null;
        try {
            $insert(["note" => $note, $given === null ? "customer_id" : "id" => $given]);
        } catch (Exception $error) {
            for ($state = $error; $state->getPrevious(); ) $state = $state->getPrevious();
            $state = substr((string) ($state->errorInfo[0] ?? $state->getCode()), 0, 2);
        }
        $expected = $given === null || $verdict !== null ? null : "22";
        if ($state !== $expected) throw new Exception("$given: " . ($error ?? "accepted"));
    }
    $pdo->query("SELECT cases.compare()");
}

// one tool, in a process of its own: its program first
if (isset($argv[2])) {
    foreach (["Doctrine/DBAL", "Illuminate/Database"] as $library) {
        if (stream_resolve_include_path("$library/autoload.php")) require_once "$library/autoload.php";
    }
    if (!class_exists(TOOLS[$argv[1]])) exit(77);
    preg_match("/^## $argv[1]\n.*?^```php\n<\?php\n(.*?)^```$/ms", file_get_contents(__DIR__ . "/README.md"), $match);
    eval(str_replace(['require "vendor/autoload.php";', "shop"], ["", $argv[2]], $match[1]));
    $pdo = new PDO("pgsql:dbname=$argv[2]");
    if ($pdo->query("SELECT string_agg(note, ' ' ORDER BY id) FROM orders")->fetchColumn() !== "loaded first") throw new Exception("rows");
    if ($argv[1] === "Doctrine") {
        $manager = $db->createSchemaManager();
        $difference = $manager->createComparator()->compareSchemas($manager->introspectSchema(), $schema);
        if ($difference->getAlteredTables() || $difference->getCreatedTables()) throw new Exception("the schema differs");
    }
    if ($argv[1] === "Eloquent") {
        foreach (["seqscan", "bitmapscan", "hashjoin", "mergejoin"] as $name) $manager->getConnection()->statement("SET enable_$name = off");
        eval("use Illuminate\\Database\\Capsule\\Manager, Illuminate\\Database\\Eloquent\\Model;" . substr(file_get_contents(__DIR__ . "/polymorphic.php"), 6));
        $plan = implode("\n", array_map(fn ($line) => current((array) $line), $plan->all()));
        if (!str_contains($plan, "Index Cond: (id = notes.subject_ulid)")) throw new Exception($plan);
    }
    $columns = fn (array $row) => implode(", ", array_keys($row));
    store($pdo, match ($argv[1]) {
        "PDO" => fn (array $row) => $db->prepare("INSERT INTO orders ({$columns($row)}) VALUES (?, ?)")->execute(array_values($row)),
        "Doctrine" => fn (array $row) => $db->insert("orders", $row, ["id" => "ulid", "customer_id" => "ulid"]),
        "Eloquent" => fn (array $row) => Order::create($row),
    });
    exit(0);
}

$status = 0;
$server = new PDO("pgsql:dbname=postgres");
foreach (TOOLS as $name => $class) {
    if (($argv[1] ?? "") !== "" && $argv[1] !== $name) continue;
    $database = "pg_ulid_php_" . getmypid();
    $server->exec("CREATE DATABASE $database");
    passthru(escapeshellarg(PHP_BINARY) . " " . escapeshellarg(__FILE__) . " $name $database", $result);
    $server->exec("DROP DATABASE $database WITH (FORCE)");
    echo $result === 77 ? "skipped: $name: not installed\n" : ($result === 0 ? "passed: $name\n" : "FAILED: $name\n");
    if ($result !== 0 && $result !== 77) $status = 1;
}
exit($status);
