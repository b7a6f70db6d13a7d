//! The rule that computes the next version 7 UUID of one sequence. It involves neither a clock nor
//! a generator.

use std::time::Duration;

use crate::convert::rfc_9562;
use crate::error::{Error, ErrorKind};
use crate::ordered;

/// The last time that fits 60 bits, in 4096ths of a millisecond.
const MAX_TIME: u64 = (1 << 60) - 1;

/// The version 7 UUID that follows `last` when the clock reads `since_epoch`, counted from the Unix
/// epoch.
///
/// It is method 3 of [RFC 9562](https://www.rfc-editor.org/rfc/rfc9562.html#section-6.2): the
/// milliseconds (48 bits), their fraction in 4096ths, rounded down (12 bits), and the low 62 bits
/// of `randomness`, which must be fresh for each call. Milliseconds and fraction are one time of 60
/// bits:
///
/// - A clock later than the time of `last`: the time of the clock.
/// - The same time, or a clock behind it: the time of `last` plus one 4096th of a millisecond.
///
/// So the result is always greater than `last`, which is a UUID that this function returned, or
/// zero for "none yet".
///
/// # Errors
/// [`ErrorKind::Range`] if the milliseconds do not fit 48 bits, those of the clock or those after
/// `last`.
///
/// ```
/// use std::time::Duration;
/// use pg_ulid::{Ulid, uuid_v7};
///
/// let now = Duration::from_nanos(1_645_557_742_000_797_608);
/// let first = uuid_v7::next(0, now, 0x18c4_dc0c_0c07_398f)?;
/// assert_eq!(first, 0x017f22e2_79b0_7cc3_98c4_dc0c0c07398f_u128);
/// assert_eq!(Ulid::from(first).unix_ms(), 1_645_557_742_000);
/// assert!(uuid_v7::next(first, now, 0)? > first);
/// # Ok::<(), pg_ulid::Error>(())
/// ```
pub fn next(last: u128, since_epoch: Duration, randomness: u64) -> Result<u128, Error> {
    let high = (last >> 64) as u64;
    let last = (high >> 16) << 12 | high & 0xfff;
    let time = clock(since_epoch)?.max(last + 1);
    if time > MAX_TIME {
        return Err(Error(ErrorKind::Range));
    }
    Ok(of_time(time, randomness))
}

/// The version 7 UUID for a moment: what [`next`] returns if there is no last one. It belongs to no
/// sequence.
///
/// The fraction of the millisecond is rounded down to 4096ths, so UUIDs of different microseconds
/// are in order.
///
/// # Errors
/// [`ErrorKind::Range`] if the milliseconds do not fit 48 bits.
///
/// ```
/// use std::time::Duration;
/// use pg_ulid::uuid_v7;
///
/// let uuid = uuid_v7::at(Duration::from_millis(1_645_557_742_000), 0x18c4_dc0c_0c07_398f)?;
/// assert_eq!(uuid, 0x017f22e2_79b0_7000_98c4_dc0c0c07398f_u128);
/// # Ok::<(), pg_ulid::Error>(())
/// ```
pub fn at(since_epoch: Duration, randomness: u64) -> Result<u128, Error> {
    clock(since_epoch).map(|time| of_time(time, randomness))
}

/// The time in 4096ths of a millisecond since the Unix epoch, 60 bits, rounded down.
fn clock(since_epoch: Duration) -> Result<u64, Error> {
    // ordered::clock() truncates to 65536ths of a millisecond. Truncating those to 4096ths is the
    // same as truncating once.
    ordered::clock(since_epoch).map(|time| time >> 4)
}

fn of_time(time: u64, randomness: u64) -> u128 {
    rfc_9562(7, (time >> 12) << 16 | time & 0xfff, randomness)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_rfc_for_a_fraction() {
        // RFC 9562, section 6.2, method 3: 2023-01-01 12:34:56.1234567 has 0.4567 ms, which is
        // 0x74e.
        let uuid = at(Duration::from_nanos(1_672_576_496_123_456_700), 0);
        assert_eq!(
            uuid,
            Ok(1_672_576_496_123 << 80 | 0x774e << 64 | 0b10 << 62)
        );
    }

    #[test]
    fn the_last_time_is_used_and_nothing_follows_it() {
        let last = next(of_time(MAX_TIME - 1, 0), Duration::ZERO, 0);
        assert_eq!(last, Ok(of_time(MAX_TIME, 0)));
        assert_eq!(
            next(of_time(MAX_TIME, 0), Duration::ZERO, 0),
            Err(Error(ErrorKind::Range))
        );
    }
}
