//! The SQL types that the functions take and return, as Rust types.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_void};

use pg_ulid::{TEXT_LEN, TypeId, Ulid};
use pgrx::pg_sys::{self, Datum, FunctionCallInfo, Oid, TransactionId};

use crate::fmgr::{Argument, Returned, longjmp};

/// Puts a value into CurrentMemoryContext. It calls palloc() first and builds the value then, so
/// that no part of the value must be saved across the call.
///
/// # Safety
/// Every frame up to the next `sigsetjmp` owns nothing that needs Drop ([`longjmp`]).
#[inline(always)]
unsafe fn allocate<T: Copy>(value: impl FnOnce() -> T + Copy) -> Datum {
    const { assert!(align_of::<T>() == 1) };
    // SAFETY: palloc gives memory of this size or does not return.
    unsafe {
        let pointer = longjmp::palloc(size_of::<T>()).cast::<T>();
        pointer.write(value());
        Datum::from(pointer)
    }
}

/// Builds a varlena with a 4-byte header in CurrentMemoryContext: a text or a bytea.
///
/// # Safety
/// Every frame up to the next `sigsetjmp` owns nothing that needs Drop ([`longjmp`]).
#[inline]
unsafe fn varlena(bytes: &[u8]) -> Datum {
    let size = pg_sys::VARHDRSZ + bytes.len();
    // SAFETY: palloc gives memory of this size, aligned for the header, or does not return.
    unsafe {
        let varlena = longjmp::palloc(size);
        pgrx::varlena::set_varsize_4b(varlena.cast(), size as i32);
        let data = varlena.cast::<u8>().add(pg_sys::VARHDRSZ);
        data.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        Datum::from(varlena)
    }
}

impl Argument for Ulid {
    const SQL: &'static str = "ulid";

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: a ulid is passed by reference to its 16 bytes, which need no alignment.
        Self::from_bytes(unsafe { *datum.cast_mut_ptr() })
    }
}

impl Returned for Ulid {
    const SQL: &'static str = "ulid";

    unsafe fn return_from(self, _: FunctionCallInfo) -> Datum {
        // SAFETY: an ERROR of palloc() skips only values that are `Copy`.
        unsafe { allocate(|| self.to_bytes()) }
    }
}

/// The bytes of a ulid, which sort as it does. The transition functions of min() and max() return
/// such an argument as the pointer that they were passed.
impl Argument for &[u8; 16] {
    const SQL: &'static str = "ulid";

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: a ulid is 16 bytes of any alignment, which live as long as the call.
        unsafe { &*datum.cast_mut_ptr() }
    }
}

impl Returned for &[u8; 16] {
    const SQL: &'static str = "ulid";

    unsafe fn return_from(self, _: FunctionCallInfo) -> Datum {
        Datum::from(std::ptr::from_ref(self))
    }
}

/// A uuid that min() and max() return as the pointer that they were passed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UuidBytes<'call>(&'call [u8; 16]);

impl Argument for UuidBytes<'_> {
    const SQL: &'static str = "uuid";

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: a uuid has the same 16 bytes.
        Self(unsafe { Argument::from_datum(datum) })
    }
}

impl Returned for UuidBytes<'_> {
    const SQL: &'static str = "uuid";

    unsafe fn return_from(self, fcinfo: FunctionCallInfo) -> Datum {
        // SAFETY: nothing is called that can raise an ERROR.
        unsafe { self.0.return_from(fcinfo) }
    }
}

/// PostgreSQL's uuid.
#[derive(Clone, Copy)]
pub(crate) struct Uuid(pub u128);

impl Argument for Uuid {
    const SQL: &'static str = "uuid";

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: a uuid is passed by reference to its 16 bytes, which need no alignment.
        Self(u128::from_be_bytes(unsafe { *datum.cast_mut_ptr() }))
    }
}

impl Returned for Uuid {
    const SQL: &'static str = "uuid";

    unsafe fn return_from(self, _: FunctionCallInfo) -> Datum {
        // SAFETY: an ERROR of palloc() skips only values that are `Copy`.
        unsafe { allocate(|| self.0.to_be_bytes()) }
    }
}

impl Argument for &CStr {
    const SQL: &'static str = "cstring";

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: a cstring is a pointer to bytes that end with a zero.
        unsafe { CStr::from_ptr(datum.cast_mut_ptr()) }
    }
}

/// The text of a ULID and the zero that ends it.
#[derive(Clone, Copy)]
pub(crate) struct NewCstring(pub Ulid);

impl Returned for NewCstring {
    const SQL: &'static str = "cstring";

    unsafe fn return_from(self, _: FunctionCallInfo) -> Datum {
        let text = || {
            let mut text = [0; TEXT_LEN + 1];
            text[..TEXT_LEN].copy_from_slice(&self.0.to_text());
            text
        };
        // SAFETY: an ERROR of palloc() skips only values that are `Copy`.
        unsafe { allocate(text) }
    }
}

/// A text in the encoding of the database.
#[derive(Clone, Copy)]
pub(crate) struct TextArg<'call>(pub &'call [u8]);

impl Argument for TextArg<'_> {
    const SQL: &'static str = "text";

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: a text has the same varlena layout as a bytea.
        Self(unsafe { ByteaArg::from_datum(datum) }.0)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct ByteaArg<'call>(pub &'call [u8]);

