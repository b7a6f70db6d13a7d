//! The ULIDs whose text starts with given characters.

use crate::codec::{self, TEXT_LEN};
use crate::error::{Error, ErrorKind, Expected};
use crate::value::Ulid;
use crate::window::Window;

/// The number of bits that a character stands for.
const CHARACTER_BITS: usize = 5;

/// The bits of the first character beyond the 128 bits of a ULID: 26 characters are 130 bits.
const SPARE_BITS: usize = TEXT_LEN * CHARACTER_BITS - 128;

impl Window {
    /// The ULIDs whose text starts with these 0 to 26 characters, read as [`Ulid::parse`] does: in
    /// either case and with Crockford's aliases (`I`, `L` for `1`, `O` for `0`). Without characters
    /// it contains all ULIDs.
    ///
    /// # Errors
    /// [Malformed](Error::is_malformed), or [out of range](Error::is_out_of_range) if the first
    /// character is above `7`. The message names the first fault from the left.
    ///
    /// ```
    /// use pg_ulid::{Ulid, Window};
    ///
    /// let id: Ulid = "01ARYZ6S41TSV4RRFFQ69G5FAV".parse()?;
    /// let window = Window::starting_with(b"o1aryz6s")?;
    /// assert!(window.contains(id));
    /// assert_eq!(window.lower(), "01ARYZ6S000000000000000000".parse()?);
    /// assert_eq!(window.upper(), "01ARYZ6SZZZZZZZZZZZZZZZZZZ".parse()?);
    /// assert!(Window::starting_with(b"8").unwrap_err().is_out_of_range());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn starting_with(prefix: &[u8]) -> Result<Self, Error> {
        let mut lower = 0;
        for (index, &byte) in prefix.iter().enumerate() {
            match codec::digit(byte) {
                _ if index == TEXT_LEN => {
                    return Err(Error(ErrorKind::Length {
                        expected: Expected::UlidTextPrefix,
                        found: prefix.len(),
                    }));
                }
                Some(digit) if index == 0 && digit >> (CHARACTER_BITS - SPARE_BITS) > 0 => {
                    return Err(Error(ErrorKind::Overflow));
                }
                Some(digit) => {
                    lower |= u128::from(digit) << (CHARACTER_BITS * (TEXT_LEN - 1 - index))
                }
                None => return Err(Error::character(byte, index, Expected::Base32)),
            }
        }
        // The bits after the prefix, all ones. Without characters these are all 128 bits, and a
        // shift by 128 or more overflows.
        let rest = match CHARACTER_BITS * (TEXT_LEN - prefix.len()) {
            bits @ 0..128 => (1 << bits) - 1,
            _ => u128::MAX,
        };
        Ok(Self {
            lower: Ulid(lower),
            upper: Ulid(lower | rest),
        })
    }
}
