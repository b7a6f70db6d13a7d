//! The row of the horizon, in the table `ulid_horizon` of a database. It outlives the shared
//! memory.
//!
//! Each horizon that a consumer of this server has seen is in the row: `ulid_refresh()` of
//! sql/ulid.sql writes it, and its commit is flushed before anybody sees it. A process reads the
//! row before its first ordered id, and advances the id clock to it. So after a restart, a crash or
//! a promotion, no id is less than a horizon that was seen, whatever the system clock says.
//!
//! While the server runs, the id clock has reached each horizon that is computed from it. So a
//! process reads the row once. But a subscription brings horizons of another server. While the
//! table has one, the row is read for each transaction, and again when it has been dropped.
#![allow(unsafe_code)]

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use pg_ulid::{Time, Ulid, ordered};
use pgrx::pg_sys::{self, Datum, HeapTuple, LOCKMODE, Oid, Relation, SysCacheIdentifier};

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

/// A time after the row; the Unix epoch if there is none.
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
    // Later than the row: by an id clock at the row, a refresh would not be due, and rows of before
    // the restart may be above it.
    let after = |horizon| Time::from_bits(time_of(horizon).to_bits().saturating_add(1));
    Ok(horizon.map_or(Time::UNIX_EPOCH, after))
}

/// The horizon in the only row of the table, as a catalog snapshot sees it: that is the latest one,
/// also in REPEATABLE READ and in parallel mode. A snapshot of the transaction may be from before a
/// promotion. No rights are checked: whoever may generate ids need not have any on the table.
fn read_horizon(table: Oid) -> Option<Ulid> {
    scan(table, None, |relation, row| {
        let mut is_null = false;
        // SAFETY: the row is one of this relation. The column is NOT NULL, and of ulid.
        unsafe {
            let descriptor = (*relation).rd_att;
            let datum = pg_sys::SPI_getbinval(row, descriptor, HORIZON_COLUMN, &mut is_null);
            Ulid::from_datum(datum)
        }
    })
}

/// Whether a subscription brings the row of the table.
fn is_subscribed(table: Oid) -> bool {
    let key = (pg_sys::Anum_pg_subscription_rel_srrelid as i16, table);
    scan(pg_sys::SubscriptionRelRelationId, Some(key), |_, _| ()).is_some()
}

/// What `read` makes of the first row of a table; none if it is empty. `key` is the number of an
/// OID column, and its value in the row.
fn scan<T>(
    table: Oid,
    key: Option<(i16, Oid)>,
    read: impl FnOnce(Relation, HeapTuple) -> T,
) -> Option<T> {
    const LOCK: LOCKMODE = pg_sys::AccessShareLock as LOCKMODE;
    // SAFETY: the relation is open and locked until the scan has ended, and the row is valid until
    // then. The key compares an OID column. An ERROR releases the relation and the snapshot.
    unsafe {
        let mut keys = [pg_sys::ScanKeyData::default()];
        if let Some((column, oid)) = key {
            let (equal, oideq) = (pg_sys::BTEqualStrategyNumber as u16, pg_sys::F_OIDEQ.into());
            pg_sys::ScanKeyInit(&mut keys[0], column, equal, oideq, oid.into());
        }
        let (count, keys) = (key.iter().count() as i32, keys.as_mut_ptr());
        let relation = pg_sys::table_open(table, LOCK);
        let scan =
            pg_sys::systable_beginscan(relation, Oid::INVALID, false, null_mut(), count, keys);
        let row = pg_sys::systable_getnext(scan);
        let result = (!row.is_null()).then(|| read(relation, row));
        pg_sys::systable_endscan(scan);
        pg_sys::table_close(relation, LOCK);
        result
    }
}

/// Lets the row be read again after the extension was dropped and created again, and when a
/// subscription begins or ends to bring it. Once, as a process has few slots for such callbacks.
fn register_callbacks() {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    if REGISTERED.swap(true, Ordering::Relaxed) {
        return;
    }
    let cache = SysCacheIdentifier::SUBSCRIPTIONRELMAP as _; // its type differs by version
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
