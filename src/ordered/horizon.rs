//! The horizon of ordered ids: when transactions end, and which of them a snapshot sees.
//!
//! The XactCallbacks of XACT_EVENT_COMMIT and XACT_EVENT_ABORT run after
//! ProcArrayEndTransaction(). When a backend exits, also by FATAL, ShutdownPostgres() aborts the
//! transaction. It is a before_shmem_exit callback, so our callback runs before
//! dsm_backend_shutdown() detaches the segment. After a crash, the postmaster reinitializes shared
//! memory.
#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::slice::from_raw_parts;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use pg_ulid::extension::has_reached;
use pg_ulid::extension::horizon::{OpenEntry, SnapshotXids, UNKNOWN, to_full_xid};
use pg_ulid::ordered::{self, IdClock};
use pg_ulid::{Time, Ulid};
use pgrx::pg_sys::{
    self, ExprDoneCond, MyDatabaseId, MyProcPid, NodeTag, ParallelWorkerNumber, SnapshotType,
    TransactionId, XactEvent,
};

use super::{DAY, floor, now, shmem, to_timestamptz};
use crate::datum::TimestampTz;
use crate::error::{self, Error};
use crate::fmgr::Fcinfo;

/// The id clock, if the current transaction has opened its entry; otherwise null. So each id after
/// the first one needs only this load.
static ID_CLOCK: AtomicPtr<IdClock> = AtomicPtr::new(null_mut());

thread_local! {
    /// The entry of the current transaction; none before its first ordered id, or if none could be
    /// opened.
    static OPEN_ENTRY: Cell<Option<OpenEntry<'static>>> = const { Cell::new(None) };

    /// In place of the bound of an entry, if none could be opened: all ids of the current
    /// transaction have later times. Of an earlier transaction while `ID_CLOCK` is null.
    static BOUND_WITHOUT_ENTRY: Cell<Time> = const { Cell::new(UNKNOWN) };
}

/// The id clock, for an id of the current transaction, which opens its entry before its first id.
/// `fcinfo` is that of the function that generates the id.
#[inline(always)]
pub(super) fn id_clock_for_id(fcinfo: Fcinfo) -> Result<&'static IdClock, Error> {
    match id_clock_of_open_entry() {
        Some(id_clock) => Ok(id_clock),
        None => track_transaction(fcinfo),
    }
}

/// The id clock, if the current transaction has opened its entry.
#[inline(always)]
fn id_clock_of_open_entry() -> Option<&'static IdClock> {
    // SAFETY: the memory is attached, which lasts as long as the process.
    unsafe { ID_CLOCK.load(Ordering::Relaxed).as_ref() }
}

/// A time that is before those of all ids of the current transaction, and that no consumer passes
/// until it ends. None if it has generated no id; [`UNKNOWN`] after a reset.
pub(super) fn bound_of_transaction() -> Option<Time> {
    id_clock_of_open_entry()?;
    Some(
        OPEN_ENTRY
            .get()
            .map_or(BOUND_WITHOUT_ENTRY.get(), |entry| entry.bound()),
    )
}

/// Opens the entry of the current transaction, and returns the id clock. If it cannot, since there
/// is no shared memory of this library's layout, it stops tracking transactions in the whole
/// server. An error in a parallel worker, whose transaction is that of its leader.
#[cold]
fn track_transaction(fcinfo: Fcinfo) -> Result<&'static IdClock, Error> {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    // SAFETY: they are set in every process that runs SQL.
    let (worker, pid, database) = unsafe { (ParallelWorkerNumber, MyProcPid, MyDatabaseId) };
    if worker >= 0 {
        return Err(error::parallel_worker());
    }
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    // SAFETY: it is set, and counts from 1, in every process that runs SQL.
    let slot_number = unsafe { pg_sys::MyBackendId } as usize - 1;
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    // SAFETY: it is set in every process that runs SQL.
    let slot_number = unsafe { pg_sys::MyProcNumber } as usize;
    let shared = shmem::shared();
    if !REGISTERED.load(Ordering::Relaxed) {
        // Not pgrx's register_xact_callback(), which allocates a closure for each transaction.
        // SAFETY: a library is never unloaded, so its callback stays valid.
        unsafe { pg_sys::RegisterXactCallback(Some(xact_callback), null_mut()) };
        REGISTERED.store(true, Ordering::Relaxed);
    }
    floor::apply(fcinfo);
    let clock = now()?;
    let entry = shared.and_then(|shared| {
        let (pid, database) = (pid as u64, database.to_u32().into());
        shared.open_entry(slot_number, pid, database, clock, is_in_progress)
    });
    let id_clock = shmem::id_clock();
    if entry.is_none() {
        shmem::stop_tracking();
        // After stop_tracking(): a horizon that was found before that is at most this time.
        BOUND_WITHOUT_ENTRY.set(id_clock.advance(clock).unwrap_or(Time::MAX));
    }
    OPEN_ENTRY.set(entry);
    ID_CLOCK.store(std::ptr::from_ref(id_clock).cast_mut(), Ordering::Relaxed);
    Ok(id_clock)
}

