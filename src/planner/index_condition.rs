//! Bounds for an index, in place of `ulid <@ tstzrange` or `ulid_starts_with`, which is true
//! between them.

use pgrx::pg_sys::{self, Node, SupportRequestIndexCondition as Request};

use super::node::{self, Expr, Root};
use super::{Predicate, PredicateCall};

/// A List of the index conditions `ulid >= lower` and `ulid <= upper`, for an index on the ulid or
/// on the uuid that is relabelled as one. If they are lossy, the planner keeps the predicate as a
/// filter. `None` if the index cannot use them.
///
/// The range or the prefix is evaluated twice when a scan starts, not for each row, so its cost
/// does not matter. It must not be volatile. It must contain no SubPlan, because the result of one
/// may change between both evaluations, whatever its functions are labelled.
#[allow(unsafe_code)]
pub(super) fn bounds(request: &mut Request, predicate: &'static Predicate) -> Option<*mut Node> {
    // SAFETY: `root` and `node` are those of the request (see [`super`]).
    let (root, clause) = unsafe { (Root::from_ptr(request.root)?, Expr::from_ptr(request.node)?) };
    let call = PredicateCall::of(predicate, request.funcid, clause.call_arguments()?)?;
    let range_or_prefix = call.range_or_prefix.as_ptr();
    // SAFETY: `root` and `index` are those of the request (see [`super`]).
    unsafe {
        if !pg_sys::is_pseudo_constant_for_index(request.root, range_or_prefix, request.index)
            || pg_sys::contain_subplans(range_or_prefix)
        {
            return None;
        }
    }
    let (conditions, lossy) = call.comparisons(root, request.opfamily)?;
    request.lossy = lossy;
    Some(node::list(conditions).cast())
}
