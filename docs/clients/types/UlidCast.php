<?php
// The type ulid for Laravel's Eloquent: protected $casts = ["id" => UlidCast::class, …];
use Illuminate\Contracts\Database\Eloquent\CastsAttributes;

final class UlidCast implements CastsAttributes
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

    public function get($model, $key, $value, $attributes) { return $value; }

    public function set($model, $key, $value, $attributes) { return $value === null ? null : self::canonical((string) $value); }
}
