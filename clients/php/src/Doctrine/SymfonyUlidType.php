<?php

namespace PgUlid\Doctrine;

use Doctrine\DBAL\Platforms\AbstractPlatform;
use Symfony\Component\Uid\Ulid;

/** The type ulid for Doctrine DBAL 3 and 4. Ids are objects of Symfony's class Ulid. */
final class SymfonyUlidType extends UlidType
{
    public function convertToPHPValue(mixed $value, AbstractPlatform $platform): ?Ulid
    {
        return is_string($value) ? Ulid::fromString($value) : $value;
    }
}
