//! The horizon of ordered ids: when transactions end, and which of them a snapshot sees.
//!
//! An XactCallback runs after ProcArrayEndTransaction, on FATAL too. After a crash, the postmaster
//! reinitializes shared memory.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::slice::from_raw_parts;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use pg_ulid::Ulid;
use pg_ulid::ordered::{
    self,
    horizon::{Running, Snapshot, with_epoch},
};
use pgrx::pg_sys::{
    self, ExprDoneCond, MyDatabaseId, MyProcPid, NodeTag, ParallelWorkerNumber, SnapshotType,
    TransactionId, XactEvent,
};

use super::{clock, shmem, timestamp};
use crate::datum::TimestampTz;
use crate::error::{self, Error};

/// The last time; null as long as the current transaction has generated no ordered id.
static LAST_TIME: AtomicPtr<AtomicU64> = AtomicPtr::new(null_mut());

thread_local! {
    /// The entry of the current transaction; none if it has generated no ordered id, or the process
    /// has no slot.
    static RUNNING: Cell<Option<Running<'static>>> = const { Cell::new(None) };
}

/// The last time, if the current transaction has its entry.
pub(crate) fn last_time_in_transaction() -> Option<&'static AtomicU64> {
    // SAFETY: it is attached, which lasts as long as the process.
    unsafe { LAST_TIME.load(Ordering::Relaxed).as_ref() }
}

/// The time from which the current transaction holds the horizon; none if it has generated no
/// ordered id. It is zero if the process has no slot: then there is no horizon at all.
pub(super) fn since_of_transaction() -> Option<u64> {
    last_time_in_transaction()?;
    Some(RUNNING.get().map_or(0, |running| running.since()))
}

/// Opens the entry of the current transaction, and returns the last time.
#[cold]
pub(crate) fn open() -> Result<&'static AtomicU64, Error> {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    // SAFETY: they are set in every process that runs SQL.
    let (worker, pid, database) = unsafe { (ParallelWorkerNumber, MyProcPid, MyDatabaseId) };
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
    let running = shared.and_then(|shared| {
        let (pid, database) = (pid as u64, database.to_u32().into());
        shared.open(process, pid, database, clock, is_in_progress)
    });
    if running.is_none() {
        shmem::stop_tracking();
    }
    RUNNING.set(running);
    let last_time = shmem::last_time();
    LAST_TIME.store(std::ptr::from_ref(last_time).cast_mut(), Ordering::Relaxed);
    Ok(last_time)
}

/// Closes the entry of the current transaction after it has ended or has been prepared.
///
/// Not guarded, and calls nothing that can fail: an ERROR in XACT_EVENT_COMMIT would be a PANIC,
/// and one in XACT_EVENT_PREPARE would abort a transaction that has been prepared.
///
/// # Safety
/// PostgreSQL calls this.
unsafe extern "C-unwind" fn xact_callback(event: XactEvent::Type, _argument: *mut c_void) {
    let end = match event {
        XactEvent::XACT_EVENT_COMMIT => Running::end,
        XactEvent::XACT_EVENT_ABORT => |running: &Running, _| running.end(0),
        XactEvent::XACT_EVENT_PREPARE => Running::prepare,
        _ => return,
    };
    LAST_TIME.store(null_mut(), Ordering::Relaxed);
    if let Some(running) = RUNNING.take() {
        // SAFETY: the xid of the transaction is still set.
        end(&running, unsafe {
            pg_sys::GetTopFullTransactionIdIfAny().value
        });
    }
}

/// The horizon of the active snapshot, or of the next one if there is none, in the current
/// database. It is zero where nothing can be proven.
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
/// The snapshot stays as long as the call.
unsafe fn horizon_of(snapshot: pg_sys::Snapshot) -> Result<u64, Error> {
    // SAFETY: the contract is that of this function; a process that runs SQL has these numbers.
    let (snapshot, in_recovery, worker, database) = unsafe {
        let in_recovery = pg_sys::RecoveryInProgress();
        (&*snapshot, in_recovery, ParallelWorkerNumber, MyDatabaseId)
    };
    if in_recovery {
        return Err(error::recovery());
    }
    if worker >= 0 {
        return Err(error::parallel_worker());
    }
    // Snapshots of other types, and from before a promotion, have their xids elsewhere.
    if snapshot.snapshot_type != SnapshotType::SNAPSHOT_MVCC || snapshot.takenDuringRecovery {
        return Ok(0);
    }
    let shared = shmem::shared().ok_or_else(|| error::other_layout())?;
    // SAFETY: the array has as many xids; a backend may ask for the next one.
    let (xip, next) = unsafe {
        let xip = match snapshot.xcnt {
            0 => &[],
            count => from_raw_parts(snapshot.xip.cast::<u32>(), count as usize),
        };
        (xip, pg_sys::ReadNextFullTransactionId().value)
    };
    let (xmin, xmax) = (snapshot.xmin.into_inner(), snapshot.xmax.into_inner());
    let snapshot = Snapshot::new(xmin, xmax, xip, next);
    let database = database.to_u32();
    let is_running = |xid| snapshot.is_running(xid);
    let horizon = shared.horizon(database.into(), clock()?, is_running);
    let horizon = horizon.map_err(|_| error::ordered_time())?;
    // Asked after the slots have been read.
    if !shmem::is_tracked() {
        return Err(error::other_layout());
    }
    let first = shared.first().ok_or_else(|| error::recovery())?;
    let has_entry = |xid| may_have_entry(xid, database);
    Ok(if snapshot.running_before(first).all(has_entry) {
        horizon
    } else {
        0
    })
}

