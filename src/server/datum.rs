//! The SQL types that the functions take and return, as Rust types.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_void};

use pgrx::pg_sys::{self, Datum, Oid, TransactionId};

use super::frame::{Argument, Plain, Returned};
use crate::server;
use pg_ulid::{TEXT_LEN, TypeId, Ulid};

/// Puts a value into the current memory context. The value is computed after its memory is
/// allocated, so that its pieces need not be kept in registers during the allocation.
#[inline(always)]
fn allocate<T: Copy>(_: Plain, value: impl FnOnce() -> T) -> Datum {
    const { assert!(align_of::<T>() == 1) };
    // SAFETY: palloc gives memory of this size or does not return.
    unsafe {
        let pointer = server::palloc(size_of::<T>()).cast::<T>();
        pointer.write(value());
        Datum::from(pointer)
    }
}

impl<'call> Argument<'call> for Ulid {
    const SQL: &'static str = "ulid";

    unsafe fn from_datum(datum: Datum, _: Plain) -> Self {
        // SAFETY: a ulid is passed by reference to its 16 bytes, which need no alignment.
        Self::from_bytes(unsafe { *datum.cast_mut_ptr() })
    }
}

impl Returned for Ulid {
    const SQL: &'static str = "ulid";

    fn into_datum(self, plain: Plain) -> Datum {
        allocate(plain, || self.to_bytes())
    }
}

/// The bytes of a ulid, which sort as it does: an argument that can be returned without a copy.
impl<'call> Argument<'call> for &'call [u8; 16] {
    const SQL: &'static str = "ulid";

    unsafe fn from_datum(datum: Datum, _: Plain) -> Self {
        // SAFETY: a ulid is 16 bytes of any alignment, which live as long as the call.
        unsafe { &*datum.cast_mut_ptr() }
    }
}

impl Returned for &[u8; 16] {
    const SQL: &'static str = "ulid";

    fn into_datum(self, _: Plain) -> Datum {
        Datum::from(std::ptr::from_ref(self))
    }
}

/// A uuid of core's type.
#[derive(Clone, Copy)]
pub(crate) struct Uuid(pub u128);

impl<'call> Argument<'call> for Uuid {
    const SQL: &'static str = "uuid";

    unsafe fn from_datum(datum: Datum, _: Plain) -> Self {
        // SAFETY: a uuid is passed by reference to its 16 bytes, which need no alignment.
        Self(u128::from_be_bytes(unsafe { *datum.cast_mut_ptr() }))
    }
}

impl Returned for Uuid {
    const SQL: &'static str = "uuid";

    fn into_datum(self, plain: Plain) -> Datum {
        allocate(plain, || self.0.to_be_bytes())
    }
}

impl<'call> Argument<'call> for &'call CStr {
    const SQL: &'static str = "cstring";

    unsafe fn from_datum(datum: Datum, _: Plain) -> Self {
        // SAFETY: a cstring is a pointer to bytes that end with a zero.
        unsafe { CStr::from_ptr(datum.cast_mut_ptr()) }
    }
}

/// The text of a ULID and the zero that ends it.
#[derive(Clone, Copy)]
pub(crate) struct Cstring(pub Ulid);

impl Returned for Cstring {
    const SQL: &'static str = "cstring";

    fn into_datum(self, plain: Plain) -> Datum {
        let text = || {
            let mut text = [0; TEXT_LEN + 1];
            text[..TEXT_LEN].copy_from_slice(&self.0.to_text());
            text
        };
        allocate(plain, text)
    }
}

/// A text as the input function takes it: a copy that ends with a zero.
#[derive(Clone, Copy)]
pub(crate) struct TextString<'call>(pub &'call CStr);

impl<'call> Argument<'call> for TextString<'call> {
    const SQL: &'static str = "text";

    unsafe fn from_datum(datum: Datum, _: Plain) -> Self {
        // SAFETY: a text is a varlena; the copy is palloc'ed, ends with a zero and lives as long as
        // the call.
        Self(unsafe { CStr::from_ptr(server::text_to_cstring(datum.cast_mut_ptr())) })
    }
}

/// A text in the server's encoding, which need not be UTF-8.
#[derive(Clone, Copy)]
pub(crate) struct TextArg<'call>(pub &'call [u8]);

impl<'call> Argument<'call> for TextArg<'call> {
    const SQL: &'static str = "text";

    unsafe fn from_datum(datum: Datum, plain: Plain) -> Self {
        // SAFETY: text is a varlena as bytea is.
        Self(unsafe { ByteaArg::from_datum(datum, plain) }.0)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct ByteaArg<'call>(pub &'call [u8]);

