//! Comparisons in place of a predicate, if a table is partitioned by ranges or lists of the ulid,
//! because partition pruning only knows members of the partition key's opfamily.
//!
//! A partial index on a single partition may use the predicate. After the rewrite, the planner
//! cannot prove its condition and does not use it. The result of the query stays correct.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::ptr::{from_ref, null_mut};

use pgrx::pg_sys::{
    self, Datum, FuncExpr, HeapTuple, List, Node, NodeTag, Oid, OpExpr, ParamKind, QualCost, Query,
    SupportRequestSimplify as Request, SysCacheIdentifier, Var,
};
use pgrx::{PgMemoryContexts, pg_guard};

use super::catalog::{attribute, is_sql};
use super::node::{self, Expr, Root, elements, pair};
use super::{Predicate, PredicateCall, Reply};

/// The comparisons, as `AND`.
pub(super) fn to_comparisons(request: &Request, predicate: &'static Predicate) -> Reply {
    // SAFETY: the request is the planner's, and holds a call.
    let (root, function, arguments) = unsafe {
        (
            Root::of(request.root)?,
            (*request.fcall).funcid,
            pair((*request.fcall).args)?,
        )
    };
    let call = PredicateCall::of(predicate, function, arguments)?;
    let query = root.query()?;
    let column = Column::of(query, call.ulid)?;
    if is_called_by_grouping_sets(query, function) || !can_be_evaluated_twice(root, call.argument) {
        return None;
    }
    let family = in_temporary_memory(|| {
        let family = column.family(function)?;
        (!is_called_by_indexes_or_statistics(column.table, function)).then_some(family)
    })?;
    let ([lower, upper], is_exact) = call.comparisons(root, family)?;
    let and = if is_exact {
        Expr::and([lower, upper])
    } else {
        Expr::and([lower, upper, call.check_call(root)?])
    };
    Some(and.as_ptr())
}

/// Calls a function in a memory context of its own, which is freed.
///
/// The planner may ask for this once per expression of a query, so it checks for interrupts. What
/// stringToNode() and the copies of index expressions allocate would stay in the planner's memory.
fn in_temporary_memory(function: impl FnOnce() -> Option<Oid>) -> Option<Oid> {
    pgrx::check_for_interrupts!();
    // SAFETY: an Oid does not point to the memory that is freed.
    unsafe { PgMemoryContexts::new("ulid").switch_to(|_| function()) }
}

/// Whether the query has grouping sets and one of their expressions calls a function, at any depth
/// outside of sub-selects, or a function written in SQL, which may be inlined to such a call.
///
/// A grouping set nulls each expression that is equal() to one that it omits. The planner merges a
/// rewritten AND into an enclosing AND, and equal() no longer finds it.
///
/// Do not simplify the expressions here to find out. Without the root, the values of parameters are
/// unknown, and a branch of CASE that the planner leaves out would be evaluated, which can raise an
/// ERROR.
pub(super) fn is_called_by_grouping_sets(query: &Query, function: Oid) -> bool {
    if query.groupingSets.is_null() {
        return false;
    }
    let is_called = |expression: *mut Node| {
        // SAFETY: the expression is the query's.
        unsafe { calls(expression, &|called| called == function || is_sql(called)) }
    };
    // SAFETY: the list is the query's, and has entries of this kind. Until all expressions are
    // simplified, the target list refers to the grouping expressions here.
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
    return unsafe {
        elements(query.rtable).iter().any(|table| {
            let table = &*table.ptr_value.cast::<pg_sys::RangeTblEntry>();
            table.rtekind == pg_sys::RTEKind::RTE_GROUP && is_called(table.groupexprs.cast())
        })
    };
    // SAFETY: the list is the query's, and has entries of this kind.
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
    return unsafe {
        elements(query.targetList).iter().any(|entry| {
            let entry = &*entry.ptr_value.cast::<pg_sys::TargetEntry>();
            entry.ressortgroupref != 0 && is_called(entry.expr.cast())
        })
    };
}

/// Whether an expression can be evaluated twice for each row: whether it is the same for all rows
/// of this query level, and costs no more than `find_simplified_clause` in rangetypes.c (from
/// PostgreSQL 17 on) allows.
fn can_be_evaluated_twice(root: Root, expression: Expr) -> bool {
    let mut cost = QualCost::default();
    let node = expression.as_ptr();
    // SAFETY: the root and the expression are the planner's. Only nodes that may_vary_by_row()
    // allows are estimated. The boundary makes a panic of an ERROR that the walker rethrows.
    unsafe {
        if pg_sys::ffi::pg_guard_ffi_boundary(|| may_vary_by_row(node, null_mut()))
            || pg_sys::contain_volatile_functions(expression.as_ptr())
        {
            return false;
        }
        pg_sys::cost_qual_eval_node(&mut cost, expression.as_ptr(), root.as_ptr());
        cost.startup + cost.per_tuple <= 10.0 * pg_sys::cpu_operator_cost
    }
}

