//! The function manager's side of each function: the version-1 calling convention of `fmgr.h`.
//!
//! # Why not `#[pg_extern]`
//! Generators, input and output run once per row. `#[pg_extern]` enters Rust through
//! `pgrx_extern_c_guard`, see [`call`], and allocates the result through a binding, which calls
//! `sigsetjmp`. A function that allocates nothing gains little by this. But if some were
//! `#[pg_extern]`, each SQL type would need both sets of traits. So [`export!`] exports them all.
//!
//! # How an ERROR travels
//! The body of each function runs under `catch_unwind` ([`call`]): it may call any of pgrx's
//! bindings. An ERROR raised there becomes a panic, which runs destructors, and pgrx then rethrows
//! the original ErrorData. A `#[pg_guard]` function that Rust itself calls is an exception: its
//! ERROR is a siglongjmp, so it is called through `pg_guard_ffi_boundary`. Every other panic
//! becomes an ERROR, too. Code that reads arguments or returns results must not panic: it runs
//! outside `catch_unwind`.
//!
//! The arguments are read before that, and the result is built after it, by the functions of
//! [`longjmp`]. Their ERROR is a siglongjmp to `PG_exception_stack`. It skips the frames of this
//! file and of the functions that read and return datums, so no local there may need Drop while
//! such a function runs. The traits enforce that arguments, results and errors are `Copy`.
//!
//! The only value that is not `Copy` is the payload of a panic. It is live only in the `Err` arm of
//! [`call`], which calls no function of [`longjmp`] and moves the payload into
//! `pgrx_extern_c_guard`.
#![allow(unsafe_code)]

use std::any::Any;
use std::panic::{UnwindSafe, catch_unwind, resume_unwind};

use pgrx::pg_sys::{Datum, FunctionCallInfo, NullableDatum};

use crate::error::Result;

const _: () = assert!(
    size_of::<Datum>() == 8,
    "a 64-bit server is needed: timestamptz and bigint are passed by value"
);

/// Functions of PostgreSQL without pgrx's `sigsetjmp`: their ERROR is a siglongjmp. They are for
/// code that runs outside of `catch_unwind`, where a panic is not allowed, mostly once per row.
///
/// # Safety
/// Besides what each of them asks for: every frame between the call and the next `sigsetjmp` must
/// own nothing that needs Drop.
pub(crate) mod longjmp {
    use std::ffi::{c_char, c_int, c_void};

    #[cfg(not(feature = "pg15"))]
    use pgrx::pg_sys::Node;
    use pgrx::pg_sys::{MemoryContext, Oid, RangeBound, RangeType, TypeCacheEntry, varlena};

    // What ereport() expands to. pgrx tells bindgen to leave these out. scripts/check-build.sh has
    // the C compiler compare these signatures with the header.
    unsafe extern "C-unwind" {
        pub(crate) fn errstart(level: c_int, domain: *const c_char) -> bool;
        pub(crate) fn errfinish(file: *const c_char, line: c_int, function: *const c_char);
        pub(crate) fn errcode(sqlstate: c_int) -> c_int;
        pub(crate) fn errmsg(format: *const c_char, ...) -> c_int;
        pub(crate) fn errdetail(format: *const c_char, ...) -> c_int;
        pub(crate) fn errhint(format: *const c_char, ...) -> c_int;
    }

