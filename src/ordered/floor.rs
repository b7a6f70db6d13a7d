//! The floor of the ids of a database: the sequence `ulid_clock`, which outlives the shared memory.
//!
//! `ulid_publish()` sets the sequence to each horizon before it publishes it. The WAL record of the
//! sequence precedes that of the row, so a server that has the row has the sequence, too. A process
//! reads the sequence before its first ordered id, and moves the id clock to it. So after a
//! restart, a crash or a promotion, no id is less than a published horizon, whatever the clock
//! says.
//!
//! While the server runs, the id clock has reached each horizon that is computed from it, so a
//! process reads the sequence only once.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use pg_ulid::{Time, Ulid};
use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{IntoDatum, direct_function_call};

use super::shmem;
use crate::fmgr::Fcinfo;

/// The sequence that was read last. Zero stands for none.
static SEQUENCE: AtomicU32 = AtomicU32::new(0);

/// The number of times that this sequence may have changed in the catalog, plus 1.
static CHANGES: AtomicU64 = AtomicU64::new(1);

/// That number when the sequence was read last.
static READ: AtomicU64 = AtomicU64::new(0);

/// Moves the id clock to the sequence of the function's extension, unless this process has done so.
/// Call it before the entry of a transaction is opened.
pub(super) fn apply(fcinfo: Fcinfo) {
    if READ.load(Ordering::Relaxed) != CHANGES.load(Ordering::Relaxed) {
        read(fcinfo);
    }
}

#[cold]
fn read(fcinfo: Fcinfo) {
    // SAFETY: a backend may call this.
    if unsafe { pg_sys::RecoveryInProgress() } {
        // What a standby generates is never stored, and replay still advances its sequence. So it
        // is read after the promotion.
        return;
    }
    // SAFETY: PostgreSQL makes the call, with the FmgrInfo of the function.
    let sequence = unsafe {
        let schema = pg_sys::get_func_namespace((*(*fcinfo.as_ptr()).flinfo).fn_oid);
        pg_sys::get_relname_relid(c"ulid_clock".as_ptr(), schema)
    };
    if sequence == Oid::INVALID {
        return;
    }
    // Once, as a process has few slots for such callbacks.
    if SEQUENCE.load(Ordering::Relaxed) == 0 {
        // SAFETY: a library is never unloaded, so its callback stays valid.
        unsafe {
            pg_sys::CacheRegisterRelcacheCallback(Some(relcache_callback), Datum::null());
        }
    }
    // Before the sequence is read, so that a change meanwhile is noticed.
    SEQUENCE.store(sequence.to_u32(), Ordering::Relaxed);
    let changes = CHANGES.load(Ordering::Relaxed);
    // The sequence has a maximum, which is that of the 48 bits.
    let time = last_value(sequence).map(|ms| Time::from_unix_ms(ms.cast_unsigned()));
    if let Some(Ok(time)) = time {
        shmem::id_clock().advance_past(Ulid::lower_bound(time));
    }
    READ.store(changes, Ordering::Relaxed);
}

/// The last value of the sequence, in milliseconds since the Unix epoch. It is read with the rights
/// of the bootstrap superuser: whoever may generate ids need not have rights on the sequence.
fn last_value(sequence: Oid) -> Option<i64> {
    let (mut user, mut context) = (Oid::INVALID, 0);
    // SAFETY: the function takes a regclass and returns a bigint or null. If it raises an ERROR,
    // the end of the (sub)transaction restores the user.
    unsafe {
        pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
        pg_sys::SetUserIdAndSecContext(
            Oid::from(pg_sys::BOOTSTRAP_SUPERUSERID),
            context | pg_sys::SECURITY_LOCAL_USERID_CHANGE as i32,
        );
        let value = direct_function_call(pg_sys::pg_sequence_last_value, &[sequence.into_datum()]);
        pg_sys::SetUserIdAndSecContext(user, context);
        value
    }
}

/// Lets the sequence be read again if it was dropped, and the extension may be created again.
///
/// # Safety
/// PostgreSQL calls this. It calls nothing that can fail.
unsafe extern "C-unwind" fn relcache_callback(_argument: Datum, relation: Oid) {
    if relation == Oid::INVALID || relation.to_u32() == SEQUENCE.load(Ordering::Relaxed) {
        CHANGES.fetch_add(1, Ordering::Relaxed);
    }
}
