//! The functions that generate ids from the state of one backend: a random number generator, which
//! the operating system seeds at the first use, the last monotonic ULID, and the last version 7
//! UUID. Ordered ids are in [`crate::ordered`].
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::c_int;

use pg_ulid::{Generator, Time, Ulid};

use crate::datum::{TimestampTz, Uuid};
use crate::error::{self, Error};
use crate::functions;

/// `gen_ulid()`: a ULID of the millisecond of the system clock, with 80 fresh random bits.
pub(super) fn random() -> Result<Ulid, Error> {
    let now = now()?;
    with_generator(|generator| generator.random(now))
}

/// `gen_ulid(timestamptz)`: the same for the millisecond of a timestamp; an error if no ULID has
/// it.
pub(super) fn random_at(timestamp: TimestampTz) -> Result<Ulid, Error> {
    let time = functions::time_of_timestamp(timestamp)?;
    with_generator(|generator| generator.random(time))
}

/// `gen_monotonic_ulid()`: the ULID that follows the last one of this function in this backend, by
/// [`pg_ulid::monotonic::next`]. An error if the randomness of its millisecond is exhausted.
pub(super) fn monotonic() -> Result<Ulid, Error> {
    let now = now()?;
    with_generator(|generator| generator.monotonic(now))?.map_err(|_| error::randomness_exhausted())
}

/// `gen_uuid_v7()`: the version 7 UUID that follows the last one of this function in this backend,
/// by [`pg_ulid::uuid_v7::next`]. That fails only after the last time of all.
pub(super) fn uuid_v7() -> Result<Uuid, Error> {
    let now = now()?;
    let id = with_generator(|generator| generator.uuid_v7(now))?;
    id.map(Uuid).map_err(|_| error::system_clock_out_of_range())
}

/// `gen_uuid_v7(timestamptz)`: such a UUID of the time of a timestamp; an error if no ULID has it.
/// It neither depends on the last one nor becomes the last one.
pub(super) fn uuid_v7_at(timestamp: TimestampTz) -> Result<Uuid, Error> {
    let time = functions::time_of_timestamp(timestamp)?;
    with_generator(|generator| generator.uuid_v7_at(time)).map(Uuid)
}

/// What the system clock reads; an error before 1970, or after the last time that a ULID can have.
#[inline(always)]
pub(super) fn now() -> Result<Time, Error> {
    Time::now().map_err(|_| error::system_clock_out_of_range())
}

/// A generator, which has the last ids, too, and the MyProcPid of the process that seeded it.
struct Seeded {
    pid: c_int,
    generator: Generator,
}

/// The state of this process; `None` before the first use, while it is in use, and after a panic.
struct BackendLocal(Cell<Option<&'static mut Seeded>>);

// SAFETY: a backend has one thread that runs SQL functions.
unsafe impl Sync for BackendLocal {}

static SEEDED: BackendLocal = BackendLocal(Cell::new(None));

/// Calls a function with the generator of this process, which is seeded if there is none. After a
/// panic in the function, there is none.
///
/// A forked child has a copy of its parent's random number generator, and would repeat the parent's
/// ids. So a generator that was seeded under another MyProcPid is replaced. The postmaster runs no
/// SQL, but a preloaded library may call a generator there, and each child of the postmaster sets
/// MyProcPid.
pub(super) fn with_generator<T>(generate: impl FnOnce(&mut Generator) -> T) -> Result<T, Error> {
    // SAFETY: MyProcPid is set before any SQL runs.
    let pid = unsafe { pgrx::pg_sys::MyProcPid };
    let seeded = match SEEDED.0.take() {
        Some(seeded) if seeded.pid == pid => seeded,
        _ => seed(pid)?,
    };
    let result = generate(&mut seeded.generator);
    SEEDED.0.set(Some(seeded));
    Ok(result)
}

/// Seeds a generator for this process, which is never freed.
#[cold]
fn seed(pid: c_int) -> Result<&'static mut Seeded, Error> {
    let generator = Generator::from_os().map_err(|_| error::no_randomness())?;
    Ok(Box::leak(Box::new(Seeded { pid, generator })))
}

/// Changes of the state for the tests inside a backend.
#[cfg(feature = "pg_test")]
pub(super) mod test_support {
    use super::{SEEDED, Seeded, Ulid, c_int};

    /// Pretends that the process with this pid seeded the generator.
    pub(crate) fn set_process(pid: c_int) {
        change(|seeded| seeded.pid = pid);
    }

    /// Pretends that this was the last monotonic ULID.
    pub(crate) fn set_last(last: Ulid) {
        change(|seeded| seeded.generator.set_last(last));
    }

    /// Changes the state, if there is one.
    fn change(change: impl FnOnce(&mut Seeded)) {
        if let Some(seeded) = SEEDED.0.take() {
            change(seeded);
            SEEDED.0.set(Some(seeded));
        }
    }
}
