//! The calling convention: how PostgreSQL calls a Rust function and gets its result.
//!
//! pgrx's `#[pg_extern]` is not used, for three reasons: each allocation through it costs a
//! `sigsetjmp`, an error that it carries is converted to UTF-8 whatever the server's encoding is,
//! and it cannot report soft errors.
//!
//! PostgreSQL reports an error by `longjmp`, which may only pass frames that have nothing to drop
//! and are not catching a panic: here called plain. What calls the server takes a [`Plain`]. So
//! each call has three steps:
//! 1. The arguments are read, which can call the server.
//! 2. The function computes the result. It does not call the server, and is the only thing whose
//!    panic is caught.
//! 3. The result becomes a datum, or the error a report, which again can call the server.
//!
//! A hook, of the planner, of BRIN or for the horizon, calls the server throughout: it has the
//! first and the last step only, and must not panic, as nothing would catch it.
#![allow(unsafe_code)]

use std::any::Any;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::panic::{UnwindSafe, catch_unwind, resume_unwind};

use pgrx::pg_sys::{Datum, FmgrInfo, FunctionCallInfo};

use super::report::Error;

/// Exports functions with the version-1 calling convention: `symbol(argument: type, …) -> result
/// type = function;`.
///
/// A function computes: it is safe, does not call the server, and returns the result or an
/// [`Error`]. What it needs of the server besides its arguments, it is given by the function behind
/// `using`, as its last argument. A hook calls the server and does not panic; its last argument is
/// a [`Plain`].
///
/// The types become [`SIGNATURES`], which a test compares with the catalog.
macro_rules! export {
    (
        functions {
            $($symbol:ident($($argument:ident: $type:ty),*) -> $result:ty = $function:path
              $(, using $context:ident: $of_server:path)?;)*
        }
        hooks {
            $($hook:ident($($hook_argument:ident: $hook_type:ty),*) -> $hook_result:ty = $hook_function:path;)*
        }
    ) => {
        $(frame::export! { $symbol, _arguments, {
            $(let $context = $of_server(_arguments.frame().plain());)?
            $(let $argument = _arguments.next::<$type>();)*
            frame::compute::<_, $result, _>(_arguments.frame(), || $function($($argument,)* $($context)?))
        } })*
        $(frame::export! { $hook, _arguments, {
            $(let $hook_argument = _arguments.next::<$hook_type>();)*
            let result: $hook_result = $hook_function($($hook_argument,)* _arguments.frame().plain());
            frame::Returned::into_result_of(result, _arguments.frame())
        } })*

        /// Symbol, SQL types of the arguments and of the result of each exported function.
        #[allow(dead_code)]
        const SIGNATURES: &[(&str, &[&str], &str)] = &[
            $((
                stringify!($symbol),
                &[$(<$type as frame::Argument>::SQL),*],
                <$result as frame::Returned>::SQL,
            ),)*
            $((
                stringify!($hook),
                &[$(<$hook_type as frame::Argument>::SQL),*],
                <$hook_result as frame::Returned>::SQL,
            ),)*
        ];
    };
    ($symbol:ident, $arguments:ident, $body:block) => {
        #[unsafe(no_mangle)]
        #[allow(unsafe_code)]
        unsafe extern "C-unwind" fn $symbol(fcinfo: pgrx::pg_sys::FunctionCallInfo) -> pgrx::pg_sys::Datum {
            // SAFETY: PostgreSQL calls this with a valid frame that holds the arguments of the SQL
            // function. That those are of the types named here, and never null, is tested against
            // the catalog.
            #[allow(unused_mut, reason = "a function may have none")]
            let mut $arguments = unsafe { frame::Arguments::of(frame::Frame::of(fcinfo)) };
            $body
        }

        const _: () = {
            #[unsafe(export_name = concat!("pg_finfo_", stringify!($symbol)))]
            #[allow(unsafe_code)]
            extern "C" fn finfo() -> &'static pgrx::pg_sys::Pg_finfo_record {
                &pgrx::pg_sys::Pg_finfo_record { api_version: 1 }
            }
        };
    };
}
pub(crate) use export;

/// What says that all frames from here up to PostgreSQL are plain: who takes one may call the
/// server, and so not return, and has nothing to drop. Only what PostgreSQL calls makes one. A
/// closure that a panic is caught around cannot hold it.
#[derive(Clone, Copy)]
pub(crate) struct Plain(PhantomData<*mut UnsafeCell<()>>);

impl Plain {
    /// # Safety
    /// PostgreSQL has called the caller, which has nothing to drop and keeps this no longer than
    /// the call.
    #[inline(always)]
    pub(crate) const unsafe fn new() -> Self {
        Self(PhantomData)
    }
}

/// The call frame of the function that PostgreSQL is calling.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'call> {
    fcinfo: FunctionCallInfo,
    plain: Plain,
    call: PhantomData<&'call ()>,
}