impl Argument for ByteaArg<'_> {
    const SQL: &'static str = "bytea";

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: a bytea is a varlena; detoasted, it lives as long as the call.
        Self(unsafe {
            let varlena = longjmp::pg_detoast_datum_packed(datum.cast_mut_ptr());
            pgrx::varlena::varlena_to_byte_slice(varlena)
        })
    }
}

/// The randomness of a ULID as a bytea.
#[derive(Clone, Copy)]
pub(crate) struct NewBytea(pub [u8; 10]);

impl Returned for NewBytea {
    const SQL: &'static str = "bytea";

    unsafe fn return_from(self, _: FunctionCallInfo) -> Datum {
        // SAFETY: an ERROR of palloc() skips only values that are `Copy`.
        unsafe { varlena(&self.0) }
    }
}

/// A text of ASCII characters, at most as long as a TypeID.
#[derive(Clone, Copy)]
pub(crate) struct NewText {
    bytes: [u8; TypeId::MAX_LEN],
    len: usize,
}

impl NewText {
    /// Each caller has a ULID, a TypeID or its prefix, which fit; a longer text is a panic.
    pub(crate) fn new(text: &[u8]) -> Self {
        let mut bytes = [0; TypeId::MAX_LEN];
        bytes[..text.len()].copy_from_slice(text);
        let len = text.len();
        Self { bytes, len }
    }
}

impl Returned for NewText {
    const SQL: &'static str = "text";

    unsafe fn return_from(self, _: FunctionCallInfo) -> Datum {
        // SAFETY: an ERROR of palloc() skips only values that are `Copy`.
        unsafe { varlena(&self.bytes[..self.len]) }
    }
}

/// 2000-01-01, PostgreSQL's epoch, in milliseconds since 1970-01-01.
pub(crate) const POSTGRES_EPOCH_MS: i64 = 946_684_800_000;

/// `timestamp with time zone`: microseconds since 2000-01-01 UTC. The minimum and the maximum are
/// the infinities.
#[derive(Clone, Copy)]
pub(crate) struct TimestampTz(pub i64);

/// `timestamp without time zone`: microseconds since 2000-01-01, with the same infinities.
#[derive(Clone, Copy)]
pub(crate) struct Timestamp(i64);

impl Timestamp {
    /// PostgreSQL's cast from timestamp to timestamptz, by the setting TimeZone.
    pub(crate) fn in_session_time_zone(self) -> TimestampTz {
        // SAFETY: it is a cast of a value of 8 bytes.
        TimestampTz(unsafe { cast(pg_sys::timestamp_timestamptz, self.0) })
    }

    /// PostgreSQL's cast from timestamptz to timestamp, by the setting TimeZone.
    pub(crate) fn from_session_time_zone(timestamp: TimestampTz) -> Self {
        // SAFETY: it is a cast of a value of 8 bytes.
        Self(unsafe { cast(pg_sys::timestamptz_timestamp, timestamp.0) })
    }
}

/// The result of a cast between timestamp and timestamptz, which is never null.
///
/// # Safety
/// The function takes one such argument and does not use `flinfo`.
unsafe fn cast(function: unsafe fn(FunctionCallInfo) -> Datum, timestamp: i64) -> i64 {
    // SAFETY: the function takes this argument.
    let result =
        unsafe { pgrx::direct_function_call_as_datum(function, &[Some(Datum::from(timestamp))]) };
    result.unwrap_or(Datum::null()).value() as i64
}

/// An argument of the pseudo-type `internal`: a pointer that only backend code passes. It may be
/// NULL. Only `export!` makes one, from the present call.
#[derive(Clone, Copy)]
pub(crate) struct Internal(*mut c_void);

impl Internal {
    pub(crate) fn as_ptr<T>(self) -> *mut T {
        self.0.cast()
    }
}

impl Argument for Internal {
    const SQL: &'static str = "internal";

    unsafe fn from_datum(datum: Datum) -> Self {
        Self(datum.cast_mut_ptr())
    }
}

impl Returned for *mut c_void {
    const SQL: &'static str = "internal";

    unsafe fn return_from(self, _: FunctionCallInfo) -> Datum {
        Datum::from(self)
    }
}

macro_rules! by_value {
    ($type:ty, $sql:literal, $from:expr, $into:expr) => {
        impl Argument for $type {
            const SQL: &'static str = $sql;

            unsafe fn from_datum(datum: Datum) -> Self {
                $from(datum.value() as i64)
            }
        }

        impl Returned for $type {
            const SQL: &'static str = $sql;

            unsafe fn return_from(self, _: FunctionCallInfo) -> Datum {
                Datum::from($into(self))
            }
        }
    };
}

by_value!(i64, "bigint", |value| value, |value| value);
by_value!(
    TimestampTz,
    "timestamp with time zone",
    TimestampTz,
    |value: TimestampTz| value.0
);
by_value!(
    Timestamp,
    "timestamp without time zone",
    Timestamp,
    |value: Timestamp| value.0
);
by_value!(bool, "boolean", |value| value != 0, |value| value);
by_value!(i32, "integer", |value| value as i32, |value| value);
by_value!(
    TransactionId,
    "xid",
    |value| TransactionId::from_inner(value as u32),
    |value| value
);
by_value!(Oid, "oid", |value| Oid::from(value as u32), |value| value);

impl Returned for f64 {
    const SQL: &'static str = "double precision";

    unsafe fn return_from(self, _: FunctionCallInfo) -> Datum {
        Datum::from(self.to_bits())
    }
}
