//! The horizon of ordered ids: which transactions a snapshot of the server sees, and when they end.
//!
//! PostgreSQL tells that a transaction has ended after it has ended it for snapshots, also where a
//! process is terminated. One that dies otherwise takes the memory with it.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use pg_ulid::ordered::horizon::Entry;
use pg_ulid::{Ulid, ordered, since_epoch};
use pgrx::pg_sys::{
    MyProcPid, ParallelWorkerNumber, Snapshot, SnapshotData, SnapshotType, TransactionId, XactEvent,
};

use super::datum::TimestampTz;
use super::frame::Plain;
use super::report::{Error, Fault};
use super::shared;
use crate::{generate, server};

/// The entry of the present transaction; null if it has made no ordered id.
static ENTRY: AtomicPtr<Entry> = AtomicPtr::new(null_mut());

/// The last time; null as long as there is no entry.
static LAST_TIME: AtomicPtr<AtomicU64> = AtomicPtr::new(null_mut());

/// The last time, for the next ordered id, once the present transaction has its entry.
#[inline(always)]
pub(crate) fn in_transaction(plain: Plain) -> &'static AtomicU64 {
    // SAFETY: it is attached, which lasts as long as the process.
    unsafe { LAST_TIME.load(Ordering::Relaxed).as_ref() }.unwrap_or_else(|| open(plain))
}

#[cold]
fn open(plain: Plain) -> &'static AtomicU64 {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    /// That of all transactions if this process has no slot. Nobody reads it.
    static UNSEEN: LazyLock<Entry> = LazyLock::new(Entry::default);
    // SAFETY: a process that runs SQL has these numbers, and the library stays loaded as long as
    // its callback.
    unsafe {
        if ParallelWorkerNumber >= 0 {
            // Its ids would belong to a transaction that ends later than the worker does.
            Error::from(Fault::ParallelWorker).raise(plain);
        }
        #[cfg(any(feature = "pg15", feature = "pg16"))]
        let process = pgrx::pg_sys::MyBackendId as usize - 1;
        #[cfg(not(any(feature = "pg15", feature = "pg16")))]
        let process = pgrx::pg_sys::MyProcNumber as usize;
        let order = shared::order(plain);
        if !REGISTERED.load(Ordering::Relaxed) {
            server::RegisterXactCallback(Some(follow_transaction), null_mut());
            REGISTERED.store(true, Ordering::Relaxed);
        }
        let clock = since_epoch()
            .and_then(ordered::clock)
            .unwrap_or_else(|_| Error::from(Fault::Clock).raise(plain));
        let entry = match order.and_then(|(order, _)| Some((order, order.processes.get(process)?)))
        {
            Some((order, slot)) => slot.open(MyProcPid as u64, order.last_time, clock),
            None => {
                shared::give_up(plain);
                &UNSEEN
            }
        };
        ENTRY.store(std::ptr::from_ref(entry).cast_mut(), Ordering::Relaxed);
        let last_time = shared::last_time(plain);
        LAST_TIME.store(std::ptr::from_ref(last_time).cast_mut(), Ordering::Relaxed);
        last_time
    }
}

/// Closes the entry of the present transaction when the server has ended it, or copies it before it
/// is prepared.
///
/// # Safety
/// PostgreSQL calls this.
unsafe extern "C-unwind" fn follow_transaction(event: XactEvent::Type, _argument: *mut c_void) {
    // SAFETY: an entry lasts as long as the process, its transaction has its number, and PostgreSQL
    // has called this.
    unsafe {
        let plain = Plain::new();
        let Some(entry) = ENTRY.load(Ordering::Relaxed).as_ref() else {
            return;
        };
        entry.close(match event {
            XactEvent::XACT_EVENT_COMMIT => server::GetTopFullTransactionIdIfAny().value,
            XactEvent::XACT_EVENT_ABORT | XactEvent::XACT_EVENT_PREPARE => 0,
            XactEvent::XACT_EVENT_PRE_PREPARE => {
                if let Some((order, _)) = shared::order(plain) {
                    order.prepare(
                        server::GetTopFullTransactionIdIfAny().value,
                        entry,
                        |last| is_in_progress(last, plain),
                    );
                }
                return;
            }
            _ => return,
        });
        ENTRY.store(null_mut(), Ordering::Relaxed);
        LAST_TIME.store(null_mut(), Ordering::Relaxed);
    }
}

/// The horizon of the active snapshot, or of the next one if there is none. It is zero where
/// nothing can be proven.
///
/// Asked again a moment later, it may be greater, since the clock has gone on or a transaction has
/// ended without rows: a scan that asked for each row would leave out one and return a later one.
/// So the snapshot keeps it, in a field that PostgreSQL uses in the snapshots that it takes, and
/// sets to zero in each copy, which an active snapshot always is. Only a volatile function has a
/// snapshot of its own for each call.
pub(crate) fn ordered_horizon(plain: Plain) -> Ulid {
    // SAFETY: the snapshot stays as long as the call, and nobody reads this field of one that is
    // copied.
    unsafe {
        let is_active = server::ActiveSnapshotSet();
        let snapshot = if is_active {
            server::GetActiveSnapshot()
        } else {
            server::GetTransactionSnapshot()
        };
        let (is_copy, kept) = (
            (*snapshot).copied,
            &raw mut (*snapshot).snapXactCompletionCount,
        );
        if is_copy && *kept != 0 {
            return ordered::lower_bound(*kept);
        }
        let horizon =
            horizon_of(snapshot, plain).unwrap_or_else(|fault| Error::from(fault).raise(plain));
        if is_copy {
            // Not zero, which stands for none; the fraction of the millisecond does not matter.
            *kept = horizon | 1;
        }
        ordered::lower_bound(horizon)
    }
}

