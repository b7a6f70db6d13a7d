//! The rule that computes the next ULID in an order that several generators share, without a clock
//! or a generator.
//!
//! The generators share the *id clock*, the time of the last ULID. It is a number of 64 bits:
//! milliseconds since the Unix epoch (48 bits) and their fraction in 65536ths (16 bits). It is the
//! first half of the ULID. The second half is 64 bits of randomness, fresh for each. So no two of
//! these ULIDs have the same first half, and a neighbour cannot be guessed. The same times give
//! version 7 UUIDs ([`uuid_v7`]) with 58 bits of randomness.
//!
//! ```
//! use std::sync::atomic::AtomicU64;
//! use pg_ulid::{Generator, ordered, since_epoch};
//!
//! static ID_CLOCK: AtomicU64 = AtomicU64::new(0);
//!
//! // Two generators, as two threads would have them.
//! let (mut a, mut b) = (Generator::from_os()?, Generator::from_os()?);
//! let clock = || ordered::clock(since_epoch()?);
//! let first = a.ordered(clock()?, &ID_CLOCK)?;
//! let second = b.ordered(clock()?, &ID_CLOCK)?;
//! assert!(first < second);
//! assert!(second < a.ordered(clock()?, &ID_CLOCK)?);
//! # Ok::<(), pg_ulid::Error>(())
//! ```

#[doc(hidden)]
pub mod horizon;

use std::time::Duration;

use crate::convert::rfc_9562;
use crate::error::{Error, ErrorKind};
use crate::sync::{AtomicU64, Ordering};
use crate::value::Ulid;

/// The number of bits for the fraction of the milliseconds.
pub(crate) const FRACTION_BITS: u32 = 16;

const NS_PER_MS: u64 = 1_000_000;

/// The bits of the fraction that a version 7 UUID has after the variant, as it has 12 of them
/// before it.
const LATE_FRACTION_BITS: u32 = FRACTION_BITS - 12;

/// The bits of a version 7 UUID that are random: those after the fraction.
const RANDOM_BITS_OF_UUID_V7: u32 = 62 - LATE_FRACTION_BITS;

/// A second in 65536ths of a millisecond.
pub const SECOND: u64 = 1000 << FRACTION_BITS;

/// A minute in 65536ths of a millisecond.
pub const MINUTE: u64 = 60 * SECOND;

/// A day in 65536ths of a millisecond.
pub const DAY: u64 = 24 * 60 * MINUTE;

/// The time that follows `last` when the clock reads `clock`, both in 65536ths of a millisecond
/// since the Unix epoch.
///
/// - A clock later than `last`: the time of the clock.
/// - The same time, or a clock behind it: `last + 1`.
///
/// So the result is always greater than `last`. Zero stands for "none yet". The rule gives 65,536
/// times per millisecond before it runs ahead of the clock.
///
/// # Errors
/// [`ErrorKind::Range`] after the last time.
///
/// ```
/// use std::time::Duration;
/// use pg_ulid::ordered;
///
/// // Half a millisecond after a millisecond.
/// let now = ordered::clock(Duration::from_nanos(1_469_918_176_385_500_000))?;
/// let first = ordered::next(0, now)?;
/// assert_eq!(first, 1_469_918_176_385 << 16 | 0x8000);
/// assert_eq!(ordered::next(first, now)?, first + 1);
/// assert_eq!(ordered::next(first, now - ordered::MINUTE)?, first + 1);
/// # Ok::<(), pg_ulid::Error>(())
/// ```
pub fn next(last: u64, clock: u64) -> Result<u64, Error> {
    Ok(clock.max(last.checked_add(1).ok_or(Error(ErrorKind::Range))?))
}

/// The time in 65536ths of a millisecond since the Unix epoch, rounded down.
///
/// # Errors
/// [`ErrorKind::Range`] if the milliseconds do not fit 48 bits.
pub fn clock(since_epoch: Duration) -> Result<u64, Error> {
    // More seconds than this are beyond the last time too.
    let seconds = since_epoch.as_secs().min(1 << 39);
    let unix_ms = seconds * 1000 + u64::from(since_epoch.subsec_millis());
    if unix_ms > Ulid::MAX_UNIX_MS {
        return Err(Error(ErrorKind::Range));
    }
    let ns = u64::from(since_epoch.subsec_nanos()) % NS_PER_MS;
    let fraction = (ns << FRACTION_BITS) / NS_PER_MS;
    Ok(unix_ms << FRACTION_BITS | fraction)
}

