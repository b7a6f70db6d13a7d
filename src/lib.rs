//! The extension: the functions that SQL calls, built on the library in core/.
//!
//! Only a few files touch the server: [`server`] declares its functions, [`frame`] has the calling convention,
//! [`datum`] and [`range`] the SQL types, [`error`] the reports, [`planner`] the planner's nodes, [`backend`] the state
//! of a process and [`shared`] that of the server. Everything between them and the pure part is safe Rust. Dependencies
//! go one way: `server`, `error`, `frame`, `datum`, `range`, then the functions.

mod backend;
mod cast;
mod convert;
mod datum;
mod error;
mod frame;
mod io;
mod order;
mod ordered;
mod planner;
mod prefix;
mod range;
mod server;
mod shared;
mod time;
mod typeid;

#[cfg(feature = "pg_test")]
pub(crate) mod pg_test;

use std::ffi::CStr;

use datum::{
    Bytea, ByteaArg, Internal, ShortText, SnowflakeParts, Text, TextArg, TextString, Timestamp, TimestampTz,
    Uuid,
};
use ordered::Ordered;
use pgrx::pg_sys::Oid;
use range::{TstzRange, UlidWindow};

use ulid_core::Ulid;

pgrx::pg_module_magic!(name, version);

pgrx::extension_sql_file!("../sql/ulid.sql", name = "ulid", bootstrap);

// Every C function of the install script, by the symbol that it names. A symbol that a released script names stays here
// for ever. All of them are STRICT.
frame::export! {
    functions {
        ulid_in(&CStr) -> u128 = io::input;
        ulid_out(&Ulid) -> Text = io::output;
        ulid_to_text(&Ulid) -> ShortText = io::to_text;
        ulid_from_text(TextString) -> u128 = io::from_text;
        ulid_is_valid(TextArg) -> bool = io::is_valid;

        ulid_smaller(&Ulid, &Ulid) -> &Ulid = order::smaller;
        ulid_larger(&Ulid, &Ulid) -> &Ulid = order::larger;

        bytea_to_ulid(ByteaArg) -> Ulid = cast::from_bytea;
        timestamp_to_ulid(Timestamp) -> Ulid = cast::from_timestamp;
        ulid_to_timestamp(&Ulid) -> Timestamp = cast::to_timestamp;

        gen_ulid() -> u128 = backend::random;
        gen_ulid_at(TimestampTz) -> Ulid = backend::random_at;
        gen_monotonic_ulid() -> u128 = backend::monotonic;
        gen_ordered_ulid() -> Ordered = backend::ordered, using shared::time;
        ulid_ordered_time() -> Option<TimestampTz> = ordered::time, using shared::time;
        ulid_advance_ordered_time(&Ulid, bool) -> TimestampTz = ordered::advance, using shared::time;
        ulid_reset_ordered_time() -> () = ordered::reset, using shared::time;
        gen_uuid_v7() -> Uuid = backend::uuid_v7;
        gen_uuid_v7_at(TimestampTz) -> Uuid = backend::uuid_v7_at;

        ulid_extract_timestamp(&Ulid) -> TimestampTz = time::extract_timestamp;
        ulid_extract_unix_ms(&Ulid) -> i64 = time::extract_unix_ms;
        ulid_extract_randomness(&Ulid) -> Bytea = time::extract_randomness;
        ulid_lower_bound(TimestampTz) -> Ulid = time::lower_bound;
        ulid_upper_bound(TimestampTz) -> Ulid = time::upper_bound;

        ulid_range_lower(TstzRange) -> Ulid = time::range_lower;
        ulid_range_upper(TstzRange) -> Ulid = time::range_upper;
        ulid_contained_by_range(&Ulid, UlidWindow) -> bool = time::contained_by_range;
        range_contains_ulid(UlidWindow, &Ulid) -> bool = time::range_contains;

        ulid_prefix_lower(TextArg) -> Ulid = prefix::lower;
        ulid_prefix_upper(TextArg) -> Ulid = prefix::upper;
        ulid_starts_with(&Ulid, TextArg) -> bool = prefix::starts_with;

        ulid_to_typeid(TextArg, &Ulid) -> ShortText = typeid::from_ulid;
        ulid_from_typeid(TextArg) -> Ulid = typeid::to_ulid;
        ulid_from_typeid_of(TextArg, TextArg) -> Ulid = typeid::to_ulid_of;
        typeid_prefix(TextArg) -> ShortText = typeid::prefix;

        ulid_from_uuid_v1(Uuid) -> Ulid = convert::from_uuid_v1;
        ulid_to_uuid_v1(&Ulid) -> Uuid = convert::to_uuid_v1;
        ulid_from_uuid_v6(Uuid) -> Ulid = convert::from_uuid_v6;
        ulid_to_uuid_v6(&Ulid) -> Uuid = convert::to_uuid_v6;
        ulid_to_uuid_v7(&Ulid) -> Uuid = convert::to_uuid_v7;
        ulid_from_snowflake(i64, TimestampTz) -> Ulid = convert::from_snowflake;
        ulid_to_snowflake(&Ulid, TimestampTz) -> i64 = convert::to_snowflake;
        ulid_snowflake_parts(&Ulid) -> SnowflakeParts = convert::snowflake_parts;
        ulid_from_key(TimestampTz, i64) -> Ulid = convert::from_key;
        ulid_to_key(&Ulid) -> i64 = convert::to_key;
        ulid_from_bytes(TimestampTz, ByteaArg) -> Ulid = convert::from_bytes;
    }
    hooks {
        ulid_range_support(Internal) -> Internal = planner::window_support;
        ulid_range_sel(Internal, Oid, Internal, i32) -> f64 = planner::window_selectivity;
        ulid_starts_with_support(Internal) -> Internal = planner::starts_with_support;
        ulid_comparison_support(Internal) -> Internal = planner::comparison_support;
    }
}
