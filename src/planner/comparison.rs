//! The bound for an index on a uuid column, in place of a comparison with a ulid.

use pgrx::pg_sys::{BTMaxStrategyNumber, OpExpr, SupportRequestIndexCondition, UUIDOID};

use super::node::{self, Expr, Root};
use super::{Answer, catalog};

/// The comparison by core's operator of uuid, which is exact. The planner asks only where the operator of ulid does not
/// belong to the index.
#[allow(unsafe_code)]
pub(super) fn answer(request: &mut SupportRequestIndexCondition) -> Answer {
    // SAFETY: the request is the planner's.
    let (root, clause) = unsafe { (Root::of(request.root)?, Expr::of(request.node)?) };
    let operator = clause.cast::<OpExpr>()?.opno;
    let [left, right] = clause.arguments()?;
    let column_is_left = request.indexarg == 0;
    let (column, other) = if column_is_left { (left, right) } else { (right, left) };
    let kind = column.kind();
    if other.kind() != kind || !other.is_constant_in_scan(request) {
        return None;
    }
    // What the operator means, its own family says. With the sides exchanged, `<` becomes `>`.
    let strategy = match catalog::strategy(operator, kind)? {
        strategy if column_is_left => strategy,
        strategy => BTMaxStrategyNumber + 1 - strategy,
    };
    let exact = catalog::operator(UUIDOID, strategy, request.opfamily)?;
    if ![operator, exact].into_iter().all(|called| root.may_execute(catalog::function_of(called))) {
        return None;
    }
    let [column, other] = [column, other].map(|side| side.copy().relabel(UUIDOID));
    request.lossy = false;
    Some(node::list([Expr::op_clause(exact, column, other)]).cast())
}
