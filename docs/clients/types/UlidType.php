<?php
// The type ulid for Doctrine DBAL 3 and 4, as a string: Type::addType("ulid", UlidType::class);
use Doctrine\DBAL\Platforms\AbstractPlatform;
use Doctrine\DBAL\Types\Type;

final class UlidType extends Type
{
    // Convert an id to the form that the server returns. Anything else is passed on, and the server refuses it.
    public static function canonical(string $id): string
    {
        if (preg_match('/^[0-7OIL][0-9A-TV-Z]{25}$/iD', $id)) return strtr(strtoupper($id), "OIL", "011");
        if (!preg_match('/^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/iD', $id)) return $id;
        $bits = "00";
        foreach (str_split(str_replace("-", "", $id)) as $digit) $bits .= sprintf("%04b", hexdec($digit));
        return implode(array_map(fn ($five) => "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[bindec($five)], str_split($bits, 5)));
    }

    public function getSQLDeclaration(array $column, AbstractPlatform $platform): string { return "ulid"; }

    public function getMappedDatabaseTypes(AbstractPlatform $platform): array { return ["ulid"]; }

    public function convertToDatabaseValue(mixed $value, AbstractPlatform $platform): mixed
    {
        return $value === null ? null : self::canonical((string) $value);
    }

    // These two are for DBAL 3.
    public function getName(): string { return "ulid"; }

    public function requiresSQLCommentHint(AbstractPlatform $platform): bool { return false; }
}
