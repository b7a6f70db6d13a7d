//! Converts snowflakes to ULIDs and back.

use crate::error::{Error, ErrorKind, ForeignId};
use crate::time::Time;
use crate::value::Ulid;

/// The epoch of Twitter's snowflakes in milliseconds since the Unix epoch: `2010-11-04
/// 01:42:54.657Z`.
pub const TWITTER_EPOCH_MS: i64 = 1_288_834_974_657;

/// The number of bits of a snowflake after its time: datacenter (5), worker (5), sequence (12).
const PARTS_BITS: u32 = 22;

/// The number of bits after these in a ULID, all zeros.
const PADDING_BITS: u32 = 58;

/// The last time that fits 41 bits, in milliseconds since the epoch of the snowflakes.
const MAX_MS: i64 = (1 << 41) - 1;

/// Snowflakes: 41 bits of milliseconds since their epoch, 5 of datacenter, 5 of worker, 12 of
/// sequence.
///
/// Their ULID has the time, then these 22 bits, then 58 zero bits. For one epoch, ULIDs sort like
/// their snowflakes. Nothing depends on how the 22 bits are divided. Ids with more or fewer than 22
/// bits after the time, such as Instagram's, are not snowflakes in this sense.
///
/// ```
/// use pg_ulid::{TWITTER_EPOCH_MS, Ulid};
///
/// let id = Ulid::from_snowflake(1_541_815_603_606_036_480, TWITTER_EPOCH_MS)?;
/// assert_eq!(id.unix_ms(), 1_656_432_460_105);
/// assert_eq!(id.to_snowflake(TWITTER_EPOCH_MS)?, 1_541_815_603_606_036_480);
/// # Ok::<(), pg_ulid::Error>(())
/// ```
impl Ulid {
    /// The ULID for a snowflake whose time counts from `epoch_ms`, in milliseconds since the Unix
    /// epoch, negative before it. Twitter's is [`TWITTER_EPOCH_MS`].
    ///
    /// # Errors
    /// [Out of range](Error::is_out_of_range) if the snowflake is negative, or its time before the
    /// Unix epoch or after [`Time::MAX`].
    pub fn from_snowflake(id: i64, epoch_ms: i64) -> Result<Self, Error> {
        let bits = u64::try_from(id).map_err(|_| Error(ErrorKind::Negative { found: id }))?;
        let unix_ms = (bits >> PARTS_BITS)
            .checked_add_signed(epoch_ms)
            .ok_or(Error(ErrorKind::OutOfRangeForUlid))?;
        let parts = u128::from(bits & ((1 << PARTS_BITS) - 1));
        Ok(Self::new(
            Time::from_unix_ms(unix_ms)?,
            parts << PADDING_BITS,
        ))
    }

    /// The snowflake that this ULID came from: the inverse of [`Self::from_snowflake`] for the same
    /// `epoch_ms`.
    ///
    /// # Errors
    /// - [Of another kind](Error::is_other_kind) if no snowflake gives this ULID: one of its low 58
    ///   bits is set.
    /// - [Out of range](Error::is_out_of_range) if the time is before the epoch, or 2^41
    ///   milliseconds (69 years) or more after it.
    pub fn to_snowflake(self, epoch_ms: i64) -> Result<i64, Error> {
        let (target, randomness) = (ForeignId::Snowflake, self.randomness());
        match (self.unix_ms() as i64).checked_sub(epoch_ms) {
            _ if randomness.trailing_zeros() < PADDING_BITS => {
                Err(Error(ErrorKind::NotMadeFrom { target }))
            }
            Some(ms @ 0..=MAX_MS) => Ok(ms << PARTS_BITS | (randomness >> PADDING_BITS) as i64),
            _ => Err(Error(ErrorKind::TimeOutOfRangeFor { target })),
        }
    }
}
