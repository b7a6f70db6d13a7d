//! Any number as a snowflake of any epoch, and the snowflake of any ULID.

use pg_ulid::extension::{ErrorKind, ForeignId};
use pg_ulid::{Error, TWITTER_EPOCH_MS, Ulid};

use super::input::Numbers;

/// In numbers that cannot overflow.
fn plain(id: i64, epoch_ms: i64) -> Result<Ulid, Error> {
    if id < 0 {
        return Err(ErrorKind::Negative { found: id }.into());
    }
    let unix_ms = i128::from(id) / (1 << 22) + i128::from(epoch_ms);
    if !(0..1 << 48).contains(&unix_ms) {
        return Err(ErrorKind::OutOfRangeForUlid.into());
    }
    Ok(Ulid::from(
        unix_ms.cast_unsigned() << 80 | (id as u128 % (1 << 22)) << 58,
    ))
}

fn plain_inverse(ulid: Ulid, epoch_ms: i64) -> Result<i64, Error> {
    let target = ForeignId::Snowflake;
    if u128::from(ulid) % (1 << 58) > 0 {
        return Err(ErrorKind::NotMadeFrom { target }.into());
    }
    let ms = i128::from(ulid.unix_ms()) - i128::from(epoch_ms);
    if !(0..1 << 41).contains(&ms) {
        return Err(ErrorKind::TimeOutOfRangeFor { target }.into());
    }
    Ok((ms * (1 << 22)) as i64 + (ulid.randomness() >> 58) as i64)
}

/// Both ways.
pub fn check(input: &[u8]) -> bool {
    let mut numbers = Numbers(input);
    let kind = numbers.byte();
    let epoch_ms = if kind & 3 == 0 {
        numbers.i64()
    } else {
        TWITTER_EPOCH_MS
    };
    let id = if kind & 0b1100 == 0 {
        numbers.i64()
    } else {
        numbers.number(63) as i64
    };
    let ulid = Ulid::from_snowflake(id, epoch_ms);
    assert_eq!(ulid, plain(id, epoch_ms));
    if let Ok(ulid) = ulid {
        assert_eq!(ulid.to_snowflake(epoch_ms), Ok(id));
        let other = id ^ 1 << (numbers.byte() % 63);
        if let Ok(of_other) = Ulid::from_snowflake(other, epoch_ms) {
            assert_eq!(ulid.cmp(&of_other), id.cmp(&other));
        }
    }
    inverse(&mut numbers, kind, epoch_ms);
    ulid.is_ok()
}

/// A ULID that mostly came from a snowflake, and mostly of an epoch near it.
fn inverse(numbers: &mut Numbers, kind: u8, epoch_ms: i64) {
    let mut value = numbers.number(128);
    if kind & 0b11_0000 > 0 {
        value = value >> 58 << 58;
    }
    let ulid = Ulid::from(value);
    let near = (ulid.unix_ms() as i64).wrapping_sub(numbers.number(43) as i64);
    let epoch_ms = if kind & 0b1100_0000 > 0 {
        near
    } else {
        epoch_ms
    };
    let id = ulid.to_snowflake(epoch_ms);
    assert_eq!(id, plain_inverse(ulid, epoch_ms));
    if let Ok(id) = id {
        assert_eq!(Ulid::from_snowflake(id, epoch_ms), Ok(ulid));
    }
}