    /// Declares C functions. Each `const` makes the compiler compare a signature with that of
    /// pgrx's binding, which bindgen has made from the header.
    macro_rules! declare {
        ($(
            $(#[$attribute:meta])*
            fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;
        )*) => {
            unsafe extern "C-unwind" {
                $($(#[$attribute])* pub(crate) fn $name($($argument: $type),*) $(-> $result)?;)*
            }
            $(
                $(#[$attribute])*
                const _: unsafe fn($($type),*) $(-> $result)? = pgrx::pg_sys::$name;
            )*
        };
    }

    declare! {
        #[cfg(not(feature = "pg15"))]
        fn errsave_start(context: *mut Node, domain: *const c_char) -> bool;
        #[cfg(not(feature = "pg15"))]
        fn errsave_finish(
            context: *mut Node,
            file: *const c_char,
            line: c_int,
            function: *const c_char,
        );
        fn palloc(size: usize) -> *mut c_void;
        fn MemoryContextAlloc(context: MemoryContext, size: usize) -> *mut c_void;
        fn pg_detoast_datum(datum: *mut varlena) -> *mut varlena;
        fn pg_detoast_datum_packed(datum: *mut varlena) -> *mut varlena;
        fn lookup_type_cache(typid: Oid, flags: c_int) -> *mut TypeCacheEntry;
        fn range_deserialize(
            cache: *mut TypeCacheEntry,
            range: *const RangeType,
            lower: *mut RangeBound,
            upper: *mut RangeBound,
            is_empty: *mut bool,
        );
    }
}

/// Exports safe Rust functions as the C symbols that CREATE FUNCTION names:
/// `symbol(argument: type, …) -> result type = function;`. Types are Rust's, which implement
/// [`Argument`] or [`Returned`].
///
/// A SQL function that is not STRICT is called with nulls. So either all its arguments are
/// `Option<T>`, or it must be STRICT. [`Fcinfo`] is no argument in SQL, and counts for neither.
///
/// The SQL types become `SIGNATURES`, which a test compares with the catalog.
macro_rules! export {
    ($($symbol:ident($($argument:ident: $type:ty),*) -> $result:ty = $function:expr;)*) => {
        $(const _: () = {
            #[unsafe(no_mangle)]
            #[allow(unsafe_code)]
            unsafe extern "C-unwind" fn $symbol(
                fcinfo: pgrx::pg_sys::FunctionCallInfo,
            ) -> pgrx::pg_sys::Datum {
                // SAFETY: PostgreSQL calls this with the arguments of the SQL function. That their
                // types are these, and which can be null, is tested against the catalog. What was
                // read of one is `Copy`, so the ERROR of the next can skip it.
                unsafe {
                    // Its name lets a function without arguments leave it unused.
                    let mut _index = 0;
                    $(
                        let $argument =
                            <$type as $crate::fmgr::Argument>::from_fcinfo(fcinfo, _index);
                        _index += 1;
                    )*
                    $crate::fmgr::call::<$result, _>(fcinfo, || $function($($argument),*))
                }
            }

            // What PG_FUNCTION_INFO_V1 declares.
            #[unsafe(export_name = concat!("pg_finfo_", stringify!($symbol)))]
            #[allow(unsafe_code)]
            extern "C" fn finfo() -> &'static pgrx::pg_sys::Pg_finfo_record {
                &pgrx::pg_sys::Pg_finfo_record { api_version: 1 }
            }
        };)*

        /// Of each exported function: the symbol, the SQL types of the arguments and of the result,
        /// and whether it is STRICT.
        #[allow(dead_code)]
        const SIGNATURES: &[(&str, &[&str], &str, bool)] = &[
            $((
                stringify!($symbol),
                &[$(<$type as $crate::fmgr::Argument>::SQL),*],
                <$result as $crate::fmgr::Returned>::SQL,
                true $(&& !<$type as $crate::fmgr::Argument>::NULLABLE)*,
            ),)*
        ];
    };
}
pub(crate) use export;

/// Runs the body of an exported function. Returns its result to PostgreSQL as a Datum, or raises
/// its error or panic as an ERROR.
///
/// This is not `pgrx_extern_c_guard`, whose `run_guarded` is never inlined and returns the result
/// through memory. `catch_unwind` costs nothing until there is a panic. Then `pgrx_extern_c_guard`
/// is called, and throws the panic again.
///
/// # Safety
/// `fcinfo` is that of the present call. Every frame up to the next `sigsetjmp` owns nothing that
/// needs Drop ([`longjmp`]).
#[inline(always)]
pub(crate) unsafe fn call<R, F>(fcinfo: FunctionCallInfo, function: F) -> Datum
where
    R: Returned,
    F: FnOnce() -> R + UnwindSafe + Copy,
{
    match catch_unwind(function) {
        // SAFETY: the result and the function are `Copy`, so an ERROR skips nothing to drop.
        Ok(result) => unsafe { result.return_from(fcinfo) },
        // SAFETY: the function is `Copy`, and the payload is moved, so an ERROR skips nothing.
        Err(panic) => unsafe { raise(panic) },
    }
}

/// Raises the ERROR that became this panic again, or any other panic as an ERROR. It never returns.
///
/// # Safety
/// Every frame up to the next `sigsetjmp` owns nothing that needs Drop ([`longjmp`]).
#[cold]
unsafe fn raise(panic: Box<dyn Any + Send>) -> Datum {
    // SAFETY: the box is moved into the closure, so no frame that the ERROR skips owns it.
    unsafe { pgrx::pg_sys::panic::pgrx_extern_c_guard(|| resume_unwind(panic)) }
}

/// The Datum of the argument at this index, from 0, and whether it is null.
///
/// # Safety
/// `fcinfo` is that of the present call, and `index` is less than its `nargs`.
#[inline(always)]
pub(crate) unsafe fn argument(fcinfo: FunctionCallInfo, index: usize) -> NullableDatum {
    // SAFETY: the flexible array `args` has `nargs` elements. The slice ends with this one.
    unsafe { (*fcinfo).args.as_slice(index + 1)[index] }
}

/// A Rust type that an exported function can take. It is `Copy`, because an ERROR may skip the
/// frame that holds it.
pub(crate) trait Argument: Copy {
    /// The SQL type, as format_type() writes it; empty if it is no argument in SQL ([`Fcinfo`]).
    const SQL: &'static str;

    /// Whether the argument can be null.
    const NULLABLE: bool = false;

    /// The value of a Datum. An ERROR in it, as of detoasting, longjmps.
    ///
    /// # Safety
    /// The datum is of this SQL type, is not null and lives as long as the call. Every frame up to
    /// the next `sigsetjmp` owns nothing that needs Drop ([`longjmp`]).
    unsafe fn from_datum(datum: Datum) -> Self;

    /// The same through pgrx's guard, in code that may own what needs Drop: an ERROR becomes a
    /// panic.
    ///
    /// # Safety
    /// The datum is of this SQL type, is not null and lives as long as the value. So does
    /// CurrentMemoryContext: a detoasted copy is in it.
    unsafe fn from_datum_guarded(datum: Datum) -> Self {
        // SAFETY: an ERROR ends at the `sigsetjmp` here, and skips only values that are `Copy`.
        // Nothing in it panics: a panic would leave PG_exception_stack at a frame that is gone.
        unsafe { pgrx::pg_sys::ffi::pg_guard_ffi_boundary(|| Self::from_datum(datum)) }
    }

    /// The value of the argument at this index, from 0.
    ///
    /// # Safety
    /// As for [`Self::from_datum`], of an argument of the present call.
    #[inline(always)]
    unsafe fn from_fcinfo(fcinfo: FunctionCallInfo, index: usize) -> Self {
        // SAFETY: the SQL function has this argument, of this type. It is not null: either
        // `Option::from_fcinfo` calls this and has looked, or the function is STRICT.
        unsafe { Self::from_datum(argument(fcinfo, index).value) }
    }
}

/// An argument that can be null.
impl<A: Argument> Argument for Option<A> {
    const SQL: &'static str = A::SQL;
    const NULLABLE: bool = true;

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: the SQL type is that of `A`.
        Some(unsafe { A::from_datum(datum) })
    }

    unsafe fn from_fcinfo(fcinfo: FunctionCallInfo, index: usize) -> Self {
        // SAFETY: the SQL function has this argument. It is read only if it is not null.
        unsafe { (!argument(fcinfo, index).isnull).then(|| A::from_fcinfo(fcinfo, index)) }
    }
}

/// PostgreSQL's FunctionCallInfo of the present call, for a function that needs more of it than the
/// arguments, such as `context` or `flinfo`. It is no argument in SQL, so it comes after those that
/// are. Only `export!` makes one.
#[derive(Clone, Copy)]
pub(crate) struct Fcinfo(FunctionCallInfo);

impl Fcinfo {
    /// The pointer, which is valid until the call returns.
    pub(crate) fn as_ptr(self) -> FunctionCallInfo {
        self.0
    }
}

impl Argument for Fcinfo {
    // No argument in SQL.
    const SQL: &'static str = "";

    // Nothing calls this, since no Datum is read.
    unsafe fn from_datum(datum: Datum) -> Self {
        Self(datum.cast_mut_ptr())
    }

    unsafe fn from_fcinfo(fcinfo: FunctionCallInfo, _: usize) -> Self {
        Self(fcinfo)
    }
}

/// A Rust type that an exported function can return. It is `Copy`, because an ERROR may skip the
/// frame that holds it.
pub(crate) trait Returned: Copy {
    /// The SQL type, as format_type() writes it.
    const SQL: &'static str;

    /// Makes the Datum for PostgreSQL. It may set `isnull`, which is false before. It may save a
    /// soft error ([`Error::errsave`](crate::error::Error::errsave)); then the caller ignores the
    /// Datum. It may raise an ERROR, which longjmps.
    ///
    /// # Safety
    /// `fcinfo` is that of the present call. Every frame up to the next `sigsetjmp` owns nothing
    /// that needs Drop ([`longjmp`]).
    unsafe fn return_from(self, fcinfo: FunctionCallInfo) -> Datum;
}

/// A value or SQL null.
impl<T: Returned> Returned for Option<T> {
    const SQL: &'static str = T::SQL;

    #[inline(always)]
    unsafe fn return_from(self, fcinfo: FunctionCallInfo) -> Datum {
        // SAFETY: `fcinfo` is that of the present call. The value is `Copy`.
        unsafe {
            (*fcinfo).isnull = self.is_none();
            self.map_or(Datum::null(), |value| value.return_from(fcinfo))
        }
    }
}

/// A value, or an error that is raised here.
impl<T: Returned> Returned for Result<T> {
    const SQL: &'static str = T::SQL;

    #[inline(always)]
    unsafe fn return_from(self, fcinfo: FunctionCallInfo) -> Datum {
        // SAFETY: `fcinfo` is that of the present call. The value and the error are `Copy`.
        unsafe {
            match self {
                Ok(value) => value.return_from(fcinfo),
                Err(error) => {
                    error.errsave(fcinfo);
                    Datum::null()
                }
            }
        }
    }
}

/// No result: `void`. Its Datum is zero, as that of PG_RETURN_VOID().
impl Returned for () {
    const SQL: &'static str = "void";

    unsafe fn return_from(self, _: FunctionCallInfo) -> Datum {
        Datum::null()
    }
}
