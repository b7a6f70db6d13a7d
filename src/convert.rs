//! Ids of other kinds. The pure part defines the layouts; times and errors are PostgreSQL's.

use super::datum::{ByteaArg, SnowflakeParts, TimestampTz, Uuid};
use super::error::{Error, Fault};
use super::time;
use ulid_core::{ConvertError, Ulid};

/// The fault of converting this uuid or ulid.
fn refused<'call>(id: impl Into<[u8; 16]>) -> impl FnOnce(ConvertError) -> Fault<'call> {
    let id = id.into();
    move |error| Fault::Convert { error, id }
}

/// The fault of converting a number.
fn number_refused<'call>(error: ConvertError) -> Fault<'call> {
    match error {
        ConvertError::Negative { found } => Fault::Negative(found),
        _ => Fault::Timestamp,
    }
}

pub(super) fn from_uuid_v1<'call>(uuid: Uuid) -> Result<Ulid, Error<'call>> {
    Ok(Ulid::from_uuid_v1(uuid.0).map_err(refused(uuid.0))?)
}

pub(super) fn to_uuid_v1<'call>(ulid: &Ulid) -> Result<Uuid, Error<'call>> {
    Ok(Uuid(ulid.to_uuid_v1().map_err(refused(*ulid))?))
}

pub(super) fn from_uuid_v6<'call>(uuid: Uuid) -> Result<Ulid, Error<'call>> {
    Ok(Ulid::from_uuid_v6(uuid.0).map_err(refused(uuid.0))?)
}

pub(super) fn to_uuid_v6<'call>(ulid: &Ulid) -> Result<Uuid, Error<'call>> {
    Ok(Uuid(ulid.to_uuid_v6().map_err(refused(*ulid))?))
}

pub(super) fn to_uuid_v7(ulid: &Ulid) -> Uuid {
    Uuid(ulid.to_uuid_v7())
}

pub(super) fn from_snowflake<'call>(id: i64, epoch: TimestampTz) -> Result<Ulid, Error<'call>> {
    let epoch_ms = time::epoch_ms(epoch)?;
    Ok(Ulid::from_snowflake(id, epoch_ms).map_err(number_refused)?)
}

pub(super) fn to_snowflake<'call>(ulid: &Ulid, epoch: TimestampTz) -> Result<i64, Error<'call>> {
    Ok(ulid.to_snowflake(time::epoch_ms(epoch)?).map_err(refused(*ulid))?)
}

pub(super) fn snowflake_parts<'call>(ulid: &Ulid) -> Result<SnowflakeParts, Error<'call>> {
    let parts = ulid.snowflake_parts().map_err(refused(*ulid))?;
    Ok(SnowflakeParts {
        created_at: time::extract_timestamp(ulid),
        datacenter: parts.datacenter.into(),
        worker: parts.worker.into(),
        sequence: parts.sequence.into(),
    })
}

pub(super) fn from_key<'call>(created_at: TimestampTz, key: i64) -> Result<Ulid, Error<'call>> {
    let unix_ms = time::unix_ms(created_at)?;
    Ok(Ulid::from_key(unix_ms, key).map_err(number_refused)?)
}

pub(super) fn to_key<'call>(ulid: &Ulid) -> Result<i64, Error<'call>> {
    Ok(ulid.to_key().map_err(refused(*ulid))?)
}

pub(super) fn from_bytes<'call>(
    created_at: TimestampTz,
    bytes: ByteaArg<'call>,
) -> Result<Ulid, Error<'call>> {
    let unix_ms = time::unix_ms(created_at)?;
    let randomness = bytes.0.try_into().map_err(|_| Fault::RandomnessLength { found: bytes.0.len() })?;
    Ok(Ulid::from_parts_bytes(unix_ms, randomness).map_err(|_| Fault::Timestamp)?)
}
