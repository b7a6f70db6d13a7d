<?php

namespace PgUlid\Doctrine;

use Doctrine\DBAL\Platforms\AbstractPlatform;
use Doctrine\DBAL\Types\Type;
use PgUlid\Ulid;

/** The type ulid for Doctrine DBAL 3 and 4. Ids are strings, as the server writes them. */
class UlidType extends Type
{
    /**
     * Register the types ulid and ulid_array, before the first connection.
     *
     * @param class-string<Type> $class of ids: UlidType, or SymfonyUlidType
     */
    public static function register(string $class = self::class): void
    {
        foreach (["ulid" => $class, "ulid_array" => UlidArrayType::class] as $name => $type) {
            Type::hasType($name) ? Type::overrideType($name, $type) : Type::addType($name, $type);
        }
    }

    public function getSQLDeclaration(array $column, AbstractPlatform $platform): string { return "ulid"; }

    public function getMappedDatabaseTypes(AbstractPlatform $platform): array { return ["ulid"]; }

    public function convertToDatabaseValue(mixed $value, AbstractPlatform $platform): ?string { return Ulid::forServer($value); }

    // These two are for DBAL 3.
    public function getName(): string { return "ulid"; }

    public function requiresSQLCommentHint(AbstractPlatform $platform): bool { return false; }
}
