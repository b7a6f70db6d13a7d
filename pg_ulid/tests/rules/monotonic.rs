//! Monotonic ULIDs generated one after another by any clock.

use pg_ulid::{Error, ErrorKind, Ulid, monotonic};

use super::input::{Numbers, advance};

/// The rule on two numbers, time and randomness.
fn plain(last: (u64, u128), unix_ms: u64, randomness: u128) -> Result<(u64, u128), Error> {
    let end = 1 << 80;
    if unix_ms > last.0 {
        if unix_ms >= 1 << 48 || randomness >= end {
            return Err(ErrorKind::Range.into());
        }
        Ok((unix_ms, randomness))
    } else if last.1 + 1 == end {
        Err(ErrorKind::Exhausted.into())
    } else {
        Ok((last.0, last.1 + 1))
    }
}

/// A sequence, in which an error changes nothing.
pub fn check(input: &[u8]) -> bool {
    let mut numbers = Numbers(input);
    let mut last = match numbers.byte() % 4 {
        0 => Ulid::from(numbers.number(128)),
        1 => Ulid::from(numbers.number(80) | 1_469_918_176_385 << 80),
        _ => Ulid::NIL,
    };
    let mut accepted = true;
    while !numbers.is_empty() {
        let unix_ms = numbers.clock().as_millis().min(u64::MAX.into()) as u64;
        let bits = if numbers.byte() % 16 == 0 { 128 } else { 80 };
        let randomness = numbers.number(bits);
        let mut used = false;
        let next = monotonic::next(last, unix_ms, || {
            used = true;
            randomness
        });
        assert_eq!(used, unix_ms > last.unix_ms());
        let parts = next.map(|next| (next.unix_ms(), next.randomness()));
        assert_eq!(
            parts,
            plain((last.unix_ms(), last.randomness()), unix_ms, randomness),
            "{last} {unix_ms}"
        );
        accepted &= advance(&mut last, next);
    }
    accepted
}
