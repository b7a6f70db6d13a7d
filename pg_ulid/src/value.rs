//! The value: a number of 128 bits, and what its bits mean.

use std::{fmt, str::FromStr};

use crate::codec::{self, TEXT_LEN};
use crate::error::{Error, ErrorKind, Expected};
use crate::time::Time;

/// A ULID: 48 bits of Unix time in milliseconds, then 80 bits of randomness.
///
/// Every 16 bytes are a valid ULID. ULIDs sort like their bytes and like their texts.
///
/// ```
/// use pg_ulid::{Time, Ulid};
///
/// let id: Ulid = "01ARYZ6S41TSV4RRFFQ69G5FAV".parse()?;
/// assert_eq!(id.unix_ms(), 1_469_918_176_385);
/// assert!(Ulid::lower_bound(Time::from_unix_ms(1_469_918_176_385)?) <= id);
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

/// The bits after the time.
const RANDOMNESS_BITS: u32 = 80;

impl Ulid {
    /// All bits zero, the smallest ULID: `00000000000000000000000000`.
    pub const NIL: Self = Self(0);

    /// All bits one, the greatest ULID: `7ZZZZZZZZZZZZZZZZZZZZZZZZZ`.
    pub const MAX: Self = Self(u128::MAX);

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

    /// The ULID of the millisecond of a time, and 80 bits of randomness.
    ///
    /// # Errors
    /// [Out of range](Error::is_out_of_range) if the randomness is above [`Self::MAX_RANDOMNESS`].
    pub const fn from_parts(time: Time, randomness: u128) -> Result<Self, Error> {
        if randomness > Self::MAX_RANDOMNESS {
            return Err(Error(ErrorKind::OutOfRangeForUlid));
        }
        Ok(Self::new(time, randomness))
    }

    /// The ULID of the millisecond of a time, and the low 80 bits of this number.
    pub(crate) const fn new(time: Time, randomness: u128) -> Self {
        Self((time.unix_ms() as u128) << RANDOMNESS_BITS | randomness & Self::MAX_RANDOMNESS)
    }

    /// The smallest ULID of the millisecond of a time: randomness all zeros.
    pub const fn lower_bound(time: Time) -> Self {
        Self::new(time, 0)
    }

    /// The greatest ULID of the millisecond of a time: randomness all ones.
    pub const fn upper_bound(time: Time) -> Self {
        Self::new(time, Self::MAX_RANDOMNESS)
    }

    /// Milliseconds since the Unix epoch, 0 to 2^48 - 1.
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
    /// [Malformed](Error::is_malformed), or [out of range](Error::is_out_of_range) if the first of
    /// 26 characters is above `7`. The message names the first fault from the left. Of a text of
    /// fewer than 32 bytes that are not 26, it names the first character outside ASCII, or the
    /// length.
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
                expected: Expected::UlidBytes,
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
