//! TypeIDs: ULIDs, or any UUIDs, as lower-case text after a prefix that names their type.

use std::fmt;

use crate::codec::{self, TEXT_LEN};
use crate::error::{Error, ErrorKind, Expected};
use crate::value::Ulid;

/// Separates prefix and suffix. It is allowed within the prefix, so the last one separates.
const SEPARATOR: u8 = b'_';

/// A TypeID: a prefix of at most 63 characters, `[a-z]([a-z_]*[a-z])?` or none, and 128 bits.
///
/// Its text is the prefix, `_`, and the 26 characters of the ULID in lower case; without a prefix,
/// the 26 characters alone. It is parsed strictly, as version 0.3.0 of the
/// [specification](https://github.com/jetify-com/typeid/tree/main/spec) demands: lower case only,
/// and none of the aliases that a ULID accepts. TypeIDs sort like their texts.
///
/// The specification asks for version 7 UUIDs in new TypeIDs, such as those of
/// [`Generator::uuid_v7`](crate::Generator::uuid_v7), and allows any 128 bits.
///
/// ```
/// use pg_ulid::{TypeId, Ulid};
///
/// let id: Ulid = "01890a5d-ac96-774b-bcce-b302099a8057".parse()?;
/// let typeid = TypeId::new(b"user", id)?;
/// assert_eq!(typeid.to_string(), "user_01h455vb4pex5vsknk084sn02q");
/// assert_eq!(TypeId::parse(b"user_01h455vb4pex5vsknk084sn02q")?, typeid);
/// assert_eq!((typeid.prefix(), typeid.ulid()), ("user", id));
/// assert!(TypeId::parse(b"user_01H455VB4PEX5VSKNK084SN02Q").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId<'a> {
    prefix: &'a str,
    ulid: Ulid,
}

impl<'a> TypeId<'a> {
    /// The maximum length of a prefix in characters, all of them ASCII.
    pub const MAX_PREFIX_LEN: usize = 63;

    /// The maximum length of a TypeID in characters, all of them ASCII.
    pub const MAX_LEN: usize = Self::MAX_PREFIX_LEN + 1 + TEXT_LEN;

    /// The TypeID with this prefix, which may be empty, and this ULID.
    ///
    /// # Errors
    /// [Malformed](Error::is_malformed). The message names the first wrong character of the
    /// prefix from the left. If there is none, it names the length, or the underscore at an end.
    pub fn new(prefix: &'a [u8], ulid: Ulid) -> Result<Self, Error> {
        Ok(Self {
            prefix: read_prefix(prefix)?,
            ulid,
        })
    }

    /// Parses a TypeID from bytes that need not be UTF-8.
    ///
    /// # Errors
    /// [Malformed](Error::is_malformed), or [out of range](Error::is_out_of_range) if the first
    /// character of the suffix is above `7`. The message names the first wrong part, the
    /// prefix as [`new`](Self::new) does.
    pub fn parse(text: &'a [u8]) -> Result<Self, Error> {
        let (prefix, suffix) = match text.iter().rposition(|&byte| byte == SEPARATOR) {
            Some(0) => return Err(Error(ErrorKind::UnderscoreWithoutPrefix)),
            Some(separator) => (&text[..separator], &text[separator + 1..]),
            None => (&text[..0], text),
        };
        // The prefix first: its fault is to the left of one of the suffix.
        let typeid = Self::new(prefix, Ulid::NIL)?;
        Ok(Self {
            ulid: read_suffix(suffix, text.len() - suffix.len())?,
            ..typeid
        })
    }

    /// The name of the type; empty if there is none.
    pub const fn prefix(self) -> &'a str {
        self.prefix
    }

    /// The 128 bits.
    pub const fn ulid(self) -> Ulid {
        self.ulid
    }

    /// The text, as the first bytes of an array, and their number. [`ToString`] returns it as a
    /// `String`.
    pub fn to_text(self) -> ([u8; TypeId::MAX_LEN], usize) {
        let suffix = self.ulid.to_text().map(|byte| byte.to_ascii_lowercase());
        let separator = if self.prefix.is_empty() {
            [].as_slice()
        } else {
            &[SEPARATOR]
        };
        let mut text = [0; TypeId::MAX_LEN];
        let mut end = 0;
        for part in [self.prefix.as_bytes(), separator, &suffix] {
            text[end..end + part.len()].copy_from_slice(part);
            end += part.len();
        }
        (text, end)
    }
}

/// The prefix as text, which may be empty, if a TypeID can have it.
fn read_prefix(prefix: &[u8]) -> Result<&str, Error> {
    let fits = |byte: &u8| byte.is_ascii_lowercase() || *byte == SEPARATOR;
    if let Some(index) = prefix.iter().position(|byte| !fits(byte)) {
        return Err(Error::character(
            prefix[index],
            index,
            Expected::LowerCaseLetterOrUnderscore,
        ));
    }
    if prefix.len() > TypeId::MAX_PREFIX_LEN {
        return Err(Error(ErrorKind::Length {
            expected: Expected::TypeIdPrefix,
            found: prefix.len(),
        }));
    }
    if [prefix.first(), prefix.last()].contains(&Some(&SEPARATOR)) {
        return Err(Error(ErrorKind::PrefixUnderscore));
    }
    // It is known to be ASCII here.
    Ok(str::from_utf8(prefix).unwrap_or_default())
}

/// The ULID of the suffix, which starts at the index `at` of the text, for the position in an
/// error.
fn read_suffix(suffix: &[u8], at: usize) -> Result<Ulid, Error> {
    let fits =
        |byte: &u8| !byte.is_ascii_uppercase() && codec::is_canonical(byte.to_ascii_uppercase());
    if let Some(index) = suffix.iter().position(|byte| !fits(byte)) {
        return Err(Error::character(
            suffix[index],
            at + index,
            Expected::LowerCaseBase32,
        ));
    }
    if suffix.len() != TEXT_LEN {
        return Err(Error(ErrorKind::Length {
            expected: Expected::TypeIdSuffix,
            found: suffix.len(),
        }));
    }
    // Only an overflow remains.
    Ulid::parse(suffix).map_err(|_| Error(ErrorKind::Overflow))
}

impl fmt::Display for TypeId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, len) = self.to_text();
        f.pad(str::from_utf8(&text[..len]).map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_padded_as_a_string_is() {
        let typeid = TypeId::new(b"a", Ulid::MAX).unwrap();
        assert_eq!(format!("{typeid:>30}"), format!("  a_7{}", "z".repeat(25)));
    }
}
