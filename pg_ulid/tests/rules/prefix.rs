//! Any bytes, read as the first characters of a ULID.

use pg_ulid::extension::{ErrorKind, Expected};
use pg_ulid::{Error, Ulid, Window};
use rand::rngs::SmallRng;

use super::input::{append, below, mutate};
use super::parse::{READ, digit, plain_text};

/// The first and the last ULID, from the digits and what may follow them.
fn plain(prefix: &[u8]) -> Result<(u128, u128), Error> {
    let mut digits = Vec::with_capacity(26);
    for (index, &byte) in prefix.iter().enumerate() {
        match digit(byte) {
            _ if index >= 26 => {
                return Err(ErrorKind::Length {
                    expected: Expected::UlidTextPrefix,
                    found: prefix.len(),
                }
                .into());
            }
            Some(8..) if index == 0 => return Err(ErrorKind::Overflow.into()),
            Some(digit) => digits.push(digit),
            None => {
                return Err(ErrorKind::Character {
                    byte,
                    position: index + 1,
                    expected: Expected::Base32,
                }
                .into());
            }
        }
    }
    let completed = |rest: u8| {
        (0..26).fold(0, |value: u128, index| {
            // The first character has three bits.
            let rest = if index == 0 { rest & 7 } else { rest };
            value << 5 | u128::from(digits.get(index).copied().unwrap_or(rest))
        })
    };
    Ok((completed(0), completed(31)))
}

/// The window of a prefix or its error, and that it contains exactly what starts with the prefix.
pub fn check(prefix: &[u8]) -> bool {
    let found = Window::starting_with(prefix);
    assert_eq!(
        found.map(|window| (window.lower().into(), window.upper().into())),
        plain(prefix)
    );
    let Ok(window) = found else { return false };
    assert!(!window.is_empty());
    let (lower, upper) = (u128::from(window.lower()), u128::from(window.upper()));
    let start = &plain_text(lower)[..prefix.len()];
    for value in [
        lower,
        upper,
        lower + (upper - lower) / 3,
        lower.wrapping_sub(1),
        upper.wrapping_add(1),
        !lower,
    ] {
        assert_eq!(
            window.contains(Ulid::from(value)),
            plain_text(value).starts_with(start),
            "{value:x}"
        );
    }
    true
}

/// Up to 27 characters, of which the first one fits in three of four times.
pub fn shape(rng: &mut SmallRng, prefix: &mut Vec<u8>) {
    prefix.clear();
    let length = below(rng, 28);
    append(rng, prefix, READ, length);
    if below(rng, 4) > 0 && length > 0 {
        prefix[0] = b'0' + prefix[0] % 8;
    }
    mutate(rng, prefix);
}
