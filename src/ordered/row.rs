//! The row of the horizon, in the table `ulid_horizon` of a database. It outlives the shared memory.
//!
//! Each horizon that a consumer has seen is in the row: `ulid_refresh()` of sql/ulid.sql writes it,
//! and its commit is flushed before anybody sees it. A process reads the row before its first
//! ordered id, and advances the id clock to it. So after a restart, a crash or a promotion, no id is
//! less than a horizon that was seen, whatever the system clock says.
//!
//! While the server runs, the id clock has reached each horizon that is computed from it. So a
//! process reads the row once. But a subscription brings horizons of another server. While the table
//! has one, the row is read for each transaction, and again when it has been dropped.
#![allow(unsafe_code)]

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use pg_ulid::{Time, Ulid, ordered};
use pgrx::pg_sys::{self, Datum, LOCKMODE, Oid, Relation, SysCacheIdentifier};

use super::shmem;
use crate::error::{self, Error};
use crate::fmgr::{Argument, Fcinfo};

/// The OID of the table that was read last. Zero stands for none.
static TABLE_OID: AtomicU32 = AtomicU32::new(0);

/// The number of invalidations of this table and of subscriptions, plus 1.
static CHANGES: AtomicU64 = AtomicU64::new(1);

/// [`CHANGES`] when the row was read last, unless a subscription brings it; zero before.
static CHANGES_AT_READ: AtomicU64 = AtomicU64::new(0);

/// The attribute number of `horizon` in sql/ulid.sql.
const HORIZON_COLUMN: i32 = 2;

/// Advances the id clock to the row in the schema of the function that is called, which is that of
/// its extension, unless this process has done so. Call it before the entry of a transaction is
/// opened. `shared` is none if the segment is not known.
///
/// # Errors
/// 42P01 if the schema has no table `ulid_horizon`.
pub(super) fn advance_id_clock(fcinfo: Fcinfo, shared: Option<shmem::Shared>) -> Result<(), Error> {
    if CHANGES_AT_READ.load(Ordering::Relaxed) == CHANGES.load(Ordering::Relaxed) {
        return Ok(());
    }
    let read = || read_row(fcinfo);
    match shared {
        Some(shared) => shared.advance_to_row(read),
        None => read().map(|time| {
            shmem::id_clock().advance_to(time);
        }),
    }
}

/// The time that the id clock must have reached before the next id, so that it is not less than
/// this horizon.
pub(super) fn time_of(horizon: Ulid) -> Time {
    let time = ordered::time_of(horizon);
    // The next id is later. So the id clock need not pass the millisecond that begins with the
    // horizon: otherwise more than a thousand refreshes per second would move it ahead.
    if horizon == Ulid::lower_bound(time) {
        return time;
    }
    // Somebody has set it to an id, of either kind.
    let next_ms = Time::from_unix_ms(time.unix_ms() + 1);
    next_ms.unwrap_or(Time::MAX)
}

/// The time of the row; the Unix epoch if there is none.
#[cold]
fn read_row(fcinfo: Fcinfo) -> Result<Time, Error> {
    // SAFETY: a backend may call this.
    if unsafe { pg_sys::RecoveryInProgress() } {
        // What a standby generates is never stored, and replay still changes the row. So it is read
        // after the promotion.
        return Ok(Time::UNIX_EPOCH);
    }
    // SAFETY: PostgreSQL makes the call, with the FmgrInfo of the function.
    let table = unsafe {
        let schema = pg_sys::get_func_namespace((*(*fcinfo.as_ptr()).flinfo).fn_oid);
        pg_sys::get_relname_relid(c"ulid_horizon".as_ptr(), schema)
    };
    if table == Oid::INVALID {
        return Err(error::no_horizon_table());
    }
    register_callbacks();
    // Before the row is read, so that a change meanwhile is noticed.
    TABLE_OID.store(table.to_u32(), Ordering::Relaxed);
    let changes = CHANGES.load(Ordering::Relaxed);
    let horizon = read_horizon(table);
    if !is_subscribed(table) {
        CHANGES_AT_READ.store(changes, Ordering::Relaxed);
    }
    Ok(horizon.map_or(Time::UNIX_EPOCH, time_of))
}

