//! The horizon of ordered ids: when transactions end, and which of them a snapshot sees.
//!
//! An XactCallback runs after ProcArrayEndTransaction, on FATAL too. After a crash, the postmaster
//! reinitializes shared memory.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use pg_ulid::Ulid;
use pg_ulid::ordered::{self, horizon::Entry};
use pgrx::pg_sys::{
    self, MyProcPid, ParallelWorkerNumber, Snapshot, SnapshotData, SnapshotType, TransactionId,
    XactEvent,
};

use super::{clock, shmem, timestamp};
use crate::datum::TimestampTz;
use crate::error::{self, Error};

/// The entry of the current transaction; null if it has generated no ordered id.
static ENTRY: AtomicPtr<Entry> = AtomicPtr::new(null_mut());

/// The last time; null as long as there is no entry.
static LAST_TIME: AtomicPtr<AtomicU64> = AtomicPtr::new(null_mut());

/// The last time, for the next ordered id, once the current transaction has its entry.
#[inline(always)]
pub(crate) fn last_time_in_transaction() -> Result<&'static AtomicU64, Error> {
    // SAFETY: it is attached, which lasts as long as the process.
    match unsafe { LAST_TIME.load(Ordering::Relaxed).as_ref() } {
        Some(last_time) => Ok(last_time),
        None => open(),
    }
}

#[cold]
fn open() -> Result<&'static AtomicU64, Error> {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    /// Used when this process has no slot; never read.
    static UNSEEN: LazyLock<Entry> = LazyLock::new(Entry::default);
    // SAFETY: they are set in every process that runs SQL.
    let (worker, pid) = unsafe { (ParallelWorkerNumber, MyProcPid) };
    if worker >= 0 {
        return Err(error::parallel_worker());
    }
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    // SAFETY: as above. It is at least 1.
    let process = unsafe { pg_sys::MyBackendId } as usize - 1;
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    // SAFETY: as above.
    let process = unsafe { pg_sys::MyProcNumber } as usize;
    let shared = shmem::shared();
    if !REGISTERED.load(Ordering::Relaxed) {
        // Not by pgrx, whose register_xact_callback() allocates a closure for each transaction.
        // SAFETY: a library is never unloaded, so its callback stays valid.
        unsafe { pg_sys::RegisterXactCallback(Some(xact_callback), null_mut()) };
        REGISTERED.store(true, Ordering::Relaxed);
    }
    let clock = clock()?;
    let slot = shared.and_then(|(shared, _)| shared.processes.get(process));
    let last_time = shmem::last_time();
    let entry = match slot {
        Some(slot) => slot.open(pid as u64, last_time, clock),
        None => {
            shmem::stop_tracking();
            &UNSEEN
        }
    };
    ENTRY.store(std::ptr::from_ref(entry).cast_mut(), Ordering::Relaxed);
    LAST_TIME.store(std::ptr::from_ref(last_time).cast_mut(), Ordering::Relaxed);
    Ok(last_time)
}

/// Closes the entry of the current transaction after it has ended, or copies the entry before the
/// transaction is prepared.
///
/// Not guarded: an ERROR in XACT_EVENT_COMMIT would be a PANIC, so nothing that can fail is called
/// here but [`prepare`], while an ERROR still aborts the transaction.
///
/// # Safety
/// PostgreSQL calls this.
unsafe extern "C-unwind" fn xact_callback(event: XactEvent::Type, _argument: *mut c_void) {
    // SAFETY: an entry lasts as long as the process. At COMMIT, the xid of the transaction is still
    // set.
    unsafe {
        let Some(entry) = ENTRY.load(Ordering::Relaxed).as_ref() else {
            return;
        };
        entry.close(match event {
            XactEvent::XACT_EVENT_COMMIT => pg_sys::GetTopFullTransactionIdIfAny().value,
            XactEvent::XACT_EVENT_ABORT | XactEvent::XACT_EVENT_PREPARE => 0,
            XactEvent::XACT_EVENT_PRE_PREPARE => return prepare(),
            _ => return,
        });
        ENTRY.store(null_mut(), Ordering::Relaxed);
        LAST_TIME.store(null_mut(), Ordering::Relaxed);
    }
}

/// Copies the entry of the current transaction to a slot of prepared transactions.
///
/// # Safety
/// The transaction has an entry, and PostgreSQL has called the caller.
#[pgrx::pg_guard]
unsafe extern "C-unwind" fn prepare() {
    if let Some((shared, _)) = shmem::shared() {
        // SAFETY: the transaction has an entry.
        let (xid, entry) = unsafe {
            (
                pg_sys::GetTopFullTransactionIdIfAny().value,
                &*ENTRY.load(Ordering::Relaxed),
            )
        };
        shared.prepare(xid, entry, is_in_progress);
    }
}

