<?php

use PHPUnit\Framework\TestCase;

/** A database for each test, in the server that the environment variables PG* name. */
abstract class DatabaseTestCase extends TestCase
{
    protected const TABLES = "CREATE EXTENSION ulid;
        CREATE TABLE customer (id ulid PRIMARY KEY DEFAULT gen_ulid(), name text NOT NULL);
        CREATE TABLE orders (id ulid PRIMARY KEY DEFAULT gen_ulid(), customer_id ulid REFERENCES customer, note text,
            related ulid[]);";
    protected string $database;
    protected PDO $pdo;

    protected function setUp(): void
    {
        $this->database = "pg_ulid_" . getmypid();
        self::administer("CREATE DATABASE $this->database");
        $this->pdo = new PDO("pgsql:dbname=$this->database");
        if (static::TABLES === "") return;
        $this->pdo->exec(static::TABLES);
        $this->pdo->exec(file_get_contents(__DIR__ . "/../../../tests/clients/sample.sql"));
    }

    protected function tearDown(): void
    {
        self::administer("DROP DATABASE IF EXISTS pg_ulid_" . getmypid() . " WITH (FORCE)");
    }

    private static function administer(string $statement): void { (new PDO("pgsql:dbname=postgres"))->exec($statement); }

    /** Execute a statement; return the first column of the first row. */
    protected function one(string $sql, array $parameters = []): mixed
    {
        $statement = $this->pdo->prepare($sql);
        $statement->execute($parameters);
        return $statement->columnCount() ? $statement->fetchColumn() : null;
    }

    /** Insert an order with each id from outside. What is refused must be an exception of that class, with an SQLSTATE 22xxx. */
    protected function storeSample(callable $insert, string $refused, callable $sqlstate): void
    {
        $rows = $this->pdo->query("SELECT note, given FROM sample.given")->fetchAll(PDO::FETCH_NUM);
        $count = 0;
        foreach ($rows as [$note, $given]) {
            try {
                $insert(["note" => $note, $given === null ? "customer_id" : "id" => $given]);
            } catch (Exception $error) {
                $this->assertInstanceOf($refused, $error);
                $this->assertSame("22", substr($sqlstate($error), 0, 2));
                $count++;
            }
        }
        $this->assertSame(count($rows) - 7, $count);
        $this->assertSame("equal", $this->one("SELECT sample.compare()"));
    }

    /** The parameters of Doctrine, which does not leave the user and the password to the environment. */
    protected function parameters(): array
    {
        return ["driver" => "pdo_pgsql", "dbname" => $this->database, "user" => getenv("PGUSER"), "password" => (string) getenv("PGPASSWORD")];
    }

    /** A window of two hours around now, as the parameters of tstzrange. */
    protected static function window(): array { return [date(DATE_ATOM, time() - 3600), date(DATE_ATOM, time() + 3600)]; }
}