/// The horizon in the only row of the table, as the latest snapshot sees it: a snapshot of the
/// transaction may be from before a promotion. No rights are checked: whoever may generate ids need
/// not have any on the table.
fn read_horizon(table: Oid) -> Option<Ulid> {
    const LOCK: LOCKMODE = pg_sys::AccessShareLock as LOCKMODE;
    // SAFETY: the relation is open and locked until the values of its row have been copied. The
    // snapshot is registered meanwhile. An ERROR releases all of these.
    unsafe {
        let relation = pg_sys::table_open(table, LOCK);
        let snapshot = pg_sys::RegisterSnapshot(pg_sys::GetLatestSnapshot());
        let scan =
            pg_sys::systable_beginscan(relation, Oid::INVALID, false, snapshot, 0, null_mut());
        let row = pg_sys::systable_getnext(scan);
        let horizon = (!row.is_null()).then(|| {
            let mut is_null = false;
            let descriptor = (*relation).rd_att;
            let datum = pg_sys::SPI_getbinval(row, descriptor, HORIZON_COLUMN, &mut is_null);
            Ulid::from_datum(datum)
        });
        pg_sys::systable_endscan(scan);
        pg_sys::UnregisterSnapshot(snapshot);
        pg_sys::table_close(relation, LOCK);
        horizon
    }
}

/// Whether a subscription brings the row of the table.
fn is_subscribed(table: Oid) -> bool {
    const LOCK: LOCKMODE = pg_sys::AccessShareLock as LOCKMODE;
    let relation_column = pg_sys::Anum_pg_subscription_rel_srrelid as i16;
    // SAFETY: the catalog is open until the scan has ended. The key compares its OID column.
    unsafe {
        let mut key = pg_sys::ScanKeyData::default();
        let (equal, oideq) = (pg_sys::BTEqualStrategyNumber as u16, pg_sys::F_OIDEQ.into());
        pg_sys::ScanKeyInit(&mut key, relation_column, equal, oideq, table.into());
        let catalog: Relation = pg_sys::table_open(pg_sys::SubscriptionRelRelationId, LOCK);
        let scan =
            pg_sys::systable_beginscan(catalog, Oid::INVALID, false, null_mut(), 1, &mut key);
        let is_found = !pg_sys::systable_getnext(scan).is_null();
        pg_sys::systable_endscan(scan);
        pg_sys::table_close(catalog, LOCK);
        is_found
    }
}

/// Lets the row be read again after the extension was dropped and created again, and when a
/// subscription begins or ends to bring it. Once, as a process has few slots for such callbacks.
fn register_callbacks() {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    if REGISTERED.swap(true, Ordering::Relaxed) {
        return;
    }
    let cache = SysCacheIdentifier::SUBSCRIPTIONRELMAP as i32;
    // SAFETY: a library is never unloaded, so its callbacks stay valid.
    unsafe {
        pg_sys::CacheRegisterRelcacheCallback(Some(relcache_callback), Datum::null());
        pg_sys::CacheRegisterSyscacheCallback(cache, Some(syscache_callback), Datum::null());
    }
}

/// # Safety
/// PostgreSQL calls this. It calls nothing that can fail.
unsafe extern "C-unwind" fn relcache_callback(_argument: Datum, relation: Oid) {
    if relation == Oid::INVALID || relation.to_u32() == TABLE_OID.load(Ordering::Relaxed) {
        CHANGES.fetch_add(1, Ordering::Relaxed);
    }
}

/// # Safety
/// PostgreSQL calls this. It calls nothing that can fail.
unsafe extern "C-unwind" fn syscache_callback(_argument: Datum, _cache: i32, _hash: u32) {
    CHANGES.fetch_add(1, Ordering::Relaxed);
}