impl<'call> Argument<'call> for ByteaArg<'call> {
    const SQL: &'static str = "bytea";

    unsafe fn from_datum(datum: Datum, _: Plain) -> Self {
        // SAFETY: a bytea is a varlena; detoasted, it lives as long as the call.
        Self(unsafe {
            pgrx::varlena::varlena_to_byte_slice(server::pg_detoast_datum_packed(
                datum.cast_mut_ptr(),
            ))
        })
    }
}

/// Puts some bytes into the current memory context, as a text or a bytea.
#[inline]
fn varlena(bytes: &[u8], _: Plain) -> Datum {
    let size = pg_sys::VARHDRSZ + bytes.len();
    // SAFETY: the memory is aligned for the header, and large enough for it and the bytes behind
    // it. palloc does not return where it has none.
    unsafe {
        let varlena = server::palloc(size);
        pgrx::varlena::set_varsize_4b(varlena.cast(), size as i32);
        let data = varlena.cast::<u8>().add(pg_sys::VARHDRSZ);
        data.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        Datum::from(varlena)
    }
}

/// The randomness of a ULID as a bytea.
#[derive(Clone, Copy)]
pub(crate) struct Bytea(pub [u8; 10]);

impl Returned for Bytea {
    const SQL: &'static str = "bytea";

    fn into_datum(self, plain: Plain) -> Datum {
        varlena(&self.0, plain)
    }
}

/// A text of ASCII characters, at most as long as a TypeID.
#[derive(Clone, Copy)]
pub(crate) struct ShortText {
    bytes: [u8; TypeId::MAX_LEN],
    len: usize,
}

impl ShortText {
    /// Each caller has a ULID, a TypeID or its prefix, which fit; a longer text is a panic.
    pub(crate) fn new(text: &[u8]) -> Self {
        let mut bytes = [0; TypeId::MAX_LEN];
        bytes[..text.len()].copy_from_slice(text);
        Self {
            bytes,
            len: text.len(),
        }
    }
}

impl Returned for ShortText {
    const SQL: &'static str = "text";

    fn into_datum(self, plain: Plain) -> Datum {
        varlena(&self.bytes[..self.len], plain)
    }
}

/// 2000-01-01, PostgreSQL's epoch, in milliseconds since 1970-01-01.
pub(crate) const POSTGRES_EPOCH_MS: i64 = 946_684_800_000;

/// Microseconds since 2000-01-01 UTC; the minimum and the maximum are the infinities.
#[derive(Clone, Copy)]
pub(crate) struct TimestampTz(pub i64);

/// A timestamp without time zone, as the moment that it is in the session's time zone. Core's own
/// casts find that.
#[derive(Clone, Copy)]
pub(crate) struct Timestamp(pub TimestampTz);

impl<'call> Argument<'call> for Timestamp {
    const SQL: &'static str = "timestamp without time zone";

    unsafe fn from_datum(datum: Datum, _: Plain) -> Self {
        // SAFETY: the function takes a timestamp and is called with one.
        let moment = unsafe {
            server::DirectFunctionCall1Coll(
                Some(server::timestamp_timestamptz),
                Oid::INVALID,
                datum,
            )
        };
        Self(TimestampTz(moment.value() as i64))
    }
}

impl Returned for Timestamp {
    const SQL: &'static str = "timestamp without time zone";

    fn into_datum(self, plain: Plain) -> Datum {
        let moment = self.0.into_datum(plain);
        // SAFETY: the function takes a timestamptz and is called with one.
        unsafe {
            server::DirectFunctionCall1Coll(
                Some(server::timestamptz_timestamp),
                Oid::INVALID,
                moment,
            )
        }
    }
}

/// What only the server passes, such as a node of the planner, or nothing: `internal`.
#[derive(Clone, Copy)]
pub(crate) struct Internal(pub *mut c_void);

impl<'call> Argument<'call> for Internal {
    const SQL: &'static str = "internal";

    unsafe fn from_datum(datum: Datum, _: Plain) -> Self {
        Self(datum.cast_mut_ptr())
    }
}

impl Returned for Internal {
    const SQL: &'static str = "internal";

    fn into_datum(self, _: Plain) -> Datum {
        Datum::from(self.0)
    }
}

macro_rules! by_value {
    ($type:ty, $sql:literal, $from:expr, $into:expr) => {
        impl<'call> Argument<'call> for $type {
            const SQL: &'static str = $sql;

            unsafe fn from_datum(datum: Datum, _: Plain) -> Self {
                $from(datum.value() as i64)
            }
        }

        impl Returned for $type {
            const SQL: &'static str = $sql;

            fn into_datum(self, _: Plain) -> Datum {
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

    fn into_datum(self, _: Plain) -> Datum {
        Datum::from(self.to_bits())
    }
}