/// Closes the entry of the current transaction after it has ended or has been prepared.
///
/// It must not raise an ERROR, so it calls nothing that can fail, and has no `#[pg_guard]`. After
/// the commit record has been written, an ERROR would be a PANIC, if the transaction has an xid. At
/// XACT_EVENT_PREPARE, it is too late to abort: see PrepareTransaction().
///
/// # Safety
/// PostgreSQL calls this.
unsafe extern "C-unwind" fn xact_callback(event: XactEvent::Type, _argument: *mut c_void) {
    let end = match event {
        XactEvent::XACT_EVENT_COMMIT => OpenEntry::end,
        // Its rows can never become visible, so no snapshot has to wait for its xid.
        XactEvent::XACT_EVENT_ABORT => |entry: &OpenEntry, _| entry.end(0),
        XactEvent::XACT_EVENT_PREPARE => OpenEntry::prepare,
        _ => return,
    };
    ID_CLOCK.store(null_mut(), Ordering::Relaxed);
    if let Some(entry) = OPEN_ENTRY.take() {
        // SAFETY: the callbacks run before XactTopFullTransactionId is reset.
        end(&entry, unsafe {
            pg_sys::GetTopFullTransactionIdIfAny().value
        });
    }
}

/// The horizon of the active snapshot in the current database; if there is none, that of
/// GetTransactionSnapshot(). It is zero where nothing can be proven.
///
/// One copy of a snapshot must give one horizon. Asked again a moment later, it could be greater:
/// the clock has gone on, or a transaction has aborted. A scan that asks for each row would then
/// skip a row and return a later one. So the horizon is stored in snapXactCompletionCount of the
/// copy. CopySnapshot() zeroes that field. Only GetSnapshotDataReuse() reads it, in the static
/// snapshots. Never write to these.
///
/// A VOLATILE function has a snapshot of its own for each statement in it.
pub(crate) fn horizon() -> Result<Ulid, Error> {
    horizon_by(now)
}

/// The same by this system clock, which is read if the horizon is not stored.
fn horizon_by(clock: impl FnOnce() -> Result<Time, Error>) -> Result<Ulid, Error> {
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
            return Ok(Ulid::lower_bound(Time::from_bits(*cached)));
        }
        let horizon = horizon_of(snapshot, clock()?)?;
        if is_copy {
            // Not zero, which stands for none. The fraction of the millisecond is dropped above.
            *cached = horizon.to_bits() | 1;
        }
        Ok(Ulid::lower_bound(horizon))
    }
}

