//! The functions that SQL calls and that only compute: text, times, time ranges, prefixes, TypeIDs
//! and ids of other kinds. The library defines them; here they get SQL's types and errors.

use std::ffi::CStr;

use pg_ulid::{Time, TypeId, Ulid, Window};

use crate::datum::{
    ByteaArg, NewBytea, NewText, POSTGRES_EPOCH_MS, TextArg, Timestamp, TimestampTz, Uuid,
};
use crate::error::{self, Error};

// Text. Binary input and output are PostgreSQL's `uuid_recv` and `uuid_send`.

pub(super) fn input(text: &CStr) -> Result<Ulid, Error> {
    from_text(TextArg(text.to_bytes()))
}

pub(super) fn to_text(ulid: Ulid) -> NewText {
    NewText::new(&ulid.to_text())
}

pub(super) fn from_text(text: TextArg<'_>) -> Result<Ulid, Error> {
    Ulid::parse(text.0).map_err(|error| error::invalid_ulid(text.0, error))
}

pub(super) fn is_valid(text: TextArg<'_>) -> bool {
    Ulid::parse(text.0).is_ok()
}

// Casts that are neither binary-coercible nor through text.

pub(super) fn from_bytea(bytes: ByteaArg<'_>) -> Result<Ulid, Error> {
    Ulid::try_from(bytes.0).map_err(|_| error::ulid_length(bytes.0.len()))
}

pub(super) fn from_timestamp(timestamp: Timestamp) -> Result<Ulid, Error> {
    lower_bound(timestamp.in_session_time_zone())
}

pub(super) fn to_timestamp(ulid: Ulid) -> Timestamp {
    Timestamp::from_session_time_zone(extract_timestamp(ulid))
}

// Times, in integers only.

/// The time of a timestamp; an error if no ULID has it.
pub(super) fn time_of_timestamp(timestamp: TimestampTz) -> Result<Time, Error> {
    // The infinities stay out of range.
    let unix_us = timestamp.0.saturating_add(POSTGRES_EPOCH_MS * 1000);
    // A negative number becomes more than fits.
    Time::from_unix_us(unix_us.cast_unsigned()).map_err(|_| error::timestamp_out_of_range())
}

/// The milliseconds from the Unix epoch to another epoch, rounded down; negative if it is before
/// 1970.
fn epoch_ms(epoch: TimestampTz) -> Result<i64, Error> {
    match epoch.0 {
        i64::MIN | i64::MAX => Err(error::infinite_epoch()),
        us => Ok(us.div_euclid(1000) + POSTGRES_EPOCH_MS),
    }
}

pub(super) fn extract_timestamp(ulid: Ulid) -> TimestampTz {
    TimestampTz((extract_unix_ms(ulid) - POSTGRES_EPOCH_MS) * 1000)
}

pub(super) fn extract_unix_ms(ulid: Ulid) -> i64 {
    // 48 bits always fit.
    ulid.unix_ms() as i64
}

pub(super) fn extract_randomness(ulid: Ulid) -> NewBytea {
    NewBytea(ulid.randomness_bytes())
}

pub(super) fn lower_bound(timestamp: TimestampTz) -> Result<Ulid, Error> {
    time_of_timestamp(timestamp).map(Ulid::lower_bound)
}

pub(super) fn upper_bound(timestamp: TimestampTz) -> Result<Ulid, Error> {
    time_of_timestamp(timestamp).map(Ulid::upper_bound)
}

pub(super) fn contained_by_range(ulid: Ulid, range: Window) -> bool {
    range.contains(ulid)
}

// Search by the first characters of the text.

fn window_of(prefix: TextArg<'_>) -> Result<Window, Error> {
    Window::starting_with(prefix.0).map_err(|error| error::invalid_prefix(prefix.0, error))
}

pub(super) fn prefix_lower(prefix: TextArg<'_>) -> Result<Ulid, Error> {
    Ok(window_of(prefix)?.lower())
}

pub(super) fn prefix_upper(prefix: TextArg<'_>) -> Result<Ulid, Error> {
    Ok(window_of(prefix)?.upper())
}

/// The bounds for an index and for partitions, which are computed even if there is no row to raise
/// the error for: those of all ids for a prefix that has one.
pub(super) fn starts_with_lower(prefix: TextArg<'_>) -> Ulid {
    Window::starting_with(prefix.0).map_or(Ulid::NIL, Window::lower)
}

