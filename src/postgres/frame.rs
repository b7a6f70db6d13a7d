//! Call frames and datums: how PostgreSQL calls a Rust function and gets its result.
//!
//! pgrx's `#[pg_extern]` is not used, for three reasons: each allocation through it costs a `sigsetjmp`, an error
//! it carries is turned into UTF-8 whatever the server's encoding, and it cannot report soft errors.
#![allow(unsafe_code)]

use std::any::Any;
use std::ffi::{CStr, c_int, c_void};
use std::marker::PhantomData;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use pgrx::datum::{FromDatum, IntoDatum};
use pgrx::pg_sys::{self, Datum, FunctionCallInfo, Oid, RangeBound, RangeType, TypeCacheEntry, varlena};

use super::error::Error;
use super::time;
use crate::value::Ulid;
use crate::window::Window;

/// Exports functions by the version-1 calling convention: `symbol(argument types) -> result type = function;`.
///
/// The function is a safe one that returns the result or an [`Error`]. The types become [`SIGNATURES`], which a
/// test compares with the catalogue.
macro_rules! export {
    ($($symbol:ident($($argument:ty),*) -> $result:ty = $function:path;)*) => {
        $(const _: () = {
            #[unsafe(no_mangle)]
            #[allow(unsafe_code)]
            unsafe extern "C-unwind" fn $symbol(fcinfo: pgrx::pg_sys::FunctionCallInfo) -> pgrx::pg_sys::Datum {
                // SAFETY: PostgreSQL calls this with a valid frame that holds the arguments of the SQL function.
                // That those are of the types named here, and never null, is tested against the catalogue.
                unsafe {
                    frame::call::<$result, _>(fcinfo, |_frame| {
                        let mut _index = 0;
                        $function($({
                            _index += 1;
                            _frame.argument::<$argument>(_index - 1)
                        }),*)
                    })
                }
            }

            #[unsafe(export_name = concat!("pg_finfo_", stringify!($symbol)))]
            #[allow(unsafe_code)]
            extern "C" fn finfo() -> &'static pgrx::pg_sys::Pg_finfo_record {
                &pgrx::pg_sys::Pg_finfo_record { api_version: 1 }
            }
        };)*

        /// Symbol, SQL types of the arguments and of the result of each exported function.
        #[allow(dead_code)]
        const SIGNATURES: &[(&str, &[&str], &str)] = &[$((
            stringify!($symbol),
            &[$(<$argument as frame::Argument>::SQL),*],
            <$result as frame::Returned>::SQL,
        )),*];
    };
}
pub(super) use export;

/// The call frame of the function that PostgreSQL is calling.
#[derive(Clone, Copy)]
pub(super) struct Frame<'call> {
    fcinfo: FunctionCallInfo,
    call: PhantomData<&'call ()>,
}

impl<'call> Frame<'call> {
    /// The argument at this index, from 0.
    ///
    /// # Safety
    /// The frame has an argument there, it is not null, and its SQL type is the one of `A`.
    pub(super) unsafe fn argument<A: Argument<'call>>(self, index: usize) -> A {
        // SAFETY: promised by the caller.
        unsafe { A::from_datum((*self.fcinfo).args.as_slice(index + 1)[index].value) }
    }
}