/// The horizon of a snapshot in the current database, as a time of the id clock, which advances to
/// `clock`, the system clock; [`UNKNOWN`] where nothing can be proven. An error during recovery, in
/// a parallel worker, and where transactions are not tracked.
///
/// # Safety
/// The snapshot stays as long as the call.
unsafe fn horizon_of(snapshot: pg_sys::Snapshot, clock: Time) -> Result<Time, Error> {
    // SAFETY: the caller keeps the snapshot. These numbers are set in every process that runs SQL.
    let (snapshot, in_recovery, worker, database) = unsafe {
        let in_recovery = pg_sys::RecoveryInProgress();
        (&*snapshot, in_recovery, ParallelWorkerNumber, MyDatabaseId)
    };
    if in_recovery {
        return Err(error::no_horizon_during_recovery());
    }
    if worker >= 0 {
        return Err(error::parallel_worker());
    }
    // Snapshots of other types, and those taken during recovery, do not have all xids in `xip`.
    if snapshot.snapshot_type != SnapshotType::SNAPSHOT_MVCC || snapshot.takenDuringRecovery {
        return Ok(UNKNOWN);
    }
    let shared = shmem::shared().ok_or_else(|| error::entries_incomplete())?;
    // SAFETY: the array has xcnt xids. A backend may ask for the next one.
    let (xip, next) = unsafe {
        let xip = match snapshot.xcnt {
            0 => &[],
            count => from_raw_parts(snapshot.xip.cast::<u32>(), count as usize),
        };
        (xip, pg_sys::ReadNextFullTransactionId().value)
    };
    let (xmin, xmax) = (snapshot.xmin.into_inner(), snapshot.xmax.into_inner());
    let xids = SnapshotXids::new(xmin, xmax, xip, next);
    let database = database.to_u32();
    let is_running = |xid| xids.is_running(xid);
    let horizon = shared.horizon(database.into(), clock, is_running);
    let horizon = horizon.map_err(|_| error::id_clock_out_of_range())?;
    // After the slots have been read.
    if !shmem::is_tracked() {
        return Err(error::entries_incomplete());
    }
    // It is missing if `shared` could not start the id clock for want of a system clock.
    let start_xid = shared
        .start_xid()
        .ok_or_else(|| error::system_clock_out_of_range())?;
    // A transaction from before the start of the id clock may have ids without an entry.
    let has_no_unknown_id = |xid| {
        let bound = shared.bound_of_prepared(to_full_xid(xid, next));
        bound.is_some() || is_harmless(xid, database)
    };
    Ok(if xids.running_before(start_xid).all(has_no_unknown_id) {
        horizon
    } else {
        UNKNOWN
    })
}

/// Whether a transaction has no row of this database below the horizon, unless an entry counts for
/// it. Its xid is from before the start of the id clock of this server, and it has no prepared
/// slot. `database` is an OID. Call it after the slots have been read.
///
/// - If a process is running it, the process had opened its entry when the slots were read, or has
///   generated no id before that. Later ones are greater than the horizon.
/// - If it is prepared, it may be from before the restart or the promotion. It can have any ids,
///   but only rows of its own database.
/// - Otherwise it has ended since the snapshot was taken. It may have been prepared, too.
fn is_harmless(xid: u32, database: u32) -> bool {
    thread_local! {
        /// The xids of prepared transactions, and the OIDs of their databases, listed when one is
        /// not found. Those that have ended do no harm: an xid from before the start is of one
        /// transaction only.
        static PREPARED: RefCell<Vec<(u32, u32)>> = const { RefCell::new(Vec::new()) };
    }
    // SAFETY: BackendXidGetPid() accepts any xid.
    if unsafe { pg_sys::BackendXidGetPid(TransactionId::from_inner(xid)) } != 0 {
        return true;
    }
    let database_of = |list: &Vec<(u32, u32)>| {
        let found = list.iter().find(|(other, _)| *other == xid);
        found.map(|&(_, its)| its)
    };
    let its_database = PREPARED.with_borrow(database_of).or_else(|| {
        let list = list_prepared();
        let its_database = database_of(&list);
        PREPARED.set(list);
        its_database
    });
    its_database.is_some_and(|its| its != database)
}

