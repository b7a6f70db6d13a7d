//! The fraction of the rows for which a predicate is true. Within a histogram bucket it
//! interpolates by time, which the planner cannot do for a type of 16 bytes.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::ptr::from_mut;

use pgrx::pg_sys::{
    self, AttStatsSlot, Const, Datum, HeapTuple, List, Oid, PlannerInfo,
    SupportRequestSelectivity as Request, VariableStatData,
};

use super::catalog::has_sixteen_bytes;
use super::node::{Expr, pair};
use super::{Predicate, PredicateCall, Reply};
use pg_ulid::extension::fraction;
use pg_ulid::{Ulid, Window};

/// The estimate if nothing is known: `DEFAULT_RANGE_INEQ_SEL` of selfuncs.h.
const DEFAULT: f64 = 0.005;

/// The estimate for a join: that of `contjoinsel`, which the operators use.
const JOIN: f64 = 0.001;

/// The estimate for the predicate as a function, which, unlike an operator, has no estimator.
pub(super) fn of_predicate(request: &mut Request, predicate: &'static Predicate) -> Reply {
    // SAFETY: the request is the planner's, and holds the arguments of a call.
    unsafe {
        PredicateCall::of(predicate, request.funcid, pair(request.args)?)?;
        request.selectivity = if request.is_join {
            JOIN
        } else {
            of_restriction(
                request.root,
                request.funcid,
                request.args,
                request.varRelid,
                predicate,
            )
        };
    }
    Some(from_mut(request).cast())
}

/// The estimate for a condition on one table. It uses the statistics if there are any and
/// statistic_proc_security_check() allows it.
///
/// # Safety
/// The arguments are those of a restriction estimator, whatever their types are.
pub(super) unsafe fn of_restriction(
    root: *mut PlannerInfo,
    function: Oid,
    arguments: *mut List,
    var_relid: c_int,
    predicate: &Predicate,
) -> f64 {
    let mut variable = VariableStatData::default();
    let mut other = std::ptr::null_mut();
    let mut variable_is_left = false;
    #[cfg(feature = "pg_test")]
    super::test_support::may_panic("estimator");
    // SAFETY: what get_restriction_variable() fills in is valid until the statistics are released.
    // It evaluates the other side, which may raise any ERROR.
    unsafe {
        if !pg_sys::get_restriction_variable(
            root,
            arguments,
            var_relid,
            &mut variable,
            &mut other,
            &mut variable_is_left,
        ) {
            return DEFAULT;
        }
        let other = Expr::of(other);
        let is_null = other.is_some_and(|other| {
            other
                .downcast::<Const>()
                .is_some_and(|value| value.constisnull)
        });
        let window = other.and_then(|other| predicate.window(other).ok().flatten());
        let selectivity = match window {
            _ if is_null => 0.0,
            Some(window) => of_window(&mut variable, function, window).unwrap_or(DEFAULT),
            None => DEFAULT,
        };
        // SAFETY: an ERROR of it longjmps; nothing here needs Drop.
        if let (Some(release), false) = (variable.freefunc, variable.statsTuple.is_null()) {
            release(variable.statsTuple);
        }
        // The owner of the table may have loaded any numbers into pg_statistic.
        if selectivity.is_nan() {
            DEFAULT
        } else {
            selectivity.clamp(0.0, 1.0)
        }
    }
}

/// The estimate from the column's statistics; `None` if there are none, or the user may not see
/// them.
///
/// # Safety
/// get_restriction_variable has filled the variable in.
unsafe fn of_window(variable: &mut VariableStatData, function: Oid, window: Window) -> Option<f64> {
    if window.is_empty() {
        return Some(0.0);
    }
    // SAFETY: get_restriction_variable has filled the variable in; its tuple is one of
    // pg_statistic.
    unsafe {
        if variable.statsTuple.is_null() {
            return None;
        }
        let nulls = f64::from(
            (*pg_sys::GETSTRUCT(variable.statsTuple).cast::<pg_sys::FormData_pg_statistic>())
                .stanullfrac,
        );
        // Unless the function is leakproof, only a user who may read the table may see what the
        // most common values and the histogram reveal.
        if !pg_sys::statistic_proc_security_check(variable, function) {
            return None;
        }
        let numbers = pg_sys::ATTSTATSSLOT_NUMBERS;
        let (mut in_common, mut all_common) = (0.0, 0.0);
        let common = with_statistics(
            variable.statsTuple,
            pg_sys::STATISTIC_KIND_MCV,
            numbers,
            |values, numbers| {
                for (value, &frequency) in values.iter().zip(numbers) {
                    all_common += f64::from(frequency);
                    if window.contains(read(value)) {
                        in_common += f64::from(frequency);
                    }
                }
            },
        );
        let fraction = with_statistics(
            variable.statsTuple,
            pg_sys::STATISTIC_KIND_HISTOGRAM,
            0,
            |values, _| fraction(window, values, |value| read(value)),
        );
        let rest = (1.0 - nulls - all_common).max(0.0);
        match (fraction.flatten(), common) {
            (Some(fraction), _) => Some(in_common + fraction * rest),
            // There is no histogram because the common values are all values, or nearly all.
            (None, Some(())) => Some(in_common + DEFAULT * rest),
            (None, None) => None,
        }
    }
}

/// Passes the values and the numbers of a slot of a column's statistics. `None` if there is no slot
/// of this kind, or if its values are not of 16 bytes. The column can be of any type, because any
/// operator can name an estimator.
///
/// # Safety
/// The tuple is one of pg_statistic. `show` does not raise an error: the slot would leak.
unsafe fn with_statistics<T>(
    tuple: HeapTuple,
    kind: u32,
    flags: u32,
    show: impl FnOnce(&[Datum], &[f32]) -> T,
) -> Option<T> {
    let mut slot = AttStatsSlot::default();
    let flags = (pg_sys::ATTSTATSSLOT_VALUES | flags) as c_int;
    // SAFETY: the tuple is one of pg_statistic; the slot has as many values and numbers as it says.
    unsafe {
        if !pg_sys::get_attstatsslot(&mut slot, tuple, kind as c_int, Oid::INVALID, flags) {
            return None;
        }
        let shown = has_sixteen_bytes(slot.valuetype).then(|| {
            show(
                slice(slot.values, slot.nvalues),
                slice(slot.numbers, slot.nnumbers),
            )
        });
        pg_sys::free_attstatsslot(&mut slot);
        shown
    }
}

/// # Safety
/// There are that many elements; where there are none, the pointer may be null.
unsafe fn slice<'a, T>(elements: *const T, n: c_int) -> &'a [T] {
    match usize::try_from(n) {
        // SAFETY: the slot that they are of counts them.
        Ok(n) if n > 0 => unsafe { std::slice::from_raw_parts(elements, n) },
        _ => &[],
    }
}

/// # Safety
/// The datum is of a type of 16 bytes, passed by reference.
unsafe fn read(value: &Datum) -> Ulid {
    // SAFETY: with_statistics has checked the type; 16 bytes of any alignment are a ulid.
    Ulid::from_bytes(unsafe { *value.cast_mut_ptr() })
}