/// # Safety
/// The snapshot is active, or that of the transaction, so the server still knows of which
/// transaction a subtransaction of it is.
unsafe fn horizon_of<'call>(snapshot: Snapshot, plain: Plain) -> Result<u64, Fault<'call>> {
    // SAFETY: what is asked about the snapshot is in it, or known as long as it is active.
    unsafe {
        if server::RecoveryInProgress() {
            return Err(Fault::Recovery);
        }
        if ParallelWorkerNumber >= 0 {
            return Err(Fault::ParallelWorker);
        }
        let (order, first) = shared::order(plain).ok_or(Fault::OtherLayout)?;
        let clock = since_epoch()
            .and_then(ordered::clock)
            .map_err(|_| Fault::Clock)?;
        let next = server::ReadNextFullTransactionId().value;
        let is_running = |transaction: u64| {
            is_recent(transaction, next) && server::XidInMVCCSnapshot(short(transaction), snapshot)
        };
        let horizon = order
            .horizon(clock, is_running)
            .map_err(|_| Fault::OrderedTime)?;
        if !shared::is_whole(order) {
            return Err(Fault::OtherLayout);
        }
        // No snapshot has a transaction from before one that is so old.
        let first = Some(first).filter(|&first| is_recent(first, next));
        Ok(if has_entries(&*snapshot, first, plain) {
            horizon
        } else {
            0
        })
    }
}

/// Whether all transactions that the snapshot takes for running have an entry if they have made
/// ids. Those from before the order was there have one if a process runs them; one that was
/// prepared, or has ended since, may have none.
fn has_entries(snapshot: &SnapshotData, first: Option<u64>, _: Plain) -> bool {
    let is_known = |index| {
        // SAFETY: the snapshot has as many transactions.
        let transaction = unsafe { *snapshot.xip.add(index as usize) };
        let is_earlier = first
            .is_some_and(|first| (transaction.into_inner().wrapping_sub(first as u32) as i32) < 0);
        // SAFETY: any number will do.
        !is_earlier || unsafe { server::BackendXidGetPid(transaction) } != 0
    };
    // Other snapshots have their transactions elsewhere.
    snapshot.snapshot_type == SnapshotType::SNAPSHOT_MVCC
        && !snapshot.takenDuringRecovery
        && (0..snapshot.xcnt).all(is_known)
}

/// The time from which the running transaction of a process holds the horizon; null if it does not.
pub(crate) fn since_of_process(pid: i32, plain: Plain) -> Option<TimestampTz> {
    let (order, _) = shared::order(plain)?;
    order.since_of_process(pid as u64).map(generate::timestamp)
}

/// The time from which a prepared transaction holds the horizon; null if it does not. One from
/// before the order was there may have made any ids.
pub(crate) fn since_of_prepared(transaction: TransactionId, plain: Plain) -> Option<TimestampTz> {
    let (order, first) = shared::order(plain)?;
    // SAFETY: any number will do.
    let (next, process) = unsafe {
        (
            server::ReadNextFullTransactionId().value,
            server::BackendXidGetPid(transaction),
        )
    };
    let age = (next as u32).wrapping_sub(transaction.into_inner());
    let number = next.wrapping_sub(age.into());
    if process != 0 || !is_in_progress(number, plain) {
        return None;
    }
    order
        .since_of_prepared(number)
        .or((number < first).then_some(0))
        .map(generate::timestamp)
}

/// Lets ordered ids continue from the clock.
pub(crate) fn reset(plain: Plain) {
    if let Some((order, _)) = shared::order(plain) {
        return order.reset();
    }
    // What another layout knows of running transactions would be later than their next ids.
    shared::give_up(plain);
    shared::last_time(plain).store(0, Ordering::Relaxed);
}

/// Whether a transaction, prepared or not, is running.
fn is_in_progress(transaction: u64, _: Plain) -> bool {
    // SAFETY: any number will do.
    unsafe {
        server::TransactionIdIsInProgress(short(transaction))
            && is_recent(transaction, server::ReadNextFullTransactionId().value)
    }
}

/// Whether the server can take the short number for this transaction. It takes that of one that is
/// older for one in the future, which it says is running.
fn is_recent(transaction: u64, next: u64) -> bool {
    next.saturating_sub(transaction) <= 1 << 31
}

fn short(transaction: u64) -> TransactionId {
    TransactionId::from_inner(transaction as u32)
}
