//! Any bytes, read as a TypeID.

use pg_ulid::extension::{ErrorKind, Expected};
use pg_ulid::{Error, TypeId, Ulid};
use rand::Rng;
use rand::rngs::SmallRng;

use super::input::{append, below, mutate};
use super::parse::{digit, plain_text};

/// What [`TypeId::new`] says of a prefix, after the specification.
fn plain_prefix(prefix: &[u8]) -> Result<(), Error> {
    for (index, &byte) in prefix.iter().enumerate() {
        if !matches!(byte, b'a'..=b'z' | b'_') {
            return Err(ErrorKind::Character {
                byte,
                position: index + 1,
                expected: Expected::LowerCaseLetterOrUnderscore,
            }
            .into());
        }
    }
    match prefix {
        _ if prefix.len() > 63 => Err(ErrorKind::Length {
            expected: Expected::TypeIdPrefix,
            found: prefix.len(),
        }
        .into()),
        [b'_', ..] | [.., b'_'] => Err(ErrorKind::PrefixUnderscore.into()),
        _ => Ok(()),
    }
}

/// What [`TypeId::parse`] returns: the length of the prefix, and the value.
fn plain(text: &[u8]) -> Result<(usize, u128), Error> {
    let mut start = 0;
    for (index, &byte) in text.iter().enumerate() {
        if byte == b'_' {
            start = index + 1;
        }
    }
    if start == 1 {
        return Err(ErrorKind::UnderscoreWithoutPrefix.into());
    }
    let (prefix, suffix) = (&text[..start.saturating_sub(1)], &text[start..]);
    plain_prefix(prefix)?;
    let mut value: u128 = 0;
    for (index, &byte) in suffix.iter().enumerate() {
        match digit(byte) {
            Some(digit) if !byte.is_ascii_uppercase() && !b"ilo".contains(&byte) => {
                value = value.wrapping_shl(5) | u128::from(digit);
            }
            _ => {
                return Err(ErrorKind::Character {
                    byte,
                    position: start + index + 1,
                    expected: Expected::LowerCaseBase32,
                }
                .into());
            }
        }
    }
    match suffix {
        _ if suffix.len() != 26 => Err(ErrorKind::Length {
            expected: Expected::TypeIdSuffix,
            found: suffix.len(),
        }
        .into()),
        [b'0'..=b'7', ..] => Ok((prefix.len(), value)),
        _ => Err(ErrorKind::Overflow.into()),
    }
}

/// The prefix and the value of a text or its error, and that what was read is written and read
/// again.
pub fn check(text: &[u8]) -> bool {
    let read = TypeId::parse(text);
    assert_eq!(
        read.map(|typeid| (typeid.prefix().len(), typeid.ulid().into())),
        plain(text)
    );
    // The same bytes as a prefix alone.
    assert_eq!(
        TypeId::new(text, Ulid::NIL).map(|typeid| assert_eq!(typeid.prefix().as_bytes(), text)),
        plain_prefix(text)
    );
    let Ok(typeid) = read else { return false };
    assert_eq!(typeid.prefix().as_bytes(), &text[..typeid.prefix().len()]);
    assert_eq!(
        TypeId::new(typeid.prefix().as_bytes(), typeid.ulid()),
        Ok(typeid)
    );
    let written = typeid.to_string();
    assert_eq!(written.as_bytes(), text);
    let suffix = plain_text(typeid.ulid().into()).map(|byte| byte.to_ascii_lowercase());
    assert!(text.ends_with(&suffix));

    let shorter = &text[..typeid.prefix().len().saturating_sub(1)];
    let value = u128::from(typeid.ulid());
    for (prefix, value) in [
        (shorter, value),
        (shorter, !value),
        (typeid.prefix().as_bytes(), value ^ 1),
    ] {
        if let Ok(other) = TypeId::new(prefix, value.into()) {
            assert_eq!(typeid.cmp(&other), written.cmp(&other.to_string()));
        }
    }
    true
}

/// A prefix of up to 66 characters, mostly short or none, and a suffix.
pub fn shape(rng: &mut SmallRng, text: &mut Vec<u8>) {
    text.clear();
    let length = match below(rng, 8) {
        0 => 0,
        1 => 60 + below(rng, 7),
        _ => 1 + below(rng, 12),
    };
    if length > 0 {
        append(rng, text, b"abcdefghijklmnopqrstuvwxyz_abcde", length);
        text.push(b'_');
    }
    text.push(b'0' + (rng.next_u32() >> 29) as u8);
    append(rng, text, b"0123456789abcdefghjkmnpqrstvwxyz", 25);
    mutate(rng, text);
}
