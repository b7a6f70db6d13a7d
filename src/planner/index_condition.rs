//! Bounds for an index, in place of a predicate that is true between them.

use pgrx::pg_sys::{self, SupportRequestIndexCondition as Request};

use super::node::{self, Expr, Root};
use super::{Predicate, PredicateCall, Reply};

/// The bounds for an index on the ulid. If they are not exact, the planner keeps the predicate as a
/// filter.
///
/// The argument is evaluated twice when a scan starts, not for each row, so its cost does not
/// matter. It must not be volatile. It must contain no SubPlan, because the result of one may
/// change between both evaluations, whatever its functions are labelled.
#[allow(unsafe_code)]
pub(super) fn of_predicate(request: &mut Request, predicate: &'static Predicate) -> Reply {
    // SAFETY: `root` and `node` are those of the request (see [`super`]).
    let (root, clause) = unsafe { (Root::of(request.root)?, Expr::of(request.node)?) };
    let call = PredicateCall::of(predicate, request.funcid, clause.arguments()?)?;
    let argument = call.argument.as_ptr();
    // SAFETY: `root` and `index` are those of the request (see [`super`]).
    unsafe {
        if !pg_sys::is_pseudo_constant_for_index(request.root, argument, request.index)
            || pg_sys::contain_subplans(argument)
        {
            return None;
        }
    }
    let (conditions, is_exact) = call.comparisons(root, request.opfamily)?;
    request.lossy = !is_exact;
    Some(node::list(conditions).cast())
}
