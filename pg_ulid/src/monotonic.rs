//! The rule that computes the next ULID of one sequence. It involves neither a clock nor a
//! generator.

use crate::error::{Error, ErrorKind};
use crate::time::Time;
use crate::value::Ulid;

/// The ULID that follows `last` when the clock reads `clock`.
///
/// - A later millisecond than that of `last`: that millisecond, with fresh `randomness`, of which
///   the low 80 bits count.
/// - The same millisecond, or a clock behind it: `last + 1`, whose time is that of `last`.
///
/// So the result is always greater than `last`. [`Ulid::NIL`] stands for "none yet". `randomness`
/// is called only if it is used.
///
/// # Errors
/// [Exhausted](Error::is_exhausted) if the randomness of `last` is all ones, as the
/// [specification](https://github.com/ulid/spec#monotonicity) demands; a later millisecond works
/// again.
///
/// ```
/// use pg_ulid::{Time, Ulid, monotonic};
///
/// let clock = Time::from_unix_ms(1_469_918_176_385)?;
/// let first = monotonic::next(Ulid::NIL, clock, || 41)?;
/// let second = monotonic::next(first, Time::from_unix_ms(1_469_918_176_384)?, || 0)?;
/// assert_eq!((second.unix_ms(), second.randomness()), (1_469_918_176_385, 42));
/// # Ok::<(), pg_ulid::Error>(())
/// ```
pub fn next(last: Ulid, clock: Time, randomness: impl FnOnce() -> u128) -> Result<Ulid, Error> {
    if clock.unix_ms() > last.unix_ms() {
        Ok(Ulid::new(clock, randomness()))
    } else if last.randomness() < Ulid::MAX_RANDOMNESS {
        Ok(Ulid(last.0 + 1))
    } else {
        Err(Error(ErrorKind::Exhausted))
    }
}
