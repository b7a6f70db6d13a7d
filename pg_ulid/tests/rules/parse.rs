//! Any bytes, read as a ULID or a UUID.

use pg_ulid::{Error, ErrorKind, Expected, Ulid};
use rand::Rng;
use rand::rngs::SmallRng;

use super::input::{append, below, bytes, mutate};

pub(crate) const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Every character that is read, some twice.
pub(crate) const READ: &[u8; 64] =
    b"0123456789ABCDEFGHJKMNPQRSTVWXYZ0123abcdefghjkmnpqrstvwxyzILOilo";

/// The value of a character, after the table of symbols in Crockford's specification.
pub(crate) fn digit(byte: u8) -> Option<u8> {
    const DIGITS: [Option<u8>; 256] = {
        let mut digits = [None; 256];
        let mut byte = 0;
        while byte < 256 {
            digits[byte] = value(byte as u8);
            byte += 1;
        }
        digits
    };
    DIGITS[usize::from(byte)]
}

const fn value(byte: u8) -> Option<u8> {
    Some(match byte.to_ascii_uppercase() {
        byte @ b'0'..=b'9' => byte - b'0',
        b'O' => 0,
        b'I' | b'L' => 1,
        byte @ b'A'..=b'H' => byte - b'A' + 10,
        byte @ b'J'..=b'K' => byte - b'J' + 18,
        byte @ b'M'..=b'N' => byte - b'M' + 20,
        byte @ b'P'..=b'T' => byte - b'P' + 22,
        byte @ b'V'..=b'Z' => byte - b'V' + 27,
        _ => return None,
    })
}

/// What [`Ulid::parse`] returns, character by character.
pub(crate) fn plain(text: &[u8]) -> Result<u128, Error> {
    let fault = |index: usize, expected| {
        Err(ErrorKind::Character {
            byte: text[index],
            position: index + 1,
            expected,
        }
        .into())
    };
    let mut value: u128 = 0;
    match text.len() {
        26 => {
            for (index, &byte) in text.iter().enumerate() {
                match digit(byte) {
                    Some(8..) if index == 0 => return Err(ErrorKind::Overflow.into()),
                    Some(digit) => value = value << 5 | u128::from(digit),
                    None => return fault(index, Expected::Base32),
                }
            }
            Ok(value)
        }
        36 => {
            for (index, &byte) in text.iter().enumerate() {
                match (index, char::from(byte).to_digit(16)) {
                    (8 | 13 | 18 | 23, _) if byte == b'-' => {}
                    (8 | 13 | 18 | 23, _) => return fault(index, Expected::Hyphen),
                    (_, Some(digit)) => value = value << 4 | u128::from(digit),
                    (_, None) => return fault(index, Expected::HexDigit),
                }
            }
            Ok(value)
        }
        found => match text.iter().position(|&byte| byte >= 0x80) {
            Some(index) => fault(index, Expected::Base32),
            None => Err(ErrorKind::Length {
                expected: Expected::Text,
                found,
            }
            .into()),
        },
    }
}

/// The canonical text, character by character.
pub(crate) fn plain_text(mut value: u128) -> [u8; 26] {
    let mut text = [0; 26];
    for character in text.iter_mut().rev() {
        *character = ALPHABET[value as usize & 31];
        value >>= 5;
    }
    text
}

/// What is read, the error for what is not, and that what was read is written and read again.
pub fn check(text: &[u8]) -> bool {
    let read = Ulid::parse(text);
    assert_eq!(read.map(u128::from), plain(text));
    let Ok(ulid) = read else { return false };
    let canonical = ulid.to_text();
    assert_eq!(canonical, plain_text(u128::from(ulid)));
    assert_eq!(Ulid::parse(&canonical), Ok(ulid));
    true
}

/// A ULID, or a UUID in one of three times; bytes of any length in one of 16.
pub fn shape(rng: &mut SmallRng, text: &mut Vec<u8>) {
    text.clear();
    match below(rng, 16) {
        0 => {
            bytes::<40>(rng, text);
            text.truncate(below(rng, 41));
            return;
        }
        1..=5 => {
            append(rng, text, b"0123456789abcdef0123456789ABCDEF", 36);
            for at in [8, 13, 18, 23] {
                text[at] = b'-';
            }
        }
        _ => {
            text.push(b'0' + (rng.next_u32() >> 29) as u8);
            append(rng, text, READ, 25);
        }
    }
    mutate(rng, text);
}
