<?php
// Print the tools whose tests are skipped.
$tools = ["Doctrine DBAL" => "Doctrine/DBAL", "Doctrine ORM 3" => "Doctrine/ORM/Query/TokenType.php",
    "symfony/uid" => "Symfony/Component/Uid", "Eloquent" => "Illuminate/Database"];
foreach ($tools as $tool => $file) if (!stream_resolve_include_path($file)) echo "skipped: $tool is not installed\n";
