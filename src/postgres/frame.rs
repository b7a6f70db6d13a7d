//! The calling convention: how PostgreSQL calls a Rust function and gets its result.
//!
//! pgrx's `#[pg_extern]` is not used, for three reasons: each allocation through it costs a `sigsetjmp`, an error that
//! it carries is converted to UTF-8 whatever the server's encoding is, and it cannot report soft errors.
#![allow(unsafe_code)]

use std::any::Any;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use pgrx::pg_sys::{Datum, FmgrInfo, FunctionCallInfo};

use super::error::Error;

/// Exports functions with the version-1 calling convention: `symbol(argument types) -> result type = function;`.
///
/// The function is safe and returns the result or an [`Error`]. The types become [`SIGNATURES`], which a test compares
/// with the catalogue.
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
        unsafe { A::from_frame(self, index) }
    }

    /// The datum of the argument at this index, from 0.
    ///
    /// # Safety
    /// The frame has an argument there.
    pub(super) unsafe fn datum(self, index: usize) -> Datum {
        // SAFETY: promised by the caller.
        unsafe { (*self.fcinfo).args.as_slice(index + 1)[index].value }
    }

    /// What PostgreSQL knows about the called function at this place of this query; null if it is called from C alone.
    pub(super) fn function(self) -> *mut FmgrInfo {
        // SAFETY: the frame is that of the present call.
        unsafe { (*self.fcinfo).flinfo }
    }
}

/// Calls `body` for the frame that PostgreSQL passed, and turns its outcome into a datum or an error report.
///
/// A Rust panic becomes a separate ERROR. It and any other error are reported after `body` has returned. Allocating and
/// reading a range do without pgrx's `sigsetjmp`. So PostgreSQL's `longjmp` only passes frames that have nothing to
/// drop.
///
/// pgrx's own guard is a function that is never inlined and returns the outcome through memory. That costs more than
/// most of the functions called here. This guard is inlined, and costs nothing until there is a panic.
///
/// # Safety
/// `fcinfo` is the frame of the present call.
#[inline(always)]
pub(super) unsafe fn call<'call, V: Returned, R: Outcome<'call, Value = V>>(
    fcinfo: FunctionCallInfo,
    body: impl FnOnce(Frame<'call>) -> R,
) -> Datum {
    let frame = Frame { fcinfo, call: PhantomData };
    // Unwind safe: a panic can only leave the state of the generator half changed, and each of its values is valid.
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

    /// The argument of a call, for types that can use the call to read it more cheaply.
    ///
    /// # Safety
    /// As for `from_datum`, of the argument at this index.
    #[inline(always)]
    unsafe fn from_frame(frame: Frame<'call>, index: usize) -> Self {
        // SAFETY: promised by the caller.
        unsafe { Self::from_datum(frame.datum(index)) }
    }
}

/// A type that a function can return.
pub(super) trait Returned {
    /// The SQL type, as `format_type` writes it.
    const SQL: &'static str;

    fn into_datum(self) -> Datum;
}

/// The return value of a function: the value, or a `Result` of the value and an error.
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
