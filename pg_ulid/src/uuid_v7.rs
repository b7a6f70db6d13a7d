//! The rule that computes the next version 7 UUID of one sequence. It involves neither a clock nor
//! a generator.

use crate::convert::uuid_with_version;
use crate::error::{Error, ErrorKind};
use crate::time::Time;

/// The last time that fits 60 bits, in 4096ths of a millisecond.
const MAX_TIME: u64 = (1 << 60) - 1;

/// The version 7 UUID that follows `last` when the clock reads `clock`.
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
/// [Out of range](Error::is_out_of_range) if nothing follows the time of `last`.
///
/// ```
/// use std::time::Duration;
/// use pg_ulid::{Time, Ulid, uuid_v7};
///
/// let now = Time::from_duration(Duration::from_nanos(1_645_557_742_000_797_608))?;
/// let first = uuid_v7::next(0, now, 0x18c4_dc0c_0c07_398f)?;
/// assert_eq!(first, 0x017f22e2_79b0_7cc3_98c4_dc0c0c07398f_u128);
/// assert_eq!(Ulid::from(first).unix_ms(), 1_645_557_742_000);
/// assert!(uuid_v7::next(first, now, 0)? > first);
/// # Ok::<(), pg_ulid::Error>(())
/// ```
pub fn next(last: u128, clock: Time, randomness: u64) -> Result<u128, Error> {
    let high = (last >> 64) as u64;
    let last_time = (high >> 16) << 12 | high & 0xfff;
    let time = in_4096ths(clock).max(last_time + 1);
    if time > MAX_TIME {
        return Err(Error(ErrorKind::OutOfRangeForUlid));
    }
    Ok(of_time(time, randomness))
}

/// The version 7 UUID of a time, with the low 62 bits of `randomness`: what [`next`] returns if
/// the last one is of an earlier time. It belongs to no sequence.
///
/// The fraction of the millisecond is rounded down to 4096ths, so UUIDs of different microseconds
/// are in order.
///
/// ```
/// use pg_ulid::{Time, uuid_v7};
///
/// let uuid = uuid_v7::at(Time::from_unix_ms(1_645_557_742_000)?, 0x18c4_dc0c_0c07_398f);
/// assert_eq!(uuid, 0x017f22e2_79b0_7000_98c4_dc0c0c07398f_u128);
/// # Ok::<(), pg_ulid::Error>(())
/// ```
pub const fn at(time: Time, randomness: u64) -> u128 {
    of_time(in_4096ths(time), randomness)
}

/// 4096ths of a millisecond since the Unix epoch, rounded down: 60 bits. A time that was rounded
/// down to 65536ths gives the same as the time itself.
const fn in_4096ths(time: Time) -> u64 {
    time.0 >> 4
}

/// The version 7 UUID of a time in 4096ths of a millisecond, and the low 62 bits of `randomness`.
const fn of_time(time: u64, randomness: u64) -> u128 {
    uuid_with_version(7, (time >> 12) << 16 | time & 0xfff, randomness)
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_example_of_the_rfc_for_a_fraction() {
        // RFC 9562, section 6.2, method 3: 2023-01-01 12:34:56.1234567 has 0.4567 ms, which is
        // 0x74e.
        let time = Time::from_duration(Duration::from_nanos(1_672_576_496_123_456_700));
        let uuid = at(time.unwrap(), 0);
        assert_eq!(uuid, 1_672_576_496_123 << 80 | 0x774e << 64 | 0b10 << 62);
    }

    #[test]
    fn the_last_time_is_used_and_nothing_follows_it() {
        let next = |time| next(of_time(time, 0), Time::UNIX_EPOCH, 0);
        assert_eq!(next(MAX_TIME - 1), Ok(of_time(MAX_TIME, 0)));
        assert_eq!(next(MAX_TIME), Err(Error(ErrorKind::OutOfRangeForUlid)));
    }
}
