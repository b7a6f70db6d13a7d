<?php

namespace PgUlid\Doctrine;

use Doctrine\DBAL\Platforms\AbstractPlatform;
use Doctrine\DBAL\Types\Type;
use PgUlid\Ulid;

/** The type ulid[] for Doctrine DBAL 3 and 4: lists of strings and null. */
final class UlidArrayType extends Type
{
    public function getSQLDeclaration(array $column, AbstractPlatform $platform): string { return "ulid[]"; }

    public function getMappedDatabaseTypes(AbstractPlatform $platform): array { return ["_ulid"]; }

    public function convertToDatabaseValue(mixed $value, AbstractPlatform $platform): ?string { return Ulid::encodeArray($value); }

    public function convertToPHPValue(mixed $value, AbstractPlatform $platform): ?array { return Ulid::decodeArray($value); }

    // These two are for DBAL 3.
    public function getName(): string { return "ulid_array"; }

    public function requiresSQLCommentHint(AbstractPlatform $platform): bool { return false; }
}
