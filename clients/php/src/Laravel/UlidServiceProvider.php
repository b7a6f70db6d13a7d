<?php

namespace PgUlid\Laravel;

use Illuminate\Database\Schema\Blueprint;
use Illuminate\Database\Schema\Grammars\PostgresGrammar;
use Illuminate\Support\ServiceProvider;

/** Laravel finds this provider by itself. Without Laravel, call UlidServiceProvider::registerUlid(). */
final class UlidServiceProvider extends ServiceProvider
{
    public function register(): void { self::registerUlid(); }

    /** Add nativeUlid() and nativeUlidArray() to migrations; ulid() is Laravel's, and makes a char(26). */
    public static function registerUlid(): void
    {
        foreach (["nativeUlid" => "ulid", "nativeUlidArray" => "ulid[]"] as $name => $type) {
            PostgresGrammar::macro("type" . ucfirst($name), fn () => $type);
            Blueprint::macro($name, function (string $column) use ($name) {
                /** @var Blueprint $this */
                return $this->addColumn($name, $column);
            });
        }
    }
}
