//! Any 16 bytes, as a value, as parts, as text, and compared with others.

use pg_ulid::extension::{ErrorKind, Expected, ForeignId};
use pg_ulid::{Time, Ulid};

use super::input::Numbers;
use super::parse::plain_text;

/// What a value consists of, that it comes back from each of its forms, and that all forms have one
/// order.
pub fn check(input: &[u8]) -> bool {
    let mut numbers = Numbers(input);
    let value = numbers.number(128);
    let ulid = Ulid::from(value);
    let bytes = value.to_be_bytes();
    assert_eq!(
        (ulid.to_bytes(), u128::from(ulid), Ulid::from_bytes(bytes)),
        (bytes, value, ulid)
    );

    let (unix_ms, randomness) = ((value >> 80) as u64, value % (1 << 80));
    assert_eq!((ulid.unix_ms(), ulid.randomness()), (unix_ms, randomness));
    // The fraction of the millisecond makes no difference.
    let time = Time::from_bits((value >> 64) as u64);
    assert_eq!(time.unix_ms(), unix_ms);
    assert_eq!(Ulid::from_parts(time, randomness), Ok(ulid));
    assert_eq!(ulid.randomness_bytes(), bytes[6..]);
    assert_eq!(Ulid::from_parts_bytes(time, ulid.randomness_bytes()), ulid);
    assert_eq!(Ulid::lower_bound(time), Ulid::from(value - randomness));
    assert_eq!(
        Ulid::upper_bound(time),
        Ulid::from(value - randomness + Ulid::MAX_RANDOMNESS)
    );

    let text = ulid.to_text();
    assert_eq!(text, plain_text(value));
    assert_eq!(Ulid::parse(&text), Ok(ulid));
    assert_eq!(
        Ulid::parse(&text.map(|byte| byte.to_ascii_lowercase())),
        Ok(ulid)
    );
    assert_eq!(Ulid::parse(&uuid_text(&bytes)), Ok(ulid));

    let other = if numbers.byte() & 1 == 0 {
        numbers.number(128)
    } else {
        value ^ 1 << (numbers.byte() & 127)
    };
    let order = value.cmp(&other);
    assert_eq!(ulid.cmp(&Ulid::from(other)), order);
    assert_eq!(bytes.cmp(&other.to_be_bytes()), order);
    assert_eq!(text.cmp(&Ulid::from(other).to_text()), order);
    parts(&mut numbers);

    let slice = input.try_into().map(Ulid::from_bytes).map_err(|_| {
        ErrorKind::Length {
            expected: Expected::UlidBytes,
            found: input.len(),
        }
        .into()
    });
    assert_eq!(Ulid::try_from(input), slice);
    true
}

/// Randomness that may not fit, and keys.
fn parts(numbers: &mut Numbers) {
    let (time, randomness) = (Time::from_bits(numbers.u64()), numbers.number(128));
    let head = u128::from(time.unix_ms()) << 80;
    let expected = match randomness >> 80 {
        0 => Ok(Ulid::from(head | randomness)),
        _ => Err(ErrorKind::OutOfRangeForUlid.into()),
    };
    assert_eq!(Ulid::from_parts(time, randomness), expected);
    let key = randomness as i64;
    let expected = match key {
        ..0 => Err(ErrorKind::Negative { found: key }.into()),
        _ => Ok(Ulid::from(head | key as u128)),
    };
    assert_eq!(Ulid::from_key(time, key), expected);
    let ulid = Ulid::from(randomness);
    let expected = match ulid.randomness() >> 63 {
        0 => Ok(ulid.randomness() as i64),
        _ => Err(ErrorKind::NotMadeFrom {
            target: ForeignId::BigintKey,
        }
        .into()),
    };
    assert_eq!(ulid.to_key(), expected);
}

/// The 36 characters of a UUID, alternately in upper and lower case.
fn uuid_text(bytes: &[u8; 16]) -> [u8; 36] {
    let mut nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    std::array::from_fn(|index| match index {
        8 | 13 | 18 | 23 => b'-',
        _ => {
            let digit = b"0123456789abcdef"[usize::from(nibbles.next().unwrap_or_default())];
            if index % 2 == 0 {
                digit
            } else {
                digit.to_ascii_uppercase()
            }
        }
    })
}
