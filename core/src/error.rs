//! What can go wrong, as types. The extension assigns the SQLSTATEs.

use std::fmt;

/// Why a text is not a ULID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseError {
    /// Neither 26 characters nor the 36 of a hyphenated UUID.
    Length {
        /// The number of characters found. This error occurs for ASCII texts only, so bytes and characters agree.
        found: usize,
    },
    /// A character that is not allowed at its position.
    Character {
        /// The character, or its first byte if the text is not ASCII.
        byte: u8,
        /// Its position, from 1. Everything before it is ASCII, so the position counts bytes and characters alike.
        position: usize,
        /// What would have been allowed there.
        expected: Expected,
    },
    /// 26 characters whose first is above `7`: more than 128 bits.
    Overflow,
}

/// What [`ParseError::Character`] expected at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// A character of Crockford's alphabet, in either case, or one of its aliases `I`, `L` and `O`.
    Base32,
    /// A hexadecimal digit of a UUID.
    HexDigit,
    /// A hyphen of a UUID.
    Hyphen,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Length { found } => write!(f, "expected 26 characters or the 36 of a uuid, found {found}"),
            Self::Character { byte, position, expected } => {
                write_character(f, byte)?;
                write!(f, " at position {position} is not {expected}")
            }
            Self::Overflow => f.write_str("the first character of a ulid is at most 7"),
        }
    }
}

/// Names the character of which only the first byte is known.
fn write_character(f: &mut fmt::Formatter<'_>, byte: u8) -> fmt::Result {
    if byte.is_ascii_graphic() {
        write!(f, "character \"{}\"", char::from(byte))
    } else {
        write!(f, "byte 0x{byte:02x}")
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Base32 => "in Crockford's Base32 alphabet",
            Self::HexDigit => "a hexadecimal digit",
            Self::Hyphen => "a hyphen",
        })
    }
}

/// Why a text is not the beginning of a ULID's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefixError {
    /// A character outside Crockford's alphabet and its aliases.
    Character {
        /// The character, or its first byte if the text is not ASCII.
        byte: u8,
        /// Its position, from 1. Everything before it is ASCII, so the position counts bytes and characters alike.
        position: usize,
    },
    /// The first character is above `7`: more than 128 bits.
    Overflow,
    /// More than 26 characters.
    Length,
}

impl fmt::Display for PrefixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Character { byte, position } => {
                ParseError::Character { byte, position, expected: Expected::Base32 }.fmt(f)
            }
            Self::Overflow => ParseError::Overflow.fmt(f),
            Self::Length => f.write_str("expected at most 26 characters"),
        }
    }
}

/// Why a text is not a TypeID, or not the prefix of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeIdError {
    /// A character of the prefix that is neither one of `a` to `z` nor an underscore.
    PrefixCharacter {
        /// The character, or its first byte if the text is not ASCII.
        byte: u8,
        /// Its position, from 1. Everything before it is ASCII, so the position counts bytes and characters alike.
        position: usize,
    },
    /// A prefix of more than 63 characters.
    PrefixLength {
        /// The number of characters found.
        found: usize,
    },
    /// A prefix that starts or ends with an underscore.
    PrefixUnderscore,
    /// An underscore before the suffix, but no prefix.
    Separator,
    /// A character of the suffix that is not in Crockford's alphabet in lower case.
    SuffixCharacter {
        /// The character, or its first byte if the text is not ASCII.
        byte: u8,
        /// Its position in the TypeID, from 1. Everything before it is ASCII.
        position: usize,
    },
    /// A suffix that does not have 26 characters.
    SuffixLength {
        /// The number of characters found.
        found: usize,
    },
    /// A suffix whose first character is above `7`: more than 128 bits.
    Overflow,
}

impl fmt::Display for TypeIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::PrefixCharacter { byte, position } => {
                write_character(f, byte)?;
                write!(f, " at position {position} is neither a lower-case letter nor an underscore")
            }
            Self::PrefixLength { found } => {
                write!(f, "expected at most 63 characters in the prefix, found {found}")
            }
            Self::PrefixUnderscore => f.write_str("a prefix neither starts nor ends with an underscore"),
            Self::Separator => {
                f.write_str("no underscore stands in front of the suffix where there is no prefix")
            }
            Self::SuffixCharacter { byte, position } => {
                write_character(f, byte)?;
                write!(f, " at position {position} is not in Crockford's Base32 alphabet in lower case")
            }
            Self::SuffixLength { found } => write!(f, "expected 26 characters in the suffix, found {found}"),
            Self::Overflow => f.write_str("the first character of the suffix is at most 7"),
        }
    }
}

/// A time or a randomness that does not fit into a ULID: more than 48 or 80 bits, or a time before 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeError;

impl fmt::Display for RangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of range for a ulid")
    }
}

/// A number of bytes other than 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LengthError {
    /// The number of bytes found.
    pub found: usize,
}

impl fmt::Display for LengthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected 16 bytes, found {}", self.found)
    }
}

/// Why no further monotonic ULID can be generated now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MonotonicError {
    /// The time of the clock does not fit into a ULID.
    Range(RangeError),
    /// The randomness of the last value cannot be incremented. The next millisecond works again.
    Exhausted,
}

impl fmt::Display for MonotonicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(error) => error.fmt(f),
            Self::Exhausted => f.write_str("the randomness of this millisecond is exhausted"),
        }
    }
}

