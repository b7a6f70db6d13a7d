//! The functions that SQL calls and that only compute: text, time, windows, prefixes, TypeIDs and
//! ids of other kinds. The library defines them; here they get SQL's types and errors.

use std::ffi::CStr;
use std::time::Duration;

use pg_ulid::{ErrorKind, TypeId, Ulid, Window};

use super::server::datum::{
    Bytea, ByteaArg, Cstring, POSTGRES_EPOCH_MS, ShortText, TextArg, TextString, Timestamp,
    TimestampTz, Uuid,
};
use super::server::range::{TstzRange, UlidWindow};
use super::server::report::{Error, Fault};

// Text. Binary input and output are core's `uuid_recv` and `uuid_send`.

pub(super) fn input(text: &CStr) -> Result<Ulid, Error<'_>> {
    Ok(Ulid::parse(text.to_bytes()).map_err(|error| Fault::Parse { text, error })?)
}

pub(super) fn output(ulid: Ulid) -> Cstring {
    Cstring(ulid)
}

pub(super) fn to_text(ulid: Ulid) -> ShortText {
    ShortText::new(&ulid.to_text())
}

pub(super) fn from_text(text: TextString<'_>) -> Result<Ulid, Error<'_>> {
    input(text.0)
}

pub(super) fn is_valid(text: TextArg<'_>) -> bool {
    Ulid::parse(text.0).is_ok()
}

// The transition functions of `min` and `max`, which core does not have for uuid. All other
// comparison is core's.

pub(super) fn smaller<'call>(a: &'call [u8; 16], b: &'call [u8; 16]) -> &'call [u8; 16] {
    a.min(b)
}

pub(super) fn larger<'call>(a: &'call [u8; 16], b: &'call [u8; 16]) -> &'call [u8; 16] {
    a.max(b)
}

// Casts that are neither binary-coercible nor through text.

pub(super) fn from_bytea(bytes: ByteaArg<'_>) -> Result<Ulid, Error<'_>> {
    Ok(Ulid::try_from(bytes.0).map_err(|_| Fault::Length {
        found: bytes.0.len(),
    })?)
}

pub(super) fn from_timestamp<'call>(timestamp: Timestamp) -> Result<Ulid, Error<'call>> {
    lower_bound(timestamp.0)
}

pub(super) fn to_timestamp(ulid: Ulid) -> Timestamp {
    Timestamp(extract_timestamp(ulid))
}

// Time, in integers only.

/// The millisecond since the Unix epoch that contains the moment: rounded down.
pub(super) fn unix_ms<'call>(timestamp: TimestampTz) -> Result<u64, Error<'call>> {
    let unix_ms = finite_ms(timestamp).ok_or(Fault::Timestamp)?;
    Ok(u64::try_from(unix_ms)
        .ok()
        .filter(|&ms| ms <= Ulid::MAX_UNIX_MS)
        .ok_or(Fault::Timestamp)?)
}

/// The moment, counted from the Unix epoch.
pub(super) fn since_epoch<'call>(timestamp: TimestampTz) -> Result<Duration, Error<'call>> {
    // What is lost when the time is rounded down to the millisecond: 0 to 999.
    let us = timestamp.0.rem_euclid(1000) as u64;
    let unix_ms = unix_ms(timestamp)?;
    Ok(Duration::from_millis(unix_ms) + Duration::from_micros(us))
}

/// The milliseconds from the Unix epoch to another epoch, negative if it is before 1970.
pub(super) fn epoch_ms<'call>(epoch: TimestampTz) -> Result<i64, Error<'call>> {
    Ok(finite_ms(epoch).ok_or(Fault::Epoch)?)
}

/// Milliseconds since the Unix epoch, rounded down; `None` for the infinities.
fn finite_ms(timestamp: TimestampTz) -> Option<i64> {
    (!matches!(timestamp.0, i64::MIN | i64::MAX))
        .then(|| timestamp.0.div_euclid(1000) + POSTGRES_EPOCH_MS)
}

pub(super) fn extract_timestamp(ulid: Ulid) -> TimestampTz {
    TimestampTz((extract_unix_ms(ulid) - POSTGRES_EPOCH_MS) * 1000)
}

pub(super) fn extract_unix_ms(ulid: Ulid) -> i64 {
    // 48 bits always fit.
    ulid.unix_ms() as i64
}

pub(super) fn extract_randomness(ulid: Ulid) -> Bytea {
    Bytea(ulid.randomness_bytes())
}

pub(super) fn lower_bound<'call>(timestamp: TimestampTz) -> Result<Ulid, Error<'call>> {
    Ok(Ulid::lower_bound(unix_ms(timestamp)?).map_err(|_| Fault::Timestamp)?)
}

pub(super) fn upper_bound<'call>(timestamp: TimestampTz) -> Result<Ulid, Error<'call>> {
    Ok(Ulid::upper_bound(unix_ms(timestamp)?).map_err(|_| Fault::Timestamp)?)
}

pub(super) fn range_lower(range: TstzRange) -> Ulid {
    range.0.lower()
}

pub(super) fn range_upper(range: TstzRange) -> Ulid {
    range.0.upper()
}

pub(super) fn contained_by_range(ulid: Ulid, window: UlidWindow) -> bool {
    window.0.contains(ulid)
}

pub(super) fn range_contains(window: UlidWindow, ulid: Ulid) -> bool {
    window.0.contains(ulid)
}

// Search by the first characters of the text.

fn window_of(prefix: TextArg<'_>) -> Result<Window, Error<'_>> {
    Ok(
        Window::starting_with(prefix.0).map_err(|error| Fault::Prefix {
            text: prefix.0,
            error,
        })?,
    )
}

pub(super) fn prefix_lower(prefix: TextArg<'_>) -> Result<Ulid, Error<'_>> {
    Ok(window_of(prefix)?.lower())
}

pub(super) fn prefix_upper(prefix: TextArg<'_>) -> Result<Ulid, Error<'_>> {
    Ok(window_of(prefix)?.upper())
}

pub(super) fn starts_with<'call>(ulid: Ulid, prefix: TextArg<'call>) -> Result<bool, Error<'call>> {
    Ok(window_of(prefix)?.contains(ulid))
}

// TypeIDs, as text in the server's encoding.

fn parse_typeid(text: TextArg<'_>) -> Result<TypeId<'_>, Error<'_>> {
    Ok(TypeId::parse(text.0).map_err(|error| Fault::TypeId {
        text: text.0,
        error,
    })?)
}

pub(super) fn to_typeid<'call>(
    prefix: TextArg<'call>,
    ulid: Ulid,
) -> Result<ShortText, Error<'call>> {
    let bad_prefix = |error| Fault::TypeIdPrefix {
        prefix: prefix.0,
        error,
    };
    let (text, len) = TypeId::new(prefix.0, ulid).map_err(bad_prefix)?.to_text();
    Ok(ShortText::new(&text[..len]))
}

pub(super) fn from_typeid(typeid: TextArg<'_>) -> Result<Ulid, Error<'_>> {
    Ok(parse_typeid(typeid)?.ulid())
}

pub(super) fn from_typeid_of<'call>(
    typeid: TextArg<'call>,
    prefix: TextArg<'call>,
) -> Result<Ulid, Error<'call>> {
    let text = typeid.0;
    let typeid = parse_typeid(typeid)?;
    let (found, expected) = (typeid.prefix().as_bytes(), prefix.0);
    if found != expected {
        Err(Fault::OtherPrefix {
            typeid: text,
            prefix: found,
            expected,
        })?;
    }
    Ok(typeid.ulid())
}

