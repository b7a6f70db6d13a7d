<?php
// Load the package and what Debian's packages have of the tools. A warning is an error.
set_error_handler(function (int $level, string $message, string $file, int $line) {
    if (str_starts_with($file, dirname(__DIR__))) throw new ErrorException($message, 0, $level, $file, $line);
    return false;
});
spl_autoload_register(function (string $class) {
    if (str_starts_with($class, "PgUlid\\")) {
        $file = dirname(__DIR__) . "/src/" . strtr(substr($class, 7), "\\", "/") . ".php";
        if (file_exists($file)) require $file;
    }
});
foreach (["Doctrine/DBAL", "Doctrine/ORM", "Symfony/Component/Uid", "Illuminate/Database"] as $library) {
    if (stream_resolve_include_path("$library/autoload.php")) require_once "$library/autoload.php";
}
spl_autoload_register(fn (string $class) => $class === "DatabaseTestCase" && require __DIR__ . "/DatabaseTestCase.php");
