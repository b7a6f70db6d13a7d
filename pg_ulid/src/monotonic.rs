//! The rule that computes the next ULID of one sequence. It involves neither a clock nor a
//! generator.

use crate::error::{Error, ErrorKind};
use crate::value::Ulid;

/// The ULID that follows `last` when the clock reads `unix_ms` milliseconds since the Unix epoch.
///
/// - A later millisecond than that of `last`: that millisecond, with fresh `randomness` (80 bits).
/// - The same millisecond, or a clock behind it: `last + 1`, whose time is that of `last`.
///
/// So the result is always greater than `last`. [`Ulid::NIL`] stands for "none yet". `randomness`
/// is called only if it is used.
///
/// # Errors
/// - [`ErrorKind::Exhausted`] if the randomness of `last` is all ones, as the
///   [specification](https://github.com/ulid/spec#monotonicity) demands; a later millisecond works
///   again.
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
    if unix_ms > last.unix_ms() {
        Ulid::from_parts(unix_ms, randomness())
    } else if last.randomness() < Ulid::MAX_RANDOMNESS {
        Ok(Ulid(last.0 + 1))
    } else {
        Err(Error(ErrorKind::Exhausted))
    }
}