impl<'call> Frame<'call> {
    /// # Safety
    /// It is the frame of the present call, and the contract is that of [`Plain::new`].
    #[inline(always)]
    pub(crate) unsafe fn of(fcinfo: FunctionCallInfo) -> Self {
        // SAFETY: the contract is that of this function.
        let plain = unsafe { Plain::new() };
        Self {
            fcinfo,
            plain,
            call: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn plain(self) -> Plain {
        self.plain
    }

    /// The datum of the argument at this index, from 0.
    ///
    /// # Safety
    /// The frame has an argument there.
    pub(crate) unsafe fn datum(self, index: usize) -> Datum {
        // SAFETY: a frame has as many arguments behind it as the function takes.
        unsafe { (*self.fcinfo).args.as_slice(index + 1)[index].value }
    }

    /// What PostgreSQL knows about the called function at this place of this query; null if it is
    /// called from C alone.
    pub(crate) fn function(self) -> *mut FmgrInfo {
        // SAFETY: the frame is that of the present call.
        unsafe { (*self.fcinfo).flinfo }
    }

    /// Where a soft error goes; null if none is wanted.
    #[cfg(not(feature = "pg15"))]
    pub(super) fn context(self) -> *mut pgrx::pg_sys::Node {
        // SAFETY: the frame is that of the present call.
        unsafe { (*self.fcinfo).context }
    }
}

/// The arguments of a call, read in their order.
pub(crate) struct Arguments<'call> {
    frame: Frame<'call>,
    next: usize,
}

impl<'call> Arguments<'call> {
    /// # Safety
    /// The arguments of the frame are of the types that [`Self::next`] will be asked for, and not
    /// null.
    #[inline(always)]
    pub(crate) unsafe fn of(frame: Frame<'call>) -> Self {
        Self { frame, next: 0 }
    }

    pub(crate) fn frame(&self) -> Frame<'call> {
        self.frame
    }

    /// The next argument.
    #[inline(always)]
    pub(crate) fn next<A: Argument<'call>>(&mut self) -> A {
        let index = self.next;
        self.next += 1;
        // SAFETY: the contract of `of`.
        unsafe { A::from_frame(self.frame, index) }
    }
}

/// The second and the third step of a call.
///
/// A panic becomes a separate ERROR. pgrx's own guard is a function that is never inlined and
/// returns the outcome through memory. That costs more than most of the functions called here. This
/// guard is inlined, and costs nothing until there is a panic. That loses the generator, and the
/// next call makes a new one.
#[inline(always)]
pub(crate) fn compute<'call, R, V, F>(frame: Frame<'call>, function: F) -> Datum
where
    R: Outcome<'call, Value = V> + Copy,
    V: Returned,
    F: FnOnce() -> R + UnwindSafe + Copy,
{
    // This frame is plain: all of it can be copied, and a panic is given away.
    match catch_unwind(move || function().into_result()) {
        Ok(Ok(value)) => value.into_result_of(frame),
        Ok(Err(error)) => {
            error.report(frame);
            Datum::null()
        }
        Err(panic) => report_panic(panic, frame.plain),
    }
}

/// Lets pgrx report what it or Rust has thrown.
#[cold]
fn report_panic(panic: Box<dyn Any + Send>, _: Plain) -> Datum {
    // SAFETY: the guard raises an ERROR from frames that hold nothing but plain values, on
    // PostgreSQL's only thread.
    unsafe { pgrx::pg_sys::panic::pgrx_extern_c_guard(|| resume_unwind(panic)) }
}

/// A type that a function can take. As it can be copied, it has nothing to drop.
pub(crate) trait Argument<'call>: Copy {
    /// The SQL type, as `format_type` writes it.
    const SQL: &'static str;

    /// # Safety
    /// The datum is of this SQL type, not null, and lives as long as the call.
    unsafe fn from_datum(datum: Datum, plain: Plain) -> Self;

    /// The argument of a call, for types that can use the call to read it more cheaply.
    ///
    /// # Safety
    /// As for `from_datum`, of the argument at this index.
    #[inline(always)]
    unsafe fn from_frame(frame: Frame<'call>, index: usize) -> Self {
        // SAFETY: the datum is the argument that this type is read from.
        unsafe { Self::from_datum(frame.datum(index), frame.plain) }
    }
}

/// A type that a function can return. As it can be copied, it has nothing to drop.
pub(crate) trait Returned: Copy {
    /// The SQL type, as `format_type` writes it.
    const SQL: &'static str;

    /// The datum.
    fn into_datum(self, plain: Plain) -> Datum;

    /// The result of a call, for types that can be null.
    #[inline(always)]
    fn into_result_of(self, frame: Frame<'_>) -> Datum {
        self.into_datum(frame.plain)
    }
}

/// A value or null.
impl<T: Returned> Returned for Option<T> {
    const SQL: &'static str = T::SQL;

    fn into_datum(self, plain: Plain) -> Datum {
        self.map_or(Datum::null(), |value| value.into_datum(plain))
    }

    fn into_result_of(self, frame: Frame<'_>) -> Datum {
        // SAFETY: the frame is that of the present call.
        unsafe { (*frame.fcinfo).isnull = self.is_none() };
        self.into_datum(frame.plain)
    }
}

/// Nothing.
impl Returned for () {
    const SQL: &'static str = "void";

    fn into_datum(self, _: Plain) -> Datum {
        Datum::null()
    }
}

/// The return value of a function: the value, or a `Result` of the value and an error.
pub(crate) trait Outcome<'call> {
    type Value: Returned;

    fn into_result(self) -> Result<Self::Value, Error<'call>>;
}

impl<'call, T: Returned> Outcome<'call> for T {
    type Value = T;

    fn into_result(self) -> Result<T, Error<'call>> {
        Ok(self)
    }
}

impl<'call, T: Returned> Outcome<'call> for Result<T, Error<'call>> {
    type Value = T;

    fn into_result(self) -> Result<T, Error<'call>> {
        self
    }
}
