//! Encodes 128 bits, whatever they mean, as 26 characters of Crockford's Base32, and decodes them.
//! Nothing allocates.

use crate::error::{Error, ErrorKind, Expected};

/// The length of a ULID's text in bytes, all of them ASCII.
pub const TEXT_LEN: usize = 26;

/// The number of digits of a UUID.
const UUID_DIGITS: usize = 32;

/// The length of a UUID as PostgreSQL writes it.
const UUID_TEXT_LEN: usize = 36;

/// Where PostgreSQL writes hyphens in a UUID.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// Crockford's alphabet: the digits, then the letters without I, L, O and U.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// In [`BASE32_VALUES`] and [`HEX_VALUES`], for a byte that is no such digit.
const INVALID: u8 = 0xff;

/// The value of each byte as a character of Base32, 0 to 31: either case, and the aliases I, L (1)
/// and O (0).
const BASE32_VALUES: [u8; 256] = {
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

/// The value of each byte as a hexadecimal digit of either case, 0 to 15.
const HEX_VALUES: [u8; 256] = {
    let mut values = [INVALID; 256];
    let mut value = 0;
    while value < 16 {
        let digit = b"0123456789abcdef"[value as usize];
        values[digit as usize] = value;
        values[digit.to_ascii_uppercase() as usize] = value;
        value += 1;
    }
    values
};

/// The two characters for every ten bits. This takes half as many look-ups and stores as one
/// character at a time.
static PAIRS: [[u8; 2]; 1024] = {
    let mut pairs = [[0; 2]; 1024];
    let mut value = 0;
    while value < pairs.len() {
        pairs[value] = [ALPHABET[value >> 5], ALPHABET[value & 31]];
        value += 1;
    }
    pairs
};

/// What each byte contributes to a number of four digits as the first, second, third or last of
/// them. It is the value of the digit, shifted to its position when the table is built. It is -1 if
/// the byte is not a digit. OR keeps the sign bit, so a single test at the end is sufficient.
type Digits = [[i32; 256]; 4];

static BASE32: Digits = digits(&BASE32_VALUES, 5);
static HEX: Digits = digits(&HEX_VALUES, 4);

/// The table for `values`, the value of each byte as a digit of this number of bits.
const fn digits(values: &[u8; 256], bits: usize) -> Digits {
    let mut digits = [[-1; 256]; 4];
    let mut position = 0;
    while position < 4 {
        let mut byte = 0;
        while byte < 256 {
            if values[byte] != INVALID {
                digits[position][byte] = (values[byte] as i32) << (bits * (3 - position));
            }
            byte += 1;
        }
        position += 1;
    }
    digits
}

/// The value of a character, 0 to 31, read as [`decode`] reads those of a ULID; `None` if it is
/// invalid.
pub(crate) fn digit(byte: u8) -> Option<u8> {
    Some(BASE32_VALUES[usize::from(byte)]).filter(|&value| value != INVALID)
}

/// Whether [`encode`] writes this character.
pub(crate) fn is_canonical(byte: u8) -> bool {
    ALPHABET.contains(&byte)
}

/// Writes the canonical text: upper case, the first character at most `7`.
pub(crate) fn encode(value: u128) -> [u8; TEXT_LEN] {
    let mut text = [0; TEXT_LEN];
    // 13 pairs are 130 bits, of which the first two are zero.
    for (i, pair) in text.as_chunks_mut().0.iter_mut().enumerate() {
        *pair = PAIRS[(value >> (120 - 10 * i)) as usize & 1023];
    }
    text
}

/// Decodes the 26 characters of a ULID, in either case and with Crockford's aliases, or a UUID in
/// any spelling that PostgreSQL reads as a `uuid`.
///
/// # Errors
/// [`Error`] names the first fault from the left. Of a text of fewer than 32 bytes that are not 26,
/// it names the first character outside ASCII, or the length.
#[inline]
pub(crate) fn decode(text: &[u8]) -> Result<u128, Error> {
    // The length decides: 26 bytes, or the 36 of a UUID as PostgreSQL writes it.
    let value = if let Ok(text) = text.try_into() {
        decode_base32(text)
    } else if let Ok(text) = text.try_into() {
        decode_uuid(text)
    } else {
        None
    };
    match value {
        Some(value) => Ok(value),
        None => decode_other(text),
    }
}

/// The slow path, for a text that the fast one does not accept. It reads the other spellings of a
/// UUID, and locates the error in any other text.
#[cold]
fn decode_other(text: &[u8]) -> Result<u128, Error> {
    if let Ok(text) = text.try_into() {
        Err(base32_error(text))
    } else if text.len() < UUID_DIGITS {
        Err(length_error(text))
    } else {
        decode_spelling(text)
    }
}

/// The 128 bits, or `None` if they are more or a character is invalid. The first two characters are
/// the first byte, and each eight after them are five bytes.
fn decode_base32(text: &[u8; TEXT_LEN]) -> Option<u128> {
    let first = i64::from(BASE32[2][usize::from(text[0])] | BASE32[3][usize::from(text[1])]);
    let eight = |at| four(&BASE32, text, at) << 20 | four(&BASE32, text, at + 4);
    let (a, b, c) = (eight(2), eight(10), eight(18));
    // A first character above 7, or an invalid character, sets bits above those of a valid text.
    let fits = first >> 8 | (a | b | c) >> 40 == 0;
    fits.then(|| join(first << 56 | a << 16 | b >> 24, b << 40 | c))
}

/// The 128 bits of groups of 8, 4, 4, 4 and 12 digits with hyphens between them, as PostgreSQL
/// writes a UUID. `None` if the text has another form.
fn decode_uuid(text: &[u8; UUID_TEXT_LEN]) -> Option<u128> {
    let four = |at| four(&HEX, text, at);
    let (a, b, c, d) = (four(0) << 16 | four(4), four(9), four(14), four(19));
    let e = four(24) << 32 | four(28) << 16 | four(32);
    let fits = (a | b | c | d | e) >= 0 && HYPHENS.iter().all(|&at| text[at] == b'-');
    fits.then(|| join(a << 32 | b << 16 | c, d << 48 | e))
}

/// The number that the four digits at this index make, negative if one of them is invalid.
fn four<const N: usize>(digits: &Digits, text: &[u8; N], at: usize) -> i64 {
    let shifted = |index: usize| digits[index][usize::from(text[at + index])];
    i64::from(shifted(0) | shifted(1) | shifted(2) | shifted(3))
}

/// The 128 bits of two halves.
fn join(high: i64, low: i64) -> u128 {
    u128::from(high.cast_unsigned()) << 64 | u128::from(low.cast_unsigned())
}

/// Why [`decode_base32`] does not accept this text. Names the first fault from the left: if the
/// first character is above `7`, that is the fault.
fn base32_error(text: &[u8; TEXT_LEN]) -> Error {
    let fault = text
        .iter()
        .position(|&byte| BASE32_VALUES[usize::from(byte)] == INVALID);
    match fault {
        Some(index) if index == 0 || BASE32_VALUES[usize::from(text[0])] <= 7 => {
            Error::character(text[index], index, Expected::Base32)
        }
        _ => Error(ErrorKind::Overflow),
    }
}

/// What PostgreSQL's `uuid_in` reads: an opening brace or none, eight groups of four digits with a
/// hyphen or none between two of them, and a closing brace if there is an opening one.
fn decode_spelling(text: &[u8]) -> Result<u128, Error> {
    let in_braces = text.first() == Some(&b'{');
    let mut index = usize::from(in_braces);
    let mut value = 0;
    for group in 0..UUID_DIGITS / 4 {
        let hyphen = group > 0 && text.get(index) == Some(&b'-');
        index += usize::from(hyphen);
        let digits = text.get(index..).and_then(<[u8]>::first_chunk);
        let Some(number @ 0..) = digits.map(|digits: &[u8; 4]| four(&HEX, digits, 0)) else {
            let is_digit = |&index: &usize| text.get(index).is_some_and(u8::is_ascii_hexdigit);
            let fault = index + (index..index + 4).take_while(is_digit).count();
            let expected = if group > 0 && !hyphen && fault == index {
                Expected::HyphenOrHexDigit
            } else {
                Expected::HexDigit
            };
            return Err(Error::at(text, fault, expected));
        };
        value = value << 16 | u128::from(number.cast_unsigned());
        index += 4;
    }
    if in_braces {
        if text.get(index) != Some(&b'}') {
            return Err(Error::at(text, index, Expected::ClosingBrace));
        }
        index += 1;
    }
    if index < text.len() {
        return Err(Error::at(text, index, Expected::UuidEnd));
    }
    Ok(value)
}

/// Why a text is of no form at all: it has too few bytes for a UUID, and is no ULID. Names the
/// first character outside ASCII, or the length. If all characters are ASCII, the number of bytes
/// is the number of characters.
fn length_error(text: &[u8]) -> Error {
    match text.iter().position(|byte| !byte.is_ascii()) {
        Some(index) => Error::character(text[index], index, Expected::Base32),
        None => Error(ErrorKind::Length {
            expected: Expected::UlidText,
            found: text.len(),
        }),
    }
}
