//! Monotonic ULIDs generated one after another by any clock.

use pg_ulid::extension::ErrorKind;
use pg_ulid::{Error, Ulid, monotonic};

use super::input::{Numbers, advance};

/// The rule on two numbers, time and randomness.
fn plain(last: (u64, u128), unix_ms: u64, randomness: u128) -> Result<(u64, u128), Error> {
    let end = 1 << 80;
    if unix_ms > last.0 {
        Ok((unix_ms, randomness % end))
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
        let (clock, bits) = (numbers.time(), numbers.byte());
        let unix_ms = clock.unix_ms();
        let randomness = numbers.number(if bits % 16 == 0 { 128 } else { 80 });
        let mut used = false;
        let next = monotonic::next(last, clock, || {
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
