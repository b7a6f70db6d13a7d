//! Comparisons with bounds in place of `ulid <@ tstzrange` or `ulid_starts_with` (the predicate),
//! if the ulid is a column of the partition key, because partition pruning only knows members of
//! the partition key's btree opfamily.
//!
//! A partial index on a single partition may use the predicate. After the rewrite, the planner
//! cannot prove its condition and does not use it. The result of the query stays correct.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::ptr::{from_mut, null_mut};

use pgrx::pg_sys::{
    self, Datum, FuncExpr, HeapTuple, List, Node, NodeTag, Oid, OpExpr, ParamKind, QualCost, Query,
    SupportRequestSimplify as Request, SysCacheIdentifier, Var,
};
use pgrx::{PgMemoryContexts, pg_guard};

use super::catalog::{is_sql_function, syscache_attribute};
use super::node::{self, Expr, Root, two_expressions};
use super::{Predicate, PredicateCall};
use crate::list::list_cells;

/// The comparisons in place of a call of the predicate: `ulid >= lower AND ulid <= upper`, with a
/// third condition if they are lossy. `None` leaves the call as it is.
pub(super) fn to_comparisons(
    request: &Request,
    predicate: &'static Predicate,
) -> Option<*mut Node> {
    // SAFETY: the request is the planner's, and holds a call.
    let (root, function, arguments) = unsafe {
        (
            Root::from_ptr(request.root)?,
            (*request.fcall).funcid,
            two_expressions((*request.fcall).args)?,
        )
    };
    let call = PredicateCall::of(predicate, function, arguments)?;
    let query = root.query()?;
    let column = PartitionedTableColumn::of(query, call.ulid_operand)?;
    if is_called_by_grouping_sets(query, function)
        || !can_be_evaluated_twice(root, call.range_or_prefix)
    {
        return None;
    }
    let opfamily = in_temporary_memory(|| {
        let opfamily = column.partition_opfamily(function)?;
        (!is_called_by_indexes_or_statistics(column.relid, function)).then_some(opfamily)
    })?;
    let ([lower, upper], lossy) = call.comparisons(root, opfamily)?;
    // Lossy: the prefix is not known yet and may be invalid. The check raises the error for it, and
    // is true otherwise.
    let and = if lossy {
        Expr::and([lower, upper, call.argument_check_call(root)?])
    } else {
        Expr::and([lower, upper])
    };
    Some(and.as_ptr())
}

/// Calls the closure in a memory context of its own, which is freed.
///
/// The planner may ask for this once per expression of a query, so it checks for interrupts. What
/// stringToNode() and the copies of index expressions allocate would stay in the planner's memory.
fn in_temporary_memory(find: impl FnOnce() -> Option<Oid>) -> Option<Oid> {
    pgrx::check_for_interrupts!();
    // SAFETY: an Oid does not point to the memory that is freed.
    unsafe { PgMemoryContexts::new("ulid").switch_to(|_| find()) }
}

/// Whether the query has grouping sets, and they may match a call of this function, or what is put
/// in its place. Then no call in this query may be rewritten.
///
/// A grouping set nulls each expression of the target list and of HAVING that is equal() to a
/// grouping expression that it omits. A rewritten call may be equal() to another one: a comparison
/// with a bound, or what NOT makes of a comparison. Or the planner merges a rewritten AND into an
/// enclosing AND, and equal() no longer finds it.
///
/// So calls there and in the grouping expressions count, at any depth. A call of any function in
/// the language SQL does, too, since it may be inlined to one. The arguments of aggregates, WHERE,
/// ON and sub-selects do not: these are evaluated before anything is nulled, or on their own. They
/// could always be rewritten, but a request does not say where its call is.
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
        unsafe {
            contains_call(expression, &|called| {
                called == function || is_sql_function(called)
            })
        }
    };
    // Before 18, the grouping expressions are in the target list. From 18 on, that refers to them
    // until all expressions are simplified.
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
    let is_grouped = false;
    // SAFETY: the list is the query's, and has entries of this kind.
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
    let is_grouped = unsafe {
        list_cells(query.rtable).iter().any(|rte| {
            let rte = &*rte.ptr_value.cast::<pg_sys::RangeTblEntry>();
            rte.rtekind == pg_sys::RTEKind::RTE_GROUP && is_called(rte.groupexprs.cast())
        })
    };
    is_grouped || is_called(query.targetList.cast()) || is_called(query.havingQual)
}

/// Whether an expression can be evaluated twice for each row: whether it is the same for all rows
/// of this query level, and costs no more than `find_simplified_clause` in rangetypes.c (from
/// PostgreSQL 17 on) allows.
fn can_be_evaluated_twice(root: Root, expression: Expr) -> bool {
    let mut cost = QualCost::default();
    let node = expression.as_ptr();
    let mut depth = 0_u32;
    let context = from_mut(&mut depth).cast();
    // SAFETY: the root and the expression are the planner's. Only nodes that may_vary_by_row()
    // allows are estimated. The boundary makes a panic of an ERROR that the walker rethrows.
    unsafe {
        if pg_sys::ffi::pg_guard_ffi_boundary(|| may_vary_by_row(node, context))
            || pg_sys::contain_volatile_functions(node)
        {
            return false;
        }
        pg_sys::cost_qual_eval_node(&mut cost, node, root.as_ptr());
        cost.startup + cost.per_tuple <= 10.0 * pg_sys::cpu_operator_cost
    }
}

