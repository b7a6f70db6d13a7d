//! What can go wrong. The extension reuses some of these words; most of its messages are its own,
//! and name the id.

use std::fmt;

/// The error of every function of this library. Its message says what is wrong, and where, if it is
/// a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Error(pub(crate) ErrorKind);

/// What an [`Error`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "not part of the API")]
pub enum ErrorKind {
    /// A character is not allowed at its position, from 1: this byte, or its first one.
    Character {
        byte: u8,
        position: usize,
        expected: Expected,
    },
    /// The text ends too early. The position is after its last character.
    Missing { position: usize, expected: Expected },
    /// Too many or too few characters or bytes were found. A text that is not ASCII counts bytes.
    Length { expected: Expected, found: usize },
    /// The first of the characters of a ULID is above `7`: more than 128 bits.
    Overflow,
    /// The prefix of a TypeID starts or ends with an underscore.
    PrefixUnderscore,
    /// A TypeID has an underscore before the suffix, but no prefix.
    Separator,
    /// A time or a randomness does not fit into a ULID.
    Range,
    /// The randomness of the last monotonic ULID cannot be incremented.
    Exhausted,
    /// A UUID of another version than the expected one, or of another variant than that of RFC
    /// 9562, `0b10`. The variant found is `0b0`, `0b10`, `0b110` or `0b111`. Only with `0b10`, the
    /// version found is meaningful.
    Version {
        expected: u8,
        version: u8,
        variant: u8,
    },
    /// A negative number, which is not a valid id of its kind.
    Negative { found: i64 },
    /// The time of the ULID does not fit into an id of the other kind.
    Time { target: ForeignId },
    /// The ULID has bits that no id of the other kind has.
    Randomness { target: ForeignId },
    /// The operating system provided no randomness to seed a generator.
    Seed,
}

/// What is allowed in place of the wrong character or length. Those from [`Self::Base32`] to
/// [`Self::UuidEnd`] follow "is not"; those from [`Self::Text`] on are whole clauses, which the
/// extension capitalizes as a DETAIL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// A character of Crockford's alphabet, in either case, or one of its aliases `I`, `L` and `O`.
    Base32,
    /// A character of Crockford's alphabet in lower case, as in the suffix of a TypeID.
    LowerCaseBase32,
    /// A lower-case letter or an underscore, as in the prefix of a TypeID.
    LowerCaseLetter,
    /// A hexadecimal digit of a UUID.
    HexDigit,
    /// A hyphen or a hexadecimal digit, after four digits of a UUID.
    Hyphen,
    /// The brace after a UUID that has one before it.
    ClosingBrace,
    /// The end of the text, after a UUID.
    UuidEnd,
    /// The 26 characters of a ULID, or the 32 digits of a UUID with up to nine hyphens and braces.
    Text,
    /// At most 26 characters, with which the text of a ULID can begin.
    TextPrefix,
    /// At most 63 characters in the prefix of a TypeID.
    TypeIdPrefix,
    /// 26 characters in the suffix of a TypeID.
    TypeIdSuffix,
    /// 16 bytes.
    Bytes,
}

/// The kind of id that an [`Error`] refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ForeignId {
    UuidV1,
    UuidV6,
    Snowflake,
    Key,
}

impl Error {
    /// Whether a text or bytes are not an id, nor the beginning of one: a character is wrong or
    /// missing, or the length is wrong.
    pub const fn is_malformed(self) -> bool {
        matches!(
            self.0,
            ErrorKind::Character { .. }
                | ErrorKind::Missing { .. }
                | ErrorKind::Length { .. }
                | ErrorKind::PrefixUnderscore
                | ErrorKind::Separator
        )
    }

    /// The position of the wrong or missing character, if it is a character that is wrong: from 1,
    /// at most one more than the length of the text. Everything before it is ASCII, so the position
    /// counts bytes and characters alike.
    pub const fn position(self) -> Option<usize> {
        match self.0 {
            ErrorKind::Character { position, .. } | ErrorKind::Missing { position, .. } => {
                Some(position)
            }
            _ => None,
        }
    }

