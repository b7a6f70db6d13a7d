//! Ordered ids: one increasing order for all sessions of a server, and the horizon below which a
//! consumer misses no row.
//!
//! The rules are in pg_ulid::ordered and in the crate `ulid_horizon`. Here they get the server's
//! shared memory ([`shmem`]), its transactions ([`horizon`]), and SQL's types and errors. [`row`]
//! keeps ids above the horizon after a restart. [`guard`] is the trigger that refuses ids which a
//! consumer may have passed.

pub(super) mod guard;
pub(super) mod horizon;
mod row;
pub(super) mod shmem;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pg_ulid::{Time, Ulid, ordered};
use ulid_horizon::UNKNOWN;

use crate::datum::{POSTGRES_EPOCH_MS, TimestampTz, Uuid};
use crate::error::{self, Error};
use crate::fmgr::Fcinfo;
use crate::generate::{now, with_generator};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// A ULID greater than all that the sessions of the server have got from this before, unless the id
/// clock was reset. The transaction that calls this holds the horizon until it ends.
pub(super) fn gen_ulid(fcinfo: Fcinfo) -> Result<Ulid, Error> {
    let id_clock = horizon::id_clock_for_id(fcinfo)?;
    let clock = now()?;
    let id = with_generator(|generator| generator.ordered(clock, id_clock))?;
    let id = id.map_err(|_| error::id_clock_out_of_range())?;
    warn_if_ahead(ordered::time_of(id), clock);
    Ok(id)
}

/// The same for version 7 UUIDs: greater than all that the sessions have got from this before. Both
/// functions take their times from one id clock.
pub(super) fn gen_uuid_v7(fcinfo: Fcinfo) -> Result<Uuid, Error> {
    let id_clock = horizon::id_clock_for_id(fcinfo)?;
    let clock = now()?;
    let id = with_generator(|generator| generator.ordered_uuid_v7(clock, id_clock))?;
    let id = id.map_err(|_| error::id_clock_out_of_range())?;
    warn_if_ahead(ordered::time_of_uuid_v7(id), clock);
    Ok(Uuid(id))
}

/// The time of the id clock: that of the last ordered id or horizon, or a later one to which it was
/// advanced; null if there was none since the server started or since the last reset.
pub(super) fn time_of_id_clock() -> Option<TimestampTz> {
    let time = shmem::id_clock().time();
    (time != Time::UNIX_EPOCH).then(|| to_timestamptz(time))
}

/// Advances the id clock to the end of the millisecond of this id, and returns its time, after
/// which ids continue. It never goes back. An error if the id is more than a day ahead of the
/// system clock, unless `force` is true.
pub(super) fn advance_id_clock(id: Ulid, force: bool) -> Result<TimestampTz, Error> {
    if !force && ordered::time_of(id) > now()?.saturating_add(DAY) {
        return Err(error::ahead_of_system_clock(id));
    }
    Ok(to_timestamptz(shmem::id_clock().advance_past(id)))
}

/// A time of the id clock as a timestamp. [`UNKNOWN`], the bound of a transaction whose ids can
/// have any time, is before all times: `-infinity`.
fn to_timestamptz(time: Time) -> TimestampTz {
    if time == UNKNOWN {
        return TimestampTz(i64::MIN);
    }
    // A timestamptz counts microseconds from 2000-01-01. 48 bits of milliseconds always fit.
    TimestampTz(time.unix_us() as i64 - POSTGRES_EPOCH_MS * 1000)
}

/// Warns if the time of an ordered id is more than a minute ahead of the system clock, once per
/// session.
fn warn_if_ahead(time: Time, clock: Time) {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if time > clock.saturating_add(MINUTE) && !WARNED.swap(true, Ordering::Relaxed) {
        error::id_clock_ahead().warn();
    }
}
