//! The extension: the functions that SQL calls, built on the libraries in pg_ulid/ and horizon/.
//!
//! PostgreSQL calls them through [`fmgr`]. [`datum`] and [`range`] convert the SQL types, and
//! [`error`] makes the errors.
//!
//! [`functions`] only computes. [`generate`] holds the state of one backend. [`ordered`] holds the
//! state in shared memory. PostgreSQL calls [`planner`] while it plans a query, and [`brin`] before
//! it reads or changes a BRIN index. [`unread`] reads a table without a query.
//!
//! # Terms
//! Those that users see, such as consumer, position, horizon and id clock, are in the glossary of
//! docs/consumers.md. The others:
//! - **Window**: the ids created within a tstzrange, or whose text starts with a prefix, as the
//!   smallest and the greatest of them.
//! - **Entry**: what a transaction writes to shared memory before its first ordered id, with its
//!   **bound**, a time before its ids. Until the transaction ends, the horizon does not pass that.
//! - **Key**: a number that identifies a row, such as a bigserial.

mod brin;
mod datum;
mod error;
mod fmgr;
mod functions;
mod generate;
mod list;
mod ordered;
mod planner;
mod range;
mod unread;

#[cfg(feature = "pg_test")]
pub(crate) mod pg_test;

use std::ffi::{CStr, c_void};

use datum::{
    AsciiText, ByteaArg, Internal, RandomnessBytea, TextArg, Timestamp, TimestampTz, UlidCstring,
    Uuid, UuidBytes,
};
use error::Result;
use fmgr::Fcinfo;
use ordered::{guard, horizon};
use pg_ulid::{Ulid, Window};
use pgrx::pg_sys::{Oid, TransactionId};
use range::TstzRange;

pgrx::pg_module_magic!(name, version);

// The script is written by hand. pgrx's derive macros would make a varlena type, an operator class
// without sort support and equalimage, and a hash class without extended hash. That the functions
// are not `#[pg_extern]` has another reason, speed: see `fmgr`. A test compares the signatures with
// the catalog. `cargo pgrx` installs the script by this macro.
pgrx::extension_sql_file!("../sql/ulid.sql", name = "ulid", bootstrap);