    /// Whether a time, a number or a text of more than 128 bits is beyond what an id can hold.
    pub const fn is_out_of_range(self) -> bool {
        matches!(
            self.0,
            ErrorKind::Overflow
                | ErrorKind::Range
                | ErrorKind::Negative { .. }
                | ErrorKind::Time { .. }
        )
    }

    /// Whether an id is not of the requested kind: a UUID of another version or variant, or a ULID
    /// that no id of the kind gives.
    pub const fn is_other_kind(self) -> bool {
        matches!(
            self.0,
            ErrorKind::Version { .. } | ErrorKind::Randomness { .. }
        )
    }

    /// Whether the randomness of the last monotonic ULID cannot be incremented. The next
    /// millisecond works again.
    pub const fn is_exhausted(self) -> bool {
        matches!(self.0, ErrorKind::Exhausted)
    }

    /// Whether the operating system provided no randomness to seed a generator.
    pub const fn is_without_randomness(self) -> bool {
        matches!(self.0, ErrorKind::Seed)
    }

    /// A wrong or missing character of this text, at this index from 0.
    pub(crate) fn at(text: &[u8], index: usize, expected: Expected) -> Self {
        match text.get(index) {
            Some(&byte) => Self::character(byte, index, expected),
            None => Self(ErrorKind::Missing {
                position: index + 1,
                expected,
            }),
        }
    }

    /// A wrong character, at this index from 0.
    pub(crate) const fn character(byte: u8, index: usize, expected: Expected) -> Self {
        Self(ErrorKind::Character {
            byte,
            position: index + 1,
            expected,
        })
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self(kind)
    }
}