pub(super) fn typeid_prefix(typeid: TextArg<'_>) -> Result<ShortText, Error<'_>> {
    Ok(ShortText::new(parse_typeid(typeid)?.prefix().as_bytes()))
}

// Ids of other kinds.

/// The fault of converting this uuid or ulid.
fn refused<'call>(id: impl Into<u128>) -> impl FnOnce(pg_ulid::Error) -> Fault<'call> {
    let id = id.into();
    move |error| Fault::Convert { error, id }
}

/// The fault of converting a number.
fn number_refused<'call>(error: pg_ulid::Error) -> Fault<'call> {
    match error.kind() {
        ErrorKind::Negative { .. } => Fault::Negative(error),
        _ => Fault::Timestamp,
    }
}

pub(super) fn from_uuid_v1<'call>(uuid: Uuid) -> Result<Ulid, Error<'call>> {
    Ok(Ulid::from_uuid_v1(uuid.0).map_err(refused(uuid.0))?)
}

pub(super) fn to_uuid_v1<'call>(ulid: Ulid) -> Result<Uuid, Error<'call>> {
    Ok(Uuid(ulid.to_uuid_v1().map_err(refused(ulid))?))
}

pub(super) fn from_uuid_v6<'call>(uuid: Uuid) -> Result<Ulid, Error<'call>> {
    Ok(Ulid::from_uuid_v6(uuid.0).map_err(refused(uuid.0))?)
}

pub(super) fn to_uuid_v6<'call>(ulid: Ulid) -> Result<Uuid, Error<'call>> {
    Ok(Uuid(ulid.to_uuid_v6().map_err(refused(ulid))?))
}

pub(super) fn to_uuid_v7(ulid: Ulid) -> Uuid {
    Uuid(ulid.to_uuid_v7())
}

pub(super) fn from_snowflake<'call>(id: i64, epoch: TimestampTz) -> Result<Ulid, Error<'call>> {
    let epoch_ms = epoch_ms(epoch)?;
    Ok(Ulid::from_snowflake(id, epoch_ms).map_err(number_refused)?)
}

pub(super) fn to_snowflake<'call>(ulid: Ulid, epoch: TimestampTz) -> Result<i64, Error<'call>> {
    Ok(ulid.to_snowflake(epoch_ms(epoch)?).map_err(refused(ulid))?)
}

pub(super) fn from_key<'call>(created_at: TimestampTz, key: i64) -> Result<Ulid, Error<'call>> {
    let unix_ms = unix_ms(created_at)?;
    Ok(Ulid::from_key(unix_ms, key).map_err(number_refused)?)
}

pub(super) fn to_key<'call>(ulid: Ulid) -> Result<i64, Error<'call>> {
    Ok(ulid.to_key().map_err(refused(ulid))?)
}

pub(super) fn from_bytes<'call>(
    created_at: TimestampTz,
    bytes: ByteaArg<'call>,
) -> Result<Ulid, Error<'call>> {
    let unix_ms = unix_ms(created_at)?;
    let randomness = bytes.0.try_into().map_err(|_| Fault::RandomnessLength {
        found: bytes.0.len(),
    })?;
    Ok(Ulid::from_parts_bytes(unix_ms, randomness).map_err(|_| Fault::Timestamp)?)
}
