//! The value: a number of 128 bits, and what its bits mean.

use std::{fmt, str::FromStr};

use crate::codec::{self, TEXT_LEN};
use crate::error::{Error, ErrorKind, Expected};

/// A ULID: 48 bits of Unix time in milliseconds, then 80 bits of randomness.
///
/// Every 16 bytes are a valid ULID. ULIDs sort like their bytes and like their texts.
///
/// ```
/// use pg_ulid::Ulid;
///
/// let id: Ulid = "01ARYZ6S41TSV4RRFFQ69G5FAV".parse()?;
/// assert_eq!(id.unix_ms(), 1_469_918_176_385);
/// assert!(Ulid::lower_bound(1_469_918_176_385)? <= id);
/// // Read in either case and as a UUID, written in one way only.
/// assert_eq!(id, "01563df3-6481-d676-4c61-efb99302bd5b".parse()?);
/// assert_eq!(id, "{01563DF36481D6764C61EFB99302BD5B}".parse()?);
/// assert_eq!(id.to_string(), "01ARYZ6S41TSV4RRFFQ69G5FAV");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "diesel",
    derive(diesel::expression::AsExpression, diesel::deserialize::FromSqlRow)
)]
#[cfg_attr(feature = "diesel", diesel(sql_type = crate::diesel::Ulid))]
pub struct Ulid(pub(crate) u128);

const RANDOMNESS_BITS: u32 = 80;

impl Ulid {
    /// All bits zero, the smallest ULID: `00000000000000000000000000`.
    pub const NIL: Self = Self(0);

    /// All bits one, the greatest ULID: `7ZZZZZZZZZZZZZZZZZZZZZZZZZ`.
    pub const MAX: Self = Self(u128::MAX);

    /// The last millisecond that a ULID can hold, 2^48 - 1: `10889-08-02 05:31:50.655Z`.
    pub const MAX_UNIX_MS: u64 = (1 << 48) - 1;

    /// The greatest randomness, 2^80 - 1.
    pub const MAX_RANDOMNESS: u128 = (1 << RANDOMNESS_BITS) - 1;

    /// Creates a ULID from these bytes, the most significant first.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }

    /// The 16 bytes, the most significant first: what PostgreSQL stores and sends.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Creates a ULID from milliseconds since the Unix epoch and 80 bits of randomness.
    ///
    /// # Errors
    /// [`ErrorKind::Range`] if one of them is above [`Self::MAX_UNIX_MS`] or
    /// [`Self::MAX_RANDOMNESS`].
    pub const fn from_parts(unix_ms: u64, randomness: u128) -> Result<Self, Error> {
        if unix_ms > Self::MAX_UNIX_MS || randomness > Self::MAX_RANDOMNESS {
            return Err(Error(ErrorKind::Range));
        }
        Ok(Self((unix_ms as u128) << RANDOMNESS_BITS | randomness))
    }

    /// The smallest ULID of a millisecond since the Unix epoch: randomness all zeros.
    ///
    /// # Errors
    /// [`ErrorKind::Range`] above [`Self::MAX_UNIX_MS`].
    pub const fn lower_bound(unix_ms: u64) -> Result<Self, Error> {
        Self::from_parts(unix_ms, 0)
    }

    /// The greatest ULID of a millisecond since the Unix epoch: randomness all ones.
    ///
    /// # Errors
    /// [`ErrorKind::Range`] above [`Self::MAX_UNIX_MS`].
    pub const fn upper_bound(unix_ms: u64) -> Result<Self, Error> {
        Self::from_parts(unix_ms, Self::MAX_RANDOMNESS)
    }

    /// Milliseconds since the Unix epoch, 0 to [`Self::MAX_UNIX_MS`].
    pub const fn unix_ms(self) -> u64 {
        (self.0 >> RANDOMNESS_BITS) as u64
    }

    /// The 80 bits after the time, 0 to [`Self::MAX_RANDOMNESS`].
    pub const fn randomness(self) -> u128 {
        self.0 & Self::MAX_RANDOMNESS
    }

    /// The canonical text as ASCII bytes, without allocating. [`ToString`] returns it as a
    /// `String`.
    pub fn to_text(self) -> [u8; TEXT_LEN] {
        codec::encode(self.0)
    }

    /// Parses a ULID from bytes that need not be UTF-8. Two forms are accepted, in either case:
    /// - 26 characters, with Crockford's aliases (`I`, `L` for `1`, `O` for `0`);
    /// - a UUID as PostgreSQL reads it: 32 hexadecimal digits, with or without a hyphen after each
    ///   four of them except the last, and with or without braces around all.
    ///
    /// Nothing else is accepted, no blanks.
    ///
    /// # Errors
    /// [`Error`] names the first fault from the left.
    #[inline]
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        codec::decode(text).map(Self)
    }
}

impl fmt::Display for Ulid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.to_text();
        f.pad(str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Ulid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ulid({self})")
    }
}

impl FromStr for Ulid {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text.as_bytes())
    }
}

impl From<u128> for Ulid {
    fn from(value: u128) -> Self {
        Self(value)
    }
}

impl From<Ulid> for u128 {
    fn from(ulid: Ulid) -> Self {
        ulid.0
    }
}

impl TryFrom<&[u8]> for Ulid {
    type Error = Error;

    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        bytes.try_into().map(Self::from_bytes).map_err(|_| {
            Error(ErrorKind::Length {
                expected: Expected::Bytes,
                found: bytes.len(),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_padded_as_a_string_is() {
        assert_eq!(
            format!("{:>30}", Ulid::NIL),
            format!("    {}", "0".repeat(26))
        );
        assert_eq!(
            format!("{:?}", Ulid::MAX),
            "Ulid(7ZZZZZZZZZZZZZZZZZZZZZZZZZ)"
        );
    }
}
