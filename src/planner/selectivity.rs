//! The selectivity of `ulid <@ tstzrange` and `ulid_starts_with`: the fraction of the rows, 0 to 1,
//! for which they are true. Within a histogram bucket it interpolates by time, which the planner
//! cannot do for a type of 16 bytes.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::ptr::from_mut;

use pgrx::pg_sys::{
    self, AttStatsSlot, Const, Datum, HeapTuple, List, Node, Oid, PlannerInfo,
    SupportRequestSelectivity as Request, VariableStatData,
};

use super::catalog::is_sixteen_bytes_by_reference;
use super::node::{Expr, two_expressions};
use super::{Predicate, PredicateCall};
use pg_ulid::extension::histogram_fraction;
use pg_ulid::{Ulid, Window};

/// The estimate if nothing is known: `DEFAULT_RANGE_INEQ_SEL` of selfuncs.h.
const DEFAULT_SELECTIVITY: f64 = 0.005;

/// The estimate for a join: that of `contjoinsel`, which the operators use.
const JOIN_SELECTIVITY: f64 = 0.001;

/// Fills in and returns a request about a call that is written as a function, which, unlike an
/// operator, has no estimator. `None` if the arguments are not of the predicate's types.
pub(super) fn of_function_call(
    request: &mut Request,
    predicate: &'static Predicate,
) -> Option<*mut Node> {
    // SAFETY: the request is the planner's, and holds the arguments of a call.
    unsafe {
        PredicateCall::of(predicate, request.funcid, two_expressions(request.args)?)?;
        request.selectivity = if request.is_join {
            JOIN_SELECTIVITY
        } else {
            restriction_selectivity(
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

/// The estimate for a condition on one table. If the range or the prefix is known, it uses the
/// statistics if there are any and statistic_proc_security_check() allows it.
///
/// `function` is that of the call or of the operator, which may be any, or InvalidOid: it is only
/// asked whether it is leakproof. `var_relid` is the relation to estimate for, or 0 for any.
///
/// # Safety
/// The arguments are those of a restriction estimator, whatever their types are.
pub(super) unsafe fn restriction_selectivity(
    root: *mut PlannerInfo,
    function: Oid,
    arguments: *mut List,
    var_relid: c_int,
    predicate: &Predicate,
) -> f64 {
    let mut variable = VariableStatData::default();
    let mut other = std::ptr::null_mut(); // the argument that is not the variable
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
            return DEFAULT_SELECTIVITY;
        }
        let other = Expr::from_ptr(other);
        // The predicate is strict: for a null, it is true for no row.
        let is_null = other.is_some_and(|other| {
            other
                .downcast::<Const>()
                .is_some_and(|value| value.constisnull)
        });
        // If the variable is the range or the prefix, the other side is a ulid: none, by its type.
        let window = other.and_then(|other| predicate.bounds_of_const(other).ok().flatten());
        let selectivity = match window {
            _ if is_null => 0.0,
            Some(window) => selectivity_from_statistics(&mut variable, function, window)
                .unwrap_or(DEFAULT_SELECTIVITY),
            None => DEFAULT_SELECTIVITY,
        };
        // This is ReleaseVariableStats(), a macro.
        // SAFETY: an ERROR of it longjmps; nothing here needs Drop.
        if let (Some(release), false) = (variable.freefunc, variable.statsTuple.is_null()) {
            release(variable.statsTuple);
        }
        // The owner of the table may have loaded any numbers into pg_statistic.
        if selectivity.is_nan() {
            DEFAULT_SELECTIVITY
        } else {
            selectivity.clamp(0.0, 1.0)
        }
    }
}

/// The estimate from the statistics of the column or the indexed expression. `None` if there are
/// none, or the user may not see them.
///
/// # Safety
/// get_restriction_variable() has filled the variable in.
unsafe fn selectivity_from_statistics(
    variable: &mut VariableStatData,
    function: Oid,
    window: Window,
) -> Option<f64> {
    if window.is_empty() {
        return Some(0.0);
    }
    // SAFETY: get_restriction_variable() has filled the variable in; its tuple is one of
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
        // Sums of the frequencies of the most common values.
        let (mut mcv_in_window, mut mcv_total) = (0.0, 0.0);
        let has_mcv = with_stats_slot(
            variable.statsTuple,
            pg_sys::STATISTIC_KIND_MCV,
            numbers,
            |values, numbers| {
                for (value, &frequency) in values.iter().zip(numbers) {
                    mcv_total += f64::from(frequency);
                    if window.contains(read_ulid(value)) {
                        mcv_in_window += f64::from(frequency);
                    }
                }
            },
        );
        // The part of the values in the histogram, 0 to 1, that is in the window.
        let histogram_part = with_stats_slot(
            variable.statsTuple,
            pg_sys::STATISTIC_KIND_HISTOGRAM,
            0,
            |values, _| histogram_fraction(window, values, |value| read_ulid(value)),
        );
        // The histogram describes the values that are neither null nor among the most common.
        let rest = (1.0 - nulls - mcv_total).max(0.0);
        match (histogram_part.flatten(), has_mcv) {
            (Some(part), _) => Some(mcv_in_window + part * rest),
            // There is no histogram because the most common values are all values, or nearly all.
            (None, Some(())) => Some(mcv_in_window + DEFAULT_SELECTIVITY * rest),
            (None, None) => None,
        }
    }
}

/// Passes the values (`stavalues`) and, if the flag ATTSTATSSLOT_NUMBERS is given, the numbers
/// (`stanumbers`) of a slot of a column's statistics to `read`. `kind` is a STATISTIC_KIND
/// constant.
///
/// `None` if there is no slot of this kind, or if its values are not of 16 bytes. The column can be
/// of any type, because any operator can name an estimator.
///
/// # Safety
/// The tuple is one of pg_statistic. `read` does not raise an error: the slot would leak.
unsafe fn with_stats_slot<T>(
    tuple: HeapTuple,
    kind: u32,
    flags: u32,
    read: impl FnOnce(&[Datum], &[f32]) -> T,
) -> Option<T> {
    let mut slot = AttStatsSlot::default();
    let flags = (pg_sys::ATTSTATSSLOT_VALUES | flags) as c_int;
    // SAFETY: the tuple is one of pg_statistic; the slot has as many values and numbers as it says.
    unsafe {
        if !pg_sys::get_attstatsslot(&mut slot, tuple, kind as c_int, Oid::INVALID, flags) {
            return None;
        }
        let result = is_sixteen_bytes_by_reference(slot.valuetype).then(|| {
            read(
                slice(slot.values, slot.nvalues),
                slice(slot.numbers, slot.nnumbers),
            )
        });
        pg_sys::free_attstatsslot(&mut slot);
        result
    }
}

/// The `n` elements of an array of C.
///
/// # Safety
/// There are that many elements; where there are none, the pointer may be null.
unsafe fn slice<'a, T>(elements: *const T, n: c_int) -> &'a [T] {
    match usize::try_from(n) {
        // SAFETY: the slot that they are of counts them.
        Ok(n) if n > 0 => unsafe { std::slice::from_raw_parts(elements, n) },
        _ => &[],
    }
}

/// The ulid, or uuid, that a Datum of statistics points to.
///
/// # Safety
/// The datum is of a type of 16 bytes, passed by reference.
unsafe fn read_ulid(value: &Datum) -> Ulid {
    // SAFETY: the datum points to 16 bytes; 16 bytes of any alignment are a ulid.
    Ulid::from_bytes(unsafe { *value.cast_mut_ptr() })
}
