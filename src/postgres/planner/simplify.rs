//! Plain comparisons in place of a predicate, if a table is partitioned by ranges of the ulid: pruning only knows
//! operators of the partition key's family.
#![allow(unsafe_code)]

use std::ffi::c_int;

use pgrx::pg_sys::{self, Datum, Node, NodeTag, Oid, PlannerInfo, QualCost, Relation, Var};

use super::{Answer, Call, Predicate, arguments, default_family};
use crate::postgres::server;

/// The comparisons, as `AND`.
///
/// # Safety
/// The request comes from the planner.
pub(super) unsafe fn answer(
    request: &pg_sys::SupportRequestSimplify,
    predicate: &'static Predicate,
) -> Answer {
    // SAFETY: the request holds a call; without a root, the expression belongs to no query.
    unsafe {
        let call = Call::of(predicate, (*request.fcall).funcid, (*request.fcall).args)?;
        if request.root.is_null()
            // ON CONFLICT is matched to an index whose expressions contain the predicate.
            || !(*(*request.root).parse).onConflict.is_null()
            || !can_be_repeated(request.root, call.argument)
        {
            return None;
        }
        let (table, column) = range_partition_key(request.root, call.ulid)?;
        if is_indexed(table, column, call.argument) {
            return None;
        }
        let comparisons = call.comparisons(default_family(server::exprType(call.ulid))?)?;
        Some(server::makeBoolExpr(pg_sys::BoolExprType::AND_EXPR, comparisons, -1).cast())
    }
}

/// Whether an expression can be evaluated twice instead of once, for each row: whether it is the same for all rows, and
/// costs no more than core allows in `find_simplified_clause` of rangetypes.c.
///
/// # Safety
/// The node comes from the planner.
unsafe fn can_be_repeated(root: *mut PlannerInfo, expression: *mut Node) -> bool {
    // SAFETY: promised by the caller.
    unsafe {
        if (*expression).type_ == NodeTag::T_Const {
            return true;
        }
        // Sub-selects first: when looking for aggregates, core assumes that there are none.
        if server::contain_subplans(expression)
            || server::contain_var_clause(expression)
            || server::contain_agg_clause(expression)
            || server::contain_window_function(expression)
            || server::contain_volatile_functions(expression)
            || server::expression_returns_set(expression)
        {
            return false;
        }
        let mut cost = QualCost::default();
        server::cost_qual_eval_node(&mut cost, expression, root);
        cost.startup + cost.per_tuple <= 10.0 * pg_sys::cpu_operator_cost
    }
}

/// The table and the column, if the expression is a column by which its table is partitioned, in ranges.
///
/// This decides whether the comparisons are useful, not whether they are correct: in a sub-select that the planner
/// tries to convert from EXISTS to ANY, the root is that of the outer query, and the table is a different one.
///
/// # Safety
/// The nodes come from the planner, which holds a lock on the table.
unsafe fn range_partition_key(root: *mut PlannerInfo, expression: *mut Node) -> Option<(Oid, i16)> {
    // Columns of pg_partitioned_table.
    const PARTSTRAT: i16 = 2;
    const PARTATTRS: i16 = 5;
    // SAFETY: promised by the caller; the attributes are never null and of the types that they are read as.
    unsafe {
        if (*expression).type_ != NodeTag::T_Var {
            return None;
        }
        let var = &*expression.cast::<Var>();
        let tables = (*(*root).parse).rtable;
        // For a key that is an expression, the column is 0, which in a Var means the whole row.
        if var.varlevelsup != 0
            || var.varattno <= 0
            || var.varno as usize == 0
            || var.varno as usize > server::list_length(tables)
        {
            return None;
        }
        let table = &*server::list_nth::<pg_sys::RangeTblEntry>(tables, var.varno as usize - 1);
        if table.rtekind != pg_sys::RTEKind::RTE_RELATION
            || table.relkind as u8 != pg_sys::RELKIND_PARTITIONED_TABLE
        {
            return None;
        }
        let cache = pg_sys::SysCacheIdentifier::PARTRELID as c_int;
        let tuple = server::SearchSysCache1(cache, Datum::from(table.relid));
        if tuple.is_null() {
            return None;
        }
        let mut is_null = false;
        let strategy = server::SysCacheGetAttr(cache, tuple, PARTSTRAT, &mut is_null).value() as u8;
        let keys = server::SysCacheGetAttr(cache, tuple, PARTATTRS, &mut is_null);
        let keys = &*keys.cast_mut_ptr::<pg_sys::int2vector>();
        let found = u32::from(strategy) == u32::from(b'r')
            && keys.values.as_slice(keys.dim1 as usize).contains(&var.varattno);
        server::ReleaseSysCache(tuple);
        found.then_some((table.relid, var.varattno))
    }
}

/// Whether an index of the table contains the predicate on this column and with this argument, in its condition or as
/// one of its expressions: only the predicate itself finds that index.
///
/// # Safety
/// The node comes from the planner, which holds a lock on the table.
unsafe fn is_indexed(table: Oid, column: i16, argument: *mut Node) -> bool {
    let [no_lock, lock] = [pg_sys::NoLock, pg_sys::AccessShareLock].map(|lock| lock as c_int);
    // SAFETY: promised by the caller. Both lists of an index hold its own nodes, which are not changed here.
    unsafe {
        let relation: Relation = server::table_open(table, no_lock);
        let indexes = server::RelationGetIndexList(relation);
        let mut found = false;
        for n in 0..server::list_length(indexes) {
            let index = server::index_open((*(*indexes).elements.add(n)).oid_value, lock);
            for list in [server::RelationGetIndexPredicate(index), server::RelationGetIndexExpressions(index)]
            {
                found |= (0..server::list_length(list))
                    .any(|n| is_predicate(server::list_nth(list, n), column, argument));
            }
            server::index_close(index, lock);
        }
        server::table_close(relation, no_lock);
        found
    }
}

/// Whether an expression of an index is a call on this column with this argument.
///
/// # Safety
/// The nodes are valid ones.
unsafe fn is_predicate(node: *mut Node, column: i16, argument: *mut Node) -> bool {
    // SAFETY: promised by the caller.
    unsafe {
        let Some(arguments) = arguments(node) else { return false };
        let (mut on_column, mut with_argument) = (false, false);
        for n in 0..server::list_length(arguments) {
            let node = server::list_nth::<Node>(arguments, n);
            on_column |= (*node).type_ == NodeTag::T_Var && (*node.cast::<Var>()).varattno == column;
            with_argument |= server::equal(node.cast(), argument.cast());
        }
        on_column && with_argument
    }
}
