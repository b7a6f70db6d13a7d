//! Plain comparisons in place of a predicate, if a table is partitioned by ranges or lists of the
//! ulid: pruning only knows operators of the partition key's family.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{from_ref, null_mut};

use pgrx::pg_sys::{
    self, Datum, FuncExpr, HeapTuple, List, Node, NodeTag, Oid, OpExpr, ParamKind, QualCost, Query,
    SupportRequestSimplify as Request, SysCacheIdentifier, Var,
};

use super::catalog::{attribute, is_sql};
use super::node::{self, Expr, Root, pair};
use super::{Answer, Call, Plain, Predicate};
use crate::server;

/// The comparisons, as `AND`.
pub(super) fn answer(request: &Request, predicate: &'static Predicate, plain: Plain) -> Answer {
    // SAFETY: the request is the planner's, and holds a call.
    let (root, function, arguments) = unsafe {
        (
            Root::of(request.root, plain)?,
            (*request.fcall).funcid,
            pair((*request.fcall).args, plain)?,
        )
    };
    let call = Call::of(predicate, function, arguments)?;
    let query = root.query()?;
    if is_called_by_grouping_sets(query, function, plain) || !can_be_repeated(root, call.argument) {
        return None;
    }
    let column = Column::of(query, call.ulid)?;
    let family = in_temporary_memory(plain, || {
        let family = column.family(function, plain)?;
        (!is_called_by_indexes_or_statistics(column.table, function, plain)).then_some(family)
    })?;
    let [lower, upper] = call.comparisons(root, family)?;
    Some(lower.and(upper).as_ptr())
}

/// Calls a function that may allocate much, whose result does not point to what it has allocated:
/// that is freed. This may be done for each expression of a query, so it ends here if it was
/// canceled.
fn in_temporary_memory<T: Copy>(_: Plain, function: impl FnOnce() -> T + Copy) -> T {
    use pg_sys::CurrentMemoryContext;

    // SAFETY: the process has one thread, which runs SQL. After an ERROR, PostgreSQL sets the
    // current context itself, and frees the new one with its parent.
    unsafe {
        if pg_sys::InterruptPending != 0 {
            server::ProcessInterrupts();
        }
        let outer = CurrentMemoryContext;
        // The sizes are core's ALLOCSET_DEFAULT_SIZES.
        let inner =
            server::AllocSetContextCreateInternal(outer, c"ulid".as_ptr(), 0, 8 << 10, 8 << 20);
        CurrentMemoryContext = inner;
        let result = function();
        CurrentMemoryContext = outer;
        server::MemoryContextDelete(inner);
        result
    }
}

/// Whether the query has grouping sets and one of their expressions calls a function, at any depth,
/// or one written in SQL, which may expand to such a call. A set nulls whatever equals one of its
/// expressions that it leaves out. `AND` does not stay equal, since it becomes part of an `AND`
/// around it.
///
/// Nothing is expanded here to find out: that would also evaluate what a parameter leaves out,
/// which can fail.
pub(super) fn is_called_by_grouping_sets(query: &Query, function: Oid, plain: Plain) -> bool {
    if query.groupingSets.is_null() {
        return false;
    }
    let is_called = |expression: *mut Node| {
        // SAFETY: the expression is the query's.
        unsafe {
            calls(
                expression,
                &|called| called == function || is_sql(called, plain),
                plain,
            )
        }
    };
    // SAFETY: the list is the query's, and has entries of this kind. Until all expressions are
    // simplified, the target list refers to the grouping expressions here.
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
    return unsafe {
        server::elements(query.rtable).iter().any(|table| {
            let table = &*table.ptr_value.cast::<pg_sys::RangeTblEntry>();
            table.rtekind == pg_sys::RTEKind::RTE_GROUP && is_called(table.groupexprs.cast())
        })
    };
    // SAFETY: the list is the query's, and has entries of this kind.
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
    return unsafe {
        server::elements(query.targetList).iter().any(|entry| {
            let entry = &*entry.ptr_value.cast::<pg_sys::TargetEntry>();
            entry.ressortgroupref != 0 && is_called(entry.expr.cast())
        })
    };
}

