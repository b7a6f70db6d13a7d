//! The time that all sessions' ordered ULIDs have reached, for whoever operates the server.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pgrx::pg_sys::Datum;

use super::backend::clock;
use super::datum::{POSTGRES_EPOCH_MS, TimestampTz};
use super::error::{self, Error, Fault};
use super::frame::Returned;
use ulid_core::{Ulid, ordered, since_epoch};

/// Times are counted in 65536ths of a millisecond.
const MINUTE: u64 = 60_000 << 16;
const DAY: u64 = 24 * 60 * MINUTE;

/// An ordered ULID as a number, and how far ahead of the clock it is.
pub(super) struct Ordered {
    pub id: u128,
    pub ahead: u64,
}

impl Returned for Ordered {
    const SQL: &'static str = <Ulid as Returned>::SQL;

    fn into_datum(self) -> Datum {
        /// Whether this session has been warned. A parallel worker is a process of its own, so it stays silent.
        static WARNED: AtomicBool = AtomicBool::new(false);
        // SAFETY: a process learns its number, which is negative outside of parallel workers, before it runs SQL.
        let is_worker = unsafe { pgrx::pg_sys::ParallelWorkerNumber } >= 0;
        if self.ahead > MINUTE && !is_worker && !WARNED.swap(true, Ordering::Relaxed) {
            // SAFETY: the caller's frames have nothing to drop.
            unsafe { error::warn_of_clock() };
        }
        self.id.into_datum()
    }
}

/// The time of the last ordered ULID; null if there was none since the start.
pub(super) fn time(shared: &AtomicU64) -> Option<TimestampTz> {
    match shared.load(Ordering::Relaxed) {
        0 => None,
        time => Some(timestamp(time)),
    }
}

/// Lets ordered ULIDs continue after this one, if they have not come so far, and returns the time that they continue
/// after.
pub(super) fn advance<'call>(
    ulid: &Ulid,
    force: bool,
    shared: &AtomicU64,
) -> Result<TimestampTz, Error<'call>> {
    if !force {
        let now = since_epoch().and_then(ordered::clock).map_err(clock)?;
        if ordered::time_of(*ulid).saturating_sub(now) > DAY {
            Err(Fault::Ahead(*ulid))?;
        }
    }
    Ok(timestamp(ordered::advance_to(shared, *ulid)))
}

/// Lets ordered ULIDs continue from the clock.
pub(super) fn reset(shared: &AtomicU64) {
    shared.store(0, Ordering::Relaxed);
}

/// The time in microseconds, rounded down.
fn timestamp(time: u64) -> TimestampTz {
    let us = ((time & 0xffff) * 1000) >> 16;
    // 48 bits of milliseconds always fit.
    TimestampTz(((time >> 16) as i64 - POSTGRES_EPOCH_MS) * 1000 + us as i64)
}
