//! Plain comparisons in place of a predicate, if a table is partitioned by ranges of the ulid: pruning only knows
//! operators of the partition key's family.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{from_ref, null_mut};

use pgrx::pg_sys::{
    self, Datum, FuncExpr, HeapTuple, ListCell, Node, NodeTag, Oid, OpExpr, ParamKind, PlannerInfo, QualCost,
    Query, RangeTblEntry, Relation, SysCacheIdentifier, TargetEntry, Var,
};

use super::{Answer, Call, Predicate, attribute, form};
use crate::postgres::server;

/// The comparisons, as `AND`.
///
/// # Safety
/// The request comes from the planner.
pub(super) unsafe fn answer(
    request: &pg_sys::SupportRequestSimplify,
    predicate: &'static Predicate,
) -> Answer {
    // SAFETY: the request holds a call. Without a root, or a query in it, the expression belongs to no query.
    unsafe {
        let call = Call::of(predicate, (*request.fcall).funcid, (*request.fcall).args)?;
        let query = request.root.as_ref()?.parse.as_ref()?;
        // ON CONFLICT is matched to an index whose expressions contain the predicate.
        if !query.onConflict.is_null()
            || is_called_by_grouping_sets(query, call.function)
            || !can_be_repeated(request.root, call.argument)
        {
            return None;
        }
        let column = Column::of(request.root, call.ulid)?;
        let family = column.family_of_ranges(call.function)?;
        if is_called_by_indexes_or_statistics(column.table, call.function) {
            return None;
        }
        let comparisons = call.comparisons(request.root, family)?;
        Some(server::makeBoolExpr(pg_sys::BoolExprType::AND_EXPR, comparisons, -1).cast())
    }
}

/// Whether the query has grouping sets and one of their expressions calls a function, at any depth, also after SQL
/// functions are expanded. A set nulls whatever equals one of its expressions that it leaves out. `AND` does not stay
/// equal, since it becomes part of an `AND` around it.
///
/// # Safety
/// The query is the one that is being planned.
unsafe fn is_called_by_grouping_sets(query: &Query, function: Oid) -> bool {
    // SAFETY: promised by the caller; each entry of a list is of the kind that the list has. Without a root, no support
    // function of ours is asked to simplify.
    unsafe {
        let is_called = |expression: *mut Node| {
            let expanded = server::eval_const_expressions(null_mut(), expression);
            calls(expanded, from_ref(&function).cast_mut().cast())
        };
        if query.groupingSets.is_null() {
            return false;
        }
        let is_grouped = |entry: &ListCell| {
            let entry = &*entry.ptr_value.cast::<TargetEntry>();
            entry.ressortgroupref != 0 && is_called(entry.expr.cast())
        };
        // From PostgreSQL 18 the target list refers to them there.
        #[cfg(any(feature = "pg18", feature = "pg19"))]
        let is_group = |table: &ListCell| {
            let table = &*table.ptr_value.cast::<RangeTblEntry>();
            table.rtekind == pg_sys::RTEKind::RTE_GROUP && is_called(table.groupexprs.cast())
        };
        #[cfg(any(feature = "pg18", feature = "pg19"))]
        if server::elements(query.rtable).iter().any(is_group) {
            return true;
        }
        server::elements(query.targetList).iter().any(is_grouped)
    }
}

/// Whether an expression can be evaluated twice instead of once, for each row: whether it is the same for all rows, and
/// costs no more than core allows in `find_simplified_clause` of rangetypes.c.
///
/// # Safety
/// The node comes from the planner.
unsafe fn can_be_repeated(root: *mut PlannerInfo, expression: *mut Node) -> bool {
    // SAFETY: promised by the caller; only what is_other allows reaches core's function.
    unsafe {
        if is_other(expression, null_mut()) {
            return false;
        }
        let mut cost = QualCost::default();
        server::cost_qual_eval_node(&mut cost, expression, root);
        cost.startup + cost.per_tuple <= 10.0 * pg_sys::cpu_operator_cost
    }
}