impl From<RangeError> for MonotonicError {
    fn from(error: RangeError) -> Self {
        Self::Range(error)
    }
}

/// Why an id of another kind cannot be converted to a ULID, or a ULID to that kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConvertError {
    /// A UUID of another version or variant than the requested one.
    Version {
        /// The requested version. Its variant is always that of RFC 9562, `0b10`.
        expected: u8,
        /// The version found, 0 to 15. It is meaningful only if the variant is `0b10`.
        version: u8,
        /// The variant found, by its bits: `0b0`, `0b10`, `0b110` or `0b111`, as `java.util.UUID` numbers them.
        variant: u8,
    },
    /// A negative number, which is not a valid id of its kind.
    Negative {
        /// The number found.
        found: i64,
    },
    /// The time of the id does not fit into a ULID.
    Range(RangeError),
    /// The time of the ULID does not fit into an id of the other kind.
    Time {
        /// The requested kind.
        target: ForeignId,
    },
    /// The ULID has bits that no id of the other kind has.
    Randomness {
        /// The requested kind.
        target: ForeignId,
    },
}

/// The kind of id that a [`ConvertError`] refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignId {
    /// A version 1 UUID.
    UuidV1,
    /// A version 6 UUID.
    UuidV6,
    /// A snowflake.
    Snowflake,
    /// A key of 63 bits.
    Key,
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Version { expected, version, variant } => write!(
                f,
                "expected a uuid of version {expected} and variant 0b10, found version {version} and variant {variant:#b}"
            ),
            Self::Negative { found } => write!(f, "expected a number that is not negative, found {found}"),
            Self::Range(error) => error.fmt(f),
            Self::Time { target } => write!(f, "the time of the ulid is out of range for {target}"),
            Self::Randomness { target } => write!(f, "the ulid was not made from {target}"),
        }
    }
}

impl fmt::Display for ForeignId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UuidV1 => "a uuid of version 1",
            Self::UuidV6 => "a uuid of version 6",
            Self::Snowflake => "a snowflake",
            Self::Key => "a bigint key",
        })
    }
}

impl From<RangeError> for ConvertError {
    fn from(error: RangeError) -> Self {
        Self::Range(error)
    }
}

impl std::error::Error for ParseError {}
impl std::error::Error for PrefixError {}
impl std::error::Error for TypeIdError {}
impl std::error::Error for RangeError {}
impl std::error::Error for LengthError {}
impl std::error::Error for MonotonicError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Range(error) => Some(error),
            Self::Exhausted => None,
        }
    }
}
impl std::error::Error for ConvertError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Range(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[test]
    fn each_error_says_what_is_wrong() {
        let character = |byte, position, expected| ParseError::Character { byte, position, expected };
        let errors: [(&dyn Error, &str); 22] = [
            (&ParseError::Length { found: 25 }, "expected 26 characters or the 36 of a uuid, found 25"),
            (
                &character(b'U', 13, Expected::Base32),
                "character \"U\" at position 13 is not in Crockford's Base32 alphabet",
            ),
            (&character(b' ', 1, Expected::HexDigit), "byte 0x20 at position 1 is not a hexadecimal digit"),
            (&character(0xc3, 24, Expected::Hyphen), "byte 0xc3 at position 24 is not a hyphen"),
            (&ParseError::Overflow, "the first character of a ulid is at most 7"),
            (
                &PrefixError::Character { byte: b'-', position: 3 },
                "character \"-\" at position 3 is not in Crockford's Base32 alphabet",
            ),
            (&PrefixError::Overflow, "the first character of a ulid is at most 7"),
            (&PrefixError::Length, "expected at most 26 characters"),
            (
                &TypeIdError::PrefixCharacter { byte: b'U', position: 1 },
                "character \"U\" at position 1 is neither a lower-case letter nor an underscore",
            ),
            (
                &TypeIdError::PrefixLength { found: 64 },
                "expected at most 63 characters in the prefix, found 64",
            ),
            (&TypeIdError::PrefixUnderscore, "a prefix neither starts nor ends with an underscore"),
            (&TypeIdError::Separator, "no underscore stands in front of the suffix where there is no prefix"),
            (
                &TypeIdError::SuffixCharacter { byte: 0xc3, position: 8 },
                "byte 0xc3 at position 8 is not in Crockford's Base32 alphabet in lower case",
            ),
            (&TypeIdError::SuffixLength { found: 0 }, "expected 26 characters in the suffix, found 0"),
            (&TypeIdError::Overflow, "the first character of the suffix is at most 7"),
            (&RangeError, "out of range for a ulid"),
            (&LengthError { found: 15 }, "expected 16 bytes, found 15"),
            (&MonotonicError::Range(RangeError), "out of range for a ulid"),
            (&MonotonicError::Exhausted, "the randomness of this millisecond is exhausted"),
            (&ConvertError::Range(RangeError), "out of range for a ulid"),
            (
                &ConvertError::Time { target: ForeignId::UuidV1 },
                "the time of the ulid is out of range for a uuid of version 1",
            ),
            (
                &ConvertError::Randomness { target: ForeignId::Snowflake },
                "the ulid was not made from a snowflake",
            ),
        ];
        for (error, message) in errors {
            assert_eq!(error.to_string(), message);
            assert_eq!(
                error.source().is_some(),
                message == RangeError.to_string() && !error.is::<RangeError>()
            );
        }
    }
}
