//! Converts snowflakes to ULIDs and back.

use crate::error::{Error, ErrorKind, ForeignId};
use crate::value::Ulid;

/// The epoch of Twitter's snowflakes in milliseconds since the Unix epoch: `2010-11-04 01:42:54.657Z`.
pub const TWITTER_EPOCH_MS: i64 = 1_288_834_974_657;

/// The bits of a snowflake after its time: datacenter (5), worker (5), sequence (12).
const PARTS_BITS: u32 = 22;

/// The bits after these in a ULID, all zeros.
const PADDING_BITS: u32 = 58;

/// The last time that fits 41 bits, in milliseconds since the epoch of the snowflakes.
const MAX_MS: i64 = (1 << 41) - 1;

/// What the ULID of a snowflake tells about where it was generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SnowflakeParts {
    /// Milliseconds since the Unix epoch, 0 to [`Ulid::MAX_UNIX_MS`].
    pub unix_ms: u64,
    /// The datacenter, 0 to 31.
    pub datacenter: u8,
    /// The worker within the datacenter, 0 to 31.
    pub worker: u8,
    /// The number within the millisecond, 0 to 4095.
    pub sequence: u16,
}

/// Snowflakes: 41 bits of milliseconds since their epoch, 5 of datacenter, 5 of worker, 12 of sequence.
///
/// Their ULID has the time, then these 22 bits, then 58 zero bits. For one epoch, ULIDs sort like their snowflakes.
/// Only [`Ulid::snowflake_parts`] depends on how the 22 bits are divided. Ids whose time is not above 22 bits, such as
/// Instagram's, are not snowflakes in this sense.
///
/// ```
/// use pg_ulid::{TWITTER_EPOCH_MS, Ulid};
///
/// let id = Ulid::from_snowflake(1_541_815_603_606_036_480, TWITTER_EPOCH_MS)?;
/// assert_eq!(id.unix_ms(), 1_656_432_460_105);
/// let parts = id.snowflake_parts()?;
/// assert_eq!((parts.datacenter, parts.worker, parts.sequence), (11, 26, 0));
/// assert_eq!(id.to_snowflake(TWITTER_EPOCH_MS)?, 1_541_815_603_606_036_480);
/// # Ok::<(), pg_ulid::Error>(())
/// ```
impl Ulid {
    /// The ULID for a snowflake whose time counts from `epoch_ms`, in milliseconds since the Unix epoch, negative
    /// before it. Twitter's is [`TWITTER_EPOCH_MS`].
    ///
    /// # Errors
    /// - [`ErrorKind::Negative`] if the snowflake is negative.
    /// - [`ErrorKind::Range`] if its time is before 1970 or above [`Self::MAX_UNIX_MS`].
    pub fn from_snowflake(id: i64, epoch_ms: i64) -> Result<Self, Error> {
        let bits = u64::try_from(id).map_err(|_| Error(ErrorKind::Negative { found: id }))?;
        let unix_ms = (bits >> PARTS_BITS).checked_add_signed(epoch_ms).ok_or(Error(ErrorKind::Range))?;
        let parts = u128::from(bits & ((1 << PARTS_BITS) - 1));
        Self::from_parts(unix_ms, parts << PADDING_BITS)
    }

    /// The snowflake that this ULID came from: the inverse of [`Self::from_snowflake`] for the same `epoch_ms`.
    ///
    /// # Errors
    /// - [`ErrorKind::Randomness`] if no snowflake gives this ULID: one of its low 58 bits is set.
    /// - [`ErrorKind::Time`] if the time is before the epoch, or 2^41 milliseconds (69 years) or more after it.
    pub fn to_snowflake(self, epoch_ms: i64) -> Result<i64, Error> {
        let parts = parts(self)?;
        match (self.unix_ms() as i64).checked_sub(epoch_ms) {
            Some(ms @ 0..=MAX_MS) => Ok(ms << PARTS_BITS | i64::from(parts)),
            _ => Err(Error(ErrorKind::Time { target: ForeignId::Snowflake })),
        }
    }