/// Whether an expression contains anything but what is known to give the same result each time within a query:
/// constants, parameters, columns of outer queries, and functions of these that are not volatile.
///
/// # Safety
/// The node comes from the planner.
unsafe extern "C-unwind" fn is_other(node: *mut Node, context: *mut c_void) -> bool {
    use NodeTag::{
        T_CoalesceExpr, T_CoerceViaIO, T_Const, T_FuncExpr, T_List, T_MinMaxExpr, T_OpExpr, T_Param,
        T_RelabelType, T_SQLValueFunction, T_Var,
    };

    // SAFETY: promised by the caller; each node says of what kind it is.
    unsafe {
        if node.is_null() {
            return false;
        }
        let is_known = match (*node).type_ {
            T_Const | T_SQLValueFunction | T_RelabelType | T_CoerceViaIO | T_CoalesceExpr | T_MinMaxExpr
            | T_List => true,
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
/// The function exists.
unsafe extern "C-unwind" fn is_volatile(function: Oid, _context: *mut c_void) -> bool {
    // SAFETY: promised by the caller.
    unsafe { server::func_volatile(function) == pg_sys::PROVOLATILE_VOLATILE as c_char }
}

/// A column of a partitioned table.
struct Column {
    table: Oid,
    /// Its number, from 1.
    number: i16,
}

impl Column {
    /// The column that an expression is, perhaps relabelled: as ulid, if its type is uuid or a domain.
    ///
    /// This decides whether the comparisons are useful, not whether they are correct: in a sub-select that the planner
    /// tries to convert from EXISTS to ANY, the root is that of the outer query, and the table is a different one.
    ///
    /// # Safety
    /// The nodes come from the planner.
    unsafe fn of(root: *mut PlannerInfo, mut expression: *mut Node) -> Option<Self> {
        // SAFETY: promised by the caller.
        unsafe {
            while (*expression).type_ == NodeTag::T_RelabelType {
                expression = (*expression.cast::<pg_sys::RelabelType>()).arg.cast();
            }
            if (*expression).type_ != NodeTag::T_Var {
                return None;
            }
            let var = &*expression.cast::<Var>();
            // For a key that is an expression, the column is 0, which in a Var means the whole row.
            if var.varlevelsup != 0 || var.varattno <= 0 {
                return None;
            }
            let tables = server::elements((*(*root).parse).rtable);
            let table = tables.get((var.varno as usize).checked_sub(1)?)?;
            let table = &*table.ptr_value.cast::<RangeTblEntry>();
            (table.rtekind == pg_sys::RTEKind::RTE_RELATION
                && table.relkind as u8 == pg_sys::RELKIND_PARTITIONED_TABLE)
                .then_some(Self { table: table.relid, number: var.varattno })
        }
    }

    /// The operator family of the column, if its table is partitioned by its ranges. `None` if the key has an
    /// expression that calls this function, too.
    ///
    /// # Safety
    /// The planner holds a lock on the table.
    unsafe fn family_of_ranges(&self, function: Oid) -> Option<Oid> {
        let cache = SysCacheIdentifier::PARTRELID as c_int;
        // SAFETY: promised by the caller.
        unsafe {
            let tuple = server::SearchSysCache1(cache, Datum::from(self.table));
            if tuple.is_null() {
                return None;
            }
            // 'r' for ranges: a macro in some versions, an enumeration in others.
            let is_by_range = (*form::<pg_sys::FormData_pg_partitioned_table>(tuple)).partstrat as u8 == b'r';
            let class = self.class(cache, tuple).filter(|_| is_by_range);
            let expressions = expressions(cache, tuple, pg_sys::Anum_pg_partitioned_table_partexprs);
            server::ReleaseSysCache(tuple);
            if calls(expressions, from_ref(&function).cast_mut().cast()) {
                return None;
            }
            Some(server::get_opclass_family(class?))
        }
    }

    /// The operator class of the column in the partition key.
    ///
    /// # Safety
    /// The tuple is one of `pg_partitioned_table`, from this cache.
    unsafe fn class(&self, cache: c_int, tuple: HeapTuple) -> Option<Oid> {
        // SAFETY: promised by the caller; the vectors have one element for each column of the key.
        unsafe {
            let columns = attribute(cache, tuple, pg_sys::Anum_pg_partitioned_table_partattrs)?;
            let columns = &*columns.cast_mut_ptr::<pg_sys::int2vector>();
            let classes = attribute(cache, tuple, pg_sys::Anum_pg_partitioned_table_partclass)?;
            let classes = &*classes.cast_mut_ptr::<pg_sys::oidvector>();
            let n = columns.dim1 as usize;
            let last = columns.values.as_slice(n).iter().rposition(|&number| number == self.number)?;
            classes.values.as_slice(n).get(last).copied()
        }
    }
}

/// Whether an index of the table or its statistics contain a call of a function, at any depth: what is written in the
/// query finds them by equality.
///
/// # Safety
/// The planner holds a lock on the table.
unsafe fn is_called_by_indexes_or_statistics(table: Oid, function: Oid) -> bool {
    let [no_lock, lock] = [pg_sys::NoLock as c_int, pg_sys::AccessShareLock as c_int];
    let context = from_ref(&function).cast_mut().cast();
    // SAFETY: promised by the caller. The lists of an index hold its own nodes, which are not changed here.
    unsafe {
        let relation: Relation = server::table_open(table, no_lock);
        let mut found = false;
        let indexes = server::RelationGetIndexList(relation);
        for index in server::elements(indexes) {
            let index = server::index_open(index.oid_value, lock);
            found |= calls(server::RelationGetIndexPredicate(index).cast(), context)
                || calls(server::RelationGetIndexExpressions(index).cast(), context);
            server::index_close(index, lock);
        }
        let cache = SysCacheIdentifier::STATEXTOID as c_int;
        let statistics = server::RelationGetStatExtList(relation);
        for object in server::elements(statistics) {
            let tuple = server::SearchSysCache1(cache, Datum::from(object.oid_value));
            if !tuple.is_null() {
                let number = pg_sys::Anum_pg_statistic_ext_stxexprs;
                found |= calls(expressions(cache, tuple, number), context);
                server::ReleaseSysCache(tuple);
            }
        }
        server::table_close(relation, no_lock);
        found
    }
}

/// The expressions in an attribute of a catalogue, as the planner sees them; null if there are none.
///
/// # Safety
/// The tuple is of this cache, and the attribute a `pg_node_tree`.
unsafe fn expressions(cache: c_int, tuple: HeapTuple, number: u32) -> *mut Node {
    // SAFETY: promised by the caller. Without a root, no support function of ours is asked to simplify.
    unsafe {
        let Some(tree) = attribute(cache, tuple, number) else { return null_mut() };
        let node = server::stringToNode(server::text_to_cstring(tree.cast_mut_ptr()));
        server::eval_const_expressions(null_mut(), node.cast())
    }
}

/// Whether an expression, or a list of some, calls the function whose oid `context` points to.
///
/// # Safety
/// The node is a valid one, or null.
unsafe extern "C-unwind" fn calls(node: *mut Node, context: *mut c_void) -> bool {
    // SAFETY: promised by the caller.
    unsafe {
        !node.is_null()
            && (server::check_functions_in_node(node, Some(is_function), context)
                || server::expression_tree_walker(node, Some(calls), context))
    }
}

/// # Safety
/// The context points to an oid.
unsafe extern "C-unwind" fn is_function(function: Oid, context: *mut c_void) -> bool {
    // SAFETY: promised by the caller.
    function == unsafe { *context.cast::<Oid>() }
}
