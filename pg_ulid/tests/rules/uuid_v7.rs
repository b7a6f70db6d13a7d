//! Version 7 UUIDs generated one after another by any clock.

use pg_ulid::extension::ErrorKind;
use pg_ulid::{Error, Time, Ulid, uuid_v7};

use super::input::{Numbers, advance};

/// Milliseconds and fraction of a UUID as one number.
fn time(uuid: u128) -> u128 {
    uuid >> 80 << 12 | uuid >> 64 & 0xfff
}

/// The UUID of a time in 4096ths of a millisecond.
fn plain(time: u128, randomness: u64) -> Result<u128, Error> {
    if time >= 1 << 60 {
        return Err(ErrorKind::OutOfRangeForUlid.into());
    }
    let head = (time >> 12) << 80 | 7 << 76 | (time & 0xfff) << 64;
    Ok(head | 0b10 << 62 | u128::from(randomness << 2 >> 2))
}

/// A sequence, and the UUID of each moment outside of it.
pub fn check(input: &[u8]) -> bool {
    let mut numbers = Numbers(input);
    let mut last = match numbers.byte() % 4 {
        0 => Ulid::from(numbers.number(128)).to_uuid_v7(),
        _ => 0,
    };
    let mut accepted = true;
    while !numbers.is_empty() {
        let (clock, randomness) = (numbers.clock(), numbers.u64());
        let now = clock.as_nanos() * 4096 / 1_000_000;
        let Ok(clock) = Time::from_duration(clock) else {
            assert_eq!(plain(now, 0), Err(ErrorKind::OutOfRangeForUlid.into()));
            continue;
        };
        assert_eq!(Ok(uuid_v7::at(clock, randomness)), plain(now, randomness));
        let next = uuid_v7::next(last, clock, randomness);
        let expected = plain(now.max(time(last) + 1), randomness);
        assert_eq!(next, expected, "{last:x?} {clock:?}");
        accepted &= advance(&mut last, next);
    }
    accepted
}
