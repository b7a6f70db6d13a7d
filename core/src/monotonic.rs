//! The rule that computes the next ULID of one sequence. It involves neither a clock nor a generator.

use crate::error::{Error, ErrorKind};
use crate::value::Ulid;

/// The ULID that follows `last` when the clock reads `unix_ms` milliseconds since the Unix epoch.
///
/// - A later millisecond than that of `last`: that millisecond, with fresh `randomness` (80 bits).
/// - The same millisecond, or a clock behind it: `last + 1`, whose time is that of `last`.
///
/// So the result is always greater than `last`. [`Ulid::NIL`] stands for "none yet". `randomness` is called only if it
/// is used.
///
/// # Errors
/// - [`ErrorKind::Exhausted`] if the randomness of `last` is all ones, as the
///   [specification](https://github.com/ulid/spec#monotonicity) demands; a later millisecond works again.
/// - [`ErrorKind::Range`] if the time or the randomness does not fit.
///
/// ```
/// use pg_ulid::{Ulid, monotonic};
///
/// let first = monotonic::next(Ulid::NIL, 1_469_918_176_385, || 41)?;
/// let second = monotonic::next(first, 1_469_918_176_384, || 0)?;
/// assert_eq!((second.unix_ms(), second.randomness()), (1_469_918_176_385, 42));
/// # Ok::<(), pg_ulid::Error>(())
/// ```
pub fn next(last: Ulid, unix_ms: u64, randomness: impl FnOnce() -> u128) -> Result<Ulid, Error> {
    next_number(last, unix_ms, randomness).map(Ulid::from)
}

/// [`next`] as a number: its bytes would overlap with those of the error, and be stored piece by piece for that reason.
pub(crate) fn next_number(
    last: Ulid,
    unix_ms: u64,
    randomness: impl FnOnce() -> u128,
) -> Result<u128, Error> {
    if unix_ms > last.unix_ms() {
        Ok(Ulid::from_parts(unix_ms, randomness())?.into())
    } else if last.randomness() < Ulid::MAX_RANDOMNESS {
        Ok(u128::from(last) + 1)
    } else {
        Err(Error(ErrorKind::Exhausted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorKind};

    const MS: u64 = 1_469_918_176_385;

    fn ulid(unix_ms: u64, randomness: u128) -> Ulid {
        Ulid::from_parts(unix_ms, randomness).unwrap()
    }

    fn unused() -> u128 {
        panic!("no randomness is needed to increment")
    }

    #[test]
    fn same_millisecond_increments() {
        assert_eq!(next(ulid(MS, 5), MS, unused), Ok(ulid(MS, 6)));
    }

    #[test]
    fn increment_carries_across_bytes() {
        for bits in [8, 16, 32, 64, 72, 79] {
            let ones = (1 << bits) - 1;
            assert_eq!(next(ulid(MS, ones), MS, unused), Ok(ulid(MS, ones + 1)), "{bits} bits");
        }
    }

    #[test]
    fn later_millisecond_takes_fresh_randomness() {
        assert_eq!(next(ulid(MS, 5), MS + 1, || 3), Ok(ulid(MS + 1, 3)));
        assert_eq!(next(Ulid::NIL, MS, || 3), Ok(ulid(MS, 3)));
    }

    #[test]
    fn clock_stepping_back_keeps_the_last_time() {
        assert_eq!(next(ulid(MS, 5), MS - 1, unused), Ok(ulid(MS, 6)));
        assert_eq!(next(ulid(MS, 5), 0, unused), Ok(ulid(MS, 6)));
    }

    #[test]
    fn exhaustion_is_an_error_and_the_next_millisecond_recovers() {
        let last = ulid(MS, Ulid::MAX_RANDOMNESS);
        assert_eq!(next(ulid(MS, Ulid::MAX_RANDOMNESS - 1), MS, unused), Ok(last));
        assert_eq!(next(last, MS, unused), Err(Error(ErrorKind::Exhausted)));
        assert_eq!(next(last, MS - 1, unused), Err(Error(ErrorKind::Exhausted)));
        assert_eq!(next(last, MS + 1, || 7), Ok(ulid(MS + 1, 7)));
        assert_eq!(next(Ulid::MAX, Ulid::MAX_UNIX_MS, unused), Err(Error(ErrorKind::Exhausted)));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let range = Err(Error(ErrorKind::Range));
        assert_eq!(next(Ulid::NIL, Ulid::MAX_UNIX_MS + 1, || 0), range);
        assert_eq!(next(Ulid::NIL, MS, || u128::MAX), range);
    }
}
