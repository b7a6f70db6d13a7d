//! Comparisons of a uuid column with a ulid: the bound for an index on the column, and the cast
//! that postgres_fdw sends.

use pgrx::pg_sys::{
    BTMaxStrategyNumber, Node, OpExpr, SupportRequestIndexCondition, SupportRequestSimplify,
    UUIDOID,
};

use super::catalog;
use super::node::{self, Expr, Root, two_expressions};
use super::simplify::is_called_by_grouping_sets;

/// A List of one index condition: the comparison by PostgreSQL's operator of uuid, which is not
/// lossy. `None` if the index cannot use it, or the role may not execute the functions.
///
/// The planner asks only if the operator of ulid is not a member of the index's opfamily. For an
/// OpExpr, match_opclause_to_indexcol() has already checked that the other side does not use the
/// indexed relation and is not volatile.
#[allow(unsafe_code)]
pub(super) fn index_condition(request: &mut SupportRequestIndexCondition) -> Option<*mut Node> {
    // SAFETY: `root` and `node` are those of the request (see [`super`]).
    let (root, clause) = unsafe { (Root::from_ptr(request.root)?, Expr::from_ptr(request.node)?) };
    let operator = clause.downcast::<OpExpr>()?.opno;
    let [left, right] = clause.call_arguments()?;
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
    // The operator's own opfamily tells its strategy. If the column is on the right, the strategy
    // is that of the commutator.
    let strategy = match catalog::default_btree_strategy(operator, typid)? {
        strategy if column_is_left => strategy,
        strategy => BTMaxStrategyNumber + 1 - strategy,
    };
    let uuid_operator = catalog::default_btree_operator(UUIDOID, strategy, request.opfamily)?;
    if ![operator, uuid_operator]
        .into_iter()
        .all(|called| root.may_execute(catalog::function_of_operator(called)))
    {
        return None;
    }
    let [column, other] = [column, other].map(|side| side.copy().relabel(UUIDOID));
    request.lossy = false;
    Some(node::list([Expr::op_clause(uuid_operator, column, other)]).cast())
}

/// The comparison, in which an implicit RelabelType from uuid is turned into an explicit one.
/// `None` leaves the comparison as it is.
///
/// postgres_fdw omits implicit casts, and the type of a Const beside a Var. So the other server
/// would read the text of a ulid as a uuid. Whether the relation is foreign is often not known yet:
/// it may be a partition or a branch of UNION ALL. The planner does not ask again when it is known.
/// So this is done for all relations. Apart from that, it changes what EXPLAIN shows. A comparison
/// that is written as a call of its function becomes the operator, which can use an index or a hash
/// join.
///
/// It is done also without a root, as for index expressions and predicates: otherwise equal() would
/// not match them.
#[allow(unsafe_code)]
pub(super) fn with_explicit_casts(request: &SupportRequestSimplify) -> Option<*mut Node> {
    // SAFETY: the request is the planner's, and holds a call.
    let (root, function, sides) = unsafe {
        (
            Root::from_ptr(request.root),
            (*request.fcall).funcid,
            two_expressions((*request.fcall).args)?,
        )
    };
    // A FuncExpr becomes an OpExpr here, and NOT turns an OpExpr into its negator. So equal() may
    // no longer find the grouping expression, or find another one. If it is not done for that, the
    // other server may raise an error for the text of a ulid.
    let query = root.as_ref().and_then(Root::query);
    if !sides.into_iter().any(Expr::is_implicit_cast)
        || query.is_some_and(|query| is_called_by_grouping_sets(query, function))
    {
        return None;
    }
    let typid = sides[0].typid();
    let operator = catalog::comparison_operator(function, typid)?;
    let [left, right] = sides.map(|side| {
        side.below_relabel()
            .map_or(side, |inner| inner.copy().relabel(typid))
    });
    Some(Expr::op_clause(operator, left, right).as_ptr())
}
