//! A tstzrange as the window of the ULIDs created within it.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::ops::Bound;

use pgrx::pg_sys::{
    self, Datum, FmgrInfo, FuncExpr, Node, NodeTag, OpExpr, RangeBound, TypeCacheEntry,
};

use super::datum::POSTGRES_EPOCH_MS;
use super::frame::{Argument, Frame, Plain};
use crate::server;
use pg_ulid::Window;

/// A range of times as the ULIDs created within it.
#[derive(Clone, Copy)]
pub(crate) struct TstzRange(pub Window);

impl<'call> Argument<'call> for TstzRange {
    const SQL: &'static str = "tstzrange";

    unsafe fn from_datum(datum: Datum, plain: Plain) -> Self {
        // SAFETY: the argument has this SQL type, so the datum is a tstzrange.
        Self(unsafe { range_window(datum, plain) })
    }
}

/// An operand of the operators, whose type is a domain over tstzrange, as the ULIDs created within
/// it.
#[derive(Clone, Copy)]
pub(crate) struct UlidWindow(pub Window);

impl<'call> Argument<'call> for UlidWindow {
    const SQL: &'static str = "ulid_window";

    unsafe fn from_datum(datum: Datum, plain: Plain) -> Self {
        // SAFETY: the argument has this SQL type, so the datum is a tstzrange.
        Self(unsafe { range_window(datum, plain) })
    }

    #[inline(always)]
    unsafe fn from_frame(frame: Frame<'call>, index: usize) -> Self {
        let function = frame.function();
        // SAFETY: the frame is that of the present call. Nobody but this function uses `fn_extra`
        // of the functions that take a window, so what is there was put there by `remember`.
        unsafe {
            let datum = frame.datum(index);
            if function.is_null() {
                return Self::from_datum(datum, frame.plain());
            }
            let mut known = (*function).fn_extra.cast::<Known>();
            if known.is_null() {
                known = remember(function, index, datum, frame.plain());
            }
            let Known { range_type, window } = known.read_unaligned();
            Self(window.unwrap_or_else(|| deserialize(datum, range_type, frame.plain())))
        }
    }
}

/// What is the same for all calls of a function at one place of a query, in memory that is not
/// aligned for a window.
struct Known {
    range_type: *mut TypeCacheEntry,
    /// The window, if the argument is a constant. A parameter does not count: the expression of a
    /// PL/pgSQL statement lives longer than the value of its variable.
    window: Option<Window>,
}

/// Fills `fn_extra` at the first call.
///
/// # Safety
/// The datum is the argument at this index, a tstzrange, of a present call of the function.
#[cold]
unsafe fn remember(
    function: *mut FmgrInfo,
    index: usize,
    datum: Datum,
    plain: Plain,
) -> *mut Known {
    // SAFETY: `fn_mcxt` lives as long as `function`; the datum is read in this call.
    unsafe {
        let range_type = range_type(plain);
        let window = is_constant((*function).fn_expr.cast(), index)
            .then(|| deserialize(datum, range_type, plain));
        let known =
            server::MemoryContextAlloc((*function).fn_mcxt, size_of::<Known>()).cast::<Known>();
        known.write_unaligned(Known { range_type, window });
        (*function).fn_extra = known.cast();
        known
    }
}

/// Whether the argument at this index of the call is a constant. Nodes other than function calls,
/// such as `id <@ ANY (array)`, have arguments that are not those of the function.
///
/// # Safety
/// The node is the expression that PostgreSQL keeps with a function, or null.
unsafe fn is_constant(call: *mut Node, index: usize) -> bool {
    // SAFETY: PostgreSQL keeps the expression as long as the function; each node says of what kind
    // it is.
    unsafe {
        if call.is_null() {
            return false;
        }
        let arguments = match (*call).type_ {
            NodeTag::T_OpExpr => (*call.cast::<OpExpr>()).args,
            NodeTag::T_FuncExpr => (*call.cast::<FuncExpr>()).args,
            _ => return false,
        };
        let argument = server::elements(arguments).get(index);
        argument
            .is_some_and(|argument| (*argument.ptr_value.cast::<Node>()).type_ == NodeTag::T_Const)
    }
}

/// The ULIDs created within a tstzrange.
///
/// # Safety
/// The datum is a tstzrange, not null.
pub(crate) unsafe fn range_window(datum: Datum, plain: Plain) -> Window {
    // SAFETY: the entry is that of the datum's type.
    unsafe { deserialize(datum, range_type(plain), plain) }
}

fn range_type(_: Plain) -> *mut TypeCacheEntry {
    // SAFETY: SQL runs within a transaction; an entry of this cache is never freed, and the type is
    // one of core's.
    unsafe {
        server::lookup_type_cache(pg_sys::TSTZRANGEOID, pg_sys::TYPECACHE_RANGE_INFO as c_int)
    }
}

/// # Safety
/// The datum is a tstzrange, not null, and the entry that of its type.
unsafe fn deserialize(datum: Datum, range_type: *mut TypeCacheEntry, _: Plain) -> Window {
    let [mut lower, mut upper] = [RangeBound::default(); 2];
    let mut is_empty = false;
    // SAFETY: detoasted, a tstzrange is a RangeType of the type that the entry describes.
    unsafe {
        let range = server::pg_detoast_datum(datum.cast_mut_ptr()).cast();
        server::range_deserialize(range_type, range, &mut lower, &mut upper, &mut is_empty);
    }
    if is_empty {
        Window::EMPTY
    } else {
        Window::new(range_bound(lower), range_bound(upper))
    }
}

/// A bound of a tstzrange in microseconds since the Unix epoch.
fn range_bound(bound: RangeBound) -> Bound<i128> {
    let us = i128::from(bound.val.value() as i64) + i128::from(POSTGRES_EPOCH_MS) * 1000;
    match bound {
        RangeBound { infinite: true, .. } => Bound::Unbounded,
        RangeBound {
            inclusive: true, ..
        } => Bound::Included(us),
        _ => Bound::Excluded(us),
    }
}
