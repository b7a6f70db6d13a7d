//! The rule that computes the next version 7 UUID of one sequence. It involves neither a clock nor a generator.

use std::time::Duration;

use crate::convert::rfc_9562;
use crate::error::{Error, ErrorKind};
use crate::ordered;

/// The last time that fits 60 bits, in 4096ths of a millisecond.
const MAX_TIME: u64 = (1 << 60) - 1;

/// The version 7 UUID that follows `last` when the clock reads `since_epoch`, counted from the Unix epoch.
///
/// It is method 3 of [RFC 9562](https://www.rfc-editor.org/rfc/rfc9562.html#section-6.2): the milliseconds (48 bits),
/// their fraction in 4096ths, rounded down (12 bits), and the low 62 bits of `randomness`, which must be fresh for
/// each call. Milliseconds and fraction are one time of 60 bits:
///
/// - A clock later than the time of `last`: the time of the clock.
/// - The same time, or a clock behind it: the time of `last` plus one 4096th of a millisecond.
///
/// So the result is always greater than `last`, which is a UUID that this function returned, or zeros for "none yet".
///
/// # Errors
/// [`ErrorKind::Range`] if the milliseconds do not fit 48 bits, those of the clock or those after `last`.
///
/// ```
/// use std::time::Duration;
/// use pg_ulid::{Ulid, uuid_v7};
///
/// let now = Duration::from_nanos(1_645_557_742_000_797_608);
/// let first = uuid_v7::next([0; 16], now, 0x18c4_dc0c_0c07_398f)?;
/// assert_eq!(first, 0x017f22e2_79b0_7cc3_98c4_dc0c0c07398f_u128.to_be_bytes());
/// assert_eq!(Ulid::from(first).unix_ms(), 1_645_557_742_000);
/// assert!(uuid_v7::next(first, now, 0)? > first);
/// # Ok::<(), pg_ulid::Error>(())
/// ```
pub fn next(last: [u8; 16], since_epoch: Duration, randomness: u64) -> Result<[u8; 16], Error> {
    let high = (u128::from_be_bytes(last) >> 64) as u64;
    let last = (high >> 16) << 12 | high & 0xfff;
    let time = clock(since_epoch)?.max(last + 1);
    if time > MAX_TIME {
        return Err(Error(ErrorKind::Range));
    }
    Ok(of_time(time, randomness))
}

/// The version 7 UUID for a moment: what [`next`] returns if there is no last one. It belongs to no sequence.
///
/// The fraction of the millisecond is rounded down to 4096ths, so UUIDs of different microseconds are in order.
///
/// # Errors
/// [`ErrorKind::Range`] if the milliseconds do not fit 48 bits.
///
/// ```
/// use std::time::Duration;
/// use pg_ulid::uuid_v7;
///
/// let uuid = uuid_v7::at(Duration::from_millis(1_645_557_742_000), 0x18c4_dc0c_0c07_398f)?;
/// assert_eq!(uuid, 0x017f22e2_79b0_7000_98c4_dc0c0c07398f_u128.to_be_bytes());
/// # Ok::<(), pg_ulid::Error>(())
/// ```
pub fn at(since_epoch: Duration, randomness: u64) -> Result<[u8; 16], Error> {
    clock(since_epoch).map(|time| of_time(time, randomness))
}

/// The time in 4096ths of a millisecond since the Unix epoch, 60 bits, rounded down.
fn clock(since_epoch: Duration) -> Result<u64, Error> {
    // Rounding down twice is rounding down once.
    ordered::clock(since_epoch).map(|time| time >> 4)
}

