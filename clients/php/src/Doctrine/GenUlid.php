<?php

namespace PgUlid\Doctrine;

use Doctrine\ORM\EntityManagerInterface;
use Doctrine\ORM\Id\AbstractIdGenerator;

/** Ids of the server's gen_ulid(), for Doctrine ORM, which does not read defaults back. */
final class GenUlid extends AbstractIdGenerator
{
    public function generateId(EntityManagerInterface $em, mixed $entity): mixed
    {
        $class = $em->getClassMetadata($entity::class);
        $connection = $em->getConnection();
        $type = $class->getTypeOfField($class->getSingleIdentifierFieldName());
        return $connection->convertToPHPValue($connection->fetchOne("SELECT gen_ulid()"), $type);
    }
}
