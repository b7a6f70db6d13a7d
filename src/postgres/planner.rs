//! What the planner is told of windows of time, `ulid <@ tstzrange`: bounds for an index, an estimate of the rows, and
//! plain comparisons where a partitioned table can be pruned by them.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};

use pgrx::pg_sys::{self, Datum, List, Node, NodeTag, Oid, Var};

use super::frame::{Internal, Returned, range_window};
use crate::value::Ulid;
use crate::window::Window;

/// The estimate where nothing is known: core's `DEFAULT_RANGE_INEQ_SEL`.
const DEFAULT_SELECTIVITY: f64 = 0.005;

/// The planner support function of `ulid <@ tstzrange` and its commutator.
pub(super) fn support(request: Internal) -> Internal {
    // SAFETY: PostgreSQL calls a support function with a node that says of what kind it is.
    let answer = unsafe {
        match (*request.0.cast::<Node>()).type_ {
            NodeTag::T_SupportRequestIndexCondition => index_condition(&mut *request.0.cast()),
            NodeTag::T_SupportRequestSimplify => simplify(&*request.0.cast()),
            _ => None,
        }
    };
    Internal(answer.unwrap_or(std::ptr::null_mut()))
}

/// The operator's bounds for an index on its ulid, which are exact.
///
/// # Safety
/// The request comes from the planner.
unsafe fn index_condition(request: &mut pg_sys::SupportRequestIndexCondition) -> Option<*mut c_void> {
    // SAFETY: the request holds a call of one of our two operators, or of the function of one.
    unsafe {
        let call = Call::of(request.node, request.funcid)?;
        #[cfg(feature = "pg13")]
        let constant = pg_sys::is_pseudo_constant_for_index(call.range, request.index);
        #[cfg(not(feature = "pg13"))]
        let constant = pg_sys::is_pseudo_constant_for_index(request.root, call.range, request.index);
        if !constant || call.ulid_index != request.indexarg {
            return None;
        }
        let conditions = call.comparisons(request.opfamily)?;
        request.lossy = false;
        Some(conditions.cast())
    }
}

/// Plain comparisons in place of the operator, where a table is partitioned by ranges of the ulid: pruning knows only
/// operators of the partition key's family.
///
/// # Safety
/// The request comes from the planner.
unsafe fn simplify(request: &pg_sys::SupportRequestSimplify) -> Option<*mut c_void> {
    // SAFETY: the request holds a call of the function of one of our two operators.
    unsafe {
        let call = Call::of(request.fcall.cast(), (*request.fcall).funcid)?;
        if request.root.is_null()
            || !is_range_partition_key(request.root, call.ulid)
            || pg_sys::contain_var_clause(call.range)
            || pg_sys::contain_volatile_functions(call.range)
        {
            return None;
        }
        let opclass = pg_sys::GetDefaultOpClass(pg_sys::exprType(call.ulid), pg_sys::BTREE_AM_OID);
        let comparisons = call.comparisons(pg_sys::get_opclass_family(opclass))?;
        Some(pg_sys::makeBoolExpr(pg_sys::BoolExprType::AND_EXPR, comparisons, -1).cast())
    }
}

/// Whether the expression is a column that its table is partitioned by, in ranges.
///
/// # Safety
/// The nodes come from the planner, which holds a lock on the table.
unsafe fn is_range_partition_key(root: *mut pg_sys::PlannerInfo, expression: *mut Node) -> bool {
    // Columns of pg_partitioned_table.
    const PARTSTRAT: i16 = 2;
    const PARTATTRS: i16 = 5;
    // SAFETY: promised by the caller; the attributes are never null and of the types that they are read as.
    unsafe {
        if (*expression).type_ != NodeTag::T_Var {
            return false;
        }
        let var = &*expression.cast::<Var>();
        let tables = (*(*root).parse).rtable;
        if var.varlevelsup != 0 || var.varno as usize == 0 || var.varno as usize > length(tables) {
            return false;
        }
        let table = &*nth(tables, var.varno as usize - 1).cast::<pg_sys::RangeTblEntry>();
        if table.rtekind != pg_sys::RTEKind::RTE_RELATION
            || table.relkind as u8 != pg_sys::RELKIND_PARTITIONED_TABLE
        {
            return false;
        }
        let cache = pg_sys::SysCacheIdentifier::PARTRELID as c_int;
        let tuple = pg_sys::SearchSysCache1(cache, Datum::from(table.relid));
        if tuple.is_null() {
            return false;
        }
        let mut is_null = false;
        let strategy = pg_sys::SysCacheGetAttr(cache, tuple, PARTSTRAT, &mut is_null).value() as u8;
        let keys = pg_sys::SysCacheGetAttr(cache, tuple, PARTATTRS, &mut is_null);
        let keys = &*keys.cast_mut_ptr::<pg_sys::int2vector>();
        let found = u32::from(strategy) == u32::from(b'r')
            && keys.values.as_slice(keys.dim1 as usize).contains(&var.varattno);
        pg_sys::ReleaseSysCache(tuple);
        found
    }
}

