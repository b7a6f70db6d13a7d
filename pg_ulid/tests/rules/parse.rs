//! Any bytes, read as a ULID or as a UUID.

use pg_ulid::extension::{ErrorKind, Expected};
use pg_ulid::{Error, Ulid};
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
    match text.len() {
        26 => {
            let mut value: u128 = 0;
            for (index, &byte) in text.iter().enumerate() {
                match digit(byte) {
                    Some(8..) if index == 0 => return Err(ErrorKind::Overflow.into()),
                    Some(digit) => value = value << 5 | u128::from(digit),
                    None => return Err(fault(text, &text[index..], Expected::Base32)),
                }
            }
            Ok(value)
        }
        32.. => plain_uuid(text),
        found => match text.iter().position(|&byte| byte >= 0x80) {
            Some(index) => Err(fault(text, &text[index..], Expected::Base32)),
            None => Err(ErrorKind::Length {
                expected: Expected::UlidText,
                found,
            }
            .into()),
        },
    }
}

/// Eight groups of four hexadecimal digits, a hyphen or none between two groups, braces around
/// them or none.
fn plain_uuid(text: &[u8]) -> Result<u128, Error> {
    let body = text.strip_prefix(b"{");
    let (mut rest, mut value) = (body.unwrap_or(text), 0);
    for group in 0..8 {
        let mut expected = Expected::HexDigit;
        if group > 0 {
            match rest.strip_prefix(b"-") {
                Some(after) => rest = after,
                None => expected = Expected::HyphenOrHexDigit,
            }
        }
        for _ in 0..4 {
            let digit = rest.first().and_then(|&byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(fault(text, rest, expected));
            };
            (rest, value) = (&rest[1..], value * 16 + u128::from(digit));
            expected = Expected::HexDigit;
        }
    }
    if body.is_some() {
        rest = rest
            .strip_prefix(b"}")
            .ok_or_else(|| fault(text, rest, Expected::ClosingBrace))?;
    }
    match rest {
        [] => Ok(value),
        _ => Err(fault(text, rest, Expected::UuidEnd)),
    }
}

/// The fault where this rest of the text begins.
fn fault(text: &[u8], rest: &[u8], expected: Expected) -> Error {
    let position = text.len() - rest.len() + 1;
    match rest.first() {
        Some(&byte) => ErrorKind::Character {
            byte,
            position,
            expected,
        },
        None => ErrorKind::Missing { position, expected },
    }
    .into()
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
            bytes::<48>(rng, text);
            text.truncate(below(rng, 49));
            return;
        }
        1..=5 => spell(rng, text),
        _ => {
            text.push(b'0' + (rng.next_u32() >> 29) as u8);
            append(rng, text, READ, 25);
        }
    }
    mutate(rng, text);
}

/// A UUID in one of its spellings, which the usual one is a fourth of.
fn spell(rng: &mut SmallRng, text: &mut Vec<u8>) {
    append(rng, text, b"0123456789abcdef0123456789ABCDEF", 32);
    let (usual, hyphens) = (below(rng, 4) == 0, rng.next_u32());
    for group in (1..8).rev() {
        if usual && (2..=5).contains(&group) || !usual && hyphens >> group & 1 == 1 {
            text.insert(4 * group, b'-');
        }
    }
    if !usual && below(rng, 2) == 0 {
        text.insert(0, b'{');
        text.push(b'}');
    }
}
