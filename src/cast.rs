//! The casts that are neither binary-coercible, nor through text, nor functions of [`super::time`].

use super::datum::{ByteaArg, Timestamp};
use super::error::Error;
use super::time;
use ulid_core::Ulid;

pub(super) fn from_bytea(bytes: ByteaArg<'_>) -> Result<Ulid, Error<'_>> {
    Ok(Ulid::try_from(bytes.0)?)
}

pub(super) fn from_timestamp<'call>(timestamp: Timestamp) -> Result<Ulid, Error<'call>> {
    time::lower_bound(timestamp.0)
}

pub(super) fn to_timestamp(ulid: &Ulid) -> Timestamp {
    Timestamp(time::extract_timestamp(ulid))
}