/// The horizon of the active snapshot, or of the next one if there is none. It is zero where
/// nothing can be proven.
///
/// Asked again a moment later, it may be greater: the clock has gone on, or a transaction has ended
/// without rows. A scan that asked for each row would then skip a row and return a later one. So it
/// is cached in snapXactCompletionCount: CopySnapshot() zeroes that field, and only
/// GetSnapshotDataReuse() reads it, for the static snapshots, which are no copies. A horizon is far
/// above any completion count, so even a wrong comparison would say "not the same".
///
/// A VOLATILE function has a snapshot of its own for each statement in it.
pub(crate) fn horizon() -> Result<Ulid, Error> {
    // SAFETY: the snapshot stays as long as the call. Nobody else reads the field of a copy.
    unsafe {
        let is_active = pg_sys::ActiveSnapshotSet();
        let snapshot = if is_active {
            pg_sys::GetActiveSnapshot()
        } else {
            pg_sys::GetTransactionSnapshot()
        };
        let is_copy = (*snapshot).copied;
        let cached = &raw mut (*snapshot).snapXactCompletionCount;
        if is_copy && *cached != 0 {
            return Ok(ordered::lower_bound(*cached));
        }
        let horizon = horizon_of(snapshot)?;
        if is_copy {
            // Zero stands for none. The fraction of the millisecond does not matter.
            *cached = horizon | 1;
        }
        Ok(ordered::lower_bound(horizon))
    }
}

/// # Safety
/// The snapshot is active, or that of the transaction, so pg_subtrans still has the parents of its
/// subtransactions.
unsafe fn horizon_of(snapshot: Snapshot) -> Result<u64, Error> {
    // SAFETY: the contract is that of this function; a process that runs SQL has these numbers.
    unsafe {
        if pg_sys::RecoveryInProgress() {
            return Err(error::recovery());
        }
        if ParallelWorkerNumber >= 0 {
            return Err(error::parallel_worker());
        }
        let (shared, first) = shmem::shared().ok_or_else(|| error::other_layout())?;
        let next = pg_sys::ReadNextFullTransactionId().value;
        let is_running = |xid: u64| {
            is_recent(xid, next) && pg_sys::XidInMVCCSnapshot(without_epoch(xid), snapshot)
        };
        let horizon = shared.horizon(clock()?, is_running);
        let horizon = horizon.map_err(|_| error::ordered_time())?;
        if !shmem::is_tracked() {
            return Err(error::other_layout());
        }
        // If `first` is so old, no snapshot has a transaction from before it.
        let first = Some(first).filter(|&first| is_recent(first, next));
        Ok(if has_entries(&*snapshot, first) {
            horizon
        } else {
            0
        })
    }
}

/// Whether each transaction that the snapshot sees as running has an entry if it has generated ids.
///
/// One from before the memory was there has an entry if a process runs it. One that was prepared,
/// or has ended since, may have none.
fn has_entries(snapshot: &SnapshotData, first: Option<u64>) -> bool {
    // Other types of snapshots keep their transactions elsewhere.
    if snapshot.snapshot_type != SnapshotType::SNAPSHOT_MVCC || snapshot.takenDuringRecovery {
        return false;
    }
    (0..snapshot.xcnt).all(|index| {
        // SAFETY: the array has as many xids.
        let xid = unsafe { *snapshot.xip.add(index as usize) };
        let is_earlier =
            first.is_some_and(|first| (xid.into_inner().wrapping_sub(first as u32) as i32) < 0);
        // SAFETY: any number will do.
        !is_earlier || unsafe { pg_sys::BackendXidGetPid(xid) } != 0
    })
}

/// The time from which the running transaction of a process holds the horizon; null if it does not.
pub(crate) fn since_of_process(pid: i32) -> Option<TimestampTz> {
    let (shared, _) = shmem::shared()?;
    shared.since_of_process(pid as u64).map(timestamp)
}

/// The time from which a prepared transaction holds the horizon; null if it does not. One from
/// before the memory was there may have generated any ids.
pub(crate) fn since_of_prepared(xid: TransactionId) -> Option<TimestampTz> {
    let (shared, first) = shmem::shared()?;
    // SAFETY: any number will do.
    let (next, process) = unsafe {
        (
            pg_sys::ReadNextFullTransactionId().value,
            pg_sys::BackendXidGetPid(xid),
        )
    };
    let age = (next as u32).wrapping_sub(xid.into_inner());
    let full_xid = next.wrapping_sub(age.into());
    if process != 0 || !is_in_progress(full_xid) {
        return None;
    }
    let since = shared.since_of_prepared(full_xid);
    since.or((full_xid < first).then_some(0)).map(timestamp)
}

/// Lets ordered ids continue from the clock.
pub(crate) fn reset() {
    if let Some((shared, _)) = shmem::shared() {
        return shared.reset();
    }
    // What another layout knows of running transactions would be later than their next ids.
    shmem::stop_tracking();
    shmem::last_time().store(0, Ordering::Relaxed);
}

/// Whether a transaction, prepared or not, is running.
fn is_in_progress(xid: u64) -> bool {
    // SAFETY: any number will do.
    unsafe {
        pg_sys::TransactionIdIsInProgress(without_epoch(xid))
            && is_recent(xid, pg_sys::ReadNextFullTransactionId().value)
    }
}

/// Whether PostgreSQL can compare the xid without its epoch. It takes that of an older transaction
/// for one in the future, which is running.
fn is_recent(xid: u64, next: u64) -> bool {
    next.saturating_sub(xid) <= 1 << 31
}

fn without_epoch(xid: u64) -> TransactionId {
    TransactionId::from_inner(xid as u32)
}
