//! The functions that SQL calls and that compute: text, times, time ranges, prefixes, TypeIDs and
//! ids of other kinds. The library defines them; here they get SQL's types and errors.
//!
//! A [`TimestampTz`] is microseconds since 2000-01-01 UTC. A [`Time`] of the library has the range
//! of a ULID, 1970 to 10889.

use std::ffi::CStr;

use pg_ulid::{Time, TypeId, Ulid, Window};

use crate::datum::{
    AsciiText, ByteaArg, POSTGRES_EPOCH_MS, RandomnessBytea, TextArg, Timestamp, TimestampTz, Uuid,
};
use crate::error::{self, Error};

// Text. The output function is `UlidCstring`. Binary input and output are PostgreSQL's `uuid_recv`
// and `uuid_send`.

/// `ulid_in`, the input function: [`from_text`] of a cstring.
pub(super) fn input(text: &CStr) -> Result<Ulid, Error> {
    from_text(TextArg(text.to_bytes()))
}

/// The 26 characters of Crockford's Base32, in upper case.
pub(super) fn to_text(ulid: Ulid) -> AsciiText {
    AsciiText::new(&ulid.to_text())
}

/// The ULID of 26 characters of Crockford's Base32, in either case, with `I` and `L` for `1` and
/// `O` for `0`; or of a text that PostgreSQL reads as a uuid.
pub(super) fn from_text(text: TextArg<'_>) -> Result<Ulid, Error> {
    Ulid::parse(text.0).map_err(|error| error::invalid_ulid(text.0, error))
}

/// Whether [`from_text`] accepts the text.
pub(super) fn is_valid(text: TextArg<'_>) -> bool {
    Ulid::parse(text.0).is_ok()
}

// Casts of bytea and timestamp. Those of timestamptz are below.

/// The ULID of exactly 16 bytes, the most significant first.
pub(super) fn from_bytea(bytes: ByteaArg<'_>) -> Result<Ulid, Error> {
    Ulid::try_from(bytes.0).map_err(|_| error::ulid_length(bytes.0.len()))
}

/// The smallest ULID of the millisecond that a timestamp is in the session's time zone.
pub(super) fn from_timestamp(timestamp: Timestamp) -> Result<Ulid, Error> {
    lower_bound(timestamp.in_session_time_zone())
}

/// The time of the ULID as a timestamp in the session's time zone.
pub(super) fn to_timestamp(ulid: Ulid) -> Timestamp {
    Timestamp::from_session_time_zone(extract_timestamp(ulid))
}

// Times, in integers only.

/// The time of a timestamp, to the microsecond; an error if it is before the first millisecond that
/// a ULID can have, or after the last one.
pub(super) fn time_of_timestamp(timestamp: TimestampTz) -> Result<Time, Error> {
    // The infinities are the limits of 64 bits, and stay out of range.
    let unix_us = timestamp.0.saturating_add(POSTGRES_EPOCH_MS * 1000);
    // A negative number becomes one that is out of range, too.
    Time::from_unix_us(unix_us.cast_unsigned()).map_err(|_| error::timestamp_out_of_range())
}

/// The epoch of snowflakes in milliseconds since 1970-01-01 UTC, rounded down. It may be negative,
/// but not infinite: the library would refuse that, too, but its error would be about the time.
fn epoch_ms(epoch: TimestampTz) -> Result<i64, Error> {
    match epoch.0 {
        i64::MIN | i64::MAX => Err(error::infinite_epoch()),
        us => Ok(us.div_euclid(1000) + POSTGRES_EPOCH_MS),
    }
}

/// The time of the ULID, a whole millisecond.
pub(super) fn extract_timestamp(ulid: Ulid) -> TimestampTz {
    TimestampTz((extract_unix_ms(ulid) - POSTGRES_EPOCH_MS) * 1000)
}

/// Milliseconds since 1970-01-01 UTC, 0 to 2^48 - 1.
pub(super) fn extract_unix_ms(ulid: Ulid) -> i64 {
    // 48 bits always fit.
    ulid.unix_ms() as i64
}

/// The 10 bytes after the time.
pub(super) fn extract_randomness(ulid: Ulid) -> RandomnessBytea {
    RandomnessBytea(ulid.randomness_bytes())
}