/// A walker for expression_tree_walker(): true if there is a node that may differ from row to row
/// of this query level, or that is not listed here, such as CASE or a sub-select. It accepts
/// constants, parameters, Vars of outer levels, relabelling and casts by text, COALESCE, GREATEST
/// and LEAST, CURRENT_DATE and the like, and calls of functions and operators that return no set.
/// The caller rejects volatile functions. The context is the depth of the node; what is deeper than
/// [`DEEPEST`] may vary.
///
/// # Safety
/// The node is a valid one, or null, as a walker gets it. The context points to a `u32`.
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
        let depth = context.cast::<u32>();
        *depth += 1;
        let may_vary = !is_known
            || *depth > DEEPEST
            || pg_sys::expression_tree_walker(node, Some(may_vary_by_row), context);
        *depth -= 1;
        may_vary
    }
}

/// How deep the walkers here look into an expression. The guard of a level takes several times the
/// stack of PostgreSQL's own walkers, so an expression that these can plan would be too deep.
const DEEPEST: u32 = 100;

/// A column of a partitioned table, on which the planner holds a lock. It may be in the partition
/// key or not.
struct PartitionedTableColumn {
    /// The OID of the table.
    relid: Oid,
    attnum: i16,
}

impl PartitionedTableColumn {
    /// The column that an expression is. If the type of the column is uuid or a domain, it is below
    /// a RelabelType to ulid. `None` if the expression is anything else.
    ///
    /// convert_EXISTS_to_ANY() simplifies a sub-select with the outer root, so the Var may name a
    /// wrong RTE. That only makes the rewrite useless, never wrong.
    fn of(query: &Query, mut expression: Expr) -> Option<Self> {
        while let Some(inner) = expression.below_relabel() {
            expression = inner;
        }
        let var = expression.downcast::<Var>()?;
        let rte = node::relation_rte(query, var)
            .filter(|rte| rte.relkind as u8 == pg_sys::RELKIND_PARTITIONED_TABLE)?;
        Some(Self {
            relid: rte.relid,
            attnum: var.varattno,
        })
    }

    /// The opfamily of the column in the partition key of its table. `None` if the column is not in
    /// the key, or if an expression in the key calls this function: partition pruning finds such an
    /// expression by equal(), so a rewritten call would not match.
    fn partition_opfamily(&self, function: Oid) -> Option<Oid> {
        let cache = SysCacheIdentifier::PARTRELID as c_int;
        // SAFETY: the cache is that of pg_partitioned_table, whose attributes these are. What is
        // read of the tuple is copied before ReleaseSysCache().
        unsafe {
            let tuple = pg_sys::SearchSysCache1(cache, Datum::from(self.relid));
            if tuple.is_null() {
                return None;
            }
            let opclass = self.partition_opclass(cache, tuple);
            let expressions =
                simplified_expressions(cache, tuple, pg_sys::Anum_pg_partitioned_table_partexprs);
            pg_sys::ReleaseSysCache(tuple);
            if contains_call(expressions, &|called| called == function) {
                return None;
            }
            opclass.map(|opclass| pg_sys::get_opclass_family(opclass))
        }
    }

    /// The operator class of the column in the partition key; `None` if it is not in the key.
    ///
    /// # Safety
    /// The tuple is one of `pg_partitioned_table`, from this cache.
    unsafe fn partition_opclass(&self, cache: c_int, tuple: HeapTuple) -> Option<Oid> {
        // SAFETY: these are attributes of this catalog, which are never null; the vectors have one
        // element for each column of the key.
        unsafe {
            let attnums =
                syscache_attribute(cache, tuple, pg_sys::Anum_pg_partitioned_table_partattrs)?;
            let attnums = &*attnums.cast_mut_ptr::<pg_sys::int2vector>();
            let opclasses =
                syscache_attribute(cache, tuple, pg_sys::Anum_pg_partitioned_table_partclass)?;
            let opclasses = &*opclasses.cast_mut_ptr::<pg_sys::oidvector>();
            let n = attnums.dim1 as usize;
            // A key may have a column twice. Taking either is correct: pruning is possible or not.
            let last = attnums
                .values
                .as_slice(n)
                .iter()
                .rposition(|&attnum| attnum == self.attnum)?;
            opclasses.values.as_slice(n).get(last).copied()
        }
    }
}