/// Calls `body` for the frame that PostgreSQL gave, and turns its outcome into a datum or an error report.
///
/// A Rust panic becomes an ERROR of its own. It and any other error are reported after `body` has returned, and
/// allocating and reading a range are done without pgrx's `sigsetjmp`: PostgreSQL's `longjmp` then passes frames that
/// have nothing to drop.
///
/// pgrx's own guard is a function that is never inlined and hands the outcome over in memory, which costs more than
/// most of what is called here. This one is inlined, and then costs nothing until there is a panic.
///
/// # Safety
/// `fcinfo` is the frame of the present call.
#[inline(always)]
pub(super) unsafe fn call<'call, V: Returned, R: Outcome<'call, Value = V>>(
    fcinfo: FunctionCallInfo,
    body: impl FnOnce(Frame<'call>) -> R,
) -> Datum {
    let frame = Frame { fcinfo, call: PhantomData };
    // Unwind safe: what a panic may leave half done is the generator's state, every value of which is a valid one.
    match catch_unwind(AssertUnwindSafe(|| body(frame).into_result().map(Returned::into_datum))) {
        Ok(Ok(datum)) => datum,
        // SAFETY: the frame is valid, and nothing here waits to be dropped.
        Ok(Err(error)) => unsafe { report(error, fcinfo) },
        // SAFETY: the same; the panic itself is given away.
        Err(panic) => unsafe { report_panic(panic) },
    }
}

/// # Safety
/// `fcinfo` is the frame of the present call, and no frame from here to PostgreSQL has anything to drop.
#[cold]
unsafe fn report(error: Error<'_>, fcinfo: FunctionCallInfo) -> Datum {
    // SAFETY: promised by the caller.
    unsafe { error.report((*fcinfo).context) };
    Datum::null()
}

/// Lets pgrx report what it or Rust has thrown.
///
/// # Safety
/// No frame from here to PostgreSQL has anything to drop.
#[cold]
unsafe fn report_panic(panic: Box<dyn Any + Send>) -> Datum {
    // SAFETY: promised by the caller, and called on PostgreSQL's only thread.
    unsafe { pgrx::pg_sys::panic::pgrx_extern_c_guard(|| resume_unwind(panic)) }
}

/// A type that a function can take.
pub(super) trait Argument<'call>: Sized {
    /// The SQL type, as `format_type` writes it.
    const SQL: &'static str;

    /// # Safety
    /// The datum is of this SQL type, not null, and lives as long as the call. The caller's frames have nothing to drop.
    unsafe fn from_datum(datum: Datum) -> Self;
}

/// A type that a function can return.
pub(super) trait Returned {
    /// The SQL type, as `format_type` writes it.
    const SQL: &'static str;

    fn into_datum(self) -> Datum;
}

/// What a function returns: the value, or the value or an error.
pub(super) trait Outcome<'call> {
    type Value: Returned;

    fn into_result(self) -> Result<Self::Value, Error<'call>>;
}

impl<'call, T: Returned> Outcome<'call> for T {
    type Value = T;

    fn into_result(self) -> Result<T, Error<'call>> {
        Ok(self)
    }
}

impl<'call, T: Returned, E: Into<Error<'call>>> Outcome<'call> for Result<T, E> {
    type Value = T;

    fn into_result(self) -> Result<T, Error<'call>> {
        self.map_err(E::into)
    }
}

// Declared here because pgrx's own bindings set a jump for each call. An error of theirs passes frames that have nothing
// to drop.
unsafe extern "C-unwind" {
    fn palloc(size: usize) -> *mut c_void;
    fn pg_detoast_datum(datum: *mut varlena) -> *mut varlena;
    fn lookup_type_cache(kind: Oid, flags: c_int) -> *mut TypeCacheEntry;
    fn range_deserialize(
        cache: *mut TypeCacheEntry,
        range: *const RangeType,
        lower: *mut RangeBound,
        upper: *mut RangeBound,
        is_empty: *mut bool,
    );
}

/// Puts a value into the current memory context. It is made after the memory for it, so that no register has to be
/// kept for its pieces meanwhile.
#[inline(always)]
fn allocate<T: Copy>(value: impl FnOnce() -> T) -> Datum {
    const { assert!(align_of::<T>() == 1) };
    // SAFETY: palloc gives memory of this size or does not return, and the caller's frames have nothing to drop.
    unsafe {
        let pointer = palloc(size_of::<T>()).cast::<T>();
        pointer.write(value());
        Datum::from(pointer)
    }
}

impl<'call> Argument<'call> for &'call Ulid {
    const SQL: &'static str = "ulid";

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: a ulid is passed by reference to its 16 bytes, which need no alignment.
        unsafe { &*datum.cast_mut_ptr() }
    }
}

impl Returned for Ulid {
    const SQL: &'static str = "ulid";

    fn into_datum(self) -> Datum {
        allocate(|| self)
    }
}

/// A ulid as a number, for what is called most. In a `Result` with an [`Error`] its bytes would overlap with those
/// of the error, so that the compiler stores them in odd pieces, and whoever reads them next has to wait.
impl Returned for u128 {
    const SQL: &'static str = <Ulid as Returned>::SQL;

    fn into_datum(self) -> Datum {
        Ulid::from(self).into_datum()
    }
}

/// An argument given back without a copy.
impl Returned for &Ulid {
    const SQL: &'static str = "ulid";

