//! The bound for an index on a uuid column, in place of a comparison with a ulid, and the comparison that postgres_fdw
//! sends.

use pgrx::pg_sys::{
    BTMaxStrategyNumber, OpExpr, RELKIND_FOREIGN_TABLE, RelabelType, SupportRequestIndexCondition,
    SupportRequestSimplify, UUIDOID, Var,
};

use super::node::{self, Expr, Root, pair, relabelled};
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

/// The call as it is, in which a uuid column of a foreign table is cast to ulid as if the query had said so.
///
/// postgres_fdw sends a constant beside a column without its type, and an implicit cast of the column not at all, so
/// the other server would read the text of a ulid as a uuid. Where the planner replaces one side by a constant later,
/// it does not ask again: so whatever the other side is. The partitions of a table are asked for each by itself.
#[allow(unsafe_code)]
pub(super) fn simplify(request: &SupportRequestSimplify) -> Answer {
    // SAFETY: the request is the planner's, and holds a call.
    let (root, arguments) = unsafe { (Root::of(request.root)?, pair((*request.fcall).args)?) };
    let query = root.query()?;
    for side in arguments {
        let column = side.cast::<RelabelType>().and_then(relabelled);
        let table = column.as_ref().and_then(Expr::cast::<Var>).and_then(|column| node::table(query, column));
        if table.is_some_and(|table| table.relkind as u8 == RELKIND_FOREIGN_TABLE) {
            // The arguments were made for this call, which keeps them if there is no other in its place.
            side.print_as_cast();
        }
    }
    None
}