/// A call of `ulid <@ tstzrange`, of its commutator, or of the function of one of them.
struct Call {
    /// Where the ulid is among the arguments, from 0.
    ulid_index: c_int,
    ulid: *mut Node,
    range: *mut Node,
    /// The schema that the function is in.
    schema: Oid,
}

impl Call {
    /// # Safety
    /// The node is a call of our function, as a function or through an operator.
    unsafe fn of(node: *mut Node, function: Oid) -> Option<Self> {
        // SAFETY: promised by the caller.
        unsafe {
            let arguments = match (*node).type_ {
                NodeTag::T_OpExpr => (*node.cast::<pg_sys::OpExpr>()).args,
                NodeTag::T_FuncExpr => (*node.cast::<pg_sys::FuncExpr>()).args,
                _ => return None,
            };
            if length(arguments) != 2 {
                return None;
            }
            let [first, second] = [0, 1].map(|n| nth(arguments, n).cast::<Node>());
            let is_window = |node| pg_sys::getBaseType(pg_sys::exprType(node)) == pg_sys::TSTZRANGEOID;
            let (ulid_index, ulid, range) =
                if is_window(second) { (0, first, second) } else { (1, second, first) };
            // A range is relabelled for the domain that the operators take.
            let range = match (*range).type_ {
                NodeTag::T_RelabelType => (*range.cast::<pg_sys::RelabelType>()).arg.cast(),
                _ => range,
            };
            Some(Self { ulid_index, ulid, range, schema: pg_sys::get_func_namespace(function) })
        }
    }

    /// `ulid >= lower` and `ulid <= upper`, with the operators of a family; nothing where it has none.
    ///
    /// # Safety
    /// The call is one that the planner holds.
    unsafe fn comparisons(&self, family: Oid) -> Option<*mut List> {
        // Strategies of btree, which BRIN minmax has too.
        const LESS_EQUAL: i16 = 2;
        const GREATER_EQUAL: i16 = 4;
        // SAFETY: promised by the caller. Each list is new, and each node in it; nothing here is dropped.
        unsafe {
            let window = constant(self.range).map(|range| range_window(range));
            let kind = pg_sys::exprType(self.ulid);
            let mut list = std::ptr::null_mut();
            for (strategy, function, bound) in [
                (GREATER_EQUAL, c"ulid_range_lower", window.map(Window::lower)),
                (LESS_EQUAL, c"ulid_range_upper", window.map(Window::upper)),
            ] {
                let operator = pg_sys::get_opfamily_member(family, kind, kind, strategy);
                if operator == Oid::INVALID {
                    return None;
                }
                let bound: *mut pg_sys::Expr = match bound {
                    Some(bound) => {
                        let value = bound.into_datum();
                        pg_sys::makeConst(
                            kind,
                            -1,
                            Oid::INVALID,
                            size_of::<Ulid>() as c_int,
                            value,
                            false,
                            false,
                        )
                        .cast()
                    }
                    None => {
                        let function = function_of_range(function, self.schema)?;
                        let arguments = pg_sys::lappend(std::ptr::null_mut(), self.range.cast());
                        let form = pg_sys::CoercionForm::COERCE_EXPLICIT_CALL;
                        pg_sys::makeFuncExpr(function, kind, arguments, Oid::INVALID, Oid::INVALID, form)
                            .cast()
                    }
                };
                let comparison = pg_sys::make_opclause(
                    operator,
                    pg_sys::BOOLOID,
                    false,
                    self.ulid.cast(),
                    bound,
                    Oid::INVALID,
                    Oid::INVALID,
                );
                pg_sys::set_opfuncid(comparison.cast());
                list = pg_sys::lappend(list, comparison.cast());
            }
            Some(list)
        }
    }
}

/// The function of this name that takes a tstzrange, in a schema.
fn function_of_range(name: &std::ffi::CStr, schema: Oid) -> Option<Oid> {
    // The column oid of pg_proc.
    const OID: i16 = 1;
    // SAFETY: the three keys are of the types of that cache.
    let function = unsafe {
        let types = pg_sys::buildoidvector(&pg_sys::TSTZRANGEOID, 1);
        let cache = pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP as c_int;
        let keys = [Datum::from(name.as_ptr()), Datum::from(types), Datum::from(schema), Datum::null()];
        pg_sys::GetSysCacheOid(cache, OID, keys[0], keys[1], keys[2], keys[3])
    };
    (function != Oid::INVALID).then_some(function)
}

/// The estimator of `ulid <@ tstzrange` and its commutator: the part of the rows, 0 to 1, that the window holds.
///
/// Within a part of the histogram it interpolates by time, which the planner cannot do for a type of 16 bytes.
pub(super) fn selectivity(root: Internal, operator: Oid, arguments: Internal, relation: i32) -> f64 {
    let mut variable = pg_sys::VariableStatData::default();
    let mut other = std::ptr::null_mut();
    let mut variable_is_left = false;
    // SAFETY: the arguments are those of every restriction estimator, and what core's function fills in is valid until
    // the statistics are released. While the range is read there is nothing to drop.
    unsafe {
        if !pg_sys::get_restriction_variable(
            root.0.cast(),
            arguments.0.cast(),
            relation,
            &mut variable,
            &mut other,
            &mut variable_is_left,
        ) {
            return DEFAULT_SELECTIVITY;
        }
        let selectivity = if (*other).type_ != NodeTag::T_Const {
            DEFAULT_SELECTIVITY
        } else if let Some(range) = constant(other) {
            window_selectivity(&mut variable, operator, range_window(range)).unwrap_or(DEFAULT_SELECTIVITY)
        } else {
            0.0
        };
        if let (Some(release), false) = (variable.freefunc, variable.statsTuple.is_null()) {
            release(variable.statsTuple);
        }
        selectivity.clamp(0.0, 1.0)
    }
}