/// A walker that finds a node that may differ from row to row of this query level, or that is not
/// listed here, such as CASE or a sub-select. It accepts constants, parameters, Vars of outer
/// levels, relabelling and casts by text, COALESCE, GREATEST and LEAST, CURRENT_DATE and the like,
/// and calls of functions and operators. The caller rejects volatile functions.
///
/// # Safety
/// The node is a valid one, or null, as a walker gets it.
#[pg_guard]
unsafe extern "C-unwind" fn may_vary_by_row(node: *mut Node, context: *mut c_void) -> bool {
    use NodeTag::{
        T_CoalesceExpr, T_CoerceViaIO, T_Const, T_FuncExpr, T_List, T_MinMaxExpr, T_OpExpr,
        T_Param, T_RelabelType, T_SQLValueFunction, T_Var,
    };

    #[cfg(feature = "pg_test")]
    super::test_support::may_panic("walker");
    // SAFETY: the walker passes valid nodes or null; the tag says of what kind a node is.
    unsafe {
        if node.is_null() {
            return false;
        }
        let is_known = match (*node).type_ {
            T_Const | T_SQLValueFunction | T_RelabelType | T_CoerceViaIO | T_CoalesceExpr
            | T_MinMaxExpr | T_List => true,
            T_Param => {
                let kind = (*node.cast::<pg_sys::Param>()).paramkind;
                kind == ParamKind::PARAM_EXTERN || kind == ParamKind::PARAM_EXEC
            }
            T_Var => (*node.cast::<Var>()).varlevelsup > 0,
            T_FuncExpr => !(*node.cast::<FuncExpr>()).funcretset,
            T_OpExpr => !(*node.cast::<OpExpr>()).opretset,
            _ => false,
        };
        !is_known || expression_tree_walker(node, may_vary_by_row, context)
    }
}

/// A column of a partitioned table, on which the planner holds a lock.
struct Column {
    table: Oid,
    /// Its number, from 1.
    number: i16,
}

impl Column {
    /// The column that an expression is, perhaps below a RelabelType to ulid, if its type is uuid
    /// or a domain.
    ///
    /// convert_EXISTS_to_ANY() simplifies a sub-select with the outer root, so the Var may name a
    /// wrong RTE. That only makes the rewrite useless, never wrong.
    fn of(query: &Query, mut expression: Expr) -> Option<Self> {
        while let Some(inner) = expression.below_relabel() {
            expression = inner;
        }
        let var = expression.downcast::<Var>()?;
        let table = node::table(query, var)
            .filter(|table| table.relkind as u8 == pg_sys::RELKIND_PARTITIONED_TABLE)?;
        Some(Self {
            table: table.relid,
            number: var.varattno,
        })
    }

    /// The operator family of the column in the key of its table. `None` if it is not there, or the
    /// key has an expression that calls this function, too.
    fn family(&self, function: Oid) -> Option<Oid> {
        let cache = SysCacheIdentifier::PARTRELID as c_int;
        // SAFETY: the cache is that of pg_partitioned_table, whose attributes these are. Its
        // classes exist.
        unsafe {
            let tuple = pg_sys::SearchSysCache1(cache, Datum::from(self.table));
            if tuple.is_null() {
                return None;
            }
            let class = self.class(cache, tuple);
            let expressions =
                expressions(cache, tuple, pg_sys::Anum_pg_partitioned_table_partexprs);
            pg_sys::ReleaseSysCache(tuple);
            if calls(expressions, &|called| called == function) {
                return None;
            }
            class.map(|class| pg_sys::get_opclass_family(class))
        }
    }

    /// The operator class of the column in the partition key.
    ///
    /// # Safety
    /// The tuple is one of `pg_partitioned_table`, from this cache.
    unsafe fn class(&self, cache: c_int, tuple: HeapTuple) -> Option<Oid> {
        // SAFETY: these are attributes of this catalog, which are never null; the vectors have one
        // element for each column of the key.
        unsafe {
            let columns = attribute(cache, tuple, pg_sys::Anum_pg_partitioned_table_partattrs)?;
            let columns = &*columns.cast_mut_ptr::<pg_sys::int2vector>();
            let classes = attribute(cache, tuple, pg_sys::Anum_pg_partitioned_table_partclass)?;
            let classes = &*classes.cast_mut_ptr::<pg_sys::oidvector>();
            let n = columns.dim1 as usize;
            // A key may have a column twice. Taking either is correct: pruning is possible or not.
            let last = columns
                .values
                .as_slice(n)
                .iter()
                .rposition(|&number| number == self.number)?;
            classes.values.as_slice(n).get(last).copied()
        }
    }
}

