//! 16 bytes to 26 characters of Crockford's Base32 and back. No allocation, no knowledge of what the bytes mean.

use crate::error::{Expected, ParseError};

/// The length of a ULID's text in bytes, all of them ASCII.
pub const TEXT_LEN: usize = 26;

/// The length of a hyphenated UUID, which is read as well.
const UUID_TEXT_LEN: usize = 36;

/// Crockford's alphabet: the digits, then the letters without I, L, O and U.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Marks a byte that is no character of the alphabet in [`VALUES`].
const INVALID: u8 = 0xff;

/// The value of each byte as a character: either case, and the aliases I, L (1) and O (0).
const VALUES: [u8; 256] = {
    let mut values = [INVALID; 256];
    let mut value = 0;
    while value < 32 {
        let character = ALPHABET[value as usize];
        values[character as usize] = value;
        values[character.to_ascii_lowercase() as usize] = value;
        value += 1;
    }
    let mut alias = 0;
    while alias < 6 {
        values[b"IiLlOo"[alias] as usize] = if alias < 4 { 1 } else { 0 };
        alias += 1;
    }
    values
};

/// Writes the canonical text: upper case, the first character at most `7`.
pub(crate) fn encode(bytes: &[u8; 16]) -> [u8; TEXT_LEN] {
    let value = u128::from_be_bytes(*bytes);
    std::array::from_fn(|i| ALPHABET[(value >> (125 - 5 * i)) as usize & 31])
}

/// Reads the 26 characters of a ULID, in either case and with Crockford's aliases, or the 36 of a hyphenated UUID.
pub(crate) fn decode(text: &[u8]) -> Result<[u8; 16], ParseError> {
    if let Ok(text) = <&[u8; TEXT_LEN]>::try_from(text) {
        decode_base32(text)
    } else if let Ok(text) = <&[u8; UUID_TEXT_LEN]>::try_from(text) {
        decode_uuid(text)
    } else {
        Err(length_error(text))
    }
}

fn decode_base32(text: &[u8; TEXT_LEN]) -> Result<[u8; 16], ParseError> {
    let mut value: u128 = 0;
    let mut seen = 0;
    for &byte in text {
        let digit = VALUES[usize::from(byte)];
        seen |= digit;
        value = value << 5 | u128::from(digit & 31);
    }
    if seen == INVALID || VALUES[usize::from(text[0])] > 7 {
        return Err(base32_error(text));
    }
    Ok(value.to_be_bytes())
}

/// Names the first fault from the left; the first character is too large before it is anything else.
#[cold]
fn base32_error(text: &[u8; TEXT_LEN]) -> ParseError {
    let fault = text.iter().position(|&byte| VALUES[usize::from(byte)] == INVALID);
    match fault {
        Some(index) if index == 0 || VALUES[usize::from(text[0])] <= 7 => {
            character_error(text, index, Expected::Base32)
        }
        _ => ParseError::Overflow,
    }
}

fn decode_uuid(text: &[u8; UUID_TEXT_LEN]) -> Result<[u8; 16], ParseError> {
    let mut value: u128 = 0;
    for (index, &byte) in text.iter().enumerate() {
        if matches!(index, 8 | 13 | 18 | 23) {
            if byte != b'-' {
                return Err(character_error(text, index, Expected::Hyphen));
            }
        } else {
            match char::from(byte).to_digit(16) {
                Some(digit) => value = value << 4 | u128::from(digit),
                None => return Err(character_error(text, index, Expected::HexDigit)),
            }
        }
    }
    Ok(value.to_be_bytes())
}

/// A character outside ASCII is to blame whatever the length, so that lengths are always counted in characters.
#[cold]
fn length_error(text: &[u8]) -> ParseError {
    match text.iter().position(|byte| !byte.is_ascii()) {
        Some(index) => character_error(text, index, Expected::Base32),
        None => ParseError::Length { found: text.len() },
    }
}

fn character_error(text: &[u8], index: usize, expected: Expected) -> ParseError {
    ParseError::Character { byte: text[index], position: index + 1, expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_character_has_its_value() {
        for (value, &character) in ALPHABET.iter().enumerate() {
            assert_eq!(usize::from(VALUES[usize::from(character)]), value);
            assert_eq!(VALUES[usize::from(character)], VALUES[usize::from(character.to_ascii_lowercase())]);
        }
        for (aliases, value) in [(b"IiLl".as_slice(), 1), (b"Oo", 0)] {
            assert!(aliases.iter().all(|&alias| VALUES[usize::from(alias)] == value));
        }
        assert_eq!(VALUES.iter().filter(|&&value| value != INVALID).count(), 10 + 2 * 22 + 6);
    }

    #[test]
    fn the_leftmost_fault_is_named() {
        let parse = |text: &str| decode(text.as_bytes()).unwrap_err();
        assert_eq!(parse("81ARYZ6S41TSU4RRFFQ69G5FAU"), ParseError::Overflow);
        let fault = |byte, position, expected| ParseError::Character { byte, position, expected };
        assert_eq!(parse("u1ARYZ6S41TSU4RRFFQ69G5FAU"), fault(b'u', 1, Expected::Base32));
        assert_eq!(parse("01ARYZ6S41TSU4RRFFQ69G5FAU"), fault(b'U', 13, Expected::Base32));
        assert_eq!(parse("01563df3-6481-d676-4c61-efb99302bd5g"), fault(b'g', 36, Expected::HexDigit));
        assert_eq!(parse("01563df3-6481-d676-4c61+efb99302bd5g"), fault(b'+', 24, Expected::Hyphen));
        assert_eq!(parse("01563df3-6481-d676-4c61-efb99302bdé"), fault(0xc3, 35, Expected::HexDigit));
        assert_eq!(parse("é"), fault(0xc3, 1, Expected::Base32));
        assert_eq!(parse("01ARYZ6S41é"), fault(0xc3, 11, Expected::Base32));
    }
}
