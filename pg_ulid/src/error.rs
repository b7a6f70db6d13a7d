//! What can go wrong. The extension quotes some of these messages; most of its messages are its
//! own, and name the id.

use std::fmt;

/// The error of every function of this library. Its message says what is wrong, and where, if it is
/// a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Error(pub(crate) ErrorKind);

/// What an [`Error`] says. It is not part of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "not part of the API")]
pub enum ErrorKind {
    /// A character is not allowed at its position, from 1. `byte` is the character, or its first
    /// byte if it is not ASCII.
    Character {
        byte: u8,
        position: usize,
        expected: Expected,
    },
    /// The text ends too early. The position, from 1, is that after its last character.
    Missing { position: usize, expected: Expected },
    /// The input is too long or too short. `found` is its length in bytes. If the text is ASCII,
    /// these are its characters.
    Length { expected: Expected, found: usize },
    /// The first of the characters of a ULID is above `7`: more than 128 bits.
    Overflow,
    /// The prefix of a TypeID starts or ends with an underscore.
    PrefixUnderscore,
    /// A TypeID has an underscore before the suffix, but no prefix.
    UnderscoreWithoutPrefix,
    /// What should become a ULID does not fit into one: a time before the Unix epoch or after
    /// [`Time::MAX`](crate::Time::MAX), or a randomness of more than 80 bits. Or the last time is
    /// used, and the next id would need a later one.
    OutOfRangeForUlid,
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
    /// A snowflake or a key is negative, so no ULID is made from it.
    Negative { found: i64 },
    /// A ULID cannot be converted to an id of the kind `target`: its time is before the first time
    /// of that kind, or after the last one.
    TimeOutOfRangeFor { target: ForeignId },
    /// A ULID cannot be converted to an id of the kind `target`, since it was not made from one: no
    /// such id gives this randomness.
    NotMadeFrom { target: ForeignId },
    /// The operating system provided no randomness to seed a generator.
    Seed,
}

/// What is allowed in place of a wrong character, from [`Self::Base32`] to [`Self::UuidEnd`], or in
/// place of a wrong length, from [`Self::UlidText`] on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// A character of Crockford's alphabet, in either case, or one of its aliases `I`, `L` and `O`.
    Base32,
    /// A character of Crockford's alphabet in lower case, as in the suffix of a TypeID.
    LowerCaseBase32,
    /// As in the prefix of a TypeID.
    LowerCaseLetterOrUnderscore,
    /// A hexadecimal digit of a UUID.
    HexDigit,
    /// After four digits of a UUID, which a hyphen may follow.
    HyphenOrHexDigit,
    /// The brace after a UUID that has one before it.
    ClosingBrace,
    /// The end of the text, after a UUID.
    UuidEnd,
    /// The 26 characters of a ULID, or the 32 digits of a UUID with up to nine hyphens and braces.
    UlidText,
    /// The first characters of the text of a ULID, at most 26.
    UlidTextPrefix,
    /// At most 63 characters in the prefix of a TypeID.
    TypeIdPrefix,
    /// 26 characters in the suffix of a TypeID.
    TypeIdSuffix,
    /// The 16 bytes of a ULID.
    UlidBytes,
}

