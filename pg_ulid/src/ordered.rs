//! The rule that computes the next ULID in an order that several generators share, without a clock
//! or a generator.
//!
//! The generators share an [`IdClock`], the time of the last ULID. This [`Time`] is the first half
//! of the ULID. The second half is 64 bits of randomness, fresh for each. So no two of these ULIDs
//! have the same first half, and a neighbour cannot be guessed. The same times give version 7 UUIDs
//! ([`uuid_v7`]) with 58 bits of randomness.
//!
//! ```
//! use pg_ulid::{Generator, Time, ordered::IdClock};
//!
//! static ID_CLOCK: IdClock = IdClock::new();
//!
//! // Two generators, as two threads would have them.
//! let (mut a, mut b) = (Generator::from_os()?, Generator::from_os()?);
//! let first = a.ordered(Time::now()?, &ID_CLOCK)?;
//! let second = b.ordered(Time::now()?, &ID_CLOCK)?;
//! assert!(first < second);
//! assert!(second < a.ordered(Time::now()?, &ID_CLOCK)?);
//! # Ok::<(), pg_ulid::Error>(())
//! ```

use crate::convert::uuid_with_version;
use crate::error::{Error, ErrorKind};
use crate::sync::{AtomicU64, Ordering};
use crate::time::{FRACTION_BITS, FRACTION_MASK, Time};
use crate::value::Ulid;

/// The number of bits of the fraction of the millisecond that a version 7 UUID has after the
/// variant. The 12 others are between the version and the variant.
const LATE_FRACTION_BITS: u32 = FRACTION_BITS - 12;

/// The number of random bits in a version 7 UUID: those after the fraction.
const RANDOM_BITS_OF_UUID_V7: u32 = 62 - LATE_FRACTION_BITS;

/// The time that follows `last` when the clock reads `clock`.
///
/// - A clock later than `last`: the time of the clock.
/// - The same time, or a clock behind it: the next time, a 65536th of a millisecond after `last`.
///
/// So the result is always later than `last`. [`Time::UNIX_EPOCH`] stands for "none yet". The rule
/// gives 65,536 times per millisecond before it runs ahead of the clock.
///
/// # Errors
/// [Out of range](Error::is_out_of_range) if `last` is [`Time::MAX`].
///
/// ```
/// use pg_ulid::{Time, ordered};
///
/// // Half a millisecond after a millisecond.
/// let now = Time::from_unix_us(1_469_918_176_385_500)?;
/// let first = ordered::next(Time::UNIX_EPOCH, now)?;
/// assert_eq!(first, now);
/// let second = ordered::next(first, now)?;
/// assert_eq!(second.to_bits(), first.to_bits() + 1);
/// assert_eq!(ordered::next(first, Time::from_unix_ms(1_469_918_176_385)?)?, second);
/// # Ok::<(), pg_ulid::Error>(())
/// ```
pub fn next(last: Time, clock: Time) -> Result<Time, Error> {
    let next = last
        .0
        .checked_add(1)
        .ok_or(Error(ErrorKind::OutOfRangeForUlid))?;
    Ok(clock.max(Time(next)))
}

/// The time of the last ordered id, which generators share: those of a process, or, in shared
/// memory, those of several. It has the size of a `u64`, and all zeros are one that was not
/// started.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct IdClock(AtomicU64);

impl IdClock {
    /// An id clock that was not started: its time is [`Time::UNIX_EPOCH`].
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The time that was taken last.
    pub fn time(&self) -> Time {
        Time(self.0.load(Ordering::Relaxed))
    }

    /// Takes the time of the next id, by the rule of [`next`] for a clock that reads `clock`. An
    /// error leaves the id clock unchanged.
    ///
    /// # Errors
    /// Those of [`next`].
    pub fn advance(&self, clock: Time) -> Result<Time, Error> {
        // Relaxed: the modification order of one atomic is enough for an increasing sequence. What
        // else depends on it, such as the entries of `ulid_horizon`, has barriers of its own.
        let mut last = self.time();
        loop {
            let time = next(last, clock)?;
            let (new, relaxed) = (time.0, Ordering::Relaxed);
            match self.0.compare_exchange_weak(last.0, new, relaxed, relaxed) {
                Ok(_) => return Ok(time),
                Err(changed) => last = Time(changed),
            }
        }
    }

