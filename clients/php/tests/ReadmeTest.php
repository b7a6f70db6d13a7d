<?php

/** The programs in README.md run as they are, in an empty database; and the page about PHP shows no others. */
final class ReadmeTest extends DatabaseTestCase
{
    protected const TABLES = "";

    /** The blocks of PHP in a file, in order. */
    private static function blocks(string $file): array
    {
        preg_match_all('/^```php\w*(?: entity)?\n(.*?)^```$/ms', file_get_contents(__DIR__ . "/../$file"), $match);
        return $match[1];
    }

    private function check(string $heading, string $class): void
    {
        if (!class_exists($class)) $this->markTestSkipped("$heading is not installed");
        preg_match("/^## $heading\n.*?^```php\n(.*?)^```$/ms", file_get_contents(__DIR__ . "/../README.md"), $match);
        $program = str_replace(["\"vendor/autoload.php\"", "shop"], [var_export(__DIR__ . "/bootstrap.php", true), $this->database], $match[1]);
        $process = proc_open([PHP_BINARY], [["pipe", "r"], ["pipe", "w"], ["redirect", 1]], $pipes);
        fwrite($pipes[0], $program);
        fclose($pipes[0]);
        $output = stream_get_contents($pipes[1]);
        $this->assertSame(0, proc_close($process), $output);
        $this->assertSame(["loaded", "first"], $this->pdo->query("SELECT note FROM orders ORDER BY id")->fetchAll(PDO::FETCH_COLUMN));
    }

    public function testPdo(): void { $this->check("PDO", PDO::class); }

    public function testDoctrine(): void { $this->check("Doctrine DBAL", Doctrine\DBAL\DriverManager::class); }

    public function testEloquent(): void { $this->check("Eloquent", Illuminate\Database\Eloquent\Model::class); }

    public function testEntityIsThatOfTheTests(): void
    {
        $tests = preg_replace('/^ +/m', "", file_get_contents(__DIR__ . "/OrmTest.php"));
        foreach (preg_split('/^(?=#)/m', self::blocks("README.md")[2]) as $column) $this->assertStringContainsString($column, $tests);
    }

    public function testPageShowsTheSame(): void
    {
        $page = __DIR__ . "/../../../docs/clients/php.md";
        if (!file_exists($page)) $this->markTestSkipped("docs/clients/php.md is not there");
        $this->assertSame(self::blocks("README.md"), self::blocks("../../docs/clients/php.md"));
    }
}
