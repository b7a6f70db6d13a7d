//! Plain comparisons in place of a predicate, if a table is partitioned by ranges of the ulid: pruning only knows
//! operators of the partition key's family.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{from_ref, null_mut};

use pgrx::pg_sys::{
    self, Datum, FuncExpr, HeapTuple, Node, NodeTag, Oid, OpExpr, ParamKind, PlannerInfo, QualCost, Relation,
    SysCacheIdentifier, Var,
};

use super::{Answer, Call, Predicate};
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
        let column = Column::of(request.root, call.ulid)?;
        let family = column.family_of_ranges(call.function)?;
        if is_called_by_indexes_or_statistics(column.table, call.function) {
            return None;
        }
        let comparisons = call.comparisons(request.root, family)?;
        Some(server::makeBoolExpr(pg_sys::BoolExprType::AND_EXPR, comparisons, -1).cast())
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
            let table = &*table.ptr_value.cast::<pg_sys::RangeTblEntry>();
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
        // Columns of pg_partitioned_table.
        const PARTSTRAT: i16 = 2;
        const PARTATTRS: i16 = 5;
        const PARTCLASS: i16 = 6;
        const PARTEXPRS: i16 = 8;
        let cache = SysCacheIdentifier::PARTRELID as c_int;
        // SAFETY: promised by the caller; the attributes are of the types that they are read as, and but for the
        // expressions never null.
        unsafe {
            let tuple = server::SearchSysCache1(cache, Datum::from(self.table));
            if tuple.is_null() {
                return None;
            }
            let mut is_null = false;
            let strategy = server::SysCacheGetAttr(cache, tuple, PARTSTRAT, &mut is_null).value() as u8;
            let keys = server::SysCacheGetAttr(cache, tuple, PARTATTRS, &mut is_null);
            let keys = &*keys.cast_mut_ptr::<pg_sys::int2vector>();
            let classes = server::SysCacheGetAttr(cache, tuple, PARTCLASS, &mut is_null);
            let classes = &*classes.cast_mut_ptr::<pg_sys::oidvector>();
            let expressions = expressions(cache, tuple, PARTEXPRS);
            let mut class = None;
            for n in 0..keys.dim1 as usize {
                if keys.values.as_slice(n + 1)[n] == self.number {
                    class = Some(classes.values.as_slice(n + 1)[n]);
                }
            }
            server::ReleaseSysCache(tuple);
            if u32::from(strategy) != u32::from(b'r')
                || calls(expressions, from_ref(&function).cast_mut().cast())
            {
                return None;
            }
            Some(server::get_opclass_family(class?))
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
        // PostgreSQL 13 has statistics of columns alone.
        #[cfg(not(feature = "pg13"))]
        {
            let cache = SysCacheIdentifier::STATEXTOID as c_int;
            let statistics = server::RelationGetStatExtList(relation);
            for object in server::elements(statistics) {
                let tuple = server::SearchSysCache1(cache, Datum::from(object.oid_value));
                if !tuple.is_null() {
                    const STXEXPRS: i16 = pg_sys::Anum_pg_statistic_ext_stxexprs as i16;
                    found |= calls(expressions(cache, tuple, STXEXPRS), context);
                    server::ReleaseSysCache(tuple);
                }
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
unsafe fn expressions(cache: c_int, tuple: HeapTuple, attribute: i16) -> *mut Node {
    let mut is_null = false;
    // SAFETY: promised by the caller. Without a root, no support function of ours is asked to simplify.
    unsafe {
        let tree = server::SysCacheGetAttr(cache, tuple, attribute, &mut is_null);
        if is_null {
            return null_mut();
        }
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