/// Whether an expression can be evaluated twice instead of once, for each row: whether it is the
/// same for all rows, and costs no more than core allows in `find_simplified_clause` of
/// rangetypes.c.
fn can_be_repeated(root: Root, expression: Expr) -> bool {
    let mut cost = QualCost::default();
    // SAFETY: the contract of the module; only what is_other allows reaches core's function.
    unsafe {
        if is_other(expression.as_ptr(), null_mut()) {
            return false;
        }
        server::cost_qual_eval_node(&mut cost, expression.as_ptr(), root.as_ptr());
        cost.startup + cost.per_tuple <= 10.0 * pg_sys::cpu_operator_cost
    }
}

/// Whether an expression contains anything but what is known to give the same result each time
/// within a query: constants, parameters, columns of outer queries, and functions of these that are
/// not volatile.
///
/// # Safety
/// The node is a valid one, or null, as core's walker passes it.
unsafe extern "C-unwind" fn is_other(node: *mut Node, context: *mut c_void) -> bool {
    use NodeTag::{
        T_CoalesceExpr, T_CoerceViaIO, T_Const, T_FuncExpr, T_List, T_MinMaxExpr, T_OpExpr,
        T_Param, T_RelabelType, T_SQLValueFunction, T_Var,
    };

    // SAFETY: core's walker passes valid nodes or null; each node says of what kind it is.
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
        !is_known
            || server::check_functions_in_node(node, Some(is_volatile), null_mut())
            || server::expression_tree_walker(node, Some(is_other), context)
    }
}

/// # Safety
/// None: a function that does not exist is an ERROR. Core's checker has this signature.
unsafe extern "C-unwind" fn is_volatile(function: Oid, _context: *mut c_void) -> bool {
    // SAFETY: a function that does not exist is an ERROR.
    unsafe { server::func_volatile(function) == pg_sys::PROVOLATILE_VOLATILE as c_char }
}

/// A column of a partitioned table, on which the planner holds a lock.
struct Column {
    table: Oid,
    /// Its number, from 1.
    number: i16,
}

impl Column {
    /// The column that an expression is, perhaps relabelled: as ulid, if its type is uuid or a
    /// domain.
    ///
    /// This decides whether the comparisons are useful, not whether they are correct: in a
    /// sub-select that the planner tries to convert from EXISTS to ANY, the root is that of the
    /// outer query, and the table is a different one.
    fn of(query: &Query, mut expression: Expr) -> Option<Self> {
        while let Some(inner) = expression.relabelled() {
            expression = inner;
        }
        let var = expression.cast::<Var>()?;
        let table = node::table(query, var)
            .filter(|table| table.relkind as u8 == pg_sys::RELKIND_PARTITIONED_TABLE)?;
        Some(Self {
            table: table.relid,
            number: var.varattno,
        })
    }

    /// The operator family of the column in the key of its table. `None` if it is not there, or the
    /// key has an expression that calls this function, too.
    fn family(&self, function: Oid, plain: Plain) -> Option<Oid> {
        let cache = SysCacheIdentifier::PARTRELID as c_int;
        // SAFETY: the cache is that of pg_partitioned_table, whose attributes these are. Its
        // classes exist.
        unsafe {
            let tuple = server::SearchSysCache1(cache, Datum::from(self.table));
            if tuple.is_null() {
                return None;
            }
            let class = self.class(cache, tuple, plain);
            let expressions = expressions(
                cache,
                tuple,
                pg_sys::Anum_pg_partitioned_table_partexprs,
                plain,
            );
            server::ReleaseSysCache(tuple);
            if calls(expressions, &|called| called == function, plain) {
                return None;
            }
            class.map(|class| server::get_opclass_family(class))
        }
    }