/// The UUID for such a time.
fn of_time(time: u64, randomness: u64) -> [u8; 16] {
    rfc_9562(7, (time >> 12) << 16 | time & 0xfff, randomness)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Ulid;

    const NONE: [u8; 16] = [0; 16];
    const MS: u64 = 1_645_557_742_000;
    const RANDOMNESS: u64 = 0x18c4_dc0c_0c07_398f;

    fn at(unix_ms: u64, ns: u32) -> Duration {
        Duration::from_millis(unix_ms) + Duration::from_nanos(u64::from(ns))
    }

    fn at_moment(unix_ms: u64, ns: u32) -> Result<[u8; 16], Error> {
        super::at(at(unix_ms, ns), RANDOMNESS)
    }

    /// A UUID with these milliseconds, fraction and random bits.
    fn uuid(unix_ms: u64, fraction: u16, randomness: u64) -> [u8; 16] {
        let head = u128::from(unix_ms) << 80 | 7 << 76 | u128::from(fraction) << 64;
        (head | 0b10 << 62 | u128::from(randomness)).to_be_bytes()
    }

    #[test]
    fn a_later_clock_gives_its_own_time() {
        let first = next(NONE, at(MS, 0), RANDOMNESS).unwrap();
        assert_eq!(first, uuid(MS, 0, RANDOMNESS));
        // A 4096th of a millisecond is 244.140625 ns.
        assert_eq!(next(first, at(MS, 245), 0), Ok(uuid(MS, 1, 0)));
        assert_eq!(next(first, at(MS, 999_999), 0), Ok(uuid(MS, 4095, 0)));
        assert_eq!(next(first, at(MS + 1, 0), 0), Ok(uuid(MS + 1, 0, 0)));
    }

    #[test]
    fn the_example_of_the_rfc_for_a_fraction() {
        // RFC 9562, section 6.2, method 3: 2023-01-01 12:34:56.1234567 has 0.4567 ms, which is 0x74e.
        let unix_ms = 1_672_576_496_123;
        assert_eq!(next(NONE, at(unix_ms, 456_700), 0), Ok(uuid(unix_ms, 0x74e, 0)));
    }

    #[test]
    fn the_same_fraction_is_bumped() {
        let last = uuid(MS, 1, u64::MAX >> 2);
        assert_eq!(next(last, at(MS, 245), 0), Ok(uuid(MS, 2, 0)));
        assert_eq!(next(last, at(MS, 488), 0), Ok(uuid(MS, 2, 0)));
        assert_eq!(next(last, at(MS, 489), 0), Ok(uuid(MS, 2, 0)));
        assert_eq!(next(last, at(MS, 733), 0), Ok(uuid(MS, 3, 0)));
    }

    #[test]
    fn a_clock_stepping_back_bumps_the_last_time() {
        let last = uuid(MS, 5, 0);
        assert_eq!(next(last, at(MS, 0), RANDOMNESS), Ok(uuid(MS, 6, RANDOMNESS)));
        assert_eq!(next(last, at(MS - 1, 999_999), 0), Ok(uuid(MS, 6, 0)));
        assert_eq!(next(last, Duration::ZERO, 0), Ok(uuid(MS, 6, 0)));
    }

    #[test]
    fn the_bump_carries_into_the_milliseconds() {
        let last = uuid(MS, 4095, u64::MAX >> 2);
        let carried = next(last, at(MS, 999_999), 0).unwrap();
        assert_eq!(carried, uuid(MS + 1, 0, 0));
        assert_eq!(next(carried, at(MS + 1, 0), 0), Ok(uuid(MS + 1, 1, 0)));
        assert_eq!(next(uuid(0xffff, 4095, 0), at(0, 0), 0), Ok(uuid(0x1_0000, 0, 0)));
    }

    #[test]
    fn version_and_variant_are_not_random() {
        assert_eq!(next(NONE, at(MS, 0), u64::MAX), Ok(uuid(MS, 0, u64::MAX >> 2)));
        assert_eq!(next(NONE, at(MS, 0), 0), Ok(uuid(MS, 0, 0)));
        assert_eq!(next(NONE, Duration::ZERO, 0), Ok(uuid(0, 1, 0)));
    }

    #[test]
    fn a_moment_has_its_own_time_and_no_sequence() {
        for _ in 0..2 {
            assert_eq!(at_moment(MS, 245), Ok(uuid(MS, 1, RANDOMNESS)));
        }
        assert_eq!(at_moment(0, 0), Ok(uuid(0, 0, RANDOMNESS)));
        assert_eq!(at_moment(Ulid::MAX_UNIX_MS, 999_999), Ok(uuid(Ulid::MAX_UNIX_MS, 4095, RANDOMNESS)));
        assert_eq!(at_moment(Ulid::MAX_UNIX_MS + 1, 0), Err(Error(ErrorKind::Range)));
        // Each microsecond has a different fraction.
        let fractions: Vec<_> = (0..1000).map(|us| at_moment(MS, us * 1000).unwrap()).collect();
        assert!(fractions.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let max = Ulid::MAX_UNIX_MS;
        assert_eq!(next(NONE, at(max, 999_999), 0), Ok(uuid(max, 4095, 0)));
        for clock in [at(max + 1, 0), Duration::from_secs(u64::MAX), Duration::MAX] {
            assert_eq!(next(NONE, clock, 0), Err(Error(ErrorKind::Range)));
        }
        // Multiplied without a check, these would start at zero again.
        for clock in [Duration::from_secs(1 << 61), Duration::from_millis(1 << 52)] {
            assert_eq!(next(NONE, clock, 0), Err(Error(ErrorKind::Range)));
        }
        assert_eq!(next(uuid(max, 4094, 0), at(MS, 0), 0), Ok(uuid(max, 4095, 0)));
        assert_eq!(next(uuid(max, 4095, 0), at(MS, 0), 0), Err(Error(ErrorKind::Range)));
        assert_eq!(next(uuid(max, 4095, 0), at(max, 999_999), 0), Err(Error(ErrorKind::Range)));
    }
}