/// The inverse of [`clock`] in microseconds, rounded down.
///
/// ```
/// use std::time::Duration;
/// use pg_ulid::ordered;
///
/// let time = ordered::clock(Duration::from_nanos(1_469_918_176_385_500_000))?;
/// assert_eq!(ordered::unix_us(time - 1), 1_469_918_176_385_499);
/// assert_eq!(ordered::unix_us(time), 1_469_918_176_385_500);
/// # Ok::<(), pg_ulid::Error>(())
/// ```
pub const fn unix_us(time: u64) -> u64 {
    let fraction = time & ((1 << FRACTION_BITS) - 1);
    (time >> FRACTION_BITS) * 1000 + ((fraction * 1000) >> FRACTION_BITS)
}

/// Advances the id clock by the rule of [`next`], and returns its new value: the time of the next
/// ULID. An error leaves it unchanged.
///
/// # Errors
/// Those of [`next`].
pub fn advance(id_clock: &AtomicU64, clock: u64) -> Result<u64, Error> {
    // Relaxed: the modification order of one atomic is enough for an increasing sequence. The
    // barriers of `horizon` order the entries with it.
    let mut last = id_clock.load(Ordering::Relaxed);
    loop {
        let time = next(last, clock)?;
        match id_clock.compare_exchange_weak(last, time, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return Ok(time),
            Err(changed) => last = changed,
        }
    }
}

/// The version 7 UUID of a time in 65536ths of a millisecond since the Unix epoch, with the low 58
/// bits of `randomness`, which must be fresh for each call.
///
/// By [RFC 9562](https://www.rfc-editor.org/rfc/rfc9562.html#section-6.2), method 3, with as much
/// of the fraction as it has: the milliseconds (48 bits), the version, 12 bits of the fraction, the
/// variant, the other 4 bits of the fraction. So UUIDs of different times are in their order.
///
/// ```
/// use pg_ulid::ordered;
///
/// let time = 1_645_557_742_000 << 16 | 0xcc3a;
/// let uuid = ordered::uuid_v7(time, 0x18c4_dc0c_0c07_398f);
/// assert_eq!(uuid, 0x017f22e2_79b0_7cc3_a8c4_dc0c0c07398f_u128);
/// assert!(ordered::uuid_v7(time, u64::MAX) < ordered::uuid_v7(time + 1, 0));
/// ```
pub const fn uuid_v7(time: u64, randomness: u64) -> u128 {
    let high = time >> FRACTION_BITS << 16 | time >> LATE_FRACTION_BITS & 0xfff;
    let low = time << RANDOM_BITS_OF_UUID_V7 | randomness & ((1 << RANDOM_BITS_OF_UUID_V7) - 1);
    rfc_9562(7, high, low)
}

/// The inverse of [`uuid_v7`]: the time of such a UUID in 65536ths of a millisecond since the Unix
/// epoch.
pub const fn time_of_uuid_v7(uuid: u128) -> u64 {
    let (high, low) = ((uuid >> 64) as u64, uuid as u64);
    let late = low >> RANDOM_BITS_OF_UUID_V7 & ((1 << LATE_FRACTION_BITS) - 1);
    high >> 16 << FRACTION_BITS | (high & 0xfff) << LATE_FRACTION_BITS | late
}

/// Advances the id clock so that the next id is greater than this one, and returns its new value.
/// It never goes back.
///
/// A version 7 UUID has its version where a ULID has the fraction of the millisecond. So the last
/// time advances to the end of the millisecond, for both.
pub fn advance_to(id_clock: &AtomicU64, id: Ulid) -> u64 {
    let time = time_of(id) | ((1 << FRACTION_BITS) - 1);
    id_clock.fetch_max(time, Ordering::Relaxed).max(time)
}