    /// The operator class of the column in the partition key.
    ///
    /// # Safety
    /// The tuple is one of `pg_partitioned_table`, from this cache.
    unsafe fn class(&self, cache: c_int, tuple: HeapTuple, plain: Plain) -> Option<Oid> {
        // SAFETY: these are attributes of this catalog, which are never null; the vectors have one
        // element for each column of the key.
        unsafe {
            let columns = attribute(
                cache,
                tuple,
                pg_sys::Anum_pg_partitioned_table_partattrs,
                plain,
            )?;
            let columns = &*columns.cast_mut_ptr::<pg_sys::int2vector>();
            let classes = attribute(
                cache,
                tuple,
                pg_sys::Anum_pg_partitioned_table_partclass,
                plain,
            )?;
            let classes = &*classes.cast_mut_ptr::<pg_sys::oidvector>();
            let n = columns.dim1 as usize;
            let last = columns
                .values
                .as_slice(n)
                .iter()
                .rposition(|&number| number == self.number)?;
            classes.values.as_slice(n).get(last).copied()
        }
    }
}

/// Whether an index of the table or its statistics contain a call of a function, at any depth: what
/// is written in the query finds them by equality.
fn is_called_by_indexes_or_statistics(table: Oid, function: Oid, plain: Plain) -> bool {
    let [no_lock, lock] = [pg_sys::NoLock as c_int, pg_sys::AccessShareLock as c_int];
    let list_calls = |list: *mut List| {
        // SAFETY: the list is a valid one of an index, which is not changed here, or null.
        unsafe { calls(list.cast(), &|called| called == function, plain) }
    };
    // SAFETY: the planner holds a lock on the table.
    unsafe {
        let relation = server::table_open(table, no_lock);
        let mut found = false;
        for index in server::elements(server::RelationGetIndexList(relation)) {
            let index = server::index_open(index.oid_value, lock);
            found |= list_calls(server::RelationGetIndexPredicate(index))
                || list_calls(server::RelationGetIndexExpressions(index));
            server::index_close(index, lock);
        }
        let cache = SysCacheIdentifier::STATEXTOID as c_int;
        for object in server::elements(server::RelationGetStatExtList(relation)) {
            let tuple = server::SearchSysCache1(cache, Datum::from(object.oid_value));
            if !tuple.is_null() {
                let expressions =
                    expressions(cache, tuple, pg_sys::Anum_pg_statistic_ext_stxexprs, plain);
                found |= list_calls(expressions.cast());
                server::ReleaseSysCache(tuple);
            }
        }
        server::table_close(relation, no_lock);
        found
    }
}

/// The expressions in an attribute of a catalog, as the planner sees them; null if there are none.
///
/// # Safety
/// The tuple is of this cache, and the attribute a `pg_node_tree`.
unsafe fn expressions(cache: c_int, tuple: HeapTuple, number: u32, plain: Plain) -> *mut Node {
    // SAFETY: what a catalog keeps as pg_node_tree is the text of a node. Without a root, ours do
    // not simplify.
    unsafe {
        let Some(tree) = attribute(cache, tuple, number, plain) else {
            return null_mut();
        };
        let node = server::stringToNode(server::text_to_cstring(tree.cast_mut_ptr()));
        server::eval_const_expressions(null_mut(), node.cast())
    }
}

/// Whether an expression, or a list of some, calls a function that is sought.
///
/// # Safety
/// The node is a valid one, or null.
unsafe fn calls(node: *mut Node, is_sought: &dyn Fn(Oid) -> bool, _: Plain) -> bool {
    // SAFETY: the context is that of the walker, which only reads it.
    unsafe { find_call(node, from_ref(&is_sought).cast_mut().cast()) }
}

/// # Safety
/// The node is a valid one, or null, and the context that of [`calls`].
unsafe extern "C-unwind" fn find_call(node: *mut Node, context: *mut c_void) -> bool {
    // SAFETY: core's walker passes valid nodes or null, and the context on as it is.
    unsafe {
        !node.is_null()
            && (server::check_functions_in_node(node, Some(is_sought_function), context)
                || server::expression_tree_walker(node, Some(find_call), context))
    }
}

/// # Safety
/// The context is that of [`calls`].
unsafe extern "C-unwind" fn is_sought_function(function: Oid, context: *mut c_void) -> bool {
    // SAFETY: core's checker passes the context on as it is.
    unsafe { (*context.cast::<&dyn Fn(Oid) -> bool>())(function) }
}
