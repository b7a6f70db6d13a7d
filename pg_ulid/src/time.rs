//! The type of every time in this library.

use std::time::Duration;

use crate::error::{Error, ErrorKind};

/// The nanoseconds of a millisecond.
const NS_PER_MS: u32 = 1_000_000;

/// The number of bits for the fraction of the millisecond.
pub(crate) const FRACTION_BITS: u32 = 16;

/// The mask of the fraction of the millisecond.
pub(crate) const FRACTION_MASK: u64 = (1 << FRACTION_BITS) - 1;

/// A time that a ULID can hold: 1970-01-01 00:00:00 UTC (the Unix epoch) to 10889-08-02
/// 05:31:50.655999 UTC.
///
/// It has 48 bits of milliseconds since the Unix epoch, then 16 bits of their fraction in 65536ths.
/// A finer time is rounded down. [`Ulid`](crate::Ulid)s of [`Generator::random`] and
/// [`Generator::monotonic`] have the millisecond, ordered ones the whole of it.
///
/// [`Generator::random`]: crate::Generator::random
/// [`Generator::monotonic`]: crate::Generator::monotonic
///
/// ```
/// use std::time::Duration;
/// use pg_ulid::Time;
///
/// let time = Time::from_duration(Duration::from_nanos(1_469_918_176_385_500_999))?;
/// assert_eq!((time.unix_ms(), time.unix_us()), (1_469_918_176_385, 1_469_918_176_385_500));
/// assert!(time > Time::from_unix_us(1_469_918_176_385_500)?);
/// assert!(time < Time::now()?);
/// # Ok::<(), pg_ulid::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub(crate) u64);

impl Time {
    /// The first time. An [`IdClock`](crate::ordered::IdClock) that was not started has it.
    pub const UNIX_EPOCH: Self = Self(0);

    /// The last time.
    pub const MAX: Self = Self(u64::MAX);

    /// The current time, by the system clock.
    ///
    /// # Errors
    /// [Out of range](Error::is_out_of_range) if the clock is before the Unix epoch or after
    /// [`Self::MAX`].
    #[inline]
    pub fn now() -> Result<Self, Error> {
        // Faster than the standard library, as the benchmark "clock" shows.
        #[cfg(unix)]
        {
            let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
            // Negative seconds become more than fit.
            Self::from_seconds(now.tv_sec.cast_unsigned(), now.tv_nsec as u32)
        }
        #[cfg(not(unix))]
        std::time::UNIX_EPOCH
            .elapsed()
            .map_err(|_| Error(ErrorKind::OutOfRangeForUlid))
            .and_then(Self::from_duration)
    }

    /// The time this long after the Unix epoch.
    ///
    /// # Errors
    /// [Out of range](Error::is_out_of_range) if it is after [`Self::MAX`].
    pub const fn from_duration(since_epoch: Duration) -> Result<Self, Error> {
        Self::from_seconds(since_epoch.as_secs(), since_epoch.subsec_nanos())
    }

    /// The beginning of a millisecond, counted from the Unix epoch.
    ///
    /// # Errors
    /// [Out of range](Error::is_out_of_range) if it is after [`Self::MAX`], from 2^48 on.
    pub const fn from_unix_ms(ms: u64) -> Result<Self, Error> {
        Self::new(ms, 0)
    }

    /// The beginning of a microsecond, counted from the Unix epoch.
    ///
    /// # Errors
    /// [Out of range](Error::is_out_of_range) if it is after [`Self::MAX`], from 2^48 * 1000 on.
    pub const fn from_unix_us(us: u64) -> Result<Self, Error> {
        Self::new(us / 1000, (us % 1000) as u32 * 1000)
    }

    /// The inverse of [`Self::to_bits`].
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The time of this many seconds since the Unix epoch, and `ns`, which are less than 10^9. Out
    /// of range after [`Self::MAX`].
    const fn from_seconds(seconds: u64, ns: u32) -> Result<Self, Error> {
        // The last time is in the second 2^48 / 1000, which is less than 2^39. More seconds are out
        // of range, too, and must not overflow in the product.
        let seconds = if seconds < 1 << 39 { seconds } else { 1 << 39 };
        Self::new(seconds * 1000 + (ns / NS_PER_MS) as u64, ns)
    }

    /// The time of this many milliseconds since the Unix epoch, and of the part of a millisecond in
    /// `ns`. Out of range after [`Self::MAX`].
    const fn new(unix_ms: u64, ns: u32) -> Result<Self, Error> {
        if unix_ms > u64::MAX >> FRACTION_BITS {
            return Err(Error(ErrorKind::OutOfRangeForUlid));
        }
        // The mask leaves out the whole milliseconds.
        let fraction = (((ns as u64) << FRACTION_BITS) / NS_PER_MS as u64) & FRACTION_MASK;
        Ok(Self(unix_ms << FRACTION_BITS | fraction))
    }

    /// Milliseconds since the Unix epoch, 0 to 2^48 - 1, rounded down.
    pub const fn unix_ms(self) -> u64 {
        self.0 >> FRACTION_BITS
    }

    /// Microseconds since the Unix epoch, 0 to 2^48 * 1000 - 1, rounded down.
    pub const fn unix_us(self) -> u64 {
        self.unix_ms() * 1000 + (((self.0 & FRACTION_MASK) * 1000) >> FRACTION_BITS)
    }

    /// 65536ths of a millisecond since the Unix epoch: the time as a number, to be stored.
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// The time this much later, rounded down; [`Self::MAX`] at most.
    pub const fn saturating_add(self, span: Duration) -> Self {
        match Self::from_duration(span) {
            Ok(span) => Self(self.0.saturating_add(span.0)),
            Err(_) => Self::MAX,
        }
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use std::time::{SystemTime, UNIX_EPOCH};

    use super::*;

    #[test]
    fn the_clock_is_that_of_the_system() {
        let standard = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let times = [
            Time::from_duration(standard()),
            Time::now(),
            Time::from_duration(standard()),
        ];
        assert!(times.map(Result::unwrap).is_sorted(), "{times:?}");
    }
}
