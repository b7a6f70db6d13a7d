//! The horizon of ordered ids in the server: it opens an entry before the first id of a
//! transaction, closes it when the transaction has ended, and computes the horizon that
//! `ulid_refresh()` of sql/ulid.sql writes. Why no row is lost is at the head of the crate
//! `ulid_horizon`.
//!
//! The XactCallbacks of XACT_EVENT_COMMIT and XACT_EVENT_ABORT run after
//! ProcArrayEndTransaction(). When a backend exits, also by FATAL, ShutdownPostgres() aborts the
//! transaction. It is a before_shmem_exit callback, so our callback runs before
//! dsm_backend_shutdown() detaches the segment. After a crash, the postmaster reinitializes shared
//! memory.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use pg_ulid::ordered::IdClock;
use pg_ulid::{Time, Ulid};
use pgrx::PgLogLevel;
use pgrx::pg_sys::{
    self, ExprDoneCond, MyDatabaseId, MyProcPid, NodeTag, ParallelWorkerNumber, TransactionId,
    XactEvent,
};
use ulid_horizon::{OpenEntry, UNKNOWN, to_full_xid};

use super::{now, row, shmem, to_timestamptz};
use crate::datum::TimestampTz;
use crate::error::{self, Error};
use crate::fmgr::Fcinfo;

/// The id clock, if the current transaction has opened its entry; otherwise null. So each id after
/// the first one needs only this load.
static ID_CLOCK: AtomicPtr<IdClock> = AtomicPtr::new(null_mut());

/// How far the current transaction has come with a reset of the id clock.
#[derive(Clone, Copy, PartialEq)]
enum Reset {
    None,
    /// It takes place when the transaction commits.
    Requested,
    /// The transaction is committing, and there is no horizon until it has ended.
    Begun,
}

