//! Ordered ids: one increasing order for all sessions of a server, and the horizon below which a
//! snapshot misses no row.
//!
//! The rules are in the library's module of this name. Here they get the server's shared memory
//! ([`shmem`]), its transactions and snapshots ([`horizon`]), and SQL's types and errors.
//! [`floor`] keeps ids above the published horizon after a restart. [`guard`] is the trigger that
//! refuses other ids.

mod floor;
pub(super) mod guard;
pub(super) mod horizon;
pub(super) mod shmem;

use std::sync::atomic::{AtomicBool, Ordering};

use pg_ulid::{Ulid, ordered, since_epoch};

use crate::datum::{POSTGRES_EPOCH_MS, TimestampTz, Uuid};
use crate::error::{self, Error};
use crate::fmgr::Call;
use crate::generate::with_generator;

/// The system clock, in 65536ths of a millisecond since the Unix epoch.
#[inline(always)]
fn clock() -> Result<u64, Error> {
    since_epoch()
        .and_then(ordered::clock)
        .map_err(|_| error::clock())
}

pub(super) fn gen_ulid(call: Call) -> Result<Ulid, Error> {
    let id_clock = match horizon::id_clock_in_transaction() {
        Some(id_clock) => id_clock,
        None => horizon::open(call)?,
    };
    let clock = clock()?;
    let id = with_generator(|generator| generator.ordered(clock, id_clock))?;
    let id = id.map_err(|_| error::id_clock())?;
    check_time(ordered::time_of(id), clock);
    Ok(id)
}

pub(super) fn gen_uuid_v7(call: Call) -> Result<Uuid, Error> {
    let id_clock = match horizon::id_clock_in_transaction() {
        Some(id_clock) => id_clock,
        None => horizon::open(call)?,
    };
    let clock = clock()?;
    let id = with_generator(|generator| generator.ordered_uuid_v7(clock, id_clock))?;
    let id = id.map_err(|_| error::id_clock())?;
    check_time(ordered::time_of_uuid_v7(id), clock);
    Ok(Uuid(id))
}

/// The id clock: the last time that an id or a horizon has taken; null if there was none since the
/// start.
pub(super) fn time() -> Option<TimestampTz> {
    match shmem::id_clock().load(Ordering::Relaxed) {
        0 => None,
        time => Some(timestamp(time)),
    }
}

/// Advances the id clock to the end of the millisecond of this id, and returns the time after which
/// ids continue. It never goes back.
pub(super) fn advance_time(id: Ulid, force: bool) -> Result<TimestampTz, Error> {
    if !force && ordered::time_of(id).saturating_sub(clock()?) > ordered::DAY {
        return Err(error::ahead_of_clock(id));
    }
    Ok(timestamp(ordered::advance_to(shmem::id_clock(), id)))
}

/// A time of the id clock as a timestamp; `-infinity` for zero, which is before all times.
fn timestamp(time: u64) -> TimestampTz {
    if time == 0 {
        return TimestampTz(i64::MIN);
    }
    // 48 bits of milliseconds always fit.
    TimestampTz(ordered::unix_us(time) as i64 - POSTGRES_EPOCH_MS * 1000)
}

/// Warns if an ordered id is ahead of the system clock, once per session.
fn check_time(time: u64, clock: u64) {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if time - clock > ordered::MINUTE && !WARNED.swap(true, Ordering::Relaxed) {
        error::warning_of_clock().warn();
    }
}
