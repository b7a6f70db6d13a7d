<?php

namespace PgUlid\Doctrine;

use Doctrine\ORM\EntityManagerInterface;
use Doctrine\ORM\Id\AbstractIdGenerator;

/** Ids of the server's gen_ulid(), for Doctrine ORM, which does not read defaults back. */
final class GenUlid extends AbstractIdGenerator
{
    public function generateId(EntityManagerInterface $em, mixed $entity): string
    {
        return $em->getConnection()->fetchOne("SELECT gen_ulid()");  // converted by Doctrine to what the type makes of it
    }
}
