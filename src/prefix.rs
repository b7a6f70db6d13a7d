//! Search by the first characters of the text.

use super::datum::TextArg;
use super::error::{Error, Fault};
use ulid_core::{Ulid, Window};

fn window(prefix: TextArg<'_>) -> Result<Window, Error<'_>> {
    Ok(Window::starting_with(prefix.0).map_err(|error| Fault::Prefix { text: prefix.0, error })?)
}

pub(super) fn lower(prefix: TextArg<'_>) -> Result<Ulid, Error<'_>> {
    Ok(window(prefix)?.lower())
}

pub(super) fn upper(prefix: TextArg<'_>) -> Result<Ulid, Error<'_>> {
    Ok(window(prefix)?.upper())
}

pub(super) fn starts_with<'call>(ulid: &Ulid, prefix: TextArg<'call>) -> Result<bool, Error<'call>> {
    Ok(window(prefix)?.contains(*ulid))
}