/// Whether an index of the table or its extended statistics contain a call of this function, at any
/// depth. The planner finds these for an expression of the query by equal(), so a rewritten call
/// would not match.
fn is_called_by_indexes_or_statistics(relid: Oid, function: Oid) -> bool {
    let [no_lock, lock] = [pg_sys::NoLock as c_int, pg_sys::AccessShareLock as c_int];
    let list_contains_call = |list: *mut List| {
        // SAFETY: the list is null or a valid one, of an index or of statistics. It is not changed.
        unsafe { contains_call(list.cast(), &|called| called == function) }
    };
    // SAFETY: the planner holds a lock on the table, so what the open relations point to stays
    // until they are closed. The lists of OIDs are copies.
    unsafe {
        let relation = pg_sys::table_open(relid, no_lock);
        let mut found = false;
        for index in list_cells(pg_sys::RelationGetIndexList(relation)) {
            let index = pg_sys::index_open(index.oid_value, lock);
            found |= list_contains_call(pg_sys::RelationGetIndexPredicate(index))
                || list_contains_call(pg_sys::RelationGetIndexExpressions(index));
            pg_sys::index_close(index, lock);
        }
        let cache = SysCacheIdentifier::STATEXTOID as c_int;
        for object in list_cells(pg_sys::RelationGetStatExtList(relation)) {
            let tuple = pg_sys::SearchSysCache1(cache, Datum::from(object.oid_value));
            if !tuple.is_null() {
                let expressions =
                    simplified_expressions(cache, tuple, pg_sys::Anum_pg_statistic_ext_stxexprs);
                found |= list_contains_call(expressions.cast());
                pg_sys::ReleaseSysCache(tuple);
            }
        }
        pg_sys::table_close(relation, no_lock);
        found
    }
}

/// The list of expressions in an attribute of a catalog, a `pg_node_tree`, simplified as the
/// planner does; null if there are none. The number is one of the `Anum_` constants.
///
/// # Safety
/// The tuple is of this cache, and the attribute a `pg_node_tree`.
unsafe fn simplified_expressions(cache: c_int, tuple: HeapTuple, number: u32) -> *mut Node {
    // SAFETY: a pg_node_tree is the text of a node. Without a root, to_comparisons() does nothing,
    // so calls of the predicate are still there.
    unsafe {
        let Some(tree) = syscache_attribute(cache, tuple, number) else {
            return null_mut();
        };
        let node = pg_sys::stringToNode(pg_sys::text_to_cstring(tree.cast_mut_ptr()));
        pg_sys::eval_const_expressions(null_mut(), node.cast())
    }
}

/// Whether an expression, or a list of expressions, calls a function for whose OID `is_sought` is
/// true, also through an operator. It does not look into sub-selects, nor into the arguments of
/// aggregates, apart from the direct ones, which are evaluated for each group.
///
/// # Safety
/// The node is a valid one, or null.
unsafe fn contains_call(node: *mut Node, is_sought: &dyn Fn(Oid) -> bool) -> bool {
    let mut search = Search {
        is_sought,
        depth: 0,
    };
    let context = from_mut(&mut search).cast();
    // SAFETY: the context is that of the walker. `#[pg_guard]` of the walker rethrows an ERROR by
    // siglongjmp. The boundary makes a panic of it, so that the frames here run their destructors.
    unsafe { pg_sys::ffi::pg_guard_ffi_boundary(|| contains_call_walker(node, context)) }
}

/// What the walker of [`contains_call`] looks for, and how deep it is.
struct Search<'a> {
    is_sought: &'a dyn Fn(Oid) -> bool,
    depth: u32,
}

/// The walker of [`contains_call`]: true ends the walk. The context points to its [`Search`]. What
/// is deeper than [`DEEPEST`] may call the function.
///
/// # Safety
/// The node is a valid one, or null, and the context that of [`contains_call`].
#[pg_guard]
unsafe extern "C-unwind" fn contains_call_walker(node: *mut Node, context: *mut c_void) -> bool {
    // SAFETY: a walker gets valid nodes or null, and the context as it was passed.
    unsafe {
        if !node.is_null() && (*node).type_ == NodeTag::T_Aggref {
            let direct = (*node.cast::<pg_sys::Aggref>()).aggdirectargs;
            return contains_call_walker(direct.cast(), context);
        }
        let search = context.cast::<Search>();
        (*search).depth += 1;
        let calls = !node.is_null()
            && ((*search).depth > DEEPEST
                || pg_sys::check_functions_in_node(node, Some(is_sought_function), context)
                || pg_sys::expression_tree_walker(node, Some(contains_call_walker), context));
        (*search).depth -= 1;
        calls
    }
}

/// A callback of check_functions_in_node(): whether the function with this OID is sought.
///
/// # Safety
/// The context is that of [`contains_call`].
#[pg_guard]
unsafe extern "C-unwind" fn is_sought_function(function: Oid, context: *mut c_void) -> bool {
    // SAFETY: the context is as it was passed.
    unsafe { ((*context.cast::<Search>()).is_sought)(function) }
}
