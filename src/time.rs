//! The time of a ULID as PostgreSQL's timestamps, in integers only.

use std::time::Duration;

use super::datum::{Bytea, POSTGRES_EPOCH_MS, TimestampTz};
use super::error::{Error, Fault};
use super::range::{TstzRange, UlidWindow};
use ulid_core::Ulid;

/// The millisecond since the Unix epoch that contains the moment: rounded down.
pub(super) fn unix_ms<'call>(timestamp: TimestampTz) -> Result<u64, Error<'call>> {
    let unix_ms = finite_ms(timestamp).ok_or(Fault::Timestamp)?;
    Ok(u64::try_from(unix_ms).ok().filter(|&ms| ms <= Ulid::MAX_UNIX_MS).ok_or(Fault::Timestamp)?)
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
    (!matches!(timestamp.0, i64::MIN | i64::MAX)).then(|| timestamp.0.div_euclid(1000) + POSTGRES_EPOCH_MS)
}

pub(super) fn extract_timestamp(ulid: &Ulid) -> TimestampTz {
    TimestampTz((extract_unix_ms(ulid) - POSTGRES_EPOCH_MS) * 1000)
}

pub(super) fn extract_unix_ms(ulid: &Ulid) -> i64 {
    // 48 bits always fit.
    ulid.unix_ms() as i64
}

pub(super) fn extract_randomness(ulid: &Ulid) -> Bytea {
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

pub(super) fn contained_by_range(ulid: &Ulid, window: UlidWindow) -> bool {
    window.0.contains(*ulid)
}

pub(super) fn range_contains(window: UlidWindow, ulid: &Ulid) -> bool {
    window.0.contains(*ulid)
}
