//! The floor of the ids of a database: the sequence `ulid_clock`, which outlives the shared memory.
//!
//! `ulid_publish()` sets the sequence to each horizon before it publishes it. The WAL record of the
//! sequence precedes that of the row, so a server that has the row has the sequence, too. A process
//! reads the sequence before its first ordered id, and moves the id clock to it. So after a
//! restart, a crash or a promotion, no id is less than a published horizon, whatever the clock
//! says.
//!
//! While the server runs, the id clock has reached each horizon that is computed from it. So a
//! process reads the sequence once, and again only after a relcache invalidation of it, such as
//! that of DROP.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use pg_ulid::{Time, Ulid};
use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{IntoDatum, direct_function_call};

use super::shmem;
use crate::fmgr::Fcinfo;

/// The OID of the sequence that was read last. Zero stands for none.
static SEQUENCE_OID: AtomicU32 = AtomicU32::new(0);

/// The number of relcache invalidations of this sequence, plus 1.
static CHANGES: AtomicU64 = AtomicU64::new(1);

/// [`CHANGES`] when the sequence was read last; zero before.
static CHANGES_AT_READ: AtomicU64 = AtomicU64::new(0);

/// Moves the id clock to the sequence in the schema of the function that is called, which is that
/// of its extension, unless this process has done so. Call it before the entry of a transaction is
/// opened.
pub(super) fn apply(fcinfo: Fcinfo) {
    if CHANGES_AT_READ.load(Ordering::Relaxed) != CHANGES.load(Ordering::Relaxed) {
        read_sequence(fcinfo);
    }
}

#[cold]
fn read_sequence(fcinfo: Fcinfo) {
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
    if SEQUENCE_OID.load(Ordering::Relaxed) == 0 {
        // SAFETY: a library is never unloaded, so its callback stays valid.
        unsafe {
            pg_sys::CacheRegisterRelcacheCallback(Some(relcache_callback), Datum::null());
        }
    }
    // Before the sequence is read, so that a change meanwhile is noticed.
    SEQUENCE_OID.store(sequence.to_u32(), Ordering::Relaxed);
    let changes = CHANGES.load(Ordering::Relaxed);
    // The sequence has a maximum, which is that of the 48 bits. Ids continue after the millisecond.
    let time = last_value(sequence).map(|ms| Time::from_unix_ms(ms.cast_unsigned()));
    if let Some(Ok(time)) = time {
        shmem::id_clock().advance_past(Ulid::lower_bound(time));
    }
    CHANGES_AT_READ.store(changes, Ordering::Relaxed);
}

/// The last value of the sequence, in milliseconds since the Unix epoch; none if it was never set.
/// It is read with the rights of the bootstrap superuser: whoever may generate ids need not have
/// rights on the sequence.
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
    if relation == Oid::INVALID || relation.to_u32() == SEQUENCE_OID.load(Ordering::Relaxed) {
        CHANGES.fetch_add(1, Ordering::Relaxed);
    }
}