/// Whether a transaction from before the order began on this server has an entry if it has
/// generated ids for this database.
///
/// It has one if a process runs it. One that was prepared before a restart or a promotion may have
/// generated any ids for its own database. Another one that is not running any more may have been
/// prepared, too, and has ended since the snapshot was taken.
fn may_have_entry(xid: u32, database: u32) -> bool {
    // SAFETY: any number will do.
    if unsafe { pg_sys::BackendXidGetPid(TransactionId::from_inner(xid)) } != 0 {
        return true;
    }
    // None is prepared later that is older than the order. So one list is enough.
    static PREPARED: OnceLock<Vec<(u32, u32)>> = OnceLock::new();
    let mut prepared = PREPARED.get_or_init(list_prepared).iter();
    prepared.any(|&(prepared, of)| prepared == xid && of != database)
}

/// The xid and the database of each prepared transaction, from the function of `pg_prepared_xacts`:
/// twophase.c exports nothing else that has the database.
fn list_prepared() -> Vec<(u32, u32)> {
    let mut prepared = Vec::new();
    // SAFETY: this is how the executor calls a function that returns one row per call: its state is
    // in `flinfo`, and its end in the expression context. The row is a transaction, gid, prepared,
    // ownerid and dbid, none of which is null.
    unsafe {
        let mut flinfo = pg_sys::FmgrInfo {
            fn_mcxt: pg_sys::CurrentMemoryContext,
            ..Default::default()
        };
        let mut result = pg_sys::ReturnSetInfo {
            type_: NodeTag::T_ReturnSetInfo,
            econtext: pg_sys::CreateStandaloneExprContext(),
            ..Default::default()
        };
        let mut call = pg_sys::FunctionCallInfoBaseData {
            flinfo: &mut flinfo,
            resultinfo: (&raw mut result).cast(),
            ..Default::default()
        };
        loop {
            let row = pg_sys::pg_prepared_xact(&mut call);
            if result.isDone == ExprDoneCond::ExprEndResult {
                break;
            }
            let number = |column| {
                let mut is_null = false;
                pg_sys::GetAttributeByNum(row.cast_mut_ptr(), column, &mut is_null).value() as u32
            };
            prepared.push((number(1), number(5)));
        }
        pg_sys::FreeExprContext(result.econtext, true);
    }
    prepared
}

/// The horizon for a consumer that has read the rows up to this position.
pub(crate) fn horizon_after(position: Option<Ulid>) -> Result<Ulid, Error> {
    let position = position.ok_or_else(|| error::null_position())?;
    let horizon = horizon()?;
    let last_time = shmem::last_time();
    let mut time = last_time.load(Ordering::Relaxed);
    // The snapshot may have been asked before, so that the order has not advanced to the clock.
    if !ordered::reaches(time, position) {
        time = ordered::advance(last_time, clock()?).map_err(|_| error::ordered_time())?;
    }
    if ordered::reaches(time, position) {
        Ok(horizon)
    } else {
        Err(error::ahead_of_order(position, timestamp(time)))
    }
}

/// The time from which the running transaction of a process holds the horizon of its database; null
/// if it does not.
pub(crate) fn since_of_process(pid: i32) -> Option<TimestampTz> {
    let since = shmem::shared()?.since_of_process(pid as u64);
    since.map(timestamp)
}

/// The time from which a prepared transaction holds the horizon of its database; null if it does
/// not. One from before the order began on this server may have generated any ids.
pub(crate) fn since_of_prepared(xid: TransactionId) -> Option<TimestampTz> {
    let shared = shmem::shared()?;
    // SAFETY: any number will do.
    let (next, process) = unsafe {
        (
            pg_sys::ReadNextFullTransactionId().value,
            pg_sys::BackendXidGetPid(xid),
        )
    };
    let full_xid = with_epoch(xid.into_inner(), next);
    if process != 0 || !is_in_progress(full_xid) {
        return None;
    }
    let is_earlier = shared.first().is_none_or(|first| full_xid < first);
    let since = shared.since_of_prepared(full_xid);
    since.or(is_earlier.then_some(0)).map(timestamp)
}

/// Lets ordered ids continue from the clock.
pub(crate) fn reset() {
    if let Some(shared) = shmem::shared() {
        return shared.reset();
    }
    // What another layout knows of running transactions would be later than their next ids.
    shmem::stop_tracking();
    shmem::last_time().store(0, Ordering::Relaxed);
}

/// Whether a transaction, prepared or not, is running. Without its epoch, PostgreSQL takes an xid
/// that is older than 2^31 transactions for one in the future, which is running.
fn is_in_progress(xid: u64) -> bool {
    // SAFETY: any number will do.
    unsafe {
        pg_sys::ReadNextFullTransactionId()
            .value
            .saturating_sub(xid)
            <= 1 << 31
            && pg_sys::TransactionIdIsInProgress(TransactionId::from_inner(xid as u32))
    }
}