impl From<Error> for ErrorKind {
    fn from(error: Error) -> Self {
        error.0
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ErrorKind::Character {
                byte,
                position,
                expected,
            } => {
                if byte.is_ascii_graphic() {
                    write!(f, "character \"{}\"", char::from(byte))?;
                } else {
                    write!(f, "byte 0x{byte:02x}")?;
                }
                write!(f, " at position {position} is not {expected}")
            }
            ErrorKind::Missing { position, expected } => {
                write!(f, "{expected} is missing at position {position}")
            }
            ErrorKind::Length { expected, found } => {
                write!(f, "{expected}")?;
                // What follows the 26th character of a prefix may be outside ASCII, and `found`
                // counts bytes.
                if expected == Expected::TextPrefix {
                    Ok(())
                } else {
                    write!(f, ", not {found}")
                }
            }
            ErrorKind::Overflow => f.write_str("the first character of a ULID is at most 7"),
            ErrorKind::PrefixUnderscore => {
                f.write_str("the prefix must not start or end with an underscore")
            }
            ErrorKind::Separator => {
                f.write_str("without a prefix there is no underscore before the suffix")
            }
            ErrorKind::Range => f.write_str("out of range for type ulid"),
            ErrorKind::Exhausted => f.write_str(
                "could not generate a monotonic ulid: randomness of this millisecond is exhausted",
            ),
            ErrorKind::Version { expected, .. } => {
                write!(f, "the uuid is not of version {expected}")
            }
            ErrorKind::Negative { found } => {
                write!(f, "value \"{found}\" is out of range for type ulid")
            }
            ErrorKind::Time { target } => {
                write!(f, "time of the ulid is out of range for {target}")
            }
            ErrorKind::Randomness { target } => write!(f, "the ulid was not made from {target}"),
            ErrorKind::Seed => f.write_str("could not generate random values"),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Base32 => "in Crockford's Base32 alphabet",
            Self::LowerCaseBase32 => "in Crockford's Base32 alphabet in lower case",
            Self::LowerCaseLetter => "a lower-case letter or an underscore",
            Self::HexDigit => "a hexadecimal digit",
            Self::Hyphen => "a hyphen or a hexadecimal digit",
            Self::ClosingBrace => "a closing brace",
            Self::UuidEnd => "the end of a UUID",
            Self::Text => "a ULID has 26 characters, or 32 to 41 in the form of a UUID",
            Self::TextPrefix => "a ULID has 26 characters",
            Self::TypeIdPrefix => "the prefix has at most 63 characters",
            Self::TypeIdSuffix => "the suffix has 26 characters",
            Self::Bytes => "a ULID is exactly 16 bytes long",
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Each error says what is wrong, is of one class, and has a position if it is a character.
    #[test]
    fn each_error_says_what_is_wrong() {
        use ErrorKind::*;

        let character = |byte, position, expected| Character {
            byte,
            position,
            expected,
        };
        let length = |expected, found| Length { expected, found };
        let version = Version {
            expected: 6,
            version: 15,
            variant: 0b111,
        };
        let (target, key) = (ForeignId::UuidV1, ForeignId::Key);
        let classes: [&[(ErrorKind, &str)]; 5] = [
            &[
                (
                    character(b'U', 13, Expected::Base32),
                    "character \"U\" at position 13 is not in Crockford's Base32 alphabet",
                ),
                (
                    character(b' ', 1, Expected::HexDigit),
                    "byte 0x20 at position 1 is not a hexadecimal digit",
                ),
                (
                    character(0xc3, 24, Expected::Hyphen),
                    "byte 0xc3 at position 24 is not a hyphen or a hexadecimal digit",
                ),
                (
                    character(b' ', 37, Expected::UuidEnd),
                    "byte 0x20 at position 37 is not the end of a UUID",
                ),
                (
                    Missing {
                        position: 34,
                        expected: Expected::ClosingBrace,
                    },
                    "a closing brace is missing at position 34",
                ),
                (
                    length(Expected::Text, 25),
                    "a ULID has 26 characters, or 32 to 41 in the form of a UUID, not 25",
                ),
                (length(Expected::TextPrefix, 27), "a ULID has 26 characters"),
                (
                    length(Expected::TypeIdSuffix, 0),
                    "the suffix has 26 characters, not 0",
                ),
                (
                    length(Expected::Bytes, 15),
                    "a ULID is exactly 16 bytes long, not 15",
                ),
                (
                    PrefixUnderscore,
                    "the prefix must not start or end with an underscore",
                ),
                (
                    Separator,
                    "without a prefix there is no underscore before the suffix",
                ),
            ],
            &[
                (Overflow, "the first character of a ULID is at most 7"),
                (Range, "out of range for type ulid"),
                (
                    Negative { found: -5 },
                    "value \"-5\" is out of range for type ulid",
                ),
                (
                    Time { target },
                    "time of the ulid is out of range for a uuid of version 1",
                ),
            ],
            &[
                (version, "the uuid is not of version 6"),
                (
                    Randomness { target: key },
                    "the ulid was not made from a bigint key",
                ),
            ],
            &[(
                Exhausted,
                "could not generate a monotonic ulid: randomness of this millisecond is exhausted",
            )],
            &[(Seed, "could not generate random values")],
        ];
        for (class, errors) in classes.into_iter().enumerate() {
            for &(kind, message) in errors {
                let error = Error(kind);
                assert_eq!(error.to_string(), message);
                let is = [
                    error.is_malformed(),
                    error.is_out_of_range(),
                    error.is_other_kind(),
                    error.is_exhausted(),
                    error.is_without_randomness(),
                ];
                assert_eq!(is, std::array::from_fn(|other| other == class), "{message}");
                let position = error
                    .position()
                    .map(|position| format!(" at position {position}"));
                let said = message.contains(" at position ");
                assert!(position.map_or(!said, |position| message.contains(&position)));
            }
        }
    }
}
