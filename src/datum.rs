//! The SQL types that the functions take and return, as Rust types. `from_datum` reads an argument,
//! `return_from` makes a result. Both mostly run outside of `catch_unwind`, so they must not panic,
//! and call PostgreSQL only by the functions of the module [`longjmp`].
#![allow(unsafe_code)]

use std::ffi::{CStr, c_void};

use pg_ulid::{TEXT_LEN, TypeId, Ulid};
use pgrx::pg_sys::{self, Datum, FunctionCallInfo, Oid, TransactionId};

use crate::fmgr::{Argument, Returned, longjmp};

/// Puts a value into CurrentMemoryContext, and returns the pointer as a Datum: for a type that is
/// passed by reference. It calls palloc() first and builds the value then, so that no part of the
/// value must be saved across the call.
///
/// # Safety
/// Every frame up to the next `sigsetjmp` owns nothing that needs Drop ([`longjmp`]).
#[inline(always)]
unsafe fn allocate<T: Copy>(value: impl FnOnce() -> T + Copy) -> Datum {
    // palloc() aligns less than Rust aligns some types.
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
unsafe fn allocate_varlena(bytes: &[u8]) -> Datum {
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

/// The bytes of a ulid, which sort as it does. The transition functions of min() and max() take
/// two, and return one of them as the pointer that they were passed, without a copy.
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

/// The bytes of a uuid, for its min() and max(), in the same way.
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

/// A uuid as a number, whose most significant byte is the first one.
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

/// A ULID to be returned as a cstring: its 26 characters and the zero that ends them.
#[derive(Clone, Copy)]
pub(crate) struct UlidCstring(pub Ulid);

impl Returned for UlidCstring {
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

/// The bytes of an argument of type text, in the encoding of the database, without a header.
#[derive(Clone, Copy)]
pub(crate) struct TextArg<'call>(pub &'call [u8]);

impl Argument for TextArg<'_> {
    const SQL: &'static str = "text";

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: a text has the same varlena layout as a bytea.
        Self(unsafe { ByteaArg::from_datum(datum) }.0)
    }
}

/// The bytes of an argument of type bytea, without a header.
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

/// The randomness of a ULID, to be returned as a bytea of 10 bytes, the most significant first.
#[derive(Clone, Copy)]
pub(crate) struct RandomnessBytea(pub [u8; 10]);

impl Returned for RandomnessBytea {
    const SQL: &'static str = "bytea";

    unsafe fn return_from(self, _: FunctionCallInfo) -> Datum {
        // SAFETY: an ERROR of palloc() skips only values that are `Copy`.
        unsafe { allocate_varlena(&self.0) }
    }
}

/// A text to be returned: ASCII, which is the same in each encoding of a database, and at most as
/// long as a TypeID. It has the bytes itself, since a result must be `Copy`.
#[derive(Clone, Copy)]
pub(crate) struct AsciiText {
    bytes: [u8; TypeId::MAX_LEN],
    len: usize,
}

impl AsciiText {
    /// Each caller has a ULID, a TypeID or its prefix, which fit; a longer text is a panic.
    pub(crate) fn new(text: &[u8]) -> Self {
        let mut bytes = [0; TypeId::MAX_LEN];
        bytes[..text.len()].copy_from_slice(text);
        let len = text.len();
        Self { bytes, len }
    }
}

impl Returned for AsciiText {
    const SQL: &'static str = "text";

    unsafe fn return_from(self, _: FunctionCallInfo) -> Datum {
        // SAFETY: an ERROR of palloc() skips only values that are `Copy`.
        unsafe { allocate_varlena(&self.bytes[..self.len]) }
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
    /// The time at which a clock in the session's time zone shows this: PostgreSQL's cast to
    /// timestamptz. Its ERROR for a time out of range is a panic here, and becomes the ERROR again
    /// ([`fmgr`](crate::fmgr)). So only the body of a function may call this.
    pub(crate) fn in_session_time_zone(self) -> TimestampTz {
        // SAFETY: the function is the cast of a timestamp.
        TimestampTz(unsafe { cast(pg_sys::timestamp_timestamptz, self.0) })
    }

    /// What a clock in the session's time zone shows then: PostgreSQL's cast to timestamp.
    pub(crate) fn from_session_time_zone(timestamp: TimestampTz) -> Self {
        // SAFETY: the function is the cast of a timestamptz.
        Self(unsafe { cast(pg_sys::timestamptz_timestamp, timestamp.0) })
    }
}

/// Calls PostgreSQL's function for a cast between timestamp and timestamptz, which never returns
/// null.
///
/// # Safety
/// The function takes one timestamp or timestamptz, and does not use `flinfo`.
unsafe fn cast(function: unsafe fn(FunctionCallInfo) -> Datum, timestamp: i64) -> i64 {
    // SAFETY: the caller passes a function that takes this argument and needs no `flinfo`.
    let result =
        unsafe { pgrx::direct_function_call_as_datum(function, &[Some(Datum::from(timestamp))]) };
    result.unwrap_or(Datum::null()).value() as i64
}

/// An argument of the pseudo-type `internal`: a Datum that only C code of the server passes. Only
/// `export!` makes one, from the present call.
#[derive(Clone, Copy)]
pub(crate) struct Internal(Datum);

impl Internal {
    /// The Datum as a pointer, which may be NULL.
    pub(crate) fn as_ptr<T>(self) -> *mut T {
        self.0.cast_mut_ptr()
    }

    /// The Datum as an Oid, which BRIN passes.
    pub(crate) fn as_oid(self) -> Oid {
        Oid::from(self.0.value() as u32)
    }
}

impl Argument for Internal {
    const SQL: &'static str = "internal";

    unsafe fn from_datum(datum: Datum) -> Self {
        Self(datum)
    }
}

/// A pointer for the C code of the server that called the function. NULL is no SQL null.
impl Returned for *mut c_void {
    const SQL: &'static str = "internal";

    unsafe fn return_from(self, _: FunctionCallInfo) -> Datum {
        Datum::from(self)
    }
}

/// A type that is passed by value. `$from` converts the 64 bits of a Datum, and `$into` a value to
/// what `Datum::from` takes.
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