/// A kind of id to which a ULID is converted back if it was made from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ForeignId {
    UuidV1,
    UuidV6,
    Snowflake,
    /// An `i64` that counts up from zero, such as a `bigserial`.
    BigintKey,
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
                | ErrorKind::UnderscoreWithoutPrefix
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
                | ErrorKind::OutOfRangeForUlid
                | ErrorKind::Negative { .. }
                | ErrorKind::TimeOutOfRangeFor { .. }
        )
    }

    /// Whether an id is not of the requested kind: a UUID of another version or variant, or a ULID
    /// that was not made from an id of the kind.
    pub const fn is_other_kind(self) -> bool {
        matches!(
            self.0,
            ErrorKind::Version { .. } | ErrorKind::NotMadeFrom { .. }
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
                // Of a prefix, only the first 26 characters are known to be ASCII. So `found` may
                // not be its number of characters.
                if expected == Expected::UlidTextPrefix {
                    Ok(())
                } else {
                    write!(f, ", not {found}")
                }
            }
            ErrorKind::Overflow => f.write_str("the first character of a ULID is at most 7"),
            ErrorKind::PrefixUnderscore => {
                f.write_str("the prefix must not start or end with an underscore")
            }
            ErrorKind::UnderscoreWithoutPrefix => {
                f.write_str("without a prefix there is no underscore before the suffix")
            }
            ErrorKind::OutOfRangeForUlid => f.write_str("out of range for type ulid"),
            ErrorKind::Exhausted => f.write_str(
                "could not generate a monotonic ulid: randomness of this millisecond is exhausted",
            ),
            ErrorKind::Version { expected, .. } => {
                write!(f, "the uuid is not of version {expected}")
            }
            ErrorKind::Negative { found } => {
                write!(f, "value \"{found}\" is out of range for type ulid")
            }
            ErrorKind::TimeOutOfRangeFor { target } => {
                write!(f, "time of the ulid is out of range for {target}")
            }
            ErrorKind::NotMadeFrom { target } => write!(f, "the ulid was not made from {target}"),
            ErrorKind::Seed => f.write_str("could not generate random values"),
        }
    }
}

/// What follows "is not" or precedes "is missing", for a character. For a length, a whole clause.
/// The message of [`Error`] appends the length that was found, except for `UlidTextPrefix`.
impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Base32 => "in Crockford's Base32 alphabet",
            Self::LowerCaseBase32 => "in Crockford's Base32 alphabet in lower case",
            Self::LowerCaseLetterOrUnderscore => "a lower-case letter or an underscore",
            Self::HexDigit => "a hexadecimal digit",
            Self::HyphenOrHexDigit => "a hyphen or a hexadecimal digit",
            Self::ClosingBrace => "a closing brace",
            Self::UuidEnd => "the end of a UUID",
            Self::UlidText => "a ULID has 26 characters, or 32 to 41 in the form of a UUID",
            Self::UlidTextPrefix => "a ULID has 26 characters",
            Self::TypeIdPrefix => "the prefix has at most 63 characters",
            Self::TypeIdSuffix => "the suffix has 26 characters",
            Self::UlidBytes => "a ULID is exactly 16 bytes long",
        })
    }
}

/// A noun with its article, for messages such as "the ulid was not made from a snowflake".
impl fmt::Display for ForeignId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UuidV1 => "a uuid of version 1",
            Self::UuidV6 => "a uuid of version 6",
            Self::Snowflake => "a snowflake",
            Self::BigintKey => "a bigint key",
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
        let (target, key) = (ForeignId::UuidV1, ForeignId::BigintKey);
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
                    character(0xc3, 24, Expected::HyphenOrHexDigit),
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
                    length(Expected::UlidText, 25),
                    "a ULID has 26 characters, or 32 to 41 in the form of a UUID, not 25",
                ),
                (
                    length(Expected::UlidTextPrefix, 27),
                    "a ULID has 26 characters",
                ),
                (
                    length(Expected::TypeIdSuffix, 0),
                    "the suffix has 26 characters, not 0",
                ),
                (
                    length(Expected::UlidBytes, 15),
                    "a ULID is exactly 16 bytes long, not 15",
                ),
                (
                    PrefixUnderscore,
                    "the prefix must not start or end with an underscore",
                ),
                (
                    UnderscoreWithoutPrefix,
                    "without a prefix there is no underscore before the suffix",
                ),
            ],
            &[
                (Overflow, "the first character of a ULID is at most 7"),
                (OutOfRangeForUlid, "out of range for type ulid"),
                (
                    Negative { found: -5 },
                    "value \"-5\" is out of range for type ulid",
                ),
                (
                    TimeOutOfRangeFor { target },
                    "time of the ulid is out of range for a uuid of version 1",
                ),
            ],
            &[
                (version, "the uuid is not of version 6"),
                (
                    NotMadeFrom { target: key },
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
