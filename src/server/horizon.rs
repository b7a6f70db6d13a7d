//! The horizon of ordered ids: which transactions of the server are running, as a snapshot sees it.
//!
//! PostgreSQL ends a transaction for snapshots and clears its local number under one lock. So whoever has seen a number
//! gone gets the transaction's rows with the next snapshot.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use pg_ulid::horizon::{self, Slot};
use pg_ulid::{Ulid, ordered, since_epoch};
use pgrx::pg_sys::{
    Datum, MyProc, PGPROC, ParallelWorkerNumber, PreparedXactProcs, ProcGlobal, TransactionId,
    XACT_REPEATABLE_READ, XIDOID, XactEvent, XactIsoLevel, max_prepared_xacts,
};

use super::frame::Plain;
use super::report::{Error, Fault};
use super::shared;
use crate::server;

/// The word for the next ordered id, once the present transaction has its slot.
#[inline(always)]
pub(crate) fn in_transaction(plain: Plain) -> &'static AtomicU64 {
    let time = shared::time(plain);
    // SAFETY: a process has its PGPROC before it runs SQL; the word is attached.
    unsafe {
        let transaction = local_transaction(MyProc);
        if !shared::slot().is_of(transaction) {
            take_slot(time, transaction, plain);
        }
    }
    time
}

/// # Safety
/// The word is attached.
#[cold]
unsafe fn take_slot(time: &AtomicU64, transaction: u64, plain: Plain) {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    // SAFETY: the word is attached.
    unsafe {
        if ParallelWorkerNumber >= 0 {
            // Its ids would belong to a transaction that ends later than the worker does.
            Error::from(Fault::ParallelWorker).raise(plain);
        }
        if !REGISTERED.load(Ordering::Relaxed) {
            server::RegisterXactCallback(Some(keep_prepared), null_mut());
            REGISTERED.store(true, Ordering::Relaxed);
        }
        let clock = since_epoch().and_then(ordered::clock).unwrap_or(0);
        shared::slot().take(transaction, time, clock);
    }
}

/// Before a transaction is prepared: copies its slot, which is that of its process.
///
/// # Safety
/// PostgreSQL calls this.
unsafe extern "C-unwind" fn keep_prepared(event: XactEvent::Type, _argument: *mut c_void) {
    // SAFETY: the process has a PGPROC, a transaction and a slot.
    unsafe {
        let plain = Plain::new();
        // Where no transaction can be prepared, PostgreSQL will say so.
        if event != XactEvent::XACT_EVENT_PRE_PREPARE
            || max_prepared_xacts == 0
            || !shared::slot().is_of(local_transaction(MyProc))
        {
            return;
        }
        let transaction = server::GetTopFullTransactionId().value;
        let take_over = |slot: &Slot| {
            slot.take_over(transaction, shared::slot(), shared::time(plain), |transaction| {
                is_in_progress(transaction, plain)
            })
        };
        if !shared::slots().iter().skip(processes()).any(take_over) {
            Error::from(Fault::PreparedTransactions).raise(plain);
        }
    }
}

/// The horizon for the present statement's successors.
pub(crate) fn ordered_horizon<'call>(plain: Plain) -> Result<Ulid, Error<'call>> {
    // SAFETY: these are set before SQL runs.
    unsafe {
        if server::RecoveryInProgress() {
            Err(Fault::Recovery)?;
        }
        if XactIsoLevel >= XACT_REPEATABLE_READ as c_int {
            Err(Fault::FixedSnapshot)?;
        }
    }
    let clock = since_epoch().and_then(ordered::clock).map_err(|_| Fault::Clock)?;
    let is_running = |place, transaction| match place < processes() {
        // SAFETY: there are as many PGPROCs.
        true => unsafe { local_transaction((*ProcGlobal).allProcs.add(place)) == transaction },
        false => is_in_progress(transaction, plain),
    };
    let horizon = horizon::horizon(shared::time(plain), clock, shared::slots(), is_running)
        .map_err(|_| Fault::OrderedTime)?;
    if let Some(gid) = recovered_transaction(plain) {
        Err(Fault::RecoveredTransaction { gid })?;
    }
    Ok(ordered::lower_bound(horizon))
}

/// A prepared transaction from before the server started, by the name that it was given: what PostgreSQL keeps of those
/// names no process.
fn recovered_transaction<'call>(_: Plain) -> Option<&'call CStr> {
    // SAFETY: the array has as many PGPROCs, and what is read of them is aligned. The query has the parameter that it
    // is given; its result lasts until the error that it is for has been reported, which also ends what was connected.
    unsafe {
        for place in 0..max_prepared_xacts as usize {
            let process = PreparedXactProcs.add(place);
            let transaction = (&raw const (*process).xid).read_volatile();
            #[cfg(any(feature = "pg15", feature = "pg16"))]
            let owner = (&raw const (*process).backendId).read_volatile();
            #[cfg(not(any(feature = "pg15", feature = "pg16")))]
            let owner = (&raw const (*process).vxid.procNumber).read_volatile();
            if owner >= 0 || !server::TransactionIdIsInProgress(transaction) {
                continue;
            }
            server::SPI_connect();
            server::SPI_execute_with_args(
                c"SELECT gid FROM pg_catalog.pg_prepared_xact() WHERE transaction OPERATOR(pg_catalog.=) $1"
                    .as_ptr(),
                1,
                [XIDOID].as_mut_ptr(),
                [Datum::from(transaction.into_inner())].as_mut_ptr(),
                std::ptr::null(),
                true,
                1,
            );
            if pgrx::pg_sys::SPI_processed > 0 {
                let rows = pgrx::pg_sys::SPI_tuptable;
                return Some(CStr::from_ptr(server::SPI_getvalue(*(*rows).vals, (*rows).tupdesc, 1)));
            }
            server::SPI_finish();
        }
    }
    None
}

/// The number of PGPROCs that processes can have, and so of their slots.
pub(crate) fn processes() -> usize {
    // SAFETY: it is set before the first process of the server starts.
    unsafe { (*ProcGlobal).allProcCount as usize }
}

/// The number of the transaction that a process runs, which no slot has if there is none.
///
/// # Safety
/// It is a PGPROC.
#[inline(always)]
unsafe fn local_transaction(process: *mut PGPROC) -> u64 {
    // SAFETY: the fields are aligned, and nobody writes a part of them.
    unsafe {
        // Before PostgreSQL 17, the numbers are those of a backend ID, which other sessions have in the same PGPROC.
        #[cfg(any(feature = "pg15", feature = "pg16"))]
        let (backend, number) = ((&raw const (*process).backendId).read_volatile(), &raw mut (*process).lxid);
        #[cfg(not(any(feature = "pg15", feature = "pg16")))]
        let (backend, number) = (0_i32, &raw mut (*process).vxid.lxid);
        let number: u64 = AtomicU32::from_ptr(number).load(Ordering::Acquire).into();
        (backend as u64) << 32 | number
    }
}

/// Whether a transaction, prepared or not, is running.
fn is_in_progress(transaction: u64, _: Plain) -> bool {
    /// The server takes the short number of a transaction that is older for one in the future, which it says is
    /// running.
    const OLDEST: u64 = 1 << 31;
    // SAFETY: any number may be asked for.
    unsafe {
        server::TransactionIdIsInProgress(TransactionId::from_inner(transaction as u32))
            && server::ReadNextFullTransactionId().value.wrapping_sub(transaction) <= OLDEST
    }
}