// Every C symbol of the install script, with the types of its SQL function: `TextArg` is a text
// argument, `AsciiText` a text result, `Window` the domain `ulid_window` over tstzrange. `Option`
// can be null. `Fcinfo` is no argument in SQL. A symbol that a released script names must stay,
// because old catalogs refer to it.
fmgr::export! {
    ulid_in(text: &CStr) -> Result<Ulid> = functions::input;
    ulid_out(ulid: Ulid) -> UlidCstring = UlidCstring;
    ulid_to_text(ulid: Ulid) -> AsciiText = functions::to_text;
    ulid_from_text(text: TextArg) -> Result<Ulid> = functions::from_text;
    ulid_is_valid(text: TextArg) -> bool = functions::is_valid;

    // The transition functions of `min` and `max`, which PostgreSQL before 20 does not have for
    // uuid. They return a pointer that they were passed. All other comparison is PostgreSQL's.
    ulid_smaller(a: &[u8; 16], b: &[u8; 16]) -> &[u8; 16] = std::cmp::min;
    ulid_larger(a: &[u8; 16], b: &[u8; 16]) -> &[u8; 16] = std::cmp::max;
    ulid_smaller_uuid(a: UuidBytes, b: UuidBytes) -> UuidBytes = std::cmp::min;
    ulid_larger_uuid(a: UuidBytes, b: UuidBytes) -> UuidBytes = std::cmp::max;

    bytea_to_ulid(bytes: ByteaArg) -> Result<Ulid> = functions::from_bytea;
    timestamp_to_ulid(timestamp: Timestamp) -> Result<Ulid> = functions::from_timestamp;
    ulid_to_timestamp(ulid: Ulid) -> Timestamp = functions::to_timestamp;

    gen_ulid() -> Result<Ulid> = generate::random;
    gen_ulid_at(timestamp: TimestampTz) -> Result<Ulid> = generate::random_at;
    gen_monotonic_ulid() -> Result<Ulid> = generate::monotonic;
    gen_ordered_ulid(fcinfo: Fcinfo) -> Result<Ulid> = ordered::gen_ulid;
    gen_ordered_uuid_v7(fcinfo: Fcinfo) -> Result<Uuid> = ordered::gen_uuid_v7;
    ulid_ordered_time() -> Option<TimestampTz> = ordered::time_of_id_clock;
    ulid_advance_ordered_time(id: Ulid, force: bool) -> Result<TimestampTz>
        = ordered::advance_id_clock;
    gen_uuid_v7() -> Result<Uuid> = generate::uuid_v7;
    gen_uuid_v7_at(timestamp: TimestampTz) -> Result<Uuid> = generate::uuid_v7_at;

    ulid_extract_timestamp(ulid: Ulid) -> TimestampTz = functions::extract_timestamp;
    ulid_extract_unix_ms(ulid: Ulid) -> i64 = functions::extract_unix_ms;
    ulid_extract_randomness(ulid: Ulid) -> RandomnessBytea = functions::extract_randomness;
    ulid_lower_bound(timestamp: TimestampTz) -> Result<Ulid> = functions::lower_bound;
    ulid_upper_bound(timestamp: TimestampTz) -> Result<Ulid> = functions::upper_bound;

    ulid_range_lower(range: TstzRange) -> Ulid = |TstzRange(window)| window.lower();
    ulid_range_upper(range: TstzRange) -> Ulid = |TstzRange(window)| window.upper();
    ulid_contained_by_range(ulid: Ulid, range: Window) -> bool = functions::contained_by_range;
    range_contains_ulid(range: Window, ulid: Ulid) -> bool = Window::contains;

    ulid_prefix_lower(prefix: TextArg) -> Result<Ulid> = functions::prefix_lower;
    ulid_prefix_upper(prefix: TextArg) -> Result<Ulid> = functions::prefix_upper;
    ulid_starts_with(ulid: Ulid, prefix: TextArg) -> Result<bool> = functions::starts_with;
    ulid_starts_with_lower(prefix: TextArg) -> Ulid = functions::starts_with_lower;
    ulid_starts_with_upper(prefix: TextArg) -> Ulid = functions::starts_with_upper;
    ulid_starts_with_check(ulid: Ulid, prefix: TextArg) -> Result<bool>
        = functions::starts_with_check;

    ulid_to_typeid(prefix: TextArg, ulid: Ulid) -> Result<AsciiText> = functions::to_typeid;
    ulid_from_typeid(typeid: TextArg) -> Result<Ulid> = functions::from_typeid;
    ulid_from_typeid_of(typeid: TextArg, prefix: TextArg) -> Result<Ulid>
        = functions::from_typeid_of;
    typeid_prefix(typeid: TextArg) -> Result<AsciiText> = functions::typeid_prefix;

    ulid_from_uuid_v1(uuid: Uuid) -> Result<Ulid> = functions::from_uuid_v1;
    ulid_to_uuid_v1(ulid: Ulid) -> Result<Uuid> = functions::to_uuid_v1;
    ulid_from_uuid_v6(uuid: Uuid) -> Result<Ulid> = functions::from_uuid_v6;
    ulid_to_uuid_v6(ulid: Ulid) -> Result<Uuid> = functions::to_uuid_v6;
    ulid_to_uuid_v7(ulid: Ulid) -> Uuid = functions::to_uuid_v7;
    ulid_from_snowflake(id: i64, epoch: TimestampTz) -> Result<Ulid> = functions::from_snowflake;
    ulid_to_snowflake(ulid: Ulid, epoch: TimestampTz) -> Result<i64> = functions::to_snowflake;
    ulid_from_key(created_at: TimestampTz, key: i64) -> Result<Ulid> = functions::from_time_and_key;
    ulid_to_key(ulid: Ulid) -> Result<i64> = functions::to_key;
    ulid_from_bytes(created_at: TimestampTz, randomness: ByteaArg) -> Result<Ulid>
        = functions::from_time_and_randomness;
    ulid_reset_id_clock() -> Result<()> = horizon::reset;
    ulid_ordered_guard(fcinfo: Fcinfo) -> Result<guard::NoRow> = guard::check_row;
    ulid_consumer_first(relation: Oid, number: i32, position: Uuid, fcinfo: Fcinfo)
        -> Result<Option<Uuid>> = unread::first_id;
    ulid_is_refresh_due(horizon: Option<Ulid>) -> bool = horizon::is_refresh_due;
    ulid_next_horizon(horizon: Ulid) -> Result<Option<Ulid>> = horizon::next_horizon;
    ulid_ordered_since(pid: i32) -> Option<TimestampTz> = horizon::bound_of_process;
    ulid_ordered_since_prepared(xid: TransactionId) -> Option<TimestampTz>
        = horizon::bound_of_prepared;
    ulid_range_support(request: Internal) -> *mut c_void = planner::range_support;
    ulid_range_sel(root: Internal, operator: Oid, arguments: Internal, var_relid: i32) -> f64
        = planner::range_selectivity;
    ulid_starts_with_support(request: Internal) -> *mut c_void = planner::starts_with_support;
    ulid_comparison_support(request: Internal) -> *mut c_void = planner::comparison_support;
    ulid_brin_minmax_opcinfo(typid: Internal) -> Result<*mut c_void> = brin::minmax_opcinfo;
    ulid_brin_minmax_multi_opcinfo(typid: Internal) -> Result<*mut c_void>
        = brin::minmax_multi_opcinfo;
}
