<?php

namespace PgUlid\Laravel;

use Illuminate\Contracts\Database\Eloquent\CastsAttributes;
use PgUlid\Ulid;

/** A cast for columns of the type ulid. Ids are strings, as the server writes them, because Eloquent compares strings. */
final class UlidCast implements CastsAttributes
{
    public function get($model, $key, $value, $attributes): ?string { return $value; }

    public function set($model, $key, $value, $attributes): ?string { return Ulid::forServer($value); }
}
