//! Any two moments, and the ULIDs between them.

use std::ops::Bound::{self, Excluded, Included, Unbounded};
use std::ops::RangeBounds;

use pg_ulid::{Time, Ulid, Window};

use super::input::Numbers;

const MAX: i128 = Time::MAX.unix_ms() as i128;

/// A bound in microseconds: mostly near a millisecond that a ULID can hold, else anything.
fn bound(numbers: &mut Numbers) -> Bound<i128> {
    let kind = numbers.byte();
    let near = i128::from(i16::from_le_bytes(numbers.bytes())) % 2100;
    let us = match kind >> 4 {
        0 => numbers.number(128).cast_signed(),
        1 => numbers.i64().into(),
        2 => (MAX + 1) * 1000 + near,
        3 => near,
        4..=7 => 1_469_918_176_385_000 + near * 3,
        _ => numbers.number(48).cast_signed() * 1000 + near,
    };
    match kind % 8 {
        0 => Unbounded,
        1..=4 => Included(us),
        _ => Excluded(us),
    }
}

/// Whether this millisecond, as a moment, is within the bounds.
fn within(lower: Bound<i128>, upper: Bound<i128>, ms: i128) -> bool {
    (lower, upper).contains(&(ms * 1000))
}

/// Milliseconds around a bound that a ULID can hold.
fn around(bound: Bound<i128>) -> impl Iterator<Item = i128> {
    let ms = match bound {
        Included(us) | Excluded(us) => us.div_euclid(1000).clamp(-9, MAX + 9),
        Unbounded => 0,
    };
    (ms - 2..=ms + 2).filter(|ms| (0..=MAX).contains(ms))
}

/// That a window contains exactly the ULIDs whose millisecond is within its bounds.
pub fn check(input: &[u8]) -> bool {
    let mut numbers = Numbers(input);
    let (lower, upper) = (bound(&mut numbers), bound(&mut numbers));
    let window = Window::from_unix_us(lower, upper);
    let (first, last) = (
        window.lower().unix_ms().into(),
        window.upper().unix_ms().into(),
    );
    if window.is_empty() {
        assert_eq!(window, Window::EMPTY);
    } else {
        // The window is that of its first and its last millisecond, and both are within the bounds.
        assert!(
            within(lower, upper, first) && within(lower, upper, last),
            "{lower:?} {upper:?}"
        );
        let time = |ms: i128| Time::from_unix_ms(ms as u64);
        assert_eq!(time(first).map(Ulid::lower_bound), Ok(window.lower()));
        assert_eq!(time(last).map(Ulid::upper_bound), Ok(window.upper()));
    }
    // What changes at a bound, changes within two milliseconds of it.
    let moments =
        around(lower)
            .chain(around(upper))
            .chain([0, MAX, numbers.number(48).cast_signed()]);
    for ms in moments {
        let within = within(lower, upper, ms);
        for randomness in [0, Ulid::MAX_RANDOMNESS] {
            let ulid = Ulid::from(ms.cast_unsigned() << 80 | randomness);
            assert_eq!(window.contains(ulid), within, "{lower:?} {upper:?} {ulid}");
        }
    }
    !window.is_empty()
}
