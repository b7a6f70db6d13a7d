//! Text input and output. Binary input and output are core's `uuid_recv` and `uuid_send`.

use std::ffi::CStr;

use super::datum::{ShortText, Text, TextArg, TextString};
use super::error::{Error, Fault};
use ulid_core::Ulid;

pub(super) fn input(text: &CStr) -> Result<u128, Error<'_>> {
    Ok(ulid_core::decode(text.to_bytes()).map_err(|error| Fault::Parse { text, error })?)
}

pub(super) fn output(ulid: &Ulid) -> Text {
    Text(*ulid)
}

pub(super) fn to_text(ulid: &Ulid) -> ShortText {
    ShortText::new(&ulid.to_text())
}

pub(super) fn from_text(text: TextString<'_>) -> Result<u128, Error<'_>> {
    input(text.0)
}

pub(super) fn is_valid(text: TextArg<'_>) -> bool {
    Ulid::parse(text.0).is_ok()
}
