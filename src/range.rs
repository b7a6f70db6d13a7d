//! A tstzrange as the ULIDs created within it.
//!
//! The functions of [`longjmp`] are PostgreSQL's, without pgrx's guard: their ERROR is a
//! siglongjmp, which skips the frames here. For [`Window`], [`Argument::from_fcinfo`] reads an
//! argument of a call from SQL, and [`Argument::from_datum`] any other value.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::ops::Bound;

use pg_ulid::Window;
use pgrx::pg_sys::{
    self, Datum, FmgrInfo, FuncExpr, FunctionCallInfo, Node, NodeTag, OpExpr, RangeBound,
    TypeCacheEntry,
};

use crate::datum::POSTGRES_EPOCH_MS;
use crate::fmgr::{Argument, argument, longjmp};
use crate::list::list_cells;

/// An argument of type tstzrange, as the ULIDs created within it.
#[derive(Clone, Copy)]
pub(crate) struct TstzRange(pub Window);

impl Argument for TstzRange {
    const SQL: &'static str = "tstzrange";

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: the type cache entry is that of the datum's type.
        Self(unsafe { window_of_range(datum, tstzrange_typcache()) })
    }
}

/// An argument of type `ulid_window`, the domain over tstzrange that the operators take, as the
/// ULIDs created within it.
impl Argument for Window {
    const SQL: &'static str = "ulid_window";

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: the domain has the values of tstzrange.
        unsafe { TstzRange::from_datum(datum) }.0
    }

    /// Keeps what it has looked up in `fn_extra`, as PostgreSQL's range functions do.
    #[inline(always)]
    unsafe fn from_fcinfo(fcinfo: FunctionCallInfo, index: usize) -> Self {
        // SAFETY: this is the present call. Nobody but this function uses `fn_extra` of the
        // functions that take a window, so what is there was put there by `fill_fn_extra`.
        unsafe {
            let (flinfo, datum) = ((*fcinfo).flinfo, argument(fcinfo, index).value);
            // Null in a DirectFunctionCall.
            if flinfo.is_null() {
                return Self::from_datum(datum);
            }
            let mut cached = (*flinfo).fn_extra.cast::<CachedWindow>();
            if cached.is_null() {
                cached = fill_fn_extra(flinfo, index, datum);
            }
            let CachedWindow { typcache, window } = cached.read_unaligned();
            window.unwrap_or_else(|| window_of_range(datum, typcache))
        }
    }
}

/// What `fn_extra` points to: what is the same for all calls through one FmgrInfo. Read and write
/// it unaligned, because MAXALIGN is less than the alignment of this struct.
struct CachedWindow {
    /// The type cache entry of tstzrange.
    typcache: *mut TypeCacheEntry,
    /// The ULIDs within the range; `None` if the range must be read at each call. Set it only if
    /// the argument is a Const. A Param must not count: PL/pgSQL reuses one ExprState, and so one
    /// FmgrInfo, for many values. If the domain has a CHECK, the argument is a CoerceToDomain and
    /// no Const.
    ///
    /// Never keep a pointer to the RangeType instead: a detoasted copy is in per-tuple memory.
    window: Option<Window>,
}

/// Fills `fn_extra` at the first call through this FmgrInfo, and returns it.
///
/// # Safety
/// The datum is the argument at this index, a tstzrange, of a present call of the function. Every
/// frame up to the next `sigsetjmp` owns nothing that needs Drop ([`longjmp`]).
#[cold]
unsafe fn fill_fn_extra(flinfo: *mut FmgrInfo, index: usize, datum: Datum) -> *mut CachedWindow {
    // SAFETY: `fn_mcxt` lives as long as `flinfo`; the datum is read in this call.
    unsafe {
        let typcache = tstzrange_typcache();
        let window =
            is_constant((*flinfo).fn_expr, index).then(|| window_of_range(datum, typcache));
        let size = size_of::<CachedWindow>();
        let cached = longjmp::MemoryContextAlloc((*flinfo).fn_mcxt, size).cast::<CachedWindow>();
        cached.write_unaligned(CachedWindow { typcache, window });
        (*flinfo).fn_extra = cached.cast();
        cached
    }
}

/// Whether the argument at this index of the call is a Const. Only an OpExpr and a FuncExpr have
/// the arguments of the function. In `id <@ ANY (array)`, the second argument of the
/// ScalarArrayOpExpr is the array, not the operand.
///
/// # Safety
/// The node is the expression that PostgreSQL keeps with a function, or null.
unsafe fn is_constant(call: *mut Node, index: usize) -> bool {
    // SAFETY: PostgreSQL keeps the expression as long as the function; the tag of a node says of
    // what kind it is.
    unsafe {
        if call.is_null() {
            return false;
        }
        let arguments = match (*call).type_ {
            NodeTag::T_OpExpr => (*call.cast::<OpExpr>()).args,
            NodeTag::T_FuncExpr => (*call.cast::<FuncExpr>()).args,
            _ => return false,
        };
        let argument = list_cells(arguments).get(index);
        argument
            .is_some_and(|argument| (*argument.ptr_value.cast::<Node>()).type_ == NodeTag::T_Const)
    }
}

/// The type cache entry of tstzrange, which is never freed.
///
/// # Safety
/// Every frame up to the next `sigsetjmp` owns nothing that needs Drop ([`longjmp`]).
unsafe fn tstzrange_typcache() -> *mut TypeCacheEntry {
    let flags = pg_sys::TYPECACHE_RANGE_INFO as c_int;
    // SAFETY: nothing that is passed is a pointer. The result is an entry, or it raises an ERROR,
    // for which the caller is ready.
    unsafe { longjmp::lookup_type_cache(pg_sys::TSTZRANGEOID, flags) }
}

/// The ULIDs created within a tstzrange.
///
/// # Safety
/// The datum is a tstzrange, not null, and the type cache entry that of its type. Every frame up to
/// the next `sigsetjmp` owns nothing that needs Drop ([`longjmp`]).
unsafe fn window_of_range(datum: Datum, typcache: *mut TypeCacheEntry) -> Window {
    let [mut lower, mut upper] = [RangeBound::default(); 2];
    let mut is_empty = false;
    // SAFETY: detoasted, a tstzrange is a RangeType of the type that the type cache entry
    // describes.
    unsafe {
        let range = longjmp::pg_detoast_datum(datum.cast_mut_ptr()).cast();
        let [to_lower, to_upper] = [&mut lower, &mut upper];
        longjmp::range_deserialize(typcache, range, to_lower, to_upper, &mut is_empty);
    }
    if is_empty {
        Window::EMPTY
    } else {
        Window::from_unix_us(bound_in_unix_us(lower), bound_in_unix_us(upper))
    }
}

/// A bound of a tstzrange in microseconds since the Unix epoch. They are 128 bits, since the
/// timestamps `-infinity` and `infinity` are the limits of 64 bits. `val` of an infinite bound,
/// which range_deserialize() sets to zero, is not used.
fn bound_in_unix_us(bound: RangeBound) -> Bound<i128> {
    let us = i128::from(bound.val.value() as i64) + i128::from(POSTGRES_EPOCH_MS) * 1000;
    match bound {
        RangeBound { infinite: true, .. } => Bound::Unbounded,
        RangeBound {
            inclusive: true, ..
        } => Bound::Included(us),
        _ => Bound::Excluded(us),
    }
}