    /// The parts of the snowflake that this ULID came from, whatever its epoch was.
    ///
    /// # Errors
    /// [`ErrorKind::Randomness`] if no snowflake gives this ULID: one of its low 58 bits is set.
    pub fn snowflake_parts(self) -> Result<SnowflakeParts, Error> {
        let parts = parts(self)?;
        Ok(SnowflakeParts {
            unix_ms: self.unix_ms(),
            datacenter: (parts >> 17) as u8,
            worker: (parts >> 12) as u8 & 0x1f,
            sequence: parts as u16 & 0xfff,
        })
    }
}

/// The 22 bits of datacenter, worker and sequence.
fn parts(ulid: Ulid) -> Result<u32, Error> {
    let randomness = ulid.randomness();
    if randomness.trailing_zeros() < PADDING_BITS {
        return Err(Error(ErrorKind::Randomness { target: ForeignId::Snowflake }));
    }
    Ok((randomness >> PADDING_BITS) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: Result<Ulid, Error> = Err(Error(ErrorKind::Range));

    #[test]
    fn a_negative_snowflake_is_refused() {
        for id in [-1, i64::MIN] {
            let error = Ulid::from_snowflake(id, TWITTER_EPOCH_MS);
            assert_eq!(error, Err(Error(ErrorKind::Negative { found: id })));
        }
        let error = Ulid::from_snowflake(-5, 0).unwrap_err();
        assert_eq!(error.to_string(), "expected a number that is not negative, found -5");
    }

    #[test]
    fn a_time_outside_a_ulid_is_refused() {
        let max = Ulid::MAX_UNIX_MS as i64;
        assert_eq!(Ulid::from_snowflake(0, 0), Ok(Ulid::NIL));
        assert_eq!(Ulid::from_snowflake(0, -1), RANGE);
        assert_eq!(Ulid::from_snowflake((1 << PARTS_BITS) - 1, -1), RANGE);
        assert_eq!(Ulid::from_snowflake(1 << PARTS_BITS, -1), Ok(Ulid::NIL));
        assert_eq!(Ulid::from_snowflake(0, max).unwrap().unix_ms(), Ulid::MAX_UNIX_MS);
        assert_eq!(Ulid::from_snowflake(0, max + 1), RANGE);
        assert_eq!(Ulid::from_snowflake(1 << PARTS_BITS, max), RANGE);
        assert_eq!(Ulid::from_snowflake(i64::MAX, i64::MAX), RANGE);
        assert_eq!(Ulid::from_snowflake(i64::MAX, i64::MIN), RANGE);
    }

    #[test]
    fn a_time_outside_a_snowflake_is_refused() {
        let time = Err(Error(ErrorKind::Time { target: ForeignId::Snowflake }));
        let first = Ulid::lower_bound(TWITTER_EPOCH_MS as u64).unwrap();
        assert_eq!(first.to_snowflake(TWITTER_EPOCH_MS), Ok(0));
        assert_eq!(first.to_snowflake(TWITTER_EPOCH_MS + 1), time);
        let last = i64::MAX & !((1 << PARTS_BITS) - 1);
        assert_eq!(first.to_snowflake(TWITTER_EPOCH_MS - MAX_MS), Ok(last));
        assert_eq!(first.to_snowflake(TWITTER_EPOCH_MS - MAX_MS - 1), time);
        assert_eq!(first.to_snowflake(i64::MIN), time);
        assert_eq!(first.to_snowflake(i64::MAX), time);
    }

    #[test]
    fn a_ulid_that_no_snowflake_gives_is_refused() {
        let none = Error(ErrorKind::Randomness { target: ForeignId::Snowflake });
        for randomness in [1, 1 << (PADDING_BITS - 1), Ulid::MAX_RANDOMNESS] {
            let ulid = Ulid::from_parts(TWITTER_EPOCH_MS as u64, randomness).unwrap();
            assert_eq!(ulid.to_snowflake(TWITTER_EPOCH_MS), Err(none));
            assert_eq!(ulid.snowflake_parts(), Err(none));
        }
        let ulid = Ulid::from_parts(TWITTER_EPOCH_MS as u64, 1 << PADDING_BITS).unwrap();
        assert_eq!(ulid.to_snowflake(TWITTER_EPOCH_MS), Ok(1));
    }
}