    /// Advances to this time, unless that is past, and returns the time then. The next id is
    /// later.
    pub fn advance_to(&self, time: Time) -> Time {
        Time(self.0.fetch_max(time.0, Ordering::Relaxed)).max(time)
    }

    /// Advances so that the next id is greater than this one, and returns the time then. It never
    /// goes back.
    ///
    /// A version 7 UUID has its version where a ULID has the fraction of the millisecond. So this
    /// advances to the end of the millisecond, for both.
    pub fn advance_past(&self, id: Ulid) -> Time {
        self.advance_to(Time(time_of(id).0 | FRACTION_MASK))
    }

    /// Sets it to this time, or back to it: the next ids may then be less than earlier ones.
    pub fn set(&self, time: Time) {
        // A swap, not a store, as it also acquires. With the barriers of `ulid_horizon`, this
        // sees what was stored before an earlier time was taken, and whoever takes a later time
        // sees what was stored before this.
        self.0.swap(time.0, Ordering::AcqRel);
    }
}

/// The version 7 UUID of a time, with the low 58 bits of `randomness`, which must be fresh for each
/// call.
///
/// By [RFC 9562](https://www.rfc-editor.org/rfc/rfc9562.html#section-6.2), method 3, with as much
/// of the fraction as it has: the milliseconds (48 bits), the version, 12 bits of the fraction, the
/// variant, the other 4 bits of the fraction. So UUIDs of different times are in their order.
///
/// ```
/// use pg_ulid::{Time, ordered};
///
/// let time = Time::from_bits(1_645_557_742_000 << 16 | 0xcc3a);
/// let uuid = ordered::uuid_v7(time, 0x18c4_dc0c_0c07_398f);
/// assert_eq!(uuid, 0x017f22e2_79b0_7cc3_a8c4_dc0c0c07398f_u128);
/// assert_eq!(ordered::time_of_uuid_v7(uuid), time);
/// ```
pub const fn uuid_v7(time: Time, randomness: u64) -> u128 {
    let high = time.unix_ms() << 16 | time.0 >> LATE_FRACTION_BITS & 0xfff;
    let low = time.0 << RANDOM_BITS_OF_UUID_V7 | randomness & ((1 << RANDOM_BITS_OF_UUID_V7) - 1);
    uuid_with_version(7, high, low)
}

/// The inverse of [`uuid_v7`]: the time of such a UUID.
pub const fn time_of_uuid_v7(uuid: u128) -> Time {
    let (high, low) = ((uuid >> 64) as u64, uuid as u64);
    let late = low >> RANDOM_BITS_OF_UUID_V7 & ((1 << LATE_FRACTION_BITS) - 1);
    Time(high >> 16 << FRACTION_BITS | (high & 0xfff) << LATE_FRACTION_BITS | late)
}

/// The time of an ordered ULID: its first half. Of another id, only the millisecond is exact.
pub const fn time_of(id: Ulid) -> Time {
    Time((id.0 >> 64) as u64)
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    const MS: u64 = 1_469_918_176_385;

    #[test]
    fn after_a_ulid_comes_a_greater_one_and_never_a_smaller() {
        let (id_clock, end) = (IdClock::new(), Time(MS << 16 | 0xffff));
        let id = Ulid::from(u128::from(MS << 16 | 7) << 64 | u128::from(u64::MAX));
        assert_eq!(id_clock.advance_past(id), end);
        assert_eq!(id_clock.advance_past(Ulid::NIL), end);
        let next = Time(end.0 + 1);
        assert_eq!(id_clock.advance(Time::UNIX_EPOCH), Ok(next));
        assert_eq!(id_clock.advance_past(id), next);
    }

    #[test]
    fn threads_never_get_the_same_time_and_each_an_increasing_one() {
        const EACH: u64 = if cfg!(miri) { 50 } else { 10_000 };
        let id_clock = IdClock::new();
        // A clock that stands still makes them collide at every step.
        let times = || -> Vec<Time> {
            std::iter::repeat_with(|| id_clock.advance(Time(MS)).unwrap())
                .take(EACH as usize)
                .collect()
        };
        let mut all = std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(times));
            let each = threads.map(|thread| thread.join().unwrap());
            assert!(each.iter().all(|times| times.is_sorted_by(|a, b| a < b)));
            each.concat()
        });
        all.sort_unstable();
        assert!(all.into_iter().eq((MS..MS + 4 * EACH).map(Time)));
    }
}