/// The estimate by the column's statistics; nothing where there are none, or the user may not see them.
///
/// # Safety
/// The variable is one that core filled in, of a type of 16 bytes.
unsafe fn window_selectivity(
    variable: &mut pg_sys::VariableStatData,
    operator: Oid,
    window: Window,
) -> Option<f64> {
    if window.is_empty() {
        return Some(0.0);
    }
    // SAFETY: promised by the caller; the tuple is one of pg_statistic.
    unsafe {
        if variable.statsTuple.is_null() {
            return None;
        }
        let header = (*variable.statsTuple).t_data;
        let statistics =
            header.cast::<u8>().add((*header).t_hoff.into()).cast::<pg_sys::FormData_pg_statistic>();
        let nulls = f64::from((*statistics).stanullfrac);
        // What the most common values and the histogram tell is for those only who may read the table, unless the
        // operator is leakproof.
        if !pg_sys::statistic_proc_security_check(variable, pg_sys::get_opcode(operator)) {
            return None;
        }
        let common =
            Slot::read(variable.statsTuple, pg_sys::STATISTIC_KIND_MCV, pg_sys::ATTSTATSSLOT_NUMBERS);
        let (mut in_common, mut all_common) = (0.0, 0.0);
        if let Some(common) = &common {
            for (&value, &frequency) in common.values().iter().zip(common.numbers()) {
                all_common += f64::from(frequency);
                if window.contains(value) {
                    in_common += f64::from(frequency);
                }
            }
        }
        let histogram = Slot::read(variable.statsTuple, pg_sys::STATISTIC_KIND_HISTOGRAM, 0);
        let fraction = histogram.and_then(|histogram| window.fraction(&histogram.values()));
        let rest = (1.0 - nulls - all_common).max(0.0);
        match (fraction, common) {
            (Some(fraction), _) => Some(in_common + fraction * rest),
            // No histogram because the common values are all values, or nearly.
            (None, Some(_)) => Some(in_common + DEFAULT_SELECTIVITY * rest),
            (None, None) => None,
        }
    }
}

/// A slot of a column's statistics.
struct Slot(pg_sys::AttStatsSlot);

impl Slot {
    /// The values of the slot of this kind, and what else the flags say.
    ///
    /// # Safety
    /// The tuple is one of pg_statistic, for a column of a type of 16 bytes.
    unsafe fn read(tuple: pg_sys::HeapTuple, kind: u32, flags: u32) -> Option<Self> {
        let mut slot = pg_sys::AttStatsSlot::default();
        let flags = (pg_sys::ATTSTATSSLOT_VALUES | flags) as c_int;
        // SAFETY: promised by the caller.
        unsafe { pg_sys::get_attstatsslot(&mut slot, tuple, kind as c_int, Oid::INVALID, flags) }
            .then_some(Self(slot))
    }

    fn values(&self) -> Vec<Ulid> {
        (0..self.0.nvalues as usize)
            // SAFETY: there are that many values, each a pointer to 16 bytes.
            .map(|n| unsafe { *(*self.0.values.add(n)).cast_mut_ptr::<Ulid>() })
            .collect()
    }

    fn numbers(&self) -> &[f32] {
        if self.0.nnumbers == 0 {
            return &[];
        }
        // SAFETY: there are that many numbers.
        unsafe { std::slice::from_raw_parts(self.0.numbers, self.0.nnumbers as usize) }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // SAFETY: it was filled by core's function and is freed once.
        unsafe { pg_sys::free_attstatsslot(&mut self.0) };
    }
}

/// The value of a constant that is not null.
///
/// # Safety
/// The node comes from the planner.
unsafe fn constant(node: *mut Node) -> Option<Datum> {
    // SAFETY: promised by the caller.
    unsafe {
        if (*node).type_ != NodeTag::T_Const {
            return None;
        }
        let constant = &*node.cast::<pg_sys::Const>();
        (!constant.constisnull).then_some(constant.constvalue)
    }
}

/// # Safety
/// The list is a valid one, or null for the empty list.
unsafe fn length(list: *mut List) -> usize {
    // SAFETY: promised by the caller.
    if list.is_null() { 0 } else { unsafe { (*list).length as usize } }
}

/// # Safety
/// The list holds pointers, more than `n` of them.
unsafe fn nth(list: *mut List, n: usize) -> *mut c_void {
    // SAFETY: promised by the caller.
    unsafe { (*(*list).elements.add(n)).ptr_value }
}
