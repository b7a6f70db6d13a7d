//! Bounds for an index, in place of a predicate that is true between them.
#![allow(unsafe_code)]

use pgrx::pg_sys::SupportRequestIndexCondition;

use super::{Answer, Call, Predicate, arguments, is_constant_in_scan};
use crate::postgres::server;

/// The bounds for an index on the ulid, which are exact.
///
/// The argument is evaluated twice in each scan, where a filter would evaluate it for each row, so it may be expensive.
/// But it must not be volatile, and a sub-select must have become a parameter: its rows can differ from one execution
/// to the next, whatever its functions are labelled.
///
/// # Safety
/// The request comes from the planner.
pub(super) unsafe fn answer(
    request: &mut SupportRequestIndexCondition,
    predicate: &'static Predicate,
) -> Answer {
    // SAFETY: the request holds a call that the planner has matched to the index.
    unsafe {
        let call = Call::of(predicate, request.funcid, arguments(request.node)?)?;
        if call.ulid_index != request.indexarg
            || !is_constant_in_scan(request, call.argument)
            || server::contain_subplans(call.argument)
        {
            return None;
        }
        let conditions = call.comparisons(request.root, request.opfamily)?;
        request.lossy = false;
        Some(conditions.cast())
    }
}