    fn into_datum(self) -> Datum {
        Datum::from(std::ptr::from_ref(self))
    }
}

/// A uuid of core's type.
pub(super) struct Uuid(pub [u8; 16]);

impl<'call> Argument<'call> for Uuid {
    const SQL: &'static str = "uuid";

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: a uuid is passed by reference to its 16 bytes, which need no alignment.
        Self(unsafe { *datum.cast_mut_ptr() })
    }
}

impl Returned for Uuid {
    const SQL: &'static str = "uuid";

    fn into_datum(self) -> Datum {
        allocate(|| self.0)
    }
}

/// A record of the parts of a snowflake.
pub(super) struct SnowflakeParts {
    pub created_at: TimestampTz,
    pub datacenter: i32,
    pub worker: i32,
    pub sequence: i32,
}

impl Returned for SnowflakeParts {
    const SQL: &'static str = "record";

    fn into_datum(self) -> Datum {
        // The OUT parameters of the SQL function, which a test compares.
        let columns = [
            (c"created_at", pg_sys::TIMESTAMPTZOID, Datum::from(self.created_at.0)),
            (c"datacenter", pg_sys::INT4OID, Datum::from(self.datacenter)),
            (c"worker", pg_sys::INT4OID, Datum::from(self.worker)),
            (c"sequence", pg_sys::INT4OID, Datum::from(self.sequence)),
        ];
        let mut values = columns.map(|(_, _, value)| value);
        let mut nulls = [false; 4];
        // SAFETY: the descriptor has as many columns as there are values, of their types; all are palloc'ed here.
        // The types are passed by value, so nothing in the tuple is toasted and it is a datum as it stands.
        unsafe {
            let descriptor = pg_sys::CreateTemplateTupleDesc(columns.len() as c_int);
            for (number, (name, oid, _)) in (1..).zip(columns) {
                pg_sys::TupleDescInitEntry(descriptor, number, name.as_ptr(), oid, -1, 0);
            }
            pg_sys::BlessTupleDesc(descriptor);
            let tuple = pg_sys::heap_form_tuple(descriptor, values.as_mut_ptr(), nulls.as_mut_ptr());
            Datum::from((*tuple).t_data)
        }
    }
}

impl<'call> Argument<'call> for &'call CStr {
    const SQL: &'static str = "cstring";

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: a cstring is a pointer to bytes that end with a zero.
        unsafe { CStr::from_ptr(datum.cast_mut_ptr()) }
    }
}

/// The text of a ULID and the zero that ends it.
pub(super) struct Text(pub Ulid);

impl Returned for Text {
    const SQL: &'static str = "cstring";

    fn into_datum(self) -> Datum {
        allocate(|| (self.0.to_text(), 0_u8))
    }
}

/// A text in the server's encoding, which need not be UTF-8.
pub(super) struct TextArg<'call>(pub &'call [u8]);

impl<'call> Argument<'call> for TextArg<'call> {
    const SQL: &'static str = "text";

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: text is a varlena as bytea is.
        Self(unsafe { ByteaArg::from_datum(datum) }.0)
    }
}

pub(super) struct ByteaArg<'call>(pub &'call [u8]);

impl<'call> Argument<'call> for ByteaArg<'call> {
    const SQL: &'static str = "bytea";

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: not null, so pgrx gives the detoasted bytes, which live as long as the call.
        Self(unsafe { <&[u8]>::from_datum(datum, false) }.unwrap_or_default())
    }
}

/// The randomness of a ULID as a bytea.
pub(super) struct Bytea(pub [u8; 10]);

impl Returned for Bytea {
    const SQL: &'static str = "bytea";

    fn into_datum(self) -> Datum {
        self.0.as_slice().into_datum().unwrap_or(Datum::null())
    }
}

/// Microseconds since 2000-01-01 UTC; the extremes are the infinities.
pub(super) struct TimestampTz(pub i64);

/// Microseconds since 2000-01-01 in no time zone; the extremes are the infinities.
pub(super) struct Timestamp(pub i64);

impl Timestamp {
    /// The same moment in the session's time zone, by core's own cast.
    pub(super) fn from_timestamptz(value: TimestampTz) -> Self {
        // SAFETY: the function takes a timestamptz and is called with one.
        Self(unsafe { convert(pgrx::pg_sys::timestamptz_timestamp, value.0) })
    }