/// The smallest ULID of the millisecond that contains the time; an error if no ULID has it.
pub(super) fn lower_bound(timestamp: TimestampTz) -> Result<Ulid, Error> {
    time_of_timestamp(timestamp).map(Ulid::lower_bound)
}

/// The greatest ULID of that millisecond.
pub(super) fn upper_bound(timestamp: TimestampTz) -> Result<Ulid, Error> {
    time_of_timestamp(timestamp).map(Ulid::upper_bound)
}

/// `ulid <@ tstzrange`: whether the time of the ULID is in the range, which is given as the ids
/// created in it.
pub(super) fn contained_by_range(ulid: Ulid, range: Window) -> bool {
    range.contains(ulid)
}

// Search by the first characters of the text.

/// The ids whose text of 26 characters starts with the prefix, which is read in either case, with
/// `I` and `L` for `1` and `O` for `0`; an error if there are none.
fn ids_starting_with(prefix: TextArg<'_>) -> Result<Window, Error> {
    Window::starting_with(prefix.0).map_err(|error| error::invalid_prefix(prefix.0, error))
}

/// The smallest ULID whose text starts with the prefix.
pub(super) fn prefix_lower(prefix: TextArg<'_>) -> Result<Ulid, Error> {
    Ok(ids_starting_with(prefix)?.lower())
}

/// The greatest ULID whose text starts with the prefix.
pub(super) fn prefix_upper(prefix: TextArg<'_>) -> Result<Ulid, Error> {
    Ok(ids_starting_with(prefix)?.upper())
}

// These are for the planner while it does not know the prefix, such as that of a parameter. The
// condition on an index is id >= starts_with_lower AND id <= starts_with_upper, and
// `ulid_starts_with` stays as a filter. For partitions, these AND starts_with_check take the place
// of `ulid_starts_with`. A scan computes its bounds even if there is no row, but only a row may
// raise the error of an invalid prefix.

/// The smallest ULID whose text starts with the prefix; for an invalid prefix, the smallest of all.
pub(super) fn starts_with_lower(prefix: TextArg<'_>) -> Ulid {
    Window::starting_with(prefix.0).map_or(Ulid::NIL, Window::lower)
}

/// The greatest ULID whose text starts with the prefix; for an invalid prefix, the greatest of all.
pub(super) fn starts_with_upper(prefix: TextArg<'_>) -> Ulid {
    Window::starting_with(prefix.0).map_or(Ulid::MAX, Window::upper)
}

/// True, or the error of an invalid prefix. The id is not used. It is an argument so that the check
/// is evaluated for a row, and not once before the scan.
pub(super) fn starts_with_check(_: Ulid, prefix: TextArg<'_>) -> Result<bool, Error> {
    ids_starting_with(prefix).map(|_| true)
}

/// Whether the text of the ULID starts with the prefix.
pub(super) fn starts_with(ulid: Ulid, prefix: TextArg<'_>) -> Result<bool, Error> {
    Ok(ids_starting_with(prefix)?.contains(ulid))
}

// TypeIDs: a prefix that names the type of an id, `_`, and the 26 characters of a ULID in lower
// case. Without a prefix, there is no `_`.