/// Whether an id clock at this time has certainly reached an id: if so, the next id is greater.
///
/// The id may be a ULID or a version 7 UUID. A ULID can look like one of the others by chance, so
/// the later one of both times counts. They are in the same millisecond.
pub fn reaches(time: u64, id: Ulid) -> bool {
    let is_uuid_v7 = id.0 >> 76 & 0xf == 7 && id.0 >> 62 & 0b11 == 0b10;
    let of_uuid = if is_uuid_v7 { time_of_uuid_v7(id.0) } else { 0 };
    time >= time_of(id).max(of_uuid)
}

/// Whether the millisecond of an id is later than that of a time in 65536ths of a millisecond since
/// the Unix epoch. The id may be a ULID or a version 7 UUID.
pub fn is_after(id: Ulid, time: u64) -> bool {
    id.unix_ms() > time >> FRACTION_BITS
}

/// The smallest ULID of the millisecond of a time in 65536ths of a millisecond since the Unix
/// epoch.
pub fn lower_bound(time: u64) -> Ulid {
    Ulid(u128::from(time >> FRACTION_BITS) << 80)
}

/// The time of a ULID in 65536ths of a millisecond since the Unix epoch: its first half. For a
/// version 7 UUID, only the millisecond is exact.
pub fn time_of(id: Ulid) -> u64 {
    (id.0 >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_469_918_176_385;

    #[test]
    fn a_clock_beyond_the_last_time_is_an_error() {
        assert_eq!(clock(Duration::from_millis(Ulid::MAX_UNIX_MS)), Ok(!0xffff));
        assert_eq!(clock(Duration::from_secs(60)), Ok(MINUTE));
        assert_eq!(clock(Duration::from_secs(86_400)), Ok(DAY));
        // Shifted or multiplied without a check, the last of these and that below would start at
        // zero again.
        for ms in [Ulid::MAX_UNIX_MS + 1, u64::MAX, 1 << 52] {
            assert_eq!(
                clock(Duration::from_millis(ms)),
                Err(Error(ErrorKind::Range)),
                "{ms}"
            );
        }
        assert_eq!(
            clock(Duration::from_secs(1 << 61)),
            Err(Error(ErrorKind::Range))
        );
    }

    #[test]
    fn after_a_ulid_comes_a_greater_one_and_never_a_smaller() {
        let (id_clock, end) = (AtomicU64::new(0), MS << 16 | 0xffff);
        let id = Ulid::from(u128::from(MS << 16 | 7) << 64 | u128::from(u64::MAX));
        assert_eq!(advance_to(&id_clock, id), end);
        assert_eq!(advance_to(&id_clock, Ulid::NIL), end);
        assert_eq!(advance(&id_clock, 0), Ok(end + 1));
        assert_eq!(advance_to(&id_clock, id), end + 1);
    }

    #[test]
    fn an_id_clock_reaches_an_id_when_the_next_one_is_greater() {
        // The fractions are less, the same and greater as the bits of a ULID and of a UUID.
        for fraction in [0, 0x1234, 0x7123, 0x7fff, 0xffff] {
            let time = MS << FRACTION_BITS | fraction;
            let ulid = |time: u64, low: u64| Ulid::from(u128::from(time) << 64 | u128::from(low));
            let uuid = |time, randomness| Ulid::from(uuid_v7(time, randomness));
            for low in [0, 1 << 63 | 0xf00d, u64::MAX] {
                for id in [ulid(time, low), uuid(time, low)] {
                    assert!(reaches(time | 0xffff, id), "{id}");
                    assert!(!reaches(time - 1, id), "{id}");
                }
            }
            // It is none of the other kind.
            assert!(reaches(time, ulid(time, 0)), "{fraction}");
            assert!(reaches(time.max(MS << 16 | 0x7fff), uuid(time, 0)));
        }
    }

    #[test]
    fn threads_never_get_the_same_time_and_each_an_increasing_one() {
        const EACH: u64 = if cfg!(miri) { 50 } else { 10_000 };
        let id_clock = AtomicU64::new(0);
        // A clock that stands still makes them collide at every step.
        let times = || -> Vec<u64> { (0..EACH).map(|_| advance(&id_clock, MS).unwrap()).collect() };
        let mut all = std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(times));
            let each = threads.map(|thread| thread.join().unwrap());
            assert!(each.iter().all(|times| times.is_sorted_by(|a, b| a < b)));
            each.concat()
        });
        all.sort_unstable();
        assert!(all.into_iter().eq(MS..MS + 4 * EACH));
    }
}
