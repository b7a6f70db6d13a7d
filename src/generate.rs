//! The functions that generate ids from the state of one backend. Its generator is seeded at the
//! first use. Ordered ids are in [`crate::ordered`].
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::c_int;

use pg_ulid::{Generator, Time, Ulid};

use crate::datum::{TimestampTz, Uuid};
use crate::error::{self, Error};
use crate::functions;

pub(super) fn random() -> Result<Ulid, Error> {
    let now = now()?;
    with_generator(|generator| generator.random(now))
}

pub(super) fn random_at(timestamp: TimestampTz) -> Result<Ulid, Error> {
    let time = functions::time_of_timestamp(timestamp)?;
    with_generator(|generator| generator.random(time))
}

pub(super) fn monotonic() -> Result<Ulid, Error> {
    let now = now()?;
    with_generator(|generator| generator.monotonic(now))?.map_err(|_| error::randomness_exhausted())
}

pub(super) fn uuid_v7() -> Result<Uuid, Error> {
    let now = now()?;
    let id = with_generator(|generator| generator.uuid_v7(now))?;
    id.map(Uuid).map_err(|_| error::system_clock_out_of_range())
}

pub(super) fn uuid_v7_at(timestamp: TimestampTz) -> Result<Uuid, Error> {
    let time = functions::time_of_timestamp(timestamp)?;
    with_generator(|generator| generator.uuid_v7_at(time)).map(Uuid)
}

/// What the system clock reads.
#[inline(always)]
pub(super) fn now() -> Result<Time, Error> {
    Time::now().map_err(|_| error::system_clock_out_of_range())
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

/// Calls a function with the generator of this process. A panic in it loses the generator, and the
/// next call seeds a new one.
///
/// A forked child has its parent's random number generator and would repeat the parent's ids. So
/// MyProcPid is compared, and the generator of another process is replaced. The postmaster runs no
/// SQL, but another library may fork a backend.
pub(super) fn with_generator<T>(generate: impl FnOnce(&mut Generator) -> T) -> Result<T, Error> {
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
fn seed(pid: c_int) -> Result<&'static mut Seeded, Error> {
    let generator = Generator::from_os().map_err(|_| error::no_randomness())?;
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
