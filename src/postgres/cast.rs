//! The casts that are neither binary-coercible, nor through text, nor functions of [`super::time`].

use super::datum::{ByteaArg, Timestamp};
use super::error::Error;
use super::time;
use crate::error::LengthError;
use crate::value::Ulid;

pub(super) fn from_bytea(bytes: ByteaArg<'_>) -> Result<Ulid, LengthError> {
    Ulid::try_from(bytes.0)
}

pub(super) fn from_timestamp<'call>(timestamp: Timestamp) -> Result<Ulid, Error<'call>> {
    time::lower_bound(timestamp.into_timestamptz())
}

pub(super) fn to_timestamp(ulid: &Ulid) -> Timestamp {
    Timestamp::from_timestamptz(time::extract_timestamp(ulid))
}