pub(super) fn starts_with_upper(prefix: TextArg<'_>) -> Ulid {
    Window::starting_with(prefix.0).map_or(Ulid::MAX, Window::upper)
}

/// For a row between these bounds: true, or the error of the prefix.
pub(super) fn starts_with_check(_: Ulid, prefix: TextArg<'_>) -> Result<bool, Error> {
    window_of(prefix).map(|_| true)
}

pub(super) fn starts_with(ulid: Ulid, prefix: TextArg<'_>) -> Result<bool, Error> {
    Ok(window_of(prefix)?.contains(ulid))
}

// TypeIDs, as text in the encoding of the database.

fn parse_typeid(text: TextArg<'_>) -> Result<TypeId<'_>, Error> {
    TypeId::parse(text.0).map_err(|error| error::invalid_typeid(text.0, error))
}

pub(super) fn to_typeid(prefix: TextArg<'_>, ulid: Ulid) -> Result<NewText, Error> {
    let typeid = TypeId::new(prefix.0, ulid);
    let (text, len) = typeid
        .map_err(|error| error::invalid_typeid_prefix(prefix.0, error))?
        .to_text();
    Ok(NewText::new(&text[..len]))
}

pub(super) fn from_typeid(typeid: TextArg<'_>) -> Result<Ulid, Error> {
    Ok(parse_typeid(typeid)?.ulid())
}

pub(super) fn from_typeid_of(typeid: TextArg<'_>, prefix: TextArg<'_>) -> Result<Ulid, Error> {
    let text = typeid.0;
    let typeid = parse_typeid(typeid)?;
    let (found, expected) = (typeid.prefix().as_bytes(), prefix.0);
    if found != expected {
        return Err(error::other_typeid_prefix(text, found, expected));
    }
    Ok(typeid.ulid())
}

pub(super) fn typeid_prefix(typeid: TextArg<'_>) -> Result<NewText, Error> {
    Ok(NewText::new(parse_typeid(typeid)?.prefix().as_bytes()))
}

// Ids of other kinds.

pub(super) fn from_uuid_v1(uuid: Uuid) -> Result<Ulid, Error> {
    Ulid::from_uuid_v1(uuid.0).map_err(|error| error::not_convertible(uuid.0, error))
}

pub(super) fn to_uuid_v1(ulid: Ulid) -> Result<Uuid, Error> {
    let uuid = ulid.to_uuid_v1();
    uuid.map(Uuid)
        .map_err(|error| error::not_convertible(ulid, error))
}

pub(super) fn from_uuid_v6(uuid: Uuid) -> Result<Ulid, Error> {
    Ulid::from_uuid_v6(uuid.0).map_err(|error| error::not_convertible(uuid.0, error))
}

pub(super) fn to_uuid_v6(ulid: Ulid) -> Result<Uuid, Error> {
    let uuid = ulid.to_uuid_v6();
    uuid.map(Uuid)
        .map_err(|error| error::not_convertible(ulid, error))
}

pub(super) fn to_uuid_v7(ulid: Ulid) -> Uuid {
    Uuid(ulid.to_uuid_v7())
}

pub(super) fn from_snowflake(id: i64, epoch: TimestampTz) -> Result<Ulid, Error> {
    Ulid::from_snowflake(id, epoch_ms(epoch)?).map_err(|error| error::snowflake_or_key(error))
}

pub(super) fn to_snowflake(ulid: Ulid, epoch: TimestampTz) -> Result<i64, Error> {
    let id = ulid.to_snowflake(epoch_ms(epoch)?);
    id.map_err(|error| error::not_convertible(ulid, error))
}

pub(super) fn from_key(created_at: TimestampTz, key: i64) -> Result<Ulid, Error> {
    Ulid::from_key(time_of_timestamp(created_at)?, key)
        .map_err(|error| error::snowflake_or_key(error))
}

pub(super) fn to_key(ulid: Ulid) -> Result<i64, Error> {
    ulid.to_key()
        .map_err(|error| error::not_convertible(ulid, error))
}

pub(super) fn from_bytes(created_at: TimestampTz, bytes: ByteaArg<'_>) -> Result<Ulid, Error> {
    let time = time_of_timestamp(created_at)?;
    let randomness = bytes.0.try_into();
    let randomness = randomness.map_err(|_| error::randomness_length(bytes.0.len()))?;
    Ok(Ulid::from_parts_bytes(time, randomness))
}