    /// The moment that this is in the session's time zone, by core's own cast.
    pub(super) fn into_timestamptz(self) -> TimestampTz {
        // SAFETY: the function takes a timestamp and is called with one.
        TimestampTz(unsafe { convert(pgrx::pg_sys::timestamp_timestamptz, self.0) })
    }
}

/// Calls a core function from and to a 64-bit value that is never null.
///
/// # Safety
/// The function is such a one.
unsafe fn convert(function: unsafe fn(FunctionCallInfo) -> Datum, value: i64) -> i64 {
    // SAFETY: promised by the caller.
    unsafe { pgrx::direct_function_call(function, &[Some(Datum::from(value))]) }.unwrap_or_default()
}

/// A node of the planner, or nothing: `internal`.
pub(super) struct Internal(pub *mut c_void);

impl<'call> Argument<'call> for Internal {
    const SQL: &'static str = "internal";

    unsafe fn from_datum(datum: Datum) -> Self {
        Self(datum.cast_mut_ptr())
    }
}

impl Returned for Internal {
    const SQL: &'static str = "internal";

    fn into_datum(self) -> Datum {
        Datum::from(self.0)
    }
}

/// A range of times as the ULIDs made within it.
pub(super) struct TstzRange(pub Window);

impl<'call> Argument<'call> for TstzRange {
    const SQL: &'static str = "tstzrange";

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: it is a tstzrange; promised by the caller.
        Self(unsafe { range_window(datum) })
    }
}

/// The same as an operand of the operators, whose type is a domain over tstzrange.
pub(super) struct UlidWindow(pub Window);

impl<'call> Argument<'call> for UlidWindow {
    const SQL: &'static str = "ulid_window";

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: it is a tstzrange; promised by the caller.
        Self(unsafe { range_window(datum) })
    }
}

/// The ULIDs made within a tstzrange.
///
/// # Safety
/// The datum is a tstzrange, not null. The caller's frames have nothing to drop.
pub(super) unsafe fn range_window(datum: Datum) -> Window {
    let [mut lower, mut upper] = [RangeBound::default(); 2];
    let mut is_empty = false;
    // SAFETY: promised by the caller.
    unsafe {
        let range = pg_detoast_datum(datum.cast_mut_ptr()).cast();
        let cache = lookup_type_cache(pg_sys::TSTZRANGEOID, pg_sys::TYPECACHE_RANGE_INFO as c_int);
        range_deserialize(cache, range, &mut lower, &mut upper, &mut is_empty);
    }
    if is_empty { Window::EMPTY } else { Window::new(range_bound(lower), range_bound(upper)) }
}

/// A bound of a tstzrange in microseconds since the Unix epoch.
fn range_bound(bound: RangeBound) -> Bound<i128> {
    let us = i128::from(bound.val.value() as i64) + i128::from(time::POSTGRES_EPOCH_MS) * 1000;
    match bound {
        RangeBound { infinite: true, .. } => Bound::Unbounded,
        RangeBound { inclusive: true, .. } => Bound::Included(us),
        _ => Bound::Excluded(us),
    }
}

macro_rules! by_value {
    ($type:ty, $sql:literal, $from:expr, $into:expr) => {
        impl<'call> Argument<'call> for $type {
            const SQL: &'static str = $sql;

            unsafe fn from_datum(datum: Datum) -> Self {
                $from(datum.value() as i64)
            }
        }

        impl Returned for $type {
            const SQL: &'static str = $sql;

            fn into_datum(self) -> Datum {
                Datum::from($into(self))
            }
        }
    };
}

by_value!(i64, "bigint", |value| value, |value| value);
by_value!(TimestampTz, "timestamp with time zone", TimestampTz, |value: TimestampTz| value.0);
by_value!(Timestamp, "timestamp without time zone", Timestamp, |value: Timestamp| value.0);
by_value!(bool, "boolean", |value| value != 0, |value| value);
by_value!(i32, "integer", |value| value as i32, |value| value);
by_value!(Oid, "oid", |value| Oid::from(value as u32), |value| value);

impl Returned for f64 {
    const SQL: &'static str = "double precision";

    fn into_datum(self) -> Datum {
        Datum::from(self.to_bits())
    }
}