/// Parses a TypeID strictly: in lower case only, without aliases.
fn parse_typeid(text: TextArg<'_>) -> Result<TypeId<'_>, Error> {
    TypeId::parse(text.0).map_err(|error| error::invalid_typeid(text.0, error))
}

/// The TypeID of a ULID with this prefix, which may be empty.
pub(super) fn to_typeid(prefix: TextArg<'_>, ulid: Ulid) -> Result<AsciiText, Error> {
    let typeid = TypeId::new(prefix.0, ulid);
    let (text, len) = typeid
        .map_err(|error| error::invalid_typeid_prefix(prefix.0, error))?
        .to_text();
    Ok(AsciiText::new(&text[..len]))
}

/// The ULID of a TypeID, whatever its prefix.
pub(super) fn from_typeid(typeid: TextArg<'_>) -> Result<Ulid, Error> {
    Ok(parse_typeid(typeid)?.ulid())
}

/// The ULID of a TypeID that must have this prefix.
pub(super) fn from_typeid_of(typeid: TextArg<'_>, prefix: TextArg<'_>) -> Result<Ulid, Error> {
    let text = typeid.0;
    let typeid = parse_typeid(typeid)?;
    let (found, expected) = (typeid.prefix().as_bytes(), prefix.0);
    if found != expected {
        return Err(error::other_typeid_prefix(text, found, expected));
    }
    Ok(typeid.ulid())
}

/// The prefix of a TypeID; empty if it has none.
pub(super) fn typeid_prefix(typeid: TextArg<'_>) -> Result<AsciiText, Error> {
    Ok(AsciiText::new(parse_typeid(typeid)?.prefix().as_bytes()))
}

// Ids of other kinds, and a ULID of its parts. Each kind has its place for the time and the other
// bits in a ULID. `to_…` is the inverse of `from_…`, and an error for a ULID that `from_…` never
// returns. Only `to_uuid_v7` takes any ULID.

/// The ULID of a version 1 UUID: its milliseconds, then its 100 ns, clock sequence and node.
pub(super) fn from_uuid_v1(uuid: Uuid) -> Result<Ulid, Error> {
    Ulid::from_uuid_v1(uuid.0).map_err(|error| error::not_convertible(uuid.0, error))
}

/// The version 1 UUID that a ULID was made from, or the one with the same fields if that was of
/// version 6.
pub(super) fn to_uuid_v1(ulid: Ulid) -> Result<Uuid, Error> {
    let uuid = ulid.to_uuid_v1();
    uuid.map(Uuid)
        .map_err(|error| error::not_convertible(ulid, error))
}

/// The ULID of a version 6 UUID, with the fields in the order of [`from_uuid_v1`].
pub(super) fn from_uuid_v6(uuid: Uuid) -> Result<Ulid, Error> {
    Ulid::from_uuid_v6(uuid.0).map_err(|error| error::not_convertible(uuid.0, error))
}

/// The version 6 UUID that a ULID was made from, or the one with the same fields if that was of
/// version 1.
pub(super) fn to_uuid_v6(ulid: Ulid) -> Result<Uuid, Error> {
    let uuid = ulid.to_uuid_v6();
    uuid.map(Uuid)
        .map_err(|error| error::not_convertible(ulid, error))
}

/// A valid version 7 UUID of the same millisecond: version and variant replace 6 of the 80 bits of
/// randomness, so it has no inverse.
pub(super) fn to_uuid_v7(ulid: Ulid) -> Uuid {
    Uuid(ulid.to_uuid_v7())
}

/// The ULID of a snowflake, whose time counts milliseconds from this epoch. Its other 22 bits come
/// first in the randomness, and 58 zeros follow.
pub(super) fn from_snowflake(id: i64, epoch: TimestampTz) -> Result<Ulid, Error> {
    Ulid::from_snowflake(id, epoch_ms(epoch)?).map_err(|error| error::snowflake_or_key(error))
}

/// The snowflake of this epoch that a ULID was made from.
pub(super) fn to_snowflake(ulid: Ulid, epoch: TimestampTz) -> Result<i64, Error> {
    let id = ulid.to_snowflake(epoch_ms(epoch)?);
    id.map_err(|error| error::not_convertible(ulid, error))
}

/// `ulid_from_parts(timestamptz, bigint)`: the ULID of a row that was created at this time. The key
/// of the row is the randomness, and must not be negative.
pub(super) fn from_time_and_key(created_at: TimestampTz, key: i64) -> Result<Ulid, Error> {
    Ulid::from_key(time_of_timestamp(created_at)?, key)
        .map_err(|error| error::snowflake_or_key(error))
}

/// The key that a ULID was made from, with the time.
pub(super) fn to_key(ulid: Ulid) -> Result<i64, Error> {
    ulid.to_key()
        .map_err(|error| error::not_convertible(ulid, error))
}

/// `ulid_from_parts(timestamptz, bytea)`: the ULID of this time and exactly 10 bytes of randomness.
pub(super) fn from_time_and_randomness(
    created_at: TimestampTz,
    randomness: ByteaArg<'_>,
) -> Result<Ulid, Error> {
    let time = time_of_timestamp(created_at)?;
    let found = randomness.0.len();
    let randomness = randomness.0.try_into();
    let randomness = randomness.map_err(|_| error::randomness_length(found))?;
    Ok(Ulid::from_parts_bytes(time, randomness))
}
