<?php

namespace PgUlid;

/** Ids as the server reads and writes them. An object, such as one of symfony/uid or ramsey/uuid, stands for its text. */
final class Ulid
{
    private const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

    /**
     * Return the text that the server returns for an id.
     *
     * @throws \InvalidArgumentException if the server would not accept it
     */
    public static function canonical(string|\Stringable $id): string
    {
        $text = (string) $id;
        if (preg_match('/^[0-7OILoil][0-9A-TV-Za-tv-z]{25}$/D', $text)) return strtr(strtoupper($text), "OIL", "011");
        if (!preg_match('/^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/D', $text)) {
            throw new \InvalidArgumentException("invalid input syntax for type ulid: \"$text\"");
        }
        $bits = "00";
        foreach (str_split(str_replace("-", "", $text)) as $digit) $bits .= sprintf("%04b", hexdec($digit));
        return implode(array_map(fn ($five) => self::ALPHABET[bindec($five)], str_split($bits, 5)));
    }

    /**
     * Return the UUID of the same 16 bytes, as text.
     *
     * @throws \InvalidArgumentException if the server would not accept the id
     */
    public static function toUuid(string|\Stringable $id): string
    {
        $bits = "";
        foreach (str_split(self::canonical($id)) as $digit) $bits .= sprintf("%05b", strpos(self::ALPHABET, $digit));
        $digits = implode(array_map(fn ($four) => dechex(bindec($four)), str_split(substr($bits, 2), 4)));
        return preg_replace('/^(.{8})(.{4})(.{4})(.{4})/', '$1-$2-$3-$4-', $digits);
    }

    /** Return what to send for an id: its canonical text; what is no id is passed on, for the server to refuse. */
    public static function forServer(string|\Stringable|null $id): ?string
    {
        try {
            return $id === null ? null : self::canonical($id);
        } catch (\InvalidArgumentException) {
            return (string) $id;
        }
    }

    /**
     * Return the text of an array of the type ulid[].
     *
     * @param ?iterable<string|\Stringable|null> $ids
     */
    public static function encodeArray(?iterable $ids): ?string
    {
        if ($ids === null) return null;
        $elements = [];
        foreach ($ids as $id) $elements[] = $id === null ? "NULL" : '"' . addcslashes(self::forServer($id), '"\\') . '"';
        return "{" . implode(",", $elements) . "}";
    }

    /**
     * Read the text of an array of the type ulid[].
     *
     * @return ?list<?string>
     * @throws \InvalidArgumentException if it is not an array of one dimension
     */
    public static function decodeArray(?string $text): ?array
    {
        if ($text === null || $text === "{}") return $text === null ? null : [];
        if (!preg_match('/^(?:\[[0-9:-]+\]=)?\{([0-9A-Z,]+)\}$/D', $text, $match)) {
            throw new \InvalidArgumentException("not an array of ulid: \"$text\"");
        }
        return array_map(fn ($id) => $id === "NULL" ? null : $id, explode(",", $match[1]));
    }
}