/// The xid of each prepared transaction and the OID of its database, by the function of
/// `pg_prepared_xacts`: twophase.c exports nothing else that has the database.
fn list_prepared() -> Vec<(u32, u32)> {
    let mut prepared = Vec::new();
    // SAFETY: this is how the executor calls a function that returns one row per call: its state is
    // in `flinfo`, and `isDone` of the ReturnSetInfo tells the end. The row has the columns
    // transaction, gid, prepared, ownerid and dbid, none of which is null.
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
        let mut frame = pg_sys::FunctionCallInfoBaseData {
            flinfo: &mut flinfo,
            resultinfo: (&raw mut result).cast(),
            ..Default::default()
        };
        loop {
            let row = pg_sys::pg_prepared_xact(&mut frame);
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

/// The horizon for a consumer that has read the rows up to this position. An error if the id clock
/// is behind the position, as after a restore: the consumer would miss the ids that are generated
/// next.
pub(crate) fn horizon_after(position: Option<Ulid>) -> Result<Ulid, Error> {
    let position = position.ok_or_else(|| error::null_position())?;
    let horizon = horizon()?;
    let id_clock = shmem::id_clock();
    let mut time = id_clock.time();
    // If the horizon of the snapshot was cached, the id clock has not advanced to the system clock.
    // Within its millisecond, it is not known of which kind the position is, and what has to be
    // reached. Then ids continue after that millisecond.
    if !has_reached(time, position) {
        let clock = now()?;
        time = if position.unix_ms() > clock.unix_ms() {
            id_clock
                .advance(clock)
                .map_err(|_| error::id_clock_out_of_range())?
        } else {
            id_clock.advance_past(position)
        };
    }
    if has_reached(time, position) {
        Ok(horizon)
    } else {
        Err(error::ahead_of_id_clock(position, to_timestamptz(time)))
    }
}

/// The horizon that can be published in place of `published`, which is null before the first one.
/// Null if no id has been generated since then, or if the horizon has not advanced. An error if ids
/// do not continue after `published`, and it is more than a day ahead of the system clock.
///
/// The id clock advances to the next whole millisecond. So the horizon is above each row that the
/// snapshot sees. If the id clock is ahead of the system clock, that may take another publication.
/// And the id clock shows whether ids have been generated since.
///
/// The system clock is read once: by a later reading, the id clock would pass the horizon.
pub(crate) fn horizon_to_publish(
    published: Option<Ulid>,
    fcinfo: Fcinfo,
) -> Result<Option<Ulid>, Error> {
    // After a restart, rows may be above the published horizon, and the clock may be behind it.
    floor::apply(fcinfo);
    let id_clock = shmem::id_clock();
    let time = u128::from(id_clock.time().to_bits());
    if published == Some(Ulid::from(time << 64)) {
        return Ok(None);
    }
    let clock = now()?;
    id_clock.advance_past(Ulid::lower_bound(clock));
    // The row can have come without the sequence: from the publisher of a subscription that has
    // ended, or from a dump that was restored with triggers disabled. Or the id clock was reset in
    // another database. It is that of all databases, so a wrong row must not move it far.
    if let Some(published) = published.filter(|&id| !has_reached(id_clock.time(), id)) {
        let time = ordered::time_of(published);
        if time > clock.saturating_add(DAY) {
            return Err(error::published_ahead_of_system_clock(published));
        }
        // The next id is later than the id clock. So the id clock need not pass the millisecond
        // that begins with the horizon: otherwise more than a thousand publications per second
        // would move it ahead of the clock.
        if published == Ulid::lower_bound(time) {
            id_clock.advance_to(time);
        } else {
            id_clock.advance_past(published);
        }
    }
    let horizon = horizon_by(|| Ok(clock))?;
    Ok(Some(horizon).filter(|&horizon| horizon > published.unwrap_or(Ulid::NIL)))
}

/// The time from which the running transaction of a process holds the horizon of its database; null
/// if it does not.
pub(crate) fn bound_of_process(pid: i32) -> Option<TimestampTz> {
    let bound = shmem::shared()?.bound_of_process(pid as u64);
    bound.map(to_timestamptz)
}

/// The time from which a prepared transaction holds the horizon of its database; null if it does
/// not. The xid is one of `pg_prepared_xacts`. A transaction that began before the id clock of this
/// server may have generated any ids.
pub(crate) fn bound_of_prepared(xid: TransactionId) -> Option<TimestampTz> {
    let shared = shmem::shared()?;
    // SAFETY: BackendXidGetPid() accepts any xid.
    let (next, pid) = unsafe {
        (
            pg_sys::ReadNextFullTransactionId().value,
            pg_sys::BackendXidGetPid(xid),
        )
    };
    let full_xid = to_full_xid(xid.into_inner(), next);
    if pid != 0 || !is_in_progress(full_xid) {
        return None;
    }
    let is_earlier = shared
        .start_xid()
        .is_none_or(|start_xid| full_xid < start_xid);
    let bound = shared.bound_of_prepared(full_xid);
    bound.or(is_earlier.then_some(UNKNOWN)).map(to_timestamptz)
}

/// Sets the id clock back to zero, so that the next id has the time of the system clock.
pub(crate) fn reset() {
    if let Some(shared) = shmem::shared() {
        return shared.reset();
    }
    // The bounds of entries of another layout cannot be zeroed. They could be later than the next
    // ids.
    shmem::stop_tracking();
    shmem::id_clock().set(Time::UNIX_EPOCH);
}

/// Whether a transaction, prepared or not, is running. TransactionIdIsInProgress() takes an xid of
/// 32 bits. One that is more than 2^31 behind the next one compares as if it was in the future, and
/// would be running.
fn is_in_progress(xid: u64) -> bool {
    // SAFETY: TransactionIdIsInProgress() accepts any xid.
    unsafe {
        pg_sys::ReadNextFullTransactionId()
            .value
            .saturating_sub(xid)
            <= 1 << 31
            && pg_sys::TransactionIdIsInProgress(TransactionId::from_inner(xid as u32))
    }
}
