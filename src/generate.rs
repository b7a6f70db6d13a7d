//! Generating: the functions that SQL calls, the generator of a backend, which is seeded at its
//! first use, and the time that all sessions' ordered ids have reached, for whoever operates the
//! server.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pg_ulid::{ErrorKind, Generator, Ulid, ordered, since_epoch, unix_ms};
use pgrx::pg_sys::Datum;

use super::functions;
use super::server::datum::{POSTGRES_EPOCH_MS, TimestampTz, Uuid};
use super::server::frame::{Plain, Returned};
use super::server::report::{self, Error, Fault};

/// The fault of a time that the system clock gave.
fn clock<'call>(_: pg_ulid::Error) -> Fault<'call> {
    Fault::Clock
}

pub(super) fn random<'call>() -> Result<Ulid, Error<'call>> {
    let unix_ms = unix_ms().map_err(clock)?;
    Ok(generator(|generator| generator.random(unix_ms))?.map_err(clock)?)
}

pub(super) fn random_at<'call>(timestamp: TimestampTz) -> Result<Ulid, Error<'call>> {
    let unix_ms = functions::unix_ms(timestamp)?;
    Ok(generator(|generator| generator.random(unix_ms))?.map_err(|_| Fault::Timestamp)?)
}

pub(super) fn monotonic<'call>() -> Result<Ulid, Error<'call>> {
    let unix_ms = unix_ms().map_err(clock)?;
    Ok(
        generator(|generator| generator.monotonic(unix_ms))?.map_err(|error| {
            match error.kind() {
                ErrorKind::Exhausted => Fault::Exhausted,
                _ => Fault::Clock,
            }
        })?,
    )
}

pub(super) fn ordered<'call>(last_time: &AtomicU64) -> Result<Ordered<Ulid>, Error<'call>> {
    let now = since_epoch().and_then(ordered::clock).map_err(clock)?;
    let id = generator(|generator| generator.ordered(now, last_time))?
        .map_err(|_| Fault::OrderedTime)?;
    Ok(Ordered {
        id,
        ahead: ordered::time_of(id) - now,
    })
}

pub(super) fn ordered_uuid_v7<'call>(last_time: &AtomicU64) -> Result<Ordered<Uuid>, Error<'call>> {
    let now = since_epoch().and_then(ordered::clock).map_err(clock)?;
    let id = generator(|generator| generator.ordered_uuid_v7(now, last_time))?
        .map_err(|_| Fault::OrderedTime)?;
    // Such an id shows its millisecond only, whose end is never before the clock.
    Ok(Ordered {
        id: Uuid(id),
        ahead: (ordered::time_of(id.into()) | 0xffff) - now,
    })
}

pub(super) fn uuid_v7<'call>() -> Result<Uuid, Error<'call>> {
    let now = since_epoch().map_err(clock)?;
    Ok(Uuid(
        generator(|generator| generator.uuid_v7(now))?.map_err(clock)?,
    ))
}

pub(super) fn uuid_v7_at<'call>(timestamp: TimestampTz) -> Result<Uuid, Error<'call>> {
    let since_epoch = functions::since_epoch(timestamp)?;
    Ok(Uuid(
        generator(|generator| generator.uuid_v7_at(since_epoch))?.map_err(|_| Fault::Timestamp)?,
    ))
}

const DAY: u64 = 24 * 60 * ordered::MINUTE;

/// An ordered id, and how far ahead of the clock it is.
#[derive(Clone, Copy)]
pub(super) struct Ordered<T> {
    id: T,
    ahead: u64,
}

impl<T: Returned> Returned for Ordered<T> {
    const SQL: &'static str = T::SQL;

    fn into_datum(self, plain: Plain) -> Datum {
        if self.ahead > ordered::MINUTE {
            warn_once(plain);
        }
        self.id.into_datum(plain)
    }
}

/// Warns that ordered ids are ahead of the clock, once per session.
#[cold]
fn warn_once(plain: Plain) {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if !WARNED.swap(true, Ordering::Relaxed) {
        report::warn_of_clock(plain);
    }
}

/// The time of the last ordered ULID; null if there was none since the start.
pub(super) fn ordered_time(last_time: &AtomicU64) -> Option<TimestampTz> {
    match last_time.load(Ordering::Relaxed) {
        0 => None,
        time => Some(timestamp(time)),
    }
}

/// Lets ordered ids continue after this one, if they have not come so far, and returns the time
/// that they continue after.
pub(super) fn advance_ordered_time<'call>(
    ulid: Ulid,
    force: bool,
    last_time: &AtomicU64,
) -> Result<TimestampTz, Error<'call>> {
    if !force {
        let now = since_epoch().and_then(ordered::clock).map_err(clock)?;
        if ordered::time_of(ulid).saturating_sub(now) > DAY {
            Err(Fault::Ahead(ulid))?;
        }
    }
    Ok(timestamp(ordered::advance_to(last_time, ulid)))
}

/// A time like the last one; zero stands for all times.
pub(super) fn timestamp(time: u64) -> TimestampTz {
    if time == 0 {
        return TimestampTz(i64::MIN);
    }
    // 48 bits of milliseconds always fit.
    TimestampTz(ordered::unix_us(time) as i64 - POSTGRES_EPOCH_MS * 1000)
}

/// A generator and the process that seeded it.
struct Seeded {
    pid: c_int,
    generator: Generator,
}

/// The state of this process, which is used only by its one thread.
struct BackendLocal(Cell<Option<&'static mut Seeded>>);

// SAFETY: a backend has one thread that runs SQL functions.
unsafe impl Sync for BackendLocal {}

static SEEDED: BackendLocal = BackendLocal(Cell::new(None));

/// Calls a function with the generator of this process, which nobody else has meanwhile. One that
/// was inherited through a fork would generate the same values as that of the other process, so it
/// is replaced: the postmaster runs no SQL, but another library may fork a backend.
fn generator<'call, T>(generate: impl FnOnce(&mut Generator) -> T) -> Result<T, Fault<'call>> {
    // SAFETY: it is set before any SQL runs.
    let pid = unsafe { pgrx::pg_sys::MyProcPid };
    let seeded = match SEEDED.0.take() {
        Some(seeded) if seeded.pid == pid => seeded,
        _ => seed(pid)?,
    };
    let result = generate(&mut seeded.generator);
    SEEDED.0.set(Some(seeded));
    Ok(result)
}

#[cold]
fn seed<'call>(pid: c_int) -> Result<&'static mut Seeded, Fault<'call>> {
    let generator = Generator::from_os().map_err(|_| Fault::Seed)?;
    Ok(Box::leak(Box::new(Seeded { pid, generator })))
}

/// Changes of the state for the tests inside a backend.
#[cfg(feature = "pg_test")]
pub(super) mod test_support {
    use super::{SEEDED, Seeded, Ulid, c_int};

    /// Pretends that this process seeded the generator.
    pub(crate) fn set_process(pid: c_int) {
        change(|seeded| seeded.pid = pid);
    }

    /// Pretends that this was the last monotonic value.
    pub(crate) fn set_last(last: Ulid) {
        change(|seeded| seeded.generator.set_last(last));
    }

    fn change(change: impl FnOnce(&mut Seeded)) {
        if let Some(seeded) = SEEDED.0.take() {
            change(seeded);
            SEEDED.0.set(Some(seeded));
        }
    }
}
