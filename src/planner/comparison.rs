//! The bound for an index on a uuid column, in place of a comparison with a ulid, and the
//! comparison that postgres_fdw sends.

use pgrx::pg_sys::{
    BTMaxStrategyNumber, OpExpr, SupportRequestIndexCondition, SupportRequestSimplify, UUIDOID,
};

use super::node::{self, Expr, Root, pair};
use super::simplify::is_called_by_grouping_sets;
use super::{Answer, catalog};

/// The comparison by PostgreSQL's operator of uuid, which is exact. The planner asks only where the
/// operator of ulid does not belong to the index, and, of an operator, only where the other side is
/// the same for all rows of a scan.
#[allow(unsafe_code)]
pub(super) fn answer(request: &mut SupportRequestIndexCondition) -> Answer {
    // SAFETY: the request is the planner's.
    let (root, clause) = unsafe { (Root::of(request.root)?, Expr::of(request.node)?) };
    let operator = clause.cast::<OpExpr>()?.opno;
    let [left, right] = clause.arguments()?;
    let column_is_left = request.indexarg == 0;
    let (column, other) = if column_is_left {
        (left, right)
    } else {
        (right, left)
    };
    let typid = column.typid();
    if other.typid() != typid {
        return None;
    }
    // What the operator means, its own family says. With the sides exchanged, `<` becomes `>`.
    let strategy = match catalog::strategy(operator, typid)? {
        strategy if column_is_left => strategy,
        strategy => BTMaxStrategyNumber + 1 - strategy,
    };
    let exact = catalog::operator(UUIDOID, strategy, request.opfamily)?;
    if ![operator, exact]
        .into_iter()
        .all(|called| root.may_execute(catalog::function_of(called)))
    {
        return None;
    }
    let [column, other] = [column, other].map(|side| side.copy().relabel(UUIDOID));
    request.lossy = false;
    Some(node::list([Expr::op_clause(exact, column, other)]).cast())
}

/// The comparison, in which a uuid is cast to ulid as if the query had said so.
///
/// postgres_fdw sends a constant beside a column without its type, and an implicit cast of the
/// column not at all, so the other server would read the text of a ulid as a uuid. Whether a column
/// belongs to a foreign table, and a constant to it, is often known only later, when the planner
/// does not ask again: of a partition, of a branch of UNION ALL, of what a query groups by. So this
/// is done for all; it changes nothing else but what EXPLAIN shows.
#[allow(unsafe_code)]
pub(super) fn simplify(request: &SupportRequestSimplify) -> Answer {
    // SAFETY: the request is the planner's, and holds a call.
    let (root, function, sides) = unsafe {
        (
            Root::of(request.root),
            (*request.fcall).funcid,
            pair((*request.fcall).args)?,
        )
    };
    // A call that is not written as an operator becomes one, and under NOT another one: grouping
    // sets would not find it again.
    let query = root.as_ref().and_then(Root::query);
    if !sides.into_iter().any(Expr::is_implicit_cast)
        || query.is_some_and(|query| is_called_by_grouping_sets(query, function))
    {
        return None;
    }
    let typid = sides[0].typid();
    let operator = catalog::comparison(function, typid)?;
    let [left, right] = sides.map(|side| {
        side.relabelled()
            .map_or(side, |inner| inner.copy().relabel(typid))
    });
    Some(Expr::op_clause(operator, left, right).as_ptr())
}
