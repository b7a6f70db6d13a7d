<?php
// The type ulid for Doctrine DBAL 3 and 4, as Symfony's Ulid: Type::addType("ulid", SymfonyUlidType::class);
use Doctrine\DBAL\Platforms\AbstractPlatform;
use Doctrine\DBAL\Types\Type;
use Symfony\Component\Uid\AbstractUid;
use Symfony\Component\Uid\Ulid;

final class SymfonyUlidType extends Type
{
    public function getSQLDeclaration(array $column, AbstractPlatform $platform): string { return "ulid"; }

    public function getMappedDatabaseTypes(AbstractPlatform $platform): array { return ["ulid"]; }

    public function convertToPHPValue(mixed $value, AbstractPlatform $platform): ?Ulid
    {
        return is_string($value) ? Ulid::fromString($value) : $value;
    }

    // A string is passed on, and the server accepts or refuses it; Ulid::fromString would also accept 16 bytes and Base58.
    public function convertToDatabaseValue(mixed $value, AbstractPlatform $platform): ?string
    {
        return $value instanceof AbstractUid ? $value->toRfc4122() : $value;
    }

    // These two are for DBAL 3.
    public function getName(): string { return "ulid"; }

    public function requiresSQLCommentHint(AbstractPlatform $platform): bool { return false; }
}