/// Whether an index of the table or its extended statistics contain a call of a function, at any
/// depth. The planner finds these for an expression of the query by equal().
fn is_called_by_indexes_or_statistics(table: Oid, function: Oid) -> bool {
    let [no_lock, lock] = [pg_sys::NoLock as c_int, pg_sys::AccessShareLock as c_int];
    let list_calls = |list: *mut List| {
        // SAFETY: the list is a valid one of an index, which is not changed here, or null.
        unsafe { calls(list.cast(), &|called| called == function) }
    };
    // SAFETY: the planner holds a lock on the table.
    unsafe {
        let relation = pg_sys::table_open(table, no_lock);
        let mut found = false;
        for index in elements(pg_sys::RelationGetIndexList(relation)) {
            let index = pg_sys::index_open(index.oid_value, lock);
            found |= list_calls(pg_sys::RelationGetIndexPredicate(index))
                || list_calls(pg_sys::RelationGetIndexExpressions(index));
            pg_sys::index_close(index, lock);
        }
        let cache = SysCacheIdentifier::STATEXTOID as c_int;
        for object in elements(pg_sys::RelationGetStatExtList(relation)) {
            let tuple = pg_sys::SearchSysCache1(cache, Datum::from(object.oid_value));
            if !tuple.is_null() {
                let expressions = expressions(cache, tuple, pg_sys::Anum_pg_statistic_ext_stxexprs);
                found |= list_calls(expressions.cast());
                pg_sys::ReleaseSysCache(tuple);
            }
        }
        pg_sys::table_close(relation, no_lock);
        found
    }
}

/// The expressions in an attribute of a catalog, simplified as the planner does; null if there are
/// none.
///
/// # Safety
/// The tuple is of this cache, and the attribute a `pg_node_tree`.
unsafe fn expressions(cache: c_int, tuple: HeapTuple, number: u32) -> *mut Node {
    // SAFETY: a pg_node_tree is the text of a node. Without a root, to_comparisons() does nothing,
    // so calls of the predicate are still there.
    unsafe {
        let Some(tree) = attribute(cache, tuple, number) else {
            return null_mut();
        };
        let node = pg_sys::stringToNode(pg_sys::text_to_cstring(tree.cast_mut_ptr()));
        pg_sys::eval_const_expressions(null_mut(), node.cast())
    }
}

/// Whether an expression, or a list of expressions, calls one of the functions that are sought.
///
/// # Safety
/// The node is a valid one, or null.
unsafe fn calls(node: *mut Node, is_sought: &dyn Fn(Oid) -> bool) -> bool {
    let context = from_ref(&is_sought).cast_mut().cast();
    // SAFETY: the context is that of the walker, which only reads it. The walker rethrows an ERROR
    // by siglongjmp. The boundary makes a panic of it, so that the frames here run their
    // destructors.
    unsafe { pg_sys::ffi::pg_guard_ffi_boundary(|| calls_walker(node, context)) }
}

/// # Safety
/// The node is a valid one, or null, and the context that of [`calls`].
#[pg_guard]
unsafe extern "C-unwind" fn calls_walker(node: *mut Node, context: *mut c_void) -> bool {
    // SAFETY: a walker gets valid nodes or null, and the context as it was passed.
    unsafe {
        !node.is_null()
            && (pg_sys::check_functions_in_node(node, Some(is_sought_function), context)
                || expression_tree_walker(node, calls_walker, context))
    }
}

/// # Safety
/// The context is that of [`calls`].
#[pg_guard]
unsafe extern "C-unwind" fn is_sought_function(function: Oid, context: *mut c_void) -> bool {
    // SAFETY: the context is as it was passed.
    unsafe { (*context.cast::<&dyn Fn(Oid) -> bool>())(function) }
}

type Walker = unsafe extern "C-unwind" fn(node: *mut Node, context: *mut c_void) -> bool;

/// # Safety
/// The node is a valid one, or null, and the walker takes it and the context.
unsafe fn expression_tree_walker(node: *mut Node, walker: Walker, context: *mut c_void) -> bool {
    #[cfg(feature = "pg15")]
    // SAFETY: the walker takes the node and the context. The header of 15 declares the function
    // without arguments, and another name has it from 16 on.
    unsafe {
        unsafe extern "C-unwind" {
            fn expression_tree_walker(
                node: *mut Node,
                walker: Walker,
                context: *mut c_void,
            ) -> bool;
        }
        pg_sys::ffi::pg_guard_ffi_boundary(|| expression_tree_walker(node, walker, context))
    }
    #[cfg(not(feature = "pg15"))]
    // SAFETY: the walker takes the node and the context.
    unsafe {
        pg_sys::expression_tree_walker_impl(node, Some(walker), context)
    }
}
