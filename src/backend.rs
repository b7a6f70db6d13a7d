//! The generator of a backend: one per process, seeded at its first use.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::sync::atomic::AtomicU64;

use super::datum::{TimestampTz, Uuid};
use super::error::{Error, Fault};
use super::ordered::Ordered;
use super::time;
use ulid_core::{Generator, MonotonicError, RangeError, SeedError, Ulid, ordered, since_epoch, unix_ms};

/// The fault of a time that the system clock gave.
pub(super) fn clock<'call>(_: RangeError) -> Fault<'call> {
    Fault::Clock
}

pub(super) fn random<'call>() -> Result<u128, Error<'call>> {
    let unix_ms = unix_ms().map_err(clock)?;
    Ok(generator()?.random(unix_ms).map_err(clock)?.into())
}

pub(super) fn random_at<'call>(timestamp: TimestampTz) -> Result<Ulid, Error<'call>> {
    let unix_ms = time::unix_ms(timestamp)?;
    Ok(generator()?.random(unix_ms).map_err(|_| Fault::Timestamp)?)
}

pub(super) fn monotonic<'call>() -> Result<u128, Error<'call>> {
    let unix_ms = unix_ms().map_err(clock)?;
    Ok(generator()?.monotonic_number(unix_ms).map_err(|error| match error {
        MonotonicError::Exhausted => Fault::Exhausted,
        MonotonicError::Range(error) => clock(error),
    })?)
}

pub(super) fn ordered<'call>(shared: &AtomicU64) -> Result<Ordered, Error<'call>> {
    let now = since_epoch().and_then(ordered::clock).map_err(clock)?;
    let time = ordered::advance_at(shared, now).map_err(|_| Fault::OrderedTime)?;
    Ok(Ordered { id: generator()?.at_ordered_time(time), ahead: time - now })
}

pub(super) fn uuid_v7<'call>() -> Result<Uuid, Error<'call>> {
    let now = since_epoch().map_err(clock)?;
    Ok(Uuid(generator()?.uuid_v7(now).map_err(clock)?))
}

pub(super) fn uuid_v7_at<'call>(timestamp: TimestampTz) -> Result<Uuid, Error<'call>> {
    let since_epoch = time::since_epoch(timestamp)?;
    Ok(Uuid(generator()?.uuid_v7_at(since_epoch).map_err(|_| Fault::Timestamp)?))
}

/// A generator and the process that seeded it.
struct Seeded {
    pid: c_int,
    generator: Generator,
}

/// State that belongs to this process and is used only by its one thread.
struct BackendLocal(UnsafeCell<Option<Seeded>>);

// SAFETY: a backend has one thread that runs SQL functions.
unsafe impl Sync for BackendLocal {}

static SEEDED: BackendLocal = BackendLocal(UnsafeCell::new(None));

/// The generator of this process. If the library was preloaded into the postmaster, a generator inherited through a
/// fork is replaced: it would generate the same values in every backend.
fn generator() -> Result<&'static mut Generator, SeedError> {
    // SAFETY: MyProcPid is set before any SQL runs. Each exported function takes the reference once, and it is gone
    // before the function returns.
    unsafe {
        let pid = pgrx::pg_sys::MyProcPid;
        let state = SEEDED.0.get();
        match &mut *state {
            Some(seeded) if seeded.pid == pid => Ok(&mut seeded.generator),
            _ => seed(&mut *state, pid),
        }
    }
}

#[cold]
fn seed(state: &'static mut Option<Seeded>, pid: c_int) -> Result<&'static mut Generator, SeedError> {
    Ok(&mut state.insert(Seeded { pid, generator: Generator::from_os()? }).generator)
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
        // SAFETY: as in `generator`.
        if let Some(seeded) = unsafe { &mut *SEEDED.0.get() } {
            change(seeded);
        }
    }
}
