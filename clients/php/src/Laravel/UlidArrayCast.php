<?php

namespace PgUlid\Laravel;

use Illuminate\Contracts\Database\Eloquent\CastsAttributes;
use PgUlid\Ulid;

/** A cast for columns of the type ulid[]: lists of strings and null. */
final class UlidArrayCast implements CastsAttributes
{
    public function get($model, $key, $value, $attributes): ?array { return Ulid::decodeArray($value); }

    public function set($model, $key, $value, $attributes): ?string { return Ulid::encodeArray($value); }
}