thread_local! {
    /// The entry of the current transaction; none before its first ordered id, or if none could be
    /// opened.
    static OPEN_ENTRY: Cell<Option<OpenEntry<'static>>> = const { Cell::new(None) };

    /// In place of the bound of an entry, if none could be opened: all ids of the current
    /// transaction have later times. Of an earlier transaction while `ID_CLOCK` is null.
    static BOUND_WITHOUT_ENTRY: Cell<Time> = const { Cell::new(UNKNOWN) };

    static RESET: Cell<Reset> = const { Cell::new(Reset::None) };

    /// Whether the current transaction has computed a horizon, which it may have written.
    static HAS_REFRESHED: Cell<bool> = const { Cell::new(false) };
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
    register_xact_callback();
    row::advance_id_clock(fcinfo, shared)?;
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

/// Lets PostgreSQL call [`xact_callback`] in this process.
fn register_xact_callback() {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    if !REGISTERED.load(Ordering::Relaxed) {
        // Not pgrx's register_xact_callback(), which allocates a closure for each transaction.
        // SAFETY: a library is never unloaded, so its callback stays valid.
        unsafe { pg_sys::RegisterXactCallback(Some(xact_callback), null_mut()) };
        REGISTERED.store(true, Ordering::Relaxed);
    }
}

/// Closes the entry of the current transaction after it has ended or has been prepared, and does
/// what it has asked for with [`reset`].
///
/// But for XACT_EVENT_PRE_PREPARE, it must not raise an ERROR, so it calls nothing that can fail,
/// and has no `#[pg_guard]`. After the commit record has been written, an ERROR would be a PANIC,
/// if the transaction has an xid. At XACT_EVENT_PREPARE, it is too late to abort: see
/// PrepareTransaction().
///
/// # Safety
/// PostgreSQL calls this.
unsafe extern "C-unwind" fn xact_callback(event: XactEvent::Type, _argument: *mut c_void) {
    let is_commit = event == XactEvent::XACT_EVENT_COMMIT;
    match event {
        XactEvent::XACT_EVENT_COMMIT | XactEvent::XACT_EVENT_ABORT => {
            if RESET.get() != Reset::None {
                end_reset(is_commit);
            }
            HAS_REFRESHED.set(false);
            ID_CLOCK.store(null_mut(), Ordering::Relaxed);
            if let Some(entry) = OPEN_ENTRY.take() {
                entry.close();
            }
        }
        XactEvent::XACT_EVENT_PREPARE => {
            ID_CLOCK.store(null_mut(), Ordering::Relaxed);
            if let Some(entry) = OPEN_ENTRY.take() {
                // SAFETY: the callbacks run before XactTopFullTransactionId is reset.
                entry.prepare(unsafe { pg_sys::GetTopFullTransactionIdIfAny().value });
            }
        }
        // Nobody would reset the id clock when the prepared transaction is committed. A horizon
        // that it has written would come up after a restart, when ids are generated below it.
        XactEvent::XACT_EVENT_PRE_PREPARE if RESET.get() != Reset::None || HAS_REFRESHED.get() => {
            // SAFETY: this frame owns nothing that needs Drop.
            unsafe { error::horizon_in_prepared().ereport(PgLogLevel::ERROR) }
        }
        XactEvent::XACT_EVENT_PRE_COMMIT if RESET.get() == Reset::Requested => {
            if let Some(shared) = shmem::shared_if_attached() {
                shared.begin_reset();
                RESET.set(Reset::Begun);
            }
        }
        _ => {}
    }
}

/// The horizon to which `ulid_refresh()` sets the row, which has the horizon `last`, and which the
/// caller has locked. None if no ordered id was generated since `last`, or if the horizon has not
/// advanced.
///
/// The id clock advances to the next whole millisecond. So the horizon is above each row that was
/// committed before this call. If the id clock is ahead of the system clock, that may take another
/// refresh. And the id clock shows whether ids have been generated since.
///
/// The system clock is read once: by a later reading, the id clock would pass the horizon.
pub(crate) fn next_horizon(last: Ulid) -> Result<Option<Ulid>, Error> {
    // SAFETY: these numbers are set in every process that runs SQL.
    let (worker, database) = unsafe { (ParallelWorkerNumber, MyDatabaseId.to_u32()) };
    if worker >= 0 {
        return Err(error::parallel_worker());
    }
    // SAFETY: a backend may call this.
    if RESET.get() != Reset::None || unsafe { pg_sys::RecoveryInProgress() } {
        return Ok(None);
    }
    let shared = shmem::shared().ok_or_else(|| error::entries_incomplete())?;
    // The row can be ahead: after a restart, in a restored database, and where a subscription has
    // brought it. Then ids from before may be above the row. A reset in this database needs the
    // lock of the row, too. Until it has set the id clock back, there is no horizon.
    let time = row::time_of(last);
    let is_behind = shared.id_clock.time() < time;
    shared.id_clock.advance_to(time);
    if !is_behind && !is_due(last) {
        return Ok(None);
    }
    let clock = now()?;
    shared.id_clock.advance_past(Ulid::lower_bound(clock));
    let horizon = shared.horizon(database.into(), clock, is_in_progress);
    let horizon = horizon.map_err(|_| error::id_clock_out_of_range())?;
    // After the slots have been read.
    if !shmem::is_tracked() {
        return Err(error::entries_incomplete());
    }
    let horizon = Ulid::lower_bound(horizon);
    if horizon <= last || has_earlier_prepared(shared, database) {
        return Ok(None);
    }
    register_xact_callback();
    HAS_REFRESHED.set(true);
    Ok(Some(horizon))
}

/// Whether ordered ids may have been generated since the horizon was set to `last`: whether the id
/// clock has another time. It is null if the row is missing, and zero before the first horizon.
pub(crate) fn is_refresh_due(last: Option<Ulid>) -> bool {
    last.is_none_or(is_due)
}

fn is_due(last: Ulid) -> bool {
    last == Ulid::NIL || u128::from(last) != u128::from(shmem::id_clock().time().to_bits()) << 64
}

/// Whether a transaction of this database is prepared that may have ids without an entry: one from
/// before the restart or the promotion. Call it after the slots have been read. `database` is an
/// OID.
fn has_earlier_prepared(shared: shmem::Shared, database: u32) -> bool {
    /// Whether there are none any more in the whole server. No later one is from before.
    static NONE_LEFT: AtomicBool = AtomicBool::new(false);
    // SAFETY: it is set before the first process of the server starts.
    if unsafe { pg_sys::max_prepared_xacts } == 0 || NONE_LEFT.load(Ordering::Relaxed) {
        return false;
    }
    // SAFETY: a backend may ask for the next xid.
    let next = unsafe { pg_sys::ReadNextFullTransactionId().value };
    let is_earlier = |&(xid, _): &(u32, u32)| {
        let full_xid = to_full_xid(xid, next);
        let is_before_start = shared
            .start_xid()
            .is_none_or(|start_xid| full_xid < start_xid);
        is_before_start && shared.bound_of_prepared(full_xid).is_none()
    };
    let mut earlier = list_prepared().into_iter().filter(is_earlier).peekable();
    NONE_LEFT.store(earlier.peek().is_none(), Ordering::Relaxed);
    earlier.any(|(_, its_database)| its_database == database)
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

/// The time from which the running transaction of a process holds the horizon of its database; null
/// if it does not.
pub(crate) fn bound_of_process(pid: i32) -> Option<TimestampTz> {
    let bound = shmem::shared()?.bound_of_process(pid as u64);
    bound.map(to_timestamptz)
}

/// The time from which a prepared transaction holds the horizon of its database; null if it does
/// not. The xid is one of `pg_prepared_xacts`. A transaction that was prepared before the start of
/// this server may have generated any ids.
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

/// Sets the id clock back to zero when the transaction commits, so that the next id has the time of
/// the system clock. Until then, the id clock is that of the row, which the caller has locked and
/// set to zero.
///
/// An error in a subtransaction, since nothing here would notice that it is rolled back.
pub(crate) fn reset() -> Result<(), Error> {
    // SAFETY: a backend may call this.
    if unsafe { pg_sys::GetCurrentTransactionNestLevel() } > 1 {
        return Err(error::reset_in_subtransaction());
    }
    let _ = shmem::shared();
    register_xact_callback();
    RESET.set(Reset::Requested);
    Ok(())
}

/// Ends a reset that the current transaction has requested: it has ended.
fn end_reset(is_commit: bool) {
    let has_begun = RESET.replace(Reset::None) == Reset::Begun;
    match shmem::shared_if_attached() {
        Some(shared) if has_begun && is_commit => shared.end_reset(),
        Some(shared) if has_begun => shared.cancel_reset(),
        _ if is_commit => {
            // The bounds of entries of another layout cannot be changed. They could be later than
            // the next ids.
            shmem::stop_tracking();
            shmem::id_clock().set(Time::UNIX_EPOCH);
        }
        _ => {}
    }
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
